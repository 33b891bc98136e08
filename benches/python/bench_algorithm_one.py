"""Algorithm 1's equation for many settings in one call, against brentq over scipy's polygamma, time per root."""

import numpy as np
from benches.python.timing import compare, report
from scipy.optimize import brentq
from scipy.special import polygamma

from simplexdp._algorithm_one import algorithm_one_scale

SIZE = 10**5
PEER_SIZE = 300


def peer_scale(order: float, epsilon: float) -> float:
    """Solve the equation as a careful user of scipy would, to the same tolerance."""

    def excess(r: float) -> float:
        return order * r * r * polygamma(1, 1 + 3 * (order - 1) * r) - epsilon

    return brentq(excess, 1e-9, 1e9, xtol=1e-300, rtol=1e-14)


def run() -> int:
    rng = np.random.default_rng(1)
    order, epsilon = rng.uniform(1.1, 50, SIZE), 10.0 ** rng.uniform(-3, 1, SIZE)
    ours = algorithm_one_scale(order, epsilon, 2, 1)
    peers = np.array([peer_scale(*pair) for pair in zip(order[:PEER_SIZE], epsilon[:PEER_SIZE], strict=True)])
    difference = np.max(np.abs(ours[:PEER_SIZE] / peers - 1))
    print(f"  largest relative difference from the peer {difference:.1e}")
    comparison = compare(
        lambda: algorithm_one_scale(order, epsilon, 2, 1),
        lambda: [peer_scale(*pair) for pair in zip(order[:PEER_SIZE], epsilon[:PEER_SIZE], strict=True)],
        our_work=SIZE,
        peer_work=PEER_SIZE,
        rounds=5,
    )
    return report("root of Algorithm 1, 10^5 settings", comparison, peer="brentq", required=50)
