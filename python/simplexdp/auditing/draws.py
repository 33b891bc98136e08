"""Outputs of a release as arrays of numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplexdp.exceptions import InvalidDataError, InvalidParameterError

Floats = NDArray[np.float64]
Draw = Callable[[Any, int], tuple[Floats, Floats]]
"""Takes a pair of data sets and a number of runs, and returns the outputs under each, one in a row."""

COIN_SEED = 20
"""Of the order of runs: the same in every audit, so that one of a seeded release can be repeated."""
MOST_EXACT = 2**53
"""Doubles tell integers apart up to here."""


def one_by_one(release: Callable[[Any], Any], view: Callable[[Any], Any] | None) -> Draw:
    """Return how to draw with a function of one data set.

    Runs come in pairs, one on each data set, and a coin says which is first. So a release that drifts, whose laws are
    not the same in all runs, has in each pair the mean of two laws under either data set: the numbers of hits are sums
    of independent indicators whose mean rates obey whatever every single run obeys. Such sums lie no further from their
    means than those of equal rates [Hoe56], for which the bounds of rates are made.
    """
    coins, source = np.random.default_rng(COIN_SEED), "release" if view is None else "score"

    def draw(pair: Any, size: int) -> tuple[Floats, Floats]:
        rows: tuple[list[Floats], list[Floats]] = ([], [])
        for second_first in coins.integers(0, 2, size).tolist():
            for at in (second_first, 1 - second_first):
                output = release(pair[at])
                rows[at].append(_numbers(output if view is None else view(output), source).reshape(-1))
        return _finite(_stacked(rows[0], source), _stacked(rows[1], source), source)

    return draw


def in_batches(release: Callable[[Any, int], Any], view: Callable[[Any], Any] | None) -> Draw:
    """Return how to draw with a function of a data set and a number of outputs, which stand along its first axis."""
    source = "release" if view is None else "score"

    def batch(data: Any, size: int) -> Floats:
        outputs = release(data, size)
        found = _numbers(outputs if view is None else view(outputs), source)
        if found.ndim == 0 or len(found) != size:
            raise InvalidParameterError(
                f"{source} must return {size} outputs along the first axis when batch is True, got shape {found.shape}"
            )
        return found.reshape(size, -1)

    def draw(pair: Any, size: int) -> tuple[Floats, Floats]:
        return _finite(batch(pair[0], size), batch(pair[1], size), source)

    return draw


def _numbers(output: Any, source: str) -> Floats:
    """Return an output as doubles; what is masked or None is no number."""
    try:
        found = np.ma.asarray(output) if isinstance(output, np.ma.MaskedArray) else np.asarray(output)
    except ValueError:
        # Rows of different lengths.
        raise _no_numbers(output, source) from None
    if found.dtype.kind == "O":
        found = np.array([_number(each, output, source) for each in found.ravel()]).reshape(found.shape)
    elif found.dtype.kind not in "biufmM":
        raise _no_numbers(output, source)
    elif found.dtype.kind in "iu" and found.size and max(int(found.max()), -int(found.min())) > MOST_EXACT:
        raise _too_large(source)
    if found.size == 0:
        raise InvalidDataError(f"{source} must return at least one number, got an empty {type(output).__name__}")
    doubles = found.astype(np.float64)
    return doubles.filled(np.nan) if isinstance(doubles, np.ma.MaskedArray) else doubles


def _number(value: Any, output: Any, source: str) -> float:
    if value is None or value is np.ma.masked:
        return np.nan
    if isinstance(value, str | bytes):
        raise _no_numbers(output, source)
    if isinstance(value, int) and abs(value) > MOST_EXACT:
        raise _too_large(source)
    try:
        return float(value)
    except (TypeError, ValueError):
        raise _no_numbers(output, source) from None
    except OverflowError:
        raise _too_large(source) from None


def _no_numbers(output: Any, source: str) -> InvalidDataError:
    return InvalidDataError(
        f"{source} must return numbers or an array of numbers, got {type(output).__name__}"
        + _advice(source, "an array")
    )


def _too_large(source: str) -> InvalidDataError:
    return InvalidDataError(
        f"{source} must return integers of at most 2^53, beyond which doubles run together, got a larger one"
        + _advice(source, "an array")
    )


def _advice(source: str, many: str = "") -> str:
    if source == "score":
        return ""
    return f": give score= a function that makes a number{', or ' + many + ' of them,' if many else ''} of one output"


def _stacked(rows: list[Floats], source: str) -> Floats:
    if len({row.size for row in rows}) > 1:
        raise InvalidDataError(f"{source} must return outputs of one size" + _advice(source))
    return np.array(rows)


def _finite(first: Floats, second: Floats, source: str) -> tuple[Floats, Floats]:
    """Return outputs of one size; infinities, and what is no number, become the largest doubles."""
    if first.shape[1] != second.shape[1]:
        raise InvalidParameterError(
            f"{source} must return outputs of one size for both data sets, got {first.shape[1]} and {second.shape[1]} "
            "numbers" + _advice(source)
        )
    if np.isnan(first).all() and np.isnan(second).all():
        raise InvalidDataError(f"{source} must return numbers, got none in {2 * len(first)} runs: NaN or None in all")
    most = np.finfo(np.float64).max
    return np.nan_to_num(first, nan=most), np.nan_to_num(second, nan=most)
