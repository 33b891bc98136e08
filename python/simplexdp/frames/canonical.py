"""One text for each value, the same on every engine: what digests are made of.

Whole numbers, whatever their type, are written in digits; fractions in units of 2^-20, rounded down; times in
microseconds since 1970, dates as year-month-day. Other types are written as Python does.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, TypeVar

import numpy as np

from simplexdp.frames.domain import is_null, plain

__all__ = ["FINEST", "LARGEST", "NULL", "WHOLE", "text_of", "texts_of"]

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
