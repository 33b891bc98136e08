"""Differentially private release of probability vectors, posteriors and discrete models."""

from simplexdp import accounting, divergence, frames, special, utility
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
from simplexdp.mechanisms import DirichletMechanism

__all__ = [
    "BudgetExceededError",
    "DirichletMechanism",
    "EntropyError",
    "InsecureRandomnessWarning",
    "InvalidDataError",
    "InvalidParameterError",
    "NotAffordableError",
    "NumericalError",
    "PrivacyCurve",
    "PrivacyLeakWarning",
    "SimplexDpError",
    "__version__",
    "accounting",
    "divergence",
    "frames",
    "special",
    "utility",
]
