"""Least squares along a tree: the best linear estimates of counts that add up, in two passes, with their variances.

Upwards a node's own noisy count and the sum of its children's estimates are weighed by their variances; downwards what
is missing to the parent's final estimate is shared among the children by their variances [HRMS10, section 4].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Estimates", "Measured", "least_squares"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Measured(NamedTuple):
    """The nodes of one level: the positions of their parents, their noisy counts and the variance of the noise.

    A variance of infinity is that of a level that was not measured.
    """

    parent: Integers
    noisy: Floats
    variance: float


class Estimates(NamedTuple):
    """Of one level: counts, and the variances of their errors."""

    counts: Floats
    variances: Floats


def least_squares(levels: Sequence[Measured], total: float | None = None) -> list[Estimates]:
    """Return the estimates of the root and of every level.

    Parameters
    ----------
    levels : sequence of Measured
        From the children of the root down; the lowest is measured.
    total : float, optional
        The public count of the root.
    """
    upwards: list[Estimates] = []
    below: Floats = np.zeros(0)
    spread: Floats = np.zeros(0)
    for place, level in enumerate(reversed(levels)):
        if not place:
            below, spread = level.noisy.astype(np.float64), np.full(len(level.noisy), level.variance)
        elif np.isfinite(level.variance):
            weight = spread / (spread + level.variance)
            below, spread = below + weight * (level.noisy - below), spread * (1 - weight)
        upwards.append(Estimates(below, spread))
        below = np.bincount(level.parent, below).astype(np.float64)
        spread = np.bincount(level.parent, spread).astype(np.float64)
    found = [Estimates(below, spread) if total is None else Estimates(np.array([float(total)]), np.zeros(1))]
    for level, own in zip(levels, reversed(upwards), strict=True):
        sums, spreads = (np.bincount(level.parent, each) for each in own)
        above = found[-1]
        share = own.variances / spreads[level.parent]
        counts = own.counts + share * (above.counts - sums)[level.parent]
        # Cov(child) = V - V^2 / sum V, and what is not known of the parent.
        variances = own.variances * (1 - share) + share**2 * above.variances[level.parent]
        found.append(Estimates(counts, variances))
    return found
