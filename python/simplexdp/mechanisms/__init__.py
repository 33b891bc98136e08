"""The mechanisms: immutable, validated when built, each with its privacy curve."""

from simplexdp.mechanisms.additive import (
    DiscreteGaussianMechanism,
    DiscreteLaplaceMechanism,
    GaussianMechanism,
    LaplaceMechanism,
    SumPreservingLaplaceMechanism,
)
from simplexdp.mechanisms.dirichlet import DirichletMechanism
from simplexdp.mechanisms.hellinger import HellingerMechanism
from simplexdp.mechanisms.noisy_posterior import LaplacePosteriorMechanism, NoisyPosteriorMechanism

__all__ = [
    "DirichletMechanism",
    "DiscreteGaussianMechanism",
    "DiscreteLaplaceMechanism",
    "GaussianMechanism",
    "HellingerMechanism",
    "LaplaceMechanism",
    "LaplacePosteriorMechanism",
    "NoisyPosteriorMechanism",
    "SumPreservingLaplaceMechanism",
]
