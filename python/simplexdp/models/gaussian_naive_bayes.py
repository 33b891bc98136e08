"""Naive Bayes over numeric features, from private means and variances."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from simplexdp import _arguments, _core
from simplexdp._cautions import OneLeak
from simplexdp.accounting import compose
from simplexdp.exceptions import InvalidDataError, InvalidParameterError, NumericalError
from simplexdp.frames import Domain
from simplexdp.frames.domain import is_null
from simplexdp.frames.encoding import checked_codes, encode_column
from simplexdp.frames.source import as_frame, column_of, columns_alone, is_lazy
from simplexdp.models.bins import public_bounds
from simplexdp.models.classifying import (
    CLASS_COLUMN,
    PrivateClassifier,
    class_domain,
    is_frame,
    is_mapping,
    labels,
)
from simplexdp.models.debit import debit
from simplexdp.models.domains import resolve_domains
from simplexdp.models.few_rows import few_rows
from simplexdp.models.moment_intervals import mean_intervals
from simplexdp.models.moment_posterior import ClassMoments, class_moments
from simplexdp.models.moment_release import (
    HALF,
    MECHANISMS,
    Bounds,
    MomentPlan,
    ReleasedMoments,
    exact_moments,
    raw_moments,
)
from simplexdp.models.number_columns import numbers_of
from simplexdp.models.observed import observed_bounds
from simplexdp.models.persons import SINGLE_RECORDS, Persons
from simplexdp.models.saved import (
    Origin,
    SavedPrivacy,
    member,
    numbers,
    plain_name,
    plain_values,
    privacy_of,
    read,
    values_of,
)
from simplexdp.models.stated_cost import check_moments
from simplexdp.models.turns import taken_over
from simplexdp.models.validation import checked, labels_of

if TYPE_CHECKING:
    from simplexdp.accounting import PrivacyCurve
    from simplexdp.testing import SeededRng

__all__ = ["PrivateGaussianNB"]

FORMAT = "simplexdp.gaussian-naive-bayes/1"
WHAT = "a classifier of numbers"
MOST_RECORDS = 2**30
"""Of several calls: sums of so many are exact as doubles."""
LOG_TWO_PI = float(np.log(2 * np.pi))


@dataclass(frozen=True, eq=False)
class _Counted:
    """Exact sums that are not released yet, of each class how many records first, and what is public of them."""

    columns: list[Any]
    domain: Domain
    bounds: Bounds
    sums: NDArray[np.int64]
    n_records: int

    def with_more(self, other: _Counted) -> _Counted:
        """Return the sums of both."""
        if (self.columns, self.bounds) != (other.columns, other.bounds):
            raise InvalidParameterError("X must have the same features, within the same bounds, in every call")
        if self.n_records + other.n_records > MOST_RECORDS:
            raise InvalidDataError(f"X must have at most {MOST_RECORDS} records in all calls before a release")
        return replace(self, sums=self.sums + other.sums, n_records=self.n_records + other.n_records)


class PrivateGaussianNB(PrivateClassifier):
    """Naive Bayes classifier for numeric features with differentially private means and variances.

    It follows scikit-learn's `GaussianNB`. Values are clamped to public bounds and placed on a grid of 4097 points;
    the number of records of each class, the sums and the sums of squares of each feature in it are integers, and get
    exact noise, all in one draw. Together they are (`epsilon`, `delta`)-differentially private. A record is one row of
    X with its class; with `max_rows` all records of a person change together.

    Parameters
    ----------
    epsilon, delta : float
        The budget of the whole model.
    bounds : pair, sequence of pairs or mapping
        The public bounds (lower, upper) of all features, of each, or by column name. Without them the smallest and
        largest values of the data are taken, which leaks and warns. Bounds that are much wider than the data cost
        accuracy, as noise grows with their width.
    classes : sequence, optional
        The public classes, in the order of `classes_`; without it they are read off the data, which leaks and warns.
    priors : array_like of shape (n_classes,), optional
        Public probabilities of the classes; by default the released shares.
    mechanism : {"auto", "gaussian", "discrete_laplace", "none"}
        The noise; "auto" takes the kind with the smaller variance at the budget. "none" protects nothing.
    adjacency : {"replace", "add_remove"}
        Which data sets are neighbours. Under ``"replace"`` the number of records is public.
    unit, max_rows, first_by : optional
        The column of a frame that names the person of each record, how many records of a person count, drawn at random
        or first by a column: the guarantee is for persons then (`simplexdp.frames.bound_rows`), and speaks of `unit`.
    accountant : Accountant, optional
        Is asked for the budget before anything is drawn.
    random_state : SeededRng, optional
        For tests only.

    Attributes
    ----------
    classes_ : ndarray
    class_prior_ : ndarray, shape (n_classes,)
    class_count_ : ndarray, shape (n_classes,)
        Expected numbers of records, given the release.
    theta_, var_ : ndarray, shape (n_classes, n_features)
        Means and variances of the features in a class: posterior means given all that was released, in which classes
        shrink towards each other as far as the evidence says. What is not known of a mean is part of the variance.
    bounds_ : ndarray, shape (n_features, 2)
    mechanism_ : str
    privacy_ : PrivacyCurve or None
        What the fit cost; None for mechanism ``"none"``. Bounds and classes that were taken from the data, of which a
        `PrivacyLeakWarning` tells, are not covered by it.
    seeded_ : bool
        Whether it was drawn with a seed, also where it comes from a file; it protects nobody then.

    Examples
    --------
    >>> import numpy as np
    >>> from simplexdp.models import PrivateGaussianNB
    >>> rng = np.random.default_rng(1)
    >>> y = rng.integers(0, 2, 2000)
    >>> X = np.stack([rng.normal(40 + 20 * y, 10), rng.normal(0, 1, 2000)], axis=1)
    >>> model = PrivateGaussianNB(epsilon=1.0, bounds=[(0, 100), (-4, 4)], classes=[0, 1]).fit(X, y)
    >>> model.score(X, y) > 0.7, bool(model.privacy_.epsilon(1e-6) <= 1.0)
    (True, True)
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        *,
        bounds: Any = None,
        classes: Sequence[Any] | None = None,
        priors: Any = None,
        mechanism: str = "auto",
        adjacency: str = "replace",
        unit: Any = None,
        max_rows: int | None = None,
        first_by: Any = None,
        accountant: Any = None,
        random_state: SeededRng | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.classes = classes
        self.priors = priors
        self.mechanism = mechanism
        self.adjacency = adjacency
        self.unit = unit
        self.max_rows = max_rows
        self.first_by = first_by
        self.accountant = accountant
        self.random_state = random_state

    def fit(self, X: Any, y: Any, persons: Any = None) -> PrivateGaussianNB:
        """Sum up, release and keep what was released.

        Parameters
        ----------
        X : array_like, mapping or data frame, shape (n_records, n_features)
            Numbers, none of them missing; a lazy frame is collected.
        y : array_like, shape (n_records,), or str
            Classes, or the name of the column of the frame `X` that holds them; all other columns are features then,
            but those that `unit` and `first_by` name.
        persons : array_like, shape (n_records,), optional
            The person of each record, where no column of `X` holds them.

        Returns
        -------
        self
        """
        with taken_over(self) as work:
            work._fit(X, y, Persons.of(self, persons))
        return self

    def _fit(self, X: Any, y: Any, whose: Persons) -> None:
        _arguments.choice("mechanism", self.mechanism, MECHANISMS)
        if isinstance(self.classes, (str, bytes)):
            raise InvalidParameterError(f"classes must be a list, got {self.classes!r}")
        self._class_name = y if isinstance(y, str) else None
        columns, values, classes = self._columns_and_classes(X, y, whose)
        with OneLeak():
            counted = self._summed(columns, values, classes, self._domain_of(classes))
        self._pending: _Counted | None = None
        self._release(counted, whose)

    def partial_fit(self, X: Any, y: Any, classes: Sequence[Any] | None = None) -> PrivateGaussianNB:
        """Add records to the exact sums; nothing is released before `release` is called.

        Parameters
        ----------
        X : array_like, mapping or data frame, shape (n_records, n_features)
        y : array_like, shape (n_records,), or str
        classes : sequence, optional
            Public classes, when the constructor was not told; of the first call, as in scikit-learn. Classes and bounds
            that nobody states are those of the first call's records, which leaks and warns.

        Returns
        -------
        self

        Examples
        --------
        >>> from simplexdp.models import PrivateGaussianNB
        >>> model = PrivateGaussianNB(bounds=(0, 1), classes=["a", "b"])
        >>> for day in ([[0.1], [0.7]], [[0.2], [0.9]]):
        ...     model = model.partial_fit(day, ["a", "b"])
        >>> model.release().predict([[0.5]]).shape
        (1,)
        """
        if self.unit is not None or self.max_rows is not None:
            raise InvalidParameterError(
                "unit and max_rows must be None for partial_fit: who comes in two calls would count twice as much; "
                "bound all records at once, with fit"
            )
        with taken_over(self) as work:
            work._add(X, y, classes)
        return self

    def _add(self, X: Any, y: Any, classes: Sequence[Any] | None) -> None:
        _arguments.choice("mechanism", self.mechanism, MECHANISMS)
        before: _Counted | None = getattr(self, "_pending", None)
        self._class_name = y if isinstance(y, str) else None
        columns, values, found = self._columns_and_classes(X, y, SINGLE_RECORDS, first=before is None)
        stated = self.classes if self.classes is not None else classes
        with OneLeak():
            if before is not None:
                domain = before.domain
            else:
                domain = self._domain_of(found) if stated is None else class_domain(stated)
            counted = self._summed(columns, values, found, domain, None if before is None else before.bounds)
        self._pending = counted if before is None else before.with_more(counted)

    def release(self) -> PrivateGaussianNB:
        """Release the sums of everything that was added since the last release, and drop them.

        Every release costs the budget anew, and `privacy_` composes them: nobody knows here that the records of two
        releases are different persons'.

        Returns
        -------
        self
        """
        with taken_over(self) as work:
            counted = getattr(work, "_pending", None)
            if counted is None:
                raise InvalidDataError("partial_fit must have added records since the last release")
            work._pending = None
            work._release(counted, SINGLE_RECORDS, getattr(work, "privacy_", None))
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Refuse to write exact sums to a file or another process."""
        if getattr(self, "_pending", None) is not None:
            raise InvalidDataError("release must be called before pickling: exact sums are not written")
        state: dict[str, Any] = super().__getstate__()
        return state

    def _summed(
        self,
        columns: list[Any],
        values: list[NDArray[np.float64]],
        classes: NDArray[Any],
        domain: Domain,
        bounds: Bounds | None = None,
    ) -> _Counted:
        """Return the exact sums, within bounds that are stated or were those of earlier records."""
        codes = checked_codes(encode_column({CLASS_COLUMN: classes}, CLASS_COLUMN, domain), domain, CLASS_COLUMN)
        if any(len(column) != len(codes) for column in values):
            raise InvalidDataError("X and y must have the same number of records")
        if self.bounds is not None:
            bounds = public_bounds(self.bounds, columns)
        elif bounds is None:
            bounds = observed_bounds(columns, values)
        elif len(bounds) != len(columns):
            raise InvalidParameterError("X must have the same features in every call")
        moments = _core.Moments(True, HALF, len(columns), len(domain), 1)
        # Data that cannot be summed are refused before anything is paid.
        sums = raw_moments(moments, codes, values, bounds, len(domain))
        return _Counted(columns, domain, bounds, sums, len(codes))

    def _release(self, counted: _Counted, whose: Persons, before: PrivacyCurve | None = None) -> None:
        priors = self._stated_priors(len(counted.domain))
        self._draw(counted, whose, before)
        self._stated, self._whose = priors, whose.saved
        self._publish(counted.domain, counted.columns, counted.bounds)

    def _draw(self, counted: _Counted, whose: Persons, before: PrivacyCurve | None) -> None:
        total = counted.n_records if self.adjacency == "replace" and whose.keeps_total else None
        if self.mechanism == "none":
            if self.accountant is not None:
                raise InvalidParameterError(
                    "accountant must be None for the mechanism 'none', which protects nothing and has no cost to debit"
                )
            self._released = exact_moments(counted.sums, 1, HALF**2, total)
            self.privacy_: PrivacyCurve | None = None
            self._origin = Origin("none")
            return
        plan = MomentPlan.of(
            len(counted.columns),
            len(counted.domain),
            mechanism=self.mechanism,
            epsilon=_arguments.positive("epsilon", self.epsilon),
            delta=_arguments.open_unit("delta", self.delta),
            adjacency=self.adjacency,
            max_rows=whose.max_rows,
        )
        privacy = whose.named(plan.privacy)
        # Costs that cannot be added are refused before anything is paid or drawn.
        together = privacy if before is None else compose([before, privacy])
        sums = plan.weighted(counted.sums)
        with debit(self.accountant, privacy, "Gaussian naive Bayes", self.random_state) or nullcontext():
            self._released = plan.release(sums, total, self.random_state)
        self.privacy_ = together
        self._origin = Origin(plan.name, seeded=self.random_state is not None)

    @property
    def class_name_(self) -> str | None:
        """The name of the column of the classes, if it had one."""
        return self._class_name

    def _domain_of(self, classes: NDArray[Any]) -> Domain:
        stated = None if self.classes is None else {CLASS_COLUMN: class_domain(self.classes)}
        return resolve_domains({CLASS_COLUMN: classes}, [CLASS_COLUMN], stated, "classes")[CLASS_COLUMN]

    def _stated_priors(self, n_classes: int) -> NDArray[np.float64] | None:
        if self.priors is None:
            return None
        priors = _arguments.numbers("priors", self.priors)
        if priors.shape != (n_classes,) or np.any(priors < 0) or abs(priors.sum() - 1) > 1e-8:
            raise InvalidParameterError(f"priors must be {n_classes} probabilities that sum to one, got {priors!r}")
        return np.asarray(priors, dtype=np.float64)

    def _publish(self, domain: Domain, columns: list[Any], bounds: Bounds) -> None:
        """Set the public attributes, from what was released."""
        found: ClassMoments = class_moments(self._released)
        self._class_domain, self._columns = domain, columns
        self.classes_ = labels(domain.levels)
        self.bounds_ = np.array(bounds, dtype=np.float64).reshape(-1, 2)
        half = (self.bounds_[:, 1] - self.bounds_[:, 0]) / 2
        self.class_count_ = found.counts
        self.class_prior_ = found.shares if self._stated is None else self._stated
        self.theta_ = self.bounds_[:, 0] + half * (found.mean + 1)
        self.var_ = half**2 * found.variance
        self.mechanism_, self.seeded_ = self._origin.mechanism, self._origin.seeded
        # What predictions need, made once: a record is answered in microseconds.
        self._scale = 1 / np.sqrt(self.var_)
        with np.errstate(divide="ignore"):
            log_prior = np.log(self.class_prior_)
        self._constant = log_prior - 0.5 * np.sum(np.log(self.var_) + LOG_TWO_PI, axis=1)

    def interval(self, level: float = 0.95) -> NDArray[np.float64]:
        """Return confidence intervals of the means of the records of each class, clamped to the bounds.

        Each holds its mean with a probability of at least `level`, whatever the data: those u for which the noisy sum
        less u times the noisy count is small enough. They use the law of the noise alone, not what classes have in
        common; a class that the noise hides gets its bounds.

        Parameters
        ----------
        level : float, default 0.95
            Strictly between 0 and 1.

        Returns
        -------
        ndarray, shape (n_classes, n_features, 2)

        Examples
        --------
        >>> from simplexdp.models import PrivateGaussianNB
        >>> model = PrivateGaussianNB(bounds=(0, 1), classes=["a", "b"]).fit([[0.2], [0.9]], ["a", "b"])
        >>> model.interval(0.9).shape
        (2, 1, 2)
        """
        check_is_fitted(self, "theta_")
        ends = mean_intervals(self._released, _arguments.open_unit("level", level))
        lower, upper = self.bounds_[None, :, :1], self.bounds_[None, :, 1:]
        found: NDArray[np.float64] = np.clip(lower + (upper - lower) * (ends + 1) / 2, lower, upper)
        return found

    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return log P(x, y) for every class, shape (n_records, n_classes); P(x | y) is a density."""
        check_is_fitted(self, "theta_")
        values = self._numbers(X)
        joint = np.empty((len(values), len(self.classes_)))
        for c, (mean, scale) in enumerate(zip(self.theta_, self._scale, strict=True)):
            deviations = (values - mean) * scale
            joint[:, c] = self._constant[c] - 0.5 * np.einsum("ij,ij->i", deviations, deviations)
        return joint

    def to_json(self) -> str:
        """Return the released classifier as JSON, which `from_json` reads."""
        check_is_fitted(self, "theta_")
        if self.mechanism_ == "none":
            raise InvalidParameterError("mechanism must not be 'none' to be saved: exact sums are not written")
        content = {
            "format": FORMAT,
            "privacy": privacy_of(self),
            "class": {
                "name": self._class_name,
                "values": plain_values("y", self._class_domain),
                "priors": None if self._stated is None else self._stated.tolist(),
            },
            "features": [
                {"name": plain_name(column), "bounds": pair.tolist()}
                for column, pair in zip(self._columns, self.bounds_, strict=True)
            ],
            "released": self._released.to_json(),
        }
        return json.dumps(content, indent=1, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> PrivateGaussianNB:
        """Return the classifier that `to_json` wrote; its `privacy_` is the stated budget, no longer the whole curve.

        Examples
        --------
        >>> from simplexdp.models import PrivateGaussianNB
        >>> model = PrivateGaussianNB(bounds=(0, 1), classes=["a", "b"]).fit([[0.2], [0.9]], ["a", "b"])
        >>> PrivateGaussianNB.from_json(model.to_json()).classes_.tolist()
        ['a', 'b']
        """
        content = read(text, FORMAT, WHAT)
        privacy = SavedPrivacy.of(content, WHAT)
        target = member(content, "class", WHAT, dict)
        features = member(content, "features", WHAT, list)
        columns = [member(feature, "name", WHAT, str, int) for feature in features]
        if not columns or len(set(columns)) < len(columns):
            raise InvalidParameterError(f"text must be {WHAT} written by to_json: it names a feature twice or none")
        pairs = [
            numbers(name, "bounds", member(f, "bounds", WHAT, list)) for name, f in zip(columns, features, strict=True)
        ]
        if any(pair.shape != (2,) for pair in pairs):
            raise InvalidParameterError("bounds must be pairs (lower, upper)")
        bounds = public_bounds([tuple(pair) for pair in pairs], columns)
        values = values_of("class", target, WHAT)
        # Sums first: a cardinality that they do not have would be written out.
        n_classes = values if isinstance(values, int) else len(values)
        released = ReleasedMoments.from_json(member(content, "released", WHAT, dict), n_classes, len(columns))
        check_moments(privacy, released, WHAT)
        domain = class_domain(values)
        priors = member(target, "priors", WHAT, list, type(None))
        model = cls(
            1.0 if privacy.epsilon is None else privacy.epsilon,
            privacy.delta,
            bounds=bounds,
            classes=domain.levels,
            priors=priors,
            mechanism=privacy.mechanism,
            adjacency=privacy.adjacency,
        )
        privacy.tell(model)
        model._class_name = member(target, "name", WHAT, str, type(None))
        model._released, model._stated = released, model._stated_priors(len(domain))
        model.privacy_, model._origin = privacy.curve, privacy.origin
        model._keep_names(columns)
        try:
            model._publish(domain, columns, bounds)
        except NumericalError as error:
            raise InvalidParameterError(
                f"text must be {WHAT} written by to_json: its counts and its total are not of the same records"
            ) from error
        return model

    def __sklearn_tags__(self) -> Tags:
        """Say what scikit-learn may expect: another answer every time."""
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags

    def _keep_names(self, columns: list[Any]) -> None:
        self.n_features_in_ = len(columns)
        if all(isinstance(column, str) for column in columns):
            self.feature_names_in_ = np.array(columns, dtype=object)

    def _columns_and_classes(
        self, X: Any, y: Any, whose: Persons, *, first: bool = True
    ) -> tuple[list[Any], list[NDArray[np.float64]], NDArray[Any]]:
        """Check the records; return the names of the features, their values, and the classes, of those that count."""
        if isinstance(y, str):
            frame = as_frame(X)
            if isinstance(frame, np.ndarray):
                raise InvalidParameterError("y must hold the classes when X is an array, got the name of a column")
            frame = frame.collect() if is_lazy(frame) else frame
            names = list(frame) if is_mapping(frame) else list(frame.columns)
            if y not in names:
                raise InvalidParameterError(f"y must name a column of X, got {y!r}")
            columns = self._features(names, whose, y)
            self._keep_names(columns)
            frame, _ = whose.bounded(frame, [*columns, y])
            classes = _labels_of_column(column_of(frame, y))
        elif is_mapping(X) or is_frame(X):
            frame = as_frame(X)
            if is_lazy(frame):
                raise InvalidParameterError("y must name the column of classes when X is a lazy frame")
            if not is_mapping(X):
                checked(self, X, y, skip_check_array=True, reset=first)
            columns = self._features(list(X) if is_mapping(X) else list(frame.columns), whose)
            if is_mapping(X) or whose.columns:
                self._keep_names(columns)
            frame, classes = _bounded(whose, frame, columns, labels_of(y))
        else:
            if whose.columns:
                raise InvalidParameterError(
                    "unit and first_by must be None for an array X, whose columns are features: give persons to fit"
                )
            # Under "add_remove" nobody may be told that there is no record.
            X, classes = checked(
                self,
                X,
                y,
                dtype=np.float64,
                ensure_all_finite=True,
                ensure_min_samples=int(self.adjacency != "add_remove"),
                reset=first,
            )
            columns = list(range(X.shape[1]))
            frame, classes = _bounded(whose, X, columns, classes)
        if classes.dtype.kind == "O" and any(map(is_null, classes)):
            raise InvalidDataError("y must have no missing value (the row is not shown)")
        if classes.dtype.kind == "f":
            check_classification_targets(classes)
        return columns, [numbers_of(column_of(frame, column), column) for column in columns], classes

    def _features(self, names: list[Any], whose: Persons, target: Any = None) -> list[Any]:
        """Return the columns without that of the classes, and those that say whose record it is, and which is first."""
        whose.check_columns([] if target is None else [target])
        left_out = [*whose.columns, *([] if target is None else [target])]
        features = [name for name in names if name not in left_out]
        if not features:
            raise InvalidDataError("X must have at least one feature beside its classes")
        return features

    def _numbers(self, X: Any) -> NDArray[np.float64]:
        """Return records whose classes are asked for as an array of doubles."""
        rows = few_rows(X, self._columns) if hasattr(self, "feature_names_in_") else None
        if rows is not None and all(type(value) in (int, float) and value == value for row in rows for value in row):
            return np.array(rows, dtype=np.float64)
        if is_mapping(X):
            return np.stack([numbers_of(column_of(X, column), column) for column in self._columns], axis=1)
        if is_frame(X):
            frame = as_frame(X)
            if hasattr(self, "feature_names_in_"):
                # The column of classes, if there is one, is not looked at.
                if set(self._columns) < set(frame.collect_schema().names()):
                    frame = columns_alone(frame, self._columns)
                frame = frame.collect() if is_lazy(frame) else frame
                checked(self, frame.to_native(), skip_check_array=True, reset=False)
                columns = self._columns
            else:
                frame = frame.collect() if is_lazy(frame) else frame
                columns = list(frame.columns)
                checked(self, frame.to_native(), skip_check_array=True, reset=False)
            return np.stack([numbers_of(frame.get_column(column), column) for column in columns], axis=1)
        found: NDArray[np.float64] = checked(self, X, dtype=np.float64, reset=False)
        return found


def _bounded(whose: Persons, frame: Any, columns: list[Any], classes: NDArray[Any]) -> tuple[Any, NDArray[Any]]:
    """Return records and their classes with at most so many of each person."""
    if len(classes) != len(column_of(frame, columns[0])):
        raise InvalidDataError("X and y must have the same number of records")
    frame, beside = whose.bounded(frame, columns, {CLASS_COLUMN: classes})
    return frame, beside[CLASS_COLUMN]


def _labels_of_column(values: Any) -> NDArray[Any]:
    array = values if isinstance(values, np.ndarray) else values.to_numpy()
    found: NDArray[Any] = labels_of(array)
    return found
