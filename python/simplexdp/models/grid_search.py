"""A search over the parameters of a private classifier that is one release with one price."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted

from simplexdp import _arguments
from simplexdp.accounting import PrivacyCurve, compose, compose_parts
from simplexdp.accounting.search import largest_within
from simplexdp.exceptions import InvalidDataError, InvalidParameterError
from simplexdp.frames.source import as_frame, column_of, is_lazy
from simplexdp.mechanisms import DiscreteGaussianMechanism, DiscreteLaplaceMechanism
from simplexdp.models.classifying import is_mapping
from simplexdp.models.debit import debit
from simplexdp.models.released import Law
from simplexdp.models.turns import taken_over
from simplexdp.models.validation import labels_of
from simplexdp.sensitivity import of_counts

if TYPE_CHECKING:
    from simplexdp.testing import SeededRng

__all__ = ["PrivateGridSearch"]

MOST_CANDIDATES = 1000
ENOUGH = 0.99
"""Of the budget: every attempt to use more of it plans all candidates again."""
PLACES_SEED = 20240229
"""Which places are held out is public and has nothing to do with the records."""


class _PricedError(Exception):
    """What a fit would cost: raised where a model asks its accountant, before anything is drawn."""

    def __init__(self, curve: PrivacyCurve) -> None:
        super().__init__("a fit was priced")
        self.curve = curve


class _Pricing:
    """Stands for an accountant of a fit that is only asked for its price."""

    def spend(self, curve: PrivacyCurve, *, label: str = "", on: str = "") -> Any:
        raise _PricedError(curve)

    def __deepcopy__(self, memo: dict[int, Any]) -> _Pricing:
        return self


class PrivateGridSearch(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The best of some settings of a private classifier, found and paid for as one release.

    scikit-learn's searches fit a model dozens of times, and every fit is a release. Here all of it is planned from
    public numbers, debited once, and costs (`epsilon`, `delta`):

    - a quarter of the places (`holdout`), drawn without looking at the records, are held out;
    - every candidate is fitted once to the other records, each on the same share of the budget, so that all fits
      together spend it;
    - how many held-out records each candidate gets right is released with noise, all numbers in one draw, and the best
      one wins. A record is in one part only, so that the two parts of the search do not add up
      (`simplexdp.accounting.compose_parts`).

    The winner is a model that was released already; nothing is fitted again.

    Parameters
    ----------
    estimator : PrivateCategoricalNB, PrivateGaussianNB, or a Pipeline that ends in one
        Its `epsilon`, `delta` and `accountant` are set by the search. Other steps of a pipeline must look at nothing
        but public parameters: what they learn from the records is not covered.
    param_grid : mapping or sequence of mappings
        As in `GridSearchCV`, with names such as ``binner__n_bins``. The order of the grid breaks ties.
    epsilon, delta : float
        The budget of the whole search.
    holdout : float, default 0.25
        Which share of the records candidates are compared on.
    accountant : Accountant, optional
        Is asked once, before anything is drawn.
    random_state : SeededRng, optional
        For tests only.

    Attributes
    ----------
    best_estimator_, best_params_, best_index_
        The winner.
    candidates_ : list of dict
        The parameters of every candidate.
    scores_ : ndarray, shape (n_candidates,)
        Released accuracies on the records that were held out: noisy numbers of right answers over the public number of
        records, so one may lie outside [0, 1].
    score_intervals_ : ndarray, shape (n_candidates, 2)
        Each holds the accuracy on these records with a probability of 0.95.
    fit_epsilon_ : float
        What one fit got of the budget.
    privacy_ : PrivacyCurve
        What the search cost.
    seeded_ : bool
        Whether it was drawn with a seed; it protects nobody then.

    Examples
    --------
    >>> import numpy as np
    >>> from simplexdp.models import PrivateBinner, PrivateCategoricalNB, PrivateGridSearch
    >>> rng = np.random.default_rng(1)
    >>> y = rng.integers(0, 2, 4000)
    >>> X = rng.normal(50 + 10 * y, 10)[:, None]
    >>> model = PrivateCategoricalNB(classes=[0, 1], binner=PrivateBinner(bounds=(0, 100)))
    >>> search = PrivateGridSearch(model, {"binner__n_bins": [2, 5, 20]}, epsilon=1.0).fit(X, y)
    >>> search.scores_.shape, bool(search.privacy_.epsilon(1e-6) <= 1.0)
    ((3,), True)
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        *,
        holdout: float = 0.25,
        accountant: Any = None,
        random_state: SeededRng | None = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.epsilon = epsilon
        self.delta = delta
        self.holdout = holdout
        self.accountant = accountant
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> PrivateGridSearch:
        """Search, release and keep the winner.

        Parameters
        ----------
        X : array_like, mapping or data frame, shape (n_records, n_features)
        y : array_like, shape (n_records,), or str
            Classes, or the name of the column of the frame `X` that holds them.

        Returns
        -------
        self
        """
        with taken_over(self) as work:
            work._fit(X, y)
        return self

    def _fit(self, X: Any, y: Any) -> None:
        epsilon = _arguments.positive("epsilon", self.epsilon)
        delta = _arguments.open_unit("delta", self.delta)
        held = _arguments.open_unit("holdout", self.holdout)
        candidates = self._candidates()
        X, y = _eager(X, y)
        n_records = len(y) if not isinstance(y, str) else _n_rows(X)
        order = np.random.default_rng(PLACES_SEED).permutation(n_records)
        n_held = round(held * n_records)
        if not 0 < n_held < n_records:
            raise InvalidDataError("X must have enough records for both parts of the search")
        kept, out = np.sort(order[n_held:]), np.sort(order[:n_held])
        training, testing = _rows(X, y, kept), _rows(X, y, out)
        models = [clone(self.estimator).set_params(**parameters) for parameters in candidates]
        comparing = _comparison(len(candidates), epsilon, delta)

        def priced(log_epsilon: float) -> tuple[tuple[float, PrivacyCurve], float]:
            each = math.exp(log_epsilon)
            curves = [_price(self._with_budget(model, each, delta, _Pricing()), *training) for model in models]
            fits = compose(curves)
            return (each, fits), float(fits.epsilon(delta)) / epsilon

        fit_epsilon, fits = largest_within(priced, math.log(epsilon / math.sqrt(len(models))), enough=ENOUGH)
        privacy = compose_parts([fits, comparing.privacy])
        _arguments.generator("random_state", self.random_state)
        n_draws = len(models) + 1
        seeds: list[Any] = [None] * n_draws if self.random_state is None else self.random_state.spawn(n_draws)
        with debit(self.accountant, privacy, f"grid search of {len(models)} candidates", self.random_state):
            fitted = [
                self._with_budget(model, fit_epsilon, delta, None, seed).fit(*training)
                for model, seed in zip(models, seeds[1:], strict=True)
            ]
            right = np.array([round(model.score(*testing) * n_held) for model in fitted], dtype=np.int64)
            noisy = np.asarray(comparing.release(right, rng=seeds[0]))
        self.candidates_, self.fit_epsilon_, self.privacy_ = candidates, fit_epsilon, privacy
        self.scores_ = noisy / n_held
        self.score_intervals_ = np.clip(comparing.interval(noisy, 0.95) / n_held, 0.0, 1.0)
        self.best_index_ = int(np.argmax(noisy))
        self.best_params_, self.best_estimator_ = candidates[self.best_index_], fitted[self.best_index_]
        self.seeded_ = self.random_state is not None
        self.classes_ = self.best_estimator_.classes_
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.best_estimator_, name):
                setattr(self, name, getattr(self.best_estimator_, name))

    def _candidates(self) -> list[dict[str, Any]]:
        if not isinstance(self.param_grid, (Mapping, Sequence)) or isinstance(self.param_grid, str):
            raise InvalidParameterError("param_grid must map names of parameters to lists of values, or list such maps")
        found = [dict(parameters) for parameters in ParameterGrid(self.param_grid)]
        if not 2 <= len(found) <= MOST_CANDIDATES:
            raise InvalidParameterError(
                f"param_grid must have 2 to {MOST_CANDIDATES} candidates, got {len(found)}: one is fitted as it is"
            )
        prefix = self._prefix()
        known = self.estimator.get_params()
        for name in ("epsilon", "delta", "accountant", "random_state"):
            if f"{prefix}{name}" not in known:
                raise InvalidParameterError(
                    f"estimator must be a private classifier, or a Pipeline that ends in one, got "
                    f"{type(self.estimator).__name__}"
                )
            if any(f"{prefix}{name}" in parameters for parameters in found):
                raise InvalidParameterError(f"param_grid must not have {name!r}, which the search sets")
        for name in ("unit", "max_rows"):
            stated = f"{prefix}{name}"
            if any(parameters.get(stated, known.get(stated)) is not None for parameters in found):
                raise InvalidParameterError(
                    f"estimator must have no {name} for a search: rows of one person would lie in training and holdout"
                )
        adjacencies = {parameters.get(f"{prefix}adjacency", known[f"{prefix}adjacency"]) for parameters in found}
        if adjacencies != {"replace"}:
            raise InvalidParameterError(
                "estimator must have the adjacency 'replace' for a search: records that come or go would move the "
                "places of others between training and holdout"
            )
        return found

    def _prefix(self) -> str:
        """Return what names of parameters of the classifier begin with."""
        steps = getattr(self.estimator, "steps", None)
        return f"{steps[-1][0]}__" if steps else ""

    def _with_budget(self, model: Any, epsilon: float, delta: float, accountant: Any, rng: Any = None) -> Any:
        values = {"epsilon": epsilon, "delta": delta, "accountant": accountant, "random_state": rng}
        return clone(model).set_params(**{f"{self._prefix()}{name}": value for name, value in values.items()})

    def _winner(self) -> Any:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the winner's classes of the records."""
        return cast(NDArray[Any], self._winner().predict(X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the winner's P(y | x) for every class."""
        return cast(NDArray[np.float64], self._winner().predict_proba(X))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the winner's log P(y | x) for every class."""
        return cast(NDArray[np.float64], self._winner().predict_log_proba(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the winner's accuracy on other records."""
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(self._winner().score(X, y, **weights))

    def __sklearn_tags__(self) -> Tags:
        """Say what scikit-learn may expect: what the estimator takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        tags.non_deterministic = True
        return tags


def _price(model: Any, X: Any, y: Any) -> PrivacyCurve:
    """Return what a fit would cost, without drawing anything."""
    try:
        model.fit(X, y)
    except _PricedError as priced:
        return priced.curve
    raise InvalidParameterError("estimator must ask its accountant before it draws")


def _comparison(
    n_candidates: int, epsilon: float, delta: float
) -> DiscreteGaussianMechanism | DiscreteLaplaceMechanism:
    """Return the noise on the numbers of right answers: a record changes each by one at most."""
    change = of_counts(adjacency="replace", cells=1, tables=n_candidates)
    kinds: list[DiscreteGaussianMechanism | DiscreteLaplaceMechanism] = [
        DiscreteGaussianMechanism.calibrated(epsilon=epsilon, delta=delta, sensitivity=change.l2),
        DiscreteLaplaceMechanism.calibrated(epsilon=epsilon, sensitivity=change.l1),
    ]
    return min(kinds, key=lambda kind: Law.of_noise(kind).variance)


def _eager(X: Any, y: Any) -> tuple[Any, Any]:
    """Return records that have rows to choose from."""
    if is_mapping(X):
        return {name: column_of(X, name) for name in X}, y if isinstance(y, str) else labels_of(y)
    if isinstance(X, (list, tuple)):
        X = np.asarray(X, dtype=object)
    frame = as_frame(X)
    frame = frame.collect() if is_lazy(frame) else frame
    return frame, y if isinstance(y, str) else labels_of(y)


def _n_rows(X: Any) -> int:
    if not is_mapping(X):
        return len(X)
    return len(next(iter(X.values()))) if X else 0


def _rows(X: Any, y: Any, rows: NDArray[np.intp]) -> tuple[Any, Any]:
    """Return some rows of the records and their classes."""
    if not isinstance(y, str) and len(y) != _n_rows(X):
        raise InvalidDataError("X and y must have the same number of records")
    if is_mapping(X):
        columns = {name: column if isinstance(column, np.ndarray) else column.to_numpy() for name, column in X.items()}
        if len({len(column) for column in columns.values()}) > 1:
            raise InvalidDataError("columns of frame must have the same length")
        chosen: Any = {name: column[rows] for name, column in columns.items()}
    elif isinstance(X, np.ndarray):
        chosen = X[rows]
    else:
        chosen = X[rows.tolist()].to_native()
    return chosen, y if isinstance(y, str) else y[rows]
