"""Grouped releases on Spark: counted with a partial aggregate, drawn where the groups are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from itertools import product
from operator import and_
from typing import Any

import numpy as np

from simplexdp.exceptions import InvalidParameterError
from simplexdp.frames import Domain, workers
from simplexdp.frames.spark_codes import code_of
from simplexdp.frames.spark_tasks import answers

__all__ = ["counted", "group_counts", "release_rows"]

SHARES = "probabilities"
"""The column that is released."""


def group_counts(frame: Any, column: str, by: Sequence[str], domain: Domain, groups: Any) -> Any:
    """Return one row for each public group: `by` and an array ``counts``; groups that do not occur have zeros.

    The groups are a data frame with the columns `by`, or a list for each of them, of which all combinations are groups.
    A record adds at most one to all counts together: it has one code, and its group is compared with values of the same
    types, of which each is there once.
    """
    from pyspark.sql import functions as sf

    for name in (column, *by):
        if frame.columns.count(name) != 1:
            raise InvalidParameterError(f"columns must exist in the frame, each once, got {name!r}")
    if SHARES in (name.lower() for name in by):  # to Spark names in capitals are the same
        raise InvalidParameterError(f"by must name columns other than {SHARES!r}, which is what is released")
    kinds = {name: frame.schema[name].dataType for name in (column, *by)}
    keys = [f"g{position}" for position in range(len(by))]
    public = _public_groups(frame.sparkSession, groups, {name: kinds[name] for name in by})
    # By position: a name may be read as more than a name.
    positions = [f"p{position}" for position in range(len(frame.columns))]
    names = {name: positions[frame.columns.index(name)] for name in (column, *by)}
    code = code_of(sf.col(names[column]), kinds[column], domain)
    coded = frame.toDF(*positions).select(
        *(sf.col(names[name]).alias(key) for name, key in zip(by, keys, strict=True)), code.alias("code")
    )
    counts = [sf.count(sf.when(sf.col("code") == position, 1)) for position in range(len(domain))]
    if not domain.other:
        # Spark evaluates this in every task; the message says nothing of the data.
        message = f"column {column!r} must hold values of its domain only, or the domain needs other=True"
        outside = sf.count(sf.when(sf.col("code") < 0, 1)) > 0
        counts[0] = sf.when(outside, sf.raise_error(sf.lit(message)).cast("bigint")).otherwise(counts[0])
    cells = [f"c{position}" for position in range(len(domain))]
    counted = coded.groupBy(*keys).agg(*(count.alias(cell) for count, cell in zip(counts, cells, strict=True)))
    same = reduce(and_, (public[key].eqNullSafe(counted[key]) for key in keys))
    return public.join(counted, same, "left").select(
        *(public[key].alias(name) for name, key in zip(by, keys, strict=True)),
        sf.array(*(sf.coalesce(sf.col(cell), sf.lit(0)) for cell in cells)).alias("counts"),
    )


def _public_groups(session: Any, groups: Any, kinds: Mapping[str, Any]) -> Any:
    """Return the groups as columns ``g0``, ``g1``, ... of these types, each group once."""
    from pyspark.errors import PySparkException
    from pyspark.sql import functions as sf
    from pyspark.sql.types import IntegralType, StructField, StructType

    if not hasattr(groups, "columns"):
        schema = StructType([StructField(f"g{place}", kind) for place, kind in enumerate(kinds.values())])
        try:
            return session.createDataFrame(list(product(*groups.values())), schema).distinct()
        except (PySparkException, TypeError, ValueError):
            stated = ", ".join(f"column {name!r}, which is {kind.simpleString()}" for name, kind in kinds.items())
            raise InvalidParameterError(f"groups must be values of the type of {stated}") from None
    wanted = []
    for place, (name, kind) in enumerate(kinds.items()):
        if groups.columns.count(name) != 1:
            raise InvalidParameterError(f"groups must have one column {name!r}")
        stated = groups.schema[name].dataType
        # Were they compared across types, several of them could be the same to Spark: text and numbers, say.
        if stated != kind and not (isinstance(stated, IntegralType) and isinstance(kind, IntegralType)):
            raise InvalidParameterError(
                f"groups must have the type of column {name!r}, which is {kind.simpleString()}, got "
                f"{stated.simpleString()}"
            )
        wanted.append(sf.col(f"p{groups.columns.index(name)}").cast(kind).alias(f"g{place}"))
    renamed = groups.toDF(*(f"p{index}" for index in range(len(groups.columns))))
    return renamed.select(*wanted).distinct()


def counted(counts: Any, checkpoint: str | None) -> Any:
    """Count now, before anything is paid for: what cannot be counted is refused here."""
    from pyspark.errors import PySparkException

    if checkpoint is not None:
        # There is no other way to ask whether a path exists on whatever file system that is.
        try:
            counts.sparkSession.read.format("binaryFile").load(checkpoint).isEmpty()
        except PySparkException as error:
            if "PATH_NOT_FOUND" not in str(error):
                raise
        else:
            raise InvalidParameterError(f"checkpoint must not exist yet, got {checkpoint!r}")
    kept = counts.persist()
    kept.write.format("noop").mode("overwrite").save()
    _check_workers(counts.sparkSession)
    return kept


def _check_workers(session: Any) -> None:
    import simplexdp

    workers.check_answers(simplexdp.__version__, answers(session, workers.NEEDED))


def release_rows(counts: Any, by: Sequence[str], mechanism: Any, checkpoint: str | None) -> Any:
    """Return `by` and an array `SHARES`, drawn in the task that holds the row.

    The result never hangs on the draw, or an executor that is lost would have it drawn again. A local checkpoint keeps
    it on the executors, and fails if one is lost; with a path it is stored there, and survives.
    """
    from pyspark.sql.types import ArrayType, DoubleType, StructField, StructType

    def draw(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            table = np.array(batch.column(len(by)).to_pylist(), dtype=np.int64).reshape(-1, mechanism.dimension)
            rows = mechanism.release(table) if len(table) else np.empty((0, mechanism.dimension))
            flat = pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), mechanism.dimension).cast(
                pa.list_(pa.float64())
            )
            yield pa.RecordBatch.from_arrays([*batch.columns[: len(by)], flat], names=names)

    keys = [counts.schema[name] for name in by]
    # A name may be read as more than a name.
    names = [f"g{position}" for position in range(len(by))] + [SHARES]
    shares = StructField(SHARES, ArrayType(DoubleType()))
    kept = [StructField(name, key.dataType, key.nullable) for name, key in zip(names, keys, strict=False)]
    schema = StructType([*(StructField(key.name, key.dataType, key.nullable) for key in keys), shares])
    drawn = counts.toDF(*names[:-1], "counts").mapInArrow(draw, StructType([*kept, shares])).toDF(*by, SHARES)
    try:
        if checkpoint is None:
            return drawn.localCheckpoint(eager=True)
        drawn.write.mode("errorifexists").parquet(checkpoint)
        return counts.sparkSession.read.schema(schema).parquet(checkpoint)
    finally:
        counts.unpersist()
