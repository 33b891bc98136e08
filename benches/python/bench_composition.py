"""Composition against dp_accounting at its default grid, calibration of a whole model, debits in a ledger on disk."""

import os
import subprocess
import sys
import tempfile
import time

from benches.python.timing import compare, report, seconds
from dp_accounting.pld import privacy_loss_distribution as peer

import simplexdp as sdp
from simplexdp.accounting import Structure

# Exact values: one Gaussian of sigma 20/sqrt(1000); the Laplace value to 1e-8 from bounds on both sides.
GAUSSIAN_EXACT = 8.306225049954728
LAPLACE_EXACT = 1.52911743


def our_gaussians() -> float:
    return sdp.compose([sdp.PrivacyCurve.gaussian(sigma=20.0)], [1000]).epsilon(1e-6)


def peer_gaussians() -> float:
    return peer.from_gaussian_mechanism(20.0).self_compose(1000).get_epsilon_for_delta(1e-6)


def our_laplaces() -> float:
    return sdp.compose([sdp.PrivacyCurve.laplace(scale=float(scale)) for scale in range(5, 25)]).epsilon(1e-6)


def peer_laplaces() -> float:
    total = peer.from_laplace_mechanism(5.0)
    for scale in range(6, 25):
        total = total.compose(peer.from_laplace_mechanism(float(scale)))
    return total.get_epsilon_for_delta(1e-6)


DEBITS = """
import sys, time
import simplexdp as sdp

accountant = sdp.Accountant.open(sys.argv[1], durable=sys.argv[3] == "durable")
unit = sdp.PrivacyCurve.gaussian(sigma=1e4)
accountant.spend(unit)
print("ready", flush=True)
sys.stdin.readline()
for _ in range(int(sys.argv[2])):
    accountant.spend(unit)
"""


def debits_per_second(durable: bool, each: int = 1000, workers: int = 4) -> float:
    """Return the rate of debits of several processes on one ledger; all must be there at the end."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("SIMPLEXDP_BENCH_DIR", ".")) as folder:
        path = os.path.join(folder, "ledger.db")
        accountant = sdp.Accountant(1.0, 1e-6, path=path)
        command = [sys.executable, "-c", DEBITS, path, str(each), "durable" if durable else "quick"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        processes = [subprocess.Popen(command, **pipes) for _ in range(workers)]
        for process in processes:
            process.stdout.readline()
        start = time.perf_counter()
        for process in processes:
            process.stdin.write("go\n")
            process.stdin.flush()
        for process in processes:
            process.wait()
        elapsed = time.perf_counter() - start
        found = accountant.debits
        if found != workers * (each + 1):
            raise AssertionError(f"{workers * (each + 1)} debits were made, {found} are in the ledger")
        return workers * each / elapsed


def run() -> int:
    missed = 0
    for label, ours, theirs, exact in (
        ("1000 Gaussians, delta 1e-6", our_gaussians, peer_gaussians, GAUSSIAN_EXACT),
        ("20 Laplace, delta 1e-6", our_laplaces, peer_laplaces, LAPLACE_EXACT),
    ):
        print(f"  {label}: above the exact epsilon by {ours() - exact:.1e}, peer {theirs() - exact:.1e}")
        missed += report(label, compare(ours, theirs, rounds=5), peer="dp_accounting", required=1)
    structure = Structure.naive_bayes(20)
    took = min(seconds(lambda: structure.calibrated(epsilon=1.0, delta=1e-6, prior=1.0)) for _ in range(3))
    print(f"  calibration of 20-attribute naive Bayes {1e3 * took:.0f} ms  (required 500)")
    missed += took > 0.5
    for durable in (True, False):
        rate = debits_per_second(durable)
        print(f"  debits per second, 4 processes, {'durable' if durable else 'quick'}: {rate:.0f}  (required 1000)")
        missed += rate < 1000 and not durable
    return missed
