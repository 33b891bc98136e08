"""Black-box audit: from draws alone, a lower bound on the epsilon that a release can possibly have.

An event that holds with probability p under one data set and q under its neighbour proves that
epsilon >= ln((p - delta) / q). The event is a threshold on a score, chosen on one half of the draws and counted on the
other, so that Clopper-Pearson bounds of p and q hold with the stated confidence. A lower bound above the claim
means a broken mechanism, up to the stated rate of false alarms; one far below it means an audit without power.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta, norm

Draw = Callable[[int], NDArray[np.float64]]
"""Scores of so many independent releases; large where the first data set is likelier than its neighbour."""

N_CANDIDATES = 400


class Finding(NamedTuple):
    """What an audit found."""

    epsilon: float
    """Lower bound on epsilon at the given delta, 0 if nothing was found."""
    threshold: float
    hits: int
    neighbour_hits: int


def epsilon_lower_bound(
    hits: NDArray[np.int64], neighbour_hits: NDArray[np.int64], size: int, delta: float, false_alarm: float
) -> NDArray[np.float64]:
    """Lower bound on epsilon from counts of an event among `size` draws from each side.

    Each of the two one-sided Clopper-Pearson bounds gets half of the false alarms.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.where(hits > 0, beta.ppf(false_alarm / 2, hits, size - hits + 1), 0.0)
        q = np.where(
            neighbour_hits < size, beta.ppf(1 - false_alarm / 2, neighbour_hits + 1, size - neighbour_hits), 1.0
        )
        return np.where(p > delta, np.log(np.maximum(p - delta, 1e-300) / q), 0.0).clip(min=0.0)


def audit(draw: Draw, draw_neighbour: Draw, *, size: int, delta: float, false_alarm: float = 1e-6) -> Finding:
    """Audit one ordered pair of data sets with `size` draws from each for the choice and `size` for the count."""
    scores, neighbour_scores = np.sort(draw(size)), np.sort(draw_neighbour(size))
    candidates = np.quantile(scores, 1 - np.geomspace(max(2 * delta, 50 / size), 0.9, N_CANDIDATES))
    found = epsilon_lower_bound(
        size - np.searchsorted(scores, candidates),
        size - np.searchsorted(neighbour_scores, candidates),
        size,
        delta,
        false_alarm,
    )
    threshold = candidates[np.argmax(found)]
    hits, neighbour_hits = (int(np.sum(f(size) >= threshold)) for f in (draw, draw_neighbour))
    bound = epsilon_lower_bound(np.array(hits), np.array(neighbour_hits), size, delta, false_alarm)
    return Finding(float(bound), float(threshold), hits, neighbour_hits)


def shift_lower_bound(
    scores: NDArray[np.float64], neighbour_scores: NDArray[np.float64], threshold: float, false_alarm: float = 1e-6
) -> float:
    """Lower bound on the mu of a guarantee that says mu-Gaussian [DRS19], from a threshold that was fixed beforehand.

    Such a guarantee binds every test: the normal quantiles of its two chances differ by mu at most. The middle of two
    normal laws is where draws tell most of that, and all of them count: far more than the tail that an epsilon needs.
    """
    hits, neighbour_hits = int(np.sum(scores >= threshold)), int(np.sum(neighbour_scores >= threshold))
    p = beta.ppf(false_alarm / 2, hits, len(scores) - hits + 1) if hits else 0.0
    beyond = len(neighbour_scores) - neighbour_hits
    q = beta.ppf(1 - false_alarm / 2, neighbour_hits + 1, beyond) if beyond else 1.0
    return float(norm.ppf(p) - norm.ppf(q))
