"""Losses in decimal: rounded up, never down, when they are shown with fewer digits."""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

__all__ = ["power", "rounded"]

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def rounded(value: float, digits: int = 4, *, up: bool = True) -> str:
    """Return a loss rounded up to some significant digits; or rounded down, for what is left of a budget.

    Examples
    --------
    >>> rounded(0.99991), rounded(0.05), rounded(0.123412), rounded(0.123412, up=False)
    ('1', '0.05', '0.1235', '0.1234')
    """
    if not math.isfinite(value):
        return "∞"
    if value == 0:
        return "0"
    # The decimal that stands for the double: 0.05 is not to become 0.05001.
    exact = Decimal(repr(float(value)))
    place = Decimal(1).scaleb(exact.adjusted() - digits + 1)
    shown = exact.quantize(place, rounding=ROUND_CEILING if up else ROUND_FLOOR).normalize()
    return f"{shown:f}" if -6 <= shown.adjusted() < 9 else power(float(shown), digits)


def power(value: float, digits: int = 2) -> str:
    """Return a small probability as a multiple of a power of ten, rounded up.

    Examples
    --------
    >>> power(1e-6), power(3.21e-7)
    ('10⁻⁶', '3.3 × 10⁻⁷')
    """
    if value == 0:
        return "0"
    # The decimal that was written, not the binary fraction next to it.
    exact = Decimal(repr(value))
    up = exact.quantize(Decimal(1).scaleb(exact.adjusted() - digits + 1), rounding=ROUND_CEILING).normalize()
    exponent = up.adjusted()
    mantissa = up.scaleb(-exponent).normalize()
    ten = f"10{str(exponent).translate(_SUPERSCRIPTS)}" if exponent else "1"
    return ten if mantissa == 1 else f"{mantissa:f} × {ten}" if exponent else f"{mantissa:f}"
