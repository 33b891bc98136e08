"""Budgets of mechanisms that add noise, for the core's search of the least noise."""

from fractions import Fraction
from typing import Any

from simplexdp import _arguments as check
from simplexdp import _core
from simplexdp._cautions import caution
from simplexdp.accounting import Adjacency
from simplexdp.exceptions import InvalidParameterError
from simplexdp.mechanisms._exact import Number, as_fraction, as_ratio

__all__ = ["gaussian_budget", "pure_integer_scale", "pure_scale"]


def gaussian_budget(
    rho: Number | None, epsilon: float | None, delta: float | None, advantage: float | None
) -> dict[str, Any]:
    """Return the budget of Gaussian noise, as the core takes it."""
    pair = epsilon is not None or delta is not None
    if (rho is not None) + pair + (advantage is not None) != 1:
        raise InvalidParameterError("a budget must be one of rho, epsilon with delta, and advantage")
    if pair and delta is None:
        raise InvalidParameterError("delta must be given with epsilon: Gaussian noise has no guarantee without it")
    if pair and epsilon is None:
        raise InvalidParameterError("epsilon must be given with delta")
    if rho is not None:
        return {"rho": as_fraction("rho", rho).as_integer_ratio()}
    if advantage is not None:
        return {"advantage": check.open_unit("advantage", advantage)}
    within = check.positive("epsilon", epsilon), check.open_unit("delta", delta)
    caution(epsilon=within[0])
    return {"pair": within}


def pure_integer_scale(epsilon: Number | None, advantage: float | None, size: Fraction, adjacency: Adjacency) -> Number:
    """Return the least scale of Laplace noise on integers; one that is not drawn is refused by the budget's name."""
    scale = pure_scale(epsilon, advantage, size, adjacency)
    if epsilon is not None and scale > _core.LARGEST_INTEGER_SCALE:
        least = float(size) / _core.LARGEST_INTEGER_SCALE
        raise InvalidParameterError(
            f"epsilon must be at least {least:.3g}, where the scale of integer noise is 2^50, got {float(epsilon)}"
        )
    return scale


def pure_scale(
    epsilon: Number | None, advantage: float | None, size: Fraction, adjacency: Adjacency, *, again: bool = False
) -> Number:
    """Return the least scale of Laplace noise: the Fraction size / epsilon, or some bits for an advantage.

    Who asks again hears no caution again.
    """
    if (epsilon is None) == (advantage is None):
        raise InvalidParameterError("a budget must be epsilon or advantage, and not both")
    if advantage is None:
        exact = as_fraction("epsilon", epsilon)
        if not again:
            caution(epsilon=exact)
        return size / exact
    check.choice("adjacency", adjacency, ("replace", "add_remove"))
    return _core.least_noise(adjacency, "laplace", as_ratio(size), advantage=check.open_unit("advantage", advantage))
