"""The structure of a Bayesian network: a directed graph without cycles, in an order in which parents come first."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from simplexdp.exceptions import InvalidParameterError

__all__ = ["topological_parents"]


def topological_parents(edges: Iterable[Sequence[str]], nodes: Sequence[str]) -> dict[str, list[str]]:
    """Return the parents of every node, nodes in a topological order, parents in the order of their edges.

    Among the orders that are possible, the one that keeps `nodes` as they stand is taken.

    Raises
    ------
    InvalidParameterError
        When an edge is no pair, names a node that is unknown, leads from a node to itself, stands twice or closes a
        cycle.
    """
    parents: dict[str, list[str]] = {node: [] for node in nodes}
    for edge in edges:
        parent, child = _pair(edge)
        for name in (parent, child):
            if not isinstance(name, Hashable) or name not in parents:
                raise InvalidParameterError(f"edges must join columns of domains, got {name!r}")
        if parent == child:
            raise InvalidParameterError(f"edges must join different columns, got {(parent, child)!r}")
        if parent in parents[child]:
            raise InvalidParameterError(f"edges must name every pair once, got {(parent, child)!r} twice")
        parents[child].append(parent)
    return {node: parents[node] for node in _ordered(parents)}


def _pair(edge: Any) -> tuple[str, str]:
    if isinstance(edge, str) or not isinstance(edge, Sequence) or len(edge) != 2:
        raise InvalidParameterError(f"edges must be pairs (parent, child), got {edge!r}")
    return edge[0], edge[1]


def _ordered(parents: dict[str, list[str]]) -> list[str]:
    waiting = {node: set(above) for node, above in parents.items()}
    order: list[str] = []
    while waiting:
        # A node may be called None.
        ready = next(((node,) for node, above in waiting.items() if above.isdisjoint(waiting)), ())
        if not ready:
            raise InvalidParameterError(f"edges must form no cycle, got one among {sorted(map(str, _cycle(waiting)))}")
        order += ready
        del waiting[ready[0]]
    return order


def _cycle(waiting: dict[str, set[str]]) -> list[str]:
    """One cycle of a graph in which every node has a parent."""
    path = [next(iter(waiting))]
    while True:
        parent = next(node for node in waiting[path[-1]] if node in waiting)
        if parent in path:
            return path[path.index(parent) :]
        path.append(parent)
