"""Regularised incomplete gamma and beta functions, their complements, logarithms and inverses."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp import _core
from simplexdp._arrays import map_broadcast

__all__ = [
    "betainc",
    "betainc_inverse",
    "betaincc",
    "betaincc_inverse",
    "gammainc",
    "gammainc_inverse",
    "gammaincc",
    "gammaincc_inverse",
    "log_betainc",
    "log_betaincc",
    "log_gammainc",
    "log_gammaincc",
]

Result = float | NDArray[np.float64]


def gammainc(a: ArrayLike, x: ArrayLike) -> Result:
    """Regularised lower incomplete gamma function: P[Gamma(a) <= x].

    Parameters
    ----------
    a : array_like
        Shapes, not negative.
    x : array_like
        Points, not negative.

    Returns
    -------
    float or ndarray
        NaN for negative arguments.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> round(sdp.special.gammainc(2, 3), 6)
    0.800852
    """
    return map_broadcast(_core.gammainc, a=a, x=x)


def log_gammainc(a: ArrayLike, x: ArrayLike) -> Result:
    """Logarithm of `gammainc`, finite where `gammainc` underflows.

    Parameters
    ----------
    a : array_like
        Shapes, not negative.
    x : array_like
        Points, not negative.

    Returns
    -------
    float or ndarray
        NaN for negative arguments.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> round(sdp.special.log_gammainc(1000, 1e-3), 3)
    -12819.884
    """
    return map_broadcast(_core.log_gammainc, a=a, x=x)


def gammainc_inverse(a: ArrayLike, p: ArrayLike) -> Result:
    """Quantile of the Gamma distribution: the ``x`` with ``gammainc(a, x) = p``.

    Parameters
    ----------
    a : array_like
        Shapes, positive.
    p : array_like
        Probabilities.

    Returns
    -------
    float or ndarray
        NaN outside the domain.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> round(sdp.special.gammainc_inverse(2, 0.5), 6)
    1.678347
    """
    return map_broadcast(_core.gammainc_inverse, a=a, p=p)


def gammaincc(a: ArrayLike, x: ArrayLike) -> Result:
    """Regularised upper incomplete gamma function: P[Gamma(a) > x].

    Parameters
    ----------
    a : array_like
        Shapes, not negative.
    x : array_like
        Points, not negative.

    Returns
    -------
    float or ndarray
        NaN for negative arguments.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> round(sdp.special.gammaincc(2, 3), 6)
    0.199148
    """
    return map_broadcast(_core.gammaincc, a=a, x=x)


def log_gammaincc(a: ArrayLike, x: ArrayLike) -> Result:
    """Logarithm of `gammaincc`, finite where `gammaincc` underflows.

    Parameters
    ----------
    a : array_like
        Shapes, not negative.
    x : array_like
        Points, not negative.

    Returns
    -------
    float or ndarray
        NaN for negative arguments.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> round(sdp.special.log_gammaincc(1, 1e6), 3)
    -1000000.0
    """
    return map_broadcast(_core.log_gammaincc, a=a, x=x)


def gammaincc_inverse(a: ArrayLike, q: ArrayLike) -> Result:
    """Upper quantile of the Gamma distribution: the ``x`` with ``gammaincc(a, x) = q``.

    Parameters
    ----------
    a : array_like
        Shapes, positive.
    q : array_like
        Probabilities.

    Returns
    -------
    float or ndarray
        NaN outside the domain.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> round(sdp.special.gammaincc_inverse(1, 1e-300), 6)
    690.775528
    """
    return map_broadcast(_core.gammaincc_inverse, a=a, q=q)


def betainc(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Result:
    """Regularised incomplete beta function: P[Beta(a, b) <= x].

    Parameters
    ----------
    a, b : array_like
        Shapes, not negative.
    x : array_like
        Points in [0, 1].

    Returns
    -------
    float or ndarray
        NaN outside the domain.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> round(sdp.special.betainc(2, 3, 0.25), 6)
    0.261719
    """
    return map_broadcast(_core.betainc, a=a, b=b, x=x)


def log_betainc(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Result:
    """Logarithm of `betainc`, finite where `betainc` underflows.

    Parameters
    ----------
    a, b : array_like
        Shapes, not negative.
    x : array_like
        Points in [0, 1].

    Returns
    -------
    float or ndarray
        NaN outside the domain.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> round(sdp.special.log_betainc(1e6, 1, 0.25), 3)
    -1386294.361
    """
    return map_broadcast(_core.log_betainc, a=a, b=b, x=x)


def betainc_inverse(a: ArrayLike, b: ArrayLike, p: ArrayLike) -> Result:
    """Quantile of the Beta distribution: the ``x`` with ``betainc(a, b, x) = p``.

    Parameters
    ----------
    a, b : array_like
        Shapes, positive.
    p : array_like
        Probabilities.

    Returns
    -------
    float or ndarray
        NaN outside the domain.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> round(sdp.special.betainc_inverse(2, 3, 0.5), 6)
    0.385728
    """
    return map_broadcast(_core.betainc_inverse, a=a, b=b, p=p)


def betaincc(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Result:
    """Complement of the regularised incomplete beta function: P[Beta(a, b) > x].

    Parameters
    ----------
    a, b : array_like
        Shapes, not negative.
    x : array_like
        Points in [0, 1].

    Returns
    -------
    float or ndarray
        NaN outside the domain.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> round(sdp.special.betaincc(2, 3, 0.25), 6)
    0.738281
    """
    return map_broadcast(_core.betaincc, a=a, b=b, x=x)


def log_betaincc(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Result:
    """Logarithm of `betaincc`, finite where `betaincc` underflows.

    Parameters
    ----------
    a, b : array_like
        Shapes, not negative.
    x : array_like
        Points in [0, 1].

    Returns
    -------
    float or ndarray
        NaN outside the domain.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> round(sdp.special.log_betaincc(1, 1e6, 0.75), 3)
    -1386294.361
    """
    return map_broadcast(_core.log_betaincc, a=a, b=b, x=x)


def betaincc_inverse(a: ArrayLike, b: ArrayLike, q: ArrayLike) -> Result:
    """Upper quantile of the Beta distribution: the ``x`` with ``betaincc(a, b, x) = q``.

    Parameters
    ----------
    a, b : array_like
        Shapes, positive.
    q : array_like
        Probabilities.

    Returns
    -------
    float or ndarray
        NaN outside the domain.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> round(sdp.special.betaincc_inverse(2, 3, 0.25), 6)
    0.543678
    """
    return map_broadcast(_core.betaincc_inverse, a=a, b=b, q=q)
