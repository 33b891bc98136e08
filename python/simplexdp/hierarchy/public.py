"""A public hierarchy: which group of a finer column lies in which of a coarser one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplexdp.exceptions import InvalidParameterError

__all__ = ["Hierarchy"]


def _names(columns: Any) -> list[Any]:
    """Return the columns as a list of names, each once."""
    try:
        names = [] if isinstance(columns, (str, bytes)) else list(columns)
        if names and len(set(names)) == len(names):
            return names
    except TypeError:
        names = []  # no names, or none that can be told apart
    raise InvalidParameterError(f"columns must name every level once, from coarse to fine, got {columns!r}")


@dataclass(frozen=True)
class Hierarchy:
    """Columns from coarse to fine, and the public paths through them.

    The finest groups name their places: each lies in one group of every coarser column.

    Parameters
    ----------
    columns : sequence of str
        From coarse to fine.
    paths : sequence of sequences
        For each finest group one value of every column.

    Examples
    --------
    >>> from simplexdp.hierarchy import Hierarchy
    >>> places = Hierarchy.from_mapping(["region", "district"], {"north": ["n1", "n2"], "south": ["s1"]})
    >>> places.groups("region"), places.groups("district")
    ([('north',), ('south',)], [('north', 'n1'), ('north', 'n2'), ('south', 's1')])
    """

    columns: tuple[Any, ...]
    paths: tuple[tuple[Any, ...], ...]

    def __init__(self, columns: Sequence[Any], paths: Sequence[Sequence[Any]]) -> None:
        columns = _names(columns)
        try:
            paths = list(paths)
            listed = [tuple(path) for path in paths]
        except TypeError:
            raise InvalidParameterError(f"paths must give one value for each of the columns {columns!r}") from None
        if not listed or any(isinstance(path, (str, bytes)) or len(path) != len(columns) for path in paths):
            raise InvalidParameterError(f"paths must give one value for each of the columns {columns!r}")
        try:
            finest = {path[-1] for path in listed}
            order: dict[tuple[Any, ...], int] = {}
            for path in listed:
                for depth in range(1, len(path) + 1):
                    order.setdefault(path[:depth], len(order))
        except TypeError:
            raise InvalidParameterError("paths must hold scalars") from None
        if len(finest) < len(listed):
            raise InvalidParameterError(f"paths must have every value of {columns[-1]!r} once: it lies in one group")
        # The children of a group next to each other, in the order in which they were first named.
        listed.sort(key=lambda path: [order[path[:depth]] for depth in range(1, len(path) + 1)])
        object.__setattr__(self, "columns", tuple(columns))
        object.__setattr__(self, "paths", tuple(listed))

    @classmethod
    def from_mapping(cls, columns: Sequence[Any], content: Any) -> Hierarchy:
        """Return the hierarchy of nested mappings with lists of the finest groups.

        Parameters
        ----------
        columns : sequence of str
        content : mapping
            Groups of the first column, with what lies in each.
        """
        columns = _names(columns)

        def paths(inner: Any, depth: int) -> list[tuple[Any, ...]]:
            if depth == len(columns):
                if isinstance(inner, (str, bytes, Mapping)) or not isinstance(inner, Sequence):
                    raise InvalidParameterError("a mapping must be nested as deep as columns are, lists innermost")
                return [(each,) for each in inner]
            if not isinstance(inner, Mapping):
                raise InvalidParameterError("a mapping must be nested as deep as columns are, lists innermost")
            return [(name, *rest) for name, each in inner.items() for rest in paths(each, depth + 1)]

        return cls(columns, paths(content, 1))

    @classmethod
    def from_table(cls, columns: Sequence[Any], table: Mapping[Any, Sequence[Any]]) -> Hierarchy:
        """Return the hierarchy that a public table lists, one row for each finest group or several alike.

        Parameters
        ----------
        columns : sequence of str
        table : mapping of columns or data frame
            Public: never the private data themselves.
        """
        columns = _names(columns)
        try:
            found = list(dict.fromkeys(zip(*(list(table[column]) for column in columns), strict=True)))
        except (LookupError, TypeError, ValueError):
            raise InvalidParameterError(f"table must have the columns {columns!r}, of the same length") from None
        return cls(columns, found)

    @property
    def depth(self) -> int:
        """How many levels there are."""
        return len(self.columns)

    @cached_property
    def _levels(self) -> list[list[tuple[Any, ...]]]:
        return [list(dict.fromkeys(path[:depth] for path in self.paths)) for depth in range(1, self.depth + 1)]

    def groups(self, column: Any) -> list[tuple[Any, ...]]:
        """Return the paths to the groups of a column, in order."""
        if column not in self.columns:
            raise InvalidParameterError(f"column must be one of {list(self.columns)!r}, got {column!r}")
        return list(self._levels[self.columns.index(column)])

    def parents(self, depth: int) -> NDArray[np.int64]:
        """Return, for each group of a level, its place in the level above; zeros for the first."""
        if depth == 0:
            return np.zeros(len(self._levels[0]), dtype=np.int64)
        place = {path: position for position, path in enumerate(self._levels[depth - 1])}
        return np.array([place[path[:-1]] for path in self._levels[depth]], dtype=np.int64)
