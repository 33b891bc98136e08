"""The mechanisms that are compared: calibrated to one budget, with a sampler for experiments and their rules."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from simplexdp import simulation
from simplexdp.accounting import PrivacyCurve
from simplexdp.comparison.postprocessing import Rule, additive_rules, dirichlet_rules, posterior_rules
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
from simplexdp.testing import SeededRng

__all__ = ["MECHANISMS", "Candidate", "Setting", "candidates"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Sampler = Callable[[Integers, int], Floats]
Adjacency = Literal["replace", "add_remove"]

MECHANISMS = (
    "dirichlet",
    "posterior_draw",
    "gaussian",
    "discrete_gaussian",
    "laplace",
    "discrete_laplace",
    "sum_preserving_laplace",
    "hellinger",
)

PRIORS = (0.1, 0.3, 1.0, 3.0, 10.0, 100.0, 1e4, 1e6, 1e8, 1e10)
"""Priors that are tried beside the calibrated ones. The larger, the closer is the debiased draw to Gaussian noise."""

HELLINGER_DIMENSION = 64
HELLINGER_CERTIFICATION = 2_000_000
"""Up to here the Hellinger mechanism is drawn in less than a millisecond, and certified in less than a second."""

HELLINGER_ROWS = 200
"""Data sets at which the Hellinger mechanism is drawn; each has a sampler of its own to prepare."""


@dataclass(frozen=True)
class Setting:
    """The public quantities of a comparison."""

    n: int
    dimension: int
    epsilon: float
    delta: float
    metric: str
    adjacency: Adjacency

    @property
    def changed(self) -> int:
        """In how many counts neighbours differ, each time by one."""
        return 2 if self.adjacency == "replace" else 1


@dataclass(frozen=True)
class Candidate:
    """A mechanism with its parameters.

    Parameters
    ----------
    mechanism : str
    curve : PrivacyCurve
        What one release costs.
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
    try:
        return _MAKERS[mechanism](setting)
    except SimplexDpError as error:
        raise UnavailableError(str(error)) from None


def _dirichlet(setting: Setting) -> list[Candidate]:
    """Each prior with the largest scale that the exact curve allows: the calibrated ones for every loss, and a grid."""
    _needs_delta(setting)
    budget: dict[str, Any] = {
        "epsilon": setting.epsilon,
        "delta": setting.delta,
        "dimension": setting.dimension,
        "adjacency": setting.adjacency,
    }
    found = [DirichletMechanism.calibrated(**budget, total=setting.n, loss=loss) for loss in ("kl", "l1", "l2", "linf")]
    for prior in PRIORS:
        try:
            found.append(DirichletMechanism.calibrated(**budget, prior=prior))
        except SimplexDpError:
            continue  # no scale of the allowed range meets the budget with this prior
    return [_dirichlet_candidate("dirichlet", mechanism, setting) for mechanism in found]


def _posterior_draw(setting: Setting) -> list[Candidate]:
    _needs_delta(setting)
    mechanism = DirichletMechanism.calibrated(
        setting.epsilon, setting.delta, setting.dimension, scale=1.0, adjacency=setting.adjacency
    )
    return [_dirichlet_candidate("posterior_draw", mechanism, setting)]


def _dirichlet_candidate(name: str, mechanism: DirichletMechanism, setting: Setting) -> Candidate:
    scale, prior = mechanism.scale, float(mechanism.prior)

    def sample(counts: Integers, seed: int) -> Floats:
        weights = np.random.default_rng(seed).standard_gamma(scale * counts + prior)
        # Where every weight of a row underflowed the row says nothing.
        weights = np.maximum(weights, 1e-300)
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    rules = dirichlet_rules(setting.n, setting.dimension, scale, prior, total_is_public=setting.adjacency == "replace")
    return Candidate(name, mechanism.privacy, sample, tuple(rules), {"scale": scale, "prior": prior})


def _gaussian(setting: Setting) -> list[Candidate]:
    _needs_delta(setting)
    mechanism = _gaussian_mechanism(setting.epsilon, setting.delta, setting.adjacency)
    sigma = float(mechanism.sigma)

    def sample(counts: Integers, seed: int) -> Floats:
        return np.asarray(counts + np.random.default_rng(seed).normal(0.0, sigma, counts.shape))

    return [_additive("gaussian", mechanism.privacy, sample, setting, sigma, {"sigma": sigma})]


def _discrete_gaussian(setting: Setting) -> list[Candidate]:
    _needs_delta(setting)
    mechanism = DiscreteGaussianMechanism.calibrated(
        rho=_allowed_rho(setting.epsilon, setting.delta),
        sensitivity=_euclidean(setting.changed),
        adjacency=setting.adjacency,
    )
    sigma = float(mechanism.sigma)

    def sample(counts: Integers, seed: int) -> Floats:
        return np.asarray(counts + simulation.discrete_gaussian(sigma, counts.shape, SeededRng(seed)), dtype=np.float64)

    return [_additive("discrete_gaussian", mechanism.privacy, sample, setting, sigma, {"sigma": sigma})]


def _laplace(setting: Setting) -> list[Candidate]:
    mechanism = LaplaceMechanism.calibrated(
        epsilon=setting.epsilon, sensitivity=setting.changed, changed=setting.changed, adjacency=setting.adjacency
    )
    scale = float(mechanism.scale)

    def sample(counts: Integers, seed: int) -> Floats:
        return np.asarray(counts + np.random.default_rng(seed).laplace(0.0, scale, counts.shape))

    return [_additive("laplace", mechanism.privacy, sample, setting, math.sqrt(2) * scale, {"scale": scale})]


def _discrete_laplace(setting: Setting) -> list[Candidate]:
    mechanism = DiscreteLaplaceMechanism.calibrated(
        epsilon=setting.epsilon, sensitivity=setting.changed, adjacency=setting.adjacency
    )
    scale = float(mechanism.scale)

    def sample(counts: Integers, seed: int) -> Floats:
        return np.asarray(counts + simulation.discrete_laplace(scale, counts.shape, SeededRng(seed)), dtype=np.float64)

    spread = _discrete_laplace_spread(scale)
    return [_additive("discrete_laplace", mechanism.privacy, sample, setting, spread, {"scale": scale})]


def _sum_preserving(setting: Setting) -> list[Candidate]:
    if setting.adjacency != "replace":
        raise UnavailableError('needs a public total: adjacency="replace"')
    mechanism = SumPreservingLaplaceMechanism.calibrated(epsilon=setting.epsilon, dimension=setting.dimension)
    scale = float(mechanism.scale)

    def sample(counts: Integers, seed: int) -> Floats:
        draws = mechanism._noise.draws(len(counts), 1, SeededRng(seed)).reshape(counts.shape)
        return np.asarray(counts + draws, dtype=np.float64)

    spread = _discrete_laplace_spread(scale)
    return [_additive("sum_preserving_laplace", mechanism.privacy, sample, setting, spread, {"scale": scale})]


def _hellinger(setting: Setting) -> list[Candidate]:
    if setting.adjacency != "replace":
        raise UnavailableError('needs a public total: adjacency="replace"')
    if setting.dimension > HELLINGER_DIMENSION:
        raise UnavailableError(f"more than {HELLINGER_DIMENSION} categories take too long to simulate")
    mechanism = _hellinger_mechanism(setting.n, setting.dimension, setting.epsilon)

    def sample(counts: Integers, seed: int) -> Floats:
        rng = SeededRng(seed)
        rows = [mechanism._family.draws(x, mechanism._exponent_of(x), 1, rng) for x in np.ascontiguousarray(counts)]
        return np.asarray(rows, dtype=np.float64)

    rules = posterior_rules(setting.n, setting.dimension)
    return [Candidate("hellinger", mechanism.privacy, sample, tuple(rules), {"prior": 1.0}, HELLINGER_ROWS)]


@lru_cache(maxsize=256)
def _hellinger_mechanism(n: int, dimension: int, epsilon: float) -> HellingerMechanism:
    proved = HellingerMechanism(np.ones(dimension), n, epsilon, calibration="proved")
    cost = proved._family.certification_cost()
    if cost is None or cost > HELLINGER_CERTIFICATION:
        return proved
    return HellingerMechanism(np.ones(dimension), n, epsilon, calibration="certified")


def _additive(
    name: str, curve: PrivacyCurve, sample: Sampler, setting: Setting, spread: float, parameters: dict[str, float]
) -> Candidate:
    rules = additive_rules(setting.n, setting.dimension, spread, total_is_public=setting.adjacency == "replace")
    return Candidate(name, curve, sample, tuple(rules), parameters)


def _needs_delta(setting: Setting) -> None:
    if setting.delta == 0:
        raise UnavailableError("needs a delta above zero")


def _euclidean(changed: int) -> float:
    """Return the Euclidean sensitivity, rounded up where it is not exact."""
    return 1.0 if changed == 1 else math.nextafter(math.sqrt(2), math.inf)


@lru_cache(maxsize=256)
def _allowed_rho(epsilon: float, delta: float) -> float:
    """Return the rho that the library's conversion allows; a hair less, for the rounding of the noise."""
    return DiscreteGaussianMechanism.calibrated(epsilon=epsilon, delta=delta).rho * (1 - 2.0**-30)


@lru_cache(maxsize=256)
def _gaussian_mechanism(epsilon: float, delta: float, adjacency: Adjacency) -> GaussianMechanism:
    changed = 2 if adjacency == "replace" else 1
    return GaussianMechanism.calibrated(
        epsilon=epsilon, delta=delta, sensitivity=_euclidean(changed), changed=changed, adjacency=adjacency
    )


def _discrete_laplace_spread(scale: float) -> float:
    """Return the standard deviation sqrt(2 q) / (1 - q), q = exp(-1/scale)."""
    return math.sqrt(2) * math.exp(-0.5 / scale) / -math.expm1(-1 / scale)


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
