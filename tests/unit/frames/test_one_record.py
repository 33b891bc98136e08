"""One record adds at most one to all counts of a table together, whatever the types of columns and levels are."""

import datetime
import itertools
from decimal import Decimal

import numpy as np
import pytest

import simplexdp as sdp
from simplexdp.frames import Domain, count_table, count_tables
from simplexdp.frames.spark_codes import code_of
from simplexdp.models import dask as on_dask
from simplexdp.models import spark as on_spark

DAY, TIME = datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1, 3)
# A value, the type of its column in Spark, and levels of which at most one equals it: some engine compares them all.
HOSTILE = [
    (1, "int", ["1", "01", " 1", 1]),
    (1, "bigint", ["1", "01", " 1"]),
    (2**53 + 1, "bigint", [float(2**53), str(2**53), 2**53 + 1]),
    (1, "tinyint", [257, "1", 1]),
    (True, "boolean", ["true", "t", "yes", "1", True]),
    (True, "boolean", ["true", 1, 0]),
    (DAY, "date", ["2020-01-01", "2020-1-1", datetime.datetime(2020, 1, 1), DAY]),
    (TIME, "timestamp", ["2020-01-01 03:00:00", "2020-01-01T03:00", DAY, TIME]),
    (TIME, "timestamp_ntz", ["2020-01-01 03:00:00", DAY, TIME]),
    (datetime.timedelta(1), "interval day to second", ["1", 1, datetime.timedelta(1)]),
    ("1", "string", [1, 1.5, "01", "1"]),
    ("A", "string", ["a", "A", "A "]),
    ("a", "string collate UTF8_LCASE", ["A", "a"]),
    (0.5, "double", ["0.5", "0.50", 0.5]),
    (0.5, "float", ["0.5", 0.1, Decimal("0.1"), 0.5]),
    (float("inf"), "double", ["Infinity", "inf", float("inf")]),
    (float("nan"), "double", ["NaN", 0.0, None]),
    (None, "string", ["None", "null", None]),
    (Decimal("1.50"), "decimal(10,2)", ["1.50", "1.5", 1.5]),
    (b"a", "binary", ["a", b"a"]),
]


def in_a_list(value):
    return {"g": [0], "a": [value]}


def in_an_array(value):
    return {"g": np.array([0]), "a": np.array([value])}


def in_pandas(value):
    import pandas as pd

    return pd.DataFrame(in_a_list(value))


def in_pandas_objects(value):
    import pandas as pd

    return pd.DataFrame({"g": [0], "a": pd.Series([value], dtype=object)})


def in_polars(value):
    import polars as pl

    return pl.DataFrame(in_a_list(value))


def lazily_in_polars(value):
    return in_polars(value).lazy()


def in_pyarrow(value):
    import pyarrow as pa

    return pa.table(in_a_list(value))


def in_duckdb(value):
    import duckdb

    return duckdb.from_arrow(in_pyarrow(value))


def in_dask(value):
    import dask.dataframe as dd

    return dd.from_pandas(in_pandas(value), npartitions=1)


ENGINES = [
    in_a_list,
    in_an_array,
    in_pandas,
    in_pandas_objects,
    in_polars,
    lazily_in_polars,
    in_pyarrow,
    in_duckdb,
    in_dask,
]


def assert_counted_once(counts, levels, value):
    """Expect one in the level that equals the value, or in that for others."""
    missing = value is None or value != value
    equal = [level is None if missing else level == value for level in levels]
    expected = [*map(int, equal), int(not any(equal))]
    assert list(counts) == expected


@pytest.mark.parametrize("engine", ENGINES)
def test_a_record_has_one_level(engine):
    for value, _, levels in HOSTILE:
        domains = {"a": Domain(levels, other=True), "g": 1}
        table = count_table(engine(value), ["g", "a"], domains)
        if engine is in_dask:  # which turns objects to text
            assert table.sum() == 1
        else:
            assert_counted_once(table[0].tolist(), levels, value)


@pytest.mark.filterwarnings("ignore")  # pyspark's own deprecations
def test_a_record_has_one_level_on_spark(spark):
    """All values in one record: every job takes a while."""
    names = [f"a{position}" for position in range(len(HOSTILE))]
    domains = {name: Domain(levels, other=True) for name, (_, _, levels) in zip(names, HOSTILE, strict=True)}
    kinds = ", ".join(f"{name} {kind}" for name, (_, kind, _) in zip(names, HOSTILE, strict=True))
    frame = spark.createDataFrame([tuple(value for value, _, _ in HOSTILE)], kinds)
    codes = [code_of(frame[name], frame.schema[name].dataType, domains[name]) for name in names]
    (row,) = frame.select(*codes).collect()
    for code, table, (value, _, levels) in zip(
        row, count_tables(frame, [[name] for name in names], domains), HOSTILE, strict=True
    ):
        assert_counted_once(table.tolist(), levels, value)
        assert code == np.argmax(table)


@pytest.mark.filterwarnings("ignore")  # pyspark's own deprecations
def test_a_record_has_one_group_on_spark(spark):
    domain = Domain(["x"], other=True)

    def counts(value, kind, groups):
        frame = spark.createDataFrame([(value, "x")], f"g {kind}, a string")
        stated = {"g": groups} if isinstance(groups, list) else groups
        return [row["counts"][0] for row in on_spark.group_counts(frame, "a", ["g"], domain, stated).collect()]

    assert counts(1, "int", spark.createDataFrame([(1,), (1,), (2,)], "g bigint")).count(1) == 1
    assert counts("a", "string collate UTF8_LCASE", ["a", "A"]) == [1]
    assert counts(0.0, "double", [0.0, -0.0]) == [1]
    assert counts(None, "int", [None, 1]).count(1) == 1
    texts = spark.createDataFrame([("1",), ("01",)], "g string")
    for value, kind, groups in [(1, "int", texts), (DAY, "date", texts), (1, "int", ["1", "01"])]:
        with pytest.raises(sdp.InvalidParameterError, match=r"groups must .* the type of column 'g'"):
            counts(value, kind, groups)


@pytest.mark.filterwarnings("ignore")  # pyspark's own deprecations
def test_group_counts_take_names_with_dots_and_backticks(spark):
    frame = spark.createDataFrame([("u", "x"), ("v", "y")], "`a.b` string, `c``d` string")
    counted = on_spark.group_counts(frame, "c`d", ["a.b"], Domain(["x", "y"]), {"a.b": ["u", "v"]}).collect()
    assert {row["a.b"]: row["counts"] for row in counted} == {"u": [1, 0], "v": [0, 1]}


@pytest.mark.filterwarnings("ignore:Merging dataframes:UserWarning")
def test_a_record_has_one_group_on_dask():
    import dask
    import dask.dataframe as dd
    import pandas as pd

    def objects(*values):
        return pd.Series(values, dtype=object)

    def counts(values, groups):
        frame = dd.from_pandas(pd.DataFrame({"g": values, "a": ["x"] * len(values)}), npartitions=2)
        groups = dd.from_pandas(pd.DataFrame({"g": groups}), npartitions=1)
        counted = on_dask.group_counts(frame, "a", ["g"], Domain(["x"], other=True), groups).compute()
        return counted["g 0"].tolist()

    missing = objects(None, float("nan"), pd.NA)
    for convert in (True, False):
        with dask.config.set({"dataframe.convert-string": convert}):
            assert counts(pd.Series([None], dtype="string"), missing) == [1]
            assert sum(counts(objects(1, True), objects(1, True, 1.0))) <= 2
    assert counts(np.array([1, 2], dtype=np.int32), np.array([1, 1, 2], dtype=np.int64)) == [1, 1]
    for values, groups in itertools.permutations([np.array([2**53, 2**53 + 1]), np.array([2.0**53]), ["a"]], 2):
        with pytest.raises(sdp.InvalidParameterError, match="groups must have the type of column 'g'"):
            counts(values, groups)


def test_a_collation_of_duckdb_names_no_group_after_another_record():
    import duckdb

    connection = duckdb.connect()
    connection.execute("create table t (a varchar collate nocase)")
    connection.execute("insert into t values ('A'), ('a'), ('a')")
    table = connection.table("t")
    assert count_table(table, ["a"], {"a": ["a", "A"]}).tolist() == [2, 1]
    assert count_table(table.limit(2), ["a"], {"a": ["a", "A"]}).tolist() == [1, 1]


@pytest.mark.filterwarnings("ignore")  # pyspark's own deprecations
def test_a_collation_of_spark_names_no_group_after_another_record(spark):
    frame = spark.createDataFrame([("A",), ("a",), ("a",)], "a string collate UTF8_LCASE")
    assert count_table(frame, ["a"], {"a": ["a", "A"]}).tolist() == [2, 1]
