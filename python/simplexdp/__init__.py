"""Differentially private release of probability vectors, posteriors and discrete models."""

from simplexdp import accounting, divergence, frames, simulation, special, utility
from simplexdp._core import __version__
from simplexdp.accounting import PrivacyCurve
from simplexdp.exceptions import (
    BudgetExceededError,
    EntropyError,
    InsecureRandomnessWarning,
    InvalidDataError,
    InvalidParameterError,
    NotAffordableError,
    NumericalError,
    PrivacyLeakWarning,
    SimplexDpError,
)
from simplexdp.mechanisms import (
    DirichletMechanism,
    DiscreteGaussianMechanism,
    DiscreteLaplaceMechanism,
    GaussianMechanism,
    HellingerMechanism,
    LaplaceMechanism,
    LaplacePosteriorMechanism,
    NoisyPosteriorMechanism,
    SumPreservingLaplaceMechanism,
)
from simplexdp.posterior import Posterior

__all__ = [
    "BudgetExceededError",
    "DirichletMechanism",
    "DiscreteGaussianMechanism",
    "DiscreteLaplaceMechanism",
    "EntropyError",
    "GaussianMechanism",
    "HellingerMechanism",
    "InsecureRandomnessWarning",
    "InvalidDataError",
    "InvalidParameterError",
    "LaplaceMechanism",
    "LaplacePosteriorMechanism",
    "NoisyPosteriorMechanism",
    "NotAffordableError",
    "NumericalError",
    "Posterior",
    "PrivacyCurve",
    "PrivacyLeakWarning",
    "SimplexDpError",
    "SumPreservingLaplaceMechanism",
    "__version__",
    "accounting",
    "divergence",
    "frames",
    "simulation",
    "special",
    "utility",
]
