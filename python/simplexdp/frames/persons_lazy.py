"""At most so many rows of each person, as a query: what `persons` does, in Polars, Dask, DuckDB and Spark."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from simplexdp import _core
from simplexdp.exceptions import InvalidParameterError
from simplexdp.frames.canonical import FINEST, LARGEST, NULL, WHOLE
from simplexdp.frames.duckdb_names import quoted

if TYPE_CHECKING:
    from simplexdp.frames.persons import Bound

__all__ = ["PLACES", "bounded_lazily", "is_exact", "persons_together", "spark_dealt"]

_DIGITS = 15
"""Hexadecimal digits of a digest that are used, as in the compiled core."""

PLACES = 1 << 12
"""Into which persons are dealt on Spark: many for each task, and few to tell of."""


def bounded_lazily(frame: Any, bound: Bound, columns: list[Any], sharing: str | None = None) -> Any:
    """Return a query for these columns of a narwhals LazyFrame, with at most so many rows of each person.

    `sharing` names one more column, for how many rows were kept of the row's person.
    """
    import narwhals as nw

    known = frame.collect_schema().names()
    missing = [column for column in bound.columns(columns) if column not in known]
    if missing:
        raise InvalidParameterError(f"columns must exist in the frame, got {missing!r}")
    implementation, native = frame.implementation, frame.to_native()
    if implementation.is_polars():
        return nw.from_native(_polars(native, bound, columns, sharing))
    if implementation.is_dask():
        return nw.from_native(_dask(native, bound, columns, sharing))
    if implementation.is_duckdb():
        return nw.from_native(_duckdb(native, bound, columns, sharing))
    if implementation.is_pyspark() or implementation.is_pyspark_connect():
        return nw.from_native(_spark(native, bound, columns, sharing))
    raise InvalidParameterError(f"unit is for Polars, Dask, DuckDB and Spark among lazy frames, got {implementation}")


def _polars(frame: Any, bound: Bound, columns: list[str], sharing: str | None) -> Any:
    from polars import Int64, selectors

    schema = frame.collect_schema()

    def keep(part: Any) -> Any:
        return _local(part, bound, columns, sharing)

    # By name, letter for letter: `select` takes some names for patterns.
    needed = frame.select(selectors.by_name(*bound.columns(columns)))
    return needed.map_batches(
        keep,
        # A filter that went before the bound would let more rows of a person through it.
        predicate_pushdown=False,
        projection_pushdown=False,
        slice_pushdown=False,
        schema={name: schema[name] for name in columns} | ({} if sharing is None else {sharing: Int64}),
    )


def _local(part: Any, bound: Bound, columns: list[Any], sharing: str | None) -> Any:
    import narwhals as nw

    from simplexdp.frames.persons import bounded

    return bounded(nw.from_native(part, eager_only=True), bound, columns, sharing=sharing).to_native()


def _dask(frame: Any, bound: Bound, columns: list[Any], sharing: str | None) -> Any:
    from simplexdp.frames.dask_workers import check_workers

    check_workers()
    needed = frame[bound.columns(columns)]
    together = persons_together(needed, bound.unit)
    meta = (
        needed._meta[columns]
        if sharing is None
        else needed._meta[columns].assign(**{sharing: 0}).astype({sharing: "int64"})
    )
    return together.map_partitions(_local, bound, columns, sharing, meta=meta)


def persons_together(needed: Any, unit: Any) -> Any:
    """Return the frame with all rows of a person in one partition.

    Dask's own digests differ for values that are one person: 1 and 1.0 in two partitions, zeros of either sign.
    """
    if needed.npartitions == 1:
        return needed
    place = "".join(["person", *map(str, needed.columns)])  # longer than any name of the frame

    def placed(part: Any) -> Any:
        import narwhals as nw

        from simplexdp.frames.persons import places_of

        return part.assign(**{place: places_of(nw.from_native(part[unit], series_only=True), unit)})

    meta = needed._meta.assign(**{place: np.zeros(0, dtype=np.int64)})
    return needed.map_partitions(placed, meta=meta).shuffle(on=[place])[list(needed.columns)]


def _duckdb(relation: Any, bound: Bound, columns: list[str], sharing: str | None) -> Any:
    """Persons with few rows keep them; rows of others get a place by two numbers, which of alike rows and its score.

    Rows are read once: a relation that draws them would give every look other ones. Texts are hashed once for each
    different value, and rows that are alike are counted before they are placed, where equal text is equal value.
    """
    names = list(relation.columns)
    kinds = dict(zip(names, map(str, relation.types), strict=True))
    modulus, again = _core.keyed_modulus(), int(_core.keyed_numbers(bound.key, ["again"])[0])
    counted = [f"c{position}" for position in range(len(columns))]
    kept, exact = ", ".join(counted), all(is_exact(kinds[name]) for name in columns)

    def number(prefix: str, name: str, value: str) -> str:
        digest = f"md5(concat('{bound.key}{prefix}', coalesce('v' || {_duckdb_text(value, kinds[name])}, '{NULL}')))"
        return f"(('0x' || substr({digest}, 1, {_DIGITS}))::bigint % {modulus})"

    person = _duckdb_plain(quoted(bound.unit), kinds[bound.unit])
    order = "0" if bound.first_by is None else _duckdb_plain(quoted(bound.first_by), kinds[bound.first_by])
    inner = "".join(f"{quoted(name)} as {short}, " for name, short in zip(columns, counted, strict=True))
    tables = [
        f"""n{position} as materialized (
          select {short} as c, {number(str(position), name, short)} as v from (select distinct {short} from rows)
        ),"""
        for position, (name, short) in enumerate(zip(columns, counted, strict=True))
    ]
    joined = " ".join(
        f"join n{position} on n{position}.c is not distinct from m.c{position}" for position in range(len(columns))
    )
    value = f"({' + '.join(f'n{position}.v' for position in range(len(columns)))}) % {modulus}"
    alike = (
        f"select m.*, {value} as v, unnest(range(1, n + 1)) as a from m {joined}"
        if exact
        else f"select m.*, {value} as v, row_number() over (partition by u, o, {value}) as a from m {joined}"
    )
    few = "rows anti join many on rows.u is not distinct from many.u"
    if sharing is not None:
        few = f"""rows join (select u, count(*) as n from rows group by u having count(*) <= {bound.max_rows}) few
          on rows.u is not distinct from few.u"""
    sql = f"""
        with rows as materialized (select {inner}{person} as u, {order} as o from rows_of_persons),
        many as materialized (
          select u, {number("u", bound.unit, "u")} as h
          from (select u from rows group by u having count(*) > {bound.max_rows})
        ),
        {" ".join(tables)}
        m as (
          select rows.*, many.h, {"count(*) as n" if exact else "1 as n"}
          from rows join many on rows.u is not distinct from many.u {"group by all" if exact else ""}
        ),
        alike as ({alike}),
        placed as (
          select {kept}, row_number() over (
            partition by u order by o nulls last, h * ((v + a % {modulus} * {again}) % {modulus}) % {modulus}
          ) as place from alike
        )
        select {kept}{", few.n as shared" if sharing else ""} from {few}
        union all select {kept}{f", {bound.max_rows} as shared" if sharing else ""}
        from placed where place <= {bound.max_rows}
    """
    renamed = ", ".join(f"{short} as {quoted(name)}" for name, short in zip(columns, counted, strict=True))
    renamed += "" if sharing is None else f", shared as {quoted(sharing)}"
    return relation.query("rows_of_persons", f"select {renamed} from ({sql})")


def is_exact(kind: str) -> bool:
    """Whether different values of a type have different texts."""
    return kind in ("BOOLEAN", "VARCHAR", "DATE") or kind.endswith("INT") or kind.endswith("INTEGER")


def _duckdb_plain(name: str, kind: str) -> str:
    """Return the values with what is not a number as missing, and texts letter by letter."""
    if kind in ("FLOAT", "DOUBLE"):
        return f"case when isnan({name}) then null else {name} end"
    return f'{name} collate "binary"' if kind == "VARCHAR" else name


def _duckdb_text(name: str, kind: str) -> str:
    if kind in ("FLOAT", "DOUBLE"):
        x = f"{name}::double"
        # Of columns that a file holds by their different values DuckDB 2 casts all of these, chosen by the case or not.
        return (
            f"case when isnan({x}) then null "
            f"when {x} = floor({x}) and abs({x}) < {WHOLE} then try_cast({x} as bigint)::varchar "
            f"when abs({x}) < {LARGEST} then 'f' || try_cast(floor({x} * {FINEST}) as bigint)::varchar "
            f"when {x} > 0 then 'large' when {x} < 0 then '-large' end"
        )
    if kind.startswith("TIMESTAMP"):
        return f"epoch_us({name})::varchar"
    return f'{name}::varchar collate "binary"' if kind == "VARCHAR" else f"{name}::varchar"


def _spark(frame: Any, bound: Bound, columns: list[str], sharing: str | None) -> Any:
    """By the core in tasks, where they can; by a query for half the speed elsewhere."""
    from pyspark.sql.types import StringType

    from simplexdp.frames.spark_tasks import are_plain, can_count

    needed, known = bound.columns(columns), list(frame.columns)
    # By position: a name may be read as more than a name.
    positions = [f"p{position}" for position in range(len(known))]
    selected = frame.toDF(*positions).select(*(positions[known.index(column)] for column in needed))
    # Texts come back from tasks without a collation of theirs.
    plain = all(not isinstance(each.dataType, StringType) or each.dataType == StringType() for each in selected.schema)
    if plain and are_plain(selected.schema) and can_count(frame.sparkSession):
        return _spark_in_tasks(selected, needed, bound, columns, sharing)
    return _spark_query(frame, bound, columns, sharing)


def _spark_in_tasks(selected: Any, needed: list[str], bound: Bound, columns: list[str], sharing: str | None) -> Any:
    """Return what tasks keep of the rows of their persons; the columns of `selected` are those that are needed."""
    from pyspark.sql.types import LongType, StructField, StructType

    names = list(selected.columns)
    named = dict(zip(needed, names, strict=True))
    wanted, shared = [named[column] for column in columns], None if sharing is None else "n"
    own = replace(bound, unit=named[bound.unit], first_by=None if bound.first_by is None else named[bound.first_by])

    def kept(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        held = list(batches)
        if held:
            found = _local(pa.Table.from_batches(held).select(names), own, wanted, shared)
            yield from found.combine_chunks().to_batches()

    fields = [StructField(name, selected.schema[name].dataType) for name in wanted]
    beside = [] if shared is None else [StructField(shared, LongType())]
    found = spark_dealt(selected, own.unit).mapInArrow(kept, StructType([*fields, *beside]))
    return found.toDF(*columns, *([] if sharing is None else [sharing]))


def spark_dealt(selected: Any, unit: str) -> Any:
    """Return the frame with all rows of a person in one task, and a last column, ``place``, of the person."""
    from pyspark.sql import functions as sf

    person = spark_plain(selected[unit], selected.schema[unit].dataType)
    return selected.withColumn("place", sf.pmod(sf.hash(person), sf.lit(PLACES)).cast("int")).repartition("place")


def _spark_query(frame: Any, bound: Bound, columns: list[str], sharing: str | None) -> Any:
    from pyspark.sql import Window
    from pyspark.sql import functions as sf

    names = list(frame.columns)
    # By position: a name may be read as more than a name.
    renamed = frame.toDF(*(f"p{position}" for position in range(len(names))))
    kinds = {name: renamed.schema[f"p{position}"].dataType for position, name in enumerate(names)}
    column = {name: sf.col(f"p{position}") for position, name in enumerate(names)}
    modulus, again = _core.keyed_modulus(), int(_core.keyed_numbers(bound.key, ["again"])[0])

    def number(prefix: str, values: Any, kind: Any) -> Any:
        text = sf.coalesce(sf.concat(sf.lit("v"), _spark_text(values, kind)), sf.lit(NULL))
        digest = sf.md5(sf.encode(sf.concat(sf.lit(bound.key + prefix), text), "UTF-8"))
        return sf.conv(sf.substring(digest, 1, _DIGITS), 16, 10).cast("bigint") % modulus

    # Rows are read once and brought together by person once: windows of finer parts find them there.
    shorts = {name: f"c{position}" for position, name in enumerate(columns)}
    order = sf.lit(0) if bound.first_by is None else spark_plain(column[bound.first_by], kinds[bound.first_by])
    rows = renamed.select(
        *(column[name].alias(short) for name, short in shorts.items()),
        spark_plain(column[bound.unit], kinds[bound.unit]).alias("u"),
        order.alias("o"),
    ).withColumn("n", sf.count(sf.lit(1)).over(Window.partitionBy("u")))
    # Digests are for the rows of persons with too many alone.
    many = sf.col("n") > bound.max_rows
    values = [
        number(str(position), sf.col(short), kinds[name]) for position, (name, short) in enumerate(shorts.items())
    ]
    value = sum(values, sf.lit(0).cast("bigint")) % modulus
    person = number("u", sf.col("u"), kinds[bound.unit])
    scored = rows.withColumn("v", sf.when(many, value)).withColumn("h", sf.when(many, person))
    alike = sf.row_number().over(Window.partitionBy("u", "o", "v").orderBy(sf.lit(0))).cast("bigint")
    score = sf.col("h") * ((sf.col("v") + alike % modulus * again) % modulus) % modulus
    first = Window.partitionBy("u").orderBy(sf.col("o").asc_nulls_last(), sf.col("s"))
    placed = scored.withColumn("s", score).withColumn("place", sf.row_number().over(first))
    kept = placed.where(sf.col("place") <= bound.max_rows)
    size = sf.least(sf.col("n"), sf.lit(bound.max_rows)).cast("bigint")
    beside = [] if sharing is None else [size.alias(sharing)]
    return kept.select(*(sf.col(short).alias(name) for name, short in shorts.items()), *beside)


def spark_plain(column: Any, kind: Any) -> Any:
    """Return the values with what is not a number as missing, one zero, and texts letter by letter."""
    from pyspark.sql import functions as sf
    from pyspark.sql.types import DoubleType, FloatType

    from simplexdp.frames.spark_codes import plain_text

    if isinstance(kind, (DoubleType, FloatType)):
        # A shuffle, unlike a window, tells zeros of either sign apart.
        return sf.when(sf.isnan(column), None).when(column == 0, sf.lit(0.0).cast(kind)).otherwise(column)
    return plain_text(column, kind)


def _spark_text(column: Any, kind: Any) -> Any:
    from pyspark.sql import functions as sf
    from pyspark.sql import types as st

    from simplexdp.frames.spark_codes import plain_text

    if isinstance(kind, (st.DoubleType, st.FloatType)):
        x = column.cast("double")
        return (
            sf.when(sf.isnan(x), None)
            .when((x == sf.rint(x)) & (sf.abs(x) < float(WHOLE)), x.cast("bigint").cast("string"))
            .when(sf.abs(x) < LARGEST, sf.concat(sf.lit("f"), sf.floor(x * FINEST).cast("bigint").cast("string")))
            .when(x > 0, "large")
            .when(x < 0, "-large")
        )
    if isinstance(kind, st.TimestampType):
        return sf.unix_micros(column).cast("string")
    return plain_text(column, kind).cast("string")
