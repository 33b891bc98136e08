"""Trees some of whose leaves are far larger than the others: how alike the others are is for the others to tell.

With one concentration for all, a large leaf says that next to all records of a family are in one child, so that small
leaves beside it and in other families are put to zero, and what they add up to is too small. So large leaves are taken
out of the tree: all of them together have a share of all records with the arcsine law, Beta(1/2, 1/2), and each is a
branch of its own there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from simplexdp.inference.apart import DEVIATIONS
from simplexdp.inference.laws import CountLaws
from simplexdp.inference.tree import Level, Part, tree_posterior
from simplexdp.models.released import Law

__all__ = ["beside_large", "large_leaves"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

FAR = 8.0
"""A leaf is large that has so many times the mean of those below it."""
MOST_LARGE = 32
"""The largest ones."""

PartsOf = Callable[[Integers, Integers], Sequence[Part]]
"""The priors of a level, by the parents of its nodes and their positions before large leaves were taken out."""


def large_leaves(noisy: Floats, law: Law) -> Integers:
    """Return the positions of leaves far above the noise and the leaves below them, in order."""
    deviation = law.variance**0.5
    order = np.argsort(noisy)[::-1]
    found: list[int] = []
    left = float(noisy.sum())
    for place in order[: min(MOST_LARGE, noisy.size // 2)]:
        left -= noisy[place]
        others = noisy.size - len(found) - 1
        # The mean of the others, as far as noise lets it be told.
        mean = max(left / others, deviation / others**0.5)
        if noisy[place] < max(DEVIATIONS * deviation, FAR * mean):
            break
        found.append(int(place))
    return np.array(sorted(found), dtype=np.int64)


def beside_large(
    parents: Sequence[Integers],
    parts_of: Sequence[PartsOf],
    noisy: Floats,
    law: Law,
    large: Integers,
    total: int | None,
) -> list[CountLaws]:
    """Return the laws of the total and of the nodes of each level, of which only the leaves were measured.

    Laws of nodes above large leaves take those and the rest as independent; means are exact.
    """
    rest = np.setdiff1d(np.arange(noisy.size), large)
    # The ancestors on every level, from the top down, of the leaves that are left and of the large ones.
    kept, branches = [rest], [large]
    for parent in parents[:0:-1]:
        kept.append(np.unique(parent[kept[-1]]))
        branches.append(parent[branches[-1]])
    kept, branches = kept[::-1], branches[::-1]
    levels = [Level(np.zeros(2, dtype=np.int64), [Part(0.0, np.full(2, 0.5))])]
    for depth, (parent, parts) in enumerate(zip(parents, parts_of, strict=True)):
        if depth == 0:
            own = np.repeat([0, 1], [len(kept[0]), len(large)])
        else:
            above = np.searchsorted(kept[depth - 1], parent[kept[depth]])
            own = np.concatenate([above, len(kept[depth - 1]) + np.arange(len(large))])
        nodes = np.concatenate([kept[depth], branches[depth]])
        lowest = depth == len(parents) - 1
        levels.append(Level(own, parts(own, nodes), noisy[nodes] if lowest else None, law if lowest else None))
    whole, _, *found = tree_posterior(levels, total)
    sizes = map(len, parents)
    return [whole, *map(_joined, found, kept, branches, sizes)]


def _joined(laws: CountLaws, kept: Integers, branches: Integers, nodes: int) -> CountLaws:
    """Return the laws of all nodes of a level, each with the large leaves below it."""
    place = np.full(nodes, -1)
    place[kept] = np.arange(len(kept))
    joined = laws
    for node in np.unique(branches):
        own = len(kept) + np.flatnonzero(branches == node)
        both = own if place[node] < 0 else np.append(own, place[node])
        place[node] = joined.shape[0]
        joined = joined.followed_by(laws.chosen(both).sum().reshaped((1,)))
    return joined.chosen(place)
