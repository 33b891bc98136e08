"""Outputs of a release as arrays of numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplexdp.exceptions import InvalidDataError, InvalidParameterError

Floats = NDArray[np.float64]
Draw = Callable[[Any, int], Floats]


def numbers_of(output: Any) -> Floats:
    """Return one output as a row of finite numbers; infinities become the largest doubles."""
    try:
        row = np.asarray(output, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError):
        raise InvalidDataError(
            f"release must return numbers or an array of numbers, got {type(output).__name__}: give score= a function "
            "that makes a number, or an array of them, of one output"
        ) from None
    return np.nan_to_num(row, nan=np.finfo(np.float64).max)


def one_by_one(release: Callable[[Any], Any], view: Callable[[Any], Any] | None) -> Draw:
    """Return how to draw with a function of one data set."""

    def draw(data: Any, size: int) -> Floats:
        rows = [numbers_of(release(data) if view is None else view(release(data))) for _ in range(size)]
        return _stacked(rows)

    return draw


def in_batches(release: Callable[[Any, int], Any], view: Callable[[Any], Any] | None) -> Draw:
    """Return how to draw with a function of a data set and a number of outputs, which stand along its first axis."""

    def draw(data: Any, size: int) -> Floats:
        outputs = release(data, size)
        outputs = outputs if view is None else view(outputs)
        try:
            found = np.asarray(outputs, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidDataError("release must return an array of numbers with one output in a row") from None
        if found.ndim == 0 or len(found) != size:
            raise InvalidParameterError(
                f"release must return {size} outputs along the first axis when batch is True, got shape {found.shape}"
            )
        return np.nan_to_num(found.reshape(size, -1), nan=np.finfo(np.float64).max)

    return draw


def _stacked(rows: list[Floats]) -> Floats:
    if len({row.size for row in rows}) > 1:
        raise InvalidDataError(
            "release must return outputs of one size: give score= a function that makes a number of one output"
        )
    return np.array(rows)
