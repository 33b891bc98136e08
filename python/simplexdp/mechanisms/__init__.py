"""The mechanisms: immutable, validated when built, each with its privacy curve."""

from simplexdp.mechanisms.dirichlet import DirichletMechanism
from simplexdp.mechanisms.discrete_gaussian import DiscreteGaussianMechanism
from simplexdp.mechanisms.discrete_laplace import DiscreteLaplaceMechanism
from simplexdp.mechanisms.gaussian import GaussianMechanism
from simplexdp.mechanisms.hellinger import HellingerMechanism
from simplexdp.mechanisms.laplace import LaplaceMechanism
from simplexdp.mechanisms.laplace_posterior import LaplacePosteriorMechanism
from simplexdp.mechanisms.noisy_posterior import NoisyPosteriorMechanism
from simplexdp.mechanisms.sum_preserving import SumPreservingLaplaceMechanism

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
