"""Grouped releases on Spark: counted with a partial aggregate, drawn where the groups are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from simplexdp.exceptions import InvalidParameterError
from simplexdp.frames import Domain
from simplexdp.mechanisms import DirichletMechanism

__all__ = ["group_counts", "release_rows"]


def group_counts(frame: Any, column: str, by: str, domain: Domain, groups: Any) -> Any:
    """Return one row for each public group: `by` and an array ``counts``; groups that do not occur have zeros.

    The groups are a data frame with a column `by`, or a list.
    """
    from pyspark.sql import functions as sf

    if by in frame.columns and not hasattr(groups, "columns"):
        groups = frame.sparkSession.createDataFrame([(level,) for level in groups], frame.select(by).schema)
    for name, source in ((column, frame), (by, frame), (by, groups)):
        if name not in source.columns:
            raise InvalidParameterError(f"columns must exist in the frame, got {name!r}")
    stated = [sf.count(sf.when(_is_level(frame, column, level), 1)) for level in _levels(domain)]
    other = sf.count(sf.lit(1)) - sum(stated[1:], stated[0])
    cells = [count.alias(f"c{code}") for code, count in enumerate(stated)]
    names = [f"c{code}" for code in range(len(domain))]
    counted = frame.groupBy(frame[by].alias("g")).agg(*cells, other.alias("o"))
    if domain.other:
        counted = counted.withColumnRenamed("o", names[-1])
    else:
        # Spark evaluates this in every task; the message says nothing of the data.
        message = f"column {column!r} must hold values of its domain only, or the domain needs other=True"
        checked = sf.when(counted["o"] > 0, sf.raise_error(sf.lit(message)).cast("bigint")).otherwise(counted[names[0]])
        counted = counted.withColumn(names[0], checked).drop("o")
    public = groups.select(sf.col(f"`{by}`").alias("g")).distinct()
    joined = public.join(counted, public["g"].eqNullSafe(counted["g"]), "left").select(
        public["g"].alias(by), sf.array(*(sf.coalesce(sf.col(name), sf.lit(0)) for name in names)).alias("counts")
    )
    return joined


def release_rows(counts: Any, by: str, mechanism: DirichletMechanism) -> Any:
    """Return `by` and an array ``probabilities``, drawn in the task that holds the row.

    The result is kept by a local checkpoint: were it computed again, it would be drawn again, and cost again.
    """
    from pyspark.sql.types import ArrayType, DoubleType, StructField, StructType

    def draw(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            table = np.array(batch.column(1).to_pylist(), dtype=np.int64).reshape(-1, mechanism.dimension)
            rows = mechanism.release(table) if len(table) else np.empty((0, mechanism.dimension))
            flat = pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), mechanism.dimension).cast(
                pa.list_(pa.float64())
            )
            yield pa.RecordBatch.from_arrays([batch.column(0), flat], names=[by, "probabilities"])

    key = counts.schema[by]
    schema = StructType(
        [StructField(by, key.dataType, key.nullable), StructField("probabilities", ArrayType(DoubleType()))]
    )
    return counts.mapInArrow(draw, schema).localCheckpoint(eager=True)


def _levels(domain: Domain) -> list[Any]:
    """Return the stated values, without the level for others."""
    return domain.levels[: len(domain) - domain.other]


def _is_level(frame: Any, column: str, level: Any) -> Any:
    from pyspark.sql import functions as sf

    if level is not None:
        return frame[column].eqNullSafe(sf.lit(level))
    is_number = frame.schema[column].dataType.typeName() in ("float", "double")
    return frame[column].isNull() | sf.isnan(frame[column]) if is_number else frame[column].isNull()
