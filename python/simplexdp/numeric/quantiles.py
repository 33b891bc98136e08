"""Private quantiles with intervals: from noisy counts on a tree of public bins."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp import _arguments
from simplexdp.accounting import PrivacyCurve
from simplexdp.exceptions import InvalidParameterError
from simplexdp.mechanisms import DiscreteGaussianMechanism, DiscreteLaplaceMechanism
from simplexdp.models.debit import debit
from simplexdp.models.released import Law
from simplexdp.numeric.column import checked_bounds, numbers_in
from simplexdp.numeric.tree import Tree, best_tree
from simplexdp.sensitivity import of_counts

__all__ = ["GroupedQuantiles", "PrivateQuantiles", "quantiles"]

BITS = 9
"""512 bins: their width is part of every interval."""

MOST_GROUPS = 1 << 16
"""Each has as many noisy counts as a tree has nodes."""

Floats = NDArray[np.float64]
Mechanism = DiscreteGaussianMechanism | DiscreteLaplaceMechanism


@dataclass(frozen=True, eq=False)
class PrivateQuantiles:
    """Released quantiles; everything else here is made of the same release, at no cost.

    Attributes
    ----------
    levels, estimate : ndarray
        Which quantiles, and what they are.
    count : int or float
        The public number of values, or the estimated one.
    edges : ndarray
        The public ends of the bins.
    privacy : PrivacyCurve
    mechanism : str
    """

    levels: Floats
    edges: Floats
    privacy: PrivacyCurve
    mechanism: str
    _tree: Tree
    _law: Law
    _noisy: Floats
    _total: int | None

    @cached_property
    def _counts(self) -> Floats:
        return self._tree.leaves(self._noisy, self._total)

    @property
    def count(self) -> float:
        """The public number of values, or the estimated one."""
        return self._total if self._total is not None else max(float(self._counts.sum()), 0.0)

    @cached_property
    def estimate(self) -> Floats:
        """The quantiles: where the estimated share of smaller values reaches the level, bins taken as even."""
        return self.quantile(self.levels)

    def quantile(self, levels: ArrayLike) -> Floats:
        """Return the estimates of other quantiles.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> found = sdp.numeric.quantiles(range(1000), bounds=(0, 1000), epsilon=1.0, delta=1e-6)
        >>> found.quantile([0.1, 0.9]).shape
        (2,)
        """
        wanted = _levels(levels)
        below = np.concatenate([[0.0], np.cumsum(self._counts)])
        # Between what a share cannot fall below, from the left, and above, from the right.
        rising = (np.maximum.accumulate(below) + np.minimum.accumulate(below[::-1])[::-1]) / 2
        rising = np.maximum.accumulate(np.clip(rising, 0.0, None))
        found: Floats = np.interp(wanted * max(self.count, 1.0), rising, self.edges)
        return found

    def interval(self, level: float = 0.95) -> Floats:
        """Return confidence intervals of the quantiles of these values, clamped to the bounds, whatever the data.

        An end of a bin is ruled out where the noisy number of values below it is further from what the quantile needs
        than the noise goes with this probability; the interval is made of whole bins.

        Parameters
        ----------
        level : float, default 0.95
            Strictly between 0 and 1: how often each holds its quantile, at least.

        Returns
        -------
        ndarray, shape (n_levels, 2)

        Examples
        --------
        >>> import simplexdp as sdp
        >>> found = sdp.numeric.quantiles(range(1000), bounds=(0, 1000), epsilon=1.0, delta=1e-6)
        >>> found.interval(0.95).shape
        (3, 2)
        """
        alpha = 1 - _arguments.open_unit("level", level)
        ends = [self._interval(float(wanted), alpha / 2) for wanted in self.levels]
        return np.array(ends)

    def _interval(self, level: float, alpha: float) -> tuple[float, float]:
        gap, reach = self._tree.gaps(self._noisy, self._total, level, self._law, alpha)
        possible = np.flatnonzero((gap[:-1] <= reach[:-1]) & (gap[1:] >= -reach[1:]))
        if not len(possible):
            return float(self.edges[0]), float(self.edges[-1])
        return float(self.edges[possible[0]]), float(self.edges[possible[-1] + 1])

    def __repr__(self) -> str:
        return f"PrivateQuantiles(levels={self.levels.tolist()}, estimate={self.estimate.tolist()})"


@dataclass(frozen=True, eq=False)
class GroupedQuantiles:
    """Released quantiles of each of several groups, for the price of one group: a record is in one of them.

    Attributes
    ----------
    levels : ndarray
        Which quantiles.
    groups : list or dict of lists
        The groups; of several columns those of each, in the order of the axes.
    each : tuple of PrivateQuantiles
        One of each group, or of each combination, the last column of groups running fastest.
    privacy : PrivacyCurve
        Of all of them together.
    mechanism : str
    """

    levels: Floats
    groups: Any
    each: tuple[PrivateQuantiles, ...]
    privacy: PrivacyCurve
    mechanism: str
    _shape: tuple[int, ...]

    @property
    def count(self) -> Floats:
        """The estimated number of values, shape (n_groups, ...)."""
        return self._stacked([np.array(found.count, dtype=np.float64) for found in self.each])

    @property
    def estimate(self) -> Floats:
        """The quantiles, shape (n_groups, ..., n_levels)."""
        return self.quantile(self.levels)

    def quantile(self, levels: ArrayLike) -> Floats:
        """Return the estimates of other quantiles, shape (n_groups, ..., n_levels)."""
        return self._stacked([found.quantile(levels) for found in self.each])

    def interval(self, level: float = 0.95) -> Floats:
        """Return confidence intervals of the quantiles of these values, each as those of `PrivateQuantiles`.

        Parameters
        ----------
        level : float, default 0.95
            Strictly between 0 and 1: how often each holds its quantile, at least.

        Returns
        -------
        ndarray, shape (n_groups, ..., n_levels, 2)
        """
        return self._stacked([found.interval(level) for found in self.each])

    def _stacked(self, parts: list[Floats]) -> Floats:
        return np.reshape(parts, (*self._shape, *parts[0].shape))

    def __repr__(self) -> str:
        return f"GroupedQuantiles(levels={self.levels.tolist()}, n_groups={len(self.each)})"


def quantiles(
    data: Any,
    column: Any = None,
    levels: ArrayLike = (0.25, 0.5, 0.75),
    *,
    bounds: tuple[float, float],
    epsilon: float,
    delta: float | None = None,
    by: Any = None,
    groups: Any = None,
    adjacency: str = "replace",
    unit: Any = None,
    max_rows: int | None = None,
    first_by: Any = None,
    skip_missing: bool = False,
    accountant: Any = None,
    label: str = "quantiles",
    rng: Any = None,
) -> PrivateQuantiles | GroupedQuantiles:
    """Release quantiles of a numeric column with differential privacy, or those of each group.

    Values are counted in 512 public bins of the same width, and in fewer, wider ones that are made of them; all counts
    get exact noise in one draw. Any number of quantiles is read off that, for one price.

    Parameters
    ----------
    data : array_like, mapping or data frame
        The numbers, or a table with them.
    column : str or int, optional
        The column of the numbers, where `data` is a table.
    levels : array_like, default (0.25, 0.5, 0.75)
        Strictly between 0 and 1.
    bounds : (float, float)
        Public; values beyond count in the outer bins. A 512th of their distance is the resolution.
    epsilon, delta : float
        The budget. Without a delta the noise is that of pure differential privacy; with one, of two kinds the smaller.
    by, groups : optional
        A column of groups, and the public groups; or several columns, and a mapping of each to its groups, all
        combinations of which have quantiles. All groups together cost as much as one.
    adjacency : {"replace", "add_remove"}, default "replace"
        Which data sets are neighbours.
    unit, max_rows, first_by : optional
        At most so many rows of each person count (`simplexdp.frames.bound_rows`); the guarantee is for persons.
    skip_missing : bool, default False
        Whether records without a number are left out; otherwise they are refused. How many there are stays private.
    accountant : Accountant, optional
        Is asked for the budget before anything is drawn.
    label : str
        What for, in the ledger.
    rng : SeededRng, optional
        For tests only.

    Returns
    -------
    PrivateQuantiles, or GroupedQuantiles with `by`

    Examples
    --------
    >>> import simplexdp as sdp
    >>> found = sdp.numeric.quantiles(range(5000), bounds=(0, 5000), epsilon=1.0, delta=1e-6)
    >>> found.estimate.shape, bool(abs(found.estimate[1] - 2500) < 300), found.privacy.epsilon(1e-6) <= 1.0
    ((3,), True, True)
    >>> people = {"ward": ["eye", "ear"] * 500, "sex": ["f", "f", "m", "m"] * 250, "age": [41.0, 38.0] * 500}
    >>> groups = {"ward": ["ear", "eye"], "sex": ["f", "m"]}
    >>> found = sdp.numeric.quantiles(
    ...     people, "age", [0.1, 0.5, 0.9], bounds=(0, 100), epsilon=1.0, by=["ward", "sex"], groups=groups
    ... )
    >>> found.estimate.shape, found.interval(0.95).shape
    ((2, 2, 3), (2, 2, 3, 2))
    """
    wanted = _levels(levels)
    lower, upper = checked_bounds(bounds)
    budget = _arguments.positive("epsilon", epsilon)
    numbers = numbers_in(
        data,
        column,
        by=by,
        groups=groups,
        adjacency=adjacency,
        unit=unit,
        max_rows=max_rows,
        first_by=first_by,
        skip_missing=skip_missing,
        rng=rng,
    )
    if numbers.n_groups > MOST_GROUPS:
        raise InvalidParameterError(f"groups must have at most {MOST_GROUPS} combinations, got {numbers.n_groups}")
    edges = np.linspace(lower, upper, 2**BITS + 1)
    codes = np.searchsorted(edges[1:-1], numbers.values, side="right")
    total = numbers.total
    allowed = None if delta is None else _arguments.open_unit("delta", delta)
    tree, mechanism = _plan(numbers.adjacency, numbers.max_rows, budget, allowed, total is not None)
    # A record is in one bin of one group on every level of the tree: groups are more cells of the same tables.
    leaves = np.bincount((numbers.groups << BITS) + codes, minlength=numbers.n_groups << BITS)
    counts = np.stack([tree.count(each) for each in leaves.reshape(-1, 2**BITS)])
    privacy = numbers.named(mechanism.privacy)
    with debit(accountant, privacy, label, rng):
        noisy = np.asarray(mechanism.release(counts, rng=rng), dtype=np.float64)
    law = Law.of_noise(mechanism)
    name = "discrete_gaussian" if law.kind == "gaussian" else "discrete_laplace"
    each = tuple(PrivateQuantiles(wanted, edges, privacy, name, tree, law, row, total) for row in noisy)
    if numbers.labels is None:
        return each[0]
    return GroupedQuantiles(wanted, numbers.labels, each, privacy, name, numbers.shape)


@lru_cache(maxsize=64)
def _plan(adjacency: Any, max_rows: int, epsilon: float, delta: float | None, known: bool) -> tuple[Tree, Mechanism]:
    """Return the tree and the noise with the least error, averaged over the ends of the bins.

    Once for the same public quantities: a plan, or a report over many columns, asks again and again.
    """

    def pure(levels: int) -> Mechanism:
        change = of_counts(adjacency=adjacency, max_rows=max_rows, tables=levels)
        return DiscreteLaplaceMechanism.calibrated(epsilon=epsilon, sensitivity=change.l1, adjacency=adjacency)

    def gaussian(levels: int) -> Mechanism:
        change = of_counts(adjacency=adjacency, max_rows=max_rows, tables=levels)
        return DiscreteGaussianMechanism.calibrated(
            epsilon=epsilon,
            delta=delta,
            sensitivity=change.l2,
            adjacency=adjacency,
        )

    kinds = [pure] if delta is None else [pure, gaussian]
    found = [best_tree(BITS, kind, lambda mechanism: Law.of_noise(mechanism).variance, known) for kind in kinds]
    return min(found, key=lambda plan: plan[2])[:2]


def _levels(levels: ArrayLike) -> Floats:
    found = np.atleast_1d(np.asarray(_arguments.numbers("levels", levels), dtype=np.float64))
    if found.ndim != 1 or not len(found) or np.any(found <= 0) or np.any(found >= 1):
        raise InvalidParameterError(f"levels must lie strictly between 0 and 1, got {levels!r}")
    return found
