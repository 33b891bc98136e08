"""The numbers of a column, and whose they are."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast, get_args

import numpy as np
from numpy.typing import NDArray

from simplexdp import _arguments
from simplexdp.accounting import Adjacency, PrivacyCurve
from simplexdp.exceptions import InvalidDataError, InvalidParameterError
from simplexdp.frames import Domain, bound_rows, encode
from simplexdp.frames.domain import as_domain, is_null
from simplexdp.frames.persons import seed_of
from simplexdp.frames.source import as_frame, column_of, columns_alone, is_lazy
from simplexdp.models.number_columns import numbers_of
from simplexdp.models.persons import whose

__all__ = ["Numbers", "checked_bounds", "numbers_in"]

MOST_GROUPS = 1 << 22
"""Combinations of groups: all of them get noise, whether somebody is in them or not."""


@dataclass(frozen=True, eq=False)
class Numbers:
    """What is looked at of a table.

    Parameters
    ----------
    values : ndarray
        None missing.
    groups : ndarray of int
        The group of each value, zero where there are none.
        Of several columns of groups the combination, the last one running fastest.
    shape : tuple of int
        How many groups each column has; none where there are none.
    labels : list, dict of lists or None
        The groups in the order of their codes, of several columns those of each.
    adjacency : {"replace", "add_remove"}
    max_rows : int
        Of one person.
    unit : column or None
        Who a person is.
    some_left_out : bool
        Whether records without a number were left out.
    """

    values: NDArray[np.float64]
    groups: NDArray[np.int64]
    shape: tuple[int, ...]
    labels: Any
    adjacency: Adjacency
    max_rows: int
    unit: Any
    some_left_out: bool

    def named(self, curve: PrivacyCurve) -> PrivacyCurve:
        """Return the curve of whoever is protected."""
        return curve if self.unit is None else whose(curve, self.unit, self.max_rows)

    @property
    def n_groups(self) -> int:
        """How many groups there are: one, of all values, where there are none."""
        return math.prod(self.shape)

    @property
    def total(self) -> int | None:
        """The number of values, where it is public."""
        private = self.adjacency == "add_remove" or self.max_rows > 1 or self.some_left_out or self.labels is not None
        return None if private else len(self.values)


def numbers_in(
    data: Any,
    column: Any,
    *,
    by: Any,
    groups: Any,
    adjacency: str,
    unit: Any,
    max_rows: int | None,
    first_by: Any,
    skip_missing: bool,
    rng: Any,
) -> Numbers:
    """Return the numbers of a column, or of data that are the numbers themselves."""
    checked = cast(Adjacency, _arguments.choice("adjacency", adjacency, get_args(Adjacency)))
    _arguments.flag("skip_missing", skip_missing)
    if (by is None) != (groups is None):
        raise InvalidParameterError("by and groups must be given together: the groups are public")
    if (unit is None) != (max_rows is None):
        raise InvalidParameterError("unit and max_rows must be given together")
    if isinstance(column, (list, np.ndarray)):
        raise InvalidParameterError(
            f"column must be the name of one column, got {column!r}; levels are given by name, as levels=(0.1, 0.9)"
        )
    if column is None:
        if by is not None or unit is not None:
            raise InvalidParameterError("column must be named where by or unit is")
        data, column = {"value": np.asarray(data) if isinstance(data, (list, tuple)) else data}, "value"
    rows = 1
    seed = seed_of(unit, rng)
    domains = _domains_of_groups(by, groups, column)
    if unit is not None:
        rows = _arguments.integer("max_rows", max_rows, least=1)
        # Columns of an array are called by their places, which are those of all of them.
        wanted = None if isinstance(as_frame(data), np.ndarray) else [column, *domains]
        data = bound_rows(data, unit=unit, max_rows=rows, first_by=first_by, seed=seed, columns=wanted)
    frame = as_frame(data)
    if is_lazy(frame):
        frame = columns_alone(frame, [column, *domains]).collect()
    found = column_of(frame, column)
    kept = _present(found) if skip_missing else None
    values = numbers_of(_chosen(found, kept), column)
    codes, shape = np.zeros(len(values), dtype=np.int64), tuple(len(domain) for domain in domains.values())
    if domains:
        found = encode(frame, list(domains), domains)
        codes = np.ravel_multi_index([each.astype(np.int64) for each in found], shape)
        codes = codes if kept is None else codes[kept]
        if len(codes) != len(values):
            raise InvalidDataError("columns of frame must have the same length")
    each = {name: domain.levels for name, domain in domains.items()}
    labels: Any = each if len(each) > 1 else next(iter(each.values()), None)
    return Numbers(values, codes, shape, labels, checked, rows, unit, skip_missing)


def _domains_of_groups(by: Any, groups: Any, column: Any) -> dict[Any, Domain]:
    """Return the public groups of each column of groups."""
    above = [] if by is None else list(by) if isinstance(by, (list, tuple)) else [by]
    if by is not None and (not above or any(above.count(name) > 1 or name == column for name in above)):
        raise InvalidParameterError(f"by must name columns other than {column!r}, each once, got {by!r}")
    if len(above) > 1 and not isinstance(groups, Mapping):
        raise InvalidParameterError("groups must map each column of by to its groups where there are several")
    stated = groups if isinstance(groups, Mapping) else dict.fromkeys(above, groups)
    for name in above:
        if name not in stated:
            raise InvalidParameterError(f"groups must give those of every column of by, got none for {name!r}")
    found = {name: as_domain(stated[name]) for name in above}
    if math.prod(len(domain) for domain in found.values()) > MOST_GROUPS:
        raise InvalidParameterError(f"groups must have at most {MOST_GROUPS} combinations")
    return found


def checked_bounds(bounds: Any) -> tuple[float, float]:
    """Return public bounds, lower first."""
    pair = _arguments.numbers("bounds", bounds) if bounds is not None else np.empty(0)
    if pair.shape != (2,) or not pair[0] < pair[1] or not np.isfinite(pair[1] - pair[0]):
        raise InvalidParameterError(f"bounds must be a public pair (lower, upper) with lower < upper, got {bounds!r}")
    return float(pair[0]), float(pair[1])


def _present(values: Any) -> NDArray[np.bool_]:
    """Return which values there are."""
    if not isinstance(values, np.ndarray):
        values = values.to_numpy()
    if values.dtype.kind == "f":
        present: NDArray[np.bool_] = ~np.isnan(values)
        return present
    if values.dtype.kind == "O":
        return np.array([not is_null(value) for value in values], dtype=bool)
    return np.ones(len(values), dtype=bool)


def _chosen(values: Any, kept: NDArray[np.bool_] | None) -> Any:
    if kept is None:
        return values
    return (values if isinstance(values, np.ndarray) else values.to_numpy())[kept]
