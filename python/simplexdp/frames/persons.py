"""At most so many rows of each person, in the engine that holds the frame.

What is kept of a person depends on that person's rows alone, so that nobody else's rows move when the person comes or
goes: that is what the guarantee for persons needs, whatever the key (`rust/core/src/counting/persons.rs` has the rule
and the reason). The rule is the same on every engine, in integers and digests that all of them have: a seed keeps the
same rows everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplexdp import _arguments as check
from simplexdp import _core
from simplexdp.exceptions import InvalidDataError, InvalidParameterError
from simplexdp.frames.canonical import NULL, WHOLE, identities_of, texts_of, texts_of_integers
from simplexdp.frames.distinct import Distinct, observed
from simplexdp.frames.distinct_series import is_numeric
from simplexdp.frames.encoding import distinct_of
from simplexdp.frames.source import as_frame, checked_columns, column_of, columns_alone, is_lazy

__all__ = [
    "Bound",
    "bound_rows",
    "bounded",
    "checked_bound",
    "dropped_of",
    "kept_of",
    "numbers_of",
    "people_of",
    "places_of",
    "seed_of",
    "with_kept",
]

MOST_ROWS = 1 << 20
"""Of a person, as in the compiled core."""


MOST_DIGITS = 20
"""Of a number that has a place in 64 bits, with its sign."""

DENSE = 2
"""Persons with integers are counted by place if there are no more places than so many times the rows."""


@dataclass(frozen=True)
class Bound:
    """Whose rows are bounded, and how."""

    unit: Any
    max_rows: int
    first_by: Any
    key: str
    as_written: bool = False
    """Whether values are texts, of which numbers come first, by their size."""

    def columns(self, counted: Sequence[Any]) -> list[Any]:
        """Return what is read beside the columns that are counted, these first."""
        beside = [self.unit] if self.first_by is None else [self.unit, self.first_by]
        return list(dict.fromkeys([*counted, *beside]))


def bound_rows(
    frame: Any,
    *,
    unit: Any,
    max_rows: int,
    columns: Sequence[Any] | None = None,
    first_by: Any = None,
    seed: int | None = None,
) -> Any:
    """Return the frame with at most `max_rows` rows of each person.

    The rows of a person who has more are drawn at random, or are the first by a column. Which ones does not depend on
    anybody else's rows, so that a person moves at most `max_rows` rows of the result.

    Parameters
    ----------
    frame : data frame, two-dimensional array or mapping of one-dimensional arrays
        As for `count_table`; a lazy frame stays lazy.
    unit : column
        Names the person of each row. Rows without one, where it is missing, count as one person's together.
    max_rows : int
        How many rows of a person count, up to 2**20.
    columns : sequence, optional
        The columns that are wanted; by default all of them. A seed keeps the same rows for the same columns.
    first_by : column, optional
        The rows with its smallest values are kept, such as the first visits; missing values come last.
    seed : int, optional
        Keeps the same rows again, on every engine. It need not be secret. By default a new draw each time.

    Returns
    -------
    frame of the same kind
        With `columns` alone, where they are stated.

    Examples
    --------
    >>> from simplexdp.frames import bound_rows
    >>> visits = {"patient": [7, 7, 7, 8], "ward": ["a", "a", "b", "c"]}
    >>> len(bound_rows(visits, unit="patient", max_rows=2)["ward"])
    3
    """
    bound = checked_bound(unit, max_rows, first_by, seed)
    assert bound is not None
    wanted = None if columns is None else checked_columns(columns)
    frame = as_frame(frame)
    result = bounded(frame, bound, _all_columns(frame) if wanted is None else wanted)
    return result if isinstance(result, (np.ndarray, Mapping)) else result.to_native()


def seed_of(unit: Any, rng: Any, name: str = "rng") -> int | None:
    """Return a seed of the rows that are kept, from the generator of a test: it repeats them with all else.

    None without persons or without a generator: new rows each time.
    """
    check.generator(name, rng)
    return None if unit is None or rng is None else int(_core.random_words(1, 0, rng)[0])


def checked_bound(unit: Any, max_rows: int | None, first_by: Any, seed: int | None, rng: Any = None) -> Bound | None:
    """Return the bound that arguments state; None where nobody has several rows. For tests `rng` draws the key."""
    if unit is None:
        for name, value in (("max_rows", max_rows), ("first_by", first_by), ("seed", seed)):
            if value is not None:
                raise InvalidParameterError(f"{name} must be None unless unit names the column of persons")
        return None
    if max_rows is None:
        raise InvalidParameterError("max_rows must be given with unit: how many rows of a person count")
    rows = check.integer("max_rows", max_rows, 1)
    if rows > MOST_ROWS:
        raise InvalidParameterError(f"max_rows must be at most 2^20, got {rows}")
    for name, value in (("unit", unit), ("first_by", first_by)):
        # A column's name, or its place in an array.
        if not (value is None or isinstance(value, (str, int, np.integer))):
            raise InvalidParameterError(f"{name} must be the name of a column, got one {type(value).__name__}")
    if first_by is not None and first_by == unit:
        raise InvalidParameterError("first_by must be another column than unit")
    if seed is None:
        key = "".join(f"{word:x}." for word in np.asarray(_core.random_words(2, 0, rng)).tolist())
    else:
        key = f"seed {check.seed(seed)}."
    return Bound(unit, rows, first_by, key)


def bounded(frame: Any, bound: Bound, columns: Sequence[Any], *, sharing: str | None = None) -> Any:
    """Return these columns of a frame, as `as_frame` gives it, with at most so many rows of each person.

    `sharing` names one more column: how many rows were kept of the row's person.
    """
    if is_lazy(frame):
        from simplexdp.frames.persons_lazy import bounded_lazily

        return bounded_lazily(frame, bound, list(columns), sharing)

    def column(name: Any) -> Any:
        return column_of(frame, name)

    people = people_of(column(bound.unit), bound.unit)
    kept = kept_of(column, people, bound, columns)
    result = with_kept(frame, kept, columns)
    if sharing is None:
        return result
    rows = people.sharing(bound.max_rows, kept)
    if isinstance(result, np.ndarray):
        result = {name: result[:, name] for name in columns}
    if isinstance(result, Mapping):
        return {**result, sharing: rows}
    import narwhals as nw

    if result.implementation.is_pandas():
        # Series meet by position, whatever the index of the frame.
        native = nw.to_native(result).copy(deep=False)
        native[sharing] = rows
        return nw.from_native(native)
    return result.with_columns(nw.new_series(sharing, rows, backend=result.implementation))


@dataclass(frozen=True)
class People:
    """Whose each row is."""

    words: NDArray[Any]
    """An integer for the person of each row, which no other person has."""
    numbers_under: Callable[[str, NDArray[Any]], NDArray[np.uint32]]
    """Gives the numbers of some persons under a key."""

    def sharing(self, max_rows: int, kept: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
        """Return for each row, or each that is kept, how many rows are kept of its person: few, as they are weighted.

        Whoever has more than may count keeps as many as may.
        """
        rows = _core.rows_of_each(self.words, max_rows)
        return (rows if kept is None else rows[kept]).astype(np.int64)


def people_of(values: Any, unit: Any) -> People:
    """Return whose each row is, from the column of persons."""
    whole = _whole_numbers(values)
    if whole is None:
        persons, texts = _persons(values, unit)
        return People(persons.astype(np.uint32), lambda key, found: _keyed(key, texts(found), unit))
    words, nobody = whole

    def numbers_under(key: str, found: NDArray[np.int64]) -> NDArray[np.uint32]:
        numbers = _core.keyed_numbers_of_integers(key + "v", found)
        if nobody is not None:
            numbers[found == nobody] = _core.keyed_numbers(key, [NULL])[0]
        return numbers

    return People(words, numbers_under)


def kept_of(
    column: Callable[[Any], Any], people: People, bound: Bound, columns: Sequence[Any]
) -> NDArray[np.bool_] | None:
    """Return whether each row is kept, None where all are; `column` gives the values of a column."""

    def distinct(name: Any, rows: NDArray[np.uint32]) -> tuple[Distinct, bool]:
        return distinct_of(_rows_of(column(name), rows), name), False

    dropped = dropped_of(column, people, bound, columns, distinct)
    if not len(dropped):
        return None
    kept = np.ones(len(people.words), dtype=bool)
    kept[dropped] = False
    return kept


def dropped_of(
    column: Callable[[Any], Any],
    people: People,
    bound: Bound,
    columns: Sequence[Any],
    distinct: Callable[[Any, NDArray[np.uint32]], tuple[Distinct, bool]],
) -> NDArray[np.uint32]:
    """Return the rows that are not kept.

    `distinct` gives the distinct values of a column, and which one each of some rows has, or, if it says so, each row
    of the frame.
    """
    for name in columns:
        if len(column(name)) != len(people.words):
            raise InvalidDataError("columns of frame must have the same length")
    rows, ends = _core.crowded_rows(people.words, bound.max_rows)
    if not len(rows):
        return rows
    counted = []
    for position, name in enumerate(columns):
        (levels, numbers), of_all = distinct(name, rows)
        table = _keyed(f"{bound.key}{position}", texts_of(levels), name)
        counted.append((np.ascontiguousarray(numbers, dtype=np.uint32), table, of_all))
    kept = _core.kept_rows(
        ends,
        people.numbers_under(bound.key + "u", people.words.take(rows[ends - np.uint32(1)])),
        _core.values_of_rows(rows, counted),
        None if bound.first_by is None else _ranks(_rows_of(column(bound.first_by), rows), bound),
        int(_core.keyed_numbers(bound.key, ["again"])[0]),
        bound.max_rows,
    )
    return rows[~kept]


def _whole_numbers(values: Any) -> tuple[NDArray[np.int64], int | None] | None:
    """Return persons who are named by whole numbers as these, and the one that stands for missing ones, if any are.

    None where they are named otherwise, or by doubles that several whole numbers round to.
    """
    missing: NDArray[np.bool_] | None = None
    if isinstance(values, np.ndarray):
        plain = values
    elif is_numeric(values) and values.dtype.is_numeric():
        if values.null_count():
            missing = np.asarray(values.is_null().to_numpy(), dtype=bool)
        plain = (values if missing is None else values.fill_null(0)).to_numpy()
    else:
        return None
    if plain.dtype.kind == "f":
        nan = np.isnan(plain)
        if nan.any():
            missing = nan if missing is None else missing | nan
            plain = np.where(missing, 0, plain)
        if not (_are_whole(plain) & (np.abs(plain) < WHOLE)).all():
            return None
    elif plain.dtype.kind not in "iu" or (plain.dtype.kind == "u" and len(plain) and plain.max() >= 2**63):
        return None
    words = np.ascontiguousarray(plain, dtype=np.int64)
    if missing is None:
        return words, None
    present = words[~missing]
    low, high = (int(present.min()), int(present.max())) if len(present) else (0, 0)
    nobody = high + 1 if high < 2**63 - 1 else low - 1
    return None if nobody < -(2**63) else (np.where(missing, nobody, words), nobody)


def _persons(values: Any, unit: Any) -> tuple[NDArray[Any], Callable[[NDArray[Any]], list[str]]]:
    """Return the number of each row's person, and what gives the texts of some of the persons."""
    if not isinstance(values, np.ndarray) and is_numeric(values) and values.dtype.is_integer():
        values = values if values.is_null().any() else values.to_numpy()
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu" and len(values):
        low, high = int(values.min()), int(values.max())
        if high - low < DENSE * len(values):
            # Numbers that lie close together are their own, less the smallest: nothing has to be looked up.
            above = values.astype(np.int64) - low if low < 0 else (values - values.dtype.type(low)).astype(np.int64)
            return above, lambda persons: texts_of_integers(low + person for person in persons.tolist())
    if isinstance(values, np.ndarray) and values.dtype.kind in "biu":
        first_rows, found = observed(values)
        texts = texts_of if values.dtype.kind == "b" else texts_of_integers
        return found, lambda persons: texts(values[first_rows[persons]].tolist())
    levels, numbers = distinct_of(_in_universal_time(values), unit)
    # Values that are written alike are one person: 1 and 1.0, one text at two addresses. What is told of them in
    # digests may be the same for two persons, who they are may not. It is told of the value that a person's first row
    # has, which no other person's rows can change.
    if set(map(type, levels)) <= {str, type(None)} and len(set(levels)) == len(levels):
        return np.asarray(numbers), lambda persons: texts_of(levels[person] for person in persons.tolist())
    identities = identities_of(levels)
    known: dict[str, int] = {}
    same = np.fromiter((known.setdefault(text, len(known)) for text in identities), np.int64, count=len(identities))
    _, first = np.unique(same, return_index=True)
    different = [levels[level] for level in first.tolist()]
    return same.take(numbers), lambda persons: texts_of(different[person] for person in persons.tolist())


def _in_universal_time(values: Any) -> Any:
    """Return times with a zone as those of UTC: as Python's scalars, which have no nanoseconds, they may be equal."""
    if isinstance(values, np.ndarray) or getattr(values.dtype, "time_zone", None) is None:
        return values
    return values.dt.convert_time_zone("UTC").dt.replace_time_zone(None)


def places_of(values: Any, unit: Any) -> NDArray[np.int64]:
    """Return a number for the person of each row, the same in every part of a table; some persons share one.

    Whole numbers are their own, whatever their type in a part: of millions of persons no text is made.
    """
    if isinstance(values, np.ndarray):
        missing, plain = np.zeros(len(values), dtype=bool), values
    elif is_numeric(values):
        missing = np.asarray(values.is_null().to_numpy(), dtype=bool)
        plain = (values.fill_null(values.dtype.is_numeric() and 0) if missing.any() else values).to_numpy()
    else:
        missing, plain = np.ones(len(values), dtype=bool), np.zeros(len(values), dtype=np.int64)
    found = np.zeros(len(values), dtype=np.int64)
    whole = ~missing & _are_whole(plain)
    found[whole] = plain[whole].astype(np.uint64 if plain.dtype.kind == "u" else np.int64).view(np.int64)
    rest = np.flatnonzero(~whole)
    if len(rest):
        levels, numbers = distinct_of(_in_universal_time(_rows_of(values, rest)), unit)
        found[rest] = numbers_of_identities(identities_of(levels), unit).take(numbers)
    return found


def _are_whole(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which numbers are whole and have a place in 64 bits; none of what is no number."""
    if values.dtype.kind in "biu":
        return np.ones(len(values), dtype=bool)
    if values.dtype.kind != "f":
        return np.zeros(len(values), dtype=bool)
    whole: NDArray[np.bool_] = (np.abs(values) < 2.0**63) & (values == np.floor(values))
    return whole


def numbers_of_identities(texts: list[str], column: Any) -> NDArray[np.int64]:
    """Return a number for each identity: of a whole number in digits that number, modulo 2^64, of others a digest."""
    found = _keyed("", texts, column).astype(np.int64)
    for place, text in enumerate(texts):
        digits = text[1:]
        if 0 < len(digits) <= MOST_DIGITS and digits[0] in "-0123456789":
            try:
                number = int(digits)
            except ValueError:
                continue
            # Texts that are read as a number are that number where it is written like them, and only there.
            if str(number) == digits:
                found[place] = np.uint64(number % 2**64).astype(np.int64)
    return found


def _keyed(key: str, texts: list[str], column: Any) -> NDArray[np.uint32]:
    """Return the numbers of texts under a key."""
    try:
        return _core.keyed_numbers(key, texts)
    except UnicodeEncodeError:
        pass
    # Not raised above: the error there holds the text, and would be the context of this one.
    raise InvalidDataError(
        f"column {column!r} must hold text that UTF-8 can hold, no half of a surrogate pair (the value is not shown)"
    )


def numbers_of(values: Any, unit: Any) -> NDArray[Any]:
    """Return a number for the person of each row."""
    return _persons(values, unit)[0]


def _rows_of(values: Any, rows: NDArray[Any]) -> Any:
    return values[rows]


def _ranks(values: Any, bound: Bound) -> NDArray[np.int64]:
    """Return the place of each value among the different ones, missing ones last."""
    levels, numbers = distinct_of(values, bound.first_by)
    missing = [text is None for text in texts_of(levels, null=None)]
    present = [level for level, is_missing in zip(levels, missing, strict=True) if not is_missing]
    try:
        in_order = sorted(set(present), key=_as_written if bound.as_written else None)
        ranks = {level: rank for rank, level in enumerate(in_order)}
    except TypeError:
        raise InvalidDataError(f"column {bound.first_by!r} must hold values of one kind, which have an order") from None
    places = [len(ranks) if m else ranks[level] for level, m in zip(levels, missing, strict=True)]
    ranked: NDArray[np.int64] = np.array(places, dtype=np.int64).take(numbers)
    return ranked


def _as_written(value: Any) -> tuple[bool, float, str]:
    """Return what orders texts: each by itself, whatever the others are."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan  # text, or a date
    return (True, 0.0, str(value)) if number != number else (False, number, "")


def with_kept(frame: Any, kept: NDArray[np.bool_] | None, columns: Sequence[Any]) -> Any:
    """Return these columns of an eager frame, in the rows that are kept; None for all."""
    if isinstance(frame, np.ndarray):
        # The columns of an array are known by their places, which have to stay.
        return frame if kept is None else frame[kept]
    if isinstance(frame, Mapping):
        found = {column: column_of(frame, column) for column in columns}
        return found if kept is None else {name: _filtered(values, kept) for name, values in found.items()}
    import narwhals as nw

    selected = columns_alone(frame, columns)
    if kept is None:
        found = selected
    elif frame.implementation.is_pandas_like():
        found = nw.from_native(selected.to_native()[kept])
    else:
        found = selected.filter(nw.new_series("kept", kept, backend=frame.implementation))
    # Rows that are lost here, or taken by their places, would cost another person's.
    if len(found) != (len(frame) if kept is None else np.count_nonzero(kept)):
        raise InvalidDataError("frame must give back the rows that were kept of each person")
    return found


def _filtered(values: Any, kept: NDArray[np.bool_]) -> Any:
    return values[kept] if isinstance(values, np.ndarray) else values.filter(kept.tolist())


def _all_columns(frame: Any) -> list[Any]:
    if isinstance(frame, np.ndarray):
        return list(range(frame.shape[1])) if frame.ndim == 2 else []
    return list(frame) if isinstance(frame, Mapping) else list(frame.collect_schema().names())
