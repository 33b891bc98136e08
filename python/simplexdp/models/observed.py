"""What is read off the data where nobody stated it: it leaks, and a warning says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplexdp._cautions import caution_leak
from simplexdp.exceptions import InvalidDataError

__all__ = ["observed_bounds"]


def observed_bounds(columns: Sequence[Any], values: Sequence[NDArray[np.float64]]) -> tuple[tuple[float, float], ...]:
    """Return the smallest and the largest value of each column, with a warning."""
    caution_leak(
        f"the bounds of {list(columns)!r} were taken from private data, which reveals their extreme values; state them "
        "publicly with bounds=",
    )
    found = []
    for column, numbers in zip(columns, values, strict=True):
        if not len(numbers) or not np.all(np.isfinite(numbers)):
            raise InvalidDataError(f"column {column!r} must hold finite numbers to take its bounds from")
        lower, upper = float(numbers.min()), float(numbers.max())
        # A column of one value has a width too.
        found.append(
            (lower, upper) if lower < upper else (lower - 0.5 * max(abs(lower), 1), upper + 0.5 * max(abs(upper), 1))
        )
    return tuple(found)
