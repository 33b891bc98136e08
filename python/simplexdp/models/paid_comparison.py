"""How far a fitted model's tables are from those of the records, measured once more and paid for.

Bounds that follow from the noise alone are valid and wide. Three numbers say more at a small price: how many records
would have to be others for the model's shares to be the true ones is a number that a record changes by at most one. So
noise of a few records is enough for the mean over all tables and for the largest of them. Shares are of a number of
records, which is measured beside them where it is private: that of the model may be off by as many records as they
tell apart, and is of the records that it was fitted to alone. The proofs are in docs/synthesis.md, section 8.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from simplexdp.accounting import compose
from simplexdp.accounting.curve import Adjacency
from simplexdp.exceptions import NumericalError
from simplexdp.mechanisms import DiscreteLaplaceMechanism

if TYPE_CHECKING:
    from simplexdp.accounting import PrivacyCurve
    from simplexdp.testing import SeededRng

__all__ = ["PaidComparison", "PlannedComparison"]

UNITS = 1 << 20
"""All that a person can change, in the integers that are released."""

SHARE_OF_TOTAL = Fraction(1, 8)
"""Of the budget, for the number of records: its noise counts only as far as the tables are off."""

WRONG = 0.05
"""The chance that a margin does not hold."""

WRONG_OF_SLOPE = 0.005
"""The part of it that goes to the bound of a distance, by which the number of records counts."""


@dataclass(frozen=True)
class PaidComparison:
    """Total variation distances between the model's tables and those of the records, with noise.

    Attributes
    ----------
    one_way, pairs, largest_pair : float
        Means over all columns and over all pairs, and the largest of a pair. Noise may bring them below zero.
    margins : (float, float, float)
        With probability 0.95 each, the true distance is at most so far away.
    privacy : PrivacyCurve
        What this comparison cost, beside the model.
    n_records : float
        The number of records that were looked at, as it was released for this; exact where it is public.
    """

    one_way: float
    pairs: float
    largest_pair: float
    margins: tuple[float, float, float]
    privacy: PrivacyCurve
    n_records: float


@dataclass(frozen=True)
class PlannedComparison:
    """Three numbers and that of the records, their noise, and what they cost."""

    n_one_way: int
    max_rows: int
    distance: DiscreteLaplaceMechanism
    """Of each of the three numbers."""
    total: DiscreteLaplaceMechanism | None
    """Of the number of records, where it is private."""
    privacy: PrivacyCurve

    @classmethod
    def of(cls, n_columns: int, epsilon: float, adjacency: Adjacency, max_rows: int = 1) -> PlannedComparison:
        """Split a budget over the numbers, for persons with at most so many records."""
        is_public = adjacency == "replace" and max_rows == 1
        # A hair less than all: costs are rounded up where they are added.
        whole = Fraction(epsilon) * (1 - Fraction(1, 1 << 48))
        for_total = Fraction(0) if is_public else whole * SHARE_OF_TOTAL

        def noise(price: Fraction) -> DiscreteLaplaceMechanism:
            return DiscreteLaplaceMechanism.calibrated(epsilon=price, sensitivity=UNITS, adjacency=adjacency)

        distance = noise((whole - for_total) / 3)
        total = None if is_public else noise(for_total)
        parts = [distance.privacy] * 3 + ([] if total is None else [total.privacy])
        curve = compose(parts)
        if not curve.epsilon(0.0) <= epsilon:
            raise NumericalError(f"epsilon {epsilon} cannot be kept")
        return cls(n_columns, max_rows, distance, total, curve)

    def release(
        self,
        counts: Sequence[NDArray[np.int64]],
        shares: Sequence[NDArray[np.float64]],
        rng: SeededRng | None,
        units: int = 1,
    ) -> PaidComparison:
        """Compare tables of counts with shares, one-way tables first; a record is counted in so many units."""
        apart = [self._changes(table, share) for table, share in zip(counts, shares, strict=True)]
        one_way, pairs = apart[: self.n_one_way], apart[self.n_one_way :]
        # Means of what a person moves by UNITS at most, so they move by no more, rounded or not.
        numbers = [sum(one_way) // len(one_way), sum(pairs) // max(len(pairs), 1), max(pairs, default=0)]
        step = self.max_rows / UNITS
        found = [float(self.distance.release(number, rng)) * step for number in numbers]
        n_records = int(counts[0].sum())
        total = float(n_records)
        if self.total is not None:
            total = float(self.total.release(n_records * UNITS // self.max_rows, rng)) * step
        # Where there are records at all there is one.
        least = max(total, units)
        one, two, furthest = (self._margin(number, total) / least for number in found)
        return PaidComparison(
            found[0] / least, found[1] / least, found[2] / least, (one, two, furthest), self.privacy, total / units
        )

    def _changes(self, table: NDArray[np.int64], shares: NDArray[np.float64]) -> int:
        """Return how many records would have to be others, as a share of those of a person, in UNITS, rounded down."""
        records, of_all = records_apart(table.ravel(), shares.ravel())
        return records * UNITS // (of_all * self.max_rows)

    def _margin(self, apart: float, total: float) -> float:
        """Return how far a number of records that would have to be others may be off, noise of the total included."""
        step = self.max_rows / UNITS
        noise = float(self.distance.scale) * step
        # Numbers are rounded down twice, and noise is of whole numbers: a few steps hold it.
        rounding = 4 * step
        if self.total is None:
            return _width(noise, 0.0, WRONG) + rounding
        beside = float(self.total.scale) * step
        # The noise of the total counts by the true distance; each side of this bound is wrong by half of its chance.
        far = math.log(1 / WRONG_OF_SLOPE)
        fewest = total - far * beside
        slope = min(max((apart + far * noise) / fewest, 0.0), 1.0) if fewest > 0 else 1.0
        return _width(noise, slope * beside, WRONG - WRONG_OF_SLOPE) + rounding


def records_apart(table: NDArray[np.int64], shares: NDArray[np.float64]) -> tuple[int, int]:
    """Return n times the total variation distance between a table of n records and shares, as an exact fraction.

    It is the sum of what cells have more than their share. In floating point it could move by more than it may.
    """
    parts = np.rint(np.maximum(shares, 0.0) * 2.0**52).astype(np.int64)
    of_all, n_records = int(parts.sum()), int(table.sum())
    expected = parts * (n_records / of_all)
    more = table > expected
    # Which cells have more decides in exact numbers where doubles cannot tell; a cell of no record never has.
    unclear = (table > 0) & (np.abs(table - expected) <= 1e-14 * expected)
    for cell in np.flatnonzero(unclear).tolist():
        more[cell] = int(table[cell]) * of_all > n_records * int(parts[cell])
    return int(table[more].sum()) * of_all - n_records * int(parts[more].sum()), of_all


def _width(first: float, second: float, chance: float) -> float:
    """Return what the sum of two Laplace variables with these scales exceeds with so small a chance, in size."""
    second = max(second, 1e-6 * first)
    if abs(second - first) < 1e-3 * first:
        # The law has another form where the scales are equal; a little more noise has this one.
        second = first * (1 + 1e-3)

    def beyond(width: float) -> float:
        weighted = [scale**2 * math.exp(-width / scale) for scale in (first, second)]
        return (weighted[0] - weighted[1]) / (first**2 - second**2)

    low, high = 0.0, (first + second) * math.log(2 / chance)
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if beyond(middle) > chance else (low, middle)
    return high
