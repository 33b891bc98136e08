"""The least Gaussian noise for a budget."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from simplexdp import _arguments as check
from simplexdp.accounting import PrivacyCurve
from simplexdp.exceptions import InvalidParameterError
from simplexdp.mechanisms._exact import Number, as_fraction

__all__ = ["calibrated_sigma"]

_SIGMA_BITS = 40
"""Calibrated Gaussian scales have this many significant bits."""


def calibrated_sigma(
    rho: Number | None,
    epsilon: float | None,
    delta: float | None,
    size: Fraction,
    spent: Callable[[Fraction, Fraction], PrivacyCurve],
) -> float:
    """Return the least sigma for a budget, rounded up to some bits; `spent` is the curve at a sigma and a distance."""
    if (rho is None) == (epsilon is None and delta is None) or (epsilon is None) != (delta is None):
        raise InvalidParameterError("a budget must be rho, or epsilon and delta, and not both")
    if rho is not None:
        target = as_fraction("rho", rho)
        square = size * size / (2 * target)
        return _smallest(lambda sigma: sigma * sigma >= square, size)
    target_epsilon, target_delta = check.positive("epsilon", epsilon), check.open_unit("delta", delta)
    return _smallest(lambda sigma: bool(spent(sigma, size).epsilon(target_delta) <= target_epsilon), size)


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
