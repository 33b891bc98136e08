"""The code of a value in a column of Spark, by Spark itself: one for each record.

Spark compares values of different types after it has cast one of them, so that the integer 1 equals the texts "1" and
"01". Here a value equals a level where `Domain.code` says so: the level is written as a value of the column's type, or
equals none. The first level that fits decides, so that no record has two codes.
"""

from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction
from numbers import Number
from typing import Any

import numpy as np

from simplexdp.exceptions import InvalidParameterError
from simplexdp.frames.domain import Domain, is_null

__all__ = ["code_of", "plain_text"]

BYTES = {"byte": 1, "short": 2, "integer": 4, "long": 8, "tinyint": 1, "smallint": 2, "int": 4, "bigint": 8}
"""Of the integer types, by either of their names."""


def code_of(column: Any, kind: Any, domain: Domain) -> Any:
    """Return an expression for the codes of a column of this type: -1 where the domain has no place for the value."""
    from pyspark.sql import functions as sf
    from pyspark.sql.types import DoubleType, FloatType

    if domain.clean is not None:
        raise InvalidParameterError("domain must have no clean where Spark codes the records: clean them in the frame")
    values = plain_text(column, kind)
    missing = values.isNull() | sf.isnan(values) if isinstance(kind, (DoubleType, FloatType)) else values.isNull()
    rest = len(domain) - 1 if domain.other else -1
    stated = domain.levels[: len(domain) - domain.other]
    nulls = [code for code, level in enumerate(stated) if is_null(level)]
    # First: a NaN of Spark equals itself.
    codes = sf.when(missing, nulls[0] if nulls else rest)
    for code, level in enumerate(stated):
        literal = None if is_null(level) else _literal(level, kind)
        if literal is not None:
            codes = codes.when(values == literal, code)
    return codes.otherwise(rest)


def plain_text(column: Any, kind: Any) -> Any:
    """Return a column whose text is compared letter by letter, whatever its collation; others as they are."""
    from pyspark.sql.types import StringType

    return column.cast(StringType()) if isinstance(kind, StringType) else column


def _literal(level: Any, kind: Any) -> Any:
    """Return a level as a value of a column of this type, None if it is no such value."""
    from pyspark.sql import functions as sf
    from pyspark.sql import types as st

    if isinstance(kind, st.StringType):
        return sf.lit(str(level)) if isinstance(level, str) else None
    if isinstance(kind, (st.BooleanType, st.NumericType)):
        number = _number(level, kind) if isinstance(level, (Number, Decimal)) else None
        return None if number is None else sf.lit(number).cast(kind)
    if isinstance(kind, st.DateType):
        is_date = isinstance(level, datetime.date) and not isinstance(level, datetime.datetime)
        return sf.lit(level).cast(kind) if is_date else None
    if isinstance(kind, (st.TimestampType, st.TimestampNTZType)):
        # What Spark gives to Python has no zone, and equals no time that has one.
        if not isinstance(level, datetime.datetime) or level.tzinfo is not None:
            return None
        return sf.lit(level) if isinstance(kind, st.TimestampType) else sf.lit(level.isoformat(sep=" ")).cast(kind)
    if isinstance(kind, st.DayTimeIntervalType):
        return sf.lit(level) if isinstance(level, datetime.timedelta) else None
    if isinstance(kind, st.BinaryType):
        return sf.lit(bytes(level)) if isinstance(level, (bytes, bytearray)) else None
    raise InvalidParameterError(
        f"column must hold numbers, truth values, text, bytes, dates, times or durations, got {kind.simpleString()}"
    )


def _number(level: Any, kind: Any) -> Any:
    """Return the value of a numeric type that equals a number exactly, None if there is none."""
    from pyspark.sql import types as st

    try:
        if isinstance(kind, st.BooleanType):
            return bool(level) if level in (0, 1) else None
        if isinstance(kind, (st.FloatType, st.DoubleType)):
            number = float(np.float32(level)) if isinstance(kind, st.FloatType) else float(level)
            return number if number == level else None
        # Values of a decimal type are whole multiples of a power of ten, those of the others of one.
        scale = kind.scale if isinstance(kind, st.DecimalType) else 0
        whole = Fraction(level) * 10**scale
        if whole.denominator != 1:
            return None
        if isinstance(kind, st.DecimalType):
            digits = tuple(map(int, str(abs(whole.numerator))))
            return Decimal((int(whole < 0), digits, -scale)) if len(digits) <= kind.precision else None
        most = 1 << 8 * BYTES[kind.typeName()] - 1
        return whole.numerator if -most <= whole < most else None
    except (TypeError, ValueError, ArithmeticError):
        return None  # a complex number, an infinity, a number beyond the type
