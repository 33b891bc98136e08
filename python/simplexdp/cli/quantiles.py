"""``simplexdp release --quantiles``: bins of a numeric column whose edges are private quantiles.

The column is counted in the thousand cells of a public grid. The edges are drawn from the grid by the exponential
mechanism, so the counts of the bins are sums of those cells: one pass over the records, persons bounded once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from numpy.typing import NDArray

from simplexdp.cli.conditions import number_in
from simplexdp.cli.scales import NumberLevels, interval_labels
from simplexdp.exceptions import NumericalError

if TYPE_CHECKING:
    from simplexdp.accounting import PrivacyCurve
    from simplexdp.cli.counting import Levels
    from simplexdp.cli.mechanism import Request
    from simplexdp.cli.writing import Result
    from simplexdp.models.bins import BinPlan

__all__ = ["DrawnBins", "quantile_levels"]

CELLS = 1000
"""Of the grid: a thousandth of the distance of the bounds is the resolution of the edges."""

MOST_BINS = 100
MOST_COUNTED = 2**24
SHARE = 0.25
RULE = f"--quantiles must be COLUMN=N:LOWER:UPPER, such as age=4:0:100, N from 2 to {MOST_BINS} and LOWER < UPPER"


@dataclass(frozen=True)
class QuantileLevels(NumberLevels):
    """The cells of the grid, which become bins when edges are drawn."""

    n_bins: int = 2
    bounds: tuple[float, float] = (0.0, 1.0)

    def binned(self, edges: NDArray[np.float64]) -> DrawnLevels:
        """Return the bins between edges."""
        inner = tuple(map(float, edges))
        names = interval_labels(inner)
        while not {self.other, self.null}.isdisjoint(names):
            names = tuple(f"({name})" for name in names)
        return DrawnLevels(names, self.other, self.null, "--quantiles", edges=inner)


@dataclass(frozen=True)
class DrawnLevels(NumberLevels):
    """Bins between edges that were drawn."""

    drawn: bool = True


def quantile_levels(text: str, other: str | None, null: str | None) -> tuple[str, QuantileLevels]:
    """Return the column and the cells of ``income=10:0:200000`` (bins, public bounds)."""
    column, sign, rest = text.partition("=")
    parts = [number_in(part) for part in rest.split(":")]
    numbers = [part for part in parts if part is not None and math.isfinite(part)]
    if not sign or not column or len(parts) != 3 or len(numbers) != 3:
        raise click.UsageError(f"{RULE}, got {text!r}")
    wanted, lower, upper = numbers
    if not (wanted.is_integer() and 2 <= wanted <= MOST_BINS and lower < upper):
        raise click.UsageError(f"{RULE}, got {text!r}")
    grid = _grid(lower, upper)
    if grid is None:
        raise click.UsageError(f"--quantiles {text!r}: doubles have no {CELLS} cells between these bounds")
    # No text of a file or an option is one of these names.
    names = tuple(f"\0{cell}" for cell in range(CELLS))
    return column, QuantileLevels(
        names, other, null, "--quantiles", edges=grid, n_bins=int(wanted), bounds=(lower, upper)
    )


def _grid(lower: float, upper: float) -> tuple[float, ...] | None:
    """Return the inner edges of the cells in few digits, None where they do not increase."""
    width = (upper - lower) / CELLS
    if not 0 < width < math.inf:
        return None
    digits = 3 - math.floor(math.log10(width))
    grid = tuple(round(lower + step * width, digits) for step in range(1, CELLS))
    ends = (lower, *grid, upper)
    return grid if all(low < high for low, high in pairwise(ends)) else None


@dataclass(frozen=True)
class DrawnBins:
    """The column, what its edges cost and what is left for the counts.

    Parameters
    ----------
    column : str
    plan : BinPlan
        Of the edges.
    epsilon : float
        Of edges and counts together.
    adjacency : {"replace", "add_remove"}
    """

    column: str
    plan: BinPlan
    epsilon: float
    adjacency: Any

    @classmethod
    def stated(cls, texts: tuple[str, ...], share: float | None, request: Request) -> DrawnBins:
        """Plan the edges: all from public parameters."""
        if len(texts) > 1:
            raise click.UsageError(f"--quantiles is for one column, got {len(texts)}; --bins has any number")
        column, levels = quantile_levels(texts[0], None, None)
        if request.epsilon is None or not 0 < request.epsilon < math.inf:
            raise click.UsageError("--quantiles needs --epsilon, for example 1")
        from simplexdp.models.bins import BinPlan

        grid = np.array(levels.edges)
        part = request.epsilon * (SHARE if share is None else share)
        plan = BinPlan.of_quantiles((column,), levels.n_bins, (grid,), (levels.bounds,), part, request.max_rows)
        return cls(column, plan, request.epsilon, request.adjacency)

    @property
    def rest(self) -> float:
        """What is left of epsilon for the counts; a little less, so that the rounded sum is no more than all."""
        return (self.epsilon - self.plan.epsilon) * (1 - 2.0**-32)

    def check(self, request: Request, column: str, *, pivoted: bool) -> None:
        """Refuse what needs the number of bins or their names before they are drawn."""
        if request.mechanism in ("dirichlet", "sum_preserving_laplace"):
            raise click.UsageError(
                "--quantiles needs independent noise on every count: --mechanism discrete_laplace has it"
            )
        if pivoted and column == self.column:
            raise click.UsageError("--pivot has a column for each value: --quantiles must be of a --by then")

    def check_size(self, columns: Mapping[str, Levels]) -> None:
        """Refuse tables that have no room in cells."""
        if math.prod(len(levels.all) for levels in columns.values()) > MOST_COUNTED:
            raise click.UsageError(
                f"--quantiles counts {CELLS} cells for each combination of the other columns, at most {MOST_COUNTED} "
                "in all: group by fewer"
            )

    def shape(self, columns: Mapping[str, Levels]) -> tuple[int, ...]:
        """Return the shape of the table when no edges coincide."""
        fewer = CELLS - self.plan.n_bins
        return tuple(len(levels.all) - (fewer if name == self.column else 0) for name, levels in columns.items())

    def together(self, counts: PrivacyCurve, delta: float | None) -> PrivacyCurve:
        """Return the price of the edges and of the counts given them."""
        from simplexdp.accounting import compose
        from simplexdp.models.bins import spending_curve

        edges = spending_curve(self.plan.spending, self.adjacency)
        assert edges is not None
        found = compose([edges.for_unit(counts.unit), counts])
        if not found.epsilon(delta or 0.0) <= self.epsilon:
            raise NumericalError("edges and counts cost more than --epsilon: nothing was released")
        return found

    def draw(
        self, columns: Mapping[str, Levels], counts: NDArray[np.int64], rng: Any
    ) -> tuple[dict[str, Levels], NDArray[np.int64]]:
        """Draw the edges, and return the columns and the counts with bins in place of cells."""
        from simplexdp.models.number_columns import Sample

        axis = list(columns).index(self.column)
        levels = columns[self.column]
        assert isinstance(levels, QuantileLevels)
        moved = np.moveaxis(counts, axis, -1)
        cells = moved[..., :CELLS]
        occurring = np.concatenate([[-np.inf], levels.edges])
        # A cell stands for its lower end: as many values are below a candidate as there are in the cells before it.
        # Missing values, and what is no number, are in none of them.
        sample = Sample(occurring, cells.sum(axis=tuple(range(counts.ndim - 1))))
        (cut,) = self.plan.cuts(lambda _: sample, rng).values()
        starts = np.concatenate([[0], np.searchsorted(occurring, cut.edges)])
        table = np.concatenate([np.add.reduceat(cells, starts, axis=-1), moved[..., CELLS:]], axis=-1)
        found = {**columns, self.column: levels.binned(cut.edges)}
        return found, np.ascontiguousarray(np.moveaxis(table, -1, axis))

    def told(self, result: Result, columns: Mapping[str, Levels]) -> Result:
        """Tell the edges, and that they are noisy."""
        levels = columns[self.column]
        assert isinstance(levels, DrawnLevels)
        ((lower, upper),) = self.plan.bounds or ()
        bins, wanted = len(levels.edges) + 1, self.plan.n_bins
        note = (
            f"The edges of {self.column} are noisy: private quantiles between the public bounds {lower:g} and "
            f"{upper:g}, for an epsilon of {self.plan.epsilon:.6g} of the {self.epsilon:g}."
        )
        if bins < wanted:
            note += f" Some coincide: there are {bins} bins where {wanted} were asked for."
        told = {
            "column": self.column,
            "edges": list(levels.edges),
            "noisy": True,
            "bounds": [lower, upper],
            "asked_bins": wanted,
            "epsilon": self.plan.epsilon,
        }
        return replace(result, notes=[*result.notes, note], details={**result.details, "quantiles": told})
