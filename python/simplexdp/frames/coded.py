"""Contingency tables of columns that are encoded."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplexdp import _core
from simplexdp.exceptions import InvalidDataError, InvalidParameterError, NotAffordableError
from simplexdp.frames.domain import Domain
from simplexdp.frames.encoding import checked_codes

__all__ = ["count_codes", "shape_of"]

MOST_CELLS = 1 << 31
"""Of one table, as in the compiled core."""

MOST_COLUMNS = 32
"""Of one table: what every version of NumPy takes. Of two levels each they would have more cells than can be held."""


def count_codes(
    columns: Sequence[Any], codes: Sequence[NDArray[np.integer[Any]]], domains: Sequence[Domain]
) -> NDArray[np.int64]:
    """Count encoded columns; a code outside its domain is an error that names the column."""
    shape = shape_of(domains)
    try:
        return _core.count_table(codes, shape).reshape(shape)
    except InvalidDataError:
        # Only now each column is looked at on its own.
        for column, values, domain in zip(columns, codes, domains, strict=True):
            checked_codes(values, domain, column)
        raise


def shape_of(domains: Iterable[Domain]) -> list[int]:
    """Return the shape of a table over these domains, if it can be held."""
    shape = [len(domain) for domain in domains]
    if math.prod(shape) > MOST_CELLS:
        raise NotAffordableError(
            f"a dense table with cardinalities {shape} is more than the limit of {MOST_CELLS} cells; count fewer "
            "columns at a time or merge rare values"
        )
    if len(shape) > MOST_COLUMNS:
        raise InvalidParameterError(f"columns of one table must be at most {MOST_COLUMNS}, got {len(shape)}")
    return shape
