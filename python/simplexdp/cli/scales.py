"""Numbers and dates of the command line as levels: public bins, days, weeks, months and years."""

from __future__ import annotations

import datetime
import math
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import click

from simplexdp.cli.conditions import number_in
from simplexdp.cli.counting import Levels

__all__ = ["DATES", "DateLevels", "NumberLevels", "binned", "dated", "interval_labels"]

MOST_LEVELS = 1000
DATES = ("day", "week", "month", "year")


@dataclass(frozen=True)
class NumberLevels(Levels):
    """Bins of a numeric column between public edges; the outer ones are open, and called so."""

    edges: tuple[float, ...] = ()

    def _places(self) -> Mapping[str, int]:
        return _Numbers(self.edges)


class _Numbers(dict[str, int]):
    """Looks a number up among inner edges."""

    def __init__(self, edges: tuple[float, ...]) -> None:
        super().__init__()
        self._edges = edges

    def get(self, text: str, default: int | None = None) -> int | None:  # type: ignore[override]
        """Return the bin of the number that a text is; what is none has no place."""
        number = number_in(text)
        return default if number is None else bisect_right(self._edges, number)


def binned(text: str, other: str | None, null: str | None) -> tuple[str, NumberLevels]:
    """Return the column and the bins of ``age=0:100:10`` (from, to, width) or ``age=18,40,65`` (inner edges)."""
    column, sign, rest = text.partition("=")
    rule = "--bins must be COLUMN=FROM:TO:WIDTH, such as age=0:100:10, or COLUMN=EDGE,EDGE, such as age=18,65"
    parts = rest.split(":") if ":" in rest else rest.split(",")
    numbers = [number_in(part) for part in parts]
    if not sign or not column or any(number is None or not math.isfinite(number) for number in numbers):
        raise click.UsageError(f"{rule}, got {text!r}")
    stated = [number for number in numbers if number is not None]
    if ":" in rest:
        if len(stated) != 3 or not (stated[0] < stated[1] and stated[2] > 0):
            raise click.UsageError(f"{rule}, got {text!r}")
        low, high, width = stated
        steps = (high - low) / width
        if steps > MOST_LEVELS or abs(steps - round(steps)) > 1e-9 or round(steps) < 1:
            raise click.UsageError(f"--bins {text!r}: WIDTH must divide TO - FROM into 1 to {MOST_LEVELS} bins")
        stated = [low + step * width for step in range(1, round(steps))]
    if any(not low < high for low, high in pairwise(stated)) or len(stated) >= MOST_LEVELS:
        raise click.UsageError(f"--bins {text!r}: edges must increase, at most {MOST_LEVELS} of them")
    edges = tuple(stated)
    return column, NumberLevels(interval_labels(edges), other, null, "--bins", edges=edges)


def interval_labels(edges: tuple[float, ...]) -> tuple[str, ...]:
    """Return the names of the bins between inner edges."""
    texts = [str(int(edge)) if edge.is_integer() else repr(edge) for edge in edges]
    if not texts:
        return ("any number",)
    whole = all(edge.is_integer() for edge in edges)
    inner = [f"{low} to below {high}" for low, high in pairwise(texts)]
    return (
        (f"below {texts[0]}", *inner, f"{texts[-1]} and above")
        if whole
        else (
            f"< {texts[0]}",
            *(f"{low} to < {high}" for low, high in pairwise(texts)),
            f">= {texts[-1]}",
        )
    )


@dataclass(frozen=True)
class DateLevels(Levels):
    """Days, weeks, months or years between two public ones."""

    unit: str = "month"
    form: str | None = None

    def _places(self) -> Mapping[str, int]:
        return _Dates(self.unit, self.form, {str(value): code for code, value in enumerate(self.values)})


class _Dates(dict[str, int]):
    """Looks a date up among periods."""

    def __init__(self, unit: str, form: str | None, periods: Mapping[str, int]) -> None:
        super().__init__()
        self._unit, self._form, self._periods = unit, form, periods

    def get(self, text: str, default: int | None = None) -> int | None:  # type: ignore[override]
        """Return the period of a date; what is no date, or lies outside, has no place."""
        try:
            if self._form is not None:
                day = datetime.datetime.strptime(text, self._form).date()
            else:
                day = datetime.date.fromisoformat(text[:10])
        except ValueError:
            return default
        return self._periods.get(_period(day, self._unit), default)


def dated(text: str, form: str | None, other: str | None, null: str | None) -> tuple[str, DateLevels]:
    """Return the column and the periods of ``visit=month:2024-01:2024-12``."""
    column, sign, rest = text.partition("=")
    parts = rest.split(":")
    rule = "--dates must be COLUMN=UNIT:FROM:TO, such as visit=month:2024-01:2024-12, UNIT one of " + ", ".join(DATES)
    if not sign or not column or len(parts) != 3 or parts[0] not in DATES:
        raise click.UsageError(f"{rule}, got {text!r}")
    unit = parts[0]
    try:
        first, last = (_day(part) for part in parts[1:])
    except ValueError:
        raise click.UsageError(f"{rule}, got {text!r}") from None
    periods: dict[str, None] = {}
    day = first
    while day <= last and len(periods) <= MOST_LEVELS:
        periods[_period(day, unit)] = None
        day += datetime.timedelta(days=1)
    if not 1 <= len(periods) <= MOST_LEVELS:
        raise click.UsageError(f"--dates {text!r} must have 1 to {MOST_LEVELS} periods")
    return column, DateLevels(tuple(periods), other, null, "--dates", unit=unit, form=form)


def _day(text: str) -> datetime.date:
    """Return the first day of ``2024``, ``2024-05`` or ``2024-05-17``."""
    return datetime.date.fromisoformat({4: f"{text}-01-01", 7: f"{text}-01"}.get(len(text), text))


def _period(day: datetime.date, unit: str) -> str:
    if unit == "week":
        year, week, _ = day.isocalendar()
        return f"{year}-W{week:02d}"
    return day.isoformat()[: {"day": 10, "month": 7, "year": 4}[unit]]
