"""Differentially private release of probability vectors, posteriors and discrete models.

Names are loaded when they are first used, so that importing the package costs less than importing NumPy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from simplexdp._core import __version__
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
    WeakGuaranteeWarning,
)

if TYPE_CHECKING:
    from simplexdp import (
        accounting,
        auditing,
        comparison,
        datasets,
        divergence,
        frames,
        hierarchy,
        inference,
        numeric,
        planning,
        plots,
        report,
        sensitivity,
        simulation,
        special,
        testing,
        utility,
    )
    from simplexdp.accounting import Accountant, PrivacyCurve, compose, compose_disjoint
    from simplexdp.auditing import audit
    from simplexdp.comparison import compare, recommend
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
    from simplexdp.planning import plan
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
    "WeakGuaranteeWarning",
    "__version__",
    "accounting",
    "audit",
    "auditing",
    "compare",
    "comparison",
    "compose",
    "compose_disjoint",
    "datasets",
    "divergence",
    "frames",
    "hierarchy",
    "inference",
    "numeric",
    "plan",
    "planning",
    "plots",
    "recommend",
    "report",
    "sensitivity",
    "simulation",
    "special",
    "testing",
    "utility",
]

_MODULES = frozenset(
    (
        "accounting",
        "auditing",
        "comparison",
        "datasets",
        "divergence",
        "frames",
        "hierarchy",
        "inference",
        "models",
        "numeric",
        "planning",
        "plots",
        "report",
        "sensitivity",
        "simulation",
        "special",
        "testing",
        "utility",
    )
)
_HOMES = {
    "simplexdp.accounting": ("Accountant", "PrivacyCurve", "compose", "compose_disjoint"),
    "simplexdp.auditing": ("audit",),
    "simplexdp.comparison": ("compare", "recommend"),
    "simplexdp.mechanisms": (
        "DirichletMechanism",
        "DiscreteGaussianMechanism",
        "DiscreteLaplaceMechanism",
        "GaussianMechanism",
        "HellingerMechanism",
        "LaplaceMechanism",
        "LaplacePosteriorMechanism",
        "NoisyPosteriorMechanism",
        "SumPreservingLaplaceMechanism",
    ),
    "simplexdp.planning": ("plan",),
    "simplexdp.posterior": ("Posterior",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"simplexdp.{name}")
    if name in _HOME_OF:
        value = getattr(import_module(_HOME_OF[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'simplexdp' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
