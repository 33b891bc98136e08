"""Checks of arguments that several public functions share.

Messages name the argument, the rule and, for public parameters only, the value.
"""

import math
import operator
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp import _core
from simplexdp._arrays import as_floats, is_truth_value
from simplexdp.exceptions import InvalidDataError, InvalidParameterError

_Array = TypeVar("_Array", bound=NDArray[Any])

LARGEST_COUNT = 1e15
"""Doubles hold every integer up to here, with room for sums."""


LARGEST_INTEGER = 2**63 - 1
"""Of public integers: what the compiled core and NumPy hold."""

LONGEST_SHOWN = 500

AT_ONCE = 1 << 23
"""So many values are copied within some 50 ms, pages of new memory included."""

IN_CACHE = 1 << 16
"""So many values are looked at several times without being fetched again, and what is made of them is no new memory."""


def shown(value: Any) -> str:
    """Return a public value as messages show it: in a few words, whatever it is and whatever its `repr` does."""
    try:
        text = repr(value)
    except Exception:  # Python writes no integer of more than some 4300 digits, and a class may write nothing.
        return f"a value of type {type(value).__name__}"
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..., {len(text)} characters in all"


def extended(name: str, value: Any) -> float:
    """Check for a float that may be infinite."""
    try:
        if isinstance(value, str | bytes | bytearray) or is_truth_value(value):
            # float reads texts, digits of every script among them, and takes True for 1.0.
            raise TypeError
        if isinstance(value, np.ndarray) and value.ndim:
            # Older NumPy takes what is in it.
            raise TypeError
        result = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidParameterError(f"{name} must be a number, got {shown(value)}") from None
    if math.isnan(result):
        raise InvalidParameterError(f"{name} must be a number, got nan")
    return result


def up(value: Any, nearest: float) -> float:
    """Return a double that is not below the number that was stated; a Fraction or Decimal may lie between two."""
    return math.nextafter(nearest, math.inf) if _exceeds(value, nearest) else nearest


def down(value: Any, nearest: float) -> float:
    """Return a double that is not above the number that was stated."""
    return math.nextafter(nearest, -math.inf) if _exceeds(nearest, value) else nearest


def _exceeds(one: Any, other: Any) -> bool:
    try:
        return bool(one > other)  # Python and NumPy compare numbers of different kinds exactly.
    except (TypeError, ValueError):
        return False  # It says nothing of itself but its double.


def number(name: str, value: Any) -> float:
    """Check for a finite float."""
    result = extended(name, value)
    if not math.isfinite(result):
        raise InvalidParameterError(f"{name} must be finite, got {result}")
    return result


def positive(name: str, value: Any) -> float:
    """Check for a finite float above zero."""
    result = number(name, value)
    if not result > 0:
        raise InvalidParameterError(f"{name} must be positive, got {result}")
    return result


def non_negative(name: str, value: Any) -> float:
    """Check for a finite float, zero or above."""
    result = number(name, value)
    if not result >= 0:
        raise InvalidParameterError(f"{name} must be non-negative, got {result}")
    return result


def open_unit(name: str, value: Any) -> float:
    """Check for a float strictly between zero and one."""
    result = number(name, value)
    if not 0 < result < 1:
        raise InvalidParameterError(f"{name} must lie strictly between 0 and 1, got {result}")
    return result


def integer(name: str, value: Any, least: int, most: int = LARGEST_INTEGER) -> int:
    """Check for an integer of at least `least` that 64 bits hold; a truth value is not one."""
    try:
        result = operator.index(value)
    except TypeError:
        raise InvalidParameterError(f"{name} must be an integer, got {shown(value)}") from None
    if is_truth_value(value) or result < least:
        raise InvalidParameterError(f"{name} must be an integer of at least {least}, got {shown(value)}")
    if result > most:
        raise InvalidParameterError(f"{name} must be at most 2^{most.bit_length()} - 1, got {shown(value)}")
    return result


def seed(value: Any) -> int:
    """Check for a seed: any word of 64 bits, as generators of tests draw them."""
    return integer("seed", value, 0, 2**64 - 1)


def accountant(name: str, value: Any) -> None:
    """Check for None or what debits, before anything is drawn."""
    if value is not None and not callable(getattr(value, "spend", None)):
        raise InvalidParameterError(f"{name} must be a simplexdp.Accountant, got {type(value).__name__}")


def flag(name: str, value: Any) -> bool:
    """Check for True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InvalidParameterError(f"{name} must be True or False, got {shown(value)}")
    return bool(value)


def generator(name: str, value: Any) -> None:
    """Check for None or a `SeededRng`, before a budget is spent on a call that would fail."""
    if value is not None and not isinstance(value, _core.SeededRng):
        raise InvalidParameterError(
            f"{name} must be None (the operating system's entropy) or a simplexdp.testing.SeededRng (tests only), got "
            f"{type(value).__name__}"
        )


def fitting(name: str, shape: tuple[int, ...], per_entry: int = 1) -> tuple[int, ...]:
    """Check that memory can be had for an array of this shape, `per_entry` doubles an entry.

    Asked of NumPy before anything is drawn.
    """
    try:
        np.empty(math.prod(shape) * per_entry, dtype=np.float64)
    except (MemoryError, ValueError, OverflowError):
        raise InvalidParameterError(f"{name} must fit into memory, got {shape!r}") from None
    return shape


def choice(name: str, value: Any, allowed: tuple[str, ...]) -> str:
    """Check for one of the given words."""
    if not isinstance(value, str) or value not in allowed:
        words = ", ".join(map(repr, allowed))
        raise InvalidParameterError(f"{name} must be one of {words}, got {shown(value)}")
    return value


def numbers(name: str, value: ArrayLike) -> NDArray[np.float64]:
    """Check for an array of finite public numbers."""
    array = as_floats(name, value)
    if not np.all(np.isfinite(array)):
        raise InvalidParameterError(f"{name} must be finite, got {shown(value)}")
    return array


def broadcast(**arrays: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Check for shapes that broadcast, and return the arrays in the common shape."""
    try:
        return list(np.broadcast_arrays(*arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise InvalidParameterError(f"{' and '.join(arrays)} must have shapes that broadcast, got {shapes}") from None


def probabilities(name: str, value: ArrayLike, dimension: int | None = None) -> NDArray[np.float64]:
    """Check for public probability vectors, shape (..., d): entries in [0, 1], rows that sum to one to 1e-9."""
    array = numbers(name, value)
    if array.ndim == 0 or array.shape[-1] != (array.shape[-1] if dimension is None else dimension):
        expected = "d" if dimension is None else dimension
        raise InvalidParameterError(f"{name} must have shape (..., {expected}), got shape {array.shape}")
    if np.any(array < 0) or np.any(np.abs(array.sum(axis=-1) - 1) > 1e-9):
        raise InvalidParameterError(f"{name} must be non-negative and sum to one along the last axis")
    return array


def unmasked(name: str, value: Any) -> None:
    """Check that no place of private values is masked: the number beneath would be released."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise InvalidDataError(f"{name} must not be masked: leave the masked places out, or fill them")


def _doubles(array: NDArray[Any]) -> NDArray[np.float64]:
    """Return a copy as doubles; a large one in parts, between which a signal is heard."""
    if array.size <= AT_ONCE or array.ndim == 0:
        return array.astype(np.float64)
    copied = np.empty(array.shape)
    step = max(1, AT_ONCE * len(array) // array.size)
    for start in range(0, len(array), step):
        copied[start : start + step] = array[start : start + step]
    return copied


def _in_one_piece(array: NDArray[Any]) -> NDArray[np.float64] | NDArray[np.int64]:
    """Return doubles and 64-bit integers that lie in one piece as they are, and anything else as doubles."""
    ready = array.dtype in (np.float64, np.int64) and array.flags.aligned and array.flags.c_contiguous
    return array if ready else _doubles(array)


def counts(name: str, value: ArrayLike, dimension: int, *, whole: bool = True) -> NDArray[np.float64]:
    """Check for private counts of shape (..., dimension), from 0 to 1e15, integers unless `whole` is false.

    No message tells anything of the data but its shape and type.
    """
    return _counts(name, value, dimension, whole, _doubles)


def counts_in_place(
    name: str, value: ArrayLike, dimension: int, *, whole: bool = True
) -> NDArray[np.float64] | NDArray[np.int64]:
    """Check as `counts` does, but give doubles and 64-bit integers that lie in one piece back as they are.

    A copy of many rows is memory that the system hands out and takes back in every call.
    """
    return _counts(name, value, dimension, whole, _in_one_piece)


def _counts(name: str, value: ArrayLike, dimension: int, whole: bool, form: Callable[[NDArray[Any]], _Array]) -> _Array:
    unmasked(name, value)
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "uif" and not (array.dtype.kind == "O" and array.size):
            raise TypeError
        integers = array.dtype.kind in "ui"
        found = form(array)
    except (TypeError, ValueError, OverflowError):
        raise InvalidDataError(f"{name} must be an array of numbers (the offending value is not shown)") from None
    if found.ndim == 0 or found.shape[-1] != dimension:
        raise InvalidDataError(f"{name} must have shape (..., {dimension}), got shape {found.shape}")
    values = found.ravel(order="K")
    need_no_floor = integers or not whole
    for start in range(0, values.size, IN_CACHE):
        part = values[start : start + IN_CACHE]
        # NaN fails the comparison. What passes here, nearly always, has not been looked at four times.
        if part.min() >= 0 and part.max() <= LARGEST_COUNT and (need_no_floor or np.array_equal(part, np.floor(part))):
            continue
        rules = [("be free of NaN", np.isnan(part)), ("be non-negative", part < 0)]
        rules += [("be at most 1e15", part > LARGEST_COUNT), ("be integers", whole & (part != np.floor(part)))]
        for rule, broken in rules:
            if np.any(broken):
                raise InvalidDataError(f"{name} must {rule} (the offending value is not shown)")
    return found


# The first array that the compiled core borrows makes it import parts of NumPy, and an interrupt there would be a panic
# in place of a KeyboardInterrupt: let it be here, between two statements, and not amid a release.
_core.digamma(np.ones(1))
