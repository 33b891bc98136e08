"""Neighbouring data sets on which our own mechanisms tell the most, or nearly so."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simplexdp import mechanisms
from simplexdp.exceptions import InvalidParameterError

__all__ = ["Pair", "worst_pair"]

LARGE_TOTAL = 20_000
"""Under ``"add_remove"`` a Dirichlet draw tells the most where all else is large; the supremum is approached."""
ONE_HOT_LIMIT = 64
"""Up to so many values of one each make up an integer distance."""
VISIBLE = 0.01
"""What an event must weigh for some thousand draws to see it."""
ENUMERATED = 3000
"""Hellinger pairs are enumerated up to so many candidates."""


class Pair(NamedTuple):
    """Two neighbouring data sets."""

    first: Any
    """What a release is given."""
    second: Any
    """The same, with one record replaced, added or removed."""


def worst_pair(mechanism: Any) -> Pair:
    """Propose the neighbouring data sets on which one of the package's mechanisms tells the most.

    Parameters
    ----------
    mechanism : Mechanism
        Any class of `simplexdp.mechanisms`.

    Returns
    -------
    Pair

    Examples
    --------
    >>> import simplexdp as sdp
    >>> from simplexdp.auditing import worst_pair
    >>> first, second = worst_pair(sdp.DirichletMechanism(scale=1.0, prior=[2.0, 1.0, 7.0]))
    >>> first, second
    (array([1., 0., 0.]), array([0., 1., 0.]))
    """
    if isinstance(mechanism, mechanisms.DirichletMechanism):
        return _dirichlet(mechanism)
    if isinstance(mechanism, mechanisms.HellingerMechanism):
        return _hellinger(mechanism)
    if isinstance(mechanism, mechanisms.LaplacePosteriorMechanism | mechanisms.NoisyPosteriorMechanism):
        return _counts_of_total(len(mechanism.prior), mechanism.n)
    if isinstance(mechanism, mechanisms.SumPreservingLaplaceMechanism):
        return _moved(mechanism.dimension, math.floor(Fraction(mechanism.sensitivity) / 2))
    if isinstance(mechanism, mechanisms.DiscreteGaussianMechanism):
        return _integers_apart(math.floor(Fraction(mechanism.sensitivity) ** 2 + Fraction(1, 2**40)))
    if isinstance(mechanism, mechanisms.DiscreteLaplaceMechanism):
        change = math.floor(Fraction(mechanism.sensitivity))
        return Pair(np.array([change]), np.array([0]))
    if isinstance(mechanism, mechanisms.LaplaceMechanism | mechanisms.GaussianMechanism):
        return Pair(np.array([float(mechanism.sensitivity)]), np.array([0.0]))
    raise InvalidParameterError(
        f"pair must be given for a release that is not a mechanism of this package, got {type(mechanism).__name__}"
    )


def _moved(dimension: int, change: int) -> Pair:
    first, second = np.zeros(dimension, dtype=np.int64), np.zeros(dimension, dtype=np.int64)
    first[0] = second[min(1, dimension - 1)] = change
    return Pair(first, second)


def _integers_apart(squared: int) -> Pair:
    """Return integers at the largest Euclidean distance whose square is at most this."""
    size = squared if squared <= ONE_HOT_LIMIT else 1
    step = 1 if squared <= ONE_HOT_LIMIT else math.isqrt(squared)
    return Pair(np.full(max(size, 1), step if size else 0), np.zeros(max(size, 1), dtype=np.int64))


def _counts_of_total(dimension: int, n: int) -> Pair:
    second = np.zeros(dimension, dtype=np.int64)
    second[-1] = n
    first = second.copy()
    first[-1] -= 1
    first[0] += 1
    return Pair(first, second)


def _dirichlet(mechanism: Any) -> Pair:
    prior = np.broadcast_to(np.asarray(mechanism.prior, dtype=np.float64), (mechanism.dimension,))
    # The divergence is largest at the smallest parameters.
    order = np.argsort(prior, kind="stable")
    least, next_least = int(order[0]), int(order[1])
    second: NDArray[np.float64] = np.full(mechanism.dimension, float(mechanism.floor))
    if mechanism.adjacency == "add_remove":
        second[order[-1]] += LARGE_TOTAL
        first = second.copy()
        first[least] += mechanism.max_rows
        return Pair(first, second)
    change = float(mechanism.max_rows)
    if mechanism.linf is not None:
        change = min(float(mechanism.linf), float(mechanism.l2) / math.sqrt(2))
    if mechanism.total is not None:
        second[order[-1]] += mechanism.total - second.sum() - change
    first = second.copy()
    low, high = sorted((least, next_least))
    first[low] += change
    second[high] += change
    return Pair(first, second)


def _hellinger(mechanism: Any) -> Pair:
    """Return the pair of largest loss among neighbours of the smallest counts, all of them where they are few."""
    dimension, n = len(mechanism.prior), mechanism.n
    corner = _counts_of_total(dimension, n)
    if math.comb(n + dimension - 1, dimension - 1) > ENUMERATED:
        return corner
    pairs = [corner]
    steps = sorted({*range(min(n, 8)), *range(0, n, max(n // 16, 1))})
    for low in range(dimension):
        for high in range(dimension):
            for step in steps if low != high else []:
                second = np.zeros(dimension, dtype=np.int64)
                second[low], second[high] = step, n - step
                first = second.copy()
                first[low] += 1
                first[high] -= 1
                pairs.append(Pair(first, second))

    def loss(pair: Pair) -> float:
        laws = [np.asarray(mechanism.probabilities(counts), dtype=np.float64) for counts in pair]
        return max(_visible_loss(*laws), _visible_loss(*laws[::-1]))

    return max(pairs, key=loss)


def _visible_loss(likely: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Return the largest loss of an event that draws can see: the largest ratio may stand where nothing falls."""
    ratio = np.divide(likely, other, out=np.full_like(likely, np.inf), where=other > 0)
    order = np.argsort(-ratio, kind="stable")
    power, alarm = np.cumsum(likely[order]), np.cumsum(other[order])
    seen = (power >= VISIBLE) & (alarm > 0)
    return float(np.log(power[seen] / alarm[seen]).max(initial=0.0))
