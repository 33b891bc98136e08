"""The numbers of a column, and whose they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast, get_args

import numpy as np
from numpy.typing import NDArray

from simplexdp import _arguments
from simplexdp.accounting import Adjacency, PrivacyCurve
from simplexdp.exceptions import InvalidDataError, InvalidParameterError
from simplexdp.frames import Domain, bound_rows, encode
from simplexdp.frames.domain import is_null
from simplexdp.frames.persons import seed_of
from simplexdp.frames.source import as_frame, column_of, columns_alone, is_lazy
from simplexdp.models.bins import numbers_of
from simplexdp.models.persons import whose

__all__ = ["Numbers", "checked_bounds", "numbers_in"]


@dataclass(frozen=True, eq=False)
class Numbers:
    """What is looked at of a table.

    Parameters
    ----------
    values : ndarray
        None missing.
    groups : ndarray of int
        The group of each value, zero where there are none.
    n_groups : int
    labels : list or None
        The groups in the order of their codes.
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
    n_groups: int
    labels: list[Any] | None
    adjacency: Adjacency
    max_rows: int
    unit: Any
    some_left_out: bool

    def named(self, curve: PrivacyCurve) -> PrivacyCurve:
        """Return the curve of whoever is protected."""
        return curve if self.unit is None else whose(curve, self.unit, self.max_rows)

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
    if unit is not None:
        rows = _arguments.integer("max_rows", max_rows, least=1)
        data = bound_rows(data, unit=unit, max_rows=rows, first_by=first_by, seed=seed)
    frame = as_frame(data)
    if is_lazy(frame):
        frame = columns_alone(frame, [column] if by is None else [column, by]).collect()
    found = column_of(frame, column)
    kept = _present(found) if skip_missing else None
    values = numbers_of(_chosen(found, kept), column)
    labels, codes = None, np.zeros(len(values), dtype=np.int64)
    if by is not None:
        domain = groups if isinstance(groups, Domain) else Domain(groups)
        labels = domain.levels
        codes = np.asarray(encode(frame, [by], {by: domain})[0], dtype=np.int64)
        codes = codes if kept is None else codes[kept]
        if len(codes) != len(values):
            raise InvalidDataError("columns of frame must have the same length")
    return Numbers(values, codes, 1 if labels is None else len(labels), labels, checked, rows, unit, skip_missing)


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
