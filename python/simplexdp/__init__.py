"""Differentially private release of probability vectors, posteriors and discrete models."""

from simplexdp import accounting, divergence, frames, simulation, special, utility
from simplexdp._core import __version__
from simplexdp.accounting import Accountant, PrivacyCurve, compose, compose_disjoint
from simplexdp.exceptions import (
    BudgetExceededError,
    EntropyError,
    InsecureRandomnessWarning,
    InvalidDataError,
    InvalidParameterError,
    LedgerError,
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
    "Accountant",
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
    "LedgerError",
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
    "compose",
    "compose_disjoint",
    "divergence",
    "frames",
    "simulation",
    "special",
    "utility",
]
