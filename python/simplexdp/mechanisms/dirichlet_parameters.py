"""The public parameters of a Dirichlet mechanism: where they may lie, and what follows from them."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from simplexdp import _arguments as check
from simplexdp.exceptions import InvalidParameterError

__all__ = [
    "ADJACENCIES",
    "LOSSES",
    "MAX_DIMENSION",
    "SCALE_RANGE",
    "SENSITIVITY_RANGE",
    "between",
    "checked_dimension",
    "checked_prior",
    "checked_total",
    "two_smallest",
]

ADJACENCIES = ("replace", "add_remove")
LOSSES = ("kl", "l1", "l2", "linf")

PRIOR_RANGE = (1e-6, 1e11)
SCALE_RANGE = (1e-8, 1e11)
"""Where the sampler is exact and the curve accurate."""

SENSITIVITY_RANGE = (1e-100, 1e100)
"""Of l2, so that its square is a normal double."""

MAX_DIMENSION = 10**6
"""Up to here the sampler's error bound holds."""


def two_smallest(prior: float | tuple[float, ...]) -> tuple[float, float]:
    """Return the two smallest entries of a prior."""
    if isinstance(prior, float):
        return prior, prior
    a, b = np.partition(np.array(prior), 1)[:2]
    return float(a), float(b)


def checked_prior(prior: ArrayLike, dimension: int | None) -> tuple[float | tuple[float, ...], int]:
    """Return the prior as a float or a tuple, and the dimension that goes with it."""
    array = check.numbers("prior", prior)
    if array.ndim > 1 or array.shape == (0,):
        raise InvalidParameterError(f"prior must be a number or have shape (d,), got shape {array.shape}")
    low, high = PRIOR_RANGE
    if np.any(array < low) or np.any(array > high):
        raise InvalidParameterError(f"prior must lie between {low:g} and {high:g}, got {prior!r}")
    if dimension is None:
        if array.ndim == 0:
            raise InvalidParameterError("dimension must be given when prior is a number")
        dimension = array.size
    dimension = checked_dimension(dimension)
    if array.ndim == 1 and array.size != dimension:
        raise InvalidParameterError(f"prior must have {dimension} entries, one for each category, got {array.size}")
    return (float(array) if array.ndim == 0 else tuple(array.tolist())), dimension


def checked_dimension(dimension: Any) -> int:
    """Return a number of categories for which the sampler's error bound holds."""
    result = check.integer("dimension", dimension, 2)
    if result > MAX_DIMENSION:
        raise InvalidParameterError(f"dimension must be at most {MAX_DIMENSION}, got {result}")
    return result


def checked_total(total: Any, dimension: int, floor: float, adjacency: str) -> int:
    """Return a public total that fits the dimension, the floor and the adjacency."""
    if check.choice("adjacency", adjacency, ADJACENCIES) == "add_remove":
        raise InvalidParameterError("total must not be fixed under 'add_remove', where neighbours differ in it")
    # Two neighbours need a record that moves beside what the floors hold.
    least = 1 + dimension * math.ceil(floor)
    result = check.integer("total", total, least)
    if result > check.LARGEST_COUNT:
        raise InvalidParameterError(f"total must be at most 1e15, got {total!r}")
    return result


def between(name: str, value: Any, bounds: tuple[float, float]) -> float:
    """Return a number that lies within bounds."""
    result = check.number(name, value)
    low, high = bounds
    if not low <= result <= high:
        raise InvalidParameterError(f"{name} must lie between {low:g} and {high:g}, got {result}")
    return result
