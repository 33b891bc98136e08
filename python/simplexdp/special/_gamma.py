"""The gamma function's logarithm, its derivatives, and the multivariate beta function."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp import _core
from simplexdp._arrays import as_floats, in_shape, map_broadcast
from simplexdp.exceptions import InvalidParameterError

__all__ = ["digamma", "log_beta", "log_gamma", "log_gamma_ratio", "polygamma", "trigamma"]

Result = float | NDArray[np.float64]


def log_gamma(x: ArrayLike) -> Result:
    """Logarithm of the absolute value of the gamma function.

    Parameters
    ----------
    x : array_like
        Real numbers.

    Returns
    -------
    float or ndarray
        Infinite at 0 and at the negative integers.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> sdp.special.log_gamma([1, 2, 5]).round(6)
    array([0.      , 0.      , 3.178054])
    """
    return map_broadcast(_core.log_gamma, x=x)


def log_gamma_ratio(a: ArrayLike, r: ArrayLike) -> Result:
    """``log_gamma(a + r) - log_gamma(a)`` without cancellation.

    Parameters
    ----------
    a : array_like
        Positive numbers.
    r : array_like
        Steps with ``a + r > 0``.

    Returns
    -------
    float or ndarray
        NaN outside the domain.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> round(sdp.special.log_gamma_ratio(1e15, 1e-3), 12)
    0.034538776395
    """
    return map_broadcast(_core.log_gamma_ratio, a=a, r=r)


def log_beta(a: ArrayLike) -> Result:
    """Logarithm of the multivariate beta function, the normaliser of a Dirichlet density.

    Parameters
    ----------
    a : array_like, shape (..., d)
        Positive numbers, one vector along the last axis.

    Returns
    -------
    float or ndarray, shape (...)
        ``sum(log_gamma(a)) - log_gamma(sum(a))`` over the last axis; NaN unless all of it is positive.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> round(sdp.special.log_beta([1, 2, 3]), 6)
    -4.094345
    """
    array = as_floats("a", a)
    if array.ndim == 0 or array.shape[-1] == 0:
        raise InvalidParameterError(f"a must have shape (..., d) with d >= 1, got shape {array.shape}")
    shape = array.shape[:-1]
    if array.size == 0:
        return np.empty(shape)
    return in_shape(_core.log_beta(array.ravel(), array.shape[-1]), shape)


def digamma(x: ArrayLike) -> Result:
    """Logarithmic derivative of the gamma function.

    Parameters
    ----------
    x : array_like
        Real numbers.

    Returns
    -------
    float or ndarray
        NaN at the negative integers, ``-inf`` at 0 and ``inf`` at -0.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> round(sdp.special.digamma(1), 6)
    -0.577216
    """
    return map_broadcast(_core.digamma, x=x)


def trigamma(x: ArrayLike) -> Result:
    """Return psi', the derivative of digamma.

    Parameters
    ----------
    x : array_like
        Real numbers.

    Returns
    -------
    float or ndarray
        Infinite at 0 and at the negative integers.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> sdp.special.trigamma([0.5, 1, 100]).round(6)
    array([4.934802, 1.644934, 0.01005 ])
    """
    return map_broadcast(_core.trigamma, x=x)


def polygamma(order: ArrayLike, x: ArrayLike) -> Result:
    """Return the derivative of digamma of a whole order.

    Parameters
    ----------
    order : array_like
        Whole numbers from 0 (digamma itself) to 20.
    x : array_like
        Real numbers.

    Returns
    -------
    float or ndarray
        From order 1 on, at 0 and the negative integers: ``inf`` for odd orders, ``-inf`` for even ones.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> sdp.special.polygamma([1, 2], 1).round(6)
    array([ 1.644934, -2.404114])
    """
    return map_broadcast(_core.polygamma, order=order, x=x)
