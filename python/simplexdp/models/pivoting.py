"""A released table of groups with one column for each value, in a frame of the kind that came in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from simplexdp.exceptions import InvalidParameterError

__all__ = ["kind_of", "pivot"]

EAGER = ("pandas", "polars", "pyarrow", "modin", "cudf")
OF_LAZY = {"dask": "pandas", "duckdb": "pyarrow", "pyspark": "pandas"}
"""In what a small table is given back where the data are lazy."""


def kind_of(frame: Any) -> str | None:
    """Return the library that a frame is of, None for arrays and mappings."""
    name = type(frame).__module__.partition(".")[0].lstrip("_")
    return name if name in EAGER else OF_LAZY.get(name)


def pivot(
    table: NDArray[Any], groups: Mapping[Any, Sequence[Any]], levels: Sequence[Any], total: str | None, kind: str | None
) -> Any:
    """Return a row for each combination of groups and a column for each level.

    Parameters
    ----------
    table : ndarray, shape (groups of the first column, ..., levels)
        With one more entry along the last axis, and one more row, where there are totals.
    groups : mapping
        The groups of each column.
    levels : sequence
    total : str, optional
        The name of the totals; without it there are none.
    kind : str, optional
        The library of the frame; without one an array is returned.
    """
    names, ends = [str(level) for level in levels], [] if total is None else [total]
    if kind is None:
        return table
    if len({*map(str, groups), *names, *ends}) < len(groups) + len(names) + len(ends):
        raise InvalidParameterError("levels must have other names than the columns of groups to be columns beside them")
    import narwhals as nw

    rows = list(product(*groups.values()))
    content: dict[str, Any] = {}
    for axis, name in enumerate(groups):
        values = [row[axis] for row in rows]
        # Beside the name of the total every group is text.
        content[str(name)] = values if total is None else [*map(str, values), total]
    for place, name in enumerate([*names, *ends]):
        content[name] = np.asarray(table)[:, place].tolist()
    return nw.from_dict(content, backend=cast(Any, kind)).to_native()
