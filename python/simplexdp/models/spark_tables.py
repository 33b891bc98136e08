"""All one-way and two-way tables of a frame on Spark: tasks count their rows in the core, and Spark adds up the cells.

A query of grouping sets would make as many rows of each row as there are tables. Here rows go to Python once, and what
comes back is one row for each cell that is not empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import simplexdp
from simplexdp._cautions import caution_user
from simplexdp.exceptions import InvalidDataError, InvalidParameterError
from simplexdp.frames import Domain
from simplexdp.frames.lazy import selected_columns
from simplexdp.models import workers
from simplexdp.models.spark import answers

__all__ = ["counted_by_workers"]

NEEDED = (*workers.NEEDED, "narwhals")
"""What a worker imports to count."""

CODES_AT_ONCE = 1 << 22
"""Values that a task holds at a time: 32 MB of integers."""

PLAIN = {"boolean", "byte", "short", "integer", "long", "tinyint", "smallint", "int", "bigint"} | {
    "float",
    "double",
    "decimal",
    "string",
    "date",
}
"""Types whose values are the same to a worker, who reads Arrow, and to the driver, who would be given rows. Times are
not: Arrow has them in a time zone."""

CELLS = "cell bigint, n bigint, problem string"


def counted_by_workers(
    frame: Any, domains: Mapping[Any, Domain], pairs: Sequence[tuple[int, int]]
) -> NDArray[np.int64] | None:
    """Return the cells in the order of the core; None where workers cannot count, and a query of Spark's has to."""
    columns = list(domains)
    missing = [column for column in columns if column not in frame.collect_schema().names()]
    if missing:
        raise InvalidParameterError(f"columns must exist in the frame, got {missing!r}")
    names = [f"c{position}" for position in range(len(columns))]
    selected = selected_columns(frame, columns, names).to_native()
    if not all(field.dataType.typeName() in PLAIN for field in selected.schema):
        return None
    lacking = answers(selected.sparkSession, NEEDED) - {simplexdp.__version__}
    if lacking:
        caution_user(
            f"Spark's workers should have simplexdp {simplexdp.__version__}, pyarrow and narwhals to count in them "
            f"(one has {min(lacking)}); without, each row is copied once for each table, which is slow"
        )
        return None
    return _summed(selected.mapInArrow(_counting(domains, pairs), CELLS), domains, pairs)


def _counting(domains: Mapping[Any, Domain], pairs: Sequence[tuple[int, int]]) -> Any:
    """Return what a task does with its rows."""

    def counts_of(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        from simplexdp.models.marginal_release import count_rows

        def rows(cells: Any, counts: Any, problem: str | None) -> Any:
            columns = [pa.array(cells, pa.int64()), pa.array(counts, pa.int64())]
            return pa.RecordBatch.from_arrays(
                [*columns, pa.array([problem] * len(cells), pa.string())], names=["cell", "n", "problem"]
            )

        def blocks() -> Iterator[Any]:
            held: list[Any] = []
            for batch in batches:
                held.append(batch)
                if sum(each.num_rows for each in held) * len(domains) >= CODES_AT_ONCE:
                    yield pa.Table.from_batches(held)
                    held = []
            if held:
                yield pa.Table.from_batches(held)

        total = None
        try:
            for block in blocks():
                counts = count_rows(dict(zip(domains, block.columns, strict=True)), domains, pairs)
                total = counts if total is None else total + counts
        except InvalidDataError as error:
            # As a row: an error of a task is tried again and comes with a page of Java.
            yield rows([-1], [0], str(error))
            return
        if total is not None:
            cells = np.flatnonzero(total)
            for start in range(0, len(cells), 1 << 20):
                part = cells[start : start + (1 << 20)]
                yield rows(part, total[part], None)

    return counts_of


def _summed(found: Any, domains: Mapping[Any, Domain], pairs: Sequence[tuple[int, int]]) -> NDArray[np.int64]:
    from pyspark.sql import functions as sf

    summed = found.groupBy("cell").agg(sf.sum("n").alias("n"), sf.min("problem").alias("problem"))
    # Through an array of each of a few groups: a million rows one by one take a minute.
    packed = summed.groupBy(sf.expr("cell div 65536").alias("part")).agg(
        sf.collect_list("cell").alias("cells"), sf.collect_list("n").alias("counts"), sf.min("problem").alias("problem")
    )
    sizes = [len(domain) for domain in domains.values()]
    counts = np.zeros(sum(sizes) + sum(sizes[i] * sizes[j] for i, j in pairs), dtype=np.int64)
    for row in packed.select("cells", "counts", "problem").collect():
        if row["problem"] is not None:
            raise InvalidDataError(row["problem"])
        counts[np.array(row["cells"], dtype=np.int64)] = row["counts"]
    return counts
