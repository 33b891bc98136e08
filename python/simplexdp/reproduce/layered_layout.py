"""Where the nodes of a small directed graph are drawn: layers along the arrows, few crossings, short edges.

The method of Sugiyama, Tagawa and Toda: an edge over several layers gets a bend in each layer between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["Layout", "layered_layout"]

N_RESTARTS, N_SWEEPS, N_SHIFTS = 16, 8, 40
BEND_HEIGHT = 0.55
"""Room that a bend needs, in rows of a node."""

Slot = str | tuple[str, str, int]
"""A node, or the bend of an edge in a layer."""


@dataclass(frozen=True)
class Layout:
    """Layers and heights.

    Attributes
    ----------
    layer : dict of str to int
    height : dict of str to float
        In rows; nodes of one layer are at least one row apart.
    bends : dict of (parent, child) to tuple of float
        Heights of an edge in the layers between its ends.
    crossings : int
    """

    layer: dict[str, int]
    height: dict[str, float]
    bends: dict[tuple[str, str], tuple[float, ...]]
    crossings: int


def layered_layout(parents: Mapping[str, Sequence[str]]) -> Layout:
    """Lay out a graph given by the parents of every node, parents first; the same graph gives the same layout."""
    layer = _layers(parents)
    edges = [(parent, child) for child, above in parents.items() for parent in above]
    columns: list[list[Slot]] = [[] for _ in range(max(layer.values()) + 1)]
    for node, index in layer.items():
        columns[index].append(node)
    links: list[tuple[Slot, Slot]] = []
    for parent, child in edges:
        chain: list[Slot] = [parent]
        for index in range(layer[parent] + 1, layer[child]):
            chain.append((parent, child, index))
            columns[index].append(chain[-1])
        links += zip(chain, [*chain[1:], child], strict=True)
    columns, crossings = _ordered(columns, links)
    height = _heights(columns, links)
    bends = {
        (parent, child): tuple(height[parent, child, index] for index in range(layer[parent] + 1, layer[child]))
        for parent, child in edges
    }
    return Layout(layer, {node: height[node] for node in layer}, bends, crossings)


def _layers(parents: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Longest path from a root; then every node without parents moves next to its first child."""
    layer: dict[str, int] = {}
    for node, above in parents.items():
        layer[node] = 1 + max((layer[parent] for parent in above), default=-1)
    for node, above in parents.items():
        below = [layer[child] for child, its in parents.items() if node in its]
        if not above and below:
            layer[node] = min(below) - 1
    return layer


def _ordered(columns: list[list[Slot]], links: list[tuple[Slot, Slot]]) -> tuple[list[list[Slot]], int]:
    """Order every column by the mean place of its neighbours, from many random starts; keep the fewest crossings."""
    left, right = _neighbours(links)
    rng = np.random.default_rng(0)
    best, fewest = columns, _crossings(columns, links)
    for _ in range(N_RESTARTS):
        trial = [[column[i] for i in rng.permutation(len(column))] for column in columns]
        for sweep in range(N_SWEEPS):
            side = left if sweep % 2 == 0 else right
            order = range(len(trial)) if sweep % 2 == 0 else range(len(trial) - 1, -1, -1)
            place = {slot: i for column in trial for i, slot in enumerate(column)}
            for index in order:
                mean = {
                    slot: sum(place[other] for other in side[slot]) / len(side[slot]) if slot in side else place[slot]
                    for slot in trial[index]
                }
                trial[index] = sorted(trial[index], key=mean.__getitem__)
                place.update({slot: i for i, slot in enumerate(trial[index])})
            count = _crossings(trial, links)
            if count < fewest:
                best, fewest = [list(column) for column in trial], count
    return best, fewest


def _neighbours(links: list[tuple[Slot, Slot]]) -> tuple[dict[Slot, list[Slot]], dict[Slot, list[Slot]]]:
    left: dict[Slot, list[Slot]] = {}
    right: dict[Slot, list[Slot]] = {}
    for a, b in links:
        right.setdefault(a, []).append(b)
        left.setdefault(b, []).append(a)
    return left, right


def _crossings(columns: list[list[Slot]], links: list[tuple[Slot, Slot]]) -> int:
    place = {slot: (index, i) for index, column in enumerate(columns) for i, slot in enumerate(column)}
    ends = [(place[a][0], place[a][1], place[b][1]) for a, b in links]
    return sum(
        first[0] == second[0] and (first[1] - second[1]) * (first[2] - second[2]) < 0
        for k, first in enumerate(ends)
        for second in ends[:k]
    )


def _heights(columns: list[list[Slot]], links: list[tuple[Slot, Slot]]) -> dict[Slot, float]:
    """Move every slot towards its neighbours, as far as order and room allow; bends are pulled straight."""
    left, right = _neighbours(links)
    height: dict[Slot, float] = {}
    for column in columns:
        room = _room(column)
        height.update({slot: float(y - room[-1] / 2) for slot, y in zip(column, room, strict=True)})
    for step in range(N_SHIFTS):
        order = columns if step % 2 == 0 else columns[::-1]
        for column in order:
            wanted = []
            for slot in column:
                pulls = [
                    (4.0 if isinstance(slot, tuple) and isinstance(other, tuple) else 1.0, height[other])
                    for other in (*left.get(slot, ()), *right.get(slot, ()))
                ]
                wanted.append(sum(w * y for w, y in pulls) / sum(w for w, _ in pulls) if pulls else 0.0)
            room = _room(column)
            height.update(zip(column, _increasing(np.array(wanted) - room) + room, strict=True))
    return {slot: float(y) for slot, y in height.items()}


def _room(column: list[Slot]) -> np.ndarray:
    """Least heights of the slots of a column, the first at zero."""
    sizes = np.array([BEND_HEIGHT if isinstance(slot, tuple) else 1.0 for slot in column])
    return np.concatenate([[0.0], np.cumsum((sizes[1:] + sizes[:-1]) / 2)])


def _increasing(values: np.ndarray) -> np.ndarray:
    """Return the non-decreasing sequence nearest to the values, by pooling neighbours that violate the order."""
    pools: list[tuple[float, int]] = []
    for value in values:
        pools.append((float(value), 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (a, n), (b, m) = pools[-2:]
            pools[-2:] = [((a * n + b * m) / (n + m), n + m)]
    return np.concatenate([np.full(n, value) for value, n in pools])
