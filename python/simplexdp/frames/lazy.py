"""Group counts on lazy engines: one query for all tables where the engine can do that.

Spark and DuckDB answer all tables by one aggregation over grouping sets (Spark counts partially before it shuffles);
Polars and Dask collect all queries together and share the scan. The columns get generated names first, so that no
name of the user's can collide with one of ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, TypeAlias

__all__ = ["grouped_counts"]

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


def _group_by(frame: Any, columns: Sequence[Any]) -> Any:
    import narwhals as nw

    names = _names(columns)
    selected = frame.select(nw.col(column).alias(name) for column, name in zip(columns, names, strict=True))
    return selected.group_by(*names, drop_null_keys=False).agg(nw.len().alias("n"))


def _collect_together(queries: list[Any], implementation: Any) -> list[Iterable[tuple[Any, ...]]]:
    if implementation.is_polars():
        import polars as pl

        return [result.rows() for result in pl.collect_all([query.to_native() for query in queries])]
    if implementation.is_dask():
        import dask

        results = dask.compute(*(query.to_native() for query in queries))
        return [result.itertuples(index=False, name=None) for result in results]
    return [query.collect().iter_rows() for query in queries]


def _by_grouping_sets(frame: Any, tables: Sequence[Sequence[Any]], run: Any) -> list[Groups]:
    import narwhals as nw

    results: list[Groups] = []
    for batch in _batches(tables):
        columns = list(dict.fromkeys(chain.from_iterable(batch)))
        names = _names(columns)
        position = {column: index for index, column in enumerate(columns)}
        selected = frame.select(nw.col(column).alias(name) for column, name in zip(columns, names, strict=True))
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
