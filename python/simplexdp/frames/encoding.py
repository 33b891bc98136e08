"""Columns of eager frames and arrays as integer codes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from simplexdp import _core
from simplexdp.exceptions import InvalidDataError, InvalidParameterError
from simplexdp.frames.distinct import Distinct, distinct_of_array
from simplexdp.frames.distinct_series import distinct_of_series, is_numeric
from simplexdp.frames.domain import Domain, DomainLike, as_domains
from simplexdp.frames.source import as_frame, by_column, checked_columns, column_of, is_lazy

__all__ = [
    "checked_codes",
    "codes_of_levels",
    "distinct_of",
    "encode",
    "encode_column",
    "encode_columns",
    "own_codes",
]

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
    codes = encode_columns(frame, resolved, columns)
    return [checked_codes(codes[column], resolved[column], column) for column in columns]


def encode_columns(frame: Any, domains: Mapping[Any, Domain], columns: Iterable[Any]) -> dict[Any, Codes]:
    """Return columns as codes, each as `encode_column` does."""
    wanted = list(columns)
    frame = by_column(frame, len(wanted))
    codes = {column: encode_column(frame, column, domains[column]) for column in wanted}
    if len({len(column) for column in codes.values()}) > 1:
        raise InvalidDataError("columns of frame must have the same length")
    return codes


def encode_column(frame: Any, column: Any, domain: Domain) -> Codes:
    """Return one column as codes; integers that are their own codes are not checked: counting does that."""
    values = column_of(frame, column)
    codes = own_codes(values, domain)
    if codes is not None:
        return codes
    levels, numbers = distinct_of(values, column)
    codes = codes_of_levels(levels, domain, column)
    return _core.coded(numbers.view(np.uint32), codes) if numbers.dtype == np.uint32 else codes.take(numbers)


def own_codes(values: Any, domain: Domain) -> Codes | None:
    """Return the values where they are their own codes, None elsewhere."""
    if not domain.is_range or domain.other or not _holds_integers(values):
        return None
    codes = values if isinstance(values, np.ndarray) else values.to_numpy()
    native = codes if codes.dtype.isnative else codes.astype(codes.dtype.newbyteorder("="))
    aligned: Codes = np.require(native, requirements=["C", "A"])
    return aligned


def distinct_of(values: Any, column: Any) -> Distinct:
    """Return the distinct values of a column, as `column_of` gives it."""
    return (distinct_of_array if isinstance(values, np.ndarray) else distinct_of_series)(values, column)


def codes_of_levels(levels: list[Any], domain: Domain, column: Any) -> Codes:
    """Return the code of each distinct value of a column."""
    return np.array([domain.code(level, column) for level in levels], dtype=_code_type(domain))


def checked_codes(codes: Codes, domain: Domain, column: Any) -> Codes:
    """Refuse codes outside the domain."""
    if domain.is_range and len(codes) and not 0 <= int(codes.min()) <= int(codes.max()) < len(domain):
        raise InvalidDataError(
            f"column {column!r} must hold values of its domain only, or the domain needs other=True "
            "(the offending value is not shown)"
        )
    return codes


def _holds_integers(values: Any) -> bool:
    """Whether the values are integers, none of them missing."""
    if isinstance(values, np.ndarray):
        return values.dtype.kind in "iu"
    return is_numeric(values) and values.dtype.is_integer() and not values.is_null().any()


def _code_type(domain: Domain) -> type[np.signedinteger[Any]]:
    for candidate in (np.int8, np.int16, np.int32):
        if len(domain) <= np.iinfo(candidate).max:
            return candidate
    return np.int64
