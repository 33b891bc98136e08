"""Public parameters as the exact rationals that they are."""

from fractions import Fraction
from typing import Any, get_args

import numpy as np

from simplexdp import _arguments as check
from simplexdp._arrays import is_truth_value
from simplexdp.accounting import Adjacency
from simplexdp.exceptions import InvalidParameterError

__all__ = ["Number", "as_fraction", "as_ratio", "check_noise"]

Number = int | float | Fraction
"""What counts as the exact rational that it is."""


def as_fraction(name: str, value: Any) -> Fraction:
    """Check for a positive finite number and return it exactly."""
    try:
        if is_truth_value(value):
            raise TypeError
        exact = Fraction(value.item() if isinstance(value, np.generic) else value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidParameterError(f"{name} must be a finite number, got {check.shown(value)}") from None
    if isinstance(value, str) or not exact > 0:
        raise InvalidParameterError(f"{name} must be positive and a number, got {check.shown(value)}")
    try:
        fits = float(exact) > 0
    except OverflowError:
        fits = False
    if not fits:
        raise InvalidParameterError(f"{name} must be a number that doubles come near to, neither as large nor as small")
    return exact


def as_ratio(value: Number) -> tuple[int, int]:
    """Return numerator and denominator, for the core."""
    return as_fraction("scale", value).as_integer_ratio()


def check_noise(mechanism: Any, name: str) -> None:
    """Check the parameters that all noise has."""
    as_fraction(name, getattr(mechanism, name))
    as_fraction("sensitivity", mechanism.sensitivity)
    check.choice("adjacency", mechanism.adjacency, get_args(Adjacency))
