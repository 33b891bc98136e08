"""Columns of eager frames and arrays as integer codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from simplexdp.exceptions import InvalidDataError, InvalidParameterError
from simplexdp.frames.domain import Domain, DomainLike, as_domains, is_null
from simplexdp.frames.source import as_frame, checked_columns, column_of, is_lazy

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["checked_codes", "encode", "encode_column"]

Codes: TypeAlias = NDArray[np.integer[Any]]


def encode(frame: Any, columns: Sequence[Any], domains: Mapping[Any, DomainLike]) -> list[Codes]:
    """Return each column as integer codes of its domain.

    Parameters
    ----------
    frame : data frame, two-dimensional array or mapping of one-dimensional arrays
        Anything eager that narwhals understands, or NumPy; the columns of an array are 0, 1, ...
    columns : sequence
        The columns to encode.
    domains : mapping
        The domain of each column: a list of values, a cardinality or a `Domain`.

    Returns
    -------
    list of ndarray of int, shape (n_rows,)

    Examples
    --------
    >>> from simplexdp.frames import encode
    >>> encode({"answer": ["no", "yes", "no"]}, ["answer"], {"answer": ["yes", "no"]})
    [array([1, 0, 1], dtype=int8)]
    """
    columns = checked_columns(columns)
    resolved = as_domains(columns, domains)
    frame = as_frame(frame)
    if is_lazy(frame):
        raise InvalidParameterError("frame must be eager, got a lazy one: collect it, or count it with count_table")
    return [
        checked_codes(encode_column(frame, column, resolved[column]), resolved[column], column) for column in columns
    ]


def encode_column(frame: Any, column: Any, domain: Domain) -> Codes:
    """Return one column as codes; integers that are their own codes are not checked: counting does that."""
    return _encode_column(column_of(frame, column), domain, column)


def checked_codes(codes: Codes, domain: Domain, column: Any) -> Codes:
    """Refuse codes outside the domain."""
    if domain.is_range and len(codes) and not 0 <= int(codes.min()) <= int(codes.max()) < len(domain):
        raise InvalidDataError(
            f"column {column!r} must hold values of its domain only, or the domain needs other=True "
            "(the offending value is not shown)"
        )
    return codes


def _encode_column(values: Any, domain: Domain, column: Any) -> Codes:
    if isinstance(values, np.ndarray):
        return _encode_array(values, domain, column)
    return _encode_series(values, domain, column)


def _code_type(domain: Domain) -> type[np.signedinteger[Any]]:
    for candidate in (np.int8, np.int16, np.int32):
        if len(domain) <= np.iinfo(candidate).max:
            return candidate
    return np.int64


def _encode_array(values: NDArray[Any], domain: Domain, column: Any) -> Codes:
    if domain.is_range and not domain.other and values.dtype.kind in "iu":
        # The values are their own codes.
        return np.ascontiguousarray(values)
    if values.dtype.kind == "O":
        codes: dict[Any, int] = {}
        result = np.empty(len(values), dtype=_code_type(domain))
        for row, value in enumerate(values):
            try:
                known = codes.get(value)
            except TypeError as error:
                raise InvalidDataError(f"column {column!r} must hold scalars (the row is not shown)") from error
            if known is None:
                known = domain.code(value, column)
                if not is_null(value):
                    codes[value] = known
            result[row] = known
        return result
    if values.dtype.kind not in "biufSUMm":
        raise InvalidDataError(f"column {column!r} must hold categories, got dtype {values.dtype}")
    levels, inverse = np.unique(values, return_inverse=True)
    table = np.array(
        [domain.code(level, column) for level in (levels if values.dtype.kind in "mM" else levels.tolist())],
        dtype=_code_type(domain),
    )
    return table[inverse]


def _encode_series(series: nw.Series[Any], domain: Domain, column: Any) -> Codes:
    import narwhals as nw

    code_type = _code_type(domain)
    if domain.is_range and not domain.other and series.dtype.is_integer() and not series.is_null().any():
        return np.ascontiguousarray(series.to_numpy())
    if series.dtype in (nw.Categorical, nw.Enum):
        series = series.cast(nw.String)
    missing = series.is_null()
    if series.dtype.is_float():
        missing = missing | series.is_nan().fill_null(value=True)
    present = series.filter(~missing)
    levels = present.unique().to_list()
    rows = np.asarray(missing.to_numpy(), dtype=bool)
    result = np.empty(len(series), dtype=code_type)
    if rows.any():
        result[rows] = domain.code(None, column)
    if levels:
        codes = [domain.code(level, column) for level in levels]
        result[~rows] = present.replace_strict(levels, codes, return_dtype=nw.Int64).to_numpy()
    return result
