"""Coercion of arguments to flat double arrays, and results back to the caller's shape."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp.exceptions import InvalidParameterError

Floats = NDArray[np.float64]


def is_truth_value(value: object) -> bool:
    """Whether this is True or False, which Python would count as 1 and 0: a flag in the place of a number."""
    return isinstance(value, bool | np.bool_) or (isinstance(value, np.ndarray) and value.dtype.kind == "b")


def as_floats(name: str, value: ArrayLike, *, truth_values: bool = False) -> Floats:
    """Return a double array of any shape; refuse what is not a real number, naming the argument."""
    if isinstance(value, int) and not isinstance(value, bool):
        # A Python integer beyond 64 bits would become an object array.
        try:
            return np.asarray(float(value))
        except OverflowError:
            raise InvalidParameterError(f"{name} must fit a double, got an integer of more than 1024 bits") from None
    try:
        array = np.asarray(value)
    except ValueError:
        raise InvalidParameterError(f"{name} must be a number or a regular array of numbers") from None
    rule = "be a real number or an array of real numbers"
    if array.dtype.kind not in "fiub" and array.size > 0:
        raise InvalidParameterError(f"{name} must {rule}, got dtype {array.dtype}")
    # NumPy makes numbers of a list that holds both.
    mixed = isinstance(value, list | tuple) and any(map(is_truth_value, value))
    if not truth_values and (mixed or is_truth_value(array)):
        raise InvalidParameterError(f"{name} must {rule}, got truth values")
    return np.asarray(array, dtype=np.float64)


def map_broadcast(function: Callable[..., Floats], **arguments: ArrayLike) -> float | Floats:
    """Call a compiled function on arguments that broadcast; an argument of one value is not spread.

    Truth values count as one and zero here, as in NumPy's functions; the parameters of releases refuse them.
    """
    arrays = {name: as_floats(name, value, truth_values=True) for name, value in arguments.items()}
    try:
        shape = np.broadcast_shapes(*(array.shape for array in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise InvalidParameterError(f"{' and '.join(arrays)} must have shapes that broadcast, got {shapes}") from None
    if 0 in shape:
        return np.empty(shape)
    flat = (
        array.ravel() if array.size == 1 or array.shape == shape else np.broadcast_to(array, shape).ravel()
        for array in arrays.values()
    )
    return in_shape(function(*flat), shape)


def in_shape(values: Floats, shape: tuple[int, ...]) -> float | Floats:
    """Return a Python float for shape (), the reshaped array otherwise."""
    return float(values[0]) if shape == () else values.reshape(shape)
