"""All one-way and two-way tables of a frame on Spark: tasks count their rows in the core, and Spark adds up the cells.

A query of grouping sets would make as many rows of each row as there are tables. Here rows go to Python once, and what
comes back is one row for each cell that is not empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplexdp.exceptions import InvalidDataError, InvalidParameterError
from simplexdp.frames import Domain
from simplexdp.frames.lazy import selected_columns
from simplexdp.frames.spark_tasks import CELLS, are_plain, can_count, cells_of, problem, summed

__all__ = ["counted_by_workers"]

CODES_AT_ONCE = 1 << 22
"""Values that a task holds at a time: 32 MB of integers."""


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
    if not are_plain(selected.schema) or not can_count(selected.sparkSession):
        return None
    sizes = [len(domain) for domain in domains.values()]
    n_cells = sum(sizes) + sum(sizes[i] * sizes[j] for i, j in pairs)
    return summed(selected.mapInArrow(_counting(domains, pairs), CELLS), n_cells)


def _counting(domains: Mapping[Any, Domain], pairs: Sequence[tuple[int, int]]) -> Any:
    """Return what a task does with its rows."""

    def counts_of(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        from simplexdp.models.marginal_release import count_rows

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
            yield problem(error)
            return
        if total is not None:
            yield from cells_of(total)

    return counts_of
