"""Texts of values: one that every engine forms alike, of which digests are made, and one that no two values share.

In digests whole numbers, whatever their type, are written in digits; fractions in units of 2^-20, rounded down; times
in microseconds since 1970, dates as year-month-day. Other types are written as Python does. Two values may have the
same: who a person is must never be told from it.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable
from decimal import Decimal, Inexact, localcontext
from fractions import Fraction
from numbers import Number
from typing import Any, TypeVar

import numpy as np

from simplexdp.frames.domain import is_null, plain

__all__ = ["FINEST", "LARGEST", "NULL", "WHOLE", "identities_of", "text_of", "texts_of", "texts_of_integers"]

NULL = "n"
"""Of a missing value; the texts of the others begin with another letter."""
FINEST = 1 << 20
"""Fractions of a number are told apart so far."""
WHOLE = 1 << 53
"""Doubles that are whole numbers are written in digits below."""
LARGEST = 8e12
"""Other doubles beyond are told apart by their sign only: in units of 2^-20 they have no place in 64 bits."""
EPOCH = datetime.datetime(1970, 1, 1)
_MICROSECOND = datetime.timedelta(microseconds=1)

Null = TypeVar("Null")


def texts_of(values: Iterable[Any], null: Any = NULL) -> list[Any]:
    """Return the text of each value, and `null` for missing ones."""
    return [null if is_null(value) else "v" + text_of(value) for value in values]


def texts_of_integers(values: Iterable[int]) -> list[str]:
    """Return what `texts_of` does, for Python's integers alone and in a tenth of the time."""
    return [f"v{value}" for value in values]


def identities_of(values: Iterable[Any]) -> list[str]:
    """Return a text of each value that is another one for any other value, and the same for equal ones.

    A number and the text that Python writes for it are the same: 1, 1.0, Decimal("1.00") and "1".
    """
    return [NULL if is_null(value) else "v" + _identity_of(value) for value in values]


def text_of(value: Any) -> str:
    """Return the text of a value that is not missing."""
    if type(value) is str:
        return value
    value = plain(value)
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _of_number(value)
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, datetime.datetime):
        if value.tzinfo is not None:
            value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
        return str((value - EPOCH) // _MICROSECOND)
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, np.datetime64):
        return str(int(value.astype("M8[us]").astype(np.int64)))
    return str(value)


def _of_number(value: float) -> str:
    if value.is_integer() and abs(value) < WHOLE:
        return str(int(value))
    if abs(value) < LARGEST:
        return f"f{math.floor(value * FINEST)}"
    return "large" if value > 0 else "-large"


def _identity_of(value: Any) -> str:
    if type(value) is str:
        return value
    value = plain(value)
    if isinstance(value, Number):  # among them truth values, which equal 0 and 1
        return _written_exactly(value)
    if isinstance(value, np.datetime64):  # of nanoseconds, or of years beyond Python's
        return str(value)
    return text_of(value)


def _written_exactly(value: Any) -> str:
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, Fraction):
        value = _as_decimal(value)
    return _of_decimal(value) if isinstance(value, Decimal) and value.is_finite() else str(value)


def _as_decimal(value: Fraction) -> Decimal | Fraction:
    """Return the decimal that equals a ratio, if there is one of a reasonable length."""
    with localcontext() as context:
        context.prec, context.traps[Inexact] = 400, True
        try:
            return Decimal(value.numerator) / Decimal(value.denominator)
        except Inexact:
            return value


def _of_decimal(value: Decimal) -> str:
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)  # of finite ones
    kept = "".join(map(str, digits)).rstrip("0")
    if not kept:
        return "0"
    exponent += len(digits) - len(kept)
    near = float(value) if -400 < value.adjusted() < 400 else math.inf
    if math.isfinite(near) and Decimal(near) == value:
        return _written_exactly(near)
    if 0 <= exponent < 400:
        return "-" * sign + kept + "0" * exponent
    return str(Decimal((sign, tuple(map(int, kept)), exponent)))
