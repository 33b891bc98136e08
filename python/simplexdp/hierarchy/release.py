"""Noisy counts on the levels of a hierarchy, and what they say together of every group."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplexdp import _arguments as check
from simplexdp.accounting import PrivacyCurve, compose
from simplexdp.accounting.search import largest_within
from simplexdp.exceptions import InvalidParameterError, NumericalError
from simplexdp.frames import Domain, count_table
from simplexdp.frames.domain import DomainLike, as_domain
from simplexdp.frames.persons import checked_bound, seed_of
from simplexdp.hierarchy.public import Hierarchy
from simplexdp.inference.laws import CountLaws
from simplexdp.inference.least_squares import Estimates, Measured, least_squares
from simplexdp.inference.lopsided import beside_large, large_leaves
from simplexdp.inference.tree import Level, empirical_parts, tree_posterior
from simplexdp.mechanisms import DiscreteGaussianMechanism, DiscreteLaplaceMechanism
from simplexdp.mechanisms.dirichlet_parameters import ADJACENCIES
from simplexdp.models.debit import debit
from simplexdp.models.released import Law

__all__ = ["HierarchicalCounts", "best_shares", "drawn_levels", "planned_levels", "release"]

Floats = NDArray[np.float64]
Mechanism = DiscreteGaussianMechanism | DiscreteLaplaceMechanism

STEPS = 20
"""Shares of levels are looked for among multiples of one in so many."""
MOST_SEARCHED = 4
"""Levels; of more each gets as much."""
MARGIN = Fraction(1, 2**40)
"""Of a budget, kept for the roundings of its sum, which go upwards."""


@dataclass(frozen=True, eq=False)
class HierarchicalCounts:
    """A release of all levels; everything else here is made of it, at no cost.

    Attributes
    ----------
    hierarchy : Hierarchy
    levels : list or None
        The values of the counted column.
    shares : tuple of Fraction
        Of the budget, for each level; a level with none was not measured.
    mechanisms : tuple
        Of each level, None where it was not measured.
    noisy : tuple of ndarray
        What was released of each level: shape (groups,) or (groups, values).
    privacy : PrivacyCurve
        Of all together.
    total : int or None
        The number of records, where it is public.
    """

    hierarchy: Hierarchy
    levels: list[Any] | None
    shares: tuple[Fraction, ...]
    mechanisms: tuple[Mechanism | None, ...]
    noisy: tuple[NDArray[np.int64] | None, ...]
    privacy: PrivacyCurve
    total: int | None

    @property
    def _values(self) -> int:
        return 1 if self.levels is None else len(self.levels)

    def _parents(self, depth: int) -> NDArray[np.int64]:
        """Return the parents of the cells of a level: a tree for each value, one after the other."""
        parent = self.hierarchy.parents(depth)
        above = 1 if depth == 0 else len(self.hierarchy.groups(self.hierarchy.columns[depth - 1]))
        return np.concatenate([parent + value * above for value in range(self._values)])

    def _cells(self, depth: int) -> tuple[Floats | None, Law | None]:
        noisy, mechanism = self.noisy[depth], self.mechanisms[depth]
        if noisy is None:
            return None, None
        return noisy.reshape(len(noisy), -1).T.ravel().astype(np.float64), Law.of_noise(mechanism)

    @cached_property
    def _posterior(self) -> list[CountLaws]:
        depths = range(self.hierarchy.depth)
        parents = [self._parents(depth) for depth in depths]
        cells = [self._cells(depth) for depth in depths]
        if self.levels is not None:
            parents.insert(0, np.zeros(self._values, dtype=np.int64))
            cells.insert(0, (None, None))
        noisy, law = cells[-1]
        if noisy is not None and law is not None and all(above is None for above, _ in cells[:-1]):
            large = large_leaves(noisy, law)
            if len(large):
                parts = [lambda parent, nodes: empirical_parts(parent)] * len(parents)
                return beside_large(parents, parts, noisy, law, large, self.total)[-self.hierarchy.depth :]
        tree = [Level(parent, empirical_parts(parent), *each) for parent, each in zip(parents, cells, strict=True)]
        return tree_posterior(tree, self.total)[-self.hierarchy.depth :]

    def counts(self, column: Any) -> CountLaws:
        """Return the laws of the counts of a column's groups: ``mean``, ``sd``, ``interval(level)``.

        They are exact given all that was released: not negative, and children's means add up to their parent's. Where
        the finest level alone was measured, groups above a count far above the others take it and the rest as
        independent.

        Parameters
        ----------
        column : str
            One of the hierarchy.

        Returns
        -------
        CountLaws
            Of shape (groups,) or (groups, values).
        """
        depth = self._depth(column)
        cells = len(self.hierarchy.groups(column))
        return self._posterior[depth].turned(cells, self.levels is not None)

    def least_squares(self, column: Any) -> Estimates:
        """Return the best linear unbiased estimates and the variances of their errors, which may be below zero.

        They add up too, and need no prior.

        Parameters
        ----------
        column : str
            One of the hierarchy.
        """
        depth = self._depth(column)
        top: list[Measured] = []
        if self.levels is not None:
            top = [Measured(np.zeros(self._values, dtype=np.int64), np.zeros(self._values), np.inf)]
        tree = []
        for place in range(self.hierarchy.depth):
            noisy, law = self._cells(place)
            parent = self._parents(place)
            zeros = np.zeros(len(parent))
            tree.append(Measured(parent, zeros if noisy is None else noisy, np.inf if law is None else law.variance))
        found = least_squares([*top, *tree], self.total)[-self.hierarchy.depth :][depth]
        if self.levels is None:
            return found
        return Estimates(*(each.reshape(self._values, -1).T for each in found))

    def integers(self) -> list[NDArray[np.int64]]:
        """Return whole, non-negative counts of each level that add up: expected ones, rounded from the top down.

        What is left by rounding down goes to the children with the largest rests.
        """
        means = [self._posterior[depth].mean.reshape(self._values, -1) for depth in range(self.hierarchy.depth)]
        everything = float(means[0].sum()) if self.total is None else float(self.total)
        above = _rounded(np.array([round(everything)]), np.zeros(self._values, dtype=np.int64), means[0].sum(axis=1))
        found = []
        for depth, mean in enumerate(means):
            above = _rounded(above, self._parents(depth), mean.ravel())
            table = above.reshape(self._values, -1).T
            found.append(table[:, 0] if self.levels is None else table)
        return found

    def _depth(self, column: Any) -> int:
        if column not in self.hierarchy.columns:
            raise InvalidParameterError(f"column must be one of {list(self.hierarchy.columns)!r}, got {column!r}")
        return self.hierarchy.columns.index(column)

    def __repr__(self) -> str:
        shares = ", ".join(
            f"{name}: {float(each):g}" for name, each in zip(self.hierarchy.columns, self.shares, strict=True)
        )
        return f"HierarchicalCounts(shares={{{shares}}})"


def _rounded(above: NDArray[np.int64], parent: NDArray[np.int64], mean: Floats) -> NDArray[np.int64]:
    """Share whole numbers among children, as near to their means as whole numbers are."""
    sums = np.bincount(parent, mean)
    sizes = np.bincount(parent)
    share = np.where(sums[parent] > 0, mean / np.where(sums > 0, sums, 1.0)[parent], 1.0 / sizes[parent])
    wanted = share * above[parent]
    found = np.floor(wanted).astype(np.int64)
    left = above - np.bincount(parent, found).astype(np.int64)
    for place in np.flatnonzero(left):
        children = np.flatnonzero(parent == place)
        order = children[np.argsort(found[children] - wanted[children], kind="stable")]
        found[order[: left[place]]] += 1
    return found


def release(
    frame: Any,
    hierarchy: Hierarchy,
    *,
    column: Any = None,
    domain: DomainLike | None = None,
    epsilon: float,
    delta: float | None = None,
    level_shares: Sequence[float] | None = None,
    other: str | None = None,
    adjacency: str = "replace",
    unit: Any = None,
    max_rows: int | None = None,
    first_by: Any = None,
    accountant: Any = None,
    label: str = "hierarchy",
    rng: Any = None,
) -> HierarchicalCounts:
    """Release the counts of all groups of a hierarchy, of each value of a column where one is given.

    A record counts once on every level that is measured, so levels are paid for together: the curves of their noise are
    composed. Only the finest column is read; coarser ones follow from the public hierarchy.

    Parameters
    ----------
    frame : data frame or mapping
        As for `simplexdp.frames.count_table`.
    hierarchy : Hierarchy
        Public.
    column : str, optional
        Whose values are counted in each group.
    domain : sequence, int or Domain, optional
        Its public values.
    epsilon, delta : float
        The budget of all levels together. With a delta, of two kinds of noise the smaller one.
    level_shares : sequence of float, optional
        Of the budget for each level, from coarse to fine; zero leaves a level out, but not the finest. By default those
        with the least geometric mean of the levels' variances, told by the public hierarchy alone.
    other : str, optional
        A group on every level for records of no listed group; without it such a record is an error.
    adjacency : {"replace", "add_remove"}, default "replace"
        Which data sets are neighbours.
    unit, max_rows, first_by : optional
        At most so many rows of each person count (`simplexdp.frames.bound_rows`).
    accountant : Accountant, optional
        Is asked for the budget before anything is drawn.
    label : str
        What for, in the ledger.
    rng : SeededRng, optional
        For tests only.

    Returns
    -------
    HierarchicalCounts

    Examples
    --------
    >>> from simplexdp import hierarchy
    >>> places = hierarchy.Hierarchy.from_mapping(["region", "district"], {"north": ["n1", "n2"], "south": ["s1"]})
    >>> people = {"district": ["n1"] * 50 + ["n2"] * 30 + ["s1"] * 20}
    >>> found = hierarchy.release(people, places, epsilon=1.0)
    >>> regions, districts = found.integers()
    >>> int(regions.sum()), bool(regions[0] == districts[:2].sum())
    (100, True)
    """
    if not isinstance(hierarchy, Hierarchy):
        raise InvalidParameterError(f"hierarchy must be a Hierarchy, got {type(hierarchy).__name__}")
    if (column is None) != (domain is None):
        raise InvalidParameterError("column and domain must be given together: the values are public")
    if column in hierarchy.columns:
        raise InvalidParameterError(f"column must be none of the hierarchy, got {column!r}")
    epsilon = check.positive("epsilon", epsilon)
    if delta is not None:
        delta = check.open_unit("delta", delta)
    check.choice("adjacency", adjacency, ADJACENCIES)
    finest = hierarchy.columns[-1]
    groups = Domain([path[-1] for path in hierarchy.paths], other=other is not None)
    if other is not None:
        if any(other in path for path in hierarchy.paths):
            raise InvalidParameterError(f"other must be no group of the hierarchy, got {other!r}")
        hierarchy = Hierarchy(hierarchy.columns, [*hierarchy.paths, (other,) * hierarchy.depth])
    bound = checked_bound(unit, max_rows, first_by, None)
    rows = 1 if bound is None else bound.max_rows
    domains: dict[Any, Any] = {finest: groups}
    levels = None
    if column is not None:
        domains[column] = as_domain(domain)  # type: ignore[arg-type]
        levels = domains[column].levels
    shares, mechanisms, curve = planned_levels(hierarchy, epsilon, delta, level_shares, adjacency, rows)
    if unit is not None:
        curve = curve.for_unit(str(unit))
    seed = seed_of(unit, rng)
    counts = count_table(frame, list(domains), domains, unit=unit, max_rows=max_rows, first_by=first_by, seed=seed)
    with debit(accountant, curve, label, rng):
        noisy = drawn_levels(hierarchy, mechanisms, counts, rng)
    public = adjacency == "replace" and unit is None
    return HierarchicalCounts(
        hierarchy, levels, shares, mechanisms, noisy, curve, int(counts.sum()) if public else None
    )


def drawn_levels(
    hierarchy: Hierarchy, mechanisms: Sequence[Mechanism | None], counts: NDArray[np.int64], rng: Any
) -> tuple[NDArray[np.int64] | None, ...]:
    """Return the noisy counts of each level that is measured, from the counts of the finest."""
    tables = [counts]
    for depth in range(hierarchy.depth - 1, 0, -1):
        parent = hierarchy.parents(depth)
        above = np.zeros((int(parent.max()) + 1, *counts.shape[1:]), dtype=np.int64)
        np.add.at(above, parent, tables[0])
        tables.insert(0, above)
    return tuple(
        None if mechanism is None else np.asarray(mechanism.release(table, rng=rng), dtype=np.int64)
        for mechanism, table in zip(mechanisms, tables, strict=True)
    )


def planned_levels(
    hierarchy: Hierarchy,
    epsilon: float,
    delta: float | None,
    stated: Sequence[float] | None,
    adjacency: Any,
    rows: int,
) -> tuple[tuple[Fraction, ...], tuple[Mechanism | None, ...], PrivacyCurve]:
    """Return the shares, the noise of each level and what all of it costs, from public numbers alone."""
    plans = []
    for power in (2, 1) if delta is not None else (2,):
        shares = best_shares(hierarchy, power) if stated is None else _checked_shares(stated, hierarchy.depth)
        if power == 2:
            mechanisms, curve = _pure(shares, epsilon, adjacency, rows)
        else:
            assert delta is not None
            mechanisms, curve = _gaussian(shares, epsilon, delta, adjacency, rows)
        variances = [None if each is None else Law.of_noise(each).variance for each in mechanisms]
        plans.append((_log_error(hierarchy, variances), shares, mechanisms, curve))
    _, shares, mechanisms, curve = min(plans, key=lambda plan: plan[0])
    if not curve.epsilon(0.0 if delta is None else delta) <= epsilon:
        raise NumericalError(f"the levels together cost more than epsilon {epsilon:g}: nothing is released")
    return shares, mechanisms, curve


def _pure(
    shares: tuple[Fraction, ...], epsilon: float, adjacency: Any, rows: int
) -> tuple[tuple[Mechanism | None, ...], PrivacyCurve]:
    several = sum(share > 0 for share in shares) > 1
    budget = Fraction(epsilon) * (1 - MARGIN if several else 1)
    found = tuple(
        DiscreteLaplaceMechanism.for_counts(budget * share, adjacency=adjacency, max_rows=rows) if share else None
        for share in shares
    )
    return found, compose([each.privacy for each in found if each is not None])


def _gaussian(
    shares: tuple[Fraction, ...], epsilon: float, delta: float, adjacency: Any, rows: int
) -> tuple[tuple[Mechanism | None, ...], PrivacyCurve]:
    def attempt(log_rho: float) -> tuple[tuple[tuple[Mechanism | None, ...], PrivacyCurve], float]:
        rho = Fraction(float(np.exp(log_rho)))
        found = tuple(
            DiscreteGaussianMechanism.for_counts(rho=rho * share, adjacency=adjacency, max_rows=rows) if share else None
            for share in shares
        )
        curve = compose([each.privacy for each in found if each is not None])
        return (found, curve), float(curve.epsilon(delta)) / epsilon

    start = float(np.log(epsilon**2 / (4 * np.log(1 / delta) + 4 * epsilon)))
    return largest_within(attempt, start)


def _checked_shares(stated: Sequence[float], depth: int) -> tuple[Fraction, ...]:
    values = check.numbers("level_shares", stated)
    if values.shape != (depth,) or np.any(values < 0) or not np.all(np.isfinite(values)) or not values[-1] > 0:
        raise InvalidParameterError(
            f"level_shares must be {depth} numbers from 0 on, above 0 for the finest level, got {stated!r}"
        )
    exact = [Fraction(float(value)) for value in values]
    return tuple(each / sum(exact) for each in exact)


def _log_error(hierarchy: Hierarchy, variances: Sequence[float | None]) -> float:
    """Return the sum over levels of the logarithm of the mean variance of their groups, by least squares."""
    tree = [
        Measured(hierarchy.parents(depth), np.zeros(len(hierarchy.parents(depth))), np.inf if each is None else each)
        for depth, each in enumerate(variances)
    ]
    return float(sum(np.log(np.mean(found.variances)) for found in least_squares(tree)[1:]))


def best_shares(hierarchy: Hierarchy, power: int) -> tuple[Fraction, ...]:
    """Return the shares with the least geometric mean of the levels' variances.

    Parameters
    ----------
    hierarchy : Hierarchy
    power : int
        Variances of noise fall as this power of a share: 2 for Laplace noise, 1 for Gaussian.
    """
    depth = hierarchy.depth
    if depth > MOST_SEARCHED:
        return (Fraction(1, depth),) * depth
    steps = STEPS if depth < MOST_SEARCHED else STEPS // 2
    choices = [
        (*upper, steps - sum(upper))
        for upper in itertools.product(range(steps), repeat=depth - 1)
        if sum(upper) < steps
    ]

    def error(choice: tuple[int, ...]) -> float:
        return _log_error(hierarchy, [None if not each else float(each) ** -power for each in choice])

    best = min(choices, key=error)
    return tuple(Fraction(each, steps) for each in best)
