"""Normalised histograms of a column, one or one for each of many groups, released in one go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from simplexdp import _arguments as check
from simplexdp._automatic import automatic
from simplexdp._catalogue import CATALOGUE
from simplexdp._cautions import caution, caution_leak
from simplexdp._weights import moves_of
from simplexdp.accounting import PrivacyCurve
from simplexdp.accounting.unit import unit_of
from simplexdp.exceptions import InvalidParameterError
from simplexdp.frames import Domain, bound_rows, count_table
from simplexdp.frames.domain import DomainLike, as_domain
from simplexdp.frames.persons import checked_bound, seed_of
from simplexdp.inference import Total
from simplexdp.inference.of_persons import in_persons, law_of_persons
from simplexdp.mechanisms import (
    DirichletMechanism,
    SumPreservingLaplaceMechanism,
)
from simplexdp.mechanisms.dirichlet_parameters import ADJACENCIES
from simplexdp.models.debit import debit
from simplexdp.models.domains import infer_domain
from simplexdp.models.persons import whose
from simplexdp.models.pivoting import kind_of, pivot

if TYPE_CHECKING:
    from simplexdp.testing import SeededRng

__all__ = ["PrivateHistogram", "RowShares"]

MECHANISMS = ("auto", "dirichlet", "discrete_gaussian", "discrete_laplace", "sum_preserving_laplace")


@dataclass(frozen=True)
class RowShares:
    """What a task calls for the rows that it holds: release, then the expected shares."""

    mechanism: Any
    dimension: int

    def release(self, table: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the expected shares of each row given its release."""
        released = self.mechanism.release(table)
        if isinstance(self.mechanism, DirichletMechanism):
            return np.asarray(released)
        return _shares(_posterior(self.mechanism, released))


def _posterior(mechanism: Any, released: NDArray[Any], apart: Sequence[int] = ()) -> Any:
    """Return the posterior given noisy counts; rows share how alike shares are, but for those of levels apart."""
    # Noise that keeps the sum tells the number of records.
    total = None if isinstance(mechanism, SumPreservingLaplaceMechanism) else Total.flat()
    return mechanism.infer(released, prior="empirical", total=total, apart=apart)


def _shares(posterior: Any) -> NDArray[np.float64]:
    """Return the expected shares; rows sum to one up to the last digits."""
    mean = np.asarray(posterior.mean)
    return np.asarray(mean / mean.sum(axis=-1, keepdims=True))


class PrivateHistogram(BaseEstimator):  # type: ignore[misc]
    """The distribution of a column, released with differential privacy.

    What is released is noisy counts, or a Dirichlet draw of shares; `probabilities_` are the expected shares given
    that, by exact inference, and `posterior_` has their intervals.

    With groups, every group gets a distribution of its own. The groups are disjoint, so all of them together cost as
    much as one: a record that is added or removed changes one row, and a record that moves from one group to
    another changes two counts of the table, as one that moves within a row (theory B2).

    Parameters
    ----------
    domain : sequence, int or Domain, optional
        The public values of the column. Without it they are read off the data, which leaks and warns.
    groups : sequence, int, Domain or mapping, optional
        The public groups; needed when `fit` is given ``by``. A mapping gives those of each column of several.
    epsilon, delta : float
        The budget of the whole release.
    mechanism : str, default "auto"
        "auto" is the noise with the least standard deviation at the budget, told by public numbers:
        "sum_preserving_laplace", for one histogram whose number of records is public as `adjacency` "replace" has it,
        "discrete_laplace" or "discrete_gaussian". "dirichlet" draws shares instead of counts.
    scale, prior : float, optional
        Fix the scale or the prior of the Dirichlet mechanism; by default both are chosen for the budget.
    total : int, optional
        The number of records in a histogram, public or a public guess. The Dirichlet mechanism chooses its prior for
        it, and needs it unless `prior` or `scale` is given; the others do without.
    adjacency : {"replace", "add_remove"}
        Which data sets are neighbours.
    unit, max_rows, first_by : optional
        The column that names the person of a record, and how many records of a person count, drawn at random or the
        first by a column: the guarantee is for persons then (`simplexdp.frames.bound_rows`).
    weighted : bool, default False
        Count each person as one, with 1/n for each of n records (`simplexdp.frames.count_table`): noise is that for one
        record, however many a person has, up to 16. For all mechanisms but "sum_preserving_laplace".
    accountant : Accountant, optional
        Is asked for the budget before anything is drawn.
    random_state : SeededRng, optional
        For tests only.

    Attributes
    ----------
    probabilities_ : ndarray, shape (d,), (n_groups, d) or (n_groups, n_groups, ..., d)
        The expected shares, given the release; of the Dirichlet mechanism the draw. Rows sum to one.
    released_ : ndarray, shape of `probabilities_`
        What was released: noisy counts, or the draw.
    posterior_ : HistogramPosterior or TablePosterior
        Of noisy counts: means, intervals and draws of shares and counts (`simplexdp.inference`). A Dirichlet draw needs
        a total for that: ``mechanism_.infer(released_, total=...)``.
    levels_ : list
        The values, in the order of the last axis.
    mechanism_
        What released.
    groups_ : list, dict of lists or None
        The groups in the order of the rows of `probabilities_`, where `fit` had a column of them; of several columns
        those of each, in the order of the axes.
    privacy_ : PrivacyCurve
    seeded_ : bool
        Whether it was drawn with a seed; it protects nobody then.

    Examples
    --------
    >>> from simplexdp.models import PrivateHistogram
    >>> answers = {"answer": ["yes"] * 70 + ["no"] * 30}
    >>> histogram = PrivateHistogram(domain=["no", "yes"], epsilon=1.0).fit(answers, "answer")
    >>> histogram.mechanism_
    SumPreservingLaplaceMechanism(scale=Fraction(2, 1), dimension=2, sensitivity=2, rows='one', unit=None)
    >>> histogram.posterior_.interval(0.95).shape
    (2, 2)
    """

    def __init__(
        self,
        domain: DomainLike | None = None,
        *,
        groups: DomainLike | Mapping[Any, DomainLike] | None = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        mechanism: str = "auto",
        scale: float | None = None,
        prior: float | None = None,
        total: int | None = None,
        adjacency: str = "replace",
        unit: Any = None,
        max_rows: int | None = None,
        first_by: Any = None,
        weighted: bool = False,
        accountant: Any = None,
        random_state: SeededRng | None = None,
    ) -> None:
        self.domain = domain
        self.groups = groups
        self.epsilon = epsilon
        self.delta = delta
        self.mechanism = mechanism
        self.scale = scale
        self.prior = prior
        self.total = total
        self.adjacency = adjacency
        self.unit = unit
        self.max_rows = max_rows
        self.first_by = first_by
        self.weighted = weighted
        self.accountant = accountant
        self.random_state = random_state

    def fit(self, frame: Any, column: Any, *, by: Any = None) -> PrivateHistogram:
        """Count and release.

        Parameters
        ----------
        frame : data frame, two-dimensional array or mapping of one-dimensional arrays
            Eager or lazy; see `simplexdp.frames.count_table`.
        column : str or int
            The column whose distribution is released.
        by : str, int or list of them, optional
            The column of groups; of a list, every combination of groups has a distribution of its own, still for the
            price of one: a record is in one of them.

        Returns
        -------
        self

        Examples
        --------
        >>> from simplexdp.models import PrivateHistogram
        >>> people = {"region": ["n", "s"] * 50, "sex": ["f", "f", "m", "m"] * 25, "job": ["clerk", "smith"] * 50}
        >>> groups = {"region": ["n", "s"], "sex": ["f", "m"]}
        >>> histogram = PrivateHistogram(["clerk", "smith"], groups=groups).fit(people, "job", by=["region", "sex"])
        >>> histogram.probabilities_.shape
        (2, 2, 2)
        """
        above = _columns(by, column)
        domains = {column: self._domain(frame, column), **{each: self._groups(frame, each, above) for each in above}}
        mechanism = self._mechanism(len(domains[column]), rows=bool(above))
        counts = count_table(
            frame,
            [*above, column],
            domains,
            unit=self.unit,
            max_rows=self.max_rows,
            first_by=self.first_by,
            weighted=self.weighted,
            seed=seed_of(self.unit, self.random_state, "random_state"),
        )
        # The number of records is public where one is replaced; that of persons is not.
        public = self.adjacency == "replace" and self.unit is None
        caution(epsilon=self.epsilon, delta=self.delta, n=int(counts.sum()) if public else self.total)
        with self._charge(mechanism):
            self.released_: NDArray[Any] = mechanism.release(counts, rng=self.random_state)
        if isinstance(mechanism, DirichletMechanism):
            self.__dict__.pop("posterior_", None)
            self.probabilities_: NDArray[np.float64] = self.released_
        else:
            units = self._rows if self.weighted else 1
            self.released_ = in_persons(mechanism, self.released_, units)
            self.posterior_: Any = _posterior(law_of_persons(mechanism, units), self.released_, domains[column].apart)
            self.probabilities_ = _shares(self.posterior_)
        levels = {each: domains[each].levels for each in above}
        self.groups_: Any = levels if len(above) > 1 else levels[above[0]] if above else None
        self._keep(mechanism, domains[column])
        self._by, self._frame_kind = levels, kind_of(frame)
        # That of records that a replaced one leaves as it is.
        self._public_total = int(counts.sum()) if public else None
        return self

    def pivot(self, what: str = "count", *, totals: bool = True) -> Any:
        """Return the table of groups with one column for each value: in a frame of the kind that `fit` was given.

        What it says follows from the release: it costs nothing. Counts are not negative and add up, under "replace" to
        the public number of records.

        Parameters
        ----------
        what : {"count", "share", "released"}, default "count"
            Expected counts, their shares of a group, or the noisy counts.
        totals : bool, default True
            Whether there is a row for all groups, and a column for all values.

        Returns
        -------
        data frame or ndarray
            A frame where `fit` had one of pandas, Polars or PyArrow (for Dask and Spark pandas, for DuckDB PyArrow);
            for arrays and mappings an array, a row for each combination of groups.

        Examples
        --------
        >>> from simplexdp.models import PrivateHistogram
        >>> people = {"region": ["n", "s"] * 50, "job": ["clerk"] * 60 + ["smith"] * 40}
        >>> histogram = PrivateHistogram(["clerk", "smith"], groups=["n", "s"], delta=0.0)
        >>> table = histogram.fit(people, "job", by="region").pivot()
        >>> table.shape, float(table[-1, -1].round(6))
        ((3, 3), 100.0)
        """
        check.choice("what", what, ("count", "share", "released"))
        if not getattr(self, "_by", None):
            raise InvalidParameterError("pivot needs groups: fit with by")
        if what != "share" and isinstance(self.mechanism_, DirichletMechanism):
            raise InvalidParameterError('what must be "share" for a Dirichlet draw, which has no counts')
        if isinstance(self.mechanism_, DirichletMechanism):
            if check.flag("totals", totals):
                raise InvalidParameterError(
                    "totals must be False for a Dirichlet draw: it does not tell sizes of groups"
                )
            cells = self.probabilities_
        elif what == "released":
            cells = self.released_
        else:
            cells = self.posterior_.margins(self._public_total).cells.mean
        table = np.reshape(cells, (-1, np.shape(cells)[-1]))
        if check.flag("totals", totals):
            table = np.concatenate([table, table.sum(axis=0, keepdims=True)])
            table = np.concatenate([table, table.sum(axis=1, keepdims=True)], axis=1)
        if what == "share" and not isinstance(self.mechanism_, DirichletMechanism):
            sizes = table[:, -1:] if totals else table.sum(axis=1, keepdims=True)
            table = np.divide(table, sizes, out=np.zeros(table.shape), where=sizes > 0)
        name = "all"
        while totals and name in {*map(str, self.levels_), *(str(each) for own in self._by.values() for each in own)}:
            name = f"({name})"
        return pivot(table, self._by, self.levels_, name if totals else None, self._frame_kind)

    def release_on_spark(
        self, frame: Any, column: str, *, by: str | list[str], groups: Any = None, checkpoint: str | None = None
    ) -> Any:
        """Release one distribution for each group where the groups are, without collecting them.

        The rows are counted by Spark; every task then draws with fresh randomness of its own operating system.

        Parameters
        ----------
        frame : pyspark.sql.DataFrame
        column : str
            The column whose distribution is released.
        by : str or list of str
            The column of groups, or several.
        groups : pyspark.sql.DataFrame, sequence or mapping, optional
            The public groups: a data frame with the columns `by`, or a list, or a list for each of several columns, all
            combinations of which are groups; by default those of the constructor. Records of other groups are left out.
        checkpoint : str, optional
            A path, where nothing is yet, to which the release is written as Parquet. By default it is kept on the
            executors by a local checkpoint, and is lost with them: it is never drawn again.

        Returns
        -------
        pyspark.sql.DataFrame
            One row a group: the columns `by`, and an array ``probabilities`` in the order of `levels_`. It is drawn
            once, when this method runs.
        """
        from simplexdp.models import spark

        return self._release_in_tasks(spark, frame, column, by, groups, self._domain(frame, column), checkpoint)

    def release_on_dask(
        self, frame: Any, column: str, *, by: str | list[str], groups: Any = None, checkpoint: str | None = None
    ) -> Any:
        """Release one distribution for each group in the partitions, without collecting the counts.

        Parameters
        ----------
        frame : dask.dataframe.DataFrame
        column : str
            The column whose distribution is released.
        by : str or list of str
            The column of groups, or several.
        groups : dask.dataframe.DataFrame, sequence or mapping, optional
            The public groups: a data frame with the columns `by`, or a list, or a list for each of several columns, all
            combinations of which are groups; by default those of the constructor. Records of other groups are left out.
        checkpoint : str, optional
            A folder that all workers share, empty or none yet, in which each partition of the release is stored when it
            is drawn. By default the release is brought to the client.

        Returns
        -------
        dask.dataframe.DataFrame
            One row a group: the columns `by`, and columns ``p0``, ``p1``, ... in the order of `levels_`. It is drawn
            once, when this method runs, whatever workers are lost then.
        """
        from simplexdp.models import dask

        return self._release_in_tasks(dask, frame, column, by, groups, self._domain(frame, column), checkpoint)

    def _release_in_tasks(
        self, engine: Any, frame: Any, column: str, by: Any, groups: Any, domain: Domain, checkpoint: str | None
    ) -> Any:
        """Count and release where the groups are, by the module of an engine."""
        if self.random_state is not None:
            raise InvalidParameterError("random_state must be None here: every task draws from its own system")
        if check.flag("weighted", self.weighted):
            raise InvalidParameterError("weighted must be False where tasks release: fit counts weighted records")
        public: Any = groups if groups is not None else self.groups
        above = _columns(by, column)
        if not above:
            raise InvalidParameterError("by must name a column of groups, or several")
        if not hasattr(public, "columns"):
            public = _stated_groups(public, above)
        mechanism = self._mechanism(len(domain), rows=True)
        if self.unit is not None:
            frame = bound_rows(
                frame, unit=self.unit, max_rows=self._rows, first_by=self.first_by, columns=[*above, column]
            )
        caution(epsilon=self.epsilon, delta=self.delta, n=self.total)
        # Counted before the debit: values outside the domain are found here.
        counts = engine.counted(engine.group_counts(frame, column, above, domain, public), checkpoint)
        with self._charge(mechanism):
            self._keep(mechanism, domain)
            return engine.release_rows(counts, above, RowShares(mechanism, len(domain)), checkpoint)

    def _mechanism(self, dimension: int, *, rows: bool) -> Any:
        if dimension < 2:
            raise InvalidParameterError(f"domain must have at least two levels, got {dimension}")
        name = check.choice("mechanism", self.mechanism, MECHANISMS)
        if name == "auto" and (self.scale is not None or self.prior is not None):
            name = "dirichlet"
        if name != "dirichlet":
            if self.scale is not None or self.prior is not None:
                raise InvalidParameterError('scale and prior must be left out unless mechanism is "dirichlet"')
            epsilon, delta = check.positive("epsilon", self.epsilon), check.non_negative("delta", self.delta)
            check.choice("adjacency", self.adjacency, ADJACENCIES)
            if name == "auto":
                name = automatic(epsilon, delta, adjacency=self.adjacency, rows=rows or self._rows > 1)
            entry = CATALOGUE[name]
            keeps_total = len(entry.adjacencies) == 1
            if self.adjacency not in entry.adjacencies or (keeps_total and (rows or self._rows > 1)):
                raise InvalidParameterError(
                    f"mechanism must hide the sizes of groups, and of the data where a record may be added; {name!r} "
                    "does not"
                )
            arguments, keywords = entry.construction(epsilon, delta, self.adjacency, dimension)
            if self._rows > 1:
                keywords["max_rows"] = self._rows
            if self.unit is not None:
                keywords["unit"] = unit_of(self.unit)
            return entry.mechanism.for_counts(*arguments, **keywords)
        return DirichletMechanism.calibrated(
            epsilon=self.epsilon,
            delta=self.delta,
            dimension=dimension,
            total=self.total * self._rows if self.weighted and self.total is not None else self.total,
            scale=self.scale,
            prior=self.prior,
            adjacency=self.adjacency,
            max_rows=self._rows,
            unit=None if self.unit is None else unit_of(self.unit),
        )

    @property
    def _rows(self) -> int:
        """How many records of a person count, or units where they are weighted."""
        bound = checked_bound(self.unit, self.max_rows, self.first_by, None)
        if check.flag("weighted", self.weighted):
            if bound is None:
                raise InvalidParameterError("weighted must be False unless unit names the column of persons")
            return moves_of(bound.max_rows, weighted=True)
        return 1 if bound is None else bound.max_rows

    def _charge(self, mechanism: Any) -> AbstractContextManager[Any]:
        return debit(self.accountant, mechanism.privacy, "histogram", self.random_state)

    def _keep(self, mechanism: Any, domain: Domain) -> None:
        self.mechanism_ = mechanism
        self.levels_ = domain.levels
        self.privacy_: PrivacyCurve = mechanism.privacy
        if self.unit is not None:
            assert self.max_rows is not None  # with unit, as was checked
            self.privacy_ = whose(mechanism.privacy, self.unit, self.max_rows)
        self.seeded_ = self.random_state is not None

    def _domain(self, frame: Any, column: Any) -> Domain:
        if self.domain is not None:
            return as_domain(self.domain)
        caution_leak(
            f"the domain of {column!r} was inferred from private data, which reveals the values that occur; state it "
            "publicly with domain=",
        )
        return infer_domain(frame, column)

    def _groups(self, frame: Any, by: Any, above: list[Any]) -> Domain:
        if isinstance(self.groups, Mapping):
            if by not in self.groups:
                raise InvalidParameterError(f"groups must give those of every column of by, got none for {by!r}")
            return as_domain(self.groups[by])
        if self.groups is not None:
            if len(above) > 1:
                raise InvalidParameterError("groups must map each column of by to its groups where there are several")
            return as_domain(self.groups)
        caution_leak(
            f"the groups of {by!r} were inferred from private data, which reveals the values that occur; state them "
            "publicly with groups=",
        )
        return infer_domain(frame, by)


def _stated_groups(groups: Any, above: Sequence[Any]) -> dict[Any, list[Any]]:
    """Return the public groups of each of these columns."""
    if groups is None:
        raise InvalidParameterError("groups must be stated publicly, got None")
    if not isinstance(groups, Mapping):
        if len(above) > 1:
            raise InvalidParameterError("groups must map each column of by to its groups where there are several")
        groups = {above[0]: groups}
    missing = [each for each in above if each not in groups]
    if missing:
        raise InvalidParameterError(f"groups must give those of every column of by, got none for {missing[0]!r}")
    return {each: as_domain(groups[each]).levels for each in above}


def _columns(by: Any, column: Any) -> list[Any]:
    """Return the columns of groups, each once and none the counted one."""
    above = [] if by is None else list(by) if isinstance(by, (list, tuple)) else [by]
    if by is not None and not above:
        raise InvalidParameterError("by must name at least one column, or be None")
    if any(above.count(each) > 1 or each == column for each in above):
        raise InvalidParameterError(f"by must name columns other than {column!r}, each once, got {by!r}")
    return above
