"""Exact Dirichlet-multinomial draws by Polya's urn: what `DirichletMechanism.release_counts` stands on."""

import numpy as np
from numpy.typing import NDArray

from simplexdp import _core
from simplexdp._arguments import integer


def release_counts(
    counts: NDArray[np.float64],
    scale: float,
    prior: NDArray[np.float64],
    size: int,
    rng: _core.SeededRng | None = None,
) -> NDArray[np.int64]:
    """Draw how `size` synthetic records fall into the categories, for each row of counts.

    The counts have exactly the law of `size` records drawn from one Dirichlet(scale * counts + prior) vector, a
    post-processing of that vector, which is never formed. The weights count as the exact rationals that they are.

    Parameters
    ----------
    counts : ndarray of float64, shape (..., d)
        Private counts, checked for shape and sign by the caller.
    scale : float
        Factor of the counts.
    prior : ndarray of float64, shape (d,)
        Public weights.
    size : int
        Records for each row.
    rng : SeededRng, optional
        For tests only.

    Returns
    -------
    ndarray of int64, shape (..., d)
        Rows sum to `size`.

    Examples
    --------
    >>> release_counts(np.array([[3.0, 0.0], [5.0, 5.0]]), 0.5, np.ones(2), 100).sum(axis=-1)
    array([100, 100])
    """
    size = integer("size", size, 0)
    rows = [_core.polya_counts(scale, row, prior, size, rng) for row in counts.reshape(-1, counts.shape[-1])]
    return np.reshape(np.array(rows, dtype=np.int64), counts.shape)


def release_records(
    counts: NDArray[np.float64],
    scale: float,
    prior: NDArray[np.float64],
    size: int,
    rng: _core.SeededRng | None = None,
) -> NDArray[np.uint32]:
    """Draw the categories of `size` synthetic records for one row of counts, in an order that carries no meaning.

    Parameters
    ----------
    counts : ndarray of float64, shape (d,)
        Private counts, checked for shape and sign by the caller.
    scale : float
        Factor of the counts.
    prior : ndarray of float64, shape (d,)
        Public weights.
    size : int
        Number of records.
    rng : SeededRng, optional
        For tests only.

    Returns
    -------
    ndarray of uint32, shape (size,)

    Examples
    --------
    >>> release_records(np.array([3.0, 0.0]), 0.5, np.ones(2), 100).shape
    (100,)
    """
    return _core.polya_draws(scale, counts, prior, integer("size", size, 0), rng)
