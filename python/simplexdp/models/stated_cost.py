"""What the noise that a file tells of costs at least: a file that states less is not one that `to_json` wrote.

A file is as honest as who wrote it, and what it says of private bins or of a learned structure cannot be computed
again. But tables that were drawn with noise of a stated size cost what such noise costs; so whoever lowers the
guarantee in a file, or loses what it says of persons, is found out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from simplexdp import _core
from simplexdp._weights import moves_of, units_of
from simplexdp.accounting import PrivacyCurve, compose, dirichlet_curve
from simplexdp.exceptions import InvalidParameterError
from simplexdp.mechanisms import DiscreteGaussianMechanism, DiscreteLaplaceMechanism, LaplaceMechanism
from simplexdp.models.moment_release import ReleasedMoments, weighted_moments
from simplexdp.models.released import Law
from simplexdp.sensitivity import of_counts

if TYPE_CHECKING:
    from simplexdp.models.marginal_release import Measured, Pair
    from simplexdp.models.saved import SavedPrivacy

__all__ = ["check_marginals", "check_moments", "check_tables"]

ROUNDING = 1e-9
"""What writing a size, reading it again and telling it in persons may change of a cost, many times over."""
UNKNOWN_UNITS = 2e-3
"""The noise of pairs is told without its grid, which changes their cost by less than a thousandth."""


def check_tables(privacy: SavedPrivacy, laws: Sequence[Law], what: str) -> None:
    """Refuse a file whose tables, drawn by these laws, cost more than it states."""
    if privacy.epsilon is None or any(law.kind == "none" for law in laws) or not laws:
        return
    records = 1 if privacy.max_rows is None else privacy.max_rows
    moves = moves_of(records, weighted=privacy.weighted)
    units = units_of(records, weighted=privacy.weighted)
    counted = [_in_counts(law, units) for law in laws]
    _check(privacy, _cost_of_tables(tuple(counted), privacy.adjacency, moves), ROUNDING, what)


def check_moments(privacy: SavedPrivacy, released: ReleasedMoments, what: str) -> None:
    """Refuse a file whose sums, drawn together by one law, cost more than it states."""
    if privacy.epsilon is None:
        return
    kind = released.count_law.kind
    moments, weight = weighted_moments(released.sums.shape[1], len(released.counts), gaussian=kind == "gaussian")
    l1, l2, _ = moments.moves(privacy.adjacency, 1 if privacy.max_rows is None else privacy.max_rows)
    # Counts and sums are drawn by one law; of two that are told the one with less noise counts.
    size = min(released.count_law.size * weight, released.sum_law.size * moments.unit)
    if kind == "gaussian":
        cost = PrivacyCurve.gaussian(sigma=size, sensitivity=l2, adjacency=privacy.adjacency)
    else:
        cost = PrivacyCurve.pure(l1 / size, adjacency=privacy.adjacency)
    _check(privacy, cost, ROUNDING, what)


def check_marginals(
    privacy: SavedPrivacy, measured: Measured, sizes: Sequence[int], pairs: Sequence[Pair], what: str
) -> None:
    """Refuse a file whose one-way and two-way tables cost more than it states."""
    records = 1 if privacy.max_rows is None else privacy.max_rows
    units, moves = units_of(records, weighted=privacy.weighted), moves_of(records, weighted=privacy.weighted)
    persons = (privacy.adjacency == "replace", moves)
    mu = _core.measured_mu(list(sizes), list(pairs), measured.sigmas * float(units), persons)
    if mu > 0:
        cost = PrivacyCurve.gaussian(sigma=1.0, sensitivity=mu, adjacency=privacy.adjacency)
        _check(privacy, cost, UNKNOWN_UNITS, what)


def _in_counts(law: Law, units: int) -> Law:
    """Return the law of what was drawn, where so many counts were told as one."""
    if law.kind == "dirichlet":
        return replace(law, size=law.size / units)
    return replace(law, size=law.size * units, step=law.step * units)


@lru_cache(maxsize=128)
def _cost_of_tables(laws: tuple[Law, ...], adjacency: Any, moves: int) -> PrivacyCurve:
    """Return a curve that no release of tables by these laws is below, for a person with so many records."""
    change = of_counts(adjacency=adjacency, max_rows=moves)
    together: dict[Law, int] = {}
    for law in laws:
        together[law] = together.get(law, 0) + 1
    curves, counts = [], []
    for law, tables in together.items():
        times = tables
        if law.kind == "dirichlet":
            curve = dirichlet_curve(scale=law.size, prior=law.prior, dimension=2, adjacency=adjacency, max_rows=moves)
        elif law.kind == "gaussian":
            curve = PrivacyCurve.gaussian(sigma=law.size, sensitivity=change.l2, adjacency=adjacency)
            if law.step > 0.5:
                exact = DiscreteGaussianMechanism(sigma=law.size, sensitivity=change.l2, adjacency=adjacency).privacy
                curve = exact if exact.exact else curve
        else:
            # One mechanism for each cell that a person may have all records in, as the plan has it.
            times = tables * (change.l1 // moves)
            alone = {"scale": law.size, "sensitivity": moves, "adjacency": adjacency}
            if law.step > 0.5:
                curve = DiscreteLaplaceMechanism(**alone).privacy
            else:
                curve = LaplaceMechanism(**alone, changed=moves, resolution=law.step).privacy
        curves.append(curve)
        counts.append(times)
    return compose(curves, counts)


def _check(privacy: SavedPrivacy, cost: PrivacyCurve, allowance: float, what: str) -> None:
    stated, delta = privacy.epsilon, privacy.delta
    assert stated is not None
    # Without a delta the largest loss counts, which Gaussian noise and draws have none of.
    least = float(cost.epsilon_bounds(delta)[0]) if delta > 0 else float(cost.renyi(math.inf))
    if stated < least * (1 - allowance):
        raise InvalidParameterError(
            f"text must be {what} written by to_json: its noise costs more than the stated epsilon {stated:g} at delta "
            f"{delta:g}, {least:g} at least"
        )
