"""What the debits of a ledger were, one by one, for people who read it."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timezone
from typing import Any

from simplexdp.accounting import recipes
from simplexdp.accounting.composition import compose
from simplexdp.accounting.curve import PrivacyCurve
from simplexdp.accounting.ledger import Entry
from simplexdp.exceptions import InvalidParameterError

__all__ = ["as_text", "name_of", "rows"]


def rows(entries: Iterable[Entry], delta: float) -> Iterator[dict[str, Any]]:
    """Yield what `Accountant.spends` tells of each debit."""
    for entry in entries:
        curves = [recipes.from_text(recipe) for recipe, _ in entry.costs]
        counts = [count for _, count in entry.costs]
        single = len(curves) == 1
        yield {
            "id": entry.id,
            "label": entry.label,
            "on": entry.target,
            "curve": curves[0] if single else compose(curves, counts),
            "count": counts[0] if single else 1,
            "epsilon": _epsilon_of(curves, counts, delta),
            "state": entry.mark,
            "time": _when(entry.time),
            "process": entry.process,
        }


def name_of(entry: Entry) -> str:
    """Return what a debit was for: label, target and how many releases."""
    name = ": ".join(filter(None, (entry.label, entry.target))) or f"debit {entry.id}"
    count = sum(count for _, count in entry.costs)
    return name + f" x {count}" * (count > 1)


def as_text(debits: Iterable[dict[str, Any]], total: str) -> str:
    """Return rows as a text table, and below it what they come to."""
    names = ("id", "label", "on", "count", "epsilon", "state", "time")
    lines = [names] + [tuple(_shown(row[name]) for name in names) for row in debits]
    widths = [max(len(line[i]) for line in lines) for i in range(len(names))]
    text = ["  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip() for line in lines]
    return "\n".join([*text, total])


def _epsilon_of(curves: Sequence[PrivacyCurve], counts: Sequence[int], delta: float) -> float:
    """Return the epsilon of one debit alone; without delta some have none."""
    try:
        return float(compose(curves, counts).epsilon(delta))
    except InvalidParameterError:
        return float("inf")


def _when(seconds: float) -> datetime:
    """Return the time of a debit; of a clock that was wrong beyond the calendar, the end of it."""
    try:
        return datetime.fromtimestamp(seconds, timezone.utc)
    except (OverflowError, ValueError, OSError):
        return (datetime.max if seconds > 0 else datetime.min).replace(tzinfo=timezone.utc)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return value.isoformat(timespec="seconds") if isinstance(value, datetime) else str(value)
