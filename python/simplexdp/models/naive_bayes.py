"""Naive Bayes over categorical features, its tables released privately."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from simplexdp import _arguments
from simplexdp.exceptions import InvalidDataError, InvalidParameterError
from simplexdp.frames.domain import is_null
from simplexdp.frames.encoding import encode_column, encode_columns
from simplexdp.frames.source import as_frame
from simplexdp.models.binning import PrivateBinner
from simplexdp.models.bins import BinPlan
from simplexdp.models.calibration import (
    CALIBRATIONS,
    Calibration,
    calibration_shape,
    calibration_weight,
    hits_and_misses,
    scaled,
)
from simplexdp.models.classifying import (
    CLASS_COLUMN,
    class_domain,
    labels,
    normalised,
)
from simplexdp.models.cuts import with_codes
from simplexdp.models.lazy_calibration import MOST_LAZY_LEVELS, lazy_hits_and_misses
from simplexdp.models.naive_bayes_records import CategoricalRecords, Records, is_a_lazy_frame
from simplexdp.models.naive_bayes_release import NaiveBayesRelease
from simplexdp.models.persons import Persons
from simplexdp.models.released import Law, ReleasedTable
from simplexdp.models.saved import (
    Origin,
    SavedFeature,
    SavedPrivacy,
    checked_table,
    domain_of,
    member,
    numbers,
    plain_domain,
    plain_name,
    plain_values,
    privacy_of,
    read,
    smoothing_of,
)
from simplexdp.models.smoothing import SMOOTHINGS, SmoothedTable, inferred, why_as_drawn
from simplexdp.models.stated_cost import check_tables
from simplexdp.models.tables import TableRelease
from simplexdp.models.turns import taken_over

if TYPE_CHECKING:
    from simplexdp.accounting import PrivacyCurve
    from simplexdp.testing import SeededRng

__all__ = ["PrivateCategoricalNB"]

FORMAT = "simplexdp.naive-bayes/1"
WHAT = "a classifier"


class PrivateCategoricalNB(CategoricalRecords):
    """Naive Bayes classifier for categorical features with differentially private tables.

    It follows scikit-learn's `CategoricalNB`. One table of classes and one table of each feature given the class are
    released, K + 1 in all, and one of how often their predictions are right (`calibration`). Together they are
    (`epsilon`, `delta`)-differentially private. A record is one row of X with its class.

    Parameters
    ----------
    epsilon, delta : float
        The budget of the whole model; with `order`, `epsilon` is Renyi and `delta` only says at which delta
        `privacy_` is usually read.
    order : float, optional
        Splits a Renyi budget evenly over the tables, as in [DM 5.1]; see `from_rdp`.
    mechanism : str, default "auto"
        ``"auto"`` is ``"discrete_gaussian"`` or ``"discrete_laplace"``, whichever has less noise in this budget; else
        ``"dirichlet"`` as in [DM], ``"gaussian"``, ``"laplace"``, one of the discrete ones or ``"none"``.
    categories : sequence or mapping, optional
        The public domain of each feature: a list of values, a cardinality or a `simplexdp.frames.Domain`; a mapping
        goes by column name. Without it the domains are read off the data, which leaks and warns.
    classes : sequence, optional
        The public classes, in the order of `classes_`; without it they are read off the data, which leaks and warns.
    min_categories : int or array_like of int, optional
        As in `CategoricalNB`: with integer codes, the public cardinality of each feature.
    adjacency : {"replace", "add_remove"}
        Which data sets are neighbours. Under ``"replace"`` the number of records is public.
    smoothing : {"posterior", "floor"}, default "posterior"
        ``"posterior"``: the tables are posterior means given all that was released, by the known law of the noise. Rows
        of a table shrink towards each other as far as the evidence says, and all tables share the totals of the
        classes. ``"floor"``: each table by itself, as it was drawn; so are
        Dirichlet draws under ``"add_remove"``, which do not tell the private number of records, and tables of models
        with more than 16384 cells.
    count_floor : float, default 1.0
        With ``smoothing="floor"`` and additive noise: noisy counts below it are raised to it, then rows normalised.
    fit_prior : bool, default True
        Whether to release the table of classes; otherwise all are taken as equally likely and the budget serves the
        features.
    calibration : {"auto", None}, default "auto"
        ``"auto"``: a tenth of the budget buys a table of how often predictions of each class and confidence are right.
        Naive Bayes counts features that depend on each other as if each were news; from the table follows how much
        their evidence should count, `evidence_weight_`. It is for ``smoothing="posterior"`` and noise on counts, in
        `fit`, which sees all records at once; elsewhere, and with None, all evidence counts.
    binner : PrivateBinner, optional
        Turns numeric columns into categories: those that its `edges` or `bounds` name, or else all that `categories`
        does not state. It is not fitted itself. Private quantiles take its `epsilon` out of the budget of the model
        and the tables get what remains.
    unit, max_rows, first_by : optional
        The column that names the person of a record, and how many records of a person count, drawn at random or the
        first by a column: the guarantee is for persons then (`simplexdp.frames.bound_rows`), and speaks of `unit`.
    weighted : bool, default False
        Count each person as one, with 1/n for each of n records: noise is that for one record, however many a person
        has, up to 16, and tables, shares and totals are of persons.
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
    bin_edges_ : dict of ndarray
        The inner edges of each numeric column.
    mechanism_ : str
        The mechanism that the tables were released by.
    smoothing_ : str
        How the tables were made of what was released.
    evidence_weight_ : float
        From 0 to 1: how often the log-likelihoods of the tables count beside the class shares.
    class_sd_, feature_sd_ : ndarray, list of ndarray
        Posterior standard deviations of the probabilities, in the shapes of the tables; only with
        ``smoothing="posterior"``.
    privacy_ : PrivacyCurve or None
        What all releases since the last `fit` cost, bins included; None for mechanism ``"none"``, which protects
        nothing. Domains
        and edges that were taken from the data, of which a `PrivacyLeakWarning` tells, are not covered by it.
    seeded_ : bool
        Whether the tables were drawn with a seed, also where they come from a file; they protect nobody then.

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

    _calibration: Calibration | None = None

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        *,
        order: float | None = None,
        mechanism: str = "auto",
        categories: Any = None,
        classes: Sequence[Any] | None = None,
        min_categories: ArrayLike | None = None,
        adjacency: str = "replace",
        smoothing: str = "posterior",
        count_floor: float = 1.0,
        fit_prior: bool = True,
        calibration: str | None = "auto",
        binner: PrivateBinner | None = None,
        unit: Any = None,
        max_rows: int | None = None,
        first_by: Any = None,
        weighted: bool = False,
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
        self.smoothing = smoothing
        self.count_floor = count_floor
        self.fit_prior = fit_prior
        self.calibration = calibration
        self.binner = binner
        self.unit = unit
        self.max_rows = max_rows
        self.first_by = first_by
        self.weighted = weighted
        self.accountant = accountant
        self.random_state = random_state

    @classmethod
    def from_rdp(cls, *, order: float, epsilon: float, **parameters: Any) -> PrivateCategoricalNB:
        """Make a model whose K + 1 tables share a Renyi epsilon evenly, as in [DM 5.1].

        A table of hits and misses (`calibration`) takes a tenth of it before.
        """
        return cls(epsilon, order=order, **parameters)

    def fit(self, X: Any, y: Any, *, persons: Any = None) -> PrivateCategoricalNB:
        """Count, release and keep the released tables.

        Parameters
        ----------
        X : array_like or data frame, shape (n_records, n_features)
            Categories: integers, text or any other scalars of the domains; numbers in the columns of `binner`. A lazy
            frame (Polars, DuckDB, Dask, PySpark) is counted where the data are.
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
            del work._counted_persons
        return self

    def _fit(self, X: Any, y: Any, whose: Persons) -> None:
        self._forget()
        self._counted_persons = whose
        if isinstance(self.classes, (str, bytes)):
            raise InvalidParameterError(f"classes must be a list, got {self.classes!r}")
        data = self._bounded(self._records(X, y, first=True))
        if self._bins is None or not self._bins.looks_at_data:
            self._count(data)
            return self._release_counts(data)
        # The quantiles are part of the release: all of it is planned and paid for before the first one is drawn.
        samples = self._bins.samples(data.frame)
        n_records = next(iter(samples.values())).n_records
        # What no domain has a place for is refused here: after the quantiles the budget would be gone.
        self._tables(data, [column for column in self._columns if column not in samples])
        plan = self._plan(n_records, data)
        with self._charge(plan):
            self._bin(lambda column: samples[column])
            self._count(data)
            self._release(plan, data)

    def partial_fit(self, X: Any, y: Any, classes: Sequence[Any] | None = None) -> PrivateCategoricalNB:
        """Add records to the exact counts; nothing is released before `release` is called.

        Parameters
        ----------
        X : array_like or data frame, shape (n_records, n_features)
        y : array_like, shape (n_records,), or str
        classes : sequence, optional
            Public classes, when the constructor was not told; needed in the first call then, as in scikit-learn.

        Returns
        -------
        self
        """
        _arguments.choice("smoothing", self.smoothing, SMOOTHINGS)
        if self.unit is not None or self.max_rows is not None or self.weighted:
            raise InvalidParameterError(
                "unit and max_rows must be None for partial_fit: who comes in two calls would count twice as much; "
                "bound all records at once, with fit"
            )
        if self.binner is not None and self.binner.strategy in ("private_quantile", "quantile"):
            raise InvalidParameterError(
                f"binner must have public edges or bounds for partial_fit, got strategy {self.binner.strategy!r}: "
                "quantiles need all records at once"
            )
        with taken_over(self) as work:
            if classes is not None and self.classes is None and not hasattr(self, "_class_domain"):
                work._class_domain = class_domain(classes)
            work._count(work._records(X, y, first=not hasattr(self, "_domains")))
        return self

    def release(self) -> PrivateCategoricalNB:
        """Release the tables of everything that was counted since the last release, and drop the counts.

        Every release costs the budget anew; `privacy_` composes them.

        Returns
        -------
        self
        """
        with taken_over(self) as work:
            work._release_counts()
        return self

    def _release_counts(self, data: Records | None = None) -> None:
        counts = getattr(self, "_counts", None)
        if counts is None:
            raise InvalidDataError("partial_fit must have counted records since the last release")
        plan = self._plan(int(counts[0].sum()), data)
        self._cost_with(plan.privacy)  # costs that cannot be added are refused before anything is paid or drawn
        with self._charge(plan):
            self._release(plan, data)

    def _plan(self, n_records: int, data: Records | None) -> TableRelease:
        # All that may be refused is refused before anything is paid for.
        _arguments.choice("smoothing", self.smoothing, SMOOTHINGS)
        _arguments.non_negative("count_floor", self.count_floor)
        if self.calibration not in CALIBRATIONS:
            raise InvalidParameterError(f"calibration must be 'auto' or None, got {self.calibration!r}")
        n_classes = len(self._class_domain)
        sizes = [len(domain) for domain in self._domains]
        if self._bins is not None:
            # Quantiles may coincide; what is planned is what is public.
            sizes = _replaced(sizes, self._bins, self._columns)
        # Tables that are not released do not enter the plan, so the budget serves the others.
        shapes = [(1, n_classes)] if self.fit_prior else []
        shapes += [(n_classes, size) for size in sizes]
        weights = [1.0] * len(shapes)
        if self._calibrates(data, n_classes, sizes):
            shapes.append(calibration_shape(n_classes))
            weights.append(calibration_weight(len(weights)))
        return TableRelease.plan(
            shapes,
            weights=weights,
            mechanism=self.mechanism,
            epsilon=self.epsilon,
            delta=self.delta,
            order=self.order,
            adjacency=self.adjacency,
            total=n_records if self.adjacency == "replace" and self._persons.keeps_total else None,
            quantiles=(0.0, 0) if self._bins is None else self._bins.spending,
            max_rows=self._persons.moves,
            units=self._persons.units,
            named=self._persons.named,
        )

    def _calibrates(self, data: Records | None, n_classes: int, sizes: list[int]) -> bool:
        """Say, from what is public, whether a table of hits and misses is released too."""
        if self.calibration is None or self.smoothing != "posterior" or self.mechanism in ("dirichlet", "none"):
            return False
        if data is None or n_classes < 2 or not self.count_floor > 0:
            return False
        if self._persons.weighted and is_a_lazy_frame(data.frame):
            return False  # what a query counts of predictions has no weights
        return not is_a_lazy_frame(data.frame) or sum(sizes) * n_classes <= MOST_LAZY_LEVELS

    def _charge(self, plan: TableRelease) -> AbstractContextManager[Any]:
        return plan.charge(self.accountant, "naive Bayes", self.random_state)

    def _release(self, plan: TableRelease, data: Records | None) -> None:
        counts = self._counts if self.fit_prior else self._counts[1:]
        released = plan.release(counts, self.random_state)
        classes = released.pop(0) if self.fit_prior else None
        self._take(NaiveBayesRelease(classes, tuple(released), len(self._class_domain), plan.total), self.smoothing)
        if len(plan.releasers) > len(counts):
            assert data is not None  # asked when it was planned
            (drawn,) = plan.release([self._hits_and_misses(data)], self.random_state, drawn=len(counts))
            self._calibration = Calibration.infer(drawn, np.exp(self.class_log_prior_))
        self._publish(plan.privacy, Origin(plan.mechanism, seeded=self.random_state is not None))
        del self._counts

    def _hits_and_misses(self, data: Records) -> NDArray[np.int64]:
        """Count how often what the released tables predict is right."""
        if data.sharing is None:
            return self._hits_and_misses_of(data)
        return self._persons.in_units(lambda rows: [self._hits_and_misses_of(data.kept(rows))], data.sharing)[0]

    def _hits_and_misses_of(self, data: Records) -> NDArray[np.int64]:
        frame = with_codes(data.frame, self._cuts)
        domains = dict(zip(self._columns, self._domains, strict=True))
        if is_a_lazy_frame(frame):
            domains[data.classes] = self._class_domain
            log_tables = self.class_log_prior_, self.feature_log_prob_
            return lazy_hits_and_misses(as_frame(frame), self._columns, data.classes, domains, *log_tables)
        features = encode_columns(frame, domains, self._columns)
        held = isinstance(data.classes, str)
        column, records = (data.classes, frame) if held else (CLASS_COLUMN, {CLASS_COLUMN: data.classes})
        classes = encode_column(records, column, self._class_domain)
        return hits_and_misses(self._naive_joint(list(features.values())), classes)

    def _take(self, release: NaiveBayesRelease, smoothing: str) -> None:
        """Make the tables of what was released."""
        self._calibration = None
        self._released: NaiveBayesRelease | None = release
        found = inferred(smoothing, release.tables, release.total, lambda: release.posterior)
        self.smoothing_ = "floor" if found is None else "posterior"
        if found is None:
            self._set_tables(*release.floored(_arguments.non_negative("count_floor", self.count_floor)))
            return
        prior, tables = found
        self._set_tables(prior.mean[0], [table.mean for table in tables])

    @property
    def evidence_weight_(self) -> float:
        """How often the log-likelihoods of the tables count beside the class shares."""
        check_is_fitted(self, "feature_log_prob_")
        return 1.0 if self._calibration is None else self._calibration.weight

    @property
    def class_sd_(self) -> NDArray[np.float64]:
        """Posterior standard deviations of the class shares."""
        found: NDArray[np.float64] = self._posterior_of("class_sd_")[0].sd[0]
        return found

    @property
    def feature_sd_(self) -> list[NDArray[np.float64]]:
        """Posterior standard deviations of the tables."""
        return [table.sd for table in self._posterior_of("feature_sd_")[1]]

    def _posterior_of(self, name: str) -> tuple[SmoothedTable, list[SmoothedTable]]:
        release: NaiveBayesRelease | None = getattr(self, "_released", None)
        if release is None or not release.has_posterior or self.smoothing_ != "posterior":
            raise AttributeError(f"{name} is there for fitted models with smoothing='posterior'")
        return release.posterior

    def interval(self, level: float = 0.95) -> tuple[NDArray[np.float64], list[NDArray[np.float64]]]:
        """Return credible intervals of the probabilities behind the tables, given all that was released.

        Parameters
        ----------
        level : float, default 0.95
            Strictly between 0 and 1.

        Returns
        -------
        classes : ndarray, shape (n_classes, 2)
        features : list of ndarray, each of shape (n_classes, n_categories, 2)

        Examples
        --------
        >>> from simplexdp.models import PrivateCategoricalNB
        >>> model = PrivateCategoricalNB(categories=[2], classes=["a", "b"]).fit([[0], [1]], ["a", "b"])
        >>> classes, features = model.interval(0.9)
        >>> classes.shape, features[0].shape
        ((2, 2), (2, 2, 2))
        """
        check_is_fitted(self, "feature_log_prob_")
        level = _arguments.open_unit("level", level)
        if self._released is None:
            raise InvalidParameterError("interval must be asked of a model that has its release")
        reason = why_as_drawn(self._released.tables, self._released.total)
        if reason is not None:
            raise InvalidParameterError(f"interval must be asked of a model that can be inferred: {reason}")
        prior, tables = self._released.posterior
        return prior.interval(level)[0], [table.interval(level) for table in tables]

    def _set_tables(self, prior: NDArray[np.float64], tables: Sequence[NDArray[np.float64]]) -> None:
        # The probabilities too: those that are made of logarithms differ in the last digit, and in every file anew.
        self._probabilities = [prior, *tables]
        with np.errstate(divide="ignore"):
            self.class_log_prior_ = np.log(prior)
            self.feature_log_prob_ = [np.log(table) for table in tables]

    def _publish(self, cost: PrivacyCurve | None, origin: Origin) -> None:
        """Set the public attributes that go with the tables."""
        self.classes_ = labels(self._class_domain.levels)
        self.domains_ = list(self._domains)
        self.n_categories_ = np.array([len(domain) for domain in self.domains_])
        self.bin_edges_ = {column: cut.edges for column, cut in self._cuts.items()}
        self.privacy_: PrivacyCurve | None = self._cost_with(cost)
        self._origin, self._whose = origin, self._persons.saved
        self.mechanism_ = origin.mechanism
        self.seeded_ = origin.seeded

    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return log P(x, y) for every class, shape (n_records, n_classes)."""
        check_is_fitted(self, "feature_log_prob_")
        return self._joint(self._encode(X))

    def _joint(self, features: Sequence[NDArray[np.integer[Any]]]) -> NDArray[np.float64]:
        joint = self._naive_joint(features)
        return joint if self._calibration is None else scaled(joint, self.class_log_prior_, self._calibration.weight)

    def _naive_joint(self, features: Sequence[NDArray[np.integer[Any]]]) -> NDArray[np.float64]:
        joint = np.tile(self.class_log_prior_, (len(features[0]), 1))
        for codes, table in zip(features, self.feature_log_prob_, strict=True):
            joint += table.T[codes]
        return joint

    def log_proba_of_codes(self, features: Sequence[NDArray[np.integer[Any]]]) -> NDArray[np.float64]:
        """Return log P(y | x) of records whose features are codes already, positions in the levels of `domains_`."""
        check_is_fitted(self, "feature_log_prob_")
        return normalised(self._joint(features))

    def to_json(self) -> str:
        """Return the released classifier as JSON, which `from_json` and ``simplexdp predict`` read."""
        check_is_fitted(self, "feature_log_prob_")
        release = self._released if self._released is not None and self._released.protects else None
        drawn = [None] * len(self._columns) if release is None else release.tables
        features = [
            {
                "name": plain_name(column),
                **plain_domain(column, domain),
                "table": table.tolist(),
                **(self._cuts[column].record() if column in self._cuts else {}),
                **({} if raw is None else {"released": raw.to_json()}),
            }
            for column, domain, table, raw in zip(
                self._columns, self.domains_, self._probabilities[1:], drawn, strict=True
            )
        ]
        own, clean = None if release is None else release.classes, self._class_domain.clean
        classes = {
            "name": self._class_name,
            "values": plain_values("y", self._class_domain),
            **({} if clean is None else {"clean": clean.to_json()}),
            "table": self._probabilities[0].tolist(),
            **({} if own is None else {"released": own.to_json()}),
        }
        content: dict[str, Any] = {"format": FORMAT, "privacy": privacy_of(self)}
        if release is not None:
            content |= {"smoothing": self.smoothing_, "total": release.total}
        if self._calibration is not None:
            content["calibration"] = self._calibration.to_json()
        content |= {"class": classes, "features": features}
        return json.dumps(content, indent=1, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> PrivateCategoricalNB:
        """Return the classifier that `to_json` wrote; its `privacy_` is the stated budget, no longer the whole curve.

        Examples
        --------
        >>> from simplexdp.models import PrivateCategoricalNB
        >>> model = PrivateCategoricalNB(categories=[2], classes=["a", "b"]).fit([[0], [1]], ["a", "b"])
        >>> PrivateCategoricalNB.from_json(model.to_json()).classes_.tolist()
        ['a', 'b']
        """
        content = read(text, FORMAT, WHAT)
        privacy = SavedPrivacy.of(content, WHAT)
        target = member(content, "class", WHAT, dict)
        collecting = content.get("levels")
        saved = [SavedFeature.of(feature, collecting) for feature in member(content, "features", WHAT, list)]
        columns = [feature.name for feature in saved]
        if not saved or len(set(columns)) < len(columns):
            raise InvalidParameterError(
                "text must be a classifier written by to_json: it names a feature twice or none"
            )
        class_domain = domain_of("class", target, WHAT, other=False)
        # Tables first: a cardinality that they do not have would be written out.
        n_classes = len(class_domain)
        prior = checked_table("class", numbers("class", "table", [member(target, "table", WHAT, list)]), [n_classes])
        tables = [checked_table(feature.name, feature.table, [n_classes, len(feature.domain)]) for feature in saved]
        if not n_classes or any(is_null(label) for label in class_domain.levels):
            raise InvalidParameterError("values of 'class' must be at least one, none of them null")
        cuts = {feature.name: feature.cut for feature in saved if feature.cut is not None}
        model = cls(
            1.0 if privacy.epsilon is None else privacy.epsilon,
            privacy.delta,
            mechanism=privacy.mechanism,
            categories={feature.name: feature.domain for feature in saved if feature.cut is None},
            classes=class_domain.levels,
            adjacency=privacy.adjacency,
            binner=PrivateBinner.of_cuts(cuts),
        )
        model._set_tables(prior, tables)
        model.smoothing_ = smoothing_of(content)
        model.smoothing = model.smoothing_
        model._released = NaiveBayesRelease.from_json(content, target, saved, n_classes)
        model._calibration = Calibration.from_json(content, n_classes)
        model.calibration = None if model._calibration is None else "auto"
        check_tables(privacy, model._laws(), WHAT)
        model._class_domain, model._class_name = class_domain, member(target, "name", WHAT, str, type(None))
        model._columns, model._bins, model._cuts = columns, None, cuts
        model._domains = [feature.domain for feature in saved]
        model._keep_names(columns)
        model._publish(privacy.curve, privacy.origin)
        privacy.tell(model)
        return model

    def _laws(self) -> list[Law]:
        """Return the laws of all tables of which it is known how they were drawn."""
        released, calibration = self._released, self._calibration
        tables: list[ReleasedTable | None] = [] if released is None else [released.classes, *released.tables]
        tables.append(None if calibration is None else calibration.released)
        return [table.law for table in tables if table is not None]

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
        for name in (
            "_counts",
            "_domains",
            "_class_domain",
            "_columns",
            "_bins",
            "_cuts",
            "privacy_",
            "_counted_persons",
        ):
            if hasattr(self, name):
                delattr(self, name)

    def _cost_with(self, cost: PrivacyCurve | None) -> PrivacyCurve | None:
        """Return what all releases cost with one more; None once one of them protected nothing."""
        if not hasattr(self, "privacy_"):
            return cost
        return None if self.privacy_ is None or cost is None else self.privacy_ + cost

    def _count(self, data: Records) -> None:
        tables = self._tables(data, self._columns)
        before = getattr(self, "_counts", None)
        self._counts = tables if before is None else [a + b for a, b in zip(before, tables, strict=True)]

    @property
    def columns_(self) -> list[Any]:
        """The features by name or position, in the order of `domains_`."""
        return list(self._columns)

    @property
    def class_name_(self) -> str | None:
        """The name of the column of the classes, if it had one."""
        return self._class_name


def _replaced(sizes: list[int], bins: BinPlan, columns: list[Any]) -> list[int]:
    nominal = {column: len(domain) for column, domain in bins.domains().items()}
    return [nominal.get(column, size) for column, size in zip(columns, sizes, strict=True)]
