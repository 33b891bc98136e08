"""What can be counted: NumPy arrays, mappings of arrays, and any data frame that narwhals understands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from simplexdp.exceptions import InvalidDataError, InvalidParameterError

__all__ = ["as_frame", "by_column", "checked_columns", "column_of", "is_lazy"]

BLOCK = 4096
"""Rows of a matrix that are turned at a time: they stay in the cache until every column has been written."""


def checked_columns(columns: Sequence[Any]) -> list[Any]:
    """Check for a list of different column names."""
    if isinstance(columns, (str, bytes)) or not isinstance(columns, Sequence):
        raise InvalidParameterError(f"columns must be a list of column names, got {columns!r}")
    if not columns or len(set(columns)) < len(columns):
        raise InvalidParameterError(f"columns must name at least one column and none twice, got {list(columns)!r}")
    return list(columns)


def as_frame(frame: Any) -> Any:
    """Return NumPy arrays and mappings untouched, everything else as a narwhals frame."""
    if isinstance(frame, (np.ndarray, Mapping)):
        return frame
    try:
        import narwhals as nw
    except ImportError as error:
        raise ImportError("data frames need narwhals: pip install 'simplexdp[frames]'") from error
    try:
        known = nw.from_native(frame)
        if known.implementation.is_dask() and not known.to_native().columns.is_unique:
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
    if not isinstance(frame, np.ndarray) or frame.ndim != 2 or frame.dtype.kind not in "biuf":
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
        if not isinstance(column, (int, np.integer)) or not 0 <= column < frame.shape[1]:
            raise InvalidParameterError(f"columns must lie in 0..{frame.shape[1]} for an array, got {column!r}")
        return frame[:, column]
    if isinstance(frame, Mapping):
        if column not in frame:
            raise InvalidParameterError(f"columns must exist in the frame, got {column!r}")
        values = frame[column]
        array = values if isinstance(values, np.ndarray) else np.asarray(values, dtype=_array_type(values))
        if array.ndim != 1:
            raise InvalidDataError(f"column {column!r} must be one-dimensional, got {array.ndim} dimensions")
        return array
    if column not in frame.columns:
        raise InvalidParameterError(f"columns must exist in the frame, got {column!r}")
    return frame.get_column(column)


def _array_type(values: Any) -> type | None:
    # A list with None, or of several types, would otherwise become an array of strings.
    kinds = {type(value) for value in values}
    return None if len(kinds) == 1 and kinds <= {int, float, bool, str} else object
