"""Private values: coerced without a word about them, then released with noise."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp import _arguments as check
from simplexdp import _core
from simplexdp._parallel import threads_for
from simplexdp.exceptions import InvalidDataError, InvalidParameterError

__all__ = [
    "LARGEST_VALUE",
    "LOG_LARGEST_STEPS",
    "VALUES_PER_THREAD",
    "as_integers",
    "release_integers",
    "release_reals",
]

LARGEST_VALUE = 2**61
"""Integers beyond are clamped, so that no sum with noise can overflow."""

LOG_LARGEST_STEPS = 51
"""On a grid, values are clamped beyond two to this many steps."""

VALUES_PER_THREAD = 1 << 17


def as_integers(values: ArrayLike) -> NDArray[np.int64]:
    """Coerce private integers; no message tells anything of them but shape and type."""
    check.unmasked("values", values)
    try:
        array = np.asarray(values)
        if array.dtype.kind == "O":
            # Integers beyond 64 bits; anything else is refused below.
            array = np.array([min(max(int(x.__index__()), -LARGEST_VALUE), LARGEST_VALUE) for x in array.ravel()])
            array = array.reshape(np.shape(values))
    except (TypeError, ValueError, AttributeError):
        raise InvalidDataError("values must be an array of integers (the offending value is not shown)") from None
    if array.dtype.kind not in "iu" and array.size:
        raise InvalidDataError(f"values must be integers, got dtype {array.dtype}")
    if array.dtype == np.uint64:
        array = np.minimum(array, np.uint64(LARGEST_VALUE))
    return np.require(array, np.int64, "A")


def release_integers(
    noise: _core.DiscreteNoise, values: ArrayLike, rng: _core.SeededRng | None
) -> NDArray[np.int64] | int:
    ready = noise.release_ready(values, VALUES_PER_THREAD, rng)
    if ready is not None:
        return ready
    array = as_integers(values)
    noisy = noise.release(array.ravel(), threads_for(array.size, VALUES_PER_THREAD), rng)
    return int(noisy[0]) if array.ndim == 0 else noisy.reshape(array.shape)


def release_reals(
    noise: _core.DiscreteNoise, values: ArrayLike, log_resolution: int, rng: _core.SeededRng | None, changed: int | None
) -> NDArray[np.float64] | float:
    if changed is not None:
        ready = noise.release_ready_on_grid(values, log_resolution, VALUES_PER_THREAD, rng)
        if ready is not None:
            return ready
    check.unmasked("values", values)
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "fiu" and array.size:
            raise TypeError
        array = np.require(array, np.int64 if array.dtype == np.int64 else np.float64, "A")
    except (TypeError, ValueError):
        raise InvalidDataError("values must be an array of numbers (the offending value is not shown)") from None
    if array.size > 1 and changed is None:
        raise InvalidParameterError(
            "changed must be given to release several values: in how many of them neighbours can differ (for_counts "
            "knows it for counts)"
        )
    noisy = noise.release_on_grid(array.ravel(), log_resolution, threads_for(array.size, VALUES_PER_THREAD), rng)
    return float(noisy[0]) if array.ndim == 0 else noisy.reshape(array.shape)
