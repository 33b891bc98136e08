"""Fast draws for experiments, not for release.

These are plain double-precision samplers. Their results leak: which doubles can come out depends on the parameters, so
one number may rule a data set out. Release with a mechanism instead; see the page on randomness.

A seed from `simplexdp.testing.SeededRng` repeats a run; there is no warning here.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp import _core
from simplexdp._arguments import fitting, integer
from simplexdp._arrays import as_floats
from simplexdp.exceptions import InvalidParameterError

__all__ = ["beta", "dirichlet", "discrete_gaussian", "discrete_laplace", "gamma"]

Size = int | Sequence[int] | None
Floats = NDArray[np.float64]


def gamma(shape: ArrayLike, scale: ArrayLike = 1.0, size: Size = None, rng: _core.SeededRng | None = None) -> Any:
    """Draw gamma variables; not for release.

    Parameters
    ----------
    shape, scale : array_like of float
        Positive; they broadcast.
    size : int or tuple of int, optional
        Shape of the result, to which the parameters broadcast; by default their common shape.
    rng : SeededRng, optional
        To repeat a run.

    Returns
    -------
    float or ndarray

    Examples
    --------
    >>> import simplexdp as sdp
    >>> sdp.simulation.gamma([1.0, 2.0], size=(3, 2)).shape
    (3, 2)
    """
    shapes, scales = as_floats("shape", shape), as_floats("scale", scale)
    if not np.all((scales > 0) & np.isfinite(scales)):
        raise InvalidParameterError("scale must be positive and finite")
    target = _shape(size, shapes, scales)
    with np.errstate(over="ignore"):  # a draw beyond the largest double is infinite
        draws = _gammas(shapes, target, rng) * scales
    return float(draws) if target == () else draws


def beta(a: ArrayLike, b: ArrayLike, size: Size = None, rng: _core.SeededRng | None = None) -> Any:
    """Draw beta variables; not for release.

    Parameters
    ----------
    a, b : array_like of float
        Positive; they broadcast.
    size : int or tuple of int, optional
        Shape of the result, to which the parameters broadcast; by default their common shape.
    rng : SeededRng, optional
        To repeat a run.

    Returns
    -------
    float or ndarray

    Examples
    --------
    >>> import simplexdp as sdp
    >>> sdp.simulation.beta(1.0, 2.0, size=4).shape
    (4,)
    """
    first, second = as_floats("a", a), as_floats("b", b)
    target = _shape(size, first, second)
    pairs = np.stack([np.broadcast_to(first, target).ravel(), np.broadcast_to(second, target).ravel()], axis=-1)
    # Equal pairs are drawn together.
    if first.size == second.size == 1:
        draws = _core.simulate_dirichlet(np.array([first.ravel()[0], second.ravel()[0]]), len(pairs), rng)
        values = draws.reshape(-1, 2)[:, 0].reshape(target)
    else:
        values = _core.simulate_betas(pairs.ravel(), rng).reshape(target)
    return float(values) if target == () else values


def dirichlet(alpha: ArrayLike, size: Size = None, rng: _core.SeededRng | None = None) -> Floats:
    """Draw Dirichlet vectors; not for release.

    Parameters
    ----------
    alpha : array_like of float, shape (d,)
        Positive.
    size : int or tuple of int, optional
        How many; by default one vector.
    rng : SeededRng, optional
        To repeat a run.

    Returns
    -------
    ndarray of float64, shape (d,) or size + (d,)

    Examples
    --------
    >>> import simplexdp as sdp
    >>> sdp.simulation.dirichlet([1.0, 2.0, 3.0], size=5).shape
    (5, 3)
    """
    shapes = as_floats("alpha", alpha)
    if shapes.ndim != 1:
        raise InvalidParameterError(f"alpha must have shape (d,), got shape {shapes.shape}")
    target = _tuple(size)
    fitting("size", target, shapes.size)
    rows = _core.simulate_dirichlet(np.ascontiguousarray(shapes), int(np.prod(target, dtype=np.int64)), rng)
    return rows.reshape((*target, shapes.size))


def discrete_laplace(scale: float, size: Size = None, rng: _core.SeededRng | None = None) -> Any:
    """Draw discrete Laplace variables, P(z) proportional to exp(-abs(z) / scale); this sampler is exact.

    Parameters
    ----------
    scale : float
        Positive, at most 2**50.
    size : int or tuple of int, optional
        Shape of the result; by default one integer.
    rng : SeededRng, optional
        To repeat a run.

    Returns
    -------
    int or ndarray of int64

    Examples
    --------
    >>> import simplexdp as sdp
    >>> sdp.simulation.discrete_laplace(10.0, size=(2, 3)).shape
    (2, 3)
    """
    return _draws(_core.DiscreteNoise.laplace(_ratio("scale", scale)), size, rng)


def discrete_gaussian(sigma: float, size: Size = None, rng: _core.SeededRng | None = None) -> Any:
    """Draw discrete Gaussian variables, P(z) proportional to exp(-z^2 / (2 sigma^2)); this sampler is exact.

    Parameters
    ----------
    sigma : float
        Positive, at most 2**50.
    size : int or tuple of int, optional
        Shape of the result; by default one integer.
    rng : SeededRng, optional
        To repeat a run.

    Returns
    -------
    int or ndarray of int64

    Examples
    --------
    >>> import simplexdp as sdp
    >>> sdp.simulation.discrete_gaussian(10.0, size=7).shape
    (7,)
    """
    return _draws(_core.DiscreteNoise.gaussian(_ratio("sigma", sigma)), size, rng)


def _draws(noise: _core.DiscreteNoise, size: Size, rng: _core.SeededRng | None) -> Any:
    target = _tuple(size)
    draws = noise.draws(int(np.prod(target, dtype=np.int64)), 1, rng).reshape(target)
    return int(draws) if target == () else draws


def _gammas(shapes: Floats, target: tuple[int, ...], rng: _core.SeededRng | None) -> Floats:
    """Draw for shapes that broadcast to the target; a shape is spread only where it has to be."""
    total = int(np.prod(target, dtype=np.int64))
    whole = shapes.size > 0 and target[len(target) - shapes.ndim :] == shapes.shape
    flat = shapes.ravel() if whole or shapes.size == 1 else np.broadcast_to(shapes, target).ravel()
    repeats = total // flat.size if flat.size else 0
    return _core.simulate_gammas(flat, repeats, rng).reshape(target)


def _shape(size: Size, *parameters: Floats) -> tuple[int, ...]:
    try:
        common = np.broadcast_shapes(*(parameter.shape for parameter in parameters))
        target = common if size is None else _tuple(size)
        if np.broadcast_shapes(common, target) != target:
            raise ValueError
    except ValueError:
        shapes = " and ".join(str(parameter.shape) for parameter in parameters)
        raise InvalidParameterError(f"size must fit parameters of shapes {shapes}, got {size!r}") from None
    return target


def _tuple(size: Size) -> tuple[int, ...]:
    if size is None:
        return ()
    entries = tuple(size) if isinstance(size, Sequence) and not isinstance(size, str) else (size,)
    return fitting("size", tuple(integer("size", entry, 0) for entry in entries))


def _ratio(name: str, value: Any) -> tuple[int, int]:
    array = as_floats(name, value)
    if array.shape != () or not 0 < array < np.inf:
        raise InvalidParameterError(f"{name} must be a positive finite number, got {value!r}")
    return float(array).as_integer_ratio()
