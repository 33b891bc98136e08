"""Normalised histograms of a column, one or one for each of many groups, released in one go."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from simplexdp.exceptions import InvalidParameterError, PrivacyLeakWarning
from simplexdp.frames import Domain, count_table
from simplexdp.frames.domain import DomainLike, as_domain
from simplexdp.mechanisms import DirichletMechanism
from simplexdp.models.debit import debit
from simplexdp.models.domains import infer_domain

if TYPE_CHECKING:
    from simplexdp.accounting import PrivacyCurve
    from simplexdp.testing import SeededRng

__all__ = ["PrivateHistogram"]


class PrivateHistogram(BaseEstimator):  # type: ignore[misc]
    """The distribution of a column, released by the Dirichlet mechanism.

    With groups, every group gets a distribution of its own. The groups are disjoint, so all of them together cost as
    much as one: a record that is added or removed changes one row, and a record that moves from one group to
    another is covered by the same pair of distributions (theory B2).

    Parameters
    ----------
    domain : sequence, int or Domain, optional
        The public values of the column. Without it they are read off the data, which leaks and warns.
    groups : sequence, int or Domain, optional
        The public groups; needed when `fit` is given ``by``.
    epsilon, delta : float
        The budget of the whole release.
    scale, prior : float, optional
        Fix the scale or the prior of the mechanism; by default both are chosen for the budget.
    total : int, optional
        The number of records in a histogram, public or a public guess, for which the prior is chosen; needed unless
        `prior` or `scale` is given.
    adjacency : {"replace", "add_remove"}
        Which data sets are neighbours.
    accountant : Accountant, optional
        Is asked for the budget before anything is drawn.
    random_state : SeededRng, optional
        For tests only.

    Attributes
    ----------
    probabilities_ : ndarray, shape (d,) or (n_groups, d)
        Rows sum to one.
    levels_ : list
        The values, in the order of the last axis.
    mechanism_ : DirichletMechanism
    groups_ : list or None
        The groups in the order of the rows of `probabilities_`, where `fit` had a column of them.
    privacy_ : PrivacyCurve
    seeded_ : bool
        Whether it was drawn with a seed; it protects nobody then.

    Examples
    --------
    >>> from simplexdp.models import PrivateHistogram
    >>> answers = {"answer": ["yes"] * 70 + ["no"] * 30}
    >>> histogram = PrivateHistogram(domain=["no", "yes"], epsilon=1.0, total=100).fit(answers, "answer")
    >>> histogram.probabilities_.shape
    (2,)
    """

    def __init__(
        self,
        domain: DomainLike | None = None,
        *,
        groups: DomainLike | None = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        scale: float | None = None,
        prior: float | None = None,
        total: int | None = None,
        adjacency: str = "replace",
        accountant: Any = None,
        random_state: SeededRng | None = None,
    ) -> None:
        self.domain = domain
        self.groups = groups
        self.epsilon = epsilon
        self.delta = delta
        self.scale = scale
        self.prior = prior
        self.total = total
        self.adjacency = adjacency
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
        by : str or int, optional
            The column of groups.

        Returns
        -------
        self
        """
        domains = {column: self._domain(frame, column)}
        if by is not None:
            domains[by] = self._groups(frame, by)
        mechanism = self._mechanism(len(domains[column]))
        counts = count_table(frame, [column] if by is None else [by, column], domains)
        with self._charge(mechanism):
            self.probabilities_: NDArray[np.float64] = mechanism.release(counts, rng=self.random_state)
        self.groups_: list[Any] | None = None if by is None else domains[by].levels
        self._keep(mechanism, domains[column])
        return self

    def release_on_spark(
        self, frame: Any, column: str, *, by: str, groups: Any = None, checkpoint: str | None = None
    ) -> Any:
        """Release one distribution for each group where the groups are, without collecting them.

        The rows are counted by Spark; every task then draws with fresh randomness of its own operating system.

        Parameters
        ----------
        frame : pyspark.sql.DataFrame
        column, by : str
            The column whose distribution is released, and the column of groups.
        groups : pyspark.sql.DataFrame or sequence, optional
            The public groups: a data frame with a column `by`, or a list; by default those of the constructor.
            Records of other groups are left out.
        checkpoint : str, optional
            A path, where nothing is yet, to which the release is written as Parquet. By default it is kept on the
            executors by a local checkpoint, and is lost with them: it is never drawn again.

        Returns
        -------
        pyspark.sql.DataFrame
            One row a group: `by`, and an array ``probabilities`` in the order of `levels_`. It is drawn once, when
            this method runs.
        """
        from simplexdp.models import spark

        return self._release_in_tasks(spark, frame, column, by, groups, self._domain(frame, column), checkpoint)

    def release_on_dask(
        self, frame: Any, column: str, *, by: str, groups: Any = None, checkpoint: str | None = None
    ) -> Any:
        """Release one distribution for each group in the partitions, without collecting the counts.

        Parameters
        ----------
        frame : dask.dataframe.DataFrame
        column, by : str
            The column whose distribution is released, and the column of groups.
        groups : dask.dataframe.DataFrame or sequence, optional
            The public groups: a data frame with a column `by`, or a list; by default those of the constructor.
            Records of other groups are left out.
        checkpoint : str, optional
            A folder that all workers share, empty or none yet, in which each partition of the release is stored when it
            is drawn. By default the release is brought to the client.

        Returns
        -------
        dask.dataframe.DataFrame
            One row a group: `by`, and columns ``p0``, ``p1``, ... in the order of `levels_`. It is drawn once, when
            this method runs, whatever workers are lost then.
        """
        from simplexdp.models import dask

        return self._release_in_tasks(dask, frame, column, by, groups, self._domain(frame, column), checkpoint)

    def _release_in_tasks(
        self, engine: Any, frame: Any, column: str, by: str, groups: Any, domain: Domain, checkpoint: str | None
    ) -> Any:
        """Count and release where the groups are, by the module of an engine."""
        if self.random_state is not None:
            raise InvalidParameterError("random_state must be None here: every task draws from its own system")
        public = groups if groups is not None else self.groups
        if public is None:
            raise InvalidParameterError("groups must be stated publicly, got None")
        if not hasattr(public, "columns"):
            public = as_domain(public).levels
        mechanism = self._mechanism(len(domain))
        # Counted before the debit: values outside the domain are found here.
        counts = engine.counted(engine.group_counts(frame, column, by, domain, public), checkpoint)
        with self._charge(mechanism):
            self._keep(mechanism, domain)
            return engine.release_rows(counts, by, mechanism, checkpoint)

    def _mechanism(self, dimension: int) -> DirichletMechanism:
        if dimension < 2:
            raise InvalidParameterError(f"domain must have at least two levels, got {dimension}")
        return DirichletMechanism.calibrated(
            epsilon=self.epsilon,
            delta=self.delta,
            dimension=dimension,
            total=self.total,
            scale=self.scale,
            prior=self.prior,
            adjacency=self.adjacency,
        )

    def _charge(self, mechanism: DirichletMechanism) -> AbstractContextManager[Any]:
        return debit(self.accountant, mechanism.privacy, "histogram", self.random_state)

    def _keep(self, mechanism: DirichletMechanism, domain: Domain) -> None:
        self.mechanism_ = mechanism
        self.levels_ = domain.levels
        self.privacy_: PrivacyCurve = mechanism.privacy
        self.seeded_ = self.random_state is not None

    def _domain(self, frame: Any, column: Any) -> Domain:
        if self.domain is not None:
            return as_domain(self.domain)
        warnings.warn(
            f"the domain of {column!r} was inferred from private data, which reveals the values that occur; state it "
            "publicly with domain=",
            PrivacyLeakWarning,
            stacklevel=3,
        )
        return infer_domain(frame, column)

    def _groups(self, frame: Any, by: Any) -> Domain:
        if self.groups is not None:
            return as_domain(self.groups)
        warnings.warn(
            f"the groups of {by!r} were inferred from private data, which reveals the values that occur; state them "
            "publicly with groups=",
            PrivacyLeakWarning,
            stacklevel=3,
        )
        return infer_domain(frame, by)
