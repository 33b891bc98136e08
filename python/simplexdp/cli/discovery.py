"""``simplexdp release --discover``: the values of a column that nobody listed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from simplexdp.cli.counting import check_column
from simplexdp.cli.guarantee import Named, guarantee_of, sentence, warnings_of
from simplexdp.cli.mechanism import AUTOMATIC, Request
from simplexdp.cli.progress import Progress
from simplexdp.cli.selection import Selection
from simplexdp.cli.writing import Output, Result, emit

if TYPE_CHECKING:
    from simplexdp.accounting import Accountant
    from simplexdp.cli.reading import Source
    from simplexdp.frames import Cleaning

__all__ = ["Discovery"]


OWN = ("noisy_count", "count_lower", "count_upper")


@dataclass(frozen=True)
class Discovery:
    """One release of the common values of a column with their noisy counts."""

    column: str
    other: str
    null: str | None
    clean: Cleaning | None
    selection: Selection
    request: Request
    seed: int | None
    level: float

    def run(self, source: Source, output: Output, accountant: Accountant | None, name: str, *, quiet: bool) -> None:
        """Count, pay, draw and write."""
        asked, rng = self.request, _generator(self.seed)
        if asked.epsilon is None or asked.delta is None:
            raise click.UsageError("--discover needs --epsilon and --delta, for example 1 and 1e-6")
        if asked.mechanism not in (AUTOMATIC, "discrete_laplace") or asked.prior is not None or asked.scale is not None:
            raise click.UsageError("--discover has a mechanism of its own: leave --mechanism, --prior and --scale out")
        if self.selection.conditions and asked.adjacency == "replace":
            raise click.UsageError(
                "--discover with --where needs --adjacency add_remove: not every person has a record that meets a rule"
            )
        check_column(self.column, OWN)
        from simplexdp.frames import Domain

        values, persons = self._read(source)
        bound = self.selection.bound
        unit = None if bound is None else bound.unit
        with Progress("discovering"):
            found = Domain.discover(
                {"value": values, **({} if bound is None else {"person": persons[0], "first": persons[-1]})},
                "value",
                epsilon=asked.epsilon,
                delta=asked.delta,
                adjacency=asked.adjacency,
                unit=None if bound is None else "person",
                max_rows=None if bound is None else bound.max_rows,
                first_by=None if bound is None or bound.first_by is None else "first",
                seed=self.seed if bound is not None else None,
                null=self.null is not None,
                clean=self.clean,
                accountant=None
                if accountant is None
                else Named(accountant, name, f"{source.path}:{self.column}", unit),
                rng=rng,
            )
        self._tell(found, output, quiet=quiet)

    def _read(self, source: Source) -> tuple[Any, list[Any]]:
        """Return the values, the persons and what comes first, as objects."""
        import numpy as np

        from simplexdp.cli.conditions import number_in

        bound = self.selection.bound
        names = (
            [self.column] if bound is None else [self.column, bound.unit, *([bound.first_by] if bound.first_by else [])]
        )
        parts: list[list[Any]] = [[] for _ in names]
        for batch in self.selection.batches(source, [self.column]):
            for part, name in zip(parts, names, strict=True):
                part += self.selection.as_person(name, batch[name]).to_pylist()
        if bound is not None and bound.first_by is not None:
            # Numbers before texts, each by itself.
            order = [None if text is None else number_in(str(text)) for text in parts[-1]]
            parts[-1] = [
                None if text is None else (number is None, number or 0.0, "" if number is not None else str(text))
                for text, number in zip(parts[-1], order, strict=True)
            ]
        arrays = [np.empty(len(part), dtype=object) for part in parts]
        for array, part in zip(arrays, parts, strict=True):
            array[:] = part
        return arrays[0], arrays[1:]

    def _tell(self, found: Any, output: Output, *, quiet: bool) -> None:
        from simplexdp.cli.reading import text_of

        asked = self.request
        texts = [self.null if value is None else text_of(value) for value in found.values]
        rest = self.other
        while rest in texts:
            rest = f"({rest})"
        bound = self.selection.bound
        guarantee = guarantee_of(
            found.privacy,
            asked.epsilon,
            asked.delta,
            unit=None if bound is None else bound.unit,
            max_rows=self.selection.max_rows,
        )
        notes = [
            sentence(guarantee),
            f"Listed are values with a noisy count of at least {found.threshold}; {rest} is that of the rest.",
            f"count_lower to count_upper hold the count with a probability of at least {self.level:g} each, given that "
            "the value is listed: confidence intervals, by the law of the noise alone.",
            *warnings_of(guarantee, show_truth=False, seed=self.seed),
        ]
        details = {
            "private": self.seed is None,
            "seeded": self.seed is not None,
            "column": self.column,
            "mechanism": "discovery",
            "parameters": {"scale": float(found.scale), "threshold": found.threshold, "least": found.least},
            "guarantee": guarantee,
            "kind": "categories",
            "level": self.level,
        }
        lower, upper = found.interval(self.level).T.tolist()
        rows = {self.column: [*texts, rest], **dict(zip(OWN, (found.noisy_counts.tolist(), lower, upper), strict=True))}
        emit(Result(rows, details, notes), output, quiet=quiet)


def _generator(seed: int | None) -> Any:
    from simplexdp.cli.options import seeded

    return seeded(seed)
