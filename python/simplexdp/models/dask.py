"""Grouped releases on Dask: counted in the partitions and drawn in those that hold the groups."""

from __future__ import annotations

import contextlib
import os
import secrets
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplexdp import _core
from simplexdp.exceptions import InvalidParameterError
from simplexdp.frames import Domain, encode
from simplexdp.models import workers

__all__ = ["counted", "group_counts", "release_rows"]


def group_counts(frame: Any, column: str, by: str, domain: Domain, groups: Any) -> Any:
    """Return one row for each public group: `by` and a column of counts for each level, zeros where none occurs."""
    if by in (f"p{code}" for code in range(len(domain))):
        raise InvalidParameterError(f"by must not be called like a released column, got {by!r}")
    for name, source in ((column, frame), (by, frame)):
        if name not in source.columns:
            raise InvalidParameterError(f"columns must exist in the frame, got {name!r}")
    if hasattr(groups, "map_partitions"):
        return _of_a_frame_of_groups(frame, column, by, domain, groups)
    return _of_listed_groups(frame, column, by, domain, list(dict.fromkeys(groups)))


def _of_listed_groups(frame: Any, column: str, by: str, domain: Domain, groups: list[Any]) -> Any:
    """Count by the position of the group in the list.

    No value and no type of the data comes into the result: the categories of a column, say, are those that occur.
    """
    import dask.dataframe as dd
    import pandas as pd

    stated = Domain(groups, other=True)
    names = [_cell(by, code) for code in range(len(domain))]

    def count(part: Any) -> Any:
        keys, codes = encode(part, [by, column], {by: stated, column: domain})
        found, rows = np.unique(keys, return_inverse=True)
        return _counted(by, found.astype(np.int64), rows, codes, names)

    numbers = dict.fromkeys(names, np.int64(0))
    meta = pd.DataFrame({by: np.zeros(0, dtype=np.int64)}).assign(**numbers)
    counted = frame.map_partitions(count, meta=meta).groupby(by).sum(split_out=frame.npartitions).reset_index()
    public = dd.from_pandas(pd.DataFrame({by: np.arange(len(groups))}), npartitions=frame.npartitions)
    joined = public.merge(counted, on=by, how="left").fillna(numbers)
    labels = pd.Series(groups) if len({type(group) for group in groups}) == 1 else pd.Series(groups, dtype=object)

    def label(part: Any) -> Any:
        return part.assign(**{by: labels.take(part[by].to_numpy()).array})

    return joined.map_partitions(label, meta=joined._meta.assign(**{by: labels[:0]}))


def _of_a_frame_of_groups(frame: Any, column: str, by: str, domain: Domain, groups: Any) -> Any:
    import pandas as pd

    names = [_cell(by, code) for code in range(len(domain))]

    def count(part: Any) -> Any:
        (codes,) = encode(part, [column], {column: domain})
        rows, found = pd.factorize(part[by], use_na_sentinel=False)
        return _counted(by, pd.Series(found, dtype=part[by].dtype), rows, codes, names)

    public = groups[[by]]
    stated, kind = public._meta[by].dtype, frame._meta[by].dtype
    if not _comparable(stated, kind):
        raise InvalidParameterError(f"groups must have the type of column {by!r}, which is {kind}, got {stated}")
    numbers = dict.fromkeys(names, np.int64(0))
    partial = frame.map_partitions(count, meta=frame._meta[[by]].assign(**numbers))
    counted = partial.groupby(by, dropna=False).sum(split_out=frame.npartitions).reset_index()

    def with_one_missing_value(part: Any) -> Any:
        # Spelled in several ways they are several groups that one record would be a member of.
        return part.assign(**{by: part[by].astype(object).mask(part[by].isna(), None)})

    if public._meta[by].dtype == object:
        public = public.map_partitions(with_one_missing_value, meta=public._meta)
    return public.drop_duplicates().merge(counted, on=by, how="left").fillna(numbers)


def _comparable(stated: Any, kind: Any) -> bool:
    """Whether no two different groups are equal to the same value: integers beyond 2^53 are, as floats."""
    integers = all(getattr(dtype, "kind", "") == "i" for dtype in (stated, kind))
    text = {"category", "object", "string", "str"}
    return bool(stated == kind) or integers or {str(stated), str(kind)} <= text


def _counted(by: str, found: Any, rows: NDArray[Any], codes: NDArray[Any], names: list[str]) -> Any:
    """Return one row for each group that a partition holds: the group and its counts."""
    import pandas as pd

    shape = [max(len(found), 1), len(names)]
    cells = _core.count_table([rows.astype(np.int64), codes], shape).reshape(shape)
    counted = pd.DataFrame(cells[: len(found)], columns=names)
    counted.insert(0, by, found)
    return counted


def counted(counts: Any, checkpoint: str | None) -> Any:
    """Count now, before anything is paid for: what cannot be counted is refused here."""
    if (
        checkpoint is not None
        and os.path.exists(checkpoint)
        and (not os.path.isdir(checkpoint) or os.listdir(checkpoint))
    ):
        raise InvalidParameterError(f"checkpoint must be an empty folder or none yet, got {checkpoint!r}")
    try:
        kept = counts.persist()
        # On a cluster that returns at once; this waits, and raises.
        kept.map_partitions(len).compute()
    except ImportError as error:
        raise workers.lacking(error.name) from error
    return kept


def release_rows(counts: Any, by: str, mechanism: Any, checkpoint: str | None) -> Any:
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
        return part[[by]].assign(**{name: rows[:, code] for code, name in enumerate(released)})

    meta = counts._meta[[by]].assign(**dict.fromkeys(released, 0.0))
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


def _cell(by: str, code: int) -> str:
    """Return the name of a column of counts, different from `by` whatever that is."""
    return f"{by} {code}"
