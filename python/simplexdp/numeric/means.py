"""A private mean: the sum, and the count where it is private, with exact noise on a public grid."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplexdp import _arguments, _core
from simplexdp.accounting import PrivacyCurve
from simplexdp.mechanisms import DiscreteLaplaceMechanism, GaussianMechanism
from simplexdp.models.debit import debit
from simplexdp.models.moment_intervals import radius, ratio_intervals
from simplexdp.models.released import Law
from simplexdp.numeric.column import Numbers, checked_bounds, numbers_in

__all__ = ["PrivateMean", "mean"]

HALF = 2**22
"""Half the steps of the grid of values: sums are exact for 2^31 records."""


@dataclass(frozen=True, eq=False)
class PrivateMean:
    """A released mean, or one for each group.

    Attributes
    ----------
    estimate : float or ndarray
        Of the mean of the values, clamped to the bounds.
    counts : int, float or ndarray
        The public number of values, or noisy ones.
    groups : list, dict of lists or None
        The groups, in the order of `estimate`; of several columns those of each, in the order of its axes.
    privacy : PrivacyCurve
    mechanism : str
    """

    estimate: Any
    counts: Any
    groups: Any
    privacy: PrivacyCurve
    mechanism: str
    _sums: NDArray[np.float64]
    _counts: NDArray[np.float64]
    _laws: tuple[Law, Law | None]
    _bounds: tuple[float, float]
    _shape: tuple[int, ...] = ()

    def interval(self, level: float = 0.95) -> NDArray[np.float64]:
        """Return confidence intervals of the means of these values, clamped to the bounds, whatever the data.

        Parameters
        ----------
        level : float, default 0.95
            Strictly between 0 and 1: how often each holds its mean, at least.

        Returns
        -------
        ndarray, shape (2,), (n_groups, 2) or (n_groups, n_groups, ..., 2)

        Examples
        --------
        >>> import simplexdp as sdp
        >>> found = sdp.numeric.mean([41.0, 38.5, 60.2] * 400, bounds=(0, 100), epsilon=1.0)
        >>> lower, upper = found.interval(0.9)
        >>> bool(lower < found.estimate < upper)
        True
        """
        checked = _arguments.open_unit("level", level)
        law, count_law = self._laws
        if count_law is None:
            reach = radius(law, 1 - checked) / self._counts + 0.5 / HALF
            ends = np.stack([self._sums / self._counts - reach, self._sums / self._counts + reach], axis=-1)
        else:
            ends = ratio_intervals(self._sums, self._counts, law, count_law, checked, 0.5 / HALF)
        found: NDArray[np.float64] = _in_bounds(np.clip(ends, -1.0, 1.0), self._bounds)
        return found.reshape(*self._shape, 2)

    def __repr__(self) -> str:
        return f"PrivateMean(estimate={self.estimate!r}, mechanism={self.mechanism!r})"


def mean(
    data: Any,
    column: Any = None,
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
    label: str = "mean",
    rng: Any = None,
) -> PrivateMean:
    """Release the mean of a numeric column with differential privacy, or one for each group.

    Values are clamped to the bounds and placed on a grid of 2^23 steps; their sum is an integer and gets exact noise.
    Where the number of values is private (persons who come and go, groups, several rows of a person, values that may
    be missing) it is released in the same draw. All groups together cost as much as one mean.

    Parameters
    ----------
    data : array_like, mapping or data frame
        The numbers, or a table with them.
    column : str or int, optional
        The column of the numbers, where `data` is a table.
    bounds : (float, float)
        Public. Noise grows with their distance; values beyond are clamped, which moves the mean.
    epsilon, delta : float
        The budget. Without a delta the noise is that of pure differential privacy; with one, of two kinds the smaller.
    by, groups : optional
        A column of groups, and the public groups; or several columns, and a mapping of each to its groups, all
        combinations of which have a mean.
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
    PrivateMean

    Examples
    --------
    >>> import simplexdp as sdp
    >>> ages = {"ward": ["eye", "ear"] * 600, "age": [41.0, 38.0] * 600}
    >>> found = sdp.numeric.mean(ages, "age", bounds=(0, 100), epsilon=1.0, by="ward", groups=["ear", "eye"])
    >>> found.estimate.shape, found.interval(0.95).shape, found.privacy.epsilon(0.0) <= 1.0
    ((2,), (2, 2), True)
    """
    pair = checked_bounds(bounds)
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
    return _released(numbers, pair, budget, delta, accountant, label, rng)


def _released(
    numbers: Numbers,
    bounds: tuple[float, float],
    epsilon: float,
    delta: float | None,
    accountant: Any,
    label: str,
    rng: Any,
) -> PrivateMean:
    known = numbers.total
    weight = 0 if known is not None else HALF
    released = _core.Moments(False, HALF, 1, numbers.n_groups, weight)
    allowed = None if delta is None else _arguments.open_unit("delta", delta)
    change = released.moves(numbers.adjacency, numbers.max_rows, numbers.some_left_out)
    mechanism = _mechanism(change, epsilon, allowed, numbers.adjacency)
    # Records that are left out are counted as one more group, which nobody sees.
    classes = numbers.n_groups + numbers.some_left_out
    counted = _core.Moments(False, HALF, 1, classes, weight)
    sums = counted.sums(numbers.groups, [np.ascontiguousarray(numbers.values)], [bounds]).reshape(classes, 2)
    wanted = sums[: numbers.n_groups, 1:] if known is not None else sums[: numbers.n_groups]
    privacy = numbers.named(mechanism.privacy)
    with debit(accountant, privacy, label, rng):
        noisy = np.asarray(mechanism.release(wanted, rng=rng), dtype=np.float64) / HALF
    law = Law.of_noise(mechanism)
    law = Law(law.kind, law.size / HALF, law.step / HALF)
    counts = np.array([max(float(known), 1.0)]) if known is not None else noisy[:, 0]
    means = _in_bounds(np.clip(noisy[:, -1] / np.maximum(counts, 1.0), -1.0, 1.0), bounds)
    grouped = numbers.labels is not None
    shown: Any = known if known is not None else counts
    return PrivateMean(
        means.reshape(numbers.shape) if grouped else float(means[0]),
        shown.reshape(numbers.shape) if grouped else shown if known is not None else float(counts[0]),
        numbers.labels,
        privacy,
        "gaussian" if isinstance(mechanism, GaussianMechanism) else "discrete_laplace",
        noisy[:, -1],
        counts,
        (law, None if known is not None else law),
        bounds,
        numbers.shape,
    )


@lru_cache(maxsize=64)
def _mechanism(
    change: tuple[float, float, int], epsilon: float, delta: float | None, adjacency: Any
) -> GaussianMechanism | DiscreteLaplaceMechanism:
    """Return the smaller of two kinds of noise; once for the same public quantities."""
    l1, l2, cells = change
    pure = DiscreteLaplaceMechanism.calibrated(epsilon=epsilon, sensitivity=l1, adjacency=adjacency)
    if delta is None:
        return pure
    other = GaussianMechanism.calibrated(
        epsilon=epsilon,
        delta=delta,
        sensitivity=l2,
        changed=cells,
        adjacency=adjacency,
    )
    return pure if Law.of_noise(pure).variance <= Law.of_noise(other).variance else other


def _in_bounds(places: NDArray[np.float64], bounds: tuple[float, float]) -> NDArray[np.float64]:
    lower, upper = bounds
    found: NDArray[np.float64] = np.clip(lower + (upper - lower) * (places + 1) / 2, lower, upper)
    return found
