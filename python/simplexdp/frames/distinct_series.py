"""The distinct values of a column of a data frame, each engine asked for what it does well.

Kernels of engines differ in what types they take, and quote values where they fail. So each is used for the types that
it was tested with; columns of any other type are read value by value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from simplexdp import _core
from simplexdp.frames.distinct import Distinct, distinct_objects, distinct_of_array, observed

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["distinct_of_series", "is_numeric", "values_of_polars"]

ALIKE = ("string", "bytes", "integer", "boolean", "empty")
"""What pandas says of a column of objects whose values it tells apart as Python does."""


def is_numeric(series: nw.Series[Any]) -> bool:
    """Whether the values are numbers that NumPy can hold, or truth values."""
    import narwhals as nw

    dtype = series.dtype
    wide = dtype in (nw.Int128, nw.UInt128)
    return not wide and (dtype.is_integer() or dtype.is_float() or dtype == nw.Boolean)


def distinct_of_series(series: nw.Series[Any], column: Any) -> Distinct:
    """Return the distinct values of a series, missing ones as None."""
    import narwhals as nw

    native, engine = series.to_native(), series.implementation
    if is_numeric(series):
        return _distinct_numbers(series, column)
    if engine.is_pandas():
        return _distinct_of_pandas(native, column)
    if engine.is_pyarrow():
        return _distinct_of_pyarrow(series, column)
    numbered = (nw.Categorical, nw.Enum, nw.Date, nw.Datetime, nw.Duration, nw.Time)
    if engine.is_polars() and (series.dtype in numbered or series.dtype == nw.String):
        missing = native.is_null().to_numpy()
        present = native.drop_nulls() if missing.any() else native
        # Each text is hashed once here, where asking for the distinct ones and looking all up among them does so twice.
        return _with_missing(_distinct_of_polars(_as_categories(present)), missing)
    if series.dtype == nw.String:
        return _distinct_texts(series)
    return _distinct_one_by_one(series.to_list(), column)


def _distinct_numbers(series: nw.Series[Any], column: Any) -> Distinct:
    missing = series.is_null().to_numpy().astype(bool)
    if not missing.any():
        return distinct_of_array(series.to_numpy(), column)
    present = series.filter(~series.is_null())
    return _with_missing(distinct_of_array(present.to_numpy(), column), missing)


def _distinct_texts(series: nw.Series[Any]) -> Distinct:
    import narwhals as nw

    missing = series.is_null().to_numpy().astype(bool)
    present = series.filter(~series.is_null())
    levels = present.unique().to_list()
    if not levels:
        return _with_missing(([], np.zeros(0, dtype=np.int64)), missing)
    numbers = present.replace_strict(levels, list(range(len(levels))), return_dtype=nw.Int64).to_numpy()
    return _with_missing((levels, numbers), missing)


def _as_categories(native: Any) -> Any:
    """Return a Polars series of texts as one of categories, any other as it is."""
    import polars as pl

    return native.cast(pl.Categorical) if native.dtype == pl.String else native


def _distinct_of_polars(native: Any) -> Distinct:
    """Return the distinct values of a Polars series of a type that is kept as integers, without missing ones."""
    first_rows, numbers = observed(native.to_physical().to_numpy())
    return values_of_polars(native.gather(first_rows)), numbers


def values_of_polars(series: Any) -> list[Any]:
    """Return the values of a native series as scalars."""
    # Python's times would lose the nanoseconds; NumPy's have no time zone.
    if getattr(series.dtype, "time_unit", None) == "ns" and getattr(series.dtype, "time_zone", None) is None:
        return list(series.to_numpy())
    values: list[Any] = series.to_list()
    return values


def _distinct_of_pyarrow(series: nw.Series[Any], column: Any) -> Distinct:
    import pyarrow as pa

    native = series.to_native()
    kind = native.type
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    if not is_text and not pa.types.is_dictionary(kind):
        return _distinct_one_by_one(native.to_pylist(), column)
    if is_text:
        return _distinct_arrow_texts(native)
    # Parts may number the same words differently, and may have missing values among their words.
    levels: list[Any] = []
    numbers = [np.zeros(0, dtype=np.int64)]
    for chunk in native.chunks:
        positions = chunk.indices.cast(pa.int64()).fill_null(-1).to_numpy()
        first_rows, within = observed(positions)
        words = chunk.dictionary.to_pylist()
        numbers.append(within + np.int64(len(levels)))
        levels += [None if position < 0 else words[position] for position in positions[first_rows]]
    return levels, np.concatenate(numbers)


def _distinct_arrow_texts(native: Any) -> Distinct:
    """Return the distinct values of a chunked array of texts, which the core reads where they are."""
    import pyarrow as pa

    width = np.int64 if pa.types.is_large_string(native.type) else np.int32
    parts = []
    for chunk in native.chunks:
        if not len(chunk):  # which may come without buffers
            continue
        valid, offsets, data = chunk.buffers()
        ends = np.frombuffer(offsets, dtype=width, count=chunk.offset + len(chunk) + 1)[chunk.offset :]
        texts = np.zeros(0, dtype=np.uint8) if data is None else np.frombuffer(data, dtype=np.uint8)
        missing = (np.frombuffer(valid, dtype=np.uint8), chunk.offset) if chunk.null_count else None
        parts.append((np.require(ends, requirements=["A"]), texts, missing))
    numbers, first_rows = _core.distinct_texts(parts)
    return native.take(pa.array(first_rows)).to_pylist(), numbers


def _distinct_of_pandas(native: Any, column: Any) -> Distinct:
    import pandas as pd

    if isinstance(native.dtype, pd.SparseDtype):
        native = native.sparse.to_dense()
    if isinstance(native.dtype, pd.CategoricalDtype):
        positions = native.cat.codes.to_numpy()
        first_rows, numbers = observed(positions)
        categories = native.cat.categories
        return [None if code < 0 else categories[code] for code in positions[first_rows]], numbers
    if isinstance(native.dtype, pd.StringDtype) and native.dtype.storage == "pyarrow":
        return _distinct_arrow_texts(native.array.__arrow_array__())
    # Objects of several types may be equal to pandas and differ as Python scalars, a date and its midnight say.
    if native.dtype == object and pd.api.types.infer_dtype(native) not in ALIKE:
        return _distinct_one_by_one(native.tolist(), column)
    texts = native.dtype == object or isinstance(native.dtype, pd.StringDtype)
    if texts and int(pd.__version__.split(".")[0]) < 3:
        # Its tables of texts end them at a zero byte, so that "a\0" would be "a".
        return distinct_objects(native.to_numpy(dtype=object, na_value=None), column)
    try:
        numbers, found = native.factorize()
    except (TypeError, NotImplementedError):  # values that cannot be hashed; types that Arrow cannot compare
        return _distinct_one_by_one(native.tolist(), column)
    missing = numbers < 0
    levels = found.tolist()
    return _with_missing((levels, numbers[~missing]), missing) if missing.any() else (levels, numbers)


def _distinct_one_by_one(values: list[Any], column: Any) -> Distinct:
    objects = np.empty(len(values), dtype=object)
    for row, value in enumerate(values):  # all at once NumPy would look into lists
        objects[row] = value
    return distinct_objects(objects, column)


def _with_missing(present: Distinct, missing: NDArray[np.bool_]) -> Distinct:
    """Put missing values back between the others."""
    levels, numbers = present
    if not missing.any():
        return present
    all_numbers = np.full(len(missing), len(levels))
    all_numbers[~missing] = numbers
    return [*levels, None], all_numbers
