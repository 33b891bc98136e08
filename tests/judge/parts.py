"""The parts of random compositions: each makes a curve of the library by public names, and the true pair beside it."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from truth import (
    BetaPair,
    BinomialPair,
    GammaPair,
    GaussianPair,
    LaplacePair,
    Law,
    Pair,
    ball,
    binomial_law,
    discrete_gaussian_law,
)

import simplexdp as sdp
from simplexdp.accounting import dirichlet_curve

Adjacency = Literal["replace", "add_remove"]


@dataclass(frozen=True)
class Pure:
    epsilon: float

    def curve(self, adjacency: Adjacency) -> sdp.PrivacyCurve:
        return sdp.PrivacyCurve.pure(self.epsilon, adjacency=adjacency)

    def pair(self, added: bool) -> Pair:
        return BinomialPair(ball(self.epsilon), ball(0), 1)

    def power(self, count: int) -> Pair:
        return BinomialPair(ball(self.epsilon), ball(0), count)

    def law(self, count: int) -> Law:
        return binomial_law(self.epsilon, 0, count)


@dataclass(frozen=True)
class Budget:
    epsilon: float
    delta: float

    def curve(self, adjacency: Adjacency) -> sdp.PrivacyCurve:
        return sdp.PrivacyCurve.from_epsilon_delta(self.epsilon, self.delta, adjacency=adjacency)

    def pair(self, added: bool) -> Pair:
        return self.law(1)

    def law(self, count: int) -> Law:
        return binomial_law(self.epsilon, self.delta, count)


@dataclass(frozen=True)
class Gaussian:
    sigma: float
    sensitivity: float = 1.0

    def curve(self, adjacency: Adjacency) -> sdp.PrivacyCurve:
        return sdp.PrivacyCurve.gaussian(sigma=self.sigma, sensitivity=self.sensitivity, adjacency=adjacency)

    def pair(self, added: bool) -> GaussianPair:
        return GaussianPair.of(self.sigma, self.sensitivity)


@dataclass(frozen=True)
class Laplace:
    scale: float
    sensitivity: float = 1.0

    def curve(self, adjacency: Adjacency) -> sdp.PrivacyCurve:
        return sdp.PrivacyCurve.laplace(scale=self.scale, sensitivity=self.sensitivity, adjacency=adjacency)

    def pair(self, added: bool) -> Pair:
        return LaplacePair.of(self.scale, self.sensitivity)


@lru_cache(maxsize=64)
def _integer_noise(sigma: float) -> Law:
    return discrete_gaussian_law(sigma)


@dataclass(frozen=True)
class DiscreteGaussian:
    sigma: float
    changed: int = 1

    def curve(self, adjacency: Adjacency) -> sdp.PrivacyCurve:
        if 0.001 <= self.sigma <= 5000:
            return sdp.PrivacyCurve.discrete_gaussian(sigma=self.sigma, changed=self.changed, adjacency=adjacency)
        # sqrt(2) is irrational: a little above it, two integers may change by one each.
        sensitivity = 1 if self.changed == 1 else Fraction(1414213562373095049, 10**18)
        return sdp.DiscreteGaussianMechanism(sigma=self.sigma, sensitivity=sensitivity, adjacency=adjacency).privacy

    def pair(self, added: bool) -> Pair:
        return _integer_noise(self.sigma)


@dataclass(frozen=True)
class Dirichlet:
    """A draw from Dirichlet(scale * counts + prior) with three categories or more."""

    scale: float
    prior: float

    def curve(self, adjacency: Adjacency) -> sdp.PrivacyCurve:
        return dirichlet_curve(scale=self.scale, prior=self.prior, dimension=3, adjacency=adjacency)

    def pair(self, added: bool | None) -> Pair:
        if added is None:
            return BetaPair.of(self.prior, self.scale)
        return GammaPair.of(self.prior, self.scale, added=added)


Part = Pure | Budget | Gaussian | Laplace | DiscreteGaussian | Dirichlet
