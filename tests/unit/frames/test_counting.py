"""Every engine gives the same tables as counting by hand, with nulls, unseen values and mixed types."""

import contextlib
import datetime
import io
import itertools

import numpy as np
import pytest

import simplexdp as sdp
from simplexdp.frames import Domain, count_table, count_tables, lazy

COLUMNS = {"word": str, "code": int, "level": float, "flag": bool, "n": int}
# One column is called as the generated count might be; "flag" holds nulls; "word" holds values outside its domain.
DOMAINS = {
    "word": Domain(["a", "b"], other=True),
    "code": 5,
    "level": [0.5, 1.5, None],
    "flag": [None, False, True],
    "n": [3, 1, 2],
}
TABLES = [["word"], ["word", "code"], ["flag", "level"], ["n", "word", "flag"], ["code", "word"]]


def rows(n_rows=500):
    rng = np.random.default_rng(20240613)
    choices = {
        "word": ["a", "b", "b", "c", "", None],
        "code": [0, 1, 2, 3, 3],
        "level": [0.5, 1.5, None],
        "flag": [True, False, None],
        "n": [1, 2, 3],
    }
    picks = {name: rng.integers(0, len(values), n_rows) for name, values in choices.items()}
    return {name: [choices[name][i] for i in picks[name]] for name in choices}


def expected_code(column, value):
    if column == "word":
        return {"a": 0, "b": 1}.get(value, 2)
    if column == "code":
        return value
    return DOMAINS[column].index(value)


def expected(data, columns):
    table = np.zeros([DOMAINS[c] if isinstance(DOMAINS[c], int) else len(DOMAINS[c]) for c in columns], dtype=np.int64)
    for values in zip(*(data[column] for column in columns), strict=True):
        table[tuple(expected_code(c, v) for c, v in zip(columns, values, strict=True))] += 1
    return table


def as_mapping(data):
    return data


def as_object_arrays(data):
    return {name: np.array(values, dtype=object) for name, values in data.items()}


def as_pandas(data):
    import pandas as pd

    return pd.DataFrame(data)


def as_pandas_nullable(data):
    import pandas as pd

    types = {"word": "string", "code": "Int16", "level": "Float64", "flag": "boolean", "n": "uint8"}
    return pd.DataFrame({name: pd.array(values, dtype=types[name]) for name, values in data.items()})


def as_pandas_categorical(data):
    return as_pandas_nullable(data).astype({"word": "category"})


def as_polars(data):
    import polars as pl

    return pl.DataFrame(data)


def as_polars_nan(data):
    import polars as pl

    return as_polars(data).with_columns(pl.col("level").fill_null(float("nan")))


def as_polars_enum(data):
    import polars as pl

    return as_polars(data).with_columns(pl.col("word").cast(pl.Enum(["", "c", "b", "a"])))


def as_polars_lazy(data):
    return as_polars(data).lazy()


def as_pyarrow(data):
    import pyarrow as pa

    return pa.table(data)


def as_duckdb(data):
    import duckdb

    return duckdb.from_arrow(as_pyarrow(data))


def as_dask(data):
    import dask.dataframe as dd

    return dd.from_pandas(as_pandas_nullable(data), npartitions=3)


EAGER_AND_LAZY = [
    as_mapping,
    as_object_arrays,
    as_pandas,
    as_pandas_nullable,
    as_pandas_categorical,
    as_polars,
    as_polars_nan,
    as_polars_enum,
    as_polars_lazy,
    as_pyarrow,
    as_duckdb,
    as_dask,
]


@pytest.mark.parametrize("engine", EAGER_AND_LAZY)
def test_every_engine_counts_as_one_counts_by_hand(engine):
    data = rows()
    for columns, table in zip(TABLES, count_tables(engine(data), TABLES, DOMAINS), strict=True):
        np.testing.assert_array_equal(table, expected(data, columns))


@pytest.mark.parametrize("engine", EAGER_AND_LAZY)
def test_every_engine_gives_zeros_for_no_rows(engine):
    data = {name: values[:0] for name, values in rows().items()}
    if engine in (as_polars, as_polars_lazy, as_polars_nan, as_polars_enum):
        import polars as pl

        types = {"word": pl.String, "code": pl.Int64, "level": pl.Float64, "flag": pl.Boolean, "n": pl.Int64}
        frame = pl.DataFrame(data, schema=types)
        frame = frame.lazy() if engine is as_polars_lazy else frame
    elif engine in (as_duckdb, as_pyarrow):
        frame = engine(rows()).slice(0, 0) if engine is as_pyarrow else engine(rows()).limit(0)
    else:
        frame = engine(data)
    assert [table.sum() for table in count_tables(frame, TABLES, DOMAINS)] == [0] * len(TABLES)


@pytest.mark.parametrize("engine", [e for e in EAGER_AND_LAZY if e is not as_polars_enum])
@pytest.mark.parametrize(
    "column, domain", [("word", ["a", "b", "c", ""]), ("word", ["a", None]), ("code", 3), ("n", [1])]
)
def test_values_without_a_place_are_refused_without_being_quoted(engine, column, domain):
    with pytest.raises(sdp.InvalidDataError, match=r"column|codes") as caught:
        count_table(engine(rows()), [column], {column: domain})
    assert "'c'" not in str(caught.value)


def spark_frame(spark, data):
    schema = "word string, code int, level double, flag boolean, n long"
    return spark.createDataFrame(list(zip(*data.values(), strict=True)), schema)


@pytest.mark.filterwarnings("ignore")  # pyspark's own deprecations
def test_spark_counts_all_tables_in_one_job_and_partially_before_the_shuffle(spark):
    data = rows()
    frame = spark_frame(spark, data)
    tracker = spark.sparkContext.statusTracker()
    spark.sparkContext.setJobGroup("count", "count")
    tables = count_tables(frame, TABLES, DOMAINS)
    jobs = len(tracker.getJobIdsForGroup("count"))
    for columns, table in zip(TABLES, tables, strict=True):
        np.testing.assert_array_equal(table, expected(data, columns))
    # One query; adaptive execution runs its map stage and its result stage as jobs of their own.
    assert jobs <= 2

    plan = io.StringIO()
    with contextlib.redirect_stdout(plan):
        lazy._spark_query(frame, ["word", "code"], [["word"], ["code"]]).explain()
    before, _, after = plan.getvalue().partition("Exchange")
    assert "partial_count" in after
    assert "partial_count" not in before


@pytest.mark.filterwarnings("ignore")  # pyspark's own deprecations
def test_spark_takes_names_with_dots_and_backticks(spark):
    frame = spark.createDataFrame([(0, 1), (1, 1), (1, 1)], ["a.b", "a`b"])
    first, second = count_tables(frame, [["a.b"], ["a`b", "a.b"]], {"a.b": 2, "a`b": 2})
    assert first.tolist() == [1, 2]
    assert second.tolist() == [[0, 0], [1, 2]]


@pytest.mark.filterwarnings("ignore")  # pyspark's own deprecations
def test_spark_refuses_values_outside_the_domain(spark):
    with pytest.raises(sdp.InvalidDataError):
        count_table(spark_frame(spark, rows()), ["code"], {"code": 2})


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i4"])
def test_numpy_integers_of_every_size_are_counted(dtype):
    codes = np.array([[0, 2], [1, 0], [1, 2], [1, 2]]).astype(dtype)
    np.testing.assert_array_equal(count_table(codes, [0, 1], {0: 2, 1: 3}), [[0, 0, 1], [1, 0, 2]])
    np.testing.assert_array_equal(count_table(codes[::-1, ::-1], [1, 0], {0: 3, 1: 2}), [[0, 0, 1], [1, 0, 2]])


def test_more_columns_than_one_grouping_identifier_holds_are_counted_in_batches():
    import polars as pl

    names = [f"column {i}" for i in range(130)]
    frame = pl.DataFrame({name: [i % 2, 1] for i, name in enumerate(names)})
    relation = as_duckdb(frame.to_dict(as_series=False))
    tables = [[name, names[0]] for name in names[1:]]
    domains = dict.fromkeys(names, 2)
    counted = zip(count_tables(frame, tables, domains), count_tables(relation, tables, domains), strict=True)
    for from_frame, from_relation in counted:
        np.testing.assert_array_equal(from_frame, from_relation)


@pytest.mark.parametrize(
    "columns, domains, message",
    [
        ([], {}, "at least one column"),
        ("word", {"word": ["a"]}, "list of column names"),
        (["word", "word"], {"word": ["a"]}, "none twice"),
        (["word"], {}, "every counted column"),
        (["absent"], {"absent": 2}, "exist in the frame"),
        (["word"], {"word": []}, "at least one level"),
        (["word"], {"word": ["a", "a"]}, "every value once"),
        (["word"], {"word": "ab"}, "list of values or a cardinality"),
        (["word"], {"word": 0}, "at least one level"),
        (["word"], {"word": True}, "at least one level"),
        (["word"], [["a"]], "domains must map"),
    ],
)
@pytest.mark.parametrize("engine", [as_mapping, as_polars, as_polars_lazy, as_duckdb])
def test_bad_arguments_are_named(engine, columns, domains, message):
    with pytest.raises(sdp.InvalidParameterError, match=message):
        count_table(engine(rows()), columns, domains)


@pytest.mark.parametrize("frame", [None, 3, "file.csv", [[1, 2]]])
def test_what_is_not_a_frame_is_refused(frame):
    with pytest.raises(sdp.InvalidParameterError, match="frame must be"):
        count_table(frame, ["a"], {"a": 2})


def test_columns_of_different_length_are_refused():
    with pytest.raises(sdp.InvalidDataError, match="same length"):
        count_table({"a": [0, 1], "b": [0]}, ["a", "b"], {"a": 2, "b": 2})


@pytest.mark.parametrize("values", [np.array([1j]), np.array([[0], [1]]), np.array([[1], {}], dtype=object)[:1]])
def test_columns_that_are_no_categories_are_refused(values):
    with pytest.raises(sdp.InvalidDataError):
        count_table({"a": values}, ["a"], {"a": [0, 1]})


def test_a_table_that_cannot_be_held_is_refused():
    columns = [str(i) for i in range(40)]
    frame = {column: np.zeros(1, dtype=np.int8) for column in columns}
    with pytest.raises(sdp.NotAffordableError, match="cells"):
        count_table(frame, columns, dict.fromkeys(columns, 10))


def test_tables_of_one_call_agree_with_their_margins():
    data = rows()
    one, two, joint = count_tables(data, [["word"], ["flag"], ["word", "flag"]], DOMAINS)
    np.testing.assert_array_equal(joint.sum(axis=1), one)
    np.testing.assert_array_equal(joint.sum(axis=0), two)


def test_codes_do_not_depend_on_how_a_number_is_written():
    for values in itertools.permutations([1, 1.0, np.float32(1), np.int8(1), True], 2):
        assert count_table({"a": np.array(values, dtype=object)}, ["a"], {"a": [0, 1]}).tolist() == [0, 2]


NULLS = [None, float("nan"), "pandas.NA", "pandas.NaT", np.datetime64("NaT", "D")]


@pytest.mark.parametrize("null", NULLS, ids=map(str, NULLS))
@pytest.mark.parametrize("engine", ["mapping", "pandas", "dask"])
def test_missing_values_of_every_kind_are_one(engine, null):
    import pandas as pd

    null = {"pandas.NA": pd.NA, "pandas.NaT": pd.NaT}.get(null, null) if isinstance(null, str) else null
    data = {"a": np.array(["x", null, "x"], dtype=object)}
    frame = {"mapping": data, "pandas": pd.DataFrame(data)}.get(engine)
    if frame is None:
        import dask.dataframe as dd

        frame = dd.from_pandas(pd.DataFrame(data), npartitions=2)
    assert count_table(frame, ["a"], {"a": ["x", None]}).tolist() == [2, 1]
    with pytest.raises(sdp.InvalidDataError, match="missing"):
        count_table(frame, ["a"], {"a": ["x"]})


def as_dates_mapping(values):
    return {"a": np.array(values, dtype="M8[ns]")}


def as_dates_pandas(values):
    import pandas as pd

    return pd.DataFrame(as_dates_mapping(values))


def as_dates_dask(values):
    import dask.dataframe as dd

    return dd.from_pandas(as_dates_pandas(values), npartitions=2)


@pytest.mark.parametrize(
    "engine",
    [
        as_dates_mapping,
        as_dates_pandas,
        as_dates_dask,
        lambda values: as_polars({"a": values}),
        lambda values: as_polars_lazy({"a": values}),
        lambda values: as_pyarrow({"a": values}),
        lambda values: as_duckdb({"a": values}),
    ],
)
@pytest.mark.parametrize("kind", [lambda day: day, lambda day: np.datetime64(day, "ns")])
def test_times_are_counted_alike(engine, kind):
    days = [datetime.datetime(2020, 1, 1), datetime.datetime(2021, 5, 1, 12, 30)]
    values = [days[0], None, days[1], days[0]]
    assert count_table(engine(values), ["a"], {"a": [*map(kind, days), None]}).tolist() == [2, 1, 1]


@pytest.mark.parametrize("engine", [as_pandas, as_pyarrow, as_dask])
def test_frames_with_two_columns_of_one_name_are_refused(engine):
    import pandas as pd
    import pyarrow as pa

    frame = pd.DataFrame([[0, 1], [1, 1]], columns=["a", "a"])
    if engine is as_pyarrow:
        frame = pa.table([[0, 1], [1, 1]], names=["a", "a"])
    elif engine is as_dask:
        import dask.dataframe as dd

        frame = dd.from_pandas(frame, npartitions=1)
    with pytest.raises(sdp.InvalidParameterError, match="different names"):
        count_table(frame, ["a"], {"a": 2})


@pytest.mark.parametrize("name", ["n", "c0", "g", "literal", "len", 'a"b', "名前", "x" * 3000, "a b", "`q`", "{x}"])
@pytest.mark.parametrize("engine", [as_pandas, as_polars, as_polars_lazy, as_pyarrow, as_duckdb])
def test_names_of_columns_are_free(engine, name):
    table = count_table(engine({name: [0, 1, 1], "c1": [1, 1, 0]}), [name, "c1"], {name: 2, "c1": 2})
    assert table.tolist() == [[0, 1], [1, 1]]


@pytest.mark.parametrize(
    "domain, message",
    [
        ({"x", "y"}, "list of values or a cardinality"),
        ({"x": 1}, "list of values or a cardinality"),
        ([["x"], ["y"]], "scalars"),
        (2**70, "at most"),
        (np.float64(3), "list of values or a cardinality"),
    ],
)
def test_bad_domains_are_named(domain, message):
    with pytest.raises(sdp.InvalidParameterError, match=message):
        Domain(domain)


@pytest.mark.parametrize("domain", [np.array(["x", "y"]), ("x", "y"), {"x": 0, "y": 0}.keys()])
def test_any_sequence_is_a_domain(domain):
    assert Domain(domain).levels == ["x", "y"]
    assert len(Domain(np.int64(3))) == 3


@pytest.mark.parametrize("engine", [as_mapping, as_polars_lazy])
def test_a_table_that_cannot_be_held_is_refused_on_every_engine(engine):
    data = engine({"a": [0, 99_999], "b": [3, 4]})
    with pytest.raises(sdp.NotAffordableError, match="cells"):
        count_table(data, ["a", "b"], {"a": 10**5, "b": 10**5})
    assert count_table(data, ["a"], {"a": 10**5}).nonzero()[0].tolist() == [0, 99_999]


@pytest.mark.parametrize("value", [-1, 2, 200])
def test_codes_outside_the_domain_are_not_encoded(value):
    with pytest.raises(sdp.InvalidDataError, match="not shown"):
        sdp.frames.encode({"a": np.array([0, value])}, ["a"], {"a": 2})
