"""Naive Bayes over categorical features, its tables released privately."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from simplexdp import _core
from simplexdp.exceptions import InvalidDataError, InvalidParameterError
from simplexdp.frames import Domain, encode
from simplexdp.frames.domain import DomainLike, as_domain
from simplexdp.frames.source import as_frame
from simplexdp.models.domains import resolve_domains
from simplexdp.models.tables import TableRelease

if TYPE_CHECKING:
    from simplexdp.accounting import PrivacyCurve
    from simplexdp.testing import SeededRng

__all__ = ["PrivateCategoricalNB"]

CLASS_COLUMN = "y"


class PrivateCategoricalNB(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Naive Bayes classifier for categorical features with differentially private tables.

    It follows scikit-learn's `CategoricalNB`. One table of classes and one table of each feature given the class are
    released, K + 1 in all, and together they are (`epsilon`, `delta`)-differentially private. A record is one row of X
    with its class.

    Parameters
    ----------
    epsilon, delta : float
        The budget of the whole model; with `order`, `epsilon` is Renyi and `delta` only says at which delta
        `privacy_` is usually read.
    order : float, optional
        Splits a Renyi budget evenly over the tables, as in [DM 5.1]; see `from_rdp`.
    mechanism : str, default "dirichlet"
        ``"dirichlet"``, ``"gaussian"``, ``"laplace"``, ``"discrete_laplace"``, ``"discrete_gaussian"`` or ``"none"``.
    categories : sequence or mapping, optional
        The public domain of each feature: a list of values, a cardinality or a `simplexdp.frames.Domain`; a mapping
        goes by column name. Without it the domains are read off the data, which leaks and warns.
    classes : sequence, optional
        The public classes, in the order of `classes_`; without it they are read off the data, which leaks and warns.
    min_categories : int or array_like of int, optional
        As in `CategoricalNB`: with integer codes, the public cardinality of each feature.
    adjacency : {"replace", "add_remove"}
        Which data sets are neighbours. Under ``"replace"`` the number of records is public.
    count_floor : float, default 1.0
        Additive noise only: noisy counts below it are raised to it before rows are normalised.
    fit_prior : bool, default True
        Whether to release the table of classes; otherwise all are taken as equally likely and the budget serves the
        features.
    accountant : Accountant, optional
        Is asked for the budget before anything is drawn.
    random_state : SeededRng, optional
        For tests only.

    Attributes
    ----------
    classes_ : ndarray
    class_log_prior_ : ndarray, shape (n_classes,)
    feature_log_prob_ : list of ndarray, each of shape (n_classes, n_categories)
    n_categories_ : ndarray of int
    domains_ : list of Domain
    privacy_ : PrivacyCurve or None
        What all releases so far cost; None for mechanism ``"none"``.

    Notes
    -----
    `CategoricalNB` also has `category_count_` and `class_count_`. Exact counts are not kept here: whoever gets the
    fitted model gets what was released and nothing else.

    Examples
    --------
    >>> import numpy as np
    >>> from simplexdp.models import PrivateCategoricalNB
    >>> X, y = np.array([[0, 1], [1, 1], [1, 0], [0, 0]] * 50), np.array(["a", "b", "b", "a"] * 50)
    >>> model = PrivateCategoricalNB(epsilon=2.0, categories=[2, 2], classes=["a", "b"]).fit(X, y)
    >>> model.predict_proba([[1, 0]]).shape
    (1, 2)
    >>> bool(model.privacy_.epsilon(1e-6) <= 2.0)
    True
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        *,
        order: float | None = None,
        mechanism: str = "dirichlet",
        categories: Any = None,
        classes: Sequence[Any] | None = None,
        min_categories: ArrayLike | None = None,
        adjacency: str = "replace",
        count_floor: float = 1.0,
        fit_prior: bool = True,
        accountant: Any = None,
        random_state: SeededRng | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.order = order
        self.mechanism = mechanism
        self.categories = categories
        self.classes = classes
        self.min_categories = min_categories
        self.adjacency = adjacency
        self.count_floor = count_floor
        self.fit_prior = fit_prior
        self.accountant = accountant
        self.random_state = random_state

    @classmethod
    def from_rdp(cls, *, order: float, epsilon: float, **parameters: Any) -> PrivateCategoricalNB:
        """Make a model whose K + 1 tables get (order, epsilon / (K + 1))-Renyi privacy each, as in [DM 5.1]."""
        return cls(epsilon, order=order, **parameters)

    def fit(self, X: Any, y: Any) -> PrivateCategoricalNB:
        """Count, release and keep the released tables.

        Parameters
        ----------
        X : array_like or data frame, shape (n_records, n_features)
            Categories: integers, text or any other scalars of the domains.
        y : array_like, shape (n_records,)
            Classes.

        Returns
        -------
        self
        """
        self._forget()
        self._count(X, y)
        return self.release()

    def partial_fit(self, X: Any, y: Any, classes: Sequence[Any] | None = None) -> PrivateCategoricalNB:
        """Add records to the exact counts; nothing is released before `release` is called.

        Parameters
        ----------
        X : array_like or data frame, shape (n_records, n_features)
        y : array_like, shape (n_records,)
        classes : sequence, optional
            Public classes, when the constructor was not told; needed in the first call then, as in scikit-learn.

        Returns
        -------
        self
        """
        if classes is not None and self.classes is None and not hasattr(self, "_class_domain"):
            self._class_domain = Domain(list(classes))
        self._count(X, y)
        return self

    def release(self) -> PrivateCategoricalNB:
        """Release the tables of everything that was counted since the last release, and drop the counts.

        Every release costs the budget anew; `privacy_` composes them.

        Returns
        -------
        self
        """
        counts = getattr(self, "_counts", None)
        if counts is None:
            raise InvalidDataError("partial_fit must have counted records since the last release")
        # Tables that are not released do not enter the plan, so the budget serves the others.
        tables = counts if self.fit_prior else counts[1:]
        plan = TableRelease.plan(
            [table.shape for table in tables],
            mechanism=self.mechanism,
            epsilon=self.epsilon,
            delta=self.delta,
            order=self.order,
            adjacency=self.adjacency,
            count_floor=self.count_floor,
            total=int(counts[0].sum()) if self.adjacency == "replace" else None,
        )
        if self.accountant is not None:
            plan.charge(self.accountant, "naive Bayes")
        released = plan.release(tables, self.random_state)
        n_classes = len(self._class_domain)
        prior = released[0][0] if self.fit_prior else np.full(n_classes, 1 / n_classes)
        with np.errstate(divide="ignore"):
            self.class_log_prior_ = np.log(prior)
            self.feature_log_prob_ = [np.log(table) for table in released[1 if self.fit_prior else 0 :]]
        self.classes_ = np.array(self._class_domain.levels)
        self.domains_ = list(self._domains)
        self.n_categories_ = np.array([len(domain) for domain in self.domains_])
        self._add_cost(plan.privacy)
        del self._counts
        return self

    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return log P(x, y) for every class, shape (n_records, n_classes)."""
        check_is_fitted(self, "feature_log_prob_")
        features = self._encode(X, reset=False)
        joint = np.tile(self.class_log_prior_, (len(features[0]), 1))
        for codes, table in zip(features, self.feature_log_prob_, strict=True):
            joint += table.T[codes]
        return joint

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return log P(y | x) for every class, shape (n_records, n_classes)."""
        joint = self.predict_joint_log_proba(X)
        largest = joint.max(axis=1, keepdims=True)
        # A record that every class holds for impossible says nothing about its class.
        impossible = ~np.isfinite(largest)
        joint = np.where(impossible, 0.0, joint)
        largest = np.where(impossible, 0.0, largest)
        log_probabilities: NDArray[np.float64] = joint - (
            largest + np.log(np.exp(joint - largest).sum(axis=1, keepdims=True))
        )
        return log_probabilities

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return P(y | x) for every class, shape (n_records, n_classes)."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most likely class of each record."""
        best = np.argmax(self.predict_joint_log_proba(X), axis=1)
        labels: NDArray[Any] = self.classes_[best]
        return labels

    def __sklearn_tags__(self) -> Tags:
        """Say what scikit-learn may expect: categories, and another answer every time."""
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.non_deterministic = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        """Refuse to write exact counts to a file or another process."""
        if hasattr(self, "_counts"):
            raise InvalidDataError("release must be called before pickling: exact counts are not written")
        state: dict[str, Any] = super().__getstate__()
        return state

    def _forget(self) -> None:
        for name in ("_counts", "_domains", "_class_domain", "privacy_"):
            if hasattr(self, name):
                delattr(self, name)

    def _add_cost(self, cost: PrivacyCurve | None) -> None:
        before = getattr(self, "privacy_", None)
        self.privacy_: PrivacyCurve | None = cost if before is None or cost is None else before + cost

    def _count(self, X: Any, y: Any) -> None:
        first = not hasattr(self, "_domains")
        if _is_frame(X):
            validate_data(self, X, y, skip_check_array=True, reset=first)
            y = column_or_1d(y, warn=True)
        else:
            X, y = validate_data(self, X, y, dtype=None, ensure_all_finite="allow-nan", reset=first)
        check_classification_targets(y)
        if not hasattr(self, "_class_domain"):
            stated = None if self.classes is None else {CLASS_COLUMN: list(self.classes)}
            self._class_domain = resolve_domains({CLASS_COLUMN: y}, [CLASS_COLUMN], stated, "classes")[CLASS_COLUMN]
        features = self._encode(X, reset=first)
        (classes,) = encode({CLASS_COLUMN: y}, [CLASS_COLUMN], {CLASS_COLUMN: self._class_domain})
        if any(len(codes) != len(classes) for codes in features):
            raise InvalidDataError("X and y must have the same number of records")
        n_classes = len(self._class_domain)
        tables: list[NDArray[np.int64]] = [_core.count_table([classes], [n_classes]).reshape(1, n_classes)]
        for codes, domain in zip(features, self._domains, strict=True):
            shape = [n_classes, len(domain)]
            tables.append(_core.count_table([classes, np.ascontiguousarray(codes)], shape).reshape(shape))
        before = getattr(self, "_counts", None)
        self._counts = tables if before is None else [a + b for a, b in zip(before, tables, strict=True)]

    def _encode(self, X: Any, *, reset: bool) -> list[NDArray[np.integer[Any]]]:
        """Return the features as codes; the domains are settled in the first call."""
        if _is_frame(X):
            validate_data(self, X, skip_check_array=True, reset=reset)
            frame = as_frame(X)
            columns: list[Any] = list(frame.columns)
        else:
            frame = validate_data(self, X, dtype=None, ensure_all_finite="allow-nan", reset=reset)
            columns = list(range(frame.shape[1]))
        if reset:
            domains = resolve_domains(frame, columns, self._stated_domains(frame, columns), "categories")
            self._domains = [domains[column] for column in columns]
        return encode(frame, columns, dict(zip(columns, self._domains, strict=True)))

    def _stated_domains(self, frame: Any, columns: list[Any]) -> dict[Any, DomainLike] | None:
        if self.categories is not None:
            if isinstance(self.categories, Mapping):
                return {column: self.categories[column] for column in columns if column in self.categories}
            if isinstance(self.categories, (str, bytes)) or not isinstance(self.categories, Sequence | np.ndarray):
                raise InvalidParameterError(
                    f"categories must list one domain for each feature, got {self.categories!r}"
                )
            if len(self.categories) != len(columns):
                raise InvalidParameterError(
                    f"categories must list one domain for each of {len(columns)} features, got {len(self.categories)}"
                )
            return {column: as_domain(domain) for column, domain in zip(columns, self.categories, strict=True)}
        if self.min_categories is None:
            return None
        sizes = np.asarray(self.min_categories)
        if sizes.dtype.kind not in "iu" or sizes.ndim > 1 or (sizes.ndim == 1 and len(sizes) != len(columns)):
            raise InvalidParameterError(f"min_categories must be one integer or one for each feature, got {sizes!r}")
        return dict(zip(columns, np.broadcast_to(sizes, len(columns)).tolist(), strict=True))


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and not isinstance(X, np.ndarray)
