"""Confidence intervals from what was released and public parameters: tests inverted, rounding outward.

An interval is the set of true values that a test of size 1 - level does not reject, so it covers the true value with a
probability of at least `level`, whatever that value is.
"""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from simplexdp import _arguments as check
from simplexdp import _core, _dirichlet, special
from simplexdp._arrays import Floats
from simplexdp.exceptions import InvalidParameterError

__all__ = ["alpha_each", "dirichlet_counts", "noise_radius"]

_SLACK = 1 - 1e-9
"""Rejection needs this much more: far above the error of the incomplete functions."""

Holds = Callable[[Floats, NDArray[np.intp]], NDArray[np.bool_]]
"""Tells for some entries, given by their indices, whether a number of records is not rejected."""


def alpha_each(level: float, simultaneous: bool, entries: int) -> float:
    """Return the size of the test of each entry; together they err with 1 - level by the union bound."""
    alpha = 1 - check.open_unit("level", level)
    return alpha / entries if check.flag("simultaneous", simultaneous) else alpha


def dirichlet_counts(
    y: Floats,
    total: Floats,
    *,
    scale: float,
    prior: Floats,
    floor: float,
    alpha: float,
    resolution: float,
    whole: bool,
) -> tuple[Floats, Floats]:
    """Return the least and the largest count that each entry of a Dirichlet release does not reject.

    For a true count k the ideal entry is Beta(scale k + a_i, scale (total - k) + A - a_i), A the sum of the prior. It
    grows with k in the stochastic order, so that both tests are monotone in k and bisection finds their ends.

    Parameters
    ----------
    y : ndarray, shape (..., d)
        Released rows.
    total : ndarray, shape (..., 1)
        Number of records.
    scale, prior, floor
        Of the mechanism; prior of shape (d,).
    alpha : float
        Size of each test, half of it for either side.
    resolution : float
        Step of the grid of the release.
    whole : bool
        Whether counts are integers.

    Returns
    -------
    tuple of ndarray
        Both of the shape of `y`.
    """
    d = prior.size
    step = 2.0 ** -_dirichlet.resolution_bits(resolution)
    if d * step > 0.25:
        raise InvalidParameterError(f"resolution must be at most 1 / (4 d) for {d} categories, got {resolution!r}")
    # docs/exactness.md, section 7: the ideal entry lies between these.
    least_ideal, largest_ideal = _core.ideal_shares(np.ascontiguousarray(y, dtype=np.float64).ravel(), d, step)
    own = np.broadcast_to(prior, y.shape).ravel()
    rest = np.broadcast_to(_sums_of_the_others(prior), y.shape).ravel()
    totals = np.broadcast_to(total, y.shape).ravel()
    low = np.full(y.size, math.ceil(floor) if whole else floor)
    high = totals - (d - 1) * low
    if np.any(high < low):
        raise InvalidParameterError("total must be at least the dimension times the floor")
    # Less than half of alpha by what the sampler may be off.
    tail = alpha / 2 * _SLACK - _dirichlet.TOTAL_VARIATION_BOUND

    def small_enough(k: Floats, at: NDArray[np.intp]) -> NDArray[np.bool_]:
        others = scale * (totals[at] - k) + rest[at]
        return np.asarray(special.betainc(scale * k + own[at], others, largest_ideal[at]) >= tail)

    def large_enough(k: Floats, at: NDArray[np.intp]) -> NDArray[np.bool_]:
        others = scale * (totals[at] - k) + rest[at]
        return np.asarray(special.betaincc(scale * k + own[at], others, least_ideal[at]) >= tail)

    weight = scale * totals + own + rest
    # Wilson's ends for the mean of an entry, of which the true ends are about one unit of the parameters away.
    z = math.sqrt(2 * float(special.gammaincc_inverse(0.5, alpha)))
    shrink = 1 + z * z / (weight + 1)
    centre = (y.ravel() + 0.5 * z * z / (weight + 1)) / shrink
    reach = z * np.sqrt(y.ravel() * (1 - y.ravel()) / (weight + 1) + (0.5 * z / (weight + 1)) ** 2) / shrink
    highest, lowest = (((centre + sign * reach) * weight - own) / scale for sign in (1, -1))
    stride = np.full(y.size, 0.5 / scale)
    upper = _last(small_enough, low, high, highest, stride, whole)
    # Mirrored: the least k is minus the last of -k.
    lower = -_last(lambda k, at: large_enough(-k, at), -high, -low, -lowest, stride, whole)
    # The tests can only reject every count where the release was less likely than alpha at each.
    lower = np.minimum(lower, upper)
    return lower.reshape(y.shape), upper.reshape(y.shape)


def noise_radius(noise: str, size: Fraction, alpha: float) -> int:
    """Return the least t with P(abs(z) > t) <= alpha for "laplace" or "gaussian" noise on integers, or a bit more."""
    return _core.noise_radius(noise, size.as_integer_ratio(), alpha)


def _sums_of_the_others(prior: Floats) -> Floats:
    """Return the sum of all entries but each, without cancellation."""
    before = np.concatenate([[0.0], np.cumsum(prior[:-1])])
    after = np.concatenate([np.cumsum(prior[:0:-1])[::-1], [0.0]])
    others: Floats = before + after
    return others


def _last(holds: Holds, low: Floats, high: Floats, guess: Floats, step: Floats, whole: bool) -> Floats:
    """Return the last point that does not fail, or slightly more: `holds` is true up to it, then false.

    Where `holds` fails everywhere this is `low`. The search moves away from the guess in growing steps until it has
    seen both answers, then bisects: integers to the end, reals to the last bits.
    """
    # The answer lies between these; of integers it is never the upper one plus something.
    lower: Floats = low.copy()
    upper: Floats = high.copy()
    step = np.maximum(step, 1.0 if whole else 0.0)
    point = guess.copy()
    passed_once, failed_once = np.zeros(low.size, bool), np.zeros(low.size, bool)
    if not whole:
        lower = np.where(holds(high, np.arange(low.size)), high, lower)
    for _ in range(256):
        gap = upper - lower
        active = np.flatnonzero(gap > (0 if whole else 1e-14 * (high - low)))
        if not active.size:
            break
        middle = lower[active] + gap[active] / 2
        probe = np.where(passed_once[active] & failed_once[active], middle, point[active])
        if whole:
            probe = np.clip(np.ceil(probe), lower[active] + 1, upper[active])
        else:
            probe = np.where((probe > lower[active]) & (probe < upper[active]), probe, middle)
        passed = holds(probe, active)
        lower[active] = np.where(passed, probe, lower[active])
        upper[active] = np.where(passed, upper[active], probe - whole)
        passed_once[active] |= passed
        failed_once[active] |= ~passed
        point[active] = np.where(passed, probe + step[active], probe - step[active])
        step[active] *= 2
    return upper
