"""Errors of released shares against the true ones, row by row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["METRICS", "errors"]

Floats = NDArray[np.float64]

METRICS = ("kl", "hellinger", "l1", "linf")


def errors(metric: str, true: Floats, released: Floats) -> Floats:
    """Return the error of each row of released shares.

    "kl" is KL(true || released): a category without records adds nothing, and one with records that is released as
    zero makes the error infinite. "hellinger" is the distance in [0, 1]; "l1" is twice the total variation distance.
    """
    if metric == "kl":
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(true > 0, true * np.log(true / released), 0.0)
        # The sum is not negative, but for rounding.
        return np.asarray(np.maximum(terms.sum(axis=1), 0.0))
    if metric == "hellinger":
        return np.asarray(np.sqrt(np.sum((np.sqrt(true) - np.sqrt(released)) ** 2, axis=1) / 2))
    distance = np.abs(true - released)
    return np.asarray(distance.sum(axis=1) if metric == "l1" else distance.max(axis=1))
