"""The posterior of a model's tables given what was released of them.

Rows of a table are alike: theta_c ~ Dirichlet(kappa m), the centre m unknown, kappa by evidence. With several parents,
evidence also chooses whether all rows are alike, or those with the same level of one parent. Tables with the same
parents saw the same totals. `simplexdp_core::inference::conditional` has the formulas, and what is exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from simplexdp import _core
from simplexdp._cautions import caution_user
from simplexdp._parallel import threads_for
from simplexdp.exceptions import NotAffordableError, NumericalError
from simplexdp.models.released import ReleasedTable

__all__ = [
    "SMOOTHINGS",
    "SmoothedTable",
    "has_posterior",
    "inferred",
    "smooth_classes",
    "smooth_network",
    "why_as_drawn",
]

SMOOTHINGS = ("posterior", "floor")
CELLS_PER_THREAD = 64
MOST_CELLS = 2**14
"""Models with more cells keep their tables as they were drawn."""

Floats: TypeAlias = NDArray[np.float64]
T = TypeVar("T")


def why_as_drawn(tables: Iterable[ReleasedTable], total: int | None) -> str | None:
    """Say why the tables cannot be inferred; None where they can."""
    tables = list(tables)
    if not all(table.protects for table in tables):
        return "exact tables leave nothing to infer"
    cells = sum(table.values.size for table in tables)
    if cells > MOST_CELLS:
        return (
            f"its tables have {cells} cells, and more than {MOST_CELLS} would take minutes: they stay as they were "
            "drawn, with noisy counts raised to count_floor; merge rare levels or leave columns out"
        )
    if total is None and any(table.law.kind == "dirichlet" for table in tables):
        return (
            'Dirichlet draws do not tell the number of records, which adjacency="add_remove" keeps private: take '
            'mechanism="auto" or another with noise on counts, or adjacency="replace"'
        )
    return None


def has_posterior(tables: Iterable[ReleasedTable], total: int | None) -> bool:
    """Whether the tables can be inferred."""
    return why_as_drawn(tables, total) is None


def inferred(asked: str, tables: Iterable[ReleasedTable], total: int | None, infer: Callable[[], T]) -> T | None:
    """Return what `infer` does of released tables; None where they stay as they were drawn.

    They are paid for: where nothing can be inferred they are kept, and a warning says why if nobody would expect that.
    """
    tables = list(tables)
    reason = why_as_drawn(tables, total)
    if asked == "floor" or reason is not None:
        if asked == "posterior" and reason is not None and sum(table.values.size for table in tables) > MOST_CELLS:
            caution_user(f"the model is not inferred: {reason}")
        return None
    try:
        return infer()
    except (NotAffordableError, NumericalError) as error:
        caution_user(
            f"the model is not inferred, so that its tables stay as they were drawn, with noisy counts raised to "
            f"count_floor: {error}"
        )
        return None


@dataclass(frozen=True)
class SmoothedTable:
    """The posterior of one table, shape (rows, levels).

    Attributes
    ----------
    mean, sd : ndarray
        Of the probabilities.
    interval : callable
        From a level to equal-tailed intervals, shape (rows, levels, 2).
    """

    mean: Floats
    sd: Floats
    interval: Callable[[float], Floats]


def smooth_classes(
    classes: ReleasedTable | None, tables: Sequence[ReleasedTable], n_classes: int, total: int | None
) -> tuple[SmoothedTable, list[SmoothedTable]]:
    """Return the posterior of class shares and of tables given the class.

    Parameters
    ----------
    classes : ReleasedTable, optional
        Of shape (1, n_classes).
    tables : sequence of ReleasedTable
        Of shape (n_classes, levels).
    n_classes : int
    total : int, optional
        Number of records, where it is public.
    """
    observed = None if classes is None else classes.observation
    group = _smooth(tables, n_classes, observed, 1.0, total)
    return _total_table(group, n_classes), [_table(group, j, table) for j, table in enumerate(tables)]


def smooth_network(
    released: Mapping[str, ReleasedTable], parents: Mapping[str, Sequence[str]], total: int | None
) -> dict[str, SmoothedTable]:
    """Return the posterior of every table of a network.

    The totals of a table's rows are counts of its parents: exact together with the table of the one parent where that
    has no parents itself, and otherwise normal with the moments that the parents' own tables give.

    Parameters
    ----------
    released : mapping of str to ReleasedTable
        Nodes in topological order.
    parents : mapping of str to sequence of str
    total : int, optional
        Number of records, where it is public.
    """
    return _Network(released, parents, total).found


class _Network:
    def __init__(
        self, released: Mapping[str, ReleasedTable], parents: Mapping[str, Sequence[str]], total: int | None
    ) -> None:
        self.released, self.parents = released, parents
        self.levels = {node: table.values.shape[-1] for node, table in released.items()}
        self.position = {node: index for index, node in enumerate(released)}
        self.total = total
        self.found: dict[str, SmoothedTable] = {}
        self.counts: dict[str, tuple[Floats, Floats]] = {}
        self._smooth_all()

    def _smooth_all(self) -> None:
        groups: dict[tuple[str, ...], list[str]] = {}
        for node in self.released:
            groups.setdefault(tuple(self.parents[node]), []).append(node)
        roots = groups.pop((), [])
        alone = _smooth([self.released[node] for node in roots], 1, None, 1.0, self.total)
        for j, node in enumerate(roots):
            self._keep(node, alone, j)
        n_records = float(alone.totals()[0])
        # A group is looked at after all tables that its totals come from.
        for above, nodes in sorted(groups.items(), key=lambda item: max(self.position[node] for node in item[0])):
            tables = [self.released[node] for node in nodes]
            rows = math.prod(self.levels[node] for node in above)
            if above[0] in roots and len(above) == 1 and self.released[above[0]].protects:
                own = self.released[above[0]].observation
                concentration = _mean_concentration(alone, roots.index(above[0]))
                group = _smooth(tables, rows, own, concentration / rows, self.total)
                self.found[above[0]] = _total_table(group, rows)
                moments = group.totals().reshape(-1, 2)
                self.counts[above[0]] = moments[:, 0].reshape(1, -1), moments[:, 1].reshape(1, -1)
            else:
                mean, variance = self._joint(above, n_records)
                seen = _core.Observation.normal(mean.ravel(), np.sqrt(np.maximum(variance, 0.25)).ravel())
                shape = [self.levels[node] for node in above]
                group = _smooth(tables, rows, seen, 1.0, self.total, shape)
            for j, node in enumerate(nodes):
                self._keep(node, group, j)
        self.found = {node: self.found[node] for node in self.released}

    def _keep(self, node: str, group: _core.SmoothedTables, index: int) -> None:
        table = self.released[node]
        self.found[node] = _table(group, index, table)
        moments = group.counts(index).reshape(-1, 2)
        self.counts[node] = moments[:, 0].reshape(table.values.shape), moments[:, 1].reshape(table.values.shape)

    def _joint(self, above: tuple[str, ...], n_records: float) -> tuple[Floats, Floats]:
        """Return means and variances of the counts of the parents' configurations."""
        for node in above:
            family = [*self.parents[node], node]
            if set(above) <= set(family):
                shape = [self.levels[name] for name in family]
                kept = [family.index(name) for name in above]
                rest = tuple(axis for axis in range(len(family)) if axis not in kept)
                order = np.argsort(np.argsort(kept))
                mean, variance = (
                    np.transpose(np.reshape(moments, shape).sum(axis=rest), order) for moments in self.counts[node]
                )
                return mean, variance
        # No table has seen them together: independent, and hardly known.
        shares = [self._joint((node,), n_records)[0] / n_records for node in above]
        mean = np.full((), n_records)
        for share in shares:
            mean = np.multiply.outer(mean, share)
        return mean, (0.7 * mean) ** 2 + mean + 1


def _smooth(
    tables: Sequence[ReleasedTable],
    rows: int,
    totals: _core.Observation | None,
    totals_prior: float,
    known: int | None,
    above: Sequence[int] = (),
) -> _core.SmoothedTables:
    observed = [(table.observation, table.values.shape[-1]) for table in tables]
    threads = threads_for(sum(table.values.size for table in tables), CELLS_PER_THREAD)
    return _core.SmoothedTables(observed, rows, totals, totals_prior, known, None, _partitions(above), threads)


def _partitions(above: Sequence[int]) -> list[list[int]]:
    """Return, for each of several parents, which rows share which of its levels; given are the numbers of levels."""
    if len(above) < 2:
        return []
    labels = np.indices(above).reshape(len(above), -1)
    return [axis.tolist() for axis, levels in zip(labels, above, strict=True) if levels > 1]


def _mean_concentration(group: _core.SmoothedTables, index: int) -> float:
    pairs = group.concentrations(index).reshape(-1, 2)
    return float(np.exp(np.average(np.log(pairs[:, 0]), weights=pairs[:, 1])))


def _table(group: _core.SmoothedTables, index: int, table: ReleasedTable) -> SmoothedTable:
    shape = table.values.shape
    moments = group.shares(index).reshape(*shape, 2)
    mean = moments[..., 0] / moments[..., 0].sum(axis=-1, keepdims=True)
    return SmoothedTable(mean, np.sqrt(moments[..., 1]), lambda level: group.intervals(index, level).reshape(*shape, 2))


def _total_table(group: _core.SmoothedTables, rows: int) -> SmoothedTable:
    moments = group.total_shares().reshape(1, rows, 2)
    mean = moments[..., 0] / moments[..., 0].sum(axis=-1, keepdims=True)
    return SmoothedTable(mean, np.sqrt(moments[..., 1]), lambda level: group.total_intervals(level).reshape(1, rows, 2))
