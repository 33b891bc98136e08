"""Exact Dirichlet rows on a public grid: what `DirichletMechanism.release` stands on.

The law and its error bound are explained in docs/exactness.md.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplexdp import _core
from simplexdp._arguments import shown
from simplexdp._parallel import threads_for
from simplexdp.exceptions import InvalidParameterError

RESOLUTION = 2.0**-32
"""The step of the grid by default."""

_VALUES_PER_THREAD = 1 << 15
"""Fewer values than this (half a millisecond of work) are not worth a thread."""


def resolution_bits(resolution: Any) -> int:
    """Find the k of a grid step 2**-k.

    Examples
    --------
    >>> resolution_bits(2**-32)
    32
    """
    try:
        mantissa, exponent = math.frexp(resolution)
    except (TypeError, ValueError, OverflowError):
        mantissa, exponent = math.nan, 0
    if mantissa != 0.5 or not 8 <= 1 - exponent <= 52:
        raise InvalidParameterError(f"resolution must be a power of two from 2**-52 to 2**-8, got {shown(resolution)}")
    return 1 - exponent


def release(
    counts: NDArray[np.float64] | NDArray[np.int64],
    scale: float,
    prior: NDArray[np.float64],
    *,
    resolution: float = RESOLUTION,
    rng: _core.SeededRng | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Draw a row of Dirichlet(scale * counts + prior) for each row of counts.

    Parameters
    ----------
    counts : ndarray of float64 or int64, shape (..., d)
        Private counts, checked for shape and sign by the caller.
    scale : float
        Factor of the counts, counting as the exact rational that it is.
    prior : ndarray of float64, shape (d,)
        Public weights from 1e-6 to 1e15, exact as well.
    resolution : float
        Step of the grid, a power of two.
    rng : SeededRng, optional
        For tests only.
    threads : int, optional
        Threads for many rows; the result does not depend on it.

    Returns
    -------
    ndarray of float64, shape (..., d)
        Multiples of the resolution, none below one step; rows sum to exactly one.

    Examples
    --------
    >>> y = release(np.array([[3.0, 4.0, 5.0]]), 1.0, np.ones(3))
    >>> y.shape, float(y.sum()), bool((y * 2**32 == np.floor(y * 2**32)).all())
    ((1, 3), 1.0, True)
    """
    threads = threads_for(counts.size, _VALUES_PER_THREAD) if threads is None else threads
    flat = counts.reshape(-1)
    rows = _core.dirichlet_release(flat, scale, prior, resolution_bits(resolution), threads, rng)
    return rows.reshape(counts.shape)


def release_units(
    counts: NDArray[np.float64],
    scale: float,
    prior: NDArray[np.float64],
    *,
    resolution: float = RESOLUTION,
    rng: _core.SeededRng | None = None,
    threads: int | None = None,
) -> NDArray[np.uint64]:
    """Draw as `release` does, in whole units of the resolution.

    Examples
    --------
    >>> units = release_units(np.array([3.0, 4.0, 5.0]), 1.0, np.ones(3))
    >>> int(units.sum()) == 2**32
    True
    """
    threads = threads_for(counts.size, _VALUES_PER_THREAD) if threads is None else threads
    rows = _core.dirichlet_release_units(np.ravel(counts), scale, prior, resolution_bits(resolution), threads, rng)
    return rows.reshape(counts.shape)


def release_gamma_units(
    counts: NDArray[np.float64],
    scale: float,
    prior: NDArray[np.float64],
    *,
    resolution: float = RESOLUTION,
    rng: _core.SeededRng | None = None,
    threads: int | None = None,
) -> NDArray[np.uint64]:
    """Draw independent Gamma(scale * counts + prior) variates of unit rate, in whole units of the resolution.

    A variate g becomes ``1 + min(floor(g / resolution), 2**63 - 1)`` units; otherwise as in `release`.

    Examples
    --------
    >>> release_gamma_units(np.array([3.0, 4.0, 5.0]), 1.0, np.ones(3)).shape
    (3,)
    """
    threads = threads_for(counts.size, _VALUES_PER_THREAD) if threads is None else threads
    rows = _core.gamma_release_units(np.ravel(counts), scale, prior, resolution_bits(resolution), threads, rng)
    return rows.reshape(counts.shape)
