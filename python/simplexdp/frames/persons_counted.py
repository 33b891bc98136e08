"""Tables of a frame with at most so many rows of each person, counted without a frame of the rows that are kept.

All rows are encoded and counted once; those that are not kept are counted too, and taken off. Where a frame is no data
frame of this process its columns come here as they are, or tasks do this with all rows of some of the persons.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from simplexdp import _core
from simplexdp.exceptions import InvalidDataError, NumericalError
from simplexdp.frames.coded import count_codes, shape_of
from simplexdp.frames.distinct import Distinct
from simplexdp.frames.domain import Domain
from simplexdp.frames.duckdb_names import quoted
from simplexdp.frames.encoding import codes_of_levels, distinct_of, encode_columns, own_codes
from simplexdp.frames.lazy import selected_columns
from simplexdp.frames.sharing import SHARING, beside_sharing, in_units
from simplexdp.frames.source import by_column, column_of, is_lazy

if TYPE_CHECKING:
    from simplexdp.frames.persons import Bound

__all__ = ["counted_in_bounds", "counted_rows"]

Tables = list[NDArray[np.int64]]

MOST_ROWS_HERE = 1 << 27
"""Of a query of DuckDB's that are brought here: a few gigabytes. It bounds more rows itself, on disk if need be."""

MOST_LEVELS = 1 << 16
"""Of a column, or cells of a table by levels: so many are no work."""

MOST_CELLS_OF_TASKS = 1 << 20
"""Of all tables, where each task sends its own: 8 MB."""


def counted_in_bounds(
    frame: Any, tables: Sequence[Sequence[Any]], domains: Mapping[Any, Domain], bound: Bound, weighted: bool
) -> Tables | None:
    """Return tables of the rows that `bounded` keeps; None where it has to be asked for them.

    Where they are weighted those of a person are one together, in units.
    """
    if not is_lazy(frame):
        return counted_rows(frame, tables, domains, bound, weighted)
    shapes = [shape_of(domains[column] for column in columns) for columns in tables]
    known = frame.collect_schema().names()
    needed = bound.columns(list(domains))
    if not all(column in known for column in needed):
        return None  # who bounds refuses it
    implementation, native = frame.implementation, frame.to_native()
    if implementation.is_polars():
        return counted_rows(_of_polars(native, needed), tables, domains, bound, weighted)
    if implementation.is_duckdb():
        rows = _of_duckdb(native, needed)
        return None if rows is None else counted_rows(rows, tables, domains, bound, weighted)
    if sum(map(math.prod, shapes)) > MOST_CELLS_OF_TASKS:
        return None
    if implementation.is_dask():
        return _by_dask(native, tables, domains, bound, weighted)
    if implementation.is_pyspark() or implementation.is_pyspark_connect():
        flat = _by_spark(frame, tables, domains, bound, weighted)
        if flat is None:
            return None
        ends = np.cumsum([math.prod(shape) for shape in shapes])
        return [part.reshape(shape) for part, shape in zip(np.split(flat, ends[:-1]), shapes, strict=True)]
    return None


def counted_rows(
    frame: Any, tables: Sequence[Sequence[Any]], domains: Mapping[Any, Domain], bound: Bound, weighted: bool
) -> Tables:
    """Return the tables of a frame that is in memory."""
    if not weighted:
        return _rows_counted(frame, tables, domains, domains, bound)
    by_sharing = _rows_counted(frame, *beside_sharing(tables, domains, bound.max_rows), domains, bound)
    return in_units(by_sharing, bound.max_rows)


def _rows_counted(
    frame: Any,
    tables: Sequence[Sequence[Any]],
    domains: Mapping[Any, Domain],
    columns: Sequence[Any] | Mapping[Any, Any],
    bound: Bound,
) -> Tables:
    """Count tables over these columns of a frame, and by `SHARING` where that has a domain."""
    from simplexdp.frames.persons import bounded, dropped_of, people_of

    def column_of_frame(column: Any) -> Any:
        return column_of(frame, column)

    frame, weighted = by_column(frame, len(columns)), SHARING in domains
    people = people_of(column_of_frame(bound.unit), bound.unit)
    try:
        coded = {column: _Coded.of(column_of_frame(column), column, domains[column]) for column in columns}
        if weighted:
            coded[SHARING] = _Coded(people.sharing(bound.max_rows) - 1, None, None)
        if len({len(each.numbers) for each in coded.values()}) > 1:
            raise InvalidDataError("columns of frame must have the same length")
        every = [_counted(axes, coded, domains) for axes in tables]
    except InvalidDataError:
        # A row without a code, which is perhaps not kept.
        kept = bounded(frame, bound, list(columns), sharing=SHARING if weighted else None)
        codes = encode_columns(kept, domains, domains)
        return [count_codes(axes, [codes[axis] for axis in axes], [domains[axis] for axis in axes]) for axes in tables]

    def distinct(column: Any, rows: NDArray[np.uint32]) -> tuple[Distinct, bool]:
        each = coded[column]
        if each.levels is None or len(each.levels) > MOST_LEVELS:
            # What is told of a value in digests is for values of these rows alone.
            return distinct_of(column_of_frame(column)[rows], column), False
        return (each.levels, each.numbers), True

    dropped = dropped_of(column_of_frame, people, bound, list(columns), distinct)
    if not len(dropped):
        return every
    lost = {column: each.taken(dropped) for column, each in coded.items()}
    return [table - _counted(axes, lost, domains) for table, axes in zip(every, tables, strict=True)]


@dataclass(frozen=True)
class _Coded:
    """A column: a number for each row, which is its code, or says which of the levels it has."""

    numbers: NDArray[Any]
    levels: list[Any] | None
    codes: NDArray[np.integer[Any]] | None
    """Of the levels."""

    @classmethod
    def of(cls, values: Any, column: Any, domain: Domain) -> _Coded:
        own = own_codes(values, domain)
        if own is not None:
            return cls(own, None, None)
        levels, numbers = distinct_of(values, column)
        return cls(numbers, levels, codes_of_levels(levels, domain, column))

    def taken(self, rows: NDArray[np.uint32]) -> _Coded:
        return _Coded(self.numbers.take(rows), self.levels, self.codes)


def _counted(columns: Sequence[Any], coded: Mapping[Any, _Coded], domains: Mapping[Any, Domain]) -> NDArray[np.int64]:
    """Count by levels, and give each cell its codes, where that is less work than to give them to each row."""
    each = [coded[column] for column in columns]
    shape = shape_of(domains[column] for column in columns)
    by_level = [size if of.codes is None else len(of.codes) for size, of in zip(shape, each, strict=True)]
    if math.prod(by_level) > max(len(each[0].numbers), MOST_LEVELS):
        rows = [of.numbers if of.codes is None else of.codes.take(of.numbers) for of in each]
        return count_codes(columns, rows, [domains[column] for column in columns])
    table = _core.count_table([of.numbers for of in each], by_level).reshape(by_level)
    for axis, of in enumerate(each):
        if of.codes is not None:
            folded = np.zeros((shape[axis], *np.delete(table.shape, axis)), dtype=np.int64)
            np.add.at(folded, of.codes, np.moveaxis(table, axis, 0))
            table = np.moveaxis(folded, 0, axis)
    return np.ascontiguousarray(table)


def _of_polars(frame: Any, columns: list[Any]) -> Any:
    import narwhals as nw
    from polars import selectors

    # By name, letter for letter: `select` takes some names for patterns.
    return nw.from_native(frame.select(selectors.by_name(*columns)).collect(), eager_only=True)


def _of_duckdb(relation: Any, columns: list[str]) -> Any:
    """Return these columns of a relation, read once; None for types that Arrow tells otherwise, and too many rows."""
    import narwhals as nw

    from simplexdp.frames.persons_lazy import is_exact

    try:
        import pyarrow as pa
    except ImportError:
        return None
    kinds = dict(zip(relation.columns, map(str, relation.types), strict=True))
    if not all(is_exact(kinds[column]) or kinds[column] in ("FLOAT", "DOUBLE") for column in columns):
        return None
    wanted = relation.project(", ".join(map(quoted, columns)))
    reader = (wanted.to_arrow_reader if hasattr(wanted, "to_arrow_reader") else wanted.fetch_arrow_reader)(1 << 20)
    batches, n_rows = [], 0
    for batch in reader:
        batches.append(batch)
        n_rows += batch.num_rows
        if n_rows > MOST_ROWS_HERE:
            return None
    return nw.from_native(pa.Table.from_batches(batches, schema=reader.schema), eager_only=True)


def _by_dask(
    frame: Any, tables: Sequence[Sequence[Any]], domains: Mapping[Any, Domain], bound: Bound, weighted: bool
) -> Tables:
    """Count each partition, which has all rows of some persons, where it is."""
    import dask

    from simplexdp.frames.dask_workers import check_workers
    from simplexdp.frames.persons_lazy import persons_together

    check_workers()

    def counted(part: Any) -> Tables:
        import narwhals as nw

        return counted_rows(nw.from_native(part, eager_only=True), tables, domains, bound, weighted)

    together = persons_together(frame[bound.columns(list(domains))], bound.unit)
    parts: tuple[Tables, ...] = dask.compute(*map(dask.delayed(counted), together.to_delayed()))
    return [np.sum(same, axis=0) for same in zip(*parts, strict=True)]


def _by_spark(
    frame: Any, tables: Sequence[Sequence[Any]], domains: Mapping[Any, Domain], bound: Bound, weighted: bool
) -> NDArray[np.int64] | None:
    """Count in tasks of which each has all rows of its persons; None where workers cannot.

    Persons are dealt into places, and places to tasks, each of which tells which it saw: that no two tasks saw the same
    does not depend on how Spark plans its shuffles.
    """
    from simplexdp.frames.persons_lazy import PLACES, spark_dealt
    from simplexdp.frames.spark_tasks import CELLS, are_plain, can_count, summed

    needed = bound.columns(list(domains))
    names = [f"c{position}" for position in range(len(needed))]
    selected = selected_columns(frame, needed, names).to_native()
    if not are_plain(selected.schema) or not can_count(selected.sparkSession):
        return None
    dealt = spark_dealt(selected, names[needed.index(bound.unit)])
    counting = _counting_in_tasks(needed, tables, domains, bound, weighted)
    counted = dealt.mapInArrow(counting, CELLS)
    n_cells = sum(math.prod(shape_of(domains[column] for column in columns)) for columns in tables)
    found = summed(counted, n_cells + PLACES)
    if found[n_cells:].max(initial=0) > 1:
        raise NumericalError("Spark gave rows of one person to two tasks, so that nothing was counted")
    return found[:n_cells]


def _counting_in_tasks(
    needed: list[Any], tables: Sequence[Sequence[Any]], domains: Mapping[Any, Domain], bound: Bound, weighted: bool
) -> Any:
    """Return what a task does with all rows of some persons."""

    def counts_of(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        from simplexdp.frames.persons_lazy import PLACES
        from simplexdp.frames.spark_tasks import cells_of, problem

        held = list(batches)
        if not held:
            return
        rows = pa.Table.from_batches(held)
        seen = np.zeros(PLACES, dtype=np.int64)
        seen[rows.column(len(needed)).to_numpy()] = 1
        columns = dict(zip(needed, rows.columns, strict=False))
        try:
            found = counted_rows(columns, tables, domains, bound, weighted)
        except InvalidDataError as error:
            yield problem(error)
            return
        yield from cells_of(np.concatenate([*(table.ravel() for table in found), seen]))

    return counts_of
