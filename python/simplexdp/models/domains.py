"""The domains of a model's columns: stated publicly, or inferred with a warning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from simplexdp._cautions import caution_leak
from simplexdp.exceptions import InvalidParameterError
from simplexdp.frames import Domain
from simplexdp.frames.domain import DomainLike, as_domain, is_null
from simplexdp.frames.source import as_frame, column_of, columns_alone

__all__ = ["infer_domain", "resolve_domains"]


def resolve_domains(
    frame: Any, columns: Sequence[Any], domains: Mapping[Any, DomainLike] | None, argument: str
) -> dict[Any, Domain]:
    """Return the domain of each column; those that `domains` does not state are read off the data, with a warning."""
    stated = {} if domains is None else domains
    if not isinstance(stated, Mapping):
        kind = type(domains).__name__
        raise InvalidParameterError(f"{argument} must map each column to its values or its cardinality, got {kind}")
    missing = [column for column in columns if column not in stated]
    if missing:
        caution_leak(
            f"the domains of {missing!r} were inferred from private data, which reveals the values that occur; "
            f"state them publicly with {argument}=",
        )
    return {
        column: as_domain(stated[column]) if column in stated else infer_domain(frame, column) for column in columns
    }


def infer_domain(frame: Any, column: Any) -> Domain:
    """Return the values that occur in a column, sorted where they can be, missing values last."""
    source = as_frame(frame)
    if isinstance(source, (np.ndarray, Mapping)):
        found = column_of(source, column)
        values = found.tolist() if isinstance(found, np.ndarray) else found.to_list()
    else:
        import narwhals as nw

        if column not in source.collect_schema().names():
            raise InvalidParameterError(f"columns must exist in the frame, got {column!r}")
        distinct = columns_alone(source, [column]).unique()
        values = (distinct.collect() if isinstance(distinct, nw.LazyFrame) else distinct).get_column(column).to_list()
    present = {value for value in values if not is_null(value)}
    try:
        levels = sorted(present)
    except TypeError:
        levels = sorted(present, key=lambda value: (type(value).__name__, repr(value)))
    return Domain([*levels, None] if len(present) < len(set(map(_null_key, values))) else levels)


def _null_key(value: Any) -> Any:
    return None if is_null(value) else value
