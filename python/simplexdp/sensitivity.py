"""How far one person moves the counts of a table: what noise must hide.

The guarantee of every mechanism that adds noise speaks of a sensitivity. For counts nobody needs to work it out:
`of_counts` knows it, and the mechanisms' ``for_counts`` ask it. The proof stands in `rust/core/src/sensitivity.rs`.
"""

from typing import Literal, NamedTuple, get_args

from simplexdp import _arguments as check
from simplexdp import _core

__all__ = ["CountChange", "of_counts", "weight_units"]

Adjacency = Literal["replace", "add_remove"]


class CountChange(NamedTuple):
    """The largest differences between the counts of neighbours; each is attained."""

    l1: int
    """The sum of all differences."""
    l2_squared: int
    """The sum of their squares."""
    l2: float
    """The Euclidean distance, the root of that, rounded up."""
    linf: int
    """The largest difference."""
    cells: int
    """How many counts differ."""


def of_counts(
    *, adjacency: Adjacency = "replace", max_rows: int = 1, cells: int | None = None, tables: int = 1
) -> CountChange:
    """Return how far one person moves the counts of a table.

    Every row of data is counted in at most one cell of a table, whatever the shape of the table: a replaced row may
    leave a cell of one row of the table and enter a cell of another.

    Parameters
    ----------
    adjacency : {"replace", "add_remove"}, default "replace"
        Whether neighbours replace a person's rows by others, or add or remove them.
    max_rows : int, default 1
        How many rows of data a person has at most, up to 2**20.
    cells : int, optional
        How many cells a table has in all its rows; a table of a single count moves less.
    tables : int, default 1
        In how many tables the same rows are counted, up to 2**20; the differences are those of all of them together.

    Returns
    -------
    CountChange

    Examples
    --------
    >>> from simplexdp import sensitivity
    >>> sensitivity.of_counts()
    CountChange(l1=2, l2_squared=2, l2=1.4142135623730951, linf=1, cells=2)
    >>> sensitivity.of_counts(adjacency="add_remove", max_rows=3).l1
    3
    """
    check.choice("adjacency", adjacency, get_args(Adjacency))
    rows, tables = _number("max_rows", max_rows), _number("tables", tables)
    cells = None if cells is None else min(check.integer("cells", cells, 1), 2**62)
    return CountChange(*_core.count_change(adjacency, rows, cells, tables))


def weight_units(max_rows: int) -> int:
    """Return in how many units a person's total of one is counted, where each of n rows has the weight 1/n.

    It is the least common multiple of 1 to `max_rows`: counts in units are whole numbers, and a person has exactly so
    many units. So a mechanism for such counts is one ``for_counts(max_rows=weight_units(k))``.

    Parameters
    ----------
    max_rows : int
        How many rows of data a person has at most, up to 16.

    Returns
    -------
    int

    Examples
    --------
    >>> from simplexdp import sensitivity
    >>> sensitivity.weight_units(4)
    12
    """
    return _core.weight_units(_number("max_rows", max_rows))


def _number(name: str, value: int) -> int:
    # What the core cannot even read it would refuse without a name.
    return min(check.integer(name, value, 1), 2**62)
