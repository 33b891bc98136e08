"""The distinct values of an array, and which one every row has: what codes are made of."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from simplexdp import _core
from simplexdp.exceptions import InvalidDataError
from simplexdp.frames.domain import is_null, plain

__all__ = ["Distinct", "distinct_objects", "distinct_of_array", "observed"]

Distinct: TypeAlias = tuple[list[Any], NDArray[np.integer[Any]]]
"""The values, and the position of each row's value among them. Equal values may be listed more than once."""


def distinct_of_array(values: NDArray[Any], column: Any) -> Distinct:
    """Return the distinct values of an array of scalars."""
    if values.dtype.kind == "T":  # text of any length, which is kept elsewhere
        values = values.astype(object)
    if values.dtype.kind == "O":
        return distinct_objects(values, column)
    if values.dtype.kind not in "biufSUMm":
        raise InvalidDataError(f"column {column!r} must hold categories, got dtype {values.dtype}")
    if not values.dtype.itemsize:  # all of them are the empty text
        return values[:1].tolist(), np.zeros(len(values), dtype=np.uint32)
    first_rows, numbers = observed(values)
    levels = values[first_rows]
    # As Python scalars dates would be integers where they are finer than microseconds.
    return list(levels) if values.dtype.kind in "mM" else levels.tolist(), numbers


def observed(values: NDArray[Any]) -> tuple[NDArray[np.uintp], NDArray[np.uint32]]:
    """Return the first row of each distinct value, by its bytes, and for each row the position in that list."""
    found = _core.distinct(*_bytes_of(values))
    assert found is not None  # without a limit
    numbers, first_rows = found
    return first_rows, numbers


def distinct_objects(values: NDArray[np.object_], column: Any) -> Distinct:
    """Return the distinct values of an array of objects, missing ones as None."""
    # Most columns of objects repeat few of them: rows with the same one are found without looking at it.
    found = _core.distinct(*_bytes_of(_addresses(values)), most=64 + len(values) // 8)
    if found is not None:
        numbers, first_rows = found
        levels = values[first_rows].tolist()
        try:
            set(map(hash, levels))
        except (TypeError, ValueError):
            raise _no_scalars(column) from None
        return levels, numbers
    known: dict[Any, int] = {}
    levels = []
    rows = np.empty(len(values), dtype=np.int64)
    for row, value in enumerate(values):
        # A date and a time are equal in NumPy and differ as Python scalars, which is what domains hold.
        key = plain(value) if isinstance(value, (np.datetime64, np.timedelta64)) else value
        try:
            number = known.get(key)
        except (TypeError, ValueError):
            raise _no_scalars(column) from None
        if number is None:
            # What is not equal to itself would be new in every row.
            key = None if is_null(value) else key
            number = known.setdefault(key, len(levels))
            if number == len(levels):
                levels.append(key)
        rows[row] = number
    return levels, rows


def _no_scalars(column: Any) -> InvalidDataError:
    # To be raised without its cause, which may quote the value.
    return InvalidDataError(f"column {column!r} must hold scalars (the row is not shown)")


def _bytes_of(values: NDArray[Any]) -> tuple[NDArray[np.uint8], int]:
    return np.ascontiguousarray(values).view(np.uint8), values.dtype.itemsize


def _addresses(objects: NDArray[np.object_]) -> NDArray[np.uintp]:
    """Return where the objects are, which NumPy shows through the description of the memory only."""
    description = {**objects.__array_interface__, "typestr": np.dtype(np.uintp).str, "descr": []}
    return np.asarray(SimpleNamespace(__array_interface__=description))
