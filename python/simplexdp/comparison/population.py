"""Public populations of data sets, over which errors are averaged: nothing here ever sees a user's data."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplexdp import _arguments as check
from simplexdp.exceptions import InvalidParameterError

__all__ = ["SHAPES", "Population", "as_population"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SHAPES = ("uniform", "dirichlet", "zipf", "sparse")
"""Shapes of shares: equal; Dirichlet(1); proportional to rank^-1.5; even on the first ceil(sqrt(d)) categories."""

ZIPF_EXPONENT = 1.5

AT_ONCE = 1 << 20
"""Counts that are drawn in one call."""


class Population:
    """Data sets of n records: shares of a shape, then counts from the multinomial law with these shares.

    Parameters
    ----------
    name : str
        "mixed" for a quarter of each shape, one shape, or "given".
    given : ndarray of shape (k, d), optional
        Shares that stand in for the shapes.
    """

    def __init__(self, name: str, given: Floats | None = None) -> None:
        self.name, self._given = name, given

    def draw(self, n: int, dimension: int, rows: int, generator: np.random.Generator) -> Integers:
        """Draw counts, shape (rows, dimension); the shapes take turns."""
        if self._given is not None:
            shares = self._given[np.arange(rows) % len(self._given)]
        else:
            shapes = SHAPES if self.name == "mixed" else (self.name,)
            shares = np.empty((rows, dimension))
            for turn, shape in enumerate(shapes):
                part = shares[turn :: len(shapes)]
                part[:] = _shares(shape, dimension, len(part), generator)
        # Rounding may bring a row of shares above one, which the generator refuses.
        shares = shares / (shares.sum(axis=1, keepdims=True) * (1 + 1e-12))
        # A signal is heard between calls of NumPy only; the draws are those of one call.
        step = max(AT_ONCE // dimension, 1)
        parts = [generator.multinomial(n, shares[start : start + step]) for start in range(0, max(rows, 1), step)]
        return np.concatenate(parts).astype(np.int64, copy=False)


def as_population(population: Any, dimension: int) -> Population:
    """Check for the name of a shape, "mixed", or public shares of shape (k, dimension)."""
    if isinstance(population, str):
        return Population(check.choice("population", population, ("mixed", *SHAPES)))
    rows = np.atleast_2d(check.probabilities("population", population, dimension))
    if rows.ndim != 2 or len(rows) == 0:
        raise InvalidParameterError(f"population must have shape (k, {dimension}) with k >= 1, got {rows.shape}")
    return Population("given", rows)


def _shares(shape: str, dimension: int, rows: int, generator: np.random.Generator) -> Floats:
    if shape == "dirichlet":
        weights = generator.standard_exponential((rows, dimension))
    else:
        weights = np.ones(dimension)
        if shape == "zipf":
            weights = np.arange(1.0, dimension + 1) ** -ZIPF_EXPONENT
        elif shape == "sparse":
            weights[math.isqrt(dimension - 1) + 1 :] = 0
        weights = np.broadcast_to(weights, (rows, dimension))
    normalised: Floats = weights / weights.sum(axis=1, keepdims=True)
    return normalised
