"""What was released of counts in units, of which a person has so many, told in persons.

Counts are exact in units, and so is the noise. Inference takes them in persons, whole ones: a person whose records lie
in several cells is a part of one in each, which noise of many persons hides.
"""

from __future__ import annotations

from typing import Any

from simplexdp.exceptions import InvalidParameterError
from simplexdp.mechanisms import (
    DirichletMechanism,
    DiscreteGaussianMechanism,
    DiscreteLaplaceMechanism,
    GaussianMechanism,
    LaplaceMechanism,
)

__all__ = ["in_persons", "law_of_persons"]


def law_of_persons(mechanism: Any, units: int) -> Any:
    """Return the law of a release of counts of persons, which was drawn in so many units to a person."""
    if units == 1:
        return mechanism
    if isinstance(mechanism, DirichletMechanism):
        scale = float(mechanism.scale) * units
        return DirichletMechanism(scale=scale, prior=mechanism.prior, dimension=mechanism.dimension)
    if isinstance(mechanism, (LaplaceMechanism, DiscreteLaplaceMechanism)):
        return LaplaceMechanism(scale=float(mechanism.scale) / units, sensitivity=1, changed=1)
    if not isinstance(mechanism, (GaussianMechanism, DiscreteGaussianMechanism)):
        raise InvalidParameterError(
            f"units must be 1 for {type(mechanism).__name__}: persons have units in Dirichlet draws and in counts with "
            "independent noise alone"
        )
    return GaussianMechanism(sigma=float(mechanism.sigma) / units, sensitivity=1, changed=1)


def in_persons(mechanism: Any, released: Any, units: int) -> Any:
    """Return what was released of counts in units as counts of persons; shares stay what they are."""
    return released if units == 1 or isinstance(mechanism, DirichletMechanism) else released / units
