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
    LaplaceMechanism,
    SumPreservingLaplaceMechanism,
)

__all__ = [
    "BudgetExceededError",
    "DirichletMechanism",
    "DiscreteGaussianMechanism",
    "DiscreteLaplaceMechanism",
    "EntropyError",
    "GaussianMechanism",
    "InsecureRandomnessWarning",
    "InvalidDataError",
    "InvalidParameterError",
    "LaplaceMechanism",
    "NotAffordableError",
    "NumericalError",
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
