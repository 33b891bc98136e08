"""The mechanism that ``mechanism="auto"`` stands for: told by public numbers alone, never by the data.

With exact inference (`docs/inference.md`) the mechanism with the least noise in a count has the least error: noise is
all that its posterior has to undo. `docs/comparison.md` has the measurement.
"""

from __future__ import annotations

import math

from simplexdp._catalogue import CATALOGUE

__all__ = ["automatic", "discrete_laplace_spread", "standard_deviation"]


def automatic(epsilon: float, delta: float | None, *, adjacency: str = "replace", rows: bool = False) -> str:
    """Return the name of the mechanism with the least noise in a count at this budget.

    Parameters
    ----------
    epsilon, delta : float
        The budget; without a delta, or with zero, only pure mechanisms are looked at.
    adjacency : {"replace", "add_remove"}
        Which data sets are neighbours.
    rows : bool
        Whether the counts have rows, such as groups, whose sums are private.

    Examples
    --------
    >>> automatic(1.0, 1e-6), automatic(1.0, 1e-6, adjacency="add_remove")
    ('sum_preserving_laplace', 'discrete_laplace')
    """
    # Noise of sum zero is at most as large, and less so the fewer categories there are.
    pure = "discrete_laplace" if rows or adjacency == "add_remove" else "sum_preserving_laplace"
    if not delta:
        return pure
    kinds = ("discrete_laplace", "discrete_gaussian")
    sizes = [standard_deviation(name, epsilon, delta, adjacency) for name in kinds]
    return pure if sizes[0] <= sizes[1] else "discrete_gaussian"


def standard_deviation(name: str, epsilon: float, delta: float, adjacency: str) -> float:
    """Return the standard deviation of the noise in a count, for independent noise on integers."""
    entry = CATALOGUE[name]
    arguments, keywords = entry.construction(epsilon, delta, adjacency, 2)
    built = entry.mechanism.for_counts(*arguments, **keywords)
    return float(built.sigma) if hasattr(built, "sigma") else discrete_laplace_spread(float(built.scale))


def discrete_laplace_spread(scale: float) -> float:
    """Return the standard deviation sqrt(2 q) / (1 - q), q = exp(-1/scale)."""
    return math.sqrt(2) * math.exp(-0.5 / scale) / -math.expm1(-1 / scale)
