"""How far a fitted model's tables are from those of the records, measured once more and paid for.

Bounds that follow from the noise alone are valid and wide. Three numbers say more at a small price: the distance of a
table from public numbers is a sum of absolute differences, which a record changes by as much as it changes the table.
So noise of a few records is enough for the mean over all tables and for the largest of them.
"""

from __future__ import annotations

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
from simplexdp.sensitivity import of_counts

if TYPE_CHECKING:
    from simplexdp.accounting import PrivacyCurve
    from simplexdp.testing import SeededRng

__all__ = ["PaidComparison", "PlannedComparison"]

UNITS = 1 << 10
"""To a record: expected counts are rounded to these, so that all is in integers."""


@dataclass(frozen=True)
class PaidComparison:
    """Total variation distances between the model's tables and those of the records, with noise.

    Attributes
    ----------
    one_way, pairs, largest_pair : float
        Means over all columns and over all pairs, and the largest of a pair. Noise may bring them below zero.
    margins : (float, float, float)
        With probability 0.95 each, the noise is at most so large.
    privacy : PrivacyCurve
        What this comparison cost, beside the model.
    """

    one_way: float
    pairs: float
    largest_pair: float
    margins: tuple[float, float, float]
    privacy: PrivacyCurve


@dataclass(frozen=True)
class PlannedComparison:
    """Three numbers, their noise, and what they cost."""

    n_one_way: int
    n_pairs: int
    mechanisms: tuple[DiscreteLaplaceMechanism, DiscreteLaplaceMechanism, DiscreteLaplaceMechanism]
    privacy: PrivacyCurve

    @classmethod
    def of(
        cls, n_columns: int, n_pairs: int, epsilon: float, adjacency: Adjacency, max_rows: int = 1
    ) -> PlannedComparison:
        """Split a budget evenly over the three numbers, for persons with at most so many records."""
        change = of_counts(adjacency=adjacency, max_rows=max_rows).l1
        # A hair less than a third: costs are rounded up where they are added.
        third = Fraction(epsilon) / 3 * (1 - Fraction(1, 1 << 48))
        one_way, pairs, largest = (
            DiscreteLaplaceMechanism.calibrated(
                epsilon=third, sensitivity=change * UNITS * max(n_tables, 1), adjacency=adjacency
            )
            for n_tables in (n_columns, n_pairs, 1)
        )
        curve = compose([one_way.privacy, pairs.privacy, largest.privacy])
        if not curve.epsilon(0.0) <= epsilon:
            raise NumericalError(f"epsilon {epsilon} cannot be kept")
        return cls(n_columns, n_pairs, (one_way, pairs, largest), curve)

    def release(
        self,
        counts: Sequence[NDArray[np.int64]],
        shares: Sequence[NDArray[np.float64]],
        n_records: float,
        rng: SeededRng | None,
    ) -> PaidComparison:
        """Compare tables of counts with shares, one-way tables first; the number of records is the released one."""
        apart = [
            int(np.abs(table * UNITS - np.rint(share * (n_records * UNITS)).astype(np.int64)).sum())
            for table, share in zip(counts, shares, strict=True)
        ]
        one_way, pairs = apart[: self.n_one_way], apart[self.n_one_way :]
        sums = [sum(one_way), sum(pairs), max(pairs, default=0)]
        # A distance is half of the sum, as a share of the records.
        scales = [2 * UNITS * max(n_records, 1.0) * max(n_tables, 1) for n_tables in (self.n_one_way, self.n_pairs, 1)]
        one, two, furthest = (
            float(mechanism.release(number, rng)) / scale
            for mechanism, number, scale in zip(self.mechanisms, sums, scales, strict=True)
        )
        widths = [
            float(np.diff(mechanism.interval(0, 0.95)).item()) / 2 / scale
            for mechanism, scale in zip(self.mechanisms, scales, strict=True)
        ]
        return PaidComparison(one, two, furthest, (widths[0], widths[1], widths[2]), self.privacy)
