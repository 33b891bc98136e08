"""Algorithm 1: the mechanism for a Renyi budget, against brentq over scipy's polygamma for its scale alone."""

import numpy as np
from benches.python.timing import compare, report
from scipy.optimize import brentq
from scipy.special import polygamma

import simplexdp as sdp

SIZE = 300


def peer_scale(order: float, epsilon: float) -> float:
    """Solve the equation as a careful user of scipy would, to the same tolerance."""

    def excess(r: float) -> float:
        return order * r * r * polygamma(1, 1 + 3 * (order - 1) * r) - epsilon

    return brentq(excess, 1e-9, 1e9, xtol=1e-300, rtol=1e-14)


def run() -> int:
    rng = np.random.default_rng(1)
    settings = list(zip(rng.uniform(1.1, 50, SIZE), 10.0 ** rng.uniform(-3, 1, SIZE), strict=True))

    def ours():
        return [sdp.DirichletMechanism.from_rdp(order, epsilon, 6).scale for order, epsilon in settings]

    def peers():
        return [peer_scale(*setting) for setting in settings]

    difference = np.max(np.abs(np.array(ours()) / np.array(peers()) - 1))
    print(f"  largest relative difference from the peer {difference:.1e}")
    comparison = compare(ours, peers, our_work=SIZE, peer_work=SIZE, rounds=5)
    return report("mechanism by Algorithm 1", comparison, peer="brentq", required=2)
