"""The empirical prior where some levels, such as "other" and "missing", need not be like the rest.

How alike the shares of the listed values are says nothing of how many records have none of them. So the share of a
level apart has the arcsine law, Beta(1/2, 1/2): the angle phi of sin^2 phi is uniform, whatever the concentration
is, from ten on (below, every share is near zero or one). Dirichlet priors whose mean share goes through equal steps of
the angle, all with the same weight, are that law but for its finest detail: given a concentration A, a noiseless count
of n records tells the angle of such a mean within a standard deviation of sqrt(1/n + 1/A) / 2, and steps of twice that
leave ripples of 1.5 % of the density (3 times: of 22 %). Only the steps that a release leaves open are looked at: all
others have no evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simplexdp import _arguments as check
from simplexdp.exceptions import InvalidParameterError
from simplexdp.inference.prior import CONCENTRATIONS, Prior, log_weights_of_concentrations

__all__ = ["Seen", "checked_apart", "prior_apart"]

Floats = NDArray[np.float64]

MOST_APART = 2
"""Priors are as many as all combinations of their shares."""

STEPS = {1: 2.0, 2: 3.0}
"""Between means, in standard deviations of what tells them, for one level apart and for two."""
LEAST_STEPS = 4
"""For concentrations that make every share nearly zero or one."""
REACH = 3.0
"""Standard deviations beyond what a release leaves open; of many rows with one mean they tell it better."""
DEVIATIONS = 4.5
"""Of the noise: Laplace noise goes further with a probability of 0.2 %, which is what a release leaves open beyond."""
RECORDS_UNSEEN = 200.0
"""Steps are as for so many records where a release says nothing of their number."""


class Seen(NamedTuple):
    """Counts as a release shows them, and the standard deviation of its noise."""

    counts: Floats
    """Shape (..., d)."""
    deviation: Floats
    """Of the same shape."""


def checked_apart(apart: Sequence[int], dimension: int) -> tuple[int, ...]:
    """Return the positions of levels apart."""
    try:
        listed = tuple(apart)
    except TypeError:
        raise InvalidParameterError(f"apart must be positions in a sequence, got {check.shown(apart)}") from None
    found = tuple(check.integer("apart", each, 0) for each in listed)
    if len(set(found)) < len(found) or any(each >= dimension for each in found):
        raise InvalidParameterError(f"apart must be different positions below {dimension}, got {list(found)}")
    if not len(found) <= min(MOST_APART, dimension - 1):
        raise InvalidParameterError(
            f"apart must be at most {MOST_APART} positions and leave one, got {len(found)} of {dimension}"
        )
    return found


def prior_apart(dimension: int, apart: Sequence[int], seen: Seen | None, *, shared: bool) -> Prior:
    """Return the empirical prior with shares of their own for levels apart.

    Parameters
    ----------
    dimension : int
        The number of levels.
    apart : sequence of int
        Positions, at most two.
    seen : Seen, optional
        What was released, for which shares are looked at: it changes no prior, only what of it is left out.
    shared : bool
        Whether all rows of the release have the same prior, with a mean that is pooled over them.
    """
    open_shares, records, rows = _open_shares(dimension, apart, seen, shared)
    reach = 1 + (REACH - 1) / np.sqrt(rows)
    rest = np.setdiff1d(np.arange(dimension), apart)
    parameters, logs = [], []
    for total, log_weight in zip(CONCENTRATIONS, log_weights_of_concentrations(len(rest)), strict=True):
        # Shares of what the levels before have left, one level apart after the other.
        found = [
            _means(low, high, reach, 0.5 * np.sqrt(1 / records + 1 / total), STEPS[len(apart)])
            for low, high in open_shares
        ]
        log_weight = log_weight - sum(np.log(steps) for _, steps in found)
        for means in np.stack(np.meshgrid(*(means for means, _ in found), indexing="ij"), axis=-1).reshape(
            -1, len(apart)
        ):
            left = np.concatenate([[1.0], np.cumprod(1 - means)])
            shares = np.full(dimension, left[-1] / len(rest))
            shares[list(apart)] = means * left[:-1]
            parameters.append(total * shares)
            logs.append(log_weight)
    return Prior(np.array(parameters), np.array(logs))


def _means(low: float, high: float, reach: float, deviation: float, step: float) -> tuple[Floats, int]:
    """Return the mean shares that are looked at, and the number of all."""
    steps = max(LEAST_STEPS, int(np.ceil(np.pi / 2 / (step * deviation))))
    width = np.pi / 2 / steps
    angles = (np.arange(steps) + 0.5) * width
    ends = np.arcsin(np.sqrt([low, high]))
    near = (angles >= ends[0] - reach * deviation - width) & (angles <= ends[1] + reach * deviation + width)
    return np.sin(angles[near]) ** 2, steps


def _open_shares(
    dimension: int, apart: Sequence[int], seen: Seen | None, shared: bool
) -> tuple[list[tuple[float, float]], float, int]:
    """Return between which shares of what is left each level apart may lie, and the records and rows that tell it."""
    if seen is None:
        return [(0.0, 1.0)] * len(apart), RECORDS_UNSEEN, 1
    counts, variance = (np.reshape(each, (-1, dimension)) for each in (seen.counts, seen.deviation**2))
    rows = 1
    if shared:
        rows = len(counts)
        counts, variance = counts.sum(axis=0, keepdims=True), variance.sum(axis=0, keepdims=True)
    off, all_off = DEVIATIONS * np.sqrt(variance), np.sqrt(variance.sum(axis=1))
    totals = counts.sum(axis=1)
    found = []
    least_before, most_before = 0.0, 0.0
    for place in apart:
        low = float(np.min(np.clip((counts - off)[:, place] / np.maximum(totals + all_off, 1.0), 0.0, 1.0)))
        high = float(np.max(np.clip((counts + off)[:, place] / np.maximum(totals - all_off, 1.0), 0.0, 1.0)))
        found.append((min(low / max(1 - least_before, low, 1e-9), 1.0), min(high / max(1 - most_before, 1e-9), 1.0)))
        least_before, most_before = least_before + low, most_before + high
    return found, max(float(totals.max()) / rows, 1.0), rows
