"""Grouped releases on Dask: counted in the partitions and drawn in those that hold the groups."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplexdp import _core
from simplexdp.exceptions import InvalidParameterError
from simplexdp.frames import Domain, encode
from simplexdp.frames.dask_workers import check_workers

__all__ = ["counted", "group_counts", "release_rows"]


def group_counts(frame: Any, column: str, by: Sequence[str], domain: Domain, groups: Any) -> Any:
    """Return one row for each public group: `by` and a column of counts for each level, zeros where none occurs.

    The groups are a frame with the columns `by`, or a list for each of them, of which all combinations are groups.
    """
    released = {f"p{code}" for code in range(len(domain))}
    for name in by:
        if name in released:
            raise InvalidParameterError(f"by must not be called like a released column, got {name!r}")
    for name in (column, *by):
        if name not in frame.columns:
            raise InvalidParameterError(f"columns must exist in the frame, got {name!r}")
    if hasattr(groups, "map_partitions"):
        return _of_a_frame_of_groups(frame, column, list(by), domain, groups)
    return _of_listed_groups(frame, column, domain, {name: list(dict.fromkeys(groups[name])) for name in by})


def _of_listed_groups(frame: Any, column: str, domain: Domain, groups: dict[str, list[Any]]) -> Any:
    """Count by the positions of the group in the lists, as one number.

    No value and no type of the data comes into the result: the categories of a column, say, are those that occur.
    """
    import dask.dataframe as dd
    import pandas as pd

    by = list(groups)
    stated = {name: Domain(levels, other=True) for name, levels in groups.items()}
    shape = [len(levels) for levels in groups.values()]
    whole = [len(each) for each in stated.values()]
    # Numbers of groups, of which one column of the result is made after the other.
    key, names = _cell(by, len(domain)), [_cell(by, code) for code in range(len(domain))]

    def count(part: Any) -> Any:
        *keys, codes = encode(part, [*by, column], {**stated, column: domain})
        numbers = np.ravel_multi_index([each.astype(np.int64) for each in keys], whole)
        found, rows = np.unique(numbers, return_inverse=True)
        return _counted(pd.DataFrame({key: found}), rows, codes, names)

    numbers = dict.fromkeys(names, np.int64(0))
    meta = pd.DataFrame({key: np.zeros(0, dtype=np.int64)}).assign(**numbers)
    counted = frame.map_partitions(count, meta=meta).groupby(key).sum(split_out=frame.npartitions).reset_index()
    listed = np.ravel_multi_index(list(np.indices(shape).reshape(len(by), -1)), whole)
    public = dd.from_pandas(pd.DataFrame({key: listed}), npartitions=frame.npartitions)
    joined = public.merge(counted, on=key, how="left").fillna(numbers)
    labels = {name: _series(levels) for name, levels in groups.items()}

    def label(part: Any) -> Any:
        places = np.unravel_index(part[key].to_numpy(), whole)
        found = {name: labels[name].take(place).array for name, place in zip(by, places, strict=True)}
        return part.assign(**found)[[*by, *names]]

    empty = joined._meta.assign(**{name: each[:0] for name, each in labels.items()})[[*by, *names]]
    return joined.map_partitions(label, meta=empty)


def _series(levels: list[Any]) -> Any:
    import pandas as pd

    return pd.Series(levels) if len({type(level) for level in levels}) == 1 else pd.Series(levels, dtype=object)


def _of_a_frame_of_groups(frame: Any, column: str, by: list[str], domain: Domain, groups: Any) -> Any:
    import pandas as pd

    names = [_cell(by, code) for code in range(len(domain))]

    def count(part: Any) -> Any:
        (codes,) = encode(part, [column], {column: domain})
        keys, levels = [], []
        for name in by:
            rows, found = pd.factorize(part[name], use_na_sentinel=False)
            keys.append(rows.astype(np.int64))
            levels.append(pd.Series(found, dtype=part[name].dtype))
        shape = [max(len(each), 1) for each in levels]
        numbers, rows = np.unique(np.ravel_multi_index(keys, shape), return_inverse=True)
        places = np.unravel_index(numbers, shape)
        own = {name: each.take(place).array for name, each, place in zip(by, levels, places, strict=True)}
        return _counted(pd.DataFrame(own), rows, codes, names)

    public = groups[by]
    for name in by:
        stated, kind = public._meta[name].dtype, frame._meta[name].dtype
        if not _comparable(stated, kind):
            raise InvalidParameterError(f"groups must have the type of column {name!r}, which is {kind}, got {stated}")
    numbers = dict.fromkeys(names, np.int64(0))
    partial = frame.map_partitions(count, meta=frame._meta[by].assign(**numbers))
    counted = partial.groupby(by, dropna=False).sum(split_out=frame.npartitions).reset_index()

    def with_one_missing_value(part: Any) -> Any:
        # Spelled in several ways they are several groups that one record would be a member of.
        return part.assign(**{name: part[name].astype(object).mask(part[name].isna(), None) for name in texts})

    texts = [name for name in by if public._meta[name].dtype == object]
    if texts:
        public = public.map_partitions(with_one_missing_value, meta=public._meta)
        counted = counted.map_partitions(with_one_missing_value, meta=counted._meta)
    return public.drop_duplicates().merge(counted, on=by, how="left").fillna(numbers)


def _comparable(stated: Any, kind: Any) -> bool:
    """Whether no two different groups are equal to the same value: integers beyond 2^53 are, as floats."""
    integers = all(getattr(dtype, "kind", "") == "i" for dtype in (stated, kind))
    text = {"category", "object", "string", "str"}
    return bool(stated == kind) or integers or {str(stated), str(kind)} <= text


def _counted(groups: Any, rows: NDArray[Any], codes: NDArray[Any], names: list[str]) -> Any:
    """Return one row for each group that a partition holds: the group and its counts."""
    shape = [max(len(groups), 1), len(names)]
    cells = _core.count_table([rows.astype(np.int64), codes], shape).reshape(shape)
    return groups.assign(**{name: cells[: len(groups), code] for code, name in enumerate(names)})


def counted(counts: Any, checkpoint: str | None) -> Any:
    """Count now, before anything is paid for: what cannot be counted is refused here."""
    if (
        checkpoint is not None
        and os.path.exists(checkpoint)
        and (not os.path.isdir(checkpoint) or os.listdir(checkpoint))
    ):
        raise InvalidParameterError(f"checkpoint must be an empty folder or none yet, got {checkpoint!r}")
    check_workers()
    kept = counts.persist()
    # On a cluster that returns at once; this waits, and raises.
    kept.map_partitions(len).compute()
    return kept


def release_rows(counts: Any, by: Sequence[str], mechanism: Any, checkpoint: str | None) -> Any:
    """Return `by` and a column ``p0``, ``p1``, ... for each level, drawn in the partition that holds the row.

    The result never hangs on the draw: a cluster that loses a worker computes again what was there, and would draw
    again what may have been used. So it is brought to the client; or with a checkpoint, each partition is stored there
    when it is drawn, and read from there ever after.
    """
    import dask

    names = [_cell(by, code) for code in range(mechanism.dimension)]
    released = [f"p{code}" for code in range(mechanism.dimension)]

    def draw(part: Any) -> Any:
        table = part[names].to_numpy().astype(np.int64)
        rows = mechanism.release(table) if len(table) else np.empty((0, mechanism.dimension))
        return part[[*by]].assign(**{name: rows[:, code] for code, name in enumerate(released)})

    meta = counts._meta[[*by]].assign(**dict.fromkeys(released, 0.0))
    if checkpoint is None:
        drawn = dask.compute(*counts.map_partitions(draw, meta=meta).to_delayed())
        return _frame(_itself, list(drawn), meta)
    os.makedirs(checkpoint, exist_ok=True)
    paths = [os.path.join(checkpoint, f"part-{number:06d}.parquet") for number in range(counts.npartitions)]

    def store(part: Any, path: str) -> int:
        if not os.path.exists(path):
            _stored(draw(part), path)
        return len(part)

    tasks = [dask.delayed(store)(part, path) for part, path in zip(counts.to_delayed(), paths, strict=True)]
    dask.compute(*tasks)
    return _frame(lambda path: _read(path).astype(meta.dtypes), paths, meta)


def _frame(partition: Any, sources: list[Any], meta: Any) -> Any:
    """Return the frame of these partitions, with the types that they have."""
    import dask
    import dask.dataframe as dd

    with dask.config.set({"dataframe.convert-string": False}):
        return dd.from_map(partition, sources, meta=meta, enforce_metadata=False)


def _itself(part: Any) -> Any:
    return part


def _stored(part: Any, path: str) -> None:
    """Write a drawn partition, unless another attempt at it was faster: then its draw counts, and this one is lost."""
    draft = f"{path}.{secrets.token_hex(8)}"
    try:
        part.to_parquet(draft)
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(draft)


def _read(path: str) -> Any:
    import pandas as pd

    return pd.read_parquet(path)


def _cell(by: Sequence[str], code: int) -> str:
    """Return the name of a column of counts, longer than every one of `by`."""
    return f"{' '.join(map(str, by))} {code}"
