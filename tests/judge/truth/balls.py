"""Balls: real numbers with proved error bounds (FLINT's arb)."""

from collections.abc import Callable
from fractions import Fraction

from flint import arb, ctx, fmpq

# 39 digits: the worst cancellation below takes some twelve of them.
ctx.prec = 128

Number = float | int | Fraction | arb

ZERO, ONE, HALF = arb(0), arb(1), arb(1) / 2


def ball(value: Number) -> arb:
    """Return a ball around a number: a double or an integer counts as the exact number that it is."""
    if isinstance(value, Fraction):
        return arb(fmpq(value.numerator, value.denominator))
    return arb(value)


def positive_part(value: arb) -> arb:
    """Return a ball around the larger of the value and zero."""
    return value.max(ZERO)


def at_most_one(value: arb) -> arb:
    """Return the ball of a probability, cut to [0, 1]; a ball without a centre knows nothing."""
    if not value.is_finite():
        return arb(0.5, 0.5)
    return positive_part(value).min(ONE)


def log_ratio(p: arb, q: arb) -> float:
    """Return about the logarithm of a ratio, for sorting; no bound hangs on it."""
    return float((p / q).log())


def is_sharp(value: arb) -> bool:
    """Whether a positive number is known well enough to sum a series at it; where not, any probability is possible."""
    return value > 0 and value.is_finite() and value.rad() < 1e-6 * value.mid()


def sharp(compute: Callable[[], arb]) -> arb:
    """Compute with more and more digits until some ten of the result are known, or it is below all that is asked."""
    before = ctx.prec
    try:
        for _ in range(5):
            value = compute()
            if value.rad() < 1e-10 * abs(value.mid()) or value < 1e-330:
                break
            ctx.prec *= 2
        return value
    finally:
        ctx.prec = before
