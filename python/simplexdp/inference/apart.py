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
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simplexdp import _arguments as check
from simplexdp.exceptions import InvalidParameterError
from simplexdp.inference.prior import CONCENTRATIONS, Prior, log_weights_of_concentrations

__all__ = ["Seen", "checked_apart", "prior_apart", "standing_out"]

Floats = NDArray[np.float64]

MOST_APART = 2
"""That are stated."""
MOST_IN_ALL = 3
"""With those that stand out."""

NEARLY_ALL = 0.95
"""The share of the records that makes levels stand out."""
COARSE = 4.0
"""The step for levels that stand out: what is wanted there is that the rest are by themselves."""
STEPS = {1: 2.0, 2: 3.0, 3: 6.0}
"""Between means, in standard deviations of what tells them, by the number of levels apart: priors are combinations of
means."""
FINE = 4097
"""Angles by which the edges of steps are found."""
LEAST_STEPS = 4
"""For concentrations that make every share nearly zero or one."""
REACH = 3.0
"""Standard deviations beyond what a release leaves open; of many rows with one mean they tell it better."""
DEVIATIONS = 4.5
"""Of the noise: Laplace noise goes further with a probability of 0.2 %, which is what a release leaves open beyond."""
LARGEST = 1e12
"""Of all parameters together, as the core takes them; a level of more than 10^7 records would have larger ones."""
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


def standing_out(seen: Seen | None) -> tuple[int, ...]:
    """Return the positions of at most two levels that have nearly all records, none where no levels do.

    Were they alike the rest, the likeliest prior would be one under which a single cell has next to all records and the
    others none. How alike the rest are is for the rest to tell.
    """
    if seen is None or seen.counts.size <= MOST_APART:
        return ()
    order = np.argsort(seen.counts)[::-1]
    most = seen.counts[order[: MOST_APART + 1]]
    beyond_noise = most - DEVIATIONS * seen.deviation[order[: MOST_APART + 1]]
    whole = seen.counts.sum()
    for size in range(1, MOST_APART + 1):
        if most[:size].sum() >= NEARLY_ALL * whole and beyond_noise[size - 1] > max(most[size], 0.0):
            return tuple(sorted(int(place) for place in order[:size]))
    return ()


def prior_apart(
    dimension: int, apart: Sequence[int], seen: Seen | None, *, shared: bool, step: float | None = None
) -> Prior:
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
    step : float, optional
        Between means, in standard deviations of what tells them, by default `STEPS`.
    """
    open_shares, records, rows = _open_shares(dimension, apart, seen, shared)
    reach = 1 + (REACH - 1) / np.sqrt(rows)
    rest = np.setdiff1d(np.arange(dimension), apart)
    # Of what a level leaves the ones after it leave so much at least; and so many records the ones before it at most.
    left_after = np.cumprod([1.0, *(1 - high for _, high in open_shares[:0:-1])])[::-1]
    records_left = records * np.cumprod([1.0, *(1 - low for low, _ in open_shares[:-1])])
    parameters, logs = [], []
    for of_rest, log_weight in zip(CONCENTRATIONS, log_weights_of_concentrations(len(rest)), strict=True):
        # Shares of what the levels before have left, one level apart after the other.
        found = [
            _means(ends, reach, (1 / left_records, left / of_rest), step or STEPS[len(apart)])
            for ends, left_records, left in zip(open_shares, records_left, left_after, strict=True)
        ]
        weights = reduce(np.multiply.outer, (weights for _, weights in found)).ravel()
        meshes = np.meshgrid(*(means for means, _ in found), indexing="ij")
        for means, weight in zip(np.stack(meshes, axis=-1).reshape(-1, len(apart)), weights, strict=True):
            # A mean next to one leaves something, which rounding may take.
            left = np.concatenate([[1.0], np.cumprod(np.maximum(1 - means, 2.0**-60))])
            shares = np.full(dimension, left[-1] / len(rest))
            shares[list(apart)] = means * left[:-1]
            parameters.append(min(of_rest / left[-1], LARGEST) * shares)
            logs.append(log_weight + np.log(weight))
    return Prior(np.array(parameters), np.array(logs))


def _means(
    ends: tuple[float, float], reach: float, variances: tuple[float, float], step: float
) -> tuple[Floats, Floats]:
    """Return the mean shares that are looked at and the weights of their steps.

    What tells the angle of a mean has a standard deviation of half the root of the first of the variances plus the
    second times what the mean leaves.
    """
    whole = np.pi / 2
    first, last = np.arcsin(np.sqrt(ends))

    def deviation(angle: Any) -> Any:
        return 0.5 * np.sqrt(variances[0] + variances[1] * np.cos(angle) ** 2)

    low, high = max(first - (reach + step) * deviation(first), 0.0), min(last + (reach + step) * deviation(last), whole)
    angles = np.linspace(low, high, FINE)
    # Edges of steps at equal distances in standard deviations.
    passed = np.concatenate([[0.0], np.cumsum(np.diff(angles) / deviation(0.5 * (angles[1:] + angles[:-1])))])
    steps = int(np.ceil(max(passed[-1] / step, LEAST_STEPS * (high - low) / whole)))
    edges = np.interp(np.linspace(0.0, passed[-1], steps + 1), passed, angles)
    middles, widths = 0.5 * (edges[1:] + edges[:-1]), np.diff(edges)
    # The mean of the squared sine over a step.
    shrunk = np.sinc(widths / np.pi)
    return np.sin(middles) ** 2 * shrunk + 0.5 * (1 - shrunk), widths / whole


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
