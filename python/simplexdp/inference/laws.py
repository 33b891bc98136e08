"""Laws of many counts at once: where each begins, and its masses; sums of them, and what a sum says of its parts.

Sums are convolutions, by Fourier transforms of all rows together. Those have absolute errors of some 1e-16 of the
largest mass, so masses below `NOISE` of it are taken for zero. Term by term every mass has all of its digits, down to
the smallest double, at the price of a product for each two masses.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from simplexdp import _arguments as check
from simplexdp.exceptions import NotAffordableError

__all__ = ["CountLaws", "Sums", "Weights", "remainders", "sums"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

NOISE = 1e-15
SHORT = 48
"""Factors up to so many masses are multiplied term by term in any case."""
MOST_MASSES = 1 << 27
"""Of one array: a gibibyte."""
MOST_PRODUCTS = 1 << 29
"""Of one convolution term by term: half a second."""


@dataclass(frozen=True, eq=False)
class Weights:
    """Functions of one integer, not normalised: row i has the weight ``values[i, j]`` at ``starts[i] + j``."""

    starts: Integers
    values: Floats

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def numbers(self) -> Integers:
        """The integers of all rows, shape of `values`."""
        return self.starts[:, None] + np.arange(self.values.shape[1])

    def scaled(self) -> tuple[Weights, Floats]:
        """Return the same with a maximum of one in each row, and the logarithms of what it was divided by."""
        most = self.values.max(axis=1, initial=0.0)
        with np.errstate(divide="ignore"):
            logs = np.log(most)
        return Weights(self.starts, self.values / np.where(most > 0, most, 1.0)[:, None]), logs

    def times(self, logs: Floats) -> tuple[Weights, Floats]:
        """Multiply by what these are the logarithms of, and scale: return also the logarithms of the scales."""
        with np.errstate(divide="ignore"):
            total = np.log(self.values) + logs
        most = total.max(axis=1, initial=-np.inf)
        most = np.where(np.isfinite(most), most, 0.0)
        return Weights(self.starts, np.exp(total - most[:, None])), most

    def trimmed(self, least: float) -> Weights:
        """Cut off what lies beyond the first and last weight above `least`, in rows whose maximum is one."""
        values = np.where(self.values > least, self.values, 0.0)
        some = values > 0
        first = np.where(some.any(axis=1), some.argmax(axis=1), 0)
        last = np.where(some.any(axis=1), values.shape[1] - 1 - some[:, ::-1].argmax(axis=1), 0)
        width = int((last - first).max(initial=0)) + 1
        if width == values.shape[1]:
            return Weights(self.starts, values)
        at = np.minimum(first[:, None] + np.arange(width), values.shape[1] - 1)
        inside = first[:, None] + np.arange(width) <= last[:, None]
        return Weights(self.starts + first, np.take_along_axis(values, at, axis=1) * inside)

    def at(self, starts: Integers, width: int) -> Floats:
        """Return the weights of each row at `width` integers from a start on, zero where there are none."""
        index = (starts - self.starts)[:, None] + np.arange(width)
        inside = (index >= 0) & (index < self.values.shape[1])
        found: Floats = np.take_along_axis(self.values, np.clip(index, 0, self.values.shape[1] - 1), axis=1) * inside
        return found

    def rows(self, chosen: Integers) -> Weights:
        """Return some of the rows."""
        return Weights(self.starts[chosen], self.values[chosen])


def _afford(rows: int, width: int) -> None:
    if rows * width > MOST_MASSES:
        raise NotAffordableError("the noise is too large beside the number of cells to infer consistent counts")


def _afford_products(rows: int, long: int, short: int) -> None:
    if rows * long * short > MOST_PRODUCTS:
        raise NotAffordableError("the noise is too large beside the counts to infer consistent ones")


def _convolved(first: Floats, second: Floats, *, exact: bool = False) -> Floats:
    """Return the convolution of each row of the one with that row of the other."""
    if first.shape[1] < second.shape[1]:
        first, second = second, first
    rows, (long, short) = len(first), (first.shape[1], second.shape[1])
    width = long + short - 1
    _afford(rows, width)
    if short <= SHORT or exact:
        _afford_products(rows, long, short)
        found = np.zeros((rows, width))
        for shift in range(short):
            found[:, shift : shift + long] += first * second[:, shift : shift + 1]
        return found
    size = 1 << (width - 1).bit_length()
    _afford(rows, 2 * size)
    product = np.fft.rfft(first, size) * np.fft.rfft(second, size)
    return np.maximum(np.fft.irfft(product, size)[:, :width], 0.0)


def _sum(first: Weights, second: Weights, *, exact: bool) -> tuple[Weights, Floats]:
    found = Weights(first.starts + second.starts, _convolved(first.values, second.values, exact=exact))
    scaled, logs = found.scaled()
    return scaled.trimmed(0.0 if exact else NOISE), logs


@dataclass(frozen=True, eq=False)
class Sums:
    """The sums of the rows of each of `n_sums` equal blocks, and the halves that they were made of."""

    total: Weights
    logs: Floats
    """Of what `total` was divided by, one for each block."""
    _rounds: tuple[Weights, ...]
    exact: bool = False


def sums(rows: Weights, size: int, *, exact: bool = False) -> Sums:
    """Add up blocks of `size` rows that follow each other; rows must have a maximum of one.

    Term by term where it is to be `exact`.
    """
    blocks = len(rows) // size
    logs = np.zeros(blocks)
    rounds = []
    while size > 1:
        if size % 2:
            rows, size = _padded(rows, blocks, size), size + 1
        rounds.append(rows)
        even = np.arange(0, len(rows), 2)
        rows, scales = _sum(rows.rows(even), rows.rows(even + 1), exact=exact)
        size //= 2
        logs = logs + scales.reshape(blocks, size).sum(axis=1)
    return Sums(rows, logs, tuple(rounds), exact)


def _padded(rows: Weights, blocks: int, size: int) -> Weights:
    """Add a row to each block that is zero for certain."""
    width = rows.values.shape[1]
    _afford(blocks * (size + 1), width)
    values = np.zeros((blocks, size + 1, width))
    values[:, :size] = rows.values.reshape(blocks, size, width)
    values[:, size, 0] = 1.0
    starts = np.zeros((blocks, size + 1), dtype=np.int64)
    starts[:, :size] = rows.starts.reshape(blocks, size)
    return Weights(starts.ravel(), values.reshape(-1, width))


def remainders(found: Sums, outside: Weights, size: int) -> Weights:
    """Return what a function of each sum says of each row, given the laws of the other rows of its block.

    Parameters
    ----------
    found : Sums
    outside : Weights
        One row for each block: the weight of its sum.
    size : int
        Rows of a block, as for `sums`.

    Returns
    -------
    Weights
        In row i the sum over the other rows' numbers of their weights times the outside weight of all together.
    """
    sizes = [size]
    for _ in found._rounds:
        sizes.append((sizes[-1] + 1) // 2)
    for rows, (inner, _) in zip(reversed(found._rounds), reversed(list(pairwise(sizes))), strict=True):
        padded = inner + inner % 2
        mates = np.arange(len(rows)) ^ 1
        outside = _remainder(outside.rows(np.arange(len(rows)) // 2), rows.rows(mates), rows, exact=found.exact)
        if padded != inner:
            kept = np.arange(len(rows)).reshape(-1, padded)[:, :inner].ravel()
            outside = outside.rows(kept)
    return outside


def _remainder(outside: Weights, mate: Weights, own: Weights, *, exact: bool) -> Weights:
    """Sum the mate's numbers out, on the window of the row's own numbers."""
    wide, short = own.values.shape[1], mate.values.shape[1]
    # Number x of the row stands with number b of the mate at x + b of the sum: only that much of it is looked at.
    cut = outside.at(own.starts + mate.starts, wide + short - 1)
    if min(wide, short) <= SHORT or exact:
        _afford_products(len(own), wide, short)
        found = np.zeros((len(own), wide))
        if short <= wide:
            for shift in range(short):
                found += cut[:, shift : shift + wide] * mate.values[:, shift : shift + 1]
        else:
            for shift in range(wide):
                found[:, shift] = np.einsum("ij,ij->i", cut[:, shift : shift + short], mate.values)
        return Weights(own.starts, found).scaled()[0]
    size = 1 << (wide + short - 2).bit_length()
    _afford(len(own), 2 * size)
    product = np.fft.rfft(cut, size) * np.conj(np.fft.rfft(mate.values, size))
    return Weights(own.starts, np.maximum(np.fft.irfft(product, size)[:, :wide], 0.0)).scaled()[0]


class CountLaws:
    """What is known of many counts: a law for each; see `TablePosterior.margins`."""

    def __init__(self, weights: Weights, shape: tuple[int, ...]) -> None:
        self._weights, self._shape = weights, shape

    def __repr__(self) -> str:
        return f"CountLaws(shape={self._shape})"

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the counts."""
        return self._shape

    def reshaped(self, shape: tuple[int, ...]) -> CountLaws:
        """Return the same laws in another shape."""
        return CountLaws(self._weights, shape)

    def turned(self, groups: int, many: bool) -> CountLaws:
        """Return laws that stand value after value as shape (groups, values), or (groups,) where there is one value."""
        values = len(self._weights) // groups
        order = np.arange(len(self._weights)).reshape(values, groups).T.ravel()
        return CountLaws(self._weights.rows(order), (groups, values) if many else (groups,))

    @cached_property
    def _masses(self) -> Floats:
        values = self._weights.values
        return np.asarray(values / values.sum(axis=1, keepdims=True))

    @cached_property
    def mean(self) -> Floats:
        """The expected counts."""
        return self._moment().reshape(self._shape)

    @cached_property
    def sd(self) -> Floats:
        """Their standard deviations."""
        away = np.arange(self._masses.shape[1]) - (self._moment() - self._weights.starts)[:, None]
        found: Floats = np.sqrt(np.einsum("ij,ij->i", self._masses, away**2)).reshape(self._shape)
        return found

    def _moment(self) -> Floats:
        found: Floats = self._weights.starts + self._masses @ np.arange(self._masses.shape[1])
        return found

    def interval(self, level: float = 0.95) -> Integers:
        """Return credible intervals: at most (1 - level) / 2 on either side, both ends included; shape (..., 2).

        Parameters
        ----------
        level : float, default 0.95
            Strictly between 0 and 1.
        """
        beyond = (1 - check.open_unit("level", level)) / 2
        below = np.cumsum(self._masses, axis=1)
        above = np.cumsum(self._masses[:, ::-1], axis=1)
        lower = self._weights.starts + (below > beyond).argmax(axis=1)
        upper = self._weights.starts + self._masses.shape[1] - 1 - (above > beyond).argmax(axis=1)
        return np.stack([lower, upper], axis=-1).reshape(*self._shape, 2)

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
        order = np.arange(len(self._weights)).reshape(self._shape).transpose(*kept, *axes).ravel()
        size = int(np.prod([self._shape[each] for each in axes], initial=1))
        rows = Weights(self._weights.starts[order], self._masses[order]).scaled()[0]
        return CountLaws(sums(rows, size).total, tuple(self._shape[each] for each in kept))
