"""Points on the probability simplex."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["nearest_on_simplex"]


def nearest_on_simplex(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Project rows on the probability simplex: max(x - t, 0) with t such that the entries sum to one."""
    falling = -np.sort(-points, axis=-1)
    excess = (np.cumsum(falling, axis=-1) - 1) / np.arange(1, points.shape[-1] + 1)
    n_kept = np.count_nonzero(falling > excess, axis=-1)[..., None]
    threshold = np.take_along_axis(excess, n_kept - 1, axis=-1)
    return np.maximum(points - threshold, 0.0)
