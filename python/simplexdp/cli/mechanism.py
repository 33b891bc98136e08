"""The mechanism that options ask for, from public quantities only."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import click

from simplexdp._catalogue import CATALOGUE, Entry, names
from simplexdp._weights import moves_of, units_of

__all__ = ["AUTOMATIC", "MECHANISMS", "Request"]

AUTOMATIC = "auto"
MECHANISMS = names(lambda entry: entry.releases)


@dataclass(frozen=True)
class Request:
    """What decides on the mechanism.

    Parameters
    ----------
    epsilon, delta, mechanism, adjacency, prior, scale, loss
        As on the command line.
    total : int, optional
        Records in all: public, or a public guess.
    dimension, n_groups : int
        Categories of a histogram, and how many histograms there are.
    counted : bool
        Whether the records were counted, so that the total is the true one.
    why : str
        What the mechanism was chosen for, where it was not asked for by its name.
    max_rows : int
        Records of a person that count, at most.
    weighted : bool
        Whether a person counts as one, whose records share it.
    hiding_total : tuple of str
        Options by which one person in the place of another changes the number of records that count.
    """

    epsilon: float | None
    delta: float | None
    mechanism: str
    adjacency: str
    prior: float | None
    scale: float | None
    loss: str
    total: int | None
    dimension: int = 2
    n_groups: int = 1
    counted: bool = False
    why: str = ""
    max_rows: int = 1
    weighted: bool = False
    hiding_total: tuple[str, ...] = ()

    def decided(self, dirichlet_only: list[str], *, rows: bool) -> Request:
        """Return the request with a mechanism in place of "auto", from public numbers alone.

        Parameters
        ----------
        dirichlet_only : list of str
            Options that were given and that only the Dirichlet mechanism has.
        rows : bool
            Whether there is a histogram for each of several groups.
        """
        if self.mechanism != AUTOMATIC:
            return self
        stated = [name for name, value in (("--prior", self.prior), ("--scale", self.scale)) if value is not None]
        needing = [*stated, *dirichlet_only]
        if needing:
            return replace(self, mechanism="dirichlet", why=f"{' and '.join(needing)} needs it")
        if self.epsilon is None:
            raise click.UsageError("give --epsilon (or both --prior and --scale, to be told what they cost)")
        from simplexdp import _arguments as check
        from simplexdp._automatic import automatic

        epsilon = check.positive("epsilon", self.epsilon)
        delta = None if self.delta is None else check.non_negative("delta", self.delta)
        if delta is not None and not delta < 1:
            raise click.UsageError(f"--delta must be below 1, got {delta}")
        name = automatic(epsilon, delta, adjacency=self.adjacency, rows=rows or bool(self.hiding_total))
        why = "the least noise at this budget, and the posterior knows its law"
        if CATALOGUE[name].pure:
            why += "" if not delta else "; it spends no delta"
            return replace(self, mechanism=name, delta=None, why=why)
        return replace(self, mechanism=name, why=why)

    @property
    def units(self) -> int:
        """In how many units a person is counted: 1 where records are."""
        return units_of(self.max_rows, weighted=self.weighted)

    @property
    def moves(self) -> int:
        """How many counts of a person move at most."""
        return moves_of(self.max_rows, weighted=self.weighted)

    @property
    def private_by(self) -> tuple[str, ...]:
        """The options that make the number of records that count private."""
        return self.hiding_total if self.adjacency == "replace" else ("--adjacency add_remove", *self.hiding_total)

    @property
    def total_is_public(self) -> bool:
        """Whether neighbours have the same number of records that count."""
        return not self.private_by

    def check(self) -> None:
        """Refuse combinations that mean nothing, before a file is read."""
        if self.epsilon is None and (self.mechanism != "dirichlet" or self.prior is None or self.scale is None):
            raise click.UsageError("give --epsilon (or both --prior and --scale, to be told what they cost)")
        if self._entry.pure and self.delta is not None:
            raise click.UsageError(f"--mechanism {self.mechanism} is pure: leave --delta out")
        if not self._entry.pure and self.delta is None:
            raise click.UsageError(f"--mechanism {self.mechanism} needs --delta, for example 1e-6")
        if self.adjacency not in self._entry.adjacencies:
            raise click.UsageError(f"--mechanism {self.mechanism} keeps the total: it needs --adjacency replace")
        if len(self._entry.adjacencies) == 1 and self.hiding_total:
            raise click.UsageError(
                f"--mechanism {self.mechanism} keeps the total: it is private with {' and '.join(self.hiding_total)}"
            )
        if self.mechanism != "dirichlet":
            for option, value in (("--prior", self.prior), ("--scale", self.scale)):
                if value is not None:
                    raise click.UsageError(f"{option} needs --mechanism dirichlet")

    @property
    def needs_total(self) -> bool:
        """Whether a prior must be chosen, which takes the number of records or a guess of it."""
        return self.mechanism == "dirichlet" and self.prior is None and self.scale is None

    def given(self, *, total: int | None, dimension: int, n_groups: int) -> Request:
        """Return the request with what is known once the records were counted."""
        return replace(self, total=total, dimension=dimension, n_groups=n_groups, counted=True)

    @property
    def fixes_both_counts(self) -> bool:
        """Whether the total is public and leaves one of two counts free: that costs less."""
        one_pair = self.dimension == 2 and self.n_groups == 1
        return self.counted and one_pair and self.total_is_public

    def build(self) -> Any:
        """Return the mechanism."""
        import simplexdp as sdp

        if self.mechanism == "dirichlet":
            total = None if self.total is None else self.total * self.units
            average = None if total is None else max(total / self.n_groups, 1.0)
            return sdp.DirichletMechanism.calibrated(
                epsilon=self.epsilon,
                delta=self.delta,
                dimension=self.dimension,
                total=total if self.fixes_both_counts else average,
                loss=self.loss,
                prior=self.prior,
                scale=self.scale,
                adjacency=self.adjacency,
                fixed_total=self.fixes_both_counts,
                max_rows=self.moves,
            )
        # A replaced record may leave one group and enter another: noise that keeps a sum keeps that of all cells.
        cells = self.dimension * self.n_groups
        arguments, keywords = self._entry.construction(self.epsilon, self.delta, self.adjacency, cells)
        if self.moves > 1:
            keywords["max_rows"] = self.moves
        return self._entry.mechanism.for_counts(*arguments, **keywords)

    @property
    def _entry(self) -> Entry:
        return CATALOGUE[self.mechanism]
