"""The mechanisms: immutable, validated when built, each with its privacy curve."""

from simplexdp.mechanisms.additive import (
    DiscreteGaussianMechanism,
    DiscreteLaplaceMechanism,
    GaussianMechanism,
    LaplaceMechanism,
    SumPreservingLaplaceMechanism,
)
from simplexdp.mechanisms.dirichlet import DirichletMechanism

__all__ = [
    "DirichletMechanism",
    "DiscreteGaussianMechanism",
    "DiscreteLaplaceMechanism",
    "GaussianMechanism",
    "LaplaceMechanism",
    "SumPreservingLaplaceMechanism",
]
