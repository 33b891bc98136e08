"""Group counts on lazy engines: one query for all tables where the engine can do that.

Spark and DuckDB answer all tables by one aggregation over grouping sets (Spark counts partially before it shuffles);
Polars and Dask collect all queries together and share the scan. The columns get generated names first, so that no
name of the user's can collide with one of ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from simplexdp.exceptions import InvalidParameterError
from simplexdp.frames.distinct_series import values_of_polars
from simplexdp.frames.duckdb_names import quoted
from simplexdp.frames.spark_codes import plain_text

__all__ = ["counts_of_column", "grouped_counts", "selected_columns"]

Groups: TypeAlias = list[tuple[tuple[Any, ...], int]]

# A grouping identifier is a 64-bit integer with one bit for each column.
MAX_GROUPING_COLUMNS = 60


def grouped_counts(frame: Any, tables: Sequence[Sequence[Any]]) -> list[Groups]:
    """Return, for each table, the combinations of values that occur and how often."""
    implementation = frame.implementation
    if implementation.is_pyspark() or implementation.is_pyspark_connect():
        return _by_grouping_sets(frame, tables, _spark_groups)
    if implementation.is_duckdb():
        return _by_grouping_sets(frame, tables, _duckdb_groups)
    queries = [_group_by(frame, columns) for columns in tables]
    return [_split(rows) for rows in _collect_together(queries, implementation)]


def counts_of_column(frame: Any, column: Any, least: int) -> tuple[list[Any], NDArray[np.int64], int]:
    """Return the values that at least so many records have, how many have each, and the number of all records.

    What fewer records have never leaves the engine.
    """
    import narwhals as nw

    if column not in frame.collect_schema().names():
        raise InvalidParameterError(f"columns must exist in the frame, got {[column]!r}")
    grouped = _group_by(frame, [column])
    # Their total is asked for beside them: those that are left out count too.
    totals = grouped.select(nw.col("n").sum().alias("n"))
    queries = [grouped.filter(nw.col("n") >= least), totals]
    if frame.implementation.is_polars() or frame.implementation.is_dask():
        groups, total = (list(rows) for rows in _collect_together(queries, frame.implementation))
    else:
        groups, total = (list(query.collect().iter_rows()) for query in queries)
    levels, counts = [row[0] for row in groups], np.array([int(row[1]) for row in groups], dtype=np.int64)
    return levels, counts, int(total[0][0] or 0) if total else 0


def _group_by(frame: Any, columns: Sequence[Any]) -> Any:
    import narwhals as nw

    names = _names(columns)
    selected = selected_columns(frame, columns, names)
    return selected.group_by(*names, drop_null_keys=False).agg(nw.len().alias("n"))


def _collect_together(queries: list[Any], implementation: Any) -> list[Iterable[tuple[Any, ...]]]:
    if implementation.is_polars():
        import polars as pl

        results = pl.collect_all([query.to_native() for query in queries])
        return [zip(*map(values_of_polars, result.get_columns()), strict=True) for result in results]
    if implementation.is_dask():
        import dask

        results = dask.compute(*(query.to_native() for query in queries))
        return [result.itertuples(index=False, name=None) for result in results]
    return [query.collect().iter_rows() for query in queries]


def _by_grouping_sets(frame: Any, tables: Sequence[Sequence[Any]], run: Any) -> list[Groups]:

    results: list[Groups] = []
    for batch in _batches(tables):
        columns = list(dict.fromkeys(chain.from_iterable(batch)))
        names = _names(columns)
        position = {column: index for index, column in enumerate(columns)}
        selected = selected_columns(frame, columns, names)
        # Bit i from the left is one for a column that is not part of the set.
        identifiers = [sum(1 << len(columns) - 1 - position[c] for c in columns if c not in table) for table in batch]
        sets = {i: [names[position[c]] for c in table] for i, table in zip(identifiers, batch, strict=True)}
        groups: dict[int, list[tuple[Any, ...]]] = {identifier: [] for identifier in identifiers}
        for *values, identifier, count in run(selected.to_native(), names, list(sets.values())):
            groups[identifier].append((*values, count))
        for table, identifier in zip(batch, identifiers, strict=True):
            picked = [position[c] for c in table]
            results.append([(tuple(row[i] for i in picked), int(row[-1])) for row in groups[identifier]])
    return results


def selected_columns(frame: Any, columns: Sequence[Any], names: list[str]) -> Any:
    """Return these columns under generated names.

    Some engines read a name as more than a name: Polars takes ``^a$`` for a pattern, DuckDB ``*`` for all columns,
    Spark ``a.b`` for a field. There all columns are renamed, in their order, before one is asked for.
    """
    import narwhals as nw

    implementation, native = frame.implementation, frame.to_native()
    known = frame.collect_schema().names()
    positions = [f"p{position}" for position in range(len(known))]
    wanted = [positions[known.index(column)] for column in columns]
    if implementation.is_pyspark() or implementation.is_pyspark_connect():
        renamed = native.toDF(*positions)
        kinds = {field.name: field.dataType for field in renamed.schema}
        # Only what is counted: there may be columns that cannot be cast.
        frame = nw.from_native(renamed.withColumns({name: plain_text(renamed[name], kinds[name]) for name in wanted}))
    elif implementation.is_duckdb():
        # Under a collation that holds letters for equal a group would be named after its first row.
        is_text = [str(kind) == "VARCHAR" for kind in native.types]
        exact = [' collate "binary"' if text else "" for text in is_text]
        values = [quoted(name) + collation for name, collation in zip(known, exact, strict=True)]
        named = ", ".join(f"{value} as {new}" for value, new in zip(values, positions, strict=True))
        frame = nw.from_native(native.project(named))
    elif implementation.is_polars():
        frame = nw.from_native(native.rename(dict(zip(known, positions, strict=True))))
    else:
        wanted = list(columns)
    return frame.select(nw.col(old).alias(new) for old, new in zip(wanted, names, strict=True))


def _spark_query(frame: Any, names: list[str], sets: list[list[str]]) -> Any:
    from pyspark.sql import functions as sf

    return frame.groupingSets(sets, *names).agg(sf.grouping_id().alias("g"), sf.count(sf.lit(1)).alias("n"))


def _spark_groups(frame: Any, names: list[str], sets: list[list[str]]) -> Iterable[tuple[Any, ...]]:
    return [tuple(row) for row in _spark_query(frame, names, sets).select(*names, "g", "n").collect()]


def _duckdb_groups(relation: Any, names: list[str], sets: list[list[str]]) -> Iterable[tuple[Any, ...]]:
    keys = ", ".join(names)
    grouping_sets = ", ".join(f"({', '.join(group)})" for group in sets)
    query = relation.aggregate(f"{keys}, grouping({keys}) as g, count(*) as n", f"grouping sets ({grouping_sets})")
    rows: list[tuple[Any, ...]] = query.fetchall()
    return rows


def _batches(tables: Sequence[Sequence[Any]]) -> Iterable[list[Sequence[Any]]]:
    """Tables in groups that together name no more columns than one grouping identifier has bits."""
    batch: list[Sequence[Any]] = []
    columns: set[Any] = set()
    for table in tables:
        if batch and len(columns | set(table)) > MAX_GROUPING_COLUMNS:
            yield batch
            batch, columns = [], set()
        batch.append(table)
        columns |= set(table)
    if batch:
        yield batch


def _names(columns: Sequence[Any]) -> list[str]:
    return [f"c{index}" for index in range(len(columns))]


def _split(rows: Iterable[tuple[Any, ...]]) -> Groups:
    return [(tuple(values), int(count)) for *values, count in rows]
