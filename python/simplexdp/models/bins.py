"""How the bins of numeric columns are found: a plan from public parameters, then edges, then codes.

Everything that a plan says, the cost and the number of levels included, is settled before the data are looked at.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from simplexdp import _arguments, _core
from simplexdp._cautions import caution_leak
from simplexdp.accounting import PrivacyCurve, compose
from simplexdp.accounting.curve import Adjacency
from simplexdp.exceptions import InvalidDataError, InvalidParameterError
from simplexdp.frames.source import as_frame, column_of, is_lazy

__all__ = [
    "BinPlan",
    "Sample",
    "centres",
    "check_binner",
    "columns_to_bin",
    "numbers_of",
    "public_bounds",
    "sample_of",
    "spending_curve",
    "with_codes",
]

STRATEGIES = ("edges", "uniform", "private_quantile", "quantile")
MAX_RECORDS = 1 << 32

Floats: TypeAlias = NDArray[np.float64]
Sample: TypeAlias = tuple[Floats, NDArray[np.int64]]
"""The values that occur in a column, increasing, and how often each of them does."""


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
    """

    strategy: str
    columns: tuple[Any, ...]
    n_bins: int
    public: tuple[Floats, ...]
    bounds: tuple[tuple[float, float], ...] | None
    share: float = 0.0
    cost: float = 0.0

    @classmethod
    def of(cls, binner: Any, columns: Sequence[Any], max_rows: int = 1) -> BinPlan:
        """Check the parameters of a `PrivateBinner` for these columns, and persons with at most so many records."""
        strategy = _arguments.choice("strategy", binner.strategy, STRATEGIES)
        names = tuple(columns)
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

    def levels(self) -> list[int]:
        """Return the largest number of bins that each column can have: public, whatever edges are drawn."""
        if self.strategy in ("edges", "uniform"):
            return [len(edges) + 1 for edges in self.public]
        return [self.n_bins] * len(self.columns)

    def edges(self, sample: Callable[[Any], Sample], rng: Any) -> list[Floats]:
        """Return the inner edges of each column; `sample` is asked for the columns whose data matter."""
        if not self.looks_at_data:
            return list(self.public)
        levels = np.arange(1, self.n_bins) / self.n_bins
        if self.strategy == "quantile":
            caution_leak(
                "strategy='quantile' takes the edges from the data and is not private; state public edges or bounds, "
                "or use strategy='private_quantile'",
            )
            return [np.unique(np.quantile(np.repeat(*sample(column)), levels)) for column in self.columns]
        edges = []
        for column, grid in zip(self.columns, self.public, strict=True):
            values, counts = sample(column)
            below = np.concatenate([[0], np.cumsum(counts)])
            if below[-1] > MAX_RECORDS:
                raise InvalidDataError(f"X must have at most {MAX_RECORDS} rows")
            ranks = below[np.searchsorted(values, grid, side="left")].astype(np.uint64)
            chosen = _core.private_quantiles(ranks, int(below[-1]), levels, self.share, rng)
            edges.append(np.unique(grid[chosen]))
        return edges


def spending_curve(spending: tuple[float, int], adjacency: Adjacency) -> PrivacyCurve | None:
    """Return the curve of private quantiles, None where there are none."""
    cost, n_quantiles = spending
    return compose([PrivacyCurve.pure(cost, adjacency=adjacency)], [n_quantiles]) if n_quantiles else None


def check_binner(binner: Any) -> None:
    """Refuse what is no binner, and one that would be paid for twice."""
    if not all(hasattr(binner, name) for name in ("strategy", "edges", "bounds", "epsilon")):
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


def sample_of(frame: Any, column: Any) -> Sample:
    """Return the values of a numeric column, increasing, and their counts; lazy engines count where the data are."""
    frame = as_frame(frame)
    if not is_lazy(frame):
        values, counts = np.unique(numbers_of(column_of(frame, column), column), return_counts=True)
        return values, counts.astype(np.int64)
    from simplexdp.frames.lazy import grouped_counts

    (groups,) = grouped_counts(frame, [[column]])
    cells = np.array([value for (value,), _ in groups], dtype=object)
    values, position = np.unique(numbers_of(cells, column), return_inverse=True)
    counts = np.zeros(len(values), dtype=np.int64)
    np.add.at(counts, position, [count for _, count in groups])
    return values, counts


def with_codes(frame: Any, edges: Mapping[Any, Floats]) -> Any:
    """Return the frame with numeric columns replaced by the codes of their bins: the edges at or below a value."""
    frame = as_frame(frame)
    if isinstance(frame, np.ndarray):
        frame = {index: frame[:, index] for index in range(frame.shape[1])}
    if is_lazy(frame):
        return _with_code_expressions(frame, edges)
    codes = {
        column: np.searchsorted(inner, numbers_of(column_of(frame, column), column), side="right")
        for column, inner in edges.items()
    }
    if isinstance(frame, Mapping):
        return {**frame, **codes}
    import narwhals as nw

    if frame.implementation.is_pandas_like():
        # Series meet by position, whatever the index of the frame.
        native = nw.to_native(frame).copy(deep=False)
        for name, array in codes.items():
            native[name] = array
        return nw.from_native(native)
    return frame.with_columns(
        *(nw.new_series(name, array, backend=frame.implementation) for name, array in codes.items())
    )


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


def _with_code_expressions(frame: Any, edges: Mapping[Any, Floats]) -> Any:
    """Return a lazy frame with the bins of its numeric columns as expressions of its engine."""
    import narwhals as nw

    schema = frame.collect_schema()
    unknown = [column for column in edges if column not in schema.names()]
    if unknown:
        raise InvalidParameterError(f"columns must exist in the frame, got {unknown[0]!r}")
    names = {name: name for name in schema.names()}
    if frame.implementation.is_polars():
        # It takes some names for patterns, and would read another column: "^b$" is b.
        names = {name: f"c{position}" for position, name in enumerate(schema.names())}
        frame = nw.from_native(frame.to_native().rename(names))
    frame = frame.with_columns(
        *(_code_expression(names[column], schema[column], column, inner) for column, inner in edges.items())
    )
    if frame.implementation.is_polars():
        frame = nw.from_native(frame.to_native().rename({plain: name for name, plain in names.items()}))
    return frame


def _code_expression(name: str, dtype: Any, column: Any, edges: Floats) -> Any:
    import narwhals as nw

    if not dtype.is_numeric():
        raise _not_numeric(column)
    value = nw.col(name).cast(nw.Float64)
    missing = nw.col(name).is_null()
    if dtype.is_float():
        missing = missing | value.is_nan()
    code = reduce(add, ((value >= float(edge)).cast(nw.Int64) for edge in edges), nw.lit(0, dtype=nw.Int64))
    # A missing value stays one, and is refused where the codes are counted.
    return nw.when(~missing).then(code).alias(name)


def numbers_of(values: Any, column: Any) -> Floats:
    """Return a column as doubles, none of them missing."""
    if not isinstance(values, np.ndarray):
        if values.is_null().any():
            raise _missing(column)
        values = values.to_numpy()
    if values.dtype.kind not in "biufO":
        raise _not_numeric(column)
    if values.dtype.kind == "O" and any(isinstance(value, (str, bytes)) for value in values):
        raise _not_numeric(column)
    try:
        # None becomes NaN; pandas' NA is no number.
        numbers: Floats = values.astype(np.float64)
    except OverflowError:
        # Integers beyond all doubles lie beyond all bounds.
        return numbers_of(np.array([_near(value) for value in values], dtype=object), column)
    except (TypeError, ValueError) as error:
        raise _not_numeric(column) from error
    if np.isnan(numbers).any():
        raise _missing(column)
    return numbers


def _near(value: Any) -> Any:
    huge = isinstance(value, int) and value.bit_length() > 1023
    return math.copysign(math.inf, 1 if value > 0 else -1) if huge else value


def _not_numeric(column: Any) -> InvalidDataError:
    return InvalidDataError(f"column {column!r} must hold numbers (the row is not shown)")


def _missing(column: Any) -> InvalidDataError:
    return InvalidDataError(f"column {column!r} must have no missing value (the row is not shown)")


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
