"""What the options of a release say of its columns and records: levels, rules for spellings, persons."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import click

from simplexdp.cli.conditions import condition
from simplexdp.cli.selection import Selection
from simplexdp.cli.spelling import Spelling

if TYPE_CHECKING:
    from simplexdp.cli.counting import Levels
    from simplexdp.cli.grouping import Grouping
    from simplexdp.cli.mechanism import Request
    from simplexdp.cli.quantiles import DrawnBins

__all__ = ["Stated"]


@dataclass(frozen=True)
class Stated:
    """The options by their names."""

    where: tuple[str, ...]
    unit: str | None
    max_rows: int | None
    first_by: str | None
    bins: tuple[str, ...]
    quantiles: tuple[str, ...]
    quantile_share: float | None
    dates: tuple[str, ...]
    date_format: str | None
    clean: tuple[str, ...]
    map_file: str | None
    discover: bool
    weighted: bool

    @classmethod
    def taken_from(cls, options: dict[str, Any]) -> Stated:
        """Take these options out of all."""
        return cls(**{each.name: options.pop(each.name) for each in fields(cls)})

    @property
    def scaled(self) -> bool:
        """Whether a column is of bins or periods."""
        return bool(self.bins or self.quantiles or self.dates)

    def selection(self, seed: int | None) -> Selection:
        """Return which records count."""
        spelling = self.spelling()
        rules = tuple(condition(text, spelling.of, self._date_form) for text in self.where)
        # Without --dates the format can only be that of the column which orders a person's records.
        dated = self.first_by is not None and (not self.dates or self._date_form(self.first_by) is not None)
        form = self.date_format if dated else None
        return Selection.stated(
            spelling,
            self.unit,
            self.max_rows,
            self.first_by,
            form,
            seed,
            weighted=self.weighted,
            conditions=rules,
        )

    def drawn_bins(self, request: Request) -> DrawnBins | None:
        """Return the bins whose edges are drawn, and their part of the budget; None without --quantiles."""
        if not self.quantiles:
            if self.quantile_share is not None:
                raise click.UsageError("--quantile-share needs --quantiles")
            return None
        from simplexdp.cli.quantiles import DrawnBins

        return DrawnBins.stated(self.quantiles, self.quantile_share, request)

    def spelling(self) -> Spelling:
        """Return the rules for spellings of every column."""
        return Spelling.stated(self.clean, self.map_file)

    def _date_form(self, column: str) -> str | None:
        """Return how the dates of a column are written, where it is known."""
        return self.date_format if column in {text.partition("=")[0] for text in self.dates} else None

    def columns(
        self,
        column: str,
        grouping: Grouping,
        *,
        domain: tuple[str | None, str | None],
        other: str | None,
        null: str | None,
    ) -> dict[str, Levels]:
        """Return the levels of the columns that are counted, the groups first."""
        from simplexdp.cli.counting import Levels, stated_domain
        from simplexdp.cli.quantiles import quantile_levels
        from simplexdp.cli.scales import binned, dated

        spelling = self.spelling()
        scaled: dict[str, Levels] = {}
        for option, texts in (("--bins", self.bins), ("--quantiles", self.quantiles), ("--dates", self.dates)):
            for text in texts:
                name = text.partition("=")[0]
                if name not in (column, *grouping.by):
                    raise click.UsageError(f"{option} is for --column and --by, got {name!r}")
                if name in scaled:
                    raise click.UsageError(
                        f"--bins, --quantiles and --dates must name a column once, got {name!r} again"
                    )
                # A record without a group has its place among those of other groups.
                names = (other, null) if name == column else (grouping.other(name),) * 2
                if option == "--bins":
                    scaled[name] = binned(text, *names)[1]
                elif option == "--quantiles":
                    scaled[name] = quantile_levels(text, *names)[1]
                else:
                    scaled[name] = dated(text, self.date_format, *names)[1]
        if self.date_format is not None and not self.dates and self.first_by is None:
            raise click.UsageError("--date-format needs --dates or --first-by")
        if column in scaled and domain != (None, None):
            raise click.UsageError("--bins, --quantiles, --dates and --domain exclude each other for one column")
        found = grouping.levels(scaled, spelling.of)
        found[column] = scaled.get(column) or Levels(stated_domain(*domain), other, null, clean=spelling.of(column))
        return found
