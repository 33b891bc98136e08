"""A search over the parameters of a private classifier that is one release with one price."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted

from simplexdp import _arguments
from simplexdp.accounting import PrivacyCurve, compose
from simplexdp.accounting.search import largest_within
from simplexdp.exceptions import InvalidParameterError
from simplexdp.mechanisms import DiscreteGaussianMechanism, DiscreteLaplaceMechanism
from simplexdp.models.debit import debit
from simplexdp.models.moment_intervals import ratio_intervals
from simplexdp.models.persons import Persons
from simplexdp.models.public_steps import check_public_steps
from simplexdp.models.released import Law
from simplexdp.models.search_parts import SearchParts
from simplexdp.models.turns import taken_over
from simplexdp.sensitivity import of_counts

if TYPE_CHECKING:
    from simplexdp.testing import SeededRng

__all__ = ["PrivateGridSearch"]

MOST_CANDIDATES = 1000
ENOUGH = 0.99
"""Of the budget: every attempt to use more of it plans all candidates again."""


Noise: TypeAlias = DiscreteGaussianMechanism | DiscreteLaplaceMechanism
LOG_TWO = math.log(2)


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

    - a quarter of the places (`holdout`), drawn without looking at the records, are held out; under ``"add_remove"``
      and for persons a coin for each record, or person, says who is;
    - every candidate is fitted once to the other records, each on the same share of the budget, so that all fits
      together spend it;
    - how many held-out records each candidate gets right is released with noise, all numbers in one draw, and the best
      one wins. A record is in one part only, so that the two parts of the search do not add up
      (`simplexdp.accounting.compose_parts`), and a person who comes or goes is too; a person who is replaced may leave
      one part and enter the other, and pays for both.

    The winner is a model that was released already; nothing is fitted again.

    Parameters
    ----------
    estimator : PrivateCategoricalNB, PrivateGaussianNB, or a Pipeline that ends in one
        Its `epsilon`, `delta` and `accountant` are set by the search. Other steps of a pipeline must look at nothing
        but public parameters; one that learns from the records, such as a scaler, is refused. Functions of
        FunctionTransformer must look at one row at a time, which nothing can check. Its `adjacency`, `unit`, `max_rows`
        and `first_by` are those of the search; the columns of `unit` and `first_by` are no features.
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
        Released accuracies on the records that were held out: noisy numbers of right answers over the number of
        records, which is public or noisy, so one may lie outside [0, 1].
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

    def fit(self, X: Any, y: Any, persons: Any = None) -> PrivateGridSearch:
        """Search, release and keep the winner.

        Parameters
        ----------
        X : array_like, mapping or data frame, shape (n_records, n_features)
        y : array_like, shape (n_records,), or str
            Classes, or the name of the column of the frame `X` that holds them.
        persons : array_like, shape (n_records,), optional
            The person of each record, where no column of `X` holds them.

        Returns
        -------
        self
        """
        with taken_over(self) as work:
            work._fit(X, y, persons)
        return self

    def _fit(self, X: Any, y: Any, persons: Any) -> None:
        epsilon = _arguments.positive("epsilon", self.epsilon)
        delta = _arguments.open_unit("delta", self.delta)
        held = _arguments.open_unit("holdout", self.holdout)
        candidates = self._candidates()
        _arguments.generator("random_state", self.random_state)
        steps = getattr(self.estimator, "steps", None)
        classifier = clone(steps[-1][1] if steps else self.estimator).set_params(random_state=self.random_state)
        whose = Persons.of(classifier, persons)
        n_draws = len(candidates) + 2
        seeds: list[Any] = [None] * n_draws if self.random_state is None else self.random_state.spawn(n_draws)
        parts = SearchParts.of(X, y, held, classifier.adjacency, whose, seeds[1])
        prefix = self._prefix()
        inside = {"adjacency": parts.within, **({} if whose.bound is None else {"first_by": None})}
        models = [
            clone(self.estimator).set_params(**parameters, **{prefix + name: value for name, value in inside.items()})
            for parameters in candidates
        ]
        for model in models:
            check_public_steps(getattr(model, "steps", [])[:-1])
        beside = {} if parts.persons is None else {f"{prefix}persons": parts.persons}

        def planned(log_epsilon: float, comparing: Noise) -> tuple[_Plan, float]:
            each = math.exp(log_epsilon)
            asked = [self._with_budget(model, each, delta, _Pricing()) for model in models]
            fits = compose([_price(model, *parts.training, beside) for model in asked])
            plan = _Plan(each, comparing, parts.price(fits, comparing.privacy))
            return plan, float(plan.privacy.epsilon(delta)) / epsilon

        def noise(budget: float) -> Noise:
            return _comparison(len(candidates), budget, delta, parts)

        start = math.log(epsilon / math.sqrt(len(models)))
        if parts.within == parts.adjacency:
            # The costlier part counts: each gets all of the budget.
            comparing = noise(epsilon)
            plan = largest_within(lambda at: planned(at, comparing), start, enough=ENOUGH)
        else:
            # Both parts count: what candidates get of a budget, and the noise that compares them, grow together.
            plan = largest_within(
                lambda at: planned(at, noise(math.exp(at) * math.sqrt(len(models)))), start - LOG_TWO, enough=ENOUGH
            )
        name = f"grid search of {len(models)} candidates"
        with debit(self.accountant, plan.privacy, name, self.random_state):
            fitted = [
                self._with_budget(model, plan.fit_epsilon, delta, None, seed).fit(*parts.training, **beside)
                for model, seed in zip(models, seeds[2:], strict=True)
            ]
            n_held = parts.n_held
            right = [round(model.score(*parts.testing) * n_held) if n_held else 0 for model in fitted]
            counted = right if parts.by_place else [*right, n_held]
            noisy = np.asarray(plan.comparing.release(np.array(counted, dtype=np.int64), rng=seeds[0]))
        if parts.by_place:
            self.scores_ = noisy / n_held
            self.score_intervals_ = np.clip(plan.comparing.interval(noisy, 0.95) / n_held, 0.0, 1.0)
        else:
            noisy, total = noisy[:-1], noisy[-1:].astype(np.float64)
            self.scores_ = noisy / np.maximum(total, 1.0)
            law = Law.of_noise(plan.comparing)
            ends = ratio_intervals(noisy.astype(np.float64), total, law, law, 0.95, 0.0)
            self.score_intervals_ = np.clip(ends, 0.0, 1.0)
        self.candidates_, self.fit_epsilon_, self.privacy_ = candidates, plan.fit_epsilon, plan.privacy
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
        for name in ("adjacency", "unit", "max_rows", "first_by"):
            if any(f"{prefix}{name}" in parameters for parameters in found):
                raise InvalidParameterError(
                    f"param_grid must not have {name!r}, which is the same for all candidates: set it in estimator"
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


@dataclass(frozen=True)
class _Plan:
    """What each fit gets, the noise on the numbers of right answers, and the price of all of it."""

    fit_epsilon: float
    comparing: Noise
    privacy: PrivacyCurve


def _price(model: Any, X: Any, y: Any, beside: Mapping[str, Any]) -> PrivacyCurve:
    """Return what a fit would cost, without drawing anything."""
    try:
        model.fit(X, y, **beside)
    except _PricedError as priced:
        return priced.curve
    raise InvalidParameterError("estimator must ask its accountant before it draws")


def _comparison(n_candidates: int, epsilon: float, delta: float, parts: SearchParts) -> Noise:
    """Return the noise on the numbers of right answers: a record changes each by one at most.

    Where the number of records is private it is one more number.
    """
    rows, adjacency = parts.whose.max_rows, parts.within
    tables = n_candidates + (not parts.by_place)
    change = of_counts(adjacency=adjacency, max_rows=rows, cells=1, tables=tables)
    kinds: list[Noise] = [
        DiscreteGaussianMechanism.calibrated(epsilon=epsilon, delta=delta, sensitivity=change.l2, adjacency=adjacency),
        DiscreteLaplaceMechanism.calibrated(epsilon=epsilon, sensitivity=change.l1, adjacency=adjacency),
    ]
    return min(kinds, key=lambda kind: Law.of_noise(kind).variance)
