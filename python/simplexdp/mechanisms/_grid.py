"""The public grid that real values are rounded to, and what the rounding adds to their distances."""

import math
from fractions import Fraction
from typing import Any

from simplexdp import _arguments as check
from simplexdp import _core
from simplexdp.exceptions import InvalidParameterError
from simplexdp.mechanisms._exact import Number, as_fraction, as_ratio

__all__ = [
    "changed_values",
    "check_grid",
    "check_steps",
    "default_resolution",
    "grid_of",
    "resolution_exponent",
]

LOG_LARGEST_SCALE = 45
"""Noise has a scale of at most 2^45 steps of the grid."""


def check_grid(mechanism: Any, size: Number) -> None:
    """Check the grid of a mechanism with noise of this scale, and set what was left out."""
    exact = as_fraction("scale", size)
    resolution = mechanism.resolution
    if resolution is None:
        resolution = default_resolution(exact, as_fraction("sensitivity", mechanism.sensitivity))
    log_resolution = resolution_exponent(resolution)
    if exact > Fraction(2) ** (log_resolution + LOG_LARGEST_SCALE):
        raise InvalidParameterError(
            f"resolution must be at least the noise's scale / 2^45, got {check.shown(resolution)}"
        )
    changed = None if mechanism.changed is None else check.integer("changed", mechanism.changed, 1)
    mechanism._set(resolution=math.ldexp(1.0, log_resolution), changed=changed)


def check_steps(epsilon: Number | None, scale: Number, resolution: float) -> None:
    """Refuse a budget whose noise has too many steps of the grid, by the budget's name."""
    largest = Fraction(2) ** (resolution_exponent(resolution) + LOG_LARGEST_SCALE)
    if epsilon is not None and scale > largest:
        least = float(as_fraction("epsilon", epsilon) * Fraction(scale) / largest)
        raise InvalidParameterError(
            f"epsilon must be at least {least:.3g} on a grid of step {resolution:.3g}, where the scale of the noise is "
            f"2^{LOG_LARGEST_SCALE} steps, got {float(epsilon)}"
        )


def changed_values(changed: int | None) -> int:
    """Return in how many values neighbours differ: one where a release has no more."""
    return 1 if changed is None else check.integer("changed", changed, 1)


def default_resolution(size: Fraction, sensitivity: Fraction) -> float:
    """Return a step that is small beside the noise and beside the distance."""
    return math.ldexp(1.0, _core.default_step(as_ratio(size), as_ratio(sensitivity)))


def resolution_exponent(resolution: Any) -> int:
    """Find the k of a step 2**k."""
    try:
        mantissa, exponent = math.frexp(resolution)
    except (TypeError, ValueError, OverflowError):
        mantissa, exponent = math.nan, 0
    if mantissa != 0.5 or not -1000 <= exponent - 1 <= 900:
        raise InvalidParameterError(
            f"resolution must be a power of two from 2^-1000 to 2^900, got {check.shown(resolution)}"
        )
    return exponent - 1


def grid_of(mechanism: Any) -> Fraction:
    """Return the step of the grid, exactly."""
    return Fraction(mechanism.resolution)
