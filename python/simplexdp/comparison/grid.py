"""Maps of winners over the number of records and of categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp import _arguments as check
from simplexdp.comparison.table import Comparison, Progress, check_progress, compare
from simplexdp.exceptions import InvalidParameterError

__all__ = ["RELEASED_COUNTS", "WinnerMap", "winners"]

RELEASED_COUNTS = ("dirichlet", "discrete_gaussian", "discrete_laplace", "sum_preserving_laplace", "hellinger")
"""What a map compares by default: one mechanism of each kind, all of which the library releases."""


@dataclass(frozen=True, eq=False)
class WinnerMap:
    """Which mechanism wins where.

    Attributes
    ----------
    ns, dimensions : tuple of int
        The rows and columns of the arrays below.
    winner : ndarray of str, shape (len(ns), len(dimensions))
        The mechanism with the least error.
    margin : ndarray of float, same shape
        The error of the second over that of the first; infinite where the first has none.
    tied : ndarray of bool, same shape
        Whether another mechanism is within noise of the winner, which is then not to be called one.
    epsilon, delta, metric, adjacency, tables, population
        What was asked.
    comparisons : tuple of tuple of Comparison
        The tables behind it.
    """

    ns: tuple[int, ...]
    dimensions: tuple[int, ...]
    winner: NDArray[np.str_]
    margin: NDArray[np.float64]
    tied: NDArray[np.bool_]
    epsilon: float
    delta: float
    metric: str
    adjacency: str
    tables: int
    population: str
    comparisons: tuple[tuple[Comparison, ...], ...] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, texts, lists and dictionaries."""
        names = ("epsilon", "delta", "metric", "adjacency", "tables", "population")
        margins = [[float(m) if np.isfinite(m) else None for m in row] for row in self.margin]
        return {
            **{name: getattr(self, name) for name in names},
            "ns": list(self.ns),
            "dimensions": list(self.dimensions),
            "winner": self.winner.tolist(),
            "margin": margins,
            "tied": self.tied.tolist(),
        }

    def __str__(self) -> str:
        width = max(14, max(len(str(name)) for name in self.winner.ravel()) + 8)
        lines = [
            f"{self.metric} error, ({self.epsilon:g}, {self.delta:g})-DP, {self.adjacency}, {self.population} data",
            f"{'n':>12} |" + "".join(f"{f'd = {d}':>{width}}" for d in self.dimensions),
        ]
        for row, n in enumerate(self.ns):
            cells = (
                f"{name}{'=' if tied else ' '}{margin:6.2f}"
                for name, tied, margin in zip(self.winner[row], self.tied[row], self.margin[row], strict=True)
            )
            lines.append(f"{n:>12} |" + "".join(f"{cell:>{width}}" for cell in cells))
        return "\n".join([*lines, "the number is the error of the second over the first; = marks a tie"])


def winners(
    ns: Sequence[int],
    dimensions: Sequence[int],
    epsilon: float = 1.0,
    delta: float = 1e-6,
    metric: str = "kl",
    mechanisms: Sequence[str] | None = None,
    *,
    adjacency: str = "replace",
    tables: int = 1,
    postprocessing: Sequence[str] | None = None,
    population: str | ArrayLike = "mixed",
    samples: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> WinnerMap:
    """Compare mechanisms on a grid; see `compare`.

    Parameters
    ----------
    ns, dimensions : sequence of int
        Numbers of records and of categories.
    epsilon, delta, metric, adjacency, tables, postprocessing, population, samples, seed
        As for `compare`. Shares that are given fix the dimension.
    mechanisms : sequence of str, optional
        By default one of each kind that the library releases.
    progress : callable, optional
        Called as ``progress(done, of)`` after each cell.

    Returns
    -------
    WinnerMap

    Examples
    --------
    >>> from simplexdp.comparison import winners
    >>> winners([100, 1000], [3, 10], mechanisms=["dirichlet", "discrete_laplace"], samples=100).winner.shape
    (2, 2)
    """
    check_progress(progress)
    rows, columns = _integers("ns", ns, 1), _integers("dimensions", dimensions, 2)
    grid: list[tuple[Comparison, ...]] = []
    for n in rows:
        line = []
        for dimension in columns:
            line.append(
                compare(
                    n,
                    dimension,
                    epsilon,
                    delta,
                    metric,
                    RELEASED_COUNTS if mechanisms is None else mechanisms,
                    adjacency=adjacency,
                    tables=tables,
                    postprocessing=postprocessing,
                    population=population,
                    samples=samples,
                    seed=seed,
                )
            )
            if progress is not None:
                progress(len(grid) * len(columns) + len(line), len(rows) * len(columns))
        grid.append(tuple(line))
    first = grid[0][0]
    return WinnerMap(
        ns=rows,
        dimensions=columns,
        winner=np.array([[table.winner for table in line] for line in grid]),
        margin=np.array([[_margin(table) for table in line] for line in grid]),
        tied=np.array([[bool(table.ties) for table in line] for line in grid]),
        epsilon=first.epsilon,
        delta=first.delta,
        metric=first.metric,
        adjacency=first.adjacency,
        tables=first.tables,
        population=first.population,
        comparisons=tuple(grid),
    )


def _margin(table: Comparison) -> float:
    return table.rows[1].ratio if len(table.rows) > 1 else 1.0


def _integers(name: str, values: Any, least: int) -> tuple[int, ...]:
    try:
        entries = tuple(values)
    except TypeError:
        raise InvalidParameterError(f"{name} must be a list of integers, got {values!r}") from None
    if not entries:
        raise InvalidParameterError(f"{name} must not be empty")
    return tuple(check.integer(name, entry, least) for entry in entries)
