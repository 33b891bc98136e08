"""Bins as numbers again: one that falls into the bin, whole where the column holds whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplexdp.models.bins import centres
from simplexdp.models.cuts import Cut

__all__ = ["NumericColumn"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class NumericColumn:
    """The bins of a column.

    Parameters
    ----------
    cut : Cut
        The edges between them, and whether missing values have a code, the last.
    bounds : (float, float) or None
        Public bounds; without them the outer bins are as wide as the others are in the mean.
    whole : bool
        Whether the column holds integers.
    """

    cut: Cut
    bounds: tuple[float, float] | None
    whole: bool

    @property
    def edges(self) -> Floats:
        """The inner edges."""
        return self.cut.edges

    @property
    def null(self) -> bool:
        """Whether there is one more code, the last, for missing values."""
        return self.cut.null

    @property
    def ends(self) -> Floats:
        """The ends of all bins, one more than there are."""
        middles = centres(self.edges, self.bounds)
        if self.bounds is None:
            # The outer bins are as far beyond their middle as the edge is on this side.
            first = 2 * middles[0] - self.edges[0] if len(self.edges) else middles[0]
            last = 2 * middles[-1] - self.edges[-1] if len(self.edges) else middles[-1]
        else:
            first, last = self.bounds
        inner = self.edges
        low = min(first, inner[0]) if len(inner) else first
        high = max(last, inner[-1]) if len(inner) else last
        return np.concatenate([[low], inner, [high]])

    def fill(self, codes: NDArray[np.integer[Any]], generator: np.random.Generator) -> NDArray[Any]:
        """Return a number in the bin of each code, all of them as likely; with `null` masked where it is missing."""
        if not self.null:
            return self._fill(codes, generator)
        missing = codes == len(self.edges) + 1
        values = self._fill(np.where(missing, 0, codes), generator)
        # What stands behind the mask says nothing.
        values[missing] = 0
        found: NDArray[Any] = np.ma.MaskedArray(values, missing)
        return found

    def _fill(self, codes: NDArray[np.integer[Any]], generator: np.random.Generator) -> NDArray[Any]:
        ends = self.ends
        uniform = generator.random(len(codes))
        if not self.whole:
            values: Floats = ends[codes] + uniform * (ends[codes + 1] - ends[codes])
            # Rounding must not put a number into the next bin.
            filled: Floats = np.minimum(values, np.maximum(np.nextafter(ends[codes + 1], -np.inf), ends[codes]))
            return filled
        limit = 2.0**62
        first = np.clip(np.ceil(ends[:-1]), -limit, limit)
        # A bin holds its lower edge and not its upper one, but for the last.
        last = np.clip(np.ceil(ends[1:]) - 1, -limit, limit)
        last[-1] = np.clip(np.floor(ends[-1]), -limit, limit)
        # A bin without an integer has none to draw: what is nearest to its lower edge stands for it.
        last = np.maximum(last, first)
        whole: NDArray[np.int64] = (first[codes] + np.floor(uniform * (last - first + 1)[codes])).astype(np.int64)
        return whole
