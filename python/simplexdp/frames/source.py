"""What can be counted: NumPy arrays, mappings of arrays, and any data frame that narwhals understands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from simplexdp.exceptions import InvalidDataError, InvalidParameterError

__all__ = ["as_frame", "by_column", "by_values", "checked_columns", "column_of", "columns_alone", "is_lazy"]

BLOCK = 4096
"""Rows of a matrix that are turned at a time: they stay in the cache until every column has been written."""


def checked_columns(columns: Sequence[Any]) -> list[Any]:
    """Check for a list of different column names."""
    if isinstance(columns, (str, bytes)) or not isinstance(columns, Sequence):
        raise InvalidParameterError(f"columns must be a list of column names, got {columns!r}")
    try:
        different = set(columns)
    except TypeError:
        raise InvalidParameterError(f"columns must be a list of column names, got {list(columns)!r}") from None
    if not columns or len(different) < len(columns):
        raise InvalidParameterError(f"columns must name at least one column and none twice, got {list(columns)!r}")
    return list(columns)


def as_frame(frame: Any) -> Any:
    """Return NumPy arrays and mappings untouched, everything else as a narwhals frame."""
    if isinstance(frame, np.matrix):  # its columns have two dimensions
        return np.asarray(frame)
    if isinstance(frame, (np.ndarray, Mapping)):
        return frame
    try:
        import narwhals as nw
    except ImportError as error:
        raise ImportError("data frames need narwhals: pip install 'simplexdp[frames]'") from error
    try:
        known = nw.from_native(frame)
        engine = known.implementation
        if engine.is_dask() or engine.is_duckdb() or engine.is_pyspark() or engine.is_pyspark_connect():
            # The others were refused by narwhals.
            names = list(known.to_native().columns)
            if len(set(names)) < len(names):
                raise nw.exceptions.DuplicateError
        return known
    except nw.exceptions.DuplicateError:
        raise InvalidParameterError("frame must have columns of different names") from None
    except TypeError:
        raise InvalidParameterError(
            f"frame must be a NumPy array, a mapping of arrays or a data frame, got {type(frame).__name__}"
        ) from None


def is_lazy(frame: Any) -> bool:
    """Return whether the frame is a query that has not run yet."""
    if isinstance(frame, (np.ndarray, Mapping)):
        return False
    import narwhals as nw

    return isinstance(frame, nw.LazyFrame)


def by_column(frame: Any, n_wanted: int) -> Any:
    """Return a matrix that is stored by rows as one stored by columns, if most of its columns are wanted.

    One column after the other would bring the whole matrix from memory every time.
    """
    if not isinstance(frame, np.ndarray) or isinstance(frame, np.ma.MaskedArray):
        return frame
    if frame.ndim != 2 or frame.dtype.kind not in "biuf":
        return frame
    if not frame.flags.c_contiguous or 2 * n_wanted <= max(frame.shape[1], 2):
        return frame
    turned = np.empty(frame.shape[::-1], dtype=frame.dtype)
    for start in range(0, len(frame), BLOCK):
        turned[:, start : start + BLOCK] = frame[start : start + BLOCK].T
    return turned.T


def column_of(frame: Any, column: Any) -> Any:
    """Return one column of an eager frame as a NumPy array or as a narwhals series."""
    if isinstance(frame, np.ndarray):
        if frame.ndim != 2:
            raise InvalidDataError(f"frame must be two-dimensional, got {frame.ndim} dimensions")
        is_integer = isinstance(column, (int, np.integer)) and not isinstance(column, bool)
        if not is_integer or not 0 <= column < frame.shape[1]:
            raise InvalidParameterError(f"columns must lie in 0..{frame.shape[1]} for an array, got {column!r}")
        return _without_mask(frame[:, column])
    if isinstance(frame, Mapping):
        if column not in frame:
            raise InvalidParameterError(f"columns must exist in the frame, got {column!r}")
        values = frame[column]
        array = values if isinstance(values, np.ndarray) else _series_or_array(values, column)
        if isinstance(array, np.ndarray) and array.ndim != 1:
            raise InvalidDataError(f"column {column!r} must be one-dimensional, got {array.ndim} dimensions")
        return _without_mask(array)
    if column not in frame.columns:
        raise InvalidParameterError(f"columns must exist in the frame, got {column!r}")
    series = _in_plain_layout(frame.get_column(column), column)
    # What Polars does with a series looks it up by its name, which it may take for a pattern.
    return series.alias("values") if frame.implementation.is_polars() else series


def columns_alone(frame: Any, columns: Sequence[Any]) -> Any:
    """Return a narwhals frame, eager or lazy, with these columns alone, by their names letter for letter.

    `select` takes some names for patterns on Polars, and `frame[names]` takes integers for the places of rows: both
    are labels of columns here.
    """
    import narwhals as nw

    native = frame.to_native()
    if frame.implementation.is_pandas_like():
        names = list(native.columns)
        return nw.from_native(native.iloc[:, [names.index(column) for column in columns]])
    if frame.implementation.is_dask():
        return nw.from_native(native[list(columns)])
    if frame.implementation.is_polars():
        from polars import selectors

        # One at a time: a selector of several names keeps the order of the frame.
        return nw.from_native(native.select(*(selectors.by_name(column) for column in columns)))
    if frame.implementation.is_pyarrow():
        from simplexdp.frames.arrow_columns import with_plain_layouts

        return nw.from_native(with_plain_layouts(native.select(list(columns))))
    return frame.select(*columns)


def _in_plain_layout(series: Any, column: Any) -> Any:
    """Return a series of which rows can be taken."""
    if not series.implementation.is_pyarrow():
        return series
    import narwhals as nw

    from simplexdp.frames.arrow_columns import in_plain_layout

    values = series.to_native()
    plain = in_plain_layout(values, column)
    return series if plain is values else nw.from_native(plain, series_only=True)


def _without_mask(values: Any) -> Any:
    """Return masked values as missing ones."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    data, mask = values.data, np.ma.getmaskarray(values)
    if not mask.any():
        return data
    objects = np.empty(len(data), dtype=object)
    # As Python scalars dates would be integers where they are finer than microseconds.
    objects[:] = list(data) if data.dtype.kind in "mM" else data.tolist()
    objects[mask] = None
    return objects


def by_values(values: Any, column: Any) -> Any:
    """Return one column that belongs to no frame as a NumPy array or as a narwhals series."""
    return _without_mask(values if isinstance(values, np.ndarray) else _series_or_array(values, column))


def _series_or_array(values: Any, column: Any) -> Any:
    """Return a series of a data frame's library as such, and a list as an array that changes none of its values."""
    series = None if isinstance(values, Sequence) else _series(values)
    if series is not None:
        return _in_plain_layout(series, column)
    try:
        kinds = {type(value) for value in values}
    except TypeError:
        raise InvalidDataError(f"column {column!r} must be one-dimensional, got {type(values).__name__}") from None
    # A list with None, or of several types, would otherwise become an array of strings; one of texts would lose the
    # NULs at their ends and pad all of them to the longest.
    array = np.asarray(values, dtype=None if len(kinds) == 1 and kinds <= {int, float, bool} else object)
    # Integers of which some are negative and some beyond 2^63 would become floats.
    return array if kinds != {int} or array.dtype.kind in "iu" else np.asarray(values, dtype=object)


def _series(values: Any) -> Any:
    """Return what narwhals knows as a series, None for anything else, or where there is no narwhals."""
    try:
        import narwhals as nw
    except ImportError:
        return None
    if type(values).__module__.partition(".")[0] == "pyarrow" and not hasattr(values, "chunks"):
        import pyarrow as pa

        values = pa.chunked_array([values])  # an array is a series of one part
    found = nw.from_native(values, series_only=True, pass_through=True)
    return found if isinstance(found, nw.Series) else None
