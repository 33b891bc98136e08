"""Where a release comes from, as far as that is public."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from simplexdp import _arguments as check
from simplexdp.report.text import percent

__all__ = ["Facts"]


@dataclass(frozen=True)
class Facts:
    r"""What a page tells of a release's origin. Everything is public and shown as it is; what is left out is not shown.

    Parameters
    ----------
    source : str, optional
        The name of the data, such as a file or a survey.
    date : str, optional
        When it was released, such as ``datetime.date.today().isoformat()``.
    ledger : str, optional
        The ledger that it was debited from.
    used : float, optional
        The share of that budget that is used, this release included.
    made_by : str, optional
        The command or the lines of code that made it.
    more : mapping, optional
        Anything else, by name.

    Examples
    --------
    >>> from simplexdp.report import Facts
    >>> Facts(source="people.csv", date="2026-11-19", ledger="budget.db", used=0.25).listed()
    {'Source': 'people.csv', 'Date': '2026-11-19', 'Ledger': 'budget.db, 25.0\xa0% of its budget used, 75.0\xa0% left'}
    """

    source: str | None = None
    date: str | None = None
    ledger: str | None = None
    used: float | None = None
    made_by: str | None = None
    more: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.used is not None:
            check.non_negative("used", self.used)

    def listed(self) -> dict[str, str]:
        """Return what is known, in words."""
        used = None
        if self.used is not None:
            left = percent(max(1.0 - self.used, 0.0), 1, up=False)
            used = f"{percent(self.used, 1, up=True)} of its budget used, {left} left"
        budget = ", ".join(part for part in (self.ledger, used) if part)
        given = {"Source": self.source, "Date": self.date, "Ledger": budget, **self.more}
        return {name: str(value) for name, value in given.items() if value not in (None, "")}

    def as_record(self) -> dict[str, Any]:
        """Return what is known for programs, in the words of schema.org."""
        given = {
            "isBasedOn": self.source,
            "datePublished": self.date,
            "ledger": self.ledger,
            "budgetUsed": self.used,
            "madeBy": self.made_by,
            **self.more,
        }
        return {name: value for name, value in given.items() if value is not None}
