"""Composition against dp_accounting at its default grid, calibration of a whole model."""

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
    return missed
