"""Grouped releases on Dask: counted in the partitions and drawn in those that hold the groups."""

from __future__ import annotations

from typing import Any

import numpy as np

from simplexdp import _core
from simplexdp.exceptions import InvalidParameterError
from simplexdp.frames import Domain, encode
from simplexdp.mechanisms import DirichletMechanism

__all__ = ["group_counts", "release_rows"]


def group_counts(frame: Any, column: str, by: str, domain: Domain, groups: Any) -> Any:
    """Return one row for each public group: `by` and a column of counts for each level, zeros where none occurs."""
    import dask.dataframe as dd
    import pandas as pd

    for name, source in ((column, frame), (by, frame)):
        if name not in source.columns:
            raise InvalidParameterError(f"columns must exist in the frame, got {name!r}")
    names = [_cell(by, code) for code in range(len(domain))]

    def count(part: Any) -> Any:
        (codes,) = encode(part, [column], {column: domain})
        keys, found = pd.factorize(part[by], use_na_sentinel=False)
        shape = [max(len(found), 1), len(domain)]
        cells = _core.count_table([keys.astype(np.int64), codes], shape).reshape(shape)
        counted = pd.DataFrame(cells[: len(found)], columns=names)
        counted.insert(0, by, pd.Series(found, dtype=part[by].dtype))
        return counted

    meta = frame._meta[[by]].assign(**dict.fromkeys(names, np.int64(0)))
    partial = frame.map_partitions(count, meta=meta)
    counted = partial.groupby(by, dropna=False).sum(split_out=frame.npartitions).reset_index()
    if hasattr(groups, "map_partitions"):
        public = groups[[by]].drop_duplicates()
    else:
        stated = pd.DataFrame({by: pd.Series(list(groups), dtype=frame._meta[by].dtype)}).drop_duplicates()
        public = dd.from_pandas(stated, npartitions=frame.npartitions)
    joined = public.merge(counted, on=by, how="left")
    return joined.fillna(dict.fromkeys(names, 0))


def release_rows(counts: Any, by: str, mechanism: DirichletMechanism) -> Any:
    """Return `by` and a column ``p0``, ``p1``, ... for each level, drawn in the partition that holds the row.

    The result is persisted: were it computed again, it would be drawn again, and cost again.
    """
    names = [_cell(by, code) for code in range(mechanism.dimension)]
    released = [f"p{code}" for code in range(mechanism.dimension)]
    if by in released:
        raise InvalidParameterError(f"by must not be called like a released column, got {by!r}")

    def draw(part: Any) -> Any:
        table = part[names].to_numpy().astype(np.int64)
        rows = mechanism.release(table) if len(table) else np.empty((0, mechanism.dimension))
        return part[[by]].assign(**{name: rows[:, code] for code, name in enumerate(released)})

    meta = counts._meta[[by]].assign(**dict.fromkeys(released, 0.0))
    return counts.map_partitions(draw, meta=meta).persist()


def _cell(by: str, code: int) -> str:
    """Return the name of a column of counts, different from `by` whatever that is."""
    return f"{by} {code}"
