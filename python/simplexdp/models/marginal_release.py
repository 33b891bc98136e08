"""The measurement behind a synthesizer: which tables, at what cost, and the counts of a frame."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplexdp import _core
from simplexdp.accounting import PrivacyCurve, compose
from simplexdp.accounting.curve import Adjacency
from simplexdp.accounting.search import largest_within
from simplexdp.exceptions import InvalidDataError, InvalidParameterError, NumericalError
from simplexdp.frames import Domain, count_tables
from simplexdp.frames.encoding import checked_codes, encode_columns
from simplexdp.frames.source import as_frame, is_lazy

__all__ = ["Measured", "Release", "count", "count_rows", "groups_of", "resolve_workload"]

Pair = tuple[int, int]


@dataclass(frozen=True)
class Measured:
    """What was released; all else is made of it.

    Attributes
    ----------
    total, total_sigma : float
        The number of records, and the parameter of its noise; 0 where it is public.
    cells : ndarray
        All cells: the one-way tables side by side, then the pairs.
    sigmas : ndarray
        The parameter of the noise of each table's cells; of one-way tables alone where records were too few for pairs.
    """

    total: float
    total_sigma: float
    cells: NDArray[np.float64]
    sigmas: NDArray[np.float64]

    def as_tuple(self) -> tuple[float, float, NDArray[np.float64], NDArray[np.float64]]:
        """Return what the core takes."""
        return self.total, self.total_sigma, self.cells, self.sigmas


@dataclass(frozen=True)
class Release:
    """A planned measurement: its tables, its cost mu, and the curve of all that the budget pays for."""

    sizes: tuple[int, ...]
    pairs: tuple[Pair, ...]
    weights: tuple[float, ...]
    adjacency: Adjacency
    max_rows: int
    mu: float
    privacy: PrivacyCurve
    units: int = 1
    """In how many a person is counted; what is measured is told in persons."""

    @classmethod
    def planned(
        cls,
        sizes: Sequence[int],
        workload: Mapping[Pair, float],
        *,
        epsilon: float,
        delta: float,
        adjacency: Adjacency,
        beside: PrivacyCurve | None,
        max_rows: int = 1,
        units: int = 1,
    ) -> Release:
        """Plan for a budget and persons with at most so many records; `beside` is what the budget pays for too."""
        pairs, weights = tuple(workload), tuple(workload.values())
        common = (list(sizes), list(pairs), list(weights), (adjacency == "replace", max_rows))

        def of(plan: _core.MarginalPlan) -> Release:
            # The worst change of a person's records moves a normal law by mu; Theorem S has the rest.
            curve = PrivacyCurve.gaussian(sigma=1.0, sensitivity=plan.mu, adjacency=adjacency)
            curve = curve.with_sampling_error(plan.error)
            curve = curve if beside is None else compose([curve, beside])
            return cls(tuple(sizes), pairs, weights, adjacency, max_rows, plan.mu, curve, units)

        if beside is None:
            release = of(_core.MarginalPlan.calibrated(*common, epsilon, delta))
        else:
            spent = float(beside.epsilon(delta))
            if not spent < epsilon * (1 - 1e-6):
                raise InvalidParameterError(
                    "epsilon must leave something for the tables beside the private quantiles of the binner, "
                    f"got {epsilon}"
                )

            def attempt(log_mu: float) -> tuple[Release, float]:
                found = of(_core.MarginalPlan(*common, math.exp(log_mu)))
                return found, float(found.privacy.epsilon(delta)) / epsilon

            release = largest_within(attempt, math.log(_core.gaussian_mu(epsilon - spent, delta)))
        if not release.privacy.epsilon(delta) <= epsilon:
            raise NumericalError(f"epsilon {epsilon} at delta {delta:g} cannot be kept")
        return release

    def measure(self, sizes: Sequence[int], counts: NDArray[np.int64], rng: Any) -> Measured:
        """Draw all tables; columns with fewer levels than planned are fine: the cost does not depend on them."""
        plan = _core.MarginalPlan(
            list(sizes),
            list(self.pairs),
            list(self.weights),
            (self.adjacency == "replace", self.max_rows),
            self.mu,
        )
        total, total_sigma, cells, sigmas = plan.measure(counts, rng)
        return Measured(total / self.units, total_sigma / self.units, cells / self.units, sigmas / self.units)


def resolve_workload(workload: Any, columns: Sequence[Any], sizes: Sequence[int]) -> dict[Pair, float]:
    """Return the pairs of positions to measure, and their weights; by default all pairs with something to tell."""
    position = {column: index for index, column in enumerate(columns)}
    if workload is None:
        informative = [index for index, size in enumerate(sizes) if size > 1]
        return dict.fromkeys(combinations(informative, 2), 1.0)
    if isinstance(workload, (str, bytes)):
        raise InvalidParameterError(f"workload must be pairs of columns, got {workload!r}")
    try:
        pairs = [tuple(pair) for pair in workload]
    except TypeError:
        raise InvalidParameterError(f"workload must be pairs of columns, got {workload!r}") from None
    weights = list(workload.values()) if isinstance(workload, Mapping) else [1.0] * len(pairs)
    found: dict[Pair, float] = {}
    for pair, weight in zip(pairs, weights, strict=True):
        if len(pair) != 2 or pair[0] == pair[1] or not all(column in position for column in pair):
            raise InvalidParameterError(f"workload must name pairs of different columns, got {pair!r}")
        if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not 0 < weight < math.inf:
            raise InvalidParameterError(f"workload must have positive weights, got {weight!r} for {pair!r}")
        first, second = sorted(position[column] for column in pair)
        if (first, second) in found:
            raise InvalidParameterError(f"workload must name every pair once, got {pair!r} again")
        found[first, second] = float(weight)
    return found


def count(frame: Any, domains: Mapping[Any, Domain], pairs: Sequence[Pair]) -> NDArray[np.int64]:
    """Count all one-way tables and the pairs: one pass over codes, or one query where the data are."""
    frame = as_frame(frame)
    if not is_lazy(frame):
        return count_rows(frame, domains, pairs)
    if frame.implementation.is_pyspark() or frame.implementation.is_pyspark_connect():
        from simplexdp.models.spark_tables import counted_by_workers

        counts = counted_by_workers(frame, domains, pairs)
        if counts is not None:
            return counts
    tables = count_tables(frame, groups_of(domains, pairs), domains)
    return np.concatenate([table.ravel() for table in tables])


def groups_of(domains: Mapping[Any, Domain], pairs: Sequence[Pair]) -> list[list[Any]]:
    """Return the columns of every table."""
    columns = list(domains)
    return [[column] for column in columns] + [[columns[i], columns[j]] for i, j in pairs]


def count_rows(frame: Any, domains: Mapping[Any, Domain], pairs: Sequence[Pair]) -> NDArray[np.int64]:
    """Count the tables of rows that are in memory."""
    codes = encode_columns(frame, domains, domains)
    try:
        return _core.count_marginals(list(codes.values()), [len(domain) for domain in domains.values()], list(pairs))
    except InvalidDataError:
        # Only now each column is looked at on its own.
        for column, domain in domains.items():
            checked_codes(codes[column], domain, column)
        raise
