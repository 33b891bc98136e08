"""Confidence intervals of a release, against the same bisection over counts written with scipy."""

import numpy as np
from benches.python.timing import compare, report
from scipy.special import betainc, betaincc

from simplexdp import DirichletMechanism
from simplexdp.testing import SeededRng

SIZES = ((6, 10**3), (1000, 10**6))


def peer(y: np.ndarray, total: int, scale: float, prior: float) -> np.ndarray:
    """Ends of the intervals by plain bisection, all entries at once, without the grid."""
    d = y.size
    ends = []
    for keeps, side in ((betainc, 1), (betaincc, 0)):
        low, high = np.zeros(d), np.full(d, float(total))
        while np.any(high > low):
            middle = np.floor((low + high + side) / 2)
            kept = keeps(scale * middle + prior, scale * (total - middle) + (d - 1) * prior, y) >= 0.025
            if side:
                low, high = np.where(kept, middle, low), np.where(kept, high, middle - 1)
            else:
                low, high = np.where(kept, low, middle + 1), np.where(kept, middle, high)
            high = np.maximum(low, high)
        ends.append(low)
    return np.stack(ends[::-1], axis=1) / total


def run() -> int:
    missed = 0
    for dimension, total in SIZES:
        mechanism = DirichletMechanism(scale=0.5, prior=2.0, dimension=dimension)
        counts = np.random.default_rng(1).multinomial(total, np.random.default_rng(2).dirichlet(np.ones(dimension)))
        y = mechanism.release(counts, rng=SeededRng(3))
        apart = np.abs(mechanism.interval(y, total) - peer(y, total, 0.5, 2.0)).max()
        print(f"  {dimension} categories: largest difference {apart * total:.3g} records")
        comparison = compare(
            lambda m=mechanism, y=y, n=total: m.interval(y, n), lambda y=y, n=total: peer(y, n, 0.5, 2.0)
        )
        missed += report(f"intervals, {dimension} categories, {total} records", comparison, peer="scipy")
    return missed
