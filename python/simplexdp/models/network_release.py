"""What was released for a Bayesian network, and the posterior that follows from it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from simplexdp.exceptions import InvalidParameterError
from simplexdp.models.released import ReleasedTable
from simplexdp.models.saved import total_of
from simplexdp.models.smoothing import SmoothedTable, has_posterior, smooth_network

if TYPE_CHECKING:
    from simplexdp.models.saved import SavedNode

__all__ = ["NetworkRelease"]


@dataclass(frozen=True, eq=False)
class NetworkRelease:
    """The tables that were released, nodes in topological order; `total` is the number of records if public."""

    tables: Mapping[str, ReleasedTable]
    parents: Mapping[str, list[str]]
    total: int | None

    @property
    def protects(self) -> bool:
        """Whether it is a release at all."""
        return all(table.protects for table in self.tables.values())

    @property
    def has_posterior(self) -> bool:
        """Whether what was released tells enough to infer the tables from."""
        return has_posterior(self.tables.values(), self.total)

    @cached_property
    def posterior(self) -> dict[str, SmoothedTable]:
        """The tables given all that was released."""
        return smooth_network(self.tables, self.parents, self.total)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the posterior out, which follows from the rest."""
        return {name: value for name, value in self.__dict__.items() if name != "posterior"}

    @classmethod
    def from_json(
        cls,
        content: Mapping[str, Any],
        nodes: Sequence[SavedNode],
        parents: Mapping[str, list[str]],
        shape: Callable[[str], list[int]],
    ) -> NetworkRelease | None:
        """Return the release that a file holds, if it does."""
        released = {node.name: node.released for node in nodes}
        if all(table is None for table in released.values()):
            return None
        tables = {}
        for node in parents:
            if released[node] is None:
                raise InvalidParameterError(f"released of {node!r} must be there, as for other nodes")
            *above, levels = shape(node)
            tables[node] = ReleasedTable.from_json(node, released[node], (math.prod(above), levels))
        return cls(tables, parents, total_of(content))
