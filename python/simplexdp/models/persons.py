"""Whose records a model protects: single ones, or all of a person with several."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplexdp import _arguments as check
from simplexdp._weights import moves_of, units_of
from simplexdp.accounting import PrivacyCurve
from simplexdp.accounting.unit import unit_of
from simplexdp.exceptions import InvalidDataError, InvalidParameterError
from simplexdp.frames.counting import count_shared, count_tables
from simplexdp.frames.domain import DomainLike
from simplexdp.frames.persons import Bound, bounded, checked_bound, kept_of, people_of, with_kept
from simplexdp.frames.sharing import SHARING, weights_of
from simplexdp.frames.source import as_frame, by_values, column_of, is_lazy

__all__ = ["SINGLE_RECORDS", "Persons", "whose"]

_PERSONS = "\0persons"
"""In the place of a column's name where the persons come beside the frame: no column is called that."""


@dataclass(frozen=True)
class Persons:
    """How many records of a person count, which column names the person, and how the records are chosen."""

    bound: Bound | None
    unit: Any = None
    values: Any = None
    """The persons of the records, where no column of the frame holds them."""
    weighted: bool = False
    """Whether a person counts as one: each of n records that are kept has the weight 1/n."""

    @classmethod
    def of(cls, model: Any, persons: Any = None) -> Persons:
        """Check what a model says of persons (`unit`, `max_rows`, `first_by`, `weighted`) and those given to `fit`."""
        found = cls._stated(model, persons)
        if not check.flag("weighted", getattr(model, "weighted", False)):
            return found
        if found.bound is None:
            raise InvalidParameterError(
                "weighted must be False unless unit names the column of persons, or fit is given persons"
            )
        units_of(found.bound.max_rows, weighted=True)  # of few enough records
        return replace(found, weighted=True)

    @classmethod
    def _stated(cls, model: Any, persons: Any) -> Persons:
        if persons is None:
            if model.unit is None and model.max_rows is not None:
                raise InvalidParameterError(
                    "max_rows must be None unless unit names the column of persons, or fit is given persons"
                )
            rng = model.random_state
            return cls(checked_bound(model.unit, model.max_rows, model.first_by, None, rng), model.unit)
        bound = checked_bound(_PERSONS, model.max_rows, model.first_by, None, model.random_state)
        assert bound is not None
        values = by_values(persons, "persons")
        if getattr(values, "ndim", 1) != 1:
            raise InvalidDataError(f"persons must be one-dimensional, got {values.ndim} dimensions")
        return cls(bound, model.unit, values)

    @property
    def max_rows(self) -> int:
        """How many records of a person count."""
        return 1 if self.bound is None else self.bound.max_rows

    @property
    def units(self) -> int:
        """In how many units a person is counted: 1 where records are."""
        return units_of(self.max_rows, weighted=self.weighted)

    @property
    def moves(self) -> int:
        """How many records a person has for the guarantee: where persons count as one, their units are as records."""
        return moves_of(self.max_rows, weighted=self.weighted)

    @property
    def keeps_total(self) -> bool:
        """Whether replacing a person leaves the number of records as it is."""
        return self.max_rows == 1

    @property
    def columns(self) -> list[Any]:
        """The columns that say whose record it is and which comes first; no model is told of the persons."""
        if self.bound is None:
            return []
        return [name for name in self.bound.columns([]) if name != _PERSONS]

    def check_columns(self, columns: Sequence[Any]) -> None:
        """Refuse a model of the persons themselves."""
        if self.bound is not None and self.bound.unit in columns:
            raise InvalidParameterError("unit must name a column beside those of the model: it says who somebody is")

    def bounded(
        self, frame: Any, columns: Sequence[Any], beside: Mapping[Any, NDArray[Any]] | None = None
    ) -> tuple[Any, dict[Any, NDArray[Any]]]:
        """Return these columns of a frame, and arrays beside it, with at most so many records of each person.

        Where persons count as one, `SHARING` says of each record how many were kept of its person: a column of a lazy
        frame, an array beside any other.
        """
        beside = {} if beside is None else dict(beside)
        if self.bound is None:
            return frame, beside
        frame = as_frame(frame)
        if is_lazy(frame):
            if self.values is not None:
                raise InvalidParameterError("persons must be None for a lazy frame, whose column of persons unit names")
            return bounded(frame, self.bound, columns, sharing=SHARING if self.weighted else None), beside
        arrays = {**beside, _PERSONS: self.values}

        def column(name: Any) -> Any:
            found = arrays[name] if isinstance(name, str) and name in arrays else column_of(frame, name)
            if self.values is not None and len(found) != len(self.values):
                raise InvalidDataError("persons must be as many as the records")
            return found

        people = people_of(column(self.bound.unit), self.bound.unit if self.values is None else "persons")
        kept = kept_of(column, people, self.bound, [*columns, *beside])
        rest = {name: values if kept is None else values[kept] for name, values in beside.items()}
        if self.weighted:
            rest[SHARING] = people.sharing(self.max_rows, kept)
        return with_kept(frame, kept, columns), rest

    def count_tables(
        self,
        frame: Any,
        tables: Sequence[Sequence[Any]],
        domains: Mapping[Any, DomainLike],
        sharing: NDArray[np.int64] | None = None,
    ) -> list[NDArray[np.int64]]:
        """Count tables of a frame that `bounded` gave, in units; `sharing` is what it gave beside an eager one."""
        if not self.weighted:
            return count_tables(frame, tables, domains)
        frame = as_frame(frame)
        if is_lazy(frame):
            return count_shared(frame, tables, domains, self.max_rows)
        used = list(dict.fromkeys(column for columns in tables for column in columns))

        def count(kept: NDArray[np.bool_]) -> list[NDArray[np.int64]]:
            return count_tables(with_kept(frame, kept, used), tables, domains)

        return self.in_units(count, sharing)

    def in_units(
        self, count: Callable[[NDArray[np.bool_]], list[NDArray[np.int64]]], sharing: NDArray[np.int64] | None
    ) -> list[NDArray[np.int64]]:
        """Return tables of records that share a person's total of one, from what counts those of a mask."""
        assert sharing is not None  # of an eager frame whose persons count as one
        # Nobody's weight depends on which numbers of records there are: without any, a table of nobody is counted.
        numbers = np.unique(sharing).tolist() or [1]
        weights = weights_of(self.max_rows)
        parts = [[weights[n - 1] * table for table in count(sharing == n)] for n in numbers]
        return [sum(tables[1:], tables[0]) for tables in zip(*parts, strict=True)]

    @property
    def saved(self) -> dict[str, Any]:
        """What a file says of them, who they are apart."""
        if self.bound is None:
            return {}
        return {"unit": self.unit, "max_rows": self.max_rows, **({"weighted": True} if self.weighted else {})}

    def named(self, curve: PrivacyCurve) -> PrivacyCurve:
        """Return the curve of all records of a person, which says so."""
        if self.bound is None:
            return curve
        return whose(curve, self.unit, self.max_rows)


def whose(curve: PrivacyCurve, unit: Any, max_rows: int) -> PrivacyCurve:
    """Return the curve for persons, under a label that tells how many records of each count."""
    name = "a person" if unit is None else repr(unit)
    records = "record" if max_rows == 1 else "records"
    return curve.for_unit(unit_of(unit), f"{curve.label} for {name} with {max_rows} {records}")


SINGLE_RECORDS = Persons(None)
"""Each record is somebody's own."""
