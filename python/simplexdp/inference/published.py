"""Confidence intervals of counts that were published because their noisy counts reached a threshold.

A noisy count that had to be large is larger than its count on average, and the ordinary interval misses a small count
behind it more often than it says. Given that it was published, Y = c + Z with Y >= T has the law of the noise cut off
at T, which grows with c in the order of likelihood ratios; both tails of that law are inverted. Far above the threshold
that is the ordinary interval. Close to it the noise is memoryless, P(Y >= y | Y >= T) = e^(-(y - T)/scale) for every
c < T: such a count may be as small as any that was looked at, and the interval says so.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

__all__ = ["intervals_above"]


def intervals_above(
    noisy: Sequence[int], *, scale: Fraction, threshold: int, least: int, miss: float
) -> NDArray[np.int64]:
    """Return an interval of each count, shape (k, 2), that misses it with a chance of at most `miss` if published.

    Parameters
    ----------
    noisy : sequence of int
        Published noisy counts, each at least the threshold.
    scale : Fraction
        Of the discrete Laplace noise.
    threshold : int
        From which noisy counts were published.
    least : int
        From which counts were looked at.
    miss : float
        In (0, 1), half of it on either side.
    """
    tail = _log_tail(float(scale))
    reach = 2 * math.ceil(float(scale) * (2 - math.log(miss))) + 2  # beyond, either tail is below half of `miss`
    half = math.log(miss / 2)

    def may_be_so_few(value: int, count: int) -> bool:
        return tail(value - count) - tail(threshold - count) > half

    def is_too_many(value: int, count: int) -> bool:
        above = tail(value + 1 - count) - tail(threshold - count)  # ln P(Y > value), given that Y is published
        return not (above < 0 and math.log(-math.expm1(above)) > half)

    ends = []
    for value in map(int, noisy):
        first = _first(partial(may_be_so_few, value), least, max(least, value))
        beyond = _first(partial(is_too_many, value), max(first, value), value + reach)
        ends.append((first, beyond - 1))
    return np.array(ends, dtype=np.int64).reshape(len(ends), 2)


def _first(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the first integer from `low` on for which a rule holds; it keeps holding, from `high` on in any case."""
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low


def _log_tail(scale: float) -> Callable[[int], float]:
    """Return ln P(Z >= k) of discrete Laplace noise."""
    rest = math.log1p(math.exp(-1 / scale))

    def tail(k: int) -> float:
        return -k / scale - rest if k >= 1 else math.log1p(-math.exp((k - 1) / scale - rest))

    return tail
