"""Differentially private release of probability vectors, posteriors and discrete models."""

from simplexdp import divergence, frames, special, utility
from simplexdp._core import __version__
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

__all__ = [
    "BudgetExceededError",
    "EntropyError",
    "InsecureRandomnessWarning",
    "InvalidDataError",
    "InvalidParameterError",
    "NotAffordableError",
    "NumericalError",
    "PrivacyLeakWarning",
    "SimplexDpError",
    "__version__",
    "divergence",
    "frames",
    "special",
    "utility",
]
