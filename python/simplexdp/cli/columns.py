"""What the options of a release say of its columns and records: levels, rules for spellings, persons."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simplexdp.cli.selection import Selection, condition, of_persons

if TYPE_CHECKING:
    from simplexdp.cli.counting import Levels
    from simplexdp.cli.grouping import Grouping
    from simplexdp.cli.mechanism import Request
    from simplexdp.cli.quantiles import DrawnBins
    from simplexdp.frames import Cleaning

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
    clean: str | None
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
        bound = of_persons(self.unit, self.max_rows, self.first_by, seed, self.weighted)
        return Selection(tuple(map(condition, self.where)), bound, self.weighted)

    def drawn_bins(self, request: Request) -> DrawnBins | None:
        """Return the bins whose edges are drawn, and their part of the budget; None without --quantiles."""
        if not self.quantiles:
            if self.quantile_share is not None:
                raise click.UsageError("--quantile-share needs --quantiles")
            return None
        from simplexdp.cli.quantiles import DrawnBins

        return DrawnBins.stated(self.quantiles, self.quantile_share, request)

    def cleaning(self) -> Cleaning | None:
        """Return the rules for spellings, None without any."""
        if self.clean is None and self.map_file is None:
            return None
        from simplexdp.exceptions import InvalidParameterError
        from simplexdp.frames import Cleaning

        words = [] if self.clean is None else [word.strip() for word in self.clean.split(",")]
        unknown = [word for word in words if word not in ("trim", "fold", "nfc", "nfkc")]
        if unknown:
            raise click.UsageError(f"--clean must list trim, fold, nfc and nfkc, got {', '.join(unknown)}")
        values = {} if self.map_file is None else _map(self.map_file)
        form = "NFKC" if "nfkc" in words else "NFC" if "nfc" in words else None
        try:
            return Cleaning(trim="trim" in words, fold="fold" in words, unicode=form, values=values)
        except InvalidParameterError as error:
            raise click.UsageError(str(error)) from None

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

        clean = self.cleaning()
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
        if self.date_format is not None and not self.dates:
            raise click.UsageError("--date-format needs --dates")
        if column in scaled and domain != (None, None):
            raise click.UsageError("--bins, --quantiles, --dates and --domain exclude each other for one column")
        found = grouping.levels(scaled, clean)
        found[column] = scaled.get(column) or Levels(stated_domain(*domain), other, null, clean=clean)
        return found


def _map(path: str) -> dict[str, str | None]:
    """Read ``{"influenza": "flu", "n/a": null}``."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError):
        raise click.UsageError(f"{path} is not JSON") from None
    valid = isinstance(content, Mapping) and all(value is None or isinstance(value, str) for value in content.values())
    if not valid:
        raise click.UsageError(f'{path} must hold a JSON object such as {{"influenza": "flu", "n/a": null}}')
    return dict(content)
