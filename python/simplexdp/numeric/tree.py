"""Counts of bins and of unions of bins, with noise: what all of them together say of the bins.

A record lies in one bin of every level, so each level is a table of the same records. All noise has the same law, so
the best linear estimate of the bins is that of least squares; its covariance is known before anything is drawn, and
the widths of the levels are chosen by it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from simplexdp import _core
from simplexdp.models.released import Law

__all__ = ["Tree", "best_tree"]

Floats = NDArray[np.float64]
Mechanism = TypeVar("Mechanism")


@dataclass(frozen=True)
class Tree:
    """Levels of 2^b bins each, the last one of single bins."""

    bits: tuple[int, ...]

    @property
    def n_bins(self) -> int:
        """How many bins there are."""
        return 1 << self.bits[-1]

    def count(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the counts of all levels, one after the other, from those of the bins."""
        return np.concatenate([counts.reshape(1 << bits, -1).sum(axis=1) for bits in self.bits])

    @cached_property
    def _covariance(self) -> Floats:
        """The covariance of the bins for noise of variance one.

        It is the inverse of the sum over levels of m P, where P averages over groups of m bins. Coarser averages are
        coarser parts of finer ones, so that what P adds to the level above is divided by the sum of m from there on.
        """
        sizes = np.array([self.n_bins >> bits for bits in self.bits], dtype=float)
        inverse = 1 / np.cumsum(sizes[::-1])[::-1]
        covariance = np.zeros((self.n_bins, self.n_bins))
        for bits, size, weight in zip(self.bits, sizes, inverse - [*inverse[1:], 0.0], strict=True):
            group = np.arange(1 << bits)
            covariance.reshape(len(group), int(size), len(group), int(size))[group, :, group, :] += weight / size
        return covariance

    @cached_property
    def _solver(self) -> Floats:
        """What noisy counts are multiplied by to get the bins."""
        shape = self.n_bins, -1
        return np.hstack([self._covariance.reshape(*shape, self.n_bins >> bits).sum(axis=2) for bits in self.bits])

    @cached_property
    def _gain(self) -> Floats:
        """What of an error in the sum of all bins is each one's."""
        found: Floats = self._covariance.sum(axis=1) / self._covariance.sum()
        return found

    def _solve(self, known: bool) -> tuple[Floats, Floats]:
        """Return what noisy counts and a public total are multiplied by to get the bins."""
        solver = self._solver
        if not known:
            return solver, np.zeros(self.n_bins)
        return solver - np.outer(self._gain, solver.sum(axis=0)), self._gain

    def leaves(self, noisy: Floats, total: int | None) -> Floats:
        """Return the estimated counts of the bins."""
        found: Floats = self._solver @ noisy
        return found if total is None else found + self._gain * (total - found.sum())

    def _weights(self, level: float, known: bool) -> tuple[Floats, Floats]:
        """Return the weights of noisy counts, and of the total, in the gaps at all ends of bins."""
        solver, gain = self._solve(known)
        below = np.concatenate([np.zeros((1, solver.shape[1])), np.cumsum(solver, axis=0)])
        of_total = np.concatenate([[0.0], np.cumsum(gain)])
        return below - level * below[-1], of_total - level * of_total[-1]

    def gaps(self, noisy: Floats, total: int | None, level: float, law: Law, alpha: float) -> tuple[Floats, Floats]:
        """Return, at every end of a bin, how many more values are estimated below it than the share `level` of all.

        And how much noise that has: what is exceeded with a probability of at most `alpha`, to either side.
        """
        leaves = self.leaves(noisy, total)
        below = np.concatenate([[0.0], np.cumsum(leaves)])
        return below - level * leaves.sum(), _reach_at(self, level, total is not None, law, alpha)

    def mean_variance(self, known: bool) -> float:
        """Return the variance of the number of values below an end of a bin, for noise of variance one."""
        covariance = self._covariance
        if known:
            covariance = covariance - np.outer(self._gain, covariance.sum(axis=0))
        below = covariance.cumsum(axis=0).cumsum(axis=1)
        total = below[-1, -1]
        return float((np.sum(np.diag(below) - below[-1] + 0.25 * total) + 0.25 * total) / (self.n_bins + 1))


@lru_cache(maxsize=4)
def _trees(bits: int, known: bool) -> tuple[tuple[Tree, float], ...]:
    """Return trees with even steps of their levels, flat ones included."""
    shapes = {tuple(range(bits, 0, -step))[::-1] for step in range(1, bits + 1)}
    return tuple((tree, tree.mean_variance(known)) for tree in map(Tree, sorted(shapes)))


def best_tree(
    bits: int, noise: Callable[[int], Mechanism], variance: Callable[[Any], float], known: bool
) -> tuple[Tree, Mechanism, float]:
    """Return the tree, its noise and their error for the least error: `noise` takes the number of levels."""
    best: tuple[Tree, Mechanism, float] | None = None
    for tree, factor in _trees(bits, known):
        mechanism = noise(len(tree.bits))
        error = factor * variance(mechanism)
        if best is None or error < best[2]:
            best = tree, mechanism, error
    assert best is not None  # there is always the flat one
    return best


@lru_cache(maxsize=64)
def _reach_at(tree: Tree, level: float, known: bool, law: Law, alpha: float) -> Floats:
    """Return how far noise reaches at each end of a bin: nothing that was released is in it."""
    found = _reach(tree._weights(level, known)[0], law, alpha)
    found.flags.writeable = False
    return found


def _reach(weights: Floats, law: Law, alpha: float) -> Floats:
    """Return for each weighted sum of noises what it exceeds with a probability of at most `alpha`."""
    rows = np.ascontiguousarray(weights, dtype=np.float64)
    return _core.weighted_reaches(law.kind, law.size, rows.ravel(), rows.shape[1], alpha)
