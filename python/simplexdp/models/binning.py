"""Numeric columns as categories: by public edges, by public bounds, or by private quantiles."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from simplexdp.accounting import PrivacyCurve
from simplexdp.accounting.curve import Adjacency
from simplexdp.models.bins import BinPlan
from simplexdp.models.cuts import Cut
from simplexdp.models.debit import debit
from simplexdp.models.number_columns import check_missing, sample_of
from simplexdp.models.validation import checked

if TYPE_CHECKING:
    from simplexdp.testing import SeededRng

__all__ = ["PrivateBinner"]


class PrivateBinner(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
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
    edges : sequence of array_like or mapping, optional
        The inner edges of each column, increasing; a mapping goes by column.
    bounds : sequence of pairs or mapping, optional
        A public lower and upper bound for each column, or one pair for all; a mapping goes by column. Values beyond
        are clipped.
    epsilon : float, optional
        Budget of ``"private_quantile"``, split evenly over all quantiles of all columns.
    n_candidates : int, default 1000
        Size of the public grid on which private quantiles lie.
    null : bool or list of columns, default False
        Which columns have one more bin, the last, for missing values (None, NaN, NaT, NA); True for all of them. It is
        public: state it where values may be missing, whether or not one is. Quantiles are those of the values that
        there are. In other columns a missing value is an error.
    accountant : Accountant, optional
        Is asked for the budget before anything is drawn.
    random_state : SeededRng, optional
        For tests only.

    Attributes
    ----------
    edges_ : list of ndarray
        The inner edges of each column.
    n_bins_ : list of int
        The number of bins of each column, that for missing values included: the cardinalities that models ask for.
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
        edges: Sequence[ArrayLike] | Mapping[Any, ArrayLike] | None = None,
        bounds: Sequence[Any] | Mapping[Any, Any] | None = None,
        epsilon: float | None = None,
        n_candidates: int = 1000,
        null: bool | Collection[Any] = False,
        accountant: Any = None,
        random_state: SeededRng | None = None,
    ) -> None:
        self.strategy = strategy
        self.n_bins = n_bins
        self.edges = edges
        self.bounds = bounds
        self.epsilon = epsilon
        self.n_candidates = n_candidates
        self.null = null
        self.accountant = accountant
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: Any = None) -> PrivateBinner:
        """Find the edges."""
        values = checked(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
        positions = range(values.shape[1])
        plan = BinPlan.of(self, [*getattr(self, "feature_names_in_", positions)])
        spend: AbstractContextManager[Any] = nullcontext()
        if plan.n_quantiles:
            # The mechanism keeps its epsilon for neighbours of either kind.
            adjacency: Adjacency = getattr(self.accountant, "adjacency", "replace")
            curve = PrivacyCurve.pure(plan.epsilon, adjacency=adjacency)
            spend = debit(self.accountant, curve, "private quantiles", self.random_state)
        # Before anything is paid for.
        for column, numbers in zip(plan.columns, values.T, strict=True):
            check_missing(numbers, column, null=column in plan.null)
        position = dict(zip(plan.columns, positions, strict=True))
        with spend:
            cuts = plan.cuts(lambda column: sample_of(values, position[column], null=True), self.random_state)
        self._cuts = list(cuts.values())
        self.edges_ = [cut.edges for cut in self._cuts]
        self.n_bins_ = [len(cut.domain) for cut in self._cuts]
        self.epsilon_ = plan.epsilon
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return the code of the bin of each value, shape (n_rows, n_columns)."""
        check_is_fitted(self)
        values = checked(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        names = getattr(self, "feature_names_in_", range(values.shape[1]))
        columns = [cut.codes(column, name) for cut, column, name in zip(self._cuts, values.T, names, strict=True)]
        return np.stack(columns, axis=1)

    @classmethod
    def of_cuts(cls, cuts: Mapping[Any, Cut]) -> PrivateBinner | None:
        """Return the binner that states where columns were cut, by name; None where none were."""
        if not cuts:
            return None
        edges = {column: cut.edges for column, cut in cuts.items()}
        return cls("edges", edges=edges, null=[column for column, cut in cuts.items() if cut.null])

    def __sklearn_tags__(self) -> Tags:
        """Say what scikit-learn may expect: codes, not doubles."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        tags.input_tags.allow_nan = self.null is True
        tags.non_deterministic = self.strategy == "private_quantile"
        return tags
