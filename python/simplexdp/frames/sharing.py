"""Rows that share a person's total of one, by how many they are: counted in units in which that is whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplexdp.exceptions import InvalidParameterError
from simplexdp.frames.domain import Domain, as_domain
from simplexdp.sensitivity import weight_units

__all__ = ["SHARING", "beside_sharing", "in_units", "weights_of"]

SHARING = "rows of a person"
"""The column beside those of a frame that says how many rows share a person's total."""


def weights_of(max_rows: int) -> NDArray[np.int64]:
    """Return how many units of a person each of 1, 2, ... rows is that the person has: all of them make a whole."""
    units = weight_units(max_rows)
    return np.array([units // n for n in range(1, max_rows + 1)], dtype=np.int64)


def beside_sharing(
    tables: Sequence[Sequence[Any]], domains: Mapping[Any, Domain], max_rows: int
) -> tuple[list[list[Any]], dict[Any, Domain]]:
    """Return these tables by how many rows share a total too, which is the first axis, and the domains of all."""
    if SHARING in domains:
        raise InvalidParameterError(f"columns must have other names than {SHARING!r} where rows are weighted")
    numbers = as_domain(list(range(1, max_rows + 1)))
    return [[SHARING, *columns] for columns in tables], {**domains, SHARING: numbers}


def in_units(tables: Sequence[NDArray[np.int64]], max_rows: int) -> list[NDArray[np.int64]]:
    """Return the tables in units, from those by how many rows share a total."""
    weights = weights_of(max_rows)
    return [np.tensordot(weights, table, axes=1) for table in tables]
