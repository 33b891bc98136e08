"""The mechanisms of [DM 5] on the tables of a model, from a seeded generator: for experiments, not for release."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplexdp._algorithm_one import algorithm_one_scale
from simplexdp.exceptions import InvalidParameterError

__all__ = ["FLOORS", "ORDER", "simulated_tables"]

ORDER = 5.0
"""The Renyi order of the paper's budgets."""

FLOORS = (0.01, 0.1, 1.0, 5.0)
"""Clipping rules: noisy counts below the floor are raised to it. The paper states none."""

Counts = NDArray[np.int64]
Probabilities = NDArray[np.float64]


def simulated_tables(
    counts: Sequence[Counts],
    mechanism: str,
    parameter: float,
    epsilon: float,
    rng: np.random.Generator,
) -> list[Probabilities]:
    """Return tables of probabilities whose rows sum to one.

    Parameters
    ----------
    counts : sequence of ndarray, each of shape (rows, levels)
    mechanism : {"dirichlet", "gaussian", "laplace", "smoothed", "none"}
    parameter : float
        The floor of the noisy counts, or what smoothing adds to every count; else without effect.
    epsilon : float
        Renyi divergence of order `ORDER` of all tables together, shared equally.
    rng : numpy.random.Generator
    """
    share = epsilon / len(counts)
    if mechanism == "dirichlet":
        # [DM] Algorithm 1 with squared l2-sensitivity 2 and l-infinity-sensitivity 1.
        scale = float(algorithm_one_scale(ORDER, share, 2.0, 1.0))
        prior = 1 + 4 * (ORDER - 1) * scale
        return [_normalised(rng.standard_gamma(scale * table + prior)) for table in counts]
    if mechanism == "gaussian":
        sigma = math.sqrt(ORDER / share)
        return [_normalised(np.maximum(table + rng.normal(0.0, sigma, table.shape), parameter)) for table in counts]
    if mechanism == "laplace":
        width = math.sqrt(2 * ORDER / share)
        return [_normalised(np.maximum(table + rng.laplace(0.0, width, table.shape), parameter)) for table in counts]
    if mechanism == "smoothed":
        return [_normalised(table + parameter) for table in counts]
    if mechanism == "none":
        return [_normalised(table) for table in counts]
    raise InvalidParameterError(f"mechanism is unknown: {mechanism!r}")


def _normalised(counts: NDArray[Any]) -> Probabilities:
    """Return rows that sum to one; a row without any count is uniform."""
    sums = counts.sum(axis=-1, keepdims=True)
    uniform = np.full(counts.shape, 1 / counts.shape[-1])
    rows: Probabilities = np.divide(counts, sums, out=uniform, where=sums > 0)
    return rows
