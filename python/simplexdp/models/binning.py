"""Numeric columns as categories: by public edges, by public bounds, or by private quantiles."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from simplexdp import _arguments, _core
from simplexdp.exceptions import InvalidDataError, InvalidParameterError, PrivacyLeakWarning

if TYPE_CHECKING:
    from simplexdp.testing import SeededRng

__all__ = ["PrivateBinner"]

MAX_RECORDS = 1 << 32
STRATEGIES = ("edges", "uniform", "private_quantile", "quantile")


class PrivateBinner(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Bin numeric columns without letting the data choose the edges for free.

    A value gets the number of inner edges at or below it as its code, so codes run from 0 to the number of edges.

    Parameters
    ----------
    strategy : {"uniform", "edges", "private_quantile", "quantile"}, default "uniform"
        ``"edges"`` takes the inner edges from `edges`, ``"uniform"`` cuts public `bounds` into bins of equal width;
        both cost nothing. ``"private_quantile"`` draws the quantiles by the exponential mechanism over a public grid
        between the `bounds`, for `epsilon` in all. ``"quantile"`` takes the quantiles of the data as they are: it is
        not private, warns, and exists to reproduce published experiments.
    n_bins : int, default 10
        Number of bins of each column, but for ``"edges"``.
    edges : sequence of array_like, optional
        The inner edges of each column, increasing.
    bounds : sequence of pairs, optional
        A public lower and upper bound for each column, or one pair for all. Values beyond are clipped.
    epsilon : float, optional
        Budget of ``"private_quantile"``, split evenly over all quantiles of all columns.
    n_candidates : int, default 1000
        Size of the public grid on which private quantiles lie.
    accountant : Accountant, optional
        Is asked for the budget before anything is drawn.
    random_state : SeededRng, optional
        For tests only.

    Attributes
    ----------
    edges_ : list of ndarray
        The inner edges of each column.
    n_bins_ : list of int
        The number of bins of each column: the cardinalities that models ask for.
    epsilon_ : float
        What the edges cost, as pure differential privacy: 0 for public edges, infinity for ``"quantile"``.

    Examples
    --------
    >>> from simplexdp.models import PrivateBinner
    >>> PrivateBinner("uniform", n_bins=4, bounds=(0, 100)).fit_transform([[3.0], [55.0], [120.0]]).ravel()
    array([0, 2, 3])
    """

    def __init__(
        self,
        strategy: str = "uniform",
        *,
        n_bins: int = 10,
        edges: Sequence[ArrayLike] | None = None,
        bounds: Sequence[Any] | None = None,
        epsilon: float | None = None,
        n_candidates: int = 1000,
        accountant: Any = None,
        random_state: SeededRng | None = None,
    ) -> None:
        self.strategy = strategy
        self.n_bins = n_bins
        self.edges = edges
        self.bounds = bounds
        self.epsilon = epsilon
        self.n_candidates = n_candidates
        self.accountant = accountant
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: Any = None) -> PrivateBinner:
        """Find the edges."""
        strategy = _arguments.choice("strategy", self.strategy, STRATEGIES)
        values = validate_data(self, X, dtype=np.float64)
        n_columns = values.shape[1]
        self.epsilon_ = 0.0
        if strategy == "edges":
            self.edges_ = self._public_edges(n_columns)
        elif strategy == "quantile":
            self.edges_ = self._data_quantiles(values)
        else:
            n_bins = _arguments.integer("n_bins", self.n_bins, least=2)
            bounds = self._checked_bounds(n_columns)
            if strategy == "uniform":
                self.edges_ = [np.linspace(lower, upper, n_bins + 1)[1:-1] for lower, upper in bounds]
            else:
                self.edges_ = self._private_quantiles(values, bounds, n_bins)
        self.n_bins_ = [len(edges) + 1 for edges in self.edges_]
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return the code of the bin of each value, shape (n_rows, n_columns)."""
        check_is_fitted(self)
        values = validate_data(self, X, dtype=np.float64, reset=False)
        columns = [
            np.searchsorted(edges, column, side="right") for edges, column in zip(self.edges_, values.T, strict=True)
        ]
        return np.stack(columns, axis=1)

    def __sklearn_tags__(self) -> Tags:
        """Say what scikit-learn may expect: codes, not doubles."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        tags.non_deterministic = self.strategy == "private_quantile"
        return tags

    def _public_edges(self, n_columns: int) -> list[NDArray[np.float64]]:
        if self.edges is None or len(self.edges) != n_columns:
            raise InvalidParameterError(f"edges must be given for each of the {n_columns} columns, got {self.edges!r}")
        edges = [_arguments.numbers("edges", column) for column in self.edges]
        if any(column.ndim != 1 or np.any(np.diff(column) <= 0) for column in edges):
            raise InvalidParameterError(f"edges must be strictly increasing, got {self.edges!r}")
        return edges

    def _checked_bounds(self, n_columns: int) -> NDArray[np.float64]:
        if self.bounds is None:
            raise InvalidParameterError(f"bounds must be public and given for strategy {self.strategy!r}, got None")
        bounds = _arguments.numbers("bounds", self.bounds)
        if bounds.shape not in ((2,), (n_columns, 2)):
            raise InvalidParameterError(f"bounds must be one pair or {n_columns} pairs, got shape {bounds.shape}")
        bounds = np.broadcast_to(bounds, (n_columns, 2))
        if not np.all(bounds[:, 0] < bounds[:, 1]):
            raise InvalidParameterError(f"bounds must be pairs (lower, upper) with lower < upper, got {self.bounds!r}")
        return bounds

    def _private_quantiles(
        self, values: NDArray[np.float64], bounds: NDArray[np.float64], n_bins: int
    ) -> list[NDArray[np.float64]]:
        if self.epsilon is None:
            raise InvalidParameterError("epsilon must be given for strategy 'private_quantile', got None")
        epsilon = _arguments.positive("epsilon", self.epsilon)
        n_candidates = _arguments.integer("n_candidates", self.n_candidates, least=n_bins)
        n_quantiles = len(bounds) * (n_bins - 1)
        # The rounding of weights has a cost of its own, stated for any number of records up to 2^32 so that it is
        # public; the share leaves room for it.
        share = epsilon / (n_quantiles * (1 + 2.0**-16))
        self.epsilon_ = _core.quantile_epsilon(share, MAX_RECORDS) * n_quantiles * (1 + 2.0**-50)
        if self.epsilon_ > epsilon:
            raise InvalidParameterError(
                f"epsilon must be at least {self.epsilon_} for {n_quantiles} quantiles, got {epsilon}"
            )
        if len(values) > MAX_RECORDS:
            raise InvalidDataError(f"X must have at most {MAX_RECORDS} rows")
        if self.accountant is not None:
            from simplexdp.accounting import PrivacyCurve

            self.accountant.spend(PrivacyCurve.pure(self.epsilon_), label="private quantiles")
        levels = np.arange(1, n_bins) / n_bins
        edges = []
        for column, (lower, upper) in zip(values.T, bounds, strict=True):
            grid = np.linspace(lower, upper, n_candidates + 2)[1:-1]
            ranks = np.searchsorted(np.sort(column), grid, side="left").astype(np.uint64)
            chosen = _core.private_quantiles(ranks, len(column), levels, share, self.random_state)
            edges.append(np.unique(grid[chosen]))
        return edges

    def _data_quantiles(self, values: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        n_bins = _arguments.integer("n_bins", self.n_bins, least=2)
        warnings.warn(
            "strategy='quantile' takes the edges from the data and is not private; state public edges or bounds, "
            "or use strategy='private_quantile'",
            PrivacyLeakWarning,
            stacklevel=3,
        )
        self.epsilon_ = float("inf")
        levels = np.arange(1, n_bins) / n_bins
        return [np.unique(np.quantile(column, levels)) for column in values.T]
