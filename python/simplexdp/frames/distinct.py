"""The distinct values of a column, and which one every row has: what codes are made of."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from simplexdp import _core
from simplexdp.exceptions import InvalidDataError
from simplexdp.frames.domain import is_null

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["distinct_of_array", "distinct_of_series"]

Distinct: TypeAlias = tuple[list[Any], NDArray[np.integer[Any]]]
"""The values, and the position of each row's value among them. Equal values may be listed more than once."""


def distinct_of_array(values: NDArray[Any], column: Any) -> Distinct:
    """Return the distinct values of an array of scalars."""
    if values.dtype.kind == "O":
        return _distinct_objects(values, column)
    if values.dtype.kind not in "biufSUMm":
        raise InvalidDataError(f"column {column!r} must hold categories, got dtype {values.dtype}")
    if not values.dtype.itemsize:  # all of them are the empty text
        return values[:1].tolist(), np.zeros(len(values), dtype=np.uint32)
    found = _same_bytes(values)
    assert found is not None  # without a limit
    numbers, first_rows = found
    levels = values[first_rows]
    # As Python scalars dates would be integers where they are finer than microseconds.
    return list(levels) if values.dtype.kind in "mM" else levels.tolist(), numbers


def distinct_of_series(series: nw.Series[Any], column: Any) -> Distinct:
    """Return the distinct values of a series, missing ones as None."""
    import narwhals as nw

    is_number = series.dtype.is_integer() or series.dtype.is_float() or series.dtype == nw.Boolean
    if is_number and not series.is_null().any():
        return distinct_of_array(series.to_numpy(), column)
    if series.implementation.is_pandas() and series.dtype != nw.Categorical:
        return _distinct_of_pandas(series.to_native(), column)
    missing = series.is_null()
    if series.dtype.is_float():
        missing = missing | series.is_nan().fill_null(value=True)
    rows = np.asarray(missing.to_numpy(), dtype=bool)
    if not rows.any():
        return _distinct_present(series)
    levels, numbers = _distinct_present(series.filter(~missing))
    all_numbers = np.full(len(series), len(levels))
    all_numbers[~rows] = numbers
    return [*levels, None], all_numbers


def _distinct_present(series: nw.Series[Any]) -> Distinct:
    """Return the distinct values of a series without missing ones."""
    import narwhals as nw

    keys = _keys(series)
    if keys is not None:
        found = _same_bytes(keys)
        assert found is not None  # without a limit
        numbers, first_rows = found
        return series[first_rows.tolist()].to_list(), numbers
    if series.dtype in (nw.Categorical, nw.Enum):
        series = series.cast(nw.String)
    levels = series.unique().to_list()
    if not levels:
        return [], np.zeros(0, dtype=np.int64)
    return levels, series.replace_strict(levels, range(len(levels)), return_dtype=nw.Int64).to_numpy()


def _keys(series: nw.Series[Any]) -> Any:
    """Return integers that differ where the values do, if the engine keeps some or makes them faster than we."""
    import narwhals as nw

    native = series.to_native()
    if series.implementation.is_pandas() and series.dtype == nw.Categorical:
        return native.cat.codes.to_numpy()
    if series.implementation.is_polars() and series.dtype in (nw.Categorical, nw.Enum):
        return native.to_physical().to_numpy()
    if series.implementation.is_pyarrow() and series.dtype in (nw.Categorical, nw.String):
        encoded = native if series.dtype == nw.Categorical else native.dictionary_encode()
        return encoded.combine_chunks().indices.to_numpy()
    return None


def _distinct_of_pandas(series: Any, column: Any) -> Distinct:
    try:
        numbers, levels = series.factorize()
    except TypeError as error:
        raise _no_scalars(column) from error
    missing = numbers < 0
    if not missing.any():
        return levels.tolist(), numbers
    numbers[missing] = len(levels)
    return [*levels.tolist(), None], numbers


def _distinct_objects(values: NDArray[Any], column: Any) -> Distinct:
    # Most columns of objects repeat few of them: rows with the same one are found without looking at it.
    found = _same_bytes(_addresses(values), most=64 + len(values) // 8)
    if found is not None:
        numbers, first_rows = found
        levels = values[first_rows].tolist()
        try:
            set(map(hash, levels))
        except TypeError as error:
            raise _no_scalars(column) from error
        return levels, numbers
    known: dict[Any, int] = {}
    levels = []
    rows = np.empty(len(values), dtype=np.int64)
    for row, value in enumerate(values):
        try:
            number = known.get(value)
        except TypeError as error:
            raise _no_scalars(column) from error
        if number is None:
            # What is not equal to itself would be new in every row.
            key = None if is_null(value) else value
            number = known.setdefault(key, len(levels))
            if number == len(levels):
                levels.append(key)
        rows[row] = number
    return levels, rows


def _same_bytes(values: NDArray[Any], **limit: int) -> tuple[NDArray[np.uint32], NDArray[np.uintp]] | None:
    return _core.distinct(np.ascontiguousarray(values).view(np.uint8), values.dtype.itemsize, **limit)


def _addresses(objects: NDArray[np.object_]) -> NDArray[np.uintp]:
    """Return where the objects are, which NumPy shows through the description of the memory only."""
    description = {**objects.__array_interface__, "typestr": np.dtype(np.uintp).str, "descr": []}
    return np.asarray(SimpleNamespace(__array_interface__=description))


def _no_scalars(column: Any) -> InvalidDataError:
    return InvalidDataError(f"column {column!r} must hold scalars (the row is not shown)")
