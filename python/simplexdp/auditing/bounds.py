"""Bounds on the privacy loss from how often an event was seen under each of two data sets."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from simplexdp import special

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
NORMAL = NormalDist()


def rate_below(hits: Integers, size: int, error: float) -> Floats:
    """Return Clopper-Pearson lower bounds of probabilities, each wrong with probability at most `error`."""
    hits = np.asarray(hits)
    # P[Bin(size, p) >= hits] = I_p(hits, size - hits + 1): the bound is where it equals the error.
    found = special.betainc_inverse(np.maximum(hits, 1), size - np.maximum(hits, 1) + 1, error)
    return np.where(hits > 0, found, 0.0)


def rate_above(hits: Integers, size: int, error: float) -> Floats:
    """Return Clopper-Pearson upper bounds of probabilities, each wrong with probability at most `error`."""
    hits = np.asarray(hits)
    found = special.betaincc_inverse(np.minimum(hits, size - 1) + 1, size - np.minimum(hits, size - 1), error)
    return np.where(hits < size, found, 1.0)


def epsilon_at_least(power: Floats, alarm: Floats, delta: float) -> Floats:
    """Return ln((power - delta) / alarm): what epsilon must be for an event that is so likely under the two laws."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.log(np.maximum(power - delta, 0.0) / alarm)
    return np.where((power > delta) & (alarm > 0), found, 0.0).clip(min=0.0)


def mu_at_least(power: Floats, alarm: Floats) -> Floats:
    """Return the least mu of a Gaussian trade-off that allows this power at this rate of false alarms [DRS22]."""
    pairs = zip(np.ravel(power).tolist(), np.ravel(alarm).tolist(), strict=True)
    found = [
        NORMAL.inv_cdf(likely) - NORMAL.inv_cdf(other) if 0 < other < likely < 1 else 0.0 for likely, other in pairs
    ]
    return np.reshape(np.asarray(found), np.shape(power))
