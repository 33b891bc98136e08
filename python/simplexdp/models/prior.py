"""The prior of a model's tables, chosen from public quantities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simplexdp import _core, special

__all__ = ["best_prior"]

CANDIDATES = np.geomspace(0.3, 100.0, 24)
"""Priors that are tried; the expected loss is flat around its minimum."""


def best_prior(shapes: Sequence[tuple[int, int]], epsilon: float, delta: float, total: int | None) -> float:
    """Return the prior whose expected KL loss, averaged over the tables, is small.

    It only steers accuracy: the scale that goes with it is calibrated exactly afterwards. The privacy loss of T tables
    is nearly normal with variance 2 T r^2 psi'(a), which gives the scale r that a prior a allows. The loss is
    averaged over histograms that are even on 1, 2, 4, ... and all levels, with the records spread evenly over the rows.

    Parameters
    ----------
    shapes : sequence of (rows, levels)
        Of the tables.
    epsilon, delta : float
        The budget.
    total : int, optional
        Number of records where it is public; one without it.
    """
    if total is None:
        return 1.0
    allowed = _core.gaussian_mu(epsilon, delta)
    scales = allowed / np.sqrt(2 * len(shapes) * special.trigamma(CANDIDATES))
    losses = np.zeros(len(CANDIDATES))
    for rows, levels in set(shapes):
        if levels == 1:
            continue
        histograms = _even_histograms(levels)
        weight = shapes.count((rows, levels))
        per_row = max(total / rows, 1.0)
        for index, (prior, scale) in enumerate(zip(CANDIDATES, scales, strict=True)):
            # The expected KL loss of `DirichletMechanism`, without its checks: there are hundreds of these.
            row_weights = np.full(len(histograms), scale * per_row)
            expected = _core.dirichlet_expected_loss("kl", histograms.ravel(), np.full(levels, prior), row_weights)
            losses[index] += weight * float(np.mean(expected))
    return float(CANDIDATES[int(np.argmin(losses))])


def _even_histograms(levels: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    sizes = sorted({*(2**power for power in range(levels.bit_length()) if 2**power < levels), levels})
    rows = np.zeros((len(sizes), levels))
    for row, size in zip(rows, sizes, strict=True):
        row[:size] = 1 / size
    return rows
