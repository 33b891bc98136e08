"""The least noise for a budget that has no closed form."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from simplexdp import _arguments as check
from simplexdp.accounting import Adjacency, PrivacyCurve
from simplexdp.exceptions import InvalidParameterError
from simplexdp.mechanisms._exact import Number, as_fraction, pure_curve

__all__ = ["calibrated_sigma", "pure_scale"]

_SIGMA_BITS = 40
"""Calibrated Gaussian scales have this many significant bits."""


def calibrated_sigma(
    rho: Number | None,
    epsilon: float | None,
    delta: float | None,
    advantage: float | None,
    size: Fraction,
    spent: Callable[[Fraction, Fraction], PrivacyCurve],
) -> float:
    """Return the least sigma for a budget, rounded up to some bits; `spent` is the curve at a sigma and a distance."""
    pair = epsilon is not None or delta is not None
    if (rho is not None) + pair + (advantage is not None) != 1 or (pair and (epsilon is None or delta is None)):
        raise InvalidParameterError("a budget must be one of rho, epsilon with delta, and advantage")
    if advantage is not None:
        return _for_advantage(advantage, size, lambda sigma: spent(sigma, size))
    if rho is not None:
        target = as_fraction("rho", rho)
        square = size * size / (2 * target)
        return _smallest(lambda sigma: sigma * sigma >= square, size)
    target_epsilon, target_delta = check.positive("epsilon", epsilon), check.open_unit("delta", delta)
    return _smallest(lambda sigma: bool(spent(sigma, size).epsilon(target_delta) <= target_epsilon), size)


def pure_scale(epsilon: Number | None, advantage: float | None, size: Fraction, adjacency: Adjacency) -> Number:
    """Return the least scale of Laplace noise: the Fraction size / epsilon, or some bits for an advantage."""
    if (epsilon is None) == (advantage is None):
        raise InvalidParameterError("a budget must be epsilon or advantage, and not both")
    if advantage is None:
        return size / as_fraction("epsilon", epsilon)
    return _for_advantage(advantage, size, lambda scale: pure_curve(size / scale, adjacency))


def _for_advantage(advantage: float, size: Fraction, spent: Callable[[Fraction], PrivacyCurve]) -> float:
    """Return the least scale at which no attacker's true positive rate exceeds the false one by more than that.

    The largest difference of the two rates is the total variation distance, which is delta at epsilon zero.
    """
    target = check.open_unit("advantage", advantage)
    return _smallest(lambda scale: bool(spent(scale).delta(0.0) <= target), size)


def _smallest(holds: Any, start: Fraction) -> float:
    """Return the least number of some bits for which a property holds that holds for all larger ones."""
    low = high = Fraction(math.ldexp(1.0, math.frexp(float(start))[1]))
    for _ in range(200):
        if holds(high):
            break
        high *= 2
    for _ in range(200):
        if not holds(low):
            break
        low /= 2
    # Now low fails and high holds; both are powers of two or the search gave up.
    if not holds(high) or holds(low):
        raise InvalidParameterError("the budget must allow a scale between 2^-200 and 2^200 times the sensitivity")
    while high > 2 * low:
        low, high = (low * 2, high) if not holds(low * 2) else (low, low * 2)
    for _ in range(_SIGMA_BITS):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return float(high)
