"""Divergences between Dirichlet distributions, stable for parameters however close or large.

Parameters are arrays of shape (..., d), one distribution a row; leading axes broadcast.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp import _core
from simplexdp._arrays import as_floats
from simplexdp.exceptions import InvalidParameterError

__all__ = ["hellinger_dirichlet", "kl_dirichlet", "renyi_dirichlet"]


def renyi_dirichlet(u: ArrayLike, v: ArrayLike, order: ArrayLike) -> NDArray[np.float64] | np.float64:
    """Renyi divergence between Dirichlet(u) and Dirichlet(v).

    Parameters
    ----------
    u, v : array_like, shape (..., d)
        Concentrations, positive, at most 1e100.
    order : array_like, shape (...)
        Order of the divergence, greater than 1.

    Returns
    -------
    ndarray or float, shape (...)
        Infinite where some ``u + (order - 1) * (u - v) <= 0``.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> round(float(sdp.divergence.renyi_dirichlet([2, 1], [1, 2], 1.5)), 6)
    1.714096
    >>> float(sdp.divergence.renyi_dirichlet([2, 1], [1, 2], 2))
    inf
    """
    rows_u, rows_v, shape = _rows(u, v)
    order = as_floats("order", order)
    try:
        full = np.broadcast_shapes(shape, order.shape)
    except ValueError:
        raise InvalidParameterError(f"order must broadcast with {shape}, got shape {order.shape}") from None
    d = rows_u.shape[-1]
    spread_u, spread_v = (np.broadcast_to(x, (*full, d)).ravel() for x in (rows_u, rows_v))
    values = _core.renyi_dirichlet(spread_u, spread_v, d, np.broadcast_to(order, full).ravel())
    return values.reshape(full)[()]


def kl_dirichlet(u: ArrayLike, v: ArrayLike) -> NDArray[np.float64] | np.float64:
    """KL divergence of Dirichlet(u) from Dirichlet(v), the expectation taken under u.

    Parameters
    ----------
    u, v : array_like, shape (..., d)
        Concentrations, positive, at most 1e100.

    Returns
    -------
    ndarray or float, shape (...)

    Examples
    --------
    >>> import simplexdp as sdp
    >>> float(sdp.divergence.kl_dirichlet([2, 1], [1, 2]))
    1.0
    """
    rows_u, rows_v, shape = _rows(u, v)
    return _core.kl_dirichlet(rows_u.ravel(), rows_v.ravel(), rows_u.shape[-1]).reshape(shape)[()]


def hellinger_dirichlet(u: ArrayLike, v: ArrayLike) -> NDArray[np.float64] | np.float64:
    """Hellinger distance between Dirichlet(u) and Dirichlet(v), in [0, 1].

    Parameters
    ----------
    u, v : array_like, shape (..., d)
        Concentrations, positive, at most 1e100.

    Returns
    -------
    ndarray or float, shape (...)

    Examples
    --------
    >>> import simplexdp as sdp
    >>> round(float(sdp.divergence.hellinger_dirichlet([2, 1], [1, 2])), 6)
    0.463251
    """
    rows_u, rows_v, shape = _rows(u, v)
    return _core.hellinger_dirichlet(rows_u.ravel(), rows_v.ravel(), rows_u.shape[-1]).reshape(shape)[()]


def _rows(u: ArrayLike, v: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64], tuple[int, ...]]:
    """Both arrays broadcast to one shape (..., d), and the leading shape."""
    first, second = _concentrations("u", u), _concentrations("v", v)
    if first.shape[-1] != second.shape[-1]:
        raise InvalidParameterError(
            f"u and v must have the same length along the last axis, got {first.shape[-1]} and {second.shape[-1]}"
        )
    try:
        first, second = np.broadcast_arrays(first, second)
    except ValueError:
        raise InvalidParameterError(
            f"u and v must have shapes that broadcast, got {first.shape} and {second.shape}"
        ) from None
    return first, second, first.shape[:-1]


def _concentrations(name: str, value: ArrayLike) -> NDArray[np.float64]:
    array = as_floats(name, value)
    if array.ndim == 0 or array.shape[-1] == 0:
        raise InvalidParameterError(f"{name} must have shape (..., d) with d >= 1, got shape {array.shape}")
    return array
