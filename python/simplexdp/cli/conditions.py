"""``--where``: public rules that a record must meet to count."""

from __future__ import annotations

import datetime
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from simplexdp.frames import Cleaning

__all__ = ["Condition", "condition", "number_in"]

_FORM = re.compile(r"\s*(.+?)\s*(<=|>=|!=|==|=|<|>)(.*)", re.DOTALL)
_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_DATE = re.compile(r"\d{4}(-\d\d(-\d\d([T ]\d\d(:\d\d(:\d\d)?)?)?)?)?")
"""A bound: a year, a month, a day, or a time of it."""
_DATED = re.compile(r"\d{4}-\d\d(-\d\d([T ].*)?)?", re.DOTALL)


@dataclass(frozen=True)
class Condition:
    """A public rule that a record must meet to count; a missing value meets none but "COLUMN=" alone.

    Parameters
    ----------
    column, sign : str
    values : tuple of str
        Texts that are listed, or the one bound of an order.
    clean : Cleaning, optional
        Public rules that make spellings the same, of values and of what is listed.
    form : str, optional
        How dates are written, as `datetime.strptime` takes it; else 2024-05-17.
    """

    column: str
    sign: str
    values: tuple[str, ...]
    clean: Cleaning | None = None
    form: str | None = None

    def holds(self, text: str | None) -> bool:
        """Whether a value, by its text, meets the rule."""
        if self.clean is not None:
            text = self.clean(text)
        if self.sign in ("=", "!="):
            listed = (text or "") in self._listed
            return listed if self.sign == "=" else text is not None and not listed
        if text is None:
            return False
        compared, bound = _COMPARED[self.sign], number_in(self.values[0])
        value = number_in(text)
        if bound is not None and value is not None:
            return compared(value, bound)
        date = self._date(text)
        if date is None or self._first is None:
            return False
        # To the bound's own unit: every day of June, and every hour of its last day, is "<=2024-06".
        return compared(date[: len(self._first)], self._first)

    @cached_property
    def _listed(self) -> frozenset[str]:
        if self.clean is None:
            return frozenset(self.values)
        return frozenset(self.clean(value) or "" for value in self.values)

    @cached_property
    def _first(self) -> str | None:
        """The bound as a date, None if it is none."""
        text = self.values[0]
        return text.replace(" ", "T") if _DATE.fullmatch(text) else None

    def _date(self, text: str) -> str | None:
        """Return a value as a date in the order of its text, None if it is none."""
        if self.form is not None:
            try:
                return datetime.datetime.strptime(text, self.form).isoformat()
            except ValueError:
                return None
        return text.replace(" ", "T", 1) if _DATED.fullmatch(text) else None


def condition(text: str, clean: Callable[[str], Cleaning | None] | None = None, form: Any = None) -> Condition:
    """Return what ``age>=18``, ``ward=eye,ear`` or ``day!=`` says.

    Parameters
    ----------
    text : str
    clean : callable, optional
        The rules for the spellings of a column.
    form : callable, optional
        How the dates of a column are written.
    """
    match = _FORM.fullmatch(text)
    if match is None:
        raise click.UsageError(f"--where must be COLUMN=A,B, COLUMN!=A or COLUMN<, <=, > or >= A, got {text!r}")
    column, sign, rest = match[1], match[2].replace("==", "="), match[3].strip()
    rules = None if clean is None else clean(column)
    dates = None if form is None else form(column)
    if sign in ("=", "!="):
        if match[3][:1] in ("<", ">"):
            raise click.UsageError(f"--where {text!r}: write <= or >=, or a space before a value that begins so")
        return Condition(column, sign, tuple(value.strip() for value in rest.split(",")), rules, dates)
    if not rest:
        raise click.UsageError(f"--where {text!r} says nothing to compare with")
    found = Condition(column, sign, (rest,), rules, dates)
    if number_in(rest) is None and found._first is None:
        raise click.UsageError(
            f"--where {text!r} must compare with one number, or one date such as 2024-05-17 or 2024-05; another rule "
            "has its own --where"
        )
    return found


def number_in(text: str) -> float | None:
    """Return the number that a text is, None if it is none."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if value == value else None
