"""The mechanisms that are compared: calibrated to one budget, with a sampler for experiments and their rules."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from simplexdp import _core, simulation
from simplexdp._automatic import discrete_laplace_spread
from simplexdp._catalogue import CATALOGUE, names
from simplexdp.accounting import PrivacyCurve, Structure, compose
from simplexdp.accounting.concentrated import zcdp_budget
from simplexdp.accounting.search import largest_within
from simplexdp.accounting.structured import TableRelease
from simplexdp.comparison.postprocessing import (
    Rule,
    additive_rules,
    dirichlet_rules,
    posterior_rule,
    posterior_rules,
)
from simplexdp.exceptions import SimplexDpError
from simplexdp.mechanisms import (
    DirichletMechanism,
    DiscreteGaussianMechanism,
    DiscreteLaplaceMechanism,
    GaussianMechanism,
    HellingerMechanism,
    LaplaceMechanism,
    SumPreservingLaplaceMechanism,
)
from simplexdp.mechanisms.dirichlet_parameters import SCALE_RANGE
from simplexdp.sensitivity import CountChange, of_counts
from simplexdp.testing import SeededRng

__all__ = ["MECHANISMS", "Candidate", "Setting", "candidates"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Sampler = Callable[[Integers, int], Floats]
Adjacency = Literal["replace", "add_remove"]

MECHANISMS = names()

PRIORS = (0.1, 0.3, 1.0, 3.0, 10.0, 100.0, 1e4, 1e7, 1e10)
"""Priors that are tried beside the calibrated ones. The larger, the closer is the debiased draw to Gaussian noise."""

RESOLUTION_BITS = 32
"""Of Dirichlet draws, as they are released."""

DIRICHLET_COST = 3.0
"""Of the likelihood of a count given a draw, which takes gamma functions, next to that of noise."""

HELLINGER_DIMENSION = 64
HELLINGER_CERTIFICATION = 2_000_000
"""Up to here the Hellinger mechanism is drawn in less than a millisecond, and certified in less than a second."""

HELLINGER_WORK, HELLINGER_ROWS = 8000, (24, 1500)
"""The fewest and most data sets for the Hellinger mechanism: each has a sampler to prepare, whose cost grows like the
square of the dimension."""


@dataclass(frozen=True)
class Setting:
    """The public quantities of a comparison."""

    n: int
    dimension: int
    epsilon: float
    delta: float
    metric: str
    adjacency: Adjacency
    tables: int = 1

    @property
    def change(self) -> CountChange:
        """How far one record moves the counts of all tables."""
        return of_counts(adjacency=self.adjacency, tables=self.tables)

    @property
    def fixes_both_counts(self) -> bool:
        """Whether the number of records is public and leaves one of two counts free."""
        return self.dimension == 2 and self.tables == 1 and self.adjacency == "replace"

    @property
    def public_total(self) -> int | None:
        """The number of records where neighbours share it."""
        return self.n if self.adjacency == "replace" else None


@dataclass(frozen=True)
class Candidate:
    """A mechanism with its parameters.

    Parameters
    ----------
    mechanism : str
    curve : PrivacyCurve
        What all tables cost.
    sample : callable
        From counts and a seed to the rows of a release.
    rules : tuple of Rule
        The post-processing that suits it.
    parameters : mapping
        For people: scale, prior, sigma.
    most_rows : int
        On how many data sets it may be drawn.
    """

    mechanism: str
    curve: PrivacyCurve
    sample: Sampler
    rules: tuple[Rule, ...]
    parameters: Mapping[str, float] = field(hash=False)
    most_rows: int = 2**31


class UnavailableError(Exception):
    """Why a mechanism is left out."""


def candidates(mechanism: str, setting: Setting) -> list[Candidate]:
    """Return the mechanism at the budget; several where its parameters are to be chosen by their error.

    Raises
    ------
    UnavailableError
        With the reason.
    """
    entry = CATALOGUE[mechanism]
    if setting.adjacency not in entry.adjacencies:
        raise UnavailableError('needs a public total: adjacency="replace"')
    if setting.delta == 0 and not entry.pure:
        raise UnavailableError("needs a delta above zero")
    try:
        return _MAKERS[mechanism](setting)
    except SimplexDpError as error:
        raise UnavailableError(str(error)) from None


def with_rules(candidate: Candidate, names: tuple[str, ...], *, slow: bool = False) -> Candidate:
    """Return the candidate with the rules of these names only."""
    rules = tuple(rule for rule in candidate.rules if rule.name in names and (slow or not rule.slow))
    if not rules:
        raise UnavailableError("none of the allowed rules of post-processing suits it")
    return replace(candidate, rules=rules)


def _dirichlet(setting: Setting) -> list[Candidate]:
    """Each prior with the largest scale that the exact curve allows: the calibrated ones for every loss, and a grid."""
    if setting.tables > 1:
        return _dirichlet_tables(setting)
    budget: dict[str, Any] = {
        "epsilon": setting.epsilon,
        "delta": setting.delta,
        "dimension": setting.dimension,
        "adjacency": setting.adjacency,
    }
    budget |= {"total": setting.n, "fixed_total": setting.fixes_both_counts}
    found = [DirichletMechanism.calibrated(**budget, loss=loss) for loss in ("kl", "l1", "l2", "linf")]
    for prior in PRIORS:
        try:
            found.append(DirichletMechanism.calibrated(**budget, prior=prior))
        except SimplexDpError:
            continue  # no scale of the allowed range meets the budget with this prior
    return [_dirichlet_candidate("dirichlet", m.scale, float(m.prior), m.privacy, setting) for m in found]


def _dirichlet_tables(setting: Setting) -> list[Candidate]:
    found = []
    for prior in PRIORS:
        try:
            release = _table_release(setting.epsilon, setting.delta, setting.tables, setting.adjacency, prior)
        except SimplexDpError:
            continue  # as above
        if SCALE_RANGE[0] <= release.scales[0] <= SCALE_RANGE[1]:
            found.append(_dirichlet_candidate("dirichlet", release.scales[0], prior, release.privacy, setting))
    if not found:
        raise UnavailableError("no prior and scale meet this budget")
    return found


@lru_cache(maxsize=256)
def _table_release(epsilon: float, delta: float, tables: int, adjacency: Adjacency, prior: float) -> TableRelease:
    error = _core.dirichlet_sampling_error(adjacency, 1, tables)
    return Structure((1.0,) * tables).calibrated(
        epsilon=epsilon, delta=delta, prior=prior, adjacency=adjacency, sampling_error=error
    )


def _posterior_draw(setting: Setting) -> list[Candidate]:
    if setting.tables > 1:
        raise UnavailableError("is compared for one table only")
    mechanism = DirichletMechanism.calibrated(
        setting.epsilon,
        setting.delta,
        setting.dimension,
        scale=1.0,
        adjacency=setting.adjacency,
        total=setting.n,
        fixed_total=setting.fixes_both_counts,
    )
    return [_dirichlet_candidate("posterior_draw", mechanism.scale, float(mechanism.prior), mechanism.privacy, setting)]


def _dirichlet_candidate(name: str, scale: float, prior: float, curve: PrivacyCurve, setting: Setting) -> Candidate:
    def sample(counts: Integers, seed: int) -> Floats:
        weights = np.random.default_rng(seed).standard_gamma(scale * counts + prior)
        # Where every weight of a row underflowed the row says nothing.
        weights = np.maximum(weights, 1e-300)
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    rules = dirichlet_rules(setting.n, setting.dimension, scale, prior, total_is_public=setting.adjacency == "replace")
    if setting.adjacency == "replace":
        # A draw says nothing of a private number of records.
        steps = 2.0**RESOLUTION_BITS - setting.dimension
        weights = np.full(setting.dimension, prior)

        def observe(draws: Floats) -> _core.Observation:
            # The grid that `DirichletMechanism.release` draws on.
            units = np.ascontiguousarray(np.floor(draws * steps) + 1, dtype=np.int64).ravel()
            return _core.Observation.shares(units, scale, weights, RESOLUTION_BITS)

        spread = math.sqrt(prior + scale * setting.n / setting.dimension) / scale
        rules += posterior_rule(
            observe, setting.public_total, setting.n, setting.dimension, spread, cost=DIRICHLET_COST
        )
    return Candidate(name, curve, sample, tuple(rules), {"scale": scale, "prior": prior})


def _gaussian(setting: Setting) -> list[Candidate]:
    mechanism = _gaussian_mechanism(setting)
    sigma = float(mechanism.sigma)

    def sample(counts: Integers, seed: int) -> Floats:
        return np.asarray(counts + np.random.default_rng(seed).normal(0.0, sigma, counts.shape))

    return [_additive("gaussian", mechanism.privacy, sample, setting, sigma, {"sigma": sigma})]


def _discrete_gaussian(setting: Setting) -> list[Candidate]:
    mechanism, curve = _integer_gaussian(setting.epsilon, setting.delta, setting.tables, setting.adjacency)
    sigma = float(mechanism.sigma)

    def sample(counts: Integers, seed: int) -> Floats:
        return np.asarray(counts + simulation.discrete_gaussian(sigma, counts.shape, SeededRng(seed)), dtype=np.float64)

    return [_additive("discrete_gaussian", curve, sample, setting, sigma, {"sigma": sigma})]


def _laplace(setting: Setting) -> list[Candidate]:
    mechanism, curve = _pure_noise(LaplaceMechanism, setting)
    scale = float(mechanism.scale)

    def sample(counts: Integers, seed: int) -> Floats:
        return np.asarray(counts + np.random.default_rng(seed).laplace(0.0, scale, counts.shape))

    return [_additive("laplace", curve, sample, setting, math.sqrt(2) * scale, {"scale": scale})]


def _discrete_laplace(setting: Setting) -> list[Candidate]:
    mechanism, curve = _pure_noise(DiscreteLaplaceMechanism, setting)
    scale = float(mechanism.scale)

    def sample(counts: Integers, seed: int) -> Floats:
        return np.asarray(counts + simulation.discrete_laplace(scale, counts.shape, SeededRng(seed)), dtype=np.float64)

    spread = discrete_laplace_spread(scale)
    return [_additive("discrete_laplace", curve, sample, setting, spread, {"scale": scale})]


def _sum_preserving(setting: Setting) -> list[Candidate]:
    share = _pure_share(setting.epsilon, setting.delta, setting.tables)
    mechanism = SumPreservingLaplaceMechanism.for_counts(share, dimension=setting.dimension)
    scale = float(mechanism.scale)

    def sample(counts: Integers, seed: int) -> Floats:
        return np.asarray(counts + mechanism.noise(len(counts), SeededRng(seed)), dtype=np.float64)

    spread = discrete_laplace_spread(scale)
    curve = _composed(mechanism.privacy, setting.tables)
    return [_additive("sum_preserving_laplace", curve, sample, setting, spread, {"scale": scale})]


def _hellinger(setting: Setting) -> list[Candidate]:
    if setting.dimension > HELLINGER_DIMENSION:
        raise UnavailableError(f"more than {HELLINGER_DIMENSION} categories take too long to simulate")
    mechanism = _hellinger_mechanism(
        setting.n, setting.dimension, _pure_share(setting.epsilon, setting.delta, setting.tables)
    )

    def sample(counts: Integers, seed: int) -> Floats:
        rng = SeededRng(seed)
        rows = [mechanism.family.draws(x, mechanism.exponent_at(x), 1, rng) for x in np.ascontiguousarray(counts)]
        return np.asarray(rows, dtype=np.float64)

    rules = tuple(posterior_rules(setting.n, setting.dimension))
    rows = min(max(HELLINGER_WORK // setting.dimension**2, HELLINGER_ROWS[0]), HELLINGER_ROWS[1])
    curve = _composed(mechanism.privacy, setting.tables)
    return [Candidate("hellinger", curve, sample, rules, {"prior": 1.0}, rows)]


@lru_cache(maxsize=256)
def _hellinger_mechanism(n: int, dimension: int, epsilon: float) -> HellingerMechanism:
    proved = HellingerMechanism(np.ones(dimension), n, epsilon, calibration="proved")
    cost = proved.family.certification_cost()
    if cost is None or cost > HELLINGER_CERTIFICATION:
        return proved
    return HellingerMechanism(np.ones(dimension), n, epsilon, calibration="certified")


def _additive(
    name: str, curve: PrivacyCurve, sample: Sampler, setting: Setting, spread: float, parameters: dict[str, float]
) -> Candidate:
    rules = additive_rules(setting.public_total, setting.dimension, spread, setting.n)

    def observe(noisy: Floats) -> _core.Observation:
        values = np.ascontiguousarray(noisy, dtype=np.float64).ravel()
        if name == "sum_preserving_laplace":
            return _core.Observation.zero_sum(values, setting.dimension, parameters["scale"])
        # Noise on a fine grid is drawn without it here: its law at these values is that of a grid of step 2^-20 or so.
        step = 1.0 if name.startswith("discrete") else 2.0**-20
        kind, size = ("gaussian", "sigma") if "sigma" in parameters else ("laplace", "scale")
        return _core.Observation.noisy(values, kind, parameters[size], step)

    rules += posterior_rule(observe, setting.public_total, setting.n, setting.dimension, spread)
    return Candidate(name, curve, sample, tuple(rules), parameters)


@lru_cache(maxsize=256)
def _integer_gaussian(
    epsilon: float, delta: float, tables: int, adjacency: Adjacency
) -> tuple[DiscreteGaussianMechanism, PrivacyCurve]:
    """Return the mechanism for each of so many tables, and the curve of all of them."""
    if tables == 1:
        mechanism = DiscreteGaussianMechanism.for_counts(epsilon, delta, adjacency=adjacency)
        return mechanism, mechanism.privacy

    def attempt(log_scale: float) -> tuple[tuple[DiscreteGaussianMechanism, PrivacyCurve], float]:
        mechanism = DiscreteGaussianMechanism.for_counts(rho=math.exp(2 * log_scale) / tables, adjacency=adjacency)
        if mechanism.privacy.exact:
            curve = compose([mechanism.privacy], [tables])
        else:
            curve = PrivacyCurve.from_guarantee(_core.concentrated([mechanism.rho] * tables, adjacency), "tables")
        return (mechanism, curve), float(curve.epsilon(delta)) / epsilon

    return largest_within(attempt, math.log(zcdp_budget(epsilon, delta)) / 2)


@lru_cache(maxsize=256)
def _calibrated_gaussian(
    epsilon: float, delta: float, sensitivity: float, changed: int, adjacency: Adjacency
) -> GaussianMechanism:
    return GaussianMechanism.calibrated(
        epsilon=epsilon, delta=delta, sensitivity=sensitivity, changed=changed, adjacency=adjacency
    )


def _gaussian_mechanism(setting: Setting) -> GaussianMechanism:
    change = setting.change
    return _calibrated_gaussian(setting.epsilon, setting.delta, change.l2, change.cells, setting.adjacency)


@lru_cache(maxsize=256)
def _pure_share(epsilon: float, delta: float, times: int) -> float:
    """Return the largest pure epsilon that so many releases may cost each: an even share, or more by composition."""
    even = epsilon / times
    if delta == 0 or times == 1:
        return even

    def attempt(log_share: float) -> tuple[float, float]:
        share = math.exp(log_share)
        return share, float((times * PrivacyCurve.pure(share)).epsilon(delta)) / epsilon

    # An even share keeps the budget whatever delta is.
    return max(even, largest_within(attempt, math.log(even)))


def _pure_noise(kind: Any, setting: Setting) -> tuple[Any, PrivacyCurve]:
    """Return Laplace noise of a kind, and what all changed counts cost; each is a release of its own for the curve."""
    if setting.tables == 1:
        mechanism = kind.for_counts(setting.epsilon, adjacency=setting.adjacency)
        return mechanism, mechanism.privacy
    times = setting.change.l1
    share = _pure_share(setting.epsilon, setting.delta, times)
    alone = {} if kind is DiscreteLaplaceMechanism else {"changed": 1}
    mechanism = kind.calibrated(epsilon=share, sensitivity=1, adjacency=setting.adjacency, **alone)
    return mechanism, times * mechanism.privacy


def _composed(curve: PrivacyCurve, times: int) -> PrivacyCurve:
    return curve if times == 1 else times * curve


_MAKERS: Mapping[str, Callable[[Setting], list[Candidate]]] = {
    "dirichlet": _dirichlet,
    "posterior_draw": _posterior_draw,
    "gaussian": _gaussian,
    "discrete_gaussian": _discrete_gaussian,
    "laplace": _laplace,
    "discrete_laplace": _discrete_laplace,
    "sum_preserving_laplace": _sum_preserving,
    "hellinger": _hellinger,
}
assert set(_MAKERS) == set(MECHANISMS)
