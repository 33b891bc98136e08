"""Margins of a table as further rows, and the table with one column for each value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from simplexdp.cli.counting import check_column

if TYPE_CHECKING:
    from simplexdp.cli.counting import Levels
    from simplexdp.inference import TableMargins

__all__ = ["PIVOTS", "margin_rows", "margin_shares", "pivot_columns", "pivoted", "total_name"]

PIVOTS = ("count", "share", "noisy_count")


def total_name(columns: Mapping[str, Levels]) -> str:
    """Return what stands in a column that is summed out: "all", in as many parentheses as tell it from the levels."""
    taken = {str(level) for levels in columns.values() for level in levels.all}
    name = "all"
    while name in taken:
        name = f"({name})"
    return name


def margin_rows(
    columns: Mapping[str, Levels], margins: TableMargins, released: Any, level: float
) -> dict[str, list[Any]]:
    """Return one row for each cell of each margin: its count with an interval, and its share of the group."""
    names, values = list(columns), [levels.all for levels in columns.values()]
    every, last = total_name(columns), len(columns) - 1
    keys = (*names, "share", "count", "count_lower", "count_upper", "noisy_count")
    rows: dict[str, list[Any]] = {key: [] for key in keys}
    for number in range(1, len(names) + 1):
        for axes in combinations(reversed(range(len(names))), number):
            found = margins.over(axes)
            ends = np.asarray(found.interval(level)).reshape(-1, 2)
            counts = margins.cells.mean.sum(axis=axes, keepdims=True)
            sizes = counts.sum(axis=last, keepdims=True)
            shares = np.divide(counts, sizes, out=np.zeros_like(counts), where=sizes > 0).ravel()
            labels = product(*([every] if axis in axes else values[axis] for axis in range(len(names))))
            noisy = np.asarray(released).sum(axis=axes).ravel()
            for label, *row in zip(labels, shares, counts.ravel(), *ends.T, noisy, strict=True):
                for key, value in zip(keys, (*label, *(each.item() for each in row)), strict=True):
                    rows[key].append(value)
    return rows


def margin_shares(
    names: Sequence[str], labels: Sequence[Sequence[Any]], margins: TableMargins, level: float
) -> dict[str, tuple[list[str], Any, Any, Any]]:
    """Return, for a page, each column by itself: its labels and shares of all records, with ends of their intervals."""
    records = max(float(margins.total.mean), 1.0)
    found = {}
    for axis, name in enumerate(names):
        laws = margins.over(tuple(each for each in range(len(names)) if each != axis))
        counts = margins.cells.mean.sum(axis=tuple(each for each in range(len(names)) if each != axis))
        ends = np.asarray(laws.interval(level)) / records
        found[f"All records by {name}"] = ([str(each) for each in labels[axis]], counts / records, *ends.T)
    return found


def pivot_columns(columns: Mapping[str, Levels], own: Sequence[str]) -> list[str]:
    """Return the names of the columns of a pivot table, the values of the last column after the groups."""
    *by, column = columns
    values = [str(level) for level in columns[column].all]
    for name in by:
        if name in (*values, total_name(columns)):
            raise click.UsageError(f"--pivot: {name!r} is the name of a column and of a value: call one otherwise")
    for value in values:
        check_column(value, own)
    return [*by, *values, total_name(columns)]


def pivoted(
    columns: Mapping[str, Levels], what: str, cells: Any, sizes: Any, over: Any, total: float
) -> dict[str, list[Any]]:
    """Return a row for each group and one for all of them, a column for each value and one for all of them.

    Parameters
    ----------
    columns : mapping
        The groups, then the values.
    what : str
        One of `PIVOTS`, of which shares are those of a group.
    cells, sizes, over, total
        Of all cells, of the groups, of the values over all groups, of all records.
    """
    *by, column = columns
    values = columns[column].all
    table = np.concatenate([np.reshape(cells, (-1, len(values))), np.reshape(over, (1, -1))])
    ends = np.append(np.ravel(sizes), total)
    if what == "share":
        table = np.divide(table, ends[:, None], out=np.zeros(table.shape), where=ends[:, None] > 0)
        ends = table.sum(axis=1)
    groups = list(product(*(columns[name].all for name in by)))
    found: dict[str, list[Any]] = {
        name: [*(group[axis] for group in groups), total_name(columns)] for axis, name in enumerate(by)
    }
    for place, value in enumerate(values):
        found[str(value)] = table[:, place].tolist()
    found[total_name(columns)] = ends.tolist()
    return found
