"""``simplexdp posterior --by``: posteriors of many histograms, one for each group."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from simplexdp.cli.grouping import Grouping, name_of, repeated
from simplexdp.cli.guarantee import debited, guarantee_of, parameters_of, public_total, sentence, warnings_of
from simplexdp.cli.inferred import APART, COLUMNS, Inferred
from simplexdp.cli.progress import Progress
from simplexdp.cli.writing import SEEDED, Output, Result, check_printable, emit

if TYPE_CHECKING:
    from simplexdp.accounting import Accountant
    from simplexdp.cli.selection import Selection

__all__ = ["Groups", "check_groups", "release_groups"]

ANY, PERSON = "when one record is replaced", "when one person is replaced with all records"
WITHIN = "when one record is replaced by another of its group"


@dataclass(frozen=True)
class Groups:
    """What was asked of the groups."""

    column: str
    by: tuple[str, ...]
    prior: str | None
    public_sizes: bool
    epsilon: float
    delta: float | None
    total: int | None
    level: float
    show_truth: bool
    seed: int | None
    selection: Selection

    @property
    def unit(self) -> str | None:
        """The column of persons."""
        return None if self.selection.bound is None else self.selection.bound.unit

    @property
    def own_columns(self) -> list[str]:
        """The columns of the result beside those of the file."""
        found = [*COLUMNS, "noisy_count"]
        found += ["group_size"] if self.public_sizes else []
        found += [] if self.seed is None else [SEEDED]
        return [*found, "true_count"] if self.show_truth else found

    def build(self, dimension: int) -> tuple[str, Any]:
        """Return the mechanism with the least noise, from public numbers."""
        import simplexdp as sdp
        from simplexdp._automatic import automatic
        from simplexdp._catalogue import CATALOGUE

        if self.public_sizes:
            # A record stays in its group: it touches one row, whose sum is public.
            mechanism = sdp.SumPreservingLaplaceMechanism.for_counts(
                self.epsilon, dimension=dimension, rows="independent"
            )
            return "sum_preserving_laplace", mechanism
        name = automatic(self.epsilon, self.delta, rows=True)
        entry = CATALOGUE[name]
        arguments, keywords = entry.construction(self.epsilon, self.delta, "replace", dimension)
        return name, entry.mechanism.for_counts(*arguments, **keywords, max_rows=self.selection.max_rows)


def release_groups(
    asked: Groups, source: Any, columns: Any, accountant: Accountant | None, name: str, output: Output, target: str,
    rng: Any, *, quiet: bool,
) -> None:  # fmt: skip
    """Count, release noisy counts of all groups in one go, and write what they say of each group."""
    import numpy as np

    from simplexdp import _arguments as check
    from simplexdp.cli.counting import check_column, count
    from simplexdp.inference import Total

    check.positive("epsilon", asked.epsilon)
    if asked.delta is not None:
        check.open_unit("delta", asked.delta)
    for each in (asked.column, *asked.by):
        check_column(each, asked.own_columns)
    counts = count(source, columns, asked.selection)
    dimension = counts.shape[-1]
    prior: Any = "empirical"
    if asked.prior is not None:
        from simplexdp.cli.posterior import stated_prior

        prior = np.array(stated_prior(asked.prior, dimension))
    total = public_total(counts, asked.total) if asked.selection.keeps_total else None
    kind, built = asked.build(dimension)
    curve = built.privacy.for_unit(asked.unit)
    check_printable([*columns, *(level for levels in columns.values() for level in levels.all)], output)

    def described(released: Any) -> Result:
        apart = columns[asked.column].apart if asked.prior is None else ()
        with Progress("inferring"):
            sizes: Any = None if asked.public_sizes else Total.flat()
            said = "" if asked.public_sizes else ", and any number of records in a group"
            found = Inferred.of(built.infer(released, prior=prior, total=sizes, apart=apart), asked.level, said)
        rows: dict[str, list[Any]] = {
            **repeated(columns),
            **found.columns(),
            "noisy_count": released.ravel().tolist(),
        }
        if asked.public_sizes:
            rows["group_size"] = np.repeat(released.sum(axis=-1), dimension).tolist()
        if asked.show_truth:
            rows["true_count"] = counts.ravel().tolist()
        allowed = asked.delta if kind == "discrete_gaussian" else None
        bound = asked.selection.max_rows
        guarantee = guarantee_of(curve, asked.epsilon, allowed, unit=asked.unit, max_rows=bound)
        told = sentence(guarantee)
        public = "the domain, the groups and the parameters"
        if asked.public_sizes:
            told = told.replace(ANY, WITHIN)
            public = (
                "the domain, the groups, the parameters and the size of each group, in which nothing hides a record "
                f"that moves to another group; {total} records in all"
            )
        elif total is not None:
            public = f"the domain, the groups, the parameters and the number of records, {total}"
        shared = (
            "a Dirichlet prior that the groups share and whose strength is integrated over" + (APART if apart else "")
            if asked.prior is None
            else f"the Dirichlet prior {asked.prior}"
        )
        notes = [
            told,
            f"Public: {public}. Nothing else.",
            f"Mechanism: {kind}, the least noise at this budget.",
            replace(found, prior=shared).note,
        ]
        if asked.public_sizes and accountant is not None:
            notes.append(f"With this release in it, the ledger protects a record {WITHIN}, and no further.")
        notes += warnings_of(guarantee, show_truth=asked.show_truth, seed=asked.seed)
        details = {
            "private": asked.seed is None and not asked.show_truth,
            "seeded": asked.seed is not None,
            "column": asked.column,
            "by": name_of(asked.by),
            "mechanism": kind,
            "parameters": {"prior": "empirical" if asked.prior is None else prior, **parameters_of(built)},
            "guarantee": guarantee,
            "neighbours": WITHIN if asked.public_sizes else ANY if asked.unit is None else PERSON,
            "total": total,
            "kind": "posterior",
            "level": asked.level,
        }
        return Result(rows, details, notes, "share")

    # The release is noted as made when it was delivered.
    with debited(accountant, curve, name, target):
        with Progress("drawing"):
            released = built.release(counts, rng=rng)
        emit(described(released), output, quiet=quiet)


def check_groups(grouping: Grouping, sizes: str | None, mechanism: str | None, column: str) -> None:
    """Refuse what does not go together."""
    grouping.check(column)
    if not grouping.by and sizes is not None:
        raise click.UsageError("--sizes needs --by COLUMN")
    if grouping.by and mechanism is not None:
        raise click.UsageError("--by excludes --mechanism: noisy counts are released, and told, for every group")
