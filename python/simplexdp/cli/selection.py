"""Which records of a file count: conditions on columns, and so many records of each person."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from numpy.typing import NDArray

from simplexdp.cli.conditions import Condition
from simplexdp.cli.reading import Source, text_of
from simplexdp.exceptions import InvalidDataError

if TYPE_CHECKING:
    import pyarrow as pa

    from simplexdp.cli.spelling import Spelling
    from simplexdp.frames import Cleaning
    from simplexdp.frames.persons import Bound

__all__ = ["EVERYTHING", "Selection"]

MOST_SHARED = 16
"""Records that share a person's total of one: `simplexdp.sensitivity.weight_units` has no units for more."""
_UNIT, _FIRST = "\0unit", "\0first"


def _bound(
    unit: str | None, max_rows: int | None, first_by: str | None, seed: int | None, weighted: bool
) -> Bound | None:
    if weighted and (unit is None or max_rows is None or max_rows > MOST_SHARED):
        raise click.UsageError(
            f"--weighted needs --unit COLUMN, and --max-rows K of at most {MOST_SHARED}: records share a person's one"
        )
    if unit is None:
        if max_rows is not None or first_by is not None:
            raise click.UsageError("--max-rows and --first-by need --unit COLUMN, which names the person of a record")
        return None
    if max_rows is None:
        raise click.UsageError("--unit needs --max-rows K: how many records of a person count")
    from simplexdp.frames.persons import checked_bound

    bound = checked_bound(unit, max_rows, first_by, seed)
    assert bound is not None
    return replace(bound, as_written=True)


@dataclass(frozen=True)
class Selection:
    """Conditions, and the bound of persons."""

    conditions: tuple[Condition, ...] = ()
    bound: Bound | None = None
    weighted: bool = False
    """Whether a person counts as one, whose records share it."""
    who: Cleaning | None = None
    """Public rules that make spellings of one person the same."""
    first_form: str | None = None
    """How the dates are written by which a person's records are ordered."""
    _seen: dict[str, dict[Any, bool]] = field(default_factory=dict, compare=False)

    @classmethod
    def stated(
        cls,
        spelling: Spelling,
        unit: str | None,
        max_rows: int | None,
        first_by: str | None,
        date_format: str | None,
        seed: int | None,
        *,
        weighted: bool = False,
        conditions: tuple[Condition, ...] = (),
    ) -> Selection:
        """Return what --unit, --max-rows, --first-by and its --date-format, --weighted and --where state."""
        bound = _bound(unit, max_rows, first_by, seed, weighted)
        if date_format is not None and first_by is None:
            raise click.UsageError("--date-format needs --first-by")
        who = None if unit is None else spelling.of_persons(unit)
        return cls(conditions, bound, weighted, who, date_format)

    @property
    def max_rows(self) -> int:
        """How many records of a person count at most."""
        return 1 if self.bound is None else self.bound.max_rows

    @property
    def hiding_total(self) -> tuple[str, ...]:
        """The options by which replacing what counts of a person changes the number of records that count."""
        said = (("--where", bool(self.conditions)), ("--max-rows above 1", self.max_rows > 1))
        return tuple(option for option, is_given in said if is_given)

    @property
    def keeps_total(self) -> bool:
        """Whether replacing what counts of a person leaves the number of records that count as it is."""
        return not self.hiding_total

    def columns(self, counted: Sequence[str]) -> list[str]:
        """Return the columns that are read."""
        beside = [] if self.bound is None else self.bound.columns([])
        return list(dict.fromkeys([*counted, *beside, *(condition.column for condition in self.conditions)]))

    def batches(self, source: Source, counted: Sequence[str]) -> Iterator[dict[str, pa.Array]]:
        """Yield the columns of the records that meet the conditions."""
        import pyarrow as pa

        names = self.columns(counted)
        for batch in source.batches(names):
            found = dict(zip(names, batch, strict=True))
            if self.conditions:
                met = np.logical_and.reduce([self._met(rule, found[rule.column]) for rule in self.conditions])
                found = {name: values.filter(pa.array(met)) for name, values in found.items()}
            yield found

    def _met(self, rule: Condition, values: pa.Array) -> NDArray[np.bool_]:
        from simplexdp.cli.counting import coded

        # Code 1 for what meets the rule, 0 for the rest, by the distinct texts.
        met: NDArray[np.bool_] = coded(rule.column, values, _Meeting(rule), 0, int(rule.holds(None))) == 1
        return met

    def as_person(self, column: str, values: pa.Array) -> pa.Array:
        """Return a batch of a column beside the counted ones: persons in one spelling, dates in a form that orders."""
        if self.bound is None:
            return values
        if self.who is not None and column == self.bound.unit:
            return _by_text(values, self.who)
        if self.first_form is not None and column == self.bound.first_by:
            return _by_text(values, partial(_in_order, self.first_form, column))
        return values

    def kept(self, rows: Mapping[str, Sequence[Any]], codes: Mapping[str, NDArray[Any]]) -> NDArray[np.bool_] | None:
        """Return which of the records are kept, None for all: by the persons and what they have in counted columns."""
        from simplexdp.frames.persons import kept_of, people_of

        bound = self.bound
        if bound is None or not len(next(iter(codes.values()))):
            return None
        # Beside the codes, whose columns may be the same: under names that no column has.
        raw = {_UNIT: bound.unit, _FIRST: bound.first_by}
        apart = replace(bound, unit=_UNIT, first_by=None if bound.first_by is None else _FIRST)

        def values(column: str) -> Any:
            if column in codes:
                return codes[column]
            return _series(rows[raw[column]])

        return kept_of(values, people_of(values(_UNIT), _UNIT), apart, list(codes))

    def persons(self, rows: Mapping[str, Sequence[Any]]) -> NDArray[Any] | None:
        """Return a number for the person of each record, None where nobody has several."""
        from simplexdp.frames.persons import numbers_of

        if self.bound is None:
            return None
        parts = rows[self.bound.unit]
        return numbers_of(_series(parts), self.bound.unit) if parts else np.zeros(0, dtype=np.int64)


def _series(parts: Sequence[Any]) -> Any:
    import narwhals as nw
    import pyarrow as pa

    return nw.from_native(pa.chunked_array(parts), series_only=True)


EVERYTHING = Selection()
"""All records, each a person's own."""


class _Meeting(dict[str, int]):
    """Looks texts up in a rule."""

    def __init__(self, rule: Condition) -> None:
        super().__init__()
        self._rule = rule

    def get(self, text: str, default: Any = None) -> Any:
        """Return 1 where the rule holds."""
        return 1 if self._rule.holds(text_of(text)) else default


def _by_text(values: pa.Array, change: Callable[[Any], Any]) -> pa.Array:
    """Return a column with every distinct value changed."""
    import pyarrow as pa

    encoded = values if hasattr(values, "dictionary") else values.dictionary_encode()
    distinct = encoded.dictionary.to_pylist()
    changed = [change(value) for value in distinct]
    return values if changed == distinct else pa.array(changed).take(encoded.indices)


def _in_order(form: str, column: str, value: Any) -> Any:
    """Return a date as a text that has its order."""
    if not isinstance(value, str):
        return value
    try:
        found = datetime.datetime.strptime(value, form)
        # Texts of one zone have the order of their times.
        return (found if found.tzinfo is None else found.astimezone(datetime.timezone.utc)).isoformat()
    except (ValueError, OverflowError):
        raise InvalidDataError(
            f"column {column!r} of --first-by has values that are no dates as --date-format {form!r} has them (none is "
            "shown)"
        ) from None
