"""What a numeric column holds: its numbers, which of them are missing, and how often each occurs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from simplexdp.exceptions import InvalidDataError
from simplexdp.frames.domain import is_null
from simplexdp.frames.source import as_frame, column_of, is_lazy

__all__ = ["Floats", "Sample", "check_missing", "not_numeric", "numbers_of", "numbers_or_nan", "sample_of"]

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Sample:
    """The values that occur in a column, increasing, how often each of them does, and how many are missing."""

    values: Floats
    counts: NDArray[np.int64]
    missing: int = 0

    @property
    def n_records(self) -> int:
        """How many records there are, with a value or without one."""
        return int(self.counts.sum()) + self.missing


def sample_of(frame: Any, column: Any, *, null: bool = False) -> Sample:
    """Return what occurs in a numeric column; lazy engines count where the data are.

    Missing values are refused unless `null` says that they have a level.
    """
    frame = as_frame(frame)
    if not is_lazy(frame):
        numbers = numbers_or_nan(column_of(frame, column), column, null=null)
        values, counts = np.unique(numbers[~np.isnan(numbers)], return_counts=True)
        return Sample(values, counts.astype(np.int64), int(np.isnan(numbers).sum()))
    from simplexdp.frames.lazy import grouped_counts

    (groups,) = grouped_counts(frame, [[column]])
    cells = np.empty(len(groups), dtype=object)
    cells[:] = [value for (value,), _ in groups]
    numbers = numbers_or_nan(cells, column, null=null)
    times = np.array([count for _, count in groups], dtype=np.int64)
    present = ~np.isnan(numbers)
    values, position = np.unique(numbers[present], return_inverse=True)
    counts = np.zeros(len(values), dtype=np.int64)
    np.add.at(counts, position, times[present])
    return Sample(values, counts, int(times[~present].sum()))


def numbers_of(values: Any, column: Any) -> Floats:
    """Return a column as doubles, none of them missing."""
    numbers = _numbers(values, column)
    if np.isnan(numbers).any():
        raise InvalidDataError(f"column {column!r} must have no missing value (the row is not shown)")
    return numbers


def numbers_or_nan(values: Any, column: Any, *, null: bool) -> Floats:
    """Return a column of bins as doubles, missing values as NaN; they are refused where they have no level."""
    numbers = _numbers(values, column)
    check_missing(numbers, column, null=null)
    return numbers


def check_missing(numbers: Floats, column: Any, *, null: bool) -> None:
    """Refuse missing values in a column of bins that has no level for them."""
    if not null and np.isnan(numbers).any():
        raise InvalidDataError(
            f"column {column!r} must have no missing value, such as NaN, unless its binner has null=True, which makes "
            "a bin of them (the row is not shown)"
        )


def _numbers(values: Any, column: Any) -> Floats:
    """Return a column as doubles, missing values as NaN."""
    if not isinstance(values, np.ndarray):
        import narwhals as nw

        # NumPy has no integers of 128 bits; what is clamped and binned needs no more digits than doubles have.
        values = (values.cast(nw.Float64) if values.dtype in (nw.Int128, nw.UInt128) else values).to_numpy()
    if values.dtype.kind not in "biufO":
        raise not_numeric(column)
    if values.dtype.kind == "O" and any(isinstance(value, (str, bytes)) for value in values):
        raise not_numeric(column)
    if values.dtype.kind == "O":
        # None would become NaN by itself; pandas' NA and NaT are no numbers.
        values = np.array([math.nan if is_null(value) else value for value in values], dtype=object)
    try:
        numbers: Floats = values.astype(np.float64)
    except OverflowError:
        # Integers beyond all doubles lie beyond all bounds.
        return _numbers(np.array([_near(value) for value in values], dtype=object), column)
    except (TypeError, ValueError) as error:
        raise not_numeric(column) from error
    return numbers


def _near(value: Any) -> Any:
    huge = isinstance(value, int) and value.bit_length() > 1023
    return math.copysign(math.inf, 1 if value > 0 else -1) if huge else value


def not_numeric(column: Any) -> InvalidDataError:
    """Return the error of a column without numbers."""
    return InvalidDataError(f"column {column!r} must hold numbers (the row is not shown)")
