"""Records of no listed group that are left out: how many, with noise, as one more cell of the same table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from simplexdp.cli.writing import Result

if TYPE_CHECKING:
    from simplexdp.cli.counting import Levels

__all__ = ["DROPPED", "with_dropped", "without_others"]

DROPPED = "\0dropped"
"""The level of what is left out while it is counted; no text of a file is that."""


def without_others(
    columns: Mapping[str, Levels], counts: NDArray[np.int64]
) -> tuple[dict[str, Levels], NDArray[np.int64], int]:
    """Return the columns and the counts without the last level of each column of groups, and the records left out."""
    *by, _ = columns
    inner = (*(slice(0, -1) for _ in by), slice(None))
    kept = np.ascontiguousarray(counts[inner])
    own = {name: replace(levels, other=None, null=None) if name in by else levels for name, levels in columns.items()}
    return own, kept, int(counts.sum()) - int(kept.sum())


def with_dropped(result: Result, built: Any, noisy: Any, level: float) -> Result:
    """Tell the noisy count with an interval that holds whatever the data."""
    number = float(noisy)
    number = int(number) if number.is_integer() else number  # parts of persons, where these count as one
    low, high = (int(end) for end in np.ravel(built.interval([noisy], level)))
    low, high = max(low, 0), max(high, 0)
    note = (
        f"Left out: {number:g} records of no listed group, with noise; {low} to {high} with a probability of "
        f"{level:g} at least. The price is that of the table: it is one more cell."
    )
    told = {"noisy_count": number, "lower": low, "upper": high}
    return replace(result, notes=[*result.notes, note], details={**result.details, "dropped": told})
