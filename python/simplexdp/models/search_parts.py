"""The two parts of the records that a search looks at: candidates are fitted to one and compared on the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplexdp import _core
from simplexdp.accounting import Adjacency, PrivacyCurve, compose_disjoint, compose_parts
from simplexdp.exceptions import InvalidDataError, InvalidParameterError
from simplexdp.frames.persons import numbers_of
from simplexdp.frames.source import as_frame, column_of, is_lazy
from simplexdp.models.classifying import is_mapping
from simplexdp.models.persons import Persons
from simplexdp.models.validation import labels_of

__all__ = ["SearchParts"]

PLACES_SEED = 20240229
"""Which places are held out is public and has nothing to do with the records."""
_CLASSES, _PERSON = "\0classes", "\0person"
"""In the places of names of columns: no column is called that."""


@dataclass(frozen=True, eq=False)
class SearchParts:
    """Both parts, and what a release from each costs together.

    Where records are replaced, and each is somebody's own, its *place* decides the part: places are public, the number
    of records is, and the costlier part counts (`compose_parts`).

    Else a coin decides, one for each record, or for each person with all records: coins do not depend on the data.
    Given the coins, who comes or goes does so in one part, and a mixture over coins whose law is the same for
    neighbours costs no more than its costliest part; who is replaced may leave one part and enter the other, and both
    count (`compose_disjoint`). How many records a part has is private then.
    """

    training: tuple[Any, Any]
    testing: tuple[Any, Any]
    persons: NDArray[Any] | None
    """Of the records to fit to."""
    n_held: int
    by_place: bool
    adjacency: Adjacency
    whose: Persons

    @classmethod
    def of(cls, X: Any, y: Any, share: float, adjacency: Adjacency, whose: Persons, rng: Any) -> SearchParts:
        """Split the records; `share` of them are to be held out."""
        frame, y = _eager(X, y)
        persons = None
        if whose.bound is not None:
            frame, y, persons = _bounded(frame, y, whose)
        n_records = _n_rows(frame)
        if not isinstance(y, str) and len(y) != n_records:
            raise InvalidDataError("X and y must have the same number of records")
        by_place = adjacency == "replace" and persons is None
        if by_place:
            order = np.random.default_rng(PLACES_SEED).permutation(n_records)
            n_held = round(share * n_records)
            if not 0 < n_held < n_records:
                raise InvalidDataError("X must have enough records for both parts of the search")
            held = np.zeros(n_records, dtype=bool)
            held[order[:n_held]] = True
        else:
            numbers = np.arange(n_records) if persons is None else numbers_of(persons, "persons")
            held = _coins(int(numbers.max()) + 1 if len(numbers) else 0, share, rng)[numbers]
        kept, out = np.flatnonzero(~held), np.flatnonzero(held)
        return cls(
            _rows(frame, y, kept),
            _rows(frame, y, out),
            None if persons is None else persons[kept],
            len(out),
            by_place,
            adjacency,
            whose,
        )

    @property
    def within(self) -> Adjacency:
        """Which data sets are neighbours within a part."""
        return "replace" if self.by_place else "add_remove"

    def price(self, fits: PrivacyCurve, comparing: PrivacyCurve) -> PrivacyCurve:
        """Return what releases from the first part and from the second cost together."""
        # All records of a person are in one part, so that persons are to the parts what records are.
        parts = [fits.for_unit(None), comparing.for_unit(None)]
        if self.by_place:
            return compose_parts(parts)
        return self.whose.named(compose_disjoint(parts, adjacency=self.adjacency))


def _coins(n: int, share: float, rng: Any) -> NDArray[np.bool_]:
    words = np.asarray(_core.random_words(n, 0, rng), dtype=np.uint64)
    held: NDArray[np.bool_] = words < np.uint64(share * 2.0**64)
    return held


def _bounded(frame: Any, y: Any, whose: Persons) -> tuple[Any, Any, NDArray[Any]]:
    """Return records, classes and persons of the records that count, without the columns that tell of persons."""
    assert whose.bound is not None  # asked by the caller
    if isinstance(frame, np.ndarray) and whose.columns:
        raise InvalidParameterError(
            "unit and first_by must be None for an array X, whose columns are features: give persons to fit"
        )
    values = whose.values if whose.values is not None else column_of(frame, whose.bound.unit)
    values = values if isinstance(values, np.ndarray) else values.to_numpy()
    if isinstance(frame, np.ndarray):
        names: list[Any] = list(range(frame.shape[1]))
    else:
        names = list(frame) if is_mapping(frame) else list(frame.columns)
    columns = [name for name in names if name not in whose.columns]
    beside = {_PERSON: values, **({} if isinstance(y, str) else {_CLASSES: y})}
    frame, kept = whose.bounded(frame, columns, beside)
    return frame, y if isinstance(y, str) else kept[_CLASSES], kept[_PERSON]


def _eager(X: Any, y: Any) -> tuple[Any, Any]:
    """Return records that have rows to choose from."""
    if is_mapping(X):
        return {name: column_of(X, name) for name in X}, y if isinstance(y, str) else labels_of(y)
    if isinstance(X, (list, tuple)):
        X = np.asarray(X, dtype=object)
    frame = as_frame(X)
    frame = frame.collect() if is_lazy(frame) else frame
    return frame, y if isinstance(y, str) else labels_of(y)


def _n_rows(X: Any) -> int:
    if not is_mapping(X):
        return len(X)
    return len(next(iter(X.values()))) if X else 0


def _rows(X: Any, y: Any, rows: NDArray[np.intp]) -> tuple[Any, Any]:
    """Return some rows of the records and their classes."""
    if is_mapping(X):
        columns = {name: column if isinstance(column, np.ndarray) else column.to_numpy() for name, column in X.items()}
        if len({len(column) for column in columns.values()}) > 1:
            raise InvalidDataError("columns of frame must have the same length")
        chosen: Any = {name: column[rows] for name, column in columns.items()}
    elif isinstance(X, np.ndarray):
        chosen = X[rows]
    else:
        chosen = X[rows.tolist()].to_native()
    return chosen, y if isinstance(y, str) else y[rows]
