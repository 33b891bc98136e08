"""What a release says of every level at once: means with intervals, or estimates where there are none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from simplexdp.exceptions import NotAffordableError, NumericalError

if TYPE_CHECKING:
    from simplexdp.hierarchy.release import HierarchicalCounts

__all__ = ["expected"]


def expected(counts: HierarchicalCounts, level: float) -> list[tuple[NDArray[Any], NDArray[Any] | None]]:
    """Return, from coarse to fine, the counts to expect and the ends of their intervals.

    Where the noise is too large for exact inference, what was paid for is told by least squares, without intervals: on
    all levels, so that they still add up.
    """
    columns = counts.hierarchy.columns
    try:
        laws = [counts.counts(column) for column in columns]
        return [(np.asarray(law.mean), np.asarray(law.interval(level))) for law in laws]
    except (NotAffordableError, NumericalError):
        return [(np.asarray(counts.least_squares(column).counts), None) for column in columns]
