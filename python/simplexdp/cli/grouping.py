"""The columns that records are grouped by, and the public groups of each, as the options state them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from simplexdp.cli.counting import Levels
    from simplexdp.frames import Cleaning

__all__ = ["Grouping", "group_options", "name_of", "names_of", "other_group_option", "repeated"]


def group_options(command: Any) -> Any:
    """Add --by, --groups and --groups-file, each as often as there are columns."""
    for option in reversed(
        (
            click.option(
                "--by",
                multiple=True,
                metavar="COLUMN",
                help="A release for each value of this column; several times: for each combination.",
            ),
            click.option(
                "--groups",
                multiple=True,
                metavar="[COLUMN=]A,B,C",
                help="Public values of --by; without COLUMN= in the order of --by.",
            ),
            click.option(
                "--groups-file", multiple=True, metavar="[COLUMN=]FILE", help="The same from a file, one value a line."
            ),
        )
    ):
        command = option(command)
    return command


other_group_option = click.option(
    "--other-group",
    multiple=True,
    metavar="[COLUMN=]NAME",
    help="A group for records of no listed group, and of none.",
)


@dataclass(frozen=True)
class Grouping:
    """What was stated.

    Parameters
    ----------
    by : tuple of str
        The columns, in the order of the axes of the table.
    groups, files, others : tuple of str
        Texts of ``--groups``, ``--groups-file`` and ``--other-group``, each with or without ``COLUMN=`` before it.
    """

    by: tuple[str, ...]
    groups: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    def check(self, column: str) -> None:
        """Refuse what does not go together."""
        if not self.by:
            for option, texts in (("--groups", self.groups), ("--groups-file", self.files)):
                if texts:
                    raise click.UsageError(f"{option} needs --by COLUMN")
            if self.others:
                raise click.UsageError("--other-group needs --by COLUMN")
        if column in self.by:
            raise click.UsageError("--by must be another column than --column")
        if len(set(self.by)) < len(self.by):
            raise click.UsageError("--by must name a column once")

    def stated(self, elsewhere: Sequence[str] = ()) -> dict[str, tuple[str | None, str | None]]:
        """Return, for each column, the text of its groups and the file of its groups, of which one is there.

        Parameters
        ----------
        elsewhere : sequence of str
            Columns whose groups another option states.
        """
        found: dict[str, tuple[str | None, str | None]] = {}
        unnamed: list[tuple[str | None, str | None]] = []
        for option, texts in (("--groups", self.groups), ("--groups-file", self.files)):
            for text in texts:
                name, rest = self._split(text)
                pair = (rest, None) if option == "--groups" else (None, _existing(rest))
                if name is None:
                    unnamed.append(pair)
                elif name in found:
                    raise click.UsageError(f"the groups of {name!r} must be stated once")
                else:
                    found[name] = pair
        if len({pair[0] is None for pair in unnamed}) > 1:
            raise click.UsageError("with --groups and --groups-file together name the column of each: COLUMN=...")
        for name in elsewhere:
            if name in found:
                raise click.UsageError(f"--bins, --quantiles, --dates and --groups exclude each other for {name!r}")
        left = [name for name in self.by if name not in found and name not in elsewhere]
        if len(unnamed) > len(left):
            raise click.UsageError(
                "--groups must be stated once for each --by; --bins, --quantiles and --dates exclude it"
            )
        found.update(zip(left, unnamed, strict=False))
        for name in left[len(unnamed) :]:
            hint = "" if len(self.by) == 1 else f" of {name!r}"
            raise click.UsageError(
                f"give --groups or --groups-file{hint}: the values are public and not read off the data"
            )
        return found

    def levels(
        self, scaled: Mapping[str, Levels], clean: Callable[[str], Cleaning | None] = lambda column: None
    ) -> dict[str, Levels]:
        """Return the levels of each column by the rules for its spellings; those of some are bins or periods."""
        from simplexdp.cli.counting import Levels, stated_domain

        stated = self.stated([name for name in self.by if name in scaled])
        return {
            name: scaled.get(name)
            or Levels(
                stated_domain(*stated[name], "--groups"), self.other(name), self.other(name), "--groups", clean(name)
            )
            for name in self.by
        }

    def other(self, column: str) -> str | None:
        """Return the name of the group of records that have none of the listed ones in a column."""
        named = dict(pair for pair in map(self._split, self.others) if pair[0] is not None)
        unnamed = [rest for name, rest in map(self._split, self.others) if name is None]
        if len(unnamed) > 1 or len(named) + len(unnamed) < len(self.others):
            raise click.UsageError("--other-group must be stated once, or once for each column as COLUMN=NAME")
        return named.get(column, unnamed[0] if unnamed else None)

    def _split(self, text: str) -> tuple[str | None, str]:
        """Return the column that a text begins with, if it does, and the rest."""
        for name in sorted(self.by, key=len, reverse=True):
            if text.startswith(f"{name}="):
                return name, text[len(name) + 1 :]
        return None, text


def _existing(path: str) -> str:
    if not os.path.isfile(path):
        raise click.UsageError(f"--groups-file: there is no file {path!r}")
    return path


def repeated(columns: Mapping[str, Levels]) -> dict[str, list[Any]]:
    """Return the columns of a result with one row for each cell of a table, the last axis fastest."""
    cells = list(product(*(levels.all for levels in columns.values())))
    return {name: [cell[axis] for cell in cells] for axis, name in enumerate(columns)}


def name_of(by: Sequence[str]) -> str | list[str] | None:
    """Return how JSON names the columns: none, one by its name, several as a list."""
    return None if not by else by[0] if len(by) == 1 else list(by)


def names_of(levels: Sequence[Sequence[Any]]) -> list[str]:
    """Return a name for each combination of groups."""
    return [", ".join(map(str, each)) for each in product(*levels)]
