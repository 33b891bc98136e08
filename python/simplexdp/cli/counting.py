"""Public domains as users write them, and the counts of records over them."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from numpy.typing import NDArray

from simplexdp import _core
from simplexdp.cli.reading import Source, text_of
from simplexdp.cli.selection import EVERYTHING, Selection
from simplexdp.cli.spelling import Spelling, takes_cleaning
from simplexdp.exceptions import InvalidDataError, InvalidParameterError

if TYPE_CHECKING:
    import pyarrow as pa

    from simplexdp.frames import Cleaning

__all__ = [
    "Levels",
    "check_column",
    "coded",
    "codes",
    "codes_of_persons",
    "count",
    "level_values",
    "stated_domain",
    "text_in",
]

_NUMBER = r"[-+]?(?:\d[\d_]*(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?"
_RANGE = re.compile(rf"({_NUMBER}) *\.{{2,}} *({_NUMBER})")
"""What is meant as a range; which of them are taken is asked then."""
_WHOLE_RANGE = re.compile(r"(-?\d{1,18})\.\.(-?\d{1,18})")
_MOST_LEVELS = 10**6
_SHORT: dict[str, Any] = {"float": np.float32, "halffloat": np.float16}


@dataclass(frozen=True)
class Levels:
    """The public levels of a column and which of them collect what has no level of its own.

    Parameters
    ----------
    values : tuple
        Text, numbers or truth values; records match by the text that `text_of` gives. None among them is the level for
        missing values.
    other, null : str, optional
        Names of the levels for unseen and for missing values; added at the end unless they are the text of a value,
        which they mean then. Where the values hold None `null` is not asked.
    option : str
        Where the values were stated, for messages.
    clean : Cleaning, optional
        Public rules that make spellings the same.
    """

    values: tuple[Any, ...]
    other: str | None = None
    null: str | None = None
    option: str = "--domain"
    clean: Cleaning | None = None

    def __post_init__(self) -> None:
        texts = [text_of(value) for value in self.values if value is not None]
        if not self.values:
            raise click.UsageError(f"{self.option} must have at least one value")
        for text in (*texts, self.other, self.null):
            check_text(text or "", f"a level of {self.option}")
        # 1 and true have texts of their own, but are one value where models are used in Python.
        if len(set(texts)) < len(texts) or len(set(self.values)) < len(self.values):
            raise click.UsageError(f"{self.option} must list every value once")
        _ = self._found  # two levels that are one value after cleaning are refused now

    @cached_property
    def all(self) -> list[Any]:
        """Every level, in the order of the codes."""
        listed = {text_of(value) for value in self.values if value is not None}
        names = [None if None in self.values else self.null, self.other]
        return [*self.values, *(name for name in dict.fromkeys(names) if name is not None and name not in listed)]

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {text_of(value): code for code, value in enumerate(self.all) if value is not None}

    @cached_property
    def _found(self) -> Mapping[str, int]:
        """The codes of levels by the texts of values, as these are after cleaning."""
        if self.clean is None:
            return self._codes
        from simplexdp.frames.cleaning import with_spellings

        try:
            return with_spellings(self._codes, self.clean)
        except InvalidParameterError as error:
            raise click.UsageError(f"{self.option}: {error}") from None

    @property
    def _missing(self) -> int:
        """The code of missing values; -2 where they have none."""
        if None in self.values:
            return self.values.index(None)
        return -2 if self.null is None else self._codes[self.null]

    @property
    def apart(self) -> tuple[int, ...]:
        """The codes of what has no level of its own, where there are two levels and more beside: for inference."""
        found = {self._missing, -2 if self.other is None else self._codes[self.other]} - {-2}
        return tuple(sorted(found)) if len(self.all) >= len(found) + 2 else ()

    def encode(self, column: str, values: pa.Array) -> NDArray[np.int32]:
        """Return the codes of a batch of values."""
        unseen = -1 if self.other is None else self._codes[self.other]
        result = coded(column, values, self._places(), unseen, self._missing, self.clean)
        least = int(result.min(initial=0))
        if least < 0:
            self._refuse(column, missing=bool((result == -2).any()))
        return result

    def _places(self) -> Mapping[str, int]:
        """Return what knows the code of a text."""
        return self._found

    def _refuse(self, column: str, *, missing: bool) -> None:
        what = "missing values" if missing else f"values that {self.option} does not list"
        remedy = "--null NAME gives them a level" if missing else "--other NAME gives them a level"
        if self.option in ("--groups", "--hierarchy"):
            remedy = (
                "a release by groups needs a listed group in every record; --other-group NAME makes one of the rest"
            )
        if not missing and self.clean is None and takes_cleaning():
            remedy += ", and --clean trim,fold makes spaces and case the same"
        raise InvalidDataError(f"column {column!r} has {what} (none is shown); {remedy}")


def coded(
    column: str,
    values: pa.Array,
    listed: Mapping[str, int],
    unseen: int,
    missing: int,
    clean: Cleaning | None = None,
) -> NDArray[np.int32]:
    """Return the codes of values by their texts; two more codes are for those not listed and for missing ones."""
    import pyarrow as pa

    try:
        is_encoded = hasattr(values, "dictionary")
        kind = str(values.type.value_type if is_encoded else values.type)
        if kind == "halffloat" and not is_encoded:
            # Arrow before 26 does not find the distinct ones.
            values = pa.array([None if value is None else float(value) for value in values.to_pylist()], pa.float32())
        encoded = values if is_encoded else values.dictionary_encode()
        distinct = encoded.dictionary.to_pylist()
        if kind in _SHORT:
            # In the digits that the type has: 0.1, where a double would be 0.10000000149.
            short = _SHORT[kind]
            distinct = [None if value is None else float(str(short(value))) for value in distinct]
    except (pa.ArrowException, ValueError, OverflowError):
        # Lists and records are no values; times beyond what Python has, and text that is none, quote themselves.
        raise InvalidDataError(f"column {column!r} must hold text, numbers or true and false (none is shown)") from None
    if clean is not None:
        distinct = [clean(value) for value in distinct]
    table = [missing if value is None or value != value else listed.get(text_of(value), unseen) for value in distinct]
    # The last entry is for missing values, whose index is filled with -1.
    lookup = np.array([*table, missing], dtype=np.int32)
    codes: NDArray[np.int32] = lookup[encoded.indices.cast("int32").fill_null(-1).to_numpy(zero_copy_only=False)]
    return codes


def text_in(path: str) -> str:
    """Return what a file of public values holds."""
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise click.UsageError(f"{path} must be text in UTF-8") from None


def stated_domain(domain: str | None, domain_file: str | None, option: str = "--domain") -> tuple[str, ...]:
    """Return the values of ``--domain a,b,c`` or of ``--domain-file FILE``."""
    if (domain is None) == (domain_file is None):
        raise click.UsageError(f"give {option} or {option}-file: the values are public and not read off the data")
    if domain_file is None:
        fields = next(csv.reader([domain or ""], skipinitialspace=True), [])
        # Spaces around commas are how people write lists; values that end with one stand in a file.
        return tuple(value for field in fields for value in _expanded(field.strip(" "), option))
    text = text_in(domain_file)
    if domain_file.endswith(".json"):
        values = _json(text, domain_file)
        if not isinstance(values, list):
            raise click.UsageError(f"{domain_file} must hold a JSON list of values")
        return tuple(text_of(value) for value in values)
    return tuple(line for line in text.splitlines() if line)


def stated_domains(
    path: str, other: str | None, null: str | None, spelling: Spelling | None = None
) -> dict[str, Levels]:
    """Read ``{"column": ["a", "b"], "code": 10}``: values, or a cardinality k for 0 to k - 1."""
    content = _json(text_in(path), path)
    if not isinstance(content, Mapping) or not content:
        raise click.UsageError(f'{path} must hold a JSON object such as {{"column": ["a", "b"], "code": 10}}')
    for name in content:
        check_text(name, f"{path}: the name of a column")
    return {
        name: Levels(
            level_values(path, name, stated), other, null, "--domains", None if spelling is None else spelling.of(name)
        )
        for name, stated in content.items()
    }


def check_column(column: str, own: Sequence[str]) -> None:
    """Refuse a column whose name a column of the result has: one of them would be lost once it is paid for."""
    if column in own:
        raise click.UsageError(f"the result has a column {column!r} of its own: call that of the file otherwise")


def check_text(text: str, what: str) -> None:
    """Refuse half of a surrogate pair, as JSON can escape it: it could not be written once it is paid for."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise click.UsageError(f"{what} must be text that UTF-8 can hold, got {text!r}") from None


def level_values(path: str, name: str, stated: Any, *, null: bool = False) -> tuple[Any, ...]:
    """Return the values of a column as a file states them: a list, which may hold null if so, or a cardinality."""
    if isinstance(stated, int) and not isinstance(stated, bool):
        if not 1 <= stated <= _MOST_LEVELS:
            raise click.UsageError(f"{path}: the cardinality of {name!r} must be from 1 to {_MOST_LEVELS}")
        return tuple(range(stated))
    if isinstance(stated, list) and None in stated and not null:
        raise click.UsageError(f"{path}: the domain of {name!r} must not list null: --null NAME is for missing values")
    if isinstance(stated, list) and all(value is None or isinstance(value, (str, int, float)) for value in stated):
        if any(isinstance(value, float) and not math.isfinite(value) for value in stated):
            raise click.UsageError(f"{path}: the numbers of {name!r} must be finite")
        return tuple(stated)
    elsewhere = (
        ": bins of numbers are for fit-nb, synthesize, fit-synth and plan; cut the column into codes before, or give "
        "binner=PrivateBinner(...) to the class in Python"
    )
    raise click.UsageError(
        f"{path}: the domain of {name!r} must be a list of values or a cardinality"
        + (elsewhere if isinstance(stated, dict) else "")
    )


def _json(text: str, path: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise click.UsageError(f"{path} is not JSON: {error}") from None
    except RecursionError:
        raise click.UsageError(f"{path} is nested too deeply") from None


def _expanded(field: str, option: str) -> list[str]:
    """Return the integers of ``1..5``, or the field itself."""
    if _RANGE.fullmatch(field) is None:
        return [field]
    match = _WHOLE_RANGE.fullmatch(field)
    if match is None:
        raise click.UsageError(
            f"a range of {option} must be two integers such as 1..5, got {field}; {option}-file takes that as one value"
        )
    first, last = int(match[1]), int(match[2])
    if not 0 <= last - first < _MOST_LEVELS:
        raise click.UsageError(
            f"a range of {option} must go up and have at most {_MOST_LEVELS} values, got {field}; {option}-file takes "
            "that as one value"
        )
    return [str(value) for value in range(first, last + 1)]


def count(source: Source, columns: Mapping[str, Levels], selection: Selection = EVERYTHING) -> NDArray[np.int64]:
    """Count the combinations of the columns' levels.

    Memory does not grow with the file; where persons are bounded it grows with the records, by a few bytes each.
    """
    shape = [len(levels.all) for levels in columns.values()]
    if selection.weighted:
        return _shared(source, columns, selection, shape)
    if selection.bound is not None:
        found = codes(source, columns, selection)
        return _core.count_table(list(found.values()), shape).reshape(shape)
    table = np.zeros(shape, dtype=np.int64)
    for batch, _ in _encoded(source, columns, selection):
        table += _core.count_table(batch, shape).reshape(shape)
    return table


def _shared(
    source: Source, columns: Mapping[str, Levels], selection: Selection, shape: Sequence[int]
) -> NDArray[np.int64]:
    """Count records that share a person's total of one, in units in which all of that is whole."""
    from simplexdp.frames.sharing import weights_of

    found, persons = codes_of_persons(source, columns, selection)
    assert persons is not None  # whose records share
    rows = np.bincount(persons, minlength=1)[persons]
    weights = weights_of(selection.max_rows)
    table = _core.count_table([rows - 1, *found.values()], [len(weights), *shape]).reshape(len(weights), *shape)
    counts: NDArray[np.int64] = np.tensordot(weights, table, axes=1)
    return counts


def codes(source: Source, columns: Mapping[str, Levels], selection: Selection = EVERYTHING) -> dict[str, NDArray[Any]]:
    """Return the codes of all records that count, in as few bytes as their columns allow."""
    return codes_of_persons(source, columns, selection)[0]


def codes_of_persons(
    source: Source, columns: Mapping[str, Levels], selection: Selection
) -> tuple[dict[str, NDArray[Any]], NDArray[Any] | None]:
    """Return the codes of all records that count, and a number for the person of each; None without persons."""
    kinds = [np.min_scalar_type(-len(levels.all)) for levels in columns.values()]
    parts: list[list[NDArray[Any]]] = [[] for _ in columns]
    beside = [] if selection.bound is None else selection.bound.columns([])
    persons: dict[str, list[Any]] = {name: [] for name in beside}
    for batch, raw in _encoded(source, columns, selection):
        for part, column, kind in zip(parts, batch, kinds, strict=True):
            part.append(column.astype(kind))
        for name, arrays in persons.items():
            arrays.append(selection.as_person(name, raw[name]))
    found = {
        name: np.concatenate(part) if part else np.zeros(0, dtype=kind)
        for name, part, kind in zip(columns, parts, kinds, strict=True)
    }
    kept, numbers = selection.kept(persons, found), selection.persons(persons)
    if kept is None:
        return found, numbers
    return {name: column[kept] for name, column in found.items()}, None if numbers is None else numbers[kept]


def _encoded(source: Source, columns: Mapping[str, Levels], selection: Selection) -> Any:
    for batch in selection.batches(source, list(columns)):
        yield [levels.encode(name, batch[name]) for name, levels in columns.items()], batch
