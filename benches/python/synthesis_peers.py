"""Other libraries' synthesizers, each in an environment of its own, under a limit of processor time.

    python -m benches.python.synthesis_peers DATA_FOLDER RESULTS_FOLDER [PEER ...] [--data NAME ...] [--epsilon E ...]
        [--limit SECONDS] [--home FOLDER]

Every peer gets the codes and the domains that ours gets (see `synthesis_data`), (epsilon, delta = 1e-6), one core and
one run. What it draws, and how long it took, is written to RESULTS_FOLDER, which `synthesis_comparison` makes a table
of; what is there already is not run again. Times and limits are of the processor: other work may share the machine.
A peer that does not install, fails or does not finish says so in its file. What peers call their guarantee differs
(they calibrate by zero-concentrated privacy, most draw floating point noise): the numbers compare tables alone.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import numpy as np
from benches.python.synthesis_data import COMPARED, coded

HERE = Path(__file__).parent / "synthesizers"

PEERS = {
    "dpmm MST": ("dpmm", "MST"),
    "dpmm PrivBayes": ("dpmm", "PrivBayes"),
    "dpmm AIM": ("dpmm", "AIM"),
    "mbi MST": ("mbi", "MST"),
    "mbi mixture of all pairs": ("mbi", "mixture"),
    "smartnoise MST": ("smartnoise", "MST"),
    "smartnoise AIM": ("smartnoise", "AIM"),
    "OpenDP MST": ("opendp", "MST"),
    "OpenDP AIM": ("opendp", "AIM"),
}
"""The environment, of which a file of requirements says what it holds, and the mechanism that its script is told."""

ONE_CORE = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS"), "1"),
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}


def interpreter(home, name):
    """Return the interpreter of an environment, made if it is not there; an error when the peer does not install."""
    folder = home / name
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not (folder / "installed").exists():
        venv.create(folder, with_pip=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", HERE / f"{name}.txt"]
        subprocess.run(pip, check=True, timeout=1800)
        (folder / "installed").touch()
    return python


def run(python, name, mechanism, given, epsilon, limit):
    """Return synthetic codes and processor time, or why there are none."""
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "found.npy"
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [python, HERE / f"run_{name}.py", given, found, str(epsilon), mechanism],
            check=False,
            capture_output=True,
            env={**os.environ, **ONE_CORE},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)),
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if done.returncode == 0:
            return np.load(found), seconds
        if seconds > 0.95 * limit:
            return None, f"not finished in {limit} s"
        sys.stderr.write(done.stderr.decode(errors="replace")[-2000:])
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        return None, f"failed: {''.join(last)[:100]}"


def place(results, data, epsilon, peer, suffix):
    """Return where a result stands: .npz for records and .json for a reason why there are none."""
    return results / f"{data}-{epsilon:g}-{peer.replace(' ', '-')}{suffix}"


def main():
    """Run what was not run before."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("peers", nargs="*", default=list(PEERS))
    parser.add_argument("--data", nargs="+", default=list(COMPARED))
    parser.add_argument("--epsilon", nargs="+", type=float, default=[1.0, 0.1, 3.0])
    parser.add_argument("--limit", type=int, default=600)
    parser.add_argument("--home", type=Path, default=Path(sys.prefix) / "peers")
    given = parser.parse_args()
    given.results.mkdir(parents=True, exist_ok=True)
    missing = set()
    for peer in given.peers:
        name, mechanism = PEERS[peer]
        for data in given.data:
            records, sizes, _ = coded(given.folder, data)
            for epsilon in given.epsilon:
                drawn, reason = (place(given.results, data, epsilon, peer, suffix) for suffix in (".npz", ".json"))
                if drawn.exists() or reason.exists():
                    continue
                try:
                    if name in missing:
                        raise OSError(name)
                    python = interpreter(given.home.absolute(), name)
                except (subprocess.SubprocessError, OSError):
                    missing.add(name)
                    reason.write_text(json.dumps("does not install"))
                    continue
                with tempfile.TemporaryDirectory() as folder:
                    codes = Path(folder) / "given.npz"
                    np.savez(codes, records=records, sizes=np.array(sizes))
                    found, seconds = run(python, name, mechanism, codes, epsilon, given.limit)
                print(data, epsilon, peer, seconds, flush=True)
                if found is None:
                    reason.write_text(json.dumps(seconds))
                else:
                    np.savez_compressed(drawn, records=found.astype(np.int16), seconds=seconds)


if __name__ == "__main__":
    main()
