"""``simplexdp release --hierarchy``: counts on every level of a public hierarchy, which add up."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from simplexdp.cli.conditions import number_in
from simplexdp.cli.guarantee import debited, guarantee_of, sentence, warnings_of
from simplexdp.cli.mechanism import AUTOMATIC, Request
from simplexdp.cli.pages import facts_of, write_pages
from simplexdp.cli.pictures import check_page, check_picture, save_plot
from simplexdp.cli.progress import Progress
from simplexdp.cli.selection import Selection
from simplexdp.cli.writing import SEEDED, Output, Result, check_printable, emit, wrote

if TYPE_CHECKING:
    from simplexdp.accounting import Accountant
    from simplexdp.cli.counting import Levels
    from simplexdp.cli.reading import Source
    from simplexdp.frames import Cleaning
    from simplexdp.hierarchy import HierarchicalCounts, Hierarchy

__all__ = ["Places"]

OWN = ("level", "count", "count_lower", "count_upper", "noisy_count")


@dataclass(frozen=True)
class Places:
    """What was asked of a hierarchy."""

    hierarchy: Hierarchy
    shares: list[float] | None
    other: str | None
    level: float
    seed: int | None
    plot: str | None = None
    report: str | None = None
    clean: Cleaning | None = None
    """The rules for the spellings of the finest groups."""

    @classmethod
    def stated(
        cls,
        path: str,
        by: tuple[str, ...],
        shares: str | None,
        other: tuple[str, ...],
        level: float,
        seed: int | None,
        plot: str | None = None,
        report: str | None = None,
        clean: Cleaning | None = None,
    ) -> Places:
        """Read the public file and the shares."""
        from simplexdp.exceptions import InvalidParameterError

        if not 0 < level < 1:
            raise click.UsageError(f"--interval must lie strictly between 0 and 1, got {level}")
        parts = None if shares is None else [number_in(part) for part in shares.split(",")]
        if parts is not None and (len(parts) != len(by) or any(part is None for part in parts)):
            raise click.UsageError(f"--level-shares must be {len(by)} numbers, such as 1,3, got {shares!r}")
        try:
            found = _read(path, by)
        except InvalidParameterError as error:
            raise click.UsageError(f"{path}: {error}") from None
        stated = None if parts is None else [part for part in parts if part is not None]
        return cls(found, stated, other[0] if other else None, level, seed, plot, report, clean)

    def release(
        self,
        source: Source,
        rest: Mapping[str, Levels],
        selection: Selection,
        request: Request,
        unit: str | None,
        output: Output,
        accountant: Accountant | None,
        name: str,
        *,
        quiet: bool,
        ledger: str | None = None,
    ) -> None:
        """Count the finest groups, release all levels, and write what they say together."""
        from simplexdp import _arguments as check
        from simplexdp.cli.counting import Levels, check_column, count
        from simplexdp.cli.options import seeded
        from simplexdp.hierarchy import HierarchicalCounts, Hierarchy
        from simplexdp.hierarchy.release import drawn_levels, planned_levels

        if request.mechanism != AUTOMATIC or request.prior is not None or request.scale is not None:
            raise click.UsageError("--hierarchy chooses its noise: leave --mechanism, --prior and --scale out")
        if request.epsilon is None:
            raise click.UsageError("give --epsilon")
        epsilon = check.positive("epsilon", request.epsilon)
        delta = None if request.delta is None else check.open_unit("delta", request.delta)
        places, (column,) = self.hierarchy, rest
        finest = places.columns[-1]
        if column in places.columns:
            raise click.UsageError("--by must be another column than --column")
        for each in (column, *places.columns):
            check_column(each, [*OWN, *([] if self.seed is None else [SEEDED])])
        groups = tuple(path[-1] for path in places.paths)
        if self.other is not None:
            if any(self.other in path for path in places.paths):
                raise click.UsageError("--other-group must be no group of the hierarchy")
            places = Hierarchy(places.columns, [*places.paths, (self.other,) * places.depth])
        if self.plot is not None:
            from simplexdp.plots.hierarchies import fits_hierarchy

            check_picture("--plot", self.plot)
            if not fits_hierarchy(places, len(rest[column].all)):
                raise click.UsageError("--plot has room for 200 groups and 60 values: leave it out, or merge some")
        if self.report is not None:
            check_page("--report", self.report)
        columns = {finest: Levels(groups, self.other, self.other, "--hierarchy", self.clean), **rest}
        check_printable([column, *rest[column].all, *(each for path in places.paths for each in path)], output)
        shares, mechanisms, curve = planned_levels(
            places, epsilon, delta, self.shares, request.adjacency, request.max_rows
        )
        curve = curve.for_unit(unit)
        rng = seeded(self.seed)
        counts = count(source, columns, selection)
        if not counts.sum() and request.total_is_public:
            raise click.ClickException("the file has no records")
        with debited(accountant, curve, name, f"{source.path}:{column}"):
            with Progress("drawing"):
                noisy = drawn_levels(places, mechanisms, counts, rng)
            total = int(counts.sum()) if request.total_is_public else None
            found = HierarchicalCounts(places, rest[column].all, shares, mechanisms, noisy, curve, total)
            result = self._described(found, column, request, unit)
            emit(result, output, quiet=quiet)
        if self.plot is not None:
            save_plot(lambda plots: plots.hierarchy(found, level=self.level), self.plot, seeded=self.seed is not None)
            wrote(self.plot)
        if self.report is not None:
            write_pages(
                self.report,
                "hierarchy",
                counts=found,
                level=self.level,
                guarantee=result.details["guarantee"],
                title=f"Private counts of {column} by {' > '.join(places.columns)}",
                notes=result.notes,
                facts=facts_of(source.path, ledger, accountant),
            )

    def _described(self, found: HierarchicalCounts, column: str, request: Request, unit: str | None) -> Result:
        from simplexdp.hierarchy.expected import expected

        places, values = found.hierarchy, found.levels or []
        rows: dict[str, list[Any]] = {name: [] for name in ("level", *places.columns, column, *OWN[1:])}
        notes, said = [], expected(found, self.level)
        for depth, name in enumerate(places.columns):
            means, ends = said[depth]
            noisy = found.noisy[depth]
            for place, path in enumerate(places.groups(name)):
                for value, text in enumerate(values):
                    inner = [None] * (places.depth - depth - 1)
                    low, high = (None, None) if ends is None else ends[place, value].tolist()
                    own = None if noisy is None else int(noisy[place, value])
                    row = (name, *path, *inner, text, float(means[place, value]), low, high, own)
                    for key, each in zip(rows, row, strict=True):
                        rows[key].append(each)
        if not any(value is not None for value in rows["count_lower"]):
            notes.append("No intervals: the noise is too large; counts are estimates by least squares.")
        guarantee = guarantee_of(found.privacy, request.epsilon, request.delta, unit=unit, max_rows=request.max_rows)
        total = f" and the number of records, {found.total}" if found.total is not None else ""
        shares = ", ".join(f"{name} {float(each):.3g}" for name, each in zip(places.columns, found.shares, strict=True))
        notes = [
            sentence(guarantee),
            f"Public: the domain, the hierarchy, the parameters{total}. Nothing else.",
            f"Shares of the budget: {shares}. A level with none follows from the others.",
            "count: in these data; children add up to their parent. count_lower to count_upper hold it with "
            f"probability {self.level:g}, given the release of all levels.",
            *notes,
            *warnings_of(guarantee, show_truth=False, seed=self.seed, total=found.total),
        ]
        details = {
            "private": self.seed is None,
            "seeded": self.seed is not None,
            "column": column,
            "by": list(places.columns),
            "shares": [float(each) for each in found.shares],
            "guarantee": guarantee,
            "total": found.total,
            "kind": "hierarchy",
            "level": self.level,
        }
        return Result(rows, details, notes)


def _read(path: str, by: tuple[str, ...]) -> Hierarchy:
    """Read nested JSON objects with lists innermost, or a CSV file with a column for each level."""
    from simplexdp.cli.counting import text_in
    from simplexdp.hierarchy import Hierarchy

    text = text_in(path)
    if path.endswith(".json"):
        try:
            content = json.loads(text)
        except (ValueError, RecursionError):
            raise click.UsageError(f"{path} is not JSON") from None
        return Hierarchy.from_mapping(by, content)
    rows = list(csv.DictReader(text.splitlines()))
    if not rows or any(row.get(name) is None for row in rows for name in by):
        raise click.UsageError(f"{path} must have the columns {', '.join(by)}, with a value in every row")
    return Hierarchy.from_table(by, {name: [row[name] for row in rows] for name in by})
