"""Rows that tasks of Spark count in the core: whether their workers can, and the sums of what they give back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import simplexdp
from simplexdp._cautions import caution_user
from simplexdp.exceptions import InvalidDataError
from simplexdp.frames import workers

__all__ = ["CELLS", "answers", "are_plain", "can_count", "cells_of", "problem", "question", "summed"]

NEEDED = (*workers.NEEDED, "narwhals")
"""What a worker imports to count."""

MOST_ASKED = 256
"""Tasks that are asked whether they can draw or count."""

CELLS_AT_ONCE = 1 << 20
"""Of a table that goes back."""

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
"""What a task that counts gives back: cells that are not empty, or why it could not."""


def are_plain(schema: Any) -> bool:
    """Whether values of these columns are the same to a worker and to the driver."""
    return all(field.dataType.typeName() in PLAIN for field in schema)


def can_count(session: Any) -> bool:
    """Whether all workers have what they need to count; says so where one has not."""
    lacking = answers(session, NEEDED) - {simplexdp.__version__}
    if lacking:
        caution_user(
            f"Spark's workers should have simplexdp {simplexdp.__version__}, pyarrow and narwhals to count in them "
            f"(one has {min(lacking)}); without, Spark's own query is several times as slow"
        )
    return not lacking


def answers(session: Any, needed: tuple[str, ...]) -> set[str]:
    """Ask as many tasks as run at once for a version of the first of these packages, or what they lack."""
    # A session of Spark Connect does not tell.
    tasks = min(int(getattr(getattr(session, "sparkContext", None), "defaultParallelism", 8)), MOST_ASKED)
    rows = session.range(0, tasks, 1, tasks).select(question(needed)("id").alias("answer")).collect()
    return {row["answer"] for row in rows}


def question(needed: tuple[str, ...]) -> Any:
    """Return the question as a function of Spark; sent by Arrow it would never reach a worker without pyarrow."""
    from pyspark.sql import functions as sf

    return sf.udf(workers.answering(needed), "string", useArrow=False)


def cells_of(table: NDArray[np.int64]) -> Iterator[Any]:
    """Yield the cells of a flat table that are not empty, as a task gives them back."""
    cells = np.flatnonzero(table)
    for start in range(0, len(cells), CELLS_AT_ONCE):
        part = cells[start : start + CELLS_AT_ONCE]
        yield _rows(part, table[part], None)


def problem(error: InvalidDataError) -> Any:
    """Return an error as a row: one of a task is tried again and comes with a page of Java."""
    return _rows([-1], [0], str(error))


def _rows(cells: Any, counts: Any, message: str | None) -> Any:
    import pyarrow as pa

    columns = [pa.array(cells, pa.int64()), pa.array(counts, pa.int64())]
    return pa.RecordBatch.from_arrays(
        [*columns, pa.array([message] * len(cells), pa.string())], names=["cell", "n", "problem"]
    )


def summed(found: Any, n_cells: int) -> NDArray[np.int64]:
    """Return the sums over all tasks of what they counted."""
    from pyspark.sql import functions as sf

    summed = found.groupBy("cell").agg(sf.sum("n").alias("n"), sf.min("problem").alias("problem"))
    # Through an array of each of a few groups: a million rows one by one take a minute.
    packed = summed.groupBy(sf.expr("cell div 65536").alias("part")).agg(
        sf.collect_list("cell").alias("cells"), sf.collect_list("n").alias("counts"), sf.min("problem").alias("problem")
    )
    counts = np.zeros(n_cells, dtype=np.int64)
    for row in packed.select("cells", "counts", "problem").collect():
        if row["problem"] is not None:
            raise InvalidDataError(row["problem"])
        counts[np.array(row["cells"], dtype=np.int64)] = row["counts"]
    return counts
