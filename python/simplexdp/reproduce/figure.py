"""What a reproduced figure is: numbers first, a plot of them, and one sentence on what they say."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simplexdp.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Plot

__all__ = ["Figure", "Settings", "Table"]


@dataclass(frozen=True)
class Table:
    """Columns of equal length, in the order in which they are written.

    Parameters
    ----------
    columns : dict of str to sequence or array

    Examples
    --------
    >>> table = Table({"n": [10, 20, 20], "error": [0.3, 0.2, 0.1]})
    >>> len(table), table.where(n=20)["error"]
    (3, [0.2, 0.1])
    """

    columns: Mapping[str, Any]

    def __post_init__(self) -> None:
        lengths = {name: len(values) for name, values in self.columns.items()}
        if len(set(lengths.values())) > 1:
            raise InvalidParameterError(f"columns must have equal lengths, got {lengths}")

    @classmethod
    def from_rows(cls, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
        """Build a table from rows."""
        return cls({name: [row[index] for row in rows] for index, name in enumerate(names)})

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __getitem__(self, name: str) -> list[Any]:
        return list(self.columns[name])

    def where(self, **equal: Any) -> Table:
        """Return the rows in which every named column has the given value."""
        kept = [i for i in range(len(self)) if all(self.columns[k][i] == v for k, v in equal.items())]
        return Table({name: [values[i] for i in kept] for name, values in self.columns.items()})

    def distinct(self, name: str) -> list[Any]:
        """Return the values of a column, each once, in order of appearance."""
        return list(dict.fromkeys(self.columns[name]))

    def write(self, path: Path) -> None:
        """Write comma-separated values with a header."""
        with path.open("w", newline="", encoding="utf-8") as text:
            writer = csv.writer(text, lineterminator="\n")
            writer.writerow(self.columns)
            writer.writerows(zip(*(map(_cell, values) for values in self.columns.values()), strict=True))


def _cell(value: Any) -> Any:
    return f"{value:.10g}" if isinstance(value, float) else value


def _silent(share: float) -> None:
    """Report progress to nobody."""


@dataclass(frozen=True)
class Settings:
    """How much to run and on which data.

    Parameters
    ----------
    fast : bool
        Fewer seeds, sizes and grid points; every part of the figure is still there.
    data : Path, optional
        Directory with the UCI data sets; without it the bundled data set stands in, and the figure says so.
    seed : int
        Seed of every simulation. Figures are drawn with seeded randomness: nothing in them is a private release.
    progress : callable
        Called with the share that is done, from 0 to 1.
    """

    fast: bool = False
    data: Path | None = None
    seed: int = 2026
    progress: Callable[[float], None] = field(default=_silent, compare=False)


@dataclass(frozen=True)
class Figure:
    """One figure or table of a paper.

    Parameters
    ----------
    name : str
        Short name, such as ``dm-figure-1``.
    source : str
        Where it stands in the paper, such as ``[DM] Figure 1``.
    title : str
        What is shown, in a few words.
    paper : str
        What the paper found, in one sentence of ours.
    compute : callable
        From the settings to the numbers: a dictionary of tables by name.
    draw : callable
        From those tables alone to the plot.
    finding : callable
        From those tables alone to one or two sentences: what we find, with its figures, and why where it differs.
    """

    name: str
    source: str
    title: str
    paper: str
    compute: Callable[[Settings], dict[str, Table]]
    draw: Callable[[Mapping[str, Table]], Plot]
    finding: Callable[[Mapping[str, Table]], str]
