"""How far a model's tables may be from those of the records, as far as what was released tells.

Discrete Gaussian noise of parameter s is sub-Gaussian with that parameter [CKS20], and so is what means over rows and
columns leave of it, with a smaller one. So every cell has an interval, all of them at once by a union bound; and the
sum of absolute errors is bounded over all 2^cells choices of signs. Nothing of the records is looked at, so the bounds
cost nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplexdp.models.marginal_release import Measured

__all__ = ["MarginalBounds", "bounds_of_column", "bounds_of_pair", "bounds_without_pair"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class MarginalBounds:
    """What is known of the true shares of a table.

    Attributes
    ----------
    columns : tuple
    level : float
        The probability, over the noise, with which all of this holds.
    model : ndarray
        The shares that the model says.
    lower, upper : ndarray
        Between these lie all true shares, at once.
    total_variation : float
        The model's shares are at most so far from the true ones: half the sum of absolute differences.
    """

    columns: tuple[Any, ...]
    level: float
    model: Floats
    lower: Floats
    upper: Floats
    total_variation: float


@dataclass(frozen=True)
class _Centred:
    """Cells beside their sum: estimates, the variance of each, and the largest variance of any direction."""

    cells: Floats
    variance: float
    widest: float


def _one_way(cells: Floats, sigma: float) -> _Centred:
    """Return what a one-way table says beside its sum."""
    return _Centred(cells - cells.mean(), sigma**2 * (1 - 1 / len(cells)), sigma**2)


def _two_way(first: _Centred, second: _Centred, cells: Floats, sigma: float) -> _Centred:
    """Return a two-way table beside its sum: row and column totals are those of the one-way tables."""
    a, b = cells.shape
    inner = cells - cells.mean(axis=1, keepdims=True)
    inner = inner - inner.mean(axis=0, keepdims=True)
    whole = inner + first.cells[:, None] / b + second.cells[None, :] / a
    variance = sigma**2 * (1 - 1 / a) * (1 - 1 / b) + first.variance / b**2 + second.variance / a**2
    # Directions of rows, of columns and of neither do not meet.
    return _Centred(whole, variance, max(sigma**2, first.widest / b, second.widest / a))


def bounds_of_column(
    measured: Measured, place: slice, sigma: float, model: Floats, level: float, name: Any
) -> MarginalBounds:
    """Return the bounds of a one-way table."""
    return _bounds(measured, _one_way(measured.cells[place], sigma), model, level, (name,))


def bounds_of_pair(
    measured: Measured,
    places: tuple[slice, slice, slice],
    sigmas: tuple[float, float, float],
    model: Floats,
    level: float,
    names: tuple[Any, Any],
) -> MarginalBounds:
    """Return the bounds of a two-way table: places and sigmas are of its columns' one-way tables and of itself."""
    first, second = (
        _one_way(measured.cells[place], sigma) for place, sigma in zip(places[:2], sigmas[:2], strict=True)
    )
    cells = measured.cells[places[2]].reshape(model.shape)
    return _bounds(measured, _two_way(first, second, cells, sigmas[2]), model, level, names)


def bounds_without_pair(first: MarginalBounds, second: MarginalBounds, model: Floats, level: float) -> MarginalBounds:
    """Return what two one-way tables say of their pair [Fr51], each with half of the chance of being wrong."""
    lower = np.maximum(first.lower[:, None] + second.lower[None, :] - 1.0, 0.0)
    upper = np.minimum(first.upper[:, None], second.upper[None, :])
    apart = 0.5 * np.maximum(np.abs(model - lower), np.abs(upper - model)).sum()
    names = (*first.columns, *second.columns)
    return MarginalBounds(names, level, model, lower, upper, float(min(apart, 1.0)))


def _bounds(
    measured: Measured, centred: _Centred, model: Floats, level: float, names: tuple[Any, ...]
) -> MarginalBounds:
    # A third of the chance of being wrong for each: the number of records, the cells, and the sum of their errors.
    chance = (1 - level) / 3
    off = measured.total_sigma * math.sqrt(2 * math.log(2 / chance))
    fewest, most = max(measured.total - off, 1.0), max(measured.total + off, 1.0)
    n_cells = model.size
    width = math.sqrt(2 * centred.variance * math.log(2 * n_cells / chance))
    ends = [
        1 / n_cells + (centred.cells + sign * width) / n_records for sign in (-1, 1) for n_records in (fewest, most)
    ]
    lower, upper = (np.clip(pick(ends, axis=0), 0.0, 1.0) for pick in (np.min, np.max))
    summed = math.sqrt(2 * n_cells * centred.widest * (n_cells * math.log(2) + math.log(1 / chance)))
    # Convex in one over the number of records, so largest at an end.
    apart = [
        0.5 * (np.abs(model - 1 / n_cells - centred.cells / n_records).sum() + summed / n_records)
        for n_records in (fewest, most)
    ]
    by_cells = 0.5 * np.maximum(np.abs(model - lower), np.abs(upper - model)).sum()
    return MarginalBounds(names, level, model, lower, upper, float(min(max(apart), by_cells, 1.0)))
