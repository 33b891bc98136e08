"""Tables that are known before or beside a measurement, because they were released elsewhere.

A table with independent Gaussian noise in its cells splits into directions that do not meet: its sum, what its rows and
its columns say beside it, and the rest. Each of them is put together with what was measured by the inverse of the
variances. All of that is post-processing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplexdp import _arguments
from simplexdp.exceptions import InvalidParameterError
from simplexdp.models.marginal_release import Measured, Pair

__all__ = ["ReleasedMarginal", "checked", "with_released"]

Floats = NDArray[np.float64]

LEAST_SIGMA = 0.1
"""Of a known table, over the smallest sigma of a measured one: the fit has to keep both in single precision."""


@dataclass(frozen=True, eq=False)
class ReleasedMarginal:
    """A table of one or two columns that was released before or elsewhere, of the same records.

    Parameters
    ----------
    columns : sequence of one or two columns
    counts : array
        One axis for each column, in the order of the levels of its domain; the level for others last.
    sigma : float
        The standard deviation of the Gaussian noise of each cell, independent of other cells'.

    Examples
    --------
    >>> from simplexdp.models import ReleasedMarginal
    >>> ReleasedMarginal(["season"], [503.0, 488.0], sigma=4.0).counts.shape
    (2,)
    """

    columns: Sequence[Any]
    counts: Any
    sigma: float

    def __post_init__(self) -> None:
        if isinstance(self.columns, (str, bytes)) or not isinstance(self.columns, Sequence):
            raise InvalidParameterError(f"columns must be a list of one or two columns, got {self.columns!r}")
        if len(self.columns) not in (1, 2) or len(set(self.columns)) < len(self.columns):
            raise InvalidParameterError(f"columns must be one or two different columns, got {list(self.columns)!r}")
        try:
            counts = np.asarray(self.counts, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise InvalidParameterError("counts must be an array of numbers") from None
        if counts.ndim != len(self.columns) or not np.all(np.abs(counts) <= MOST_COUNT):
            raise InvalidParameterError(
                f"counts must be numbers up to 2^53, one axis for each column, got shape {counts.shape}"
            )
        object.__setattr__(self, "columns", tuple(self.columns))
        object.__setattr__(self, "counts", counts)
        sigma = _arguments.positive("sigma", self.sigma)
        if sigma > MOST_COUNT:
            raise InvalidParameterError(f"sigma must be at most 2^53, got {sigma:g}")
        object.__setattr__(self, "sigma", sigma)


MOST_COUNT = 2.0**53
"""Counts and noise beyond are none: sums of them would lose whole records."""


class _Tables:
    """The cells and sigmas of a measurement by column and by pair, to be changed and put together again."""

    def __init__(self, measured: Measured, sizes: Sequence[int], pairs: Sequence[Pair]) -> None:
        shapes = [(size,) for size in sizes] + [(sizes[i], sizes[j]) for i, j in pairs]
        ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
        parts = np.split(measured.cells, ends[:-1])
        keys: list[tuple[int, ...]] = [*((column,) for column in range(len(sizes))), *pairs]
        self.measured = measured
        self.cells = {key: part.reshape(shape) for key, part, shape in zip(keys, parts, shapes, strict=True)}
        self.sigmas = dict(zip(keys, measured.sigmas.tolist(), strict=True))

    def add(self, key: tuple[int, ...], cells: Floats, sigma: float) -> None:
        """Put what a table says beside its row and column totals together with what is known of it."""
        sigma = max(sigma, LEAST_SIGMA * min(self.sigmas.values()))
        if key not in self.cells:
            self.cells[key], self.sigmas[key] = cells, sigma
            return
        own = self.sigmas[key]
        weight = own**2 / (own**2 + sigma**2)
        self.cells[key] = self.cells[key] + weight * (centred(cells) - centred(self.cells[key]))
        self.sigmas[key] = own * sigma / np.hypot(own, sigma)

    def add_total(self, total: float, sigma: float) -> None:
        """Put a number of records together with the measured one, unless that is exact."""
        own = self.measured.total_sigma
        if own > 0:
            weight = own**2 / (own**2 + sigma**2)
            found = self.measured.total + weight * (total - self.measured.total)
            self.measured = replace(self.measured, total=found, total_sigma=own * sigma / np.hypot(own, sigma))

    def whole(self) -> tuple[Measured, list[Pair]]:
        """Return the measurement, and its pairs."""
        pairs = [(key[0], key[1]) for key in self.cells if len(key) == 2]
        keys: list[tuple[int, ...]] = [*(key for key in self.cells if len(key) == 1), *pairs]
        cells = np.concatenate([self.cells[key].ravel() for key in keys])
        return replace(self.measured, cells=cells, sigmas=np.array([self.sigmas[key] for key in keys])), pairs


def centred(cells: Floats) -> Floats:
    """Return a table without what its rows and columns share."""
    for axis in range(cells.ndim):
        cells = cells - cells.mean(axis=axis, keepdims=True)
    return cells


def with_released(
    measured: Measured,
    sizes: Sequence[int],
    pairs: Sequence[Pair],
    released: Sequence[ReleasedMarginal],
    columns: Sequence[Any],
) -> tuple[Measured, list[Pair]]:
    """Return a measurement and its pairs together with tables that were released elsewhere."""
    tables = _Tables(measured, sizes, pairs)
    for each in released:
        key = tuple(columns.index(column) for column in each.columns)
        cells, sigma = each.counts, each.sigma
        tables.add_total(float(cells.sum()), sigma * cells.size**0.5)
        if len(key) == 1:
            tables.add(key, cells, sigma)
            continue
        tables.add(key[:1], cells.sum(axis=1), sigma * cells.shape[1] ** 0.5)
        tables.add(key[1:], cells.sum(axis=0), sigma * cells.shape[0] ** 0.5)
        tables.add(tuple(sorted(key)), cells if key[0] < key[1] else cells.T, sigma)
    return tables.whole()


def checked(released: Any, columns: Sequence[Any], sizes: Sequence[int]) -> list[ReleasedMarginal]:
    """Return released tables that fit the columns of a model; an error if they do not."""
    if isinstance(released, (str, bytes, Mapping)) or not isinstance(released, Sequence):
        raise InvalidParameterError(f"measured must be a list of ReleasedMarginal, got {type(released).__name__}")
    for each in released:
        if not isinstance(each, ReleasedMarginal):
            raise InvalidParameterError(f"measured must be a list of ReleasedMarginal, got {type(each).__name__} in it")
        unknown = [column for column in each.columns if column not in columns]
        if unknown:
            raise InvalidParameterError(f"measured must be tables of columns of the model, got {unknown!r}")
        shape = tuple(sizes[list(columns).index(column)] for column in each.columns)
        if each.counts.shape != shape:
            raise InvalidParameterError(
                f"measured must have counts of shape {shape} for {list(each.columns)!r}, got {each.counts.shape}"
            )
    return list(released)
