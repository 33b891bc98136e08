"""How the bins of numeric columns are found: a plan from public parameters, then where columns are cut.

Everything that a plan says, the cost and the number of levels included, is settled before the data are looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from simplexdp import _arguments, _core
from simplexdp._cautions import caution_leak
from simplexdp.accounting import PrivacyCurve, compose
from simplexdp.accounting.curve import Adjacency
from simplexdp.exceptions import InvalidDataError, InvalidParameterError
from simplexdp.frames import Domain
from simplexdp.models.cuts import Cut
from simplexdp.models.number_columns import Floats, Sample, sample_of

__all__ = ["BinPlan", "centres", "check_binner", "columns_to_bin", "public_bounds", "spending_curve"]

STRATEGIES = ("edges", "uniform", "private_quantile", "quantile")
MAX_RECORDS = 1 << 32


@dataclass(frozen=True)
class BinPlan:
    """How the inner edges of each column are found, and what that costs.

    Parameters
    ----------
    strategy : str
    columns : tuple
        The columns to bin.
    n_bins : int
        Of each column, but for public edges; private quantiles may coincide, which leaves fewer.
    public : tuple of ndarray
        The public edges of each column, or the public grid that its private quantiles come from; none for quantiles of
        the data.
    bounds : tuple of pairs or None
        Public bounds of each column, where there are any.
    share, cost : float
        What one private quantile gets of the budget for each record of a person, and what it costs a person with all
        rounding: changing k records is k steps of one, and what the steps cost adds up.
    null : tuple
        The columns with one more level, the last, for missing values. Quantiles are those of the values that there are.
    """

    strategy: str
    columns: tuple[Any, ...]
    n_bins: int
    public: tuple[Floats, ...]
    bounds: tuple[tuple[float, float], ...] | None
    share: float = 0.0
    cost: float = 0.0
    null: tuple[Any, ...] = ()

    @classmethod
    def of(cls, binner: Any, columns: Sequence[Any], max_rows: int = 1) -> BinPlan:
        """Check the parameters of a `PrivateBinner` for these columns, and persons with at most so many records."""
        return replace(cls._of(binner, tuple(columns), max_rows), null=_null_columns(binner.null, columns))

    @classmethod
    def _of(cls, binner: Any, names: tuple[Any, ...], max_rows: int) -> BinPlan:
        strategy = _arguments.choice("strategy", binner.strategy, STRATEGIES)
        if strategy == "edges":
            edges = _public_edges(binner.edges, names)
            bounds = None if binner.bounds is None else _bounds_for(binner.bounds, names, strategy)
            return cls(strategy, names, 0, edges, bounds)
        if binner.edges is not None:
            raise InvalidParameterError(f"strategy must be 'edges' where edges are given, got {strategy!r}")
        n_bins = _arguments.integer("n_bins", binner.n_bins, least=2)
        if strategy == "quantile":
            return cls(strategy, names, n_bins, (), None)
        bounds = _bounds_for(binner.bounds, names, strategy)
        if strategy == "uniform":
            edges = tuple(np.linspace(lower, upper, n_bins + 1)[1:-1] for lower, upper in bounds)
            return cls(strategy, names, n_bins, edges, bounds)
        if binner.epsilon is None:
            raise InvalidParameterError("epsilon must be given for strategy 'private_quantile', got None")
        n_candidates = _arguments.integer("n_candidates", binner.n_candidates, least=n_bins)
        grids = tuple(np.linspace(lower, upper, n_candidates + 2)[1:-1] for lower, upper in bounds)
        return cls.of_quantiles(names, n_bins, grids, bounds, binner.epsilon, max_rows)

    @classmethod
    def of_quantiles(
        cls,
        names: tuple[Any, ...],
        n_bins: int,
        grids: tuple[Floats, ...],
        bounds: tuple[tuple[float, float], ...],
        epsilon: float,
        max_rows: int,
    ) -> BinPlan:
        """Plan private quantiles from public grids, for an epsilon that all of them share."""
        epsilon = _arguments.positive("epsilon", epsilon)
        n_quantiles = len(names) * (n_bins - 1)
        # The rounding of weights has a cost of its own, stated for any number of records up to 2^32 so that it is
        # public; the share leaves room for it.
        share = epsilon / (max(n_quantiles, 1) * max_rows * (1 + 2.0**-16))
        cost = _core.choices_cost(_core.quantile_epsilon(share, MAX_RECORDS), max_rows)[0]
        plan = cls("private_quantile", names, n_bins, grids, bounds, share, cost)
        if plan.epsilon > epsilon:
            raise InvalidParameterError(
                f"epsilon must be at least {plan.epsilon} for {n_quantiles} quantiles, got {epsilon}"
            )
        return plan

    @property
    def looks_at_data(self) -> bool:
        """Whether the edges come from the data."""
        return bool(self.columns) and self.strategy in ("private_quantile", "quantile")

    @property
    def n_quantiles(self) -> int:
        """Number of private quantiles, of all columns together."""
        return len(self.columns) * (self.n_bins - 1) if self.strategy == "private_quantile" else 0

    @property
    def epsilon(self) -> float:
        """What the edges cost, as pure differential privacy."""
        if self.strategy == "quantile":
            return float("inf")
        return _core.choices_cost(self.cost, self.n_quantiles)[0]

    @property
    def spending(self) -> tuple[float, int]:
        """The cost of one private quantile, and how many there are."""
        return (self.cost, self.n_quantiles)

    def domains(self) -> dict[Any, Domain]:
        """Return the codes of each column, of the most bins that there can be: public, whatever edges are drawn."""
        public = self.strategy in ("edges", "uniform")
        bins = [len(inner) + 1 for inner in self.public] if public else [self.n_bins] * len(self.columns)
        return {
            column: Domain(n_bins + (column in self.null)) for column, n_bins in zip(self.columns, bins, strict=True)
        }

    def samples(self, frame: Any) -> dict[Any, Sample]:
        """Return what quantiles look at, of each column; a missing value without a level is refused."""
        return {column: sample_of(frame, column, null=column in self.null) for column in self.columns}

    def cuts(self, sample: Callable[[Any], Sample], rng: Any) -> dict[Any, Cut]:
        """Return where each column is cut; `sample` is asked for the columns whose data matter."""
        edges = self._edges(sample, rng)
        return {column: Cut(inner, column in self.null) for column, inner in zip(self.columns, edges, strict=True)}

    def _edges(self, sample: Callable[[Any], Sample], rng: Any) -> list[Floats]:
        if not self.looks_at_data:
            return list(self.public)
        levels = np.arange(1, self.n_bins) / self.n_bins
        if self.strategy == "quantile":
            caution_leak(
                "strategy='quantile' takes the edges from the data and is not private; state public edges or bounds, "
                "or use strategy='private_quantile'",
            )
            return [_quantiles_of(sample(column), levels) for column in self.columns]
        edges = []
        for column, grid in zip(self.columns, self.public, strict=True):
            found = sample(column)
            if found.n_records > MAX_RECORDS:
                raise InvalidDataError(f"X must have at most {MAX_RECORDS} rows")
            below = np.concatenate([[0], np.cumsum(found.counts)])
            ranks = below[np.searchsorted(found.values, grid, side="left")].astype(np.uint64)
            # Of the values that there are: the core proves that a value that goes missing moves no score by more.
            chosen = _core.private_quantiles(ranks, int(below[-1]), levels, self.share, rng)
            edges.append(np.unique(grid[chosen]))
        return edges


def spending_curve(spending: tuple[float, int], adjacency: Adjacency) -> PrivacyCurve | None:
    """Return the curve of private quantiles, None where there are none."""
    cost, n_quantiles = spending
    return compose([PrivacyCurve.pure(cost, adjacency=adjacency)], [n_quantiles]) if n_quantiles else None


def check_binner(binner: Any) -> None:
    """Refuse what is no binner, and one that would be paid for twice."""
    if not all(hasattr(binner, name) for name in ("strategy", "edges", "bounds", "epsilon", "null")):
        raise InvalidParameterError(f"binner must be a PrivateBinner, got {type(binner).__name__}")
    if binner.accountant is not None:
        raise InvalidParameterError(
            "binner must have no accountant of its own: the model debits bins and tables at once"
        )


def columns_to_bin(binner: Any, columns: Sequence[Any], stated: Sequence[Any]) -> list[Any]:
    """Return the columns that a model bins: those that `edges` or `bounds` name, or else those without a domain."""
    named = binner.edges if binner.strategy == "edges" else binner.bounds
    if not isinstance(named, Mapping):
        return [column for column in columns if column not in stated]
    unknown = [column for column in named if column not in columns]
    if unknown:
        raise InvalidParameterError(f"binner must name columns of the model, got {unknown!r}")
    both = [column for column in named if column in stated]
    if both:
        raise InvalidParameterError(f"binner must name columns without a domain of their own, got {both!r}")
    return [column for column in columns if column in named]


def centres(edges: Floats, bounds: tuple[float, float] | None) -> Floats:
    """Return a number in each bin that stands for it: its middle, or next to the edge where it is unbounded."""
    if not len(edges):
        return np.array([0.0 if bounds is None else (bounds[0] + bounds[1]) / 2])
    width = (edges[-1] - edges[0]) / max(len(edges) - 1, 1) or 1.0
    lower, upper = (edges[0] - width, edges[-1] + width) if bounds is None else bounds
    # Public bounds may lie on the wrong side of a public edge.
    ends = np.concatenate([[min(lower, edges[0] - 2.0**-20 * width)], edges, [max(upper, edges[-1])]])
    middles: Floats = np.clip((ends[:-1] + ends[1:]) / 2, ends[:-1], np.nextafter(ends[1:], -np.inf))
    middles[-1] = (ends[-2] + ends[-1]) / 2
    return middles


def _quantiles_of(sample: Sample, levels: Floats) -> Floats:
    """Return quantiles of the data as they are; none where all values are missing."""
    values = np.repeat(sample.values, sample.counts)
    return np.unique(np.quantile(values, levels)) if len(values) else np.empty(0)


def _null_columns(null: Any, columns: Sequence[Any]) -> tuple[Any, ...]:
    """Return the columns that have a level for missing values."""
    if isinstance(null, (bool, np.bool_)):
        return tuple(columns) if null else ()
    if isinstance(null, (str, bytes, Mapping)) or not isinstance(null, Collection):
        raise InvalidParameterError(f"null must be True, False or a list of columns, got {null!r}")
    unknown = [column for column in null if column not in columns]
    if unknown:
        raise InvalidParameterError(f"null must list columns that are binned, got {unknown!r}")
    return tuple(column for column in columns if column in null)


def _public_edges(edges: Any, columns: Sequence[Any]) -> tuple[Floats, ...]:
    chosen = [edges[column] for column in columns] if _names_all(edges, columns) else edges
    is_list = isinstance(chosen, Sequence) or (isinstance(chosen, np.ndarray) and chosen.ndim > 0)
    if not is_list or len(chosen) != len(columns):
        raise InvalidParameterError(f"edges must be given for each of the {len(columns)} columns, got {edges!r}")
    checked = tuple(_arguments.numbers("edges", column) for column in chosen)
    if any(column.ndim != 1 or np.any(np.diff(column) <= 0) for column in checked):
        raise InvalidParameterError(f"edges must be strictly increasing, got {edges!r}")
    return checked


def _bounds_for(bounds: Any, columns: Sequence[Any], strategy: str) -> tuple[tuple[float, float], ...]:
    if bounds is None:
        raise InvalidParameterError(f"bounds must be public and given for strategy {strategy!r}, got None")
    return public_bounds(bounds, columns)


def public_bounds(bounds: Any, columns: Sequence[Any]) -> tuple[tuple[float, float], ...]:
    """Return a pair of bounds for each column: one pair is for all, a mapping goes by name."""
    chosen = bounds
    if isinstance(bounds, Mapping):
        if not _names_all(bounds, columns):
            raise InvalidParameterError(f"bounds must be given for each of the {len(columns)} columns, got {bounds!r}")
        chosen = [bounds[column] for column in columns]
    pairs = _arguments.numbers("bounds", chosen)
    pairs = pairs.reshape((0, 2)) if not pairs.size else pairs
    if pairs.shape not in ((2,), (len(columns), 2)):
        raise InvalidParameterError(f"bounds must be one pair or {len(columns)} pairs, got shape {pairs.shape}")
    pairs = np.broadcast_to(pairs, (len(columns), 2))
    if not np.all(pairs[:, 0] < pairs[:, 1]):
        raise InvalidParameterError(f"bounds must be pairs (lower, upper) with lower < upper, got {bounds!r}")
    return tuple((float(lower), float(upper)) for lower, upper in pairs)


def _names_all(named: Any, columns: Sequence[Any]) -> bool:
    return isinstance(named, Mapping) and all(column in named for column in columns)
