"""Laws of many counts at once."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from simplexdp import _arguments as check
from simplexdp import _core

__all__ = ["CountLaws"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class CountLaws:
    """What is known of many counts: a law for each; see `TablePosterior.margins`."""

    def __init__(self, laws: _core.Laws, shape: tuple[int, ...]) -> None:
        self._laws, self._shape = laws, shape

    def __repr__(self) -> str:
        return f"CountLaws(shape={self._shape})"

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the counts."""
        return self._shape

    def reshaped(self, shape: tuple[int, ...]) -> CountLaws:
        """Return the same laws in another shape."""
        return CountLaws(self._laws, shape)

    def chosen(self, order: Integers) -> CountLaws:
        """Return some of these laws, of any shape, in this order."""
        return CountLaws(self._laws.ordered(np.ascontiguousarray(order, dtype=np.int64)), (len(order),))

    def followed_by(self, others: CountLaws) -> CountLaws:
        """Return these laws and others after them, of any shape."""
        laws = self._laws.followed_by(others._laws)
        return CountLaws(laws, (len(laws),))

    def turned(self, groups: int, many: bool) -> CountLaws:
        """Return laws that stand value after value as shape (groups, values), or (groups,) where there is one value."""
        values = len(self._laws) // groups
        order = np.arange(len(self._laws)).reshape(values, groups).T.ravel()
        return CountLaws(self._laws.ordered(order), (groups, values) if many else (groups,))

    @cached_property
    def _moments(self) -> tuple[Floats, Floats]:
        return self._laws.moments()

    @cached_property
    def mean(self) -> Floats:
        """The expected counts."""
        return self._moments[0].reshape(self._shape)

    @cached_property
    def sd(self) -> Floats:
        """Their standard deviations."""
        found: Floats = np.sqrt(self._moments[1]).reshape(self._shape)
        return found

    def interval(self, level: float = 0.95) -> Integers:
        """Return credible intervals: at most (1 - level) / 2 on either side, both ends included; shape (..., 2).

        Parameters
        ----------
        level : float, default 0.95
            Strictly between 0 and 1.
        """
        ends = self._laws.intervals((1 - check.open_unit("level", level)) / 2)
        return np.stack(ends, axis=-1).reshape(*self._shape, 2)

    def sum(self, axis: int | tuple[int, ...] | None = None) -> CountLaws:
        """Return the laws of sums along axes, counts taken as independent; means are exact in any case.

        Parameters
        ----------
        axis : int or tuple of int, optional
            Which; all by default.
        """
        axes = tuple(range(len(self._shape))) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
        axes = tuple(each % len(self._shape) for each in axes)
        kept = tuple(each for each in range(len(self._shape)) if each not in axes)
        order = np.arange(len(self._laws)).reshape(self._shape).transpose(*kept, *axes).ravel()
        size = int(np.prod([self._shape[each] for each in axes], initial=1))
        return CountLaws(self._laws.sums(order, size), tuple(self._shape[each] for each in kept))
