"""Codes of columns of every type, against looking each value up by hand."""

import datetime
import decimal
import traceback

import numpy as np
import pytest

from simplexdp.exceptions import InvalidDataError, InvalidParameterError
from simplexdp.frames import Domain, count_table, count_tables, encode
from simplexdp.frames.distinct import distinct_of_array
from simplexdp.frames.source import BLOCK

RNG = np.random.default_rng(20261118)
N_ROWS = 400
NANOSECOND = np.datetime64("2026-01-01T00:00:00.000000001")
NANS = np.array([0x7FF8000000000000, 0x7FF8000000000001, 0xFFF8000000000000], dtype=np.uint64).view(float)


def by_hand(column, domain):
    """Code of each value, looked up one after the other."""
    return [domain.code(value, "a") for value in column]


ARRAYS = {
    "int8": (np.array([-128, 0, 127], dtype=np.int8), [-128, 0, 127]),
    "uint16": (np.array([0, 40_000, 65_535], dtype=np.uint16), [0, 40_000, 65_535]),
    "int32, other byte order": (np.array([1, 256, -1], dtype=">i4"), [1, 256, -1]),
    "int64": (np.array([-(2**63), 2**63 - 1, 5]), [-(2**63), 2**63 - 1, 5]),
    "uint64": (np.array([2**64 - 1, 0], dtype=np.uint64), [2**64 - 1, 0]),
    "bool": (np.array([True, False]), [False, True]),
    "float16": (np.array([0.5, 2.0], dtype=np.float16), [0.5, 2.0]),
    "both zeros": (np.array([0.0, -0.0, 1.0]), [0, 1]),
    "NaN with every payload": (np.array([1.5, *NANS]), [None, 1.5]),
    "longdouble": (np.array([1, 2], dtype=np.longdouble), [1.0, 2.0]),
    "text": (np.array(["", "a", "ab", "a long text that is no multiple of eight"]), None),
    "text, only empty": (np.array([""]), [""]),
    "bytes": (np.array([b"x", b"", b"yes"]), None),
    "dates": (np.array(["2026-01-01", "2026-02-01"], dtype="M8[D]"), None),
    "nanoseconds": (np.array([NANOSECOND, "2026-01-01"], dtype="M8[ns]"), None),
    "not a time": (np.array(["NaT", "2026-02-01"], dtype="M8[s]"), [datetime.datetime(2026, 2, 1), None]),
    "durations": (np.array([3, 4], dtype="m8[h]"), None),
    "objects": (np.array([1, "1", 2.5, None, np.nan, b"1", decimal.Decimal("0.1")], dtype=object), None),
}


@pytest.mark.parametrize("kind", ARRAYS)
def test_arrays_of_every_type(kind):
    values, levels = ARRAYS[kind]
    if levels is None:
        levels = [value for value in values.tolist() if value == value] if values.dtype.kind == "O" else list(values)
    domain = Domain(levels)
    column = values[np.concatenate([np.arange(len(values)), RNG.integers(0, len(values), N_ROWS)])]
    expected = by_hand(column if values.dtype.kind in "mM" else column.tolist(), domain)
    wide = np.stack([column[::-1], column], axis=1)
    for source in (column, wide[:, 1], wide[::-1, 0], np.repeat(column, 3)[::3]):
        np.testing.assert_array_equal(encode({"a": source}, ["a"], {"a": domain})[0], expected)
    with_other = Domain(levels[:1], other=True)
    np.testing.assert_array_equal(
        encode({"a": column}, ["a"], {"a": with_other})[0],
        by_hand(column if values.dtype.kind in "mM" else column.tolist(), with_other),
    )


def test_texts_that_are_equal_but_not_the_same_object():
    for n_levels in (3, 150, N_ROWS):
        column = np.array([f"level {i % n_levels}" for i in range(N_ROWS)], dtype=object)
        domain = Domain([f"level {i}" for i in range(n_levels)])
        np.testing.assert_array_equal(encode({"a": column}, ["a"], {"a": domain})[0], np.arange(N_ROWS) % n_levels)


def test_missing_objects_that_are_each_their_own():
    import pandas as pd

    nulls = [float("nan") for _ in range(N_ROWS)]
    column = np.array([*nulls, None, pd.NA, pd.NaT, np.float64("nan"), "x"], dtype=object)
    expected = [*[1] * (N_ROWS + 4), 0]
    np.testing.assert_array_equal(encode({"a": column}, ["a"], {"a": ["x", None]})[0], expected)
    levels, _ = distinct_of_array(column, "a")
    assert len(levels) == 2


@pytest.mark.parametrize("n_rows", [3, 2 * N_ROWS])
@pytest.mark.parametrize("value", [[1], {1: 2}, np.array([1, 2]), {3}])
def test_objects_that_are_no_scalars(value, n_rows):
    column = np.empty(n_rows, dtype=object)
    for row in range(n_rows):  # each its own object, so that addresses do not help
        column[row] = float(row)
    column[-1] = value
    for domain in (Domain([0.0]), Domain([0.0], other=True), Domain([None, 0.0], other=True)):
        with pytest.raises(InvalidDataError, match="column 'a' must hold scalars"):
            encode({"a": column}, ["a"], {"a": domain})
        with pytest.raises(InvalidDataError, match="column 'a' must hold scalars"):
            encode({"a": np.repeat(column, 2)[-4:]}, ["a"], {"a": domain})


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (7, 4), (BLOCK, 3), (2 * BLOCK + 5, 6)])
@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.float32, ">i4", object])
def test_matrices_in_both_orders(shape, dtype):
    matrix = RNG.integers(0, 5, shape).astype(dtype)
    domains = dict.fromkeys(range(shape[1]), 5)
    for columns in (list(range(shape[1])), [shape[1] - 1]):
        for source in (matrix, np.asfortranarray(matrix), np.repeat(matrix, 2, axis=0)[::2], matrix[:, ::-1][:, ::-1]):
            for column, codes in zip(columns, encode(source, columns, domains), strict=True):
                np.testing.assert_array_equal(codes, matrix[:, column].astype(int))


def pandas_columns():
    import pandas as pd

    words = ["b", "a", "b", None]
    yield pd.Series(words, dtype=object), words
    yield pd.Series(words, dtype="str"), words
    yield pd.Series(words, dtype="category"), words
    yield pd.Series(words, dtype="string[pyarrow]"), words
    yield pd.Series([3, 1, None, 3], dtype="Int64"), [3, 1, None, 3]
    yield pd.Series([3, 1, None, 3]), [3, 1, None, 3]
    yield pd.Series(pd.Categorical([3, 1, 3, None], categories=[7, 3, 1])), [3, 1, 3, None]
    yield pd.Series(pd.Categorical([True, False, None])), [True, False, None]
    yield pd.Series([True, False, True]), [True, False, True]
    yield pd.Series([True, None, False], dtype=object), [True, None, False]
    times = [datetime.datetime(2026, 1, 1), None, datetime.datetime(2026, 2, 1)]
    yield pd.Series(times), times
    zone = [datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)] * 2
    yield pd.Series(zone), zone
    mixed = [1, "1", None, 2.5, float("nan")]
    yield pd.Series(mixed, dtype=object), mixed
    yield pd.Series([], dtype="category"), []
    yield pd.Series([], dtype=object), []


def test_pandas_columns_of_every_type():
    import pandas as pd

    for series, values in pandas_columns():
        levels = list(dict.fromkeys(value for value in values if value is not None and value == value))
        domain = Domain([*levels, None])
        frame = pd.DataFrame({"a": series, "b": 1})
        frame.index = frame.index[::-1]
        np.testing.assert_array_equal(
            encode(frame, ["a"], {"a": domain})[0], by_hand(values, domain), err_msg=f"{series.dtype}"
        )


def test_pandas_columns_of_lists():
    import pandas as pd

    with pytest.raises(InvalidDataError, match="column 'a' must hold scalars"):
        encode(pd.DataFrame({"a": [[1], [2]]}), ["a"], {"a": ["x"]})


@pytest.mark.parametrize("words", [["b", "a", None, "b", "c"], ["b", "a", "b"], [None, None], []])
def test_categories_that_engines_number(words):
    import polars as pl
    import pyarrow as pa

    domain = Domain([None, "c", "b", "a"])
    expected = by_hand(words, domain)
    text = pa.array(words, type=pa.string())
    # Parts that number their words each in their own way.
    parts = pa.chunked_array([text.dictionary_encode(), text[::-1].dictionary_encode(), text[:0].dictionary_encode()])
    both = pa.chunked_array([text, text], type=pa.string())
    repeated = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3]), pa.array(["a", "a", None, "b"]))
    in_enum = pl.Series(words, dtype=pl.Enum(["a", "x", "b", "c"]))
    cases = [
        (pl.DataFrame({"a": pl.Series(words, dtype=pl.Categorical)}), expected),
        (pl.DataFrame({"a": in_enum}), expected),
        (pl.DataFrame({"a": pl.concat([in_enum, in_enum], rechunk=False)}), expected * 2),
        (pa.table({"a": parts}), expected + expected[::-1]),
        (pa.table({"a": both}), expected * 2),
        (pa.table({"a": pa.chunked_array([], type=pa.string())}), []),
        (pa.table({"a": pa.chunked_array([], type=pa.dictionary(pa.int32(), pa.string()))}), []),
        (pa.table({"a": repeated}), [3, 3, 0, 2]),
        (pa.table({"a": pa.array(words, type=pa.large_string())}), expected),
    ]
    for frame, codes in cases:
        np.testing.assert_array_equal(encode(frame, ["a"], {"a": domain})[0], codes, err_msg=f"{frame}")


@pytest.mark.parametrize("missing", [False, True])
def test_arrow_texts_in_slices_of_several_parts(missing):
    import pandas as pd
    import pyarrow as pa

    rng = np.random.default_rng(5)
    # Lengths around the two words that short texts are compared by; texts that differ in one place alone.
    words = ["", "a", "b", "a\0", "1234567", "12345678", "x" * 16, "x" * 17, "y" + "x" * 16, "é" * 9, "日本" * 20]
    levels = [*words, None] if missing else words
    values = [levels[i] for i in rng.integers(0, len(levels), 3000)]
    domain = Domain([*words[::-1], None])
    parts = [pa.array(values[start : start + 700], type=pa.large_string()) for start in range(0, 3000, 700)]
    for kind in (pa.string(), pa.large_string()):
        column = pa.chunked_array([part.cast(kind) for part in parts])
        for start, stop in ((0, 3000), (3, 2990), (699, 1401), (1405, 1406), (20, 20)):
            expected = by_hand(values[start:stop], domain)
            frame = pa.table({"a": column.slice(start, stop - start)})
            np.testing.assert_array_equal(encode(frame, ["a"], {"a": domain})[0], expected)
    series = pd.Series(values, dtype="str")
    for rows in (slice(None), slice(13, 2000), slice(None, None, -3)):
        frame = pd.DataFrame({"a": series.iloc[rows]})
        np.testing.assert_array_equal(encode(frame, ["a"], {"a": domain})[0], by_hand(values[rows], domain))


def test_integers_near_and_far_from_the_first_one():
    rng = np.random.default_rng(6)
    for dtype in (np.int64, np.uint64, np.int32, np.uint32, np.float64):
        near = rng.integers(5, 13, 5000).astype(dtype)
        for far in (0, 100, 2**31 - 7):
            values = np.concatenate([near, near[:50] + np.array(far, dtype), near])
            levels = np.unique(values)[::-1].tolist()
            codes = encode({"a": values}, ["a"], {"a": levels})[0]
            np.testing.assert_array_equal(np.array(levels, dtype=dtype)[codes], values)


def test_categories_that_are_no_text_keep_their_type():
    import pyarrow as pa

    numbers = pa.array([3, 1, 3]).dictionary_encode()
    np.testing.assert_array_equal(encode(pa.table({"a": numbers}), ["a"], {"a": [1, 3]})[0], [1, 0, 1])


def test_numbers_of_engines_with_and_without_missing_ones():
    import polars as pl
    import pyarrow as pa

    for values in ([2.5, -0.0, 1e300], [2.5, None, float("nan")], [1, 2, 3], [1, None, 3], [True, False], [None, True]):
        levels = list(dict.fromkeys(value for value in values if value is not None and value == value))
        domain = Domain([*levels, None])
        for frame in (pl.DataFrame({"a": values}, strict=False), pa.table({"a": values})):
            np.testing.assert_array_equal(encode(frame, ["a"], {"a": domain})[0], by_hand(values, domain))


# Columns that were once miscounted or failed --------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [int, "U3", object, "M8[D]", "M8[ns]", float])
def test_masked_values_are_missing(dtype):
    data = np.array([0, 1, 1, 2] * 50).astype(dtype)
    mask = np.array([0, 0, 1, 0] * 50, dtype=bool)
    domain = Domain([*data[[0, 1, 3]], None])
    expected = np.array([0, 1, 3, 2] * 50)
    both = np.ma.masked_array(np.stack([data, data], axis=1), np.stack([mask, mask], axis=1))
    for frame, column in (({"a": np.ma.masked_array(data, mask)}, "a"), (both, 1)):
        np.testing.assert_array_equal(encode(frame, [column], {column: domain})[0], expected)
    if dtype is int:
        with pytest.raises(InvalidDataError, match="no missing value"):
            count_table({"a": np.ma.masked_array(data, mask)}, ["a"], {"a": 3})
        np.testing.assert_array_equal(count_table({"a": np.ma.masked_array(data)}, ["a"], {"a": 3}), [50, 100, 50])


def test_lists_lose_nothing_on_their_way():
    np.testing.assert_array_equal(encode({"a": ["x\0", "x"]}, ["a"], {"a": ["x", "x\0"]})[0], [1, 0])
    with pytest.raises(InvalidDataError):
        encode({"a": [2**63 + 1, -1]}, ["a"], {"a": [2**63, -1]})
    # Padded to the longest the texts would take 10 GB.
    long = ["a"] * 200_000 + ["b" * 12_500]
    np.testing.assert_array_equal(count_table({"a": long}, ["a"], {"a": Domain(["a"], other=True)}), [200_000, 1])


def test_series_in_a_mapping_are_read_as_in_a_frame():
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    values = [2**53 + 1, None, 2**53]
    for series in (pl.Series(values), pa.array(values), pa.chunked_array([values]), pd.Series(values, dtype="Int64")):
        np.testing.assert_array_equal(encode({"a": series}, ["a"], {"a": [2**53, 2**53 + 1, None]})[0], [1, 2, 0])
    day = datetime.datetime(2020, 1, 1)
    for unit in ("ns", "us", "ms"):
        for series in (pl.Series([day]).cast(pl.Datetime(unit)), pa.array([day], type=pa.timestamp(unit))):
            np.testing.assert_array_equal(encode({"a": series}, ["a"], {"a": [day]})[0], [0])


@pytest.mark.parametrize("n_repeats", [1, 400])
def test_a_date_is_not_the_midnight_it_begins_with(n_repeats):
    import pandas as pd

    values = [np.datetime64("2020-01-01", "D"), np.datetime64("2020-01-01T00", "h")]
    column = np.empty(2 * n_repeats, dtype=object)
    column[:] = [value.astype(value.dtype) for _ in range(n_repeats) for value in values]
    domain = Domain([datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1)])
    for frame in ({"a": column}, pd.DataFrame({"a": pd.Series(column, dtype=object)})):
        np.testing.assert_array_equal(encode(frame, ["a"], {"a": domain})[0], [0, 1] * n_repeats)


def test_a_domain_of_days_says_that_it_has_no_times_and_the_other_way_round():
    day, time = datetime.date(2026, 1, 1), datetime.datetime(2026, 1, 1)
    days, times = np.array([day], dtype="M8[D]"), np.array([time], dtype="M8[ns]")
    for values, listed, said in ((times, day, "days, and a time is none: list times"), (days, time, "list days")):
        with pytest.raises(InvalidDataError, match=said) as error:
            encode({"a": values}, ["a"], {"a": Domain([listed])})
        assert "2026" not in str(error.value)
    with pytest.raises(InvalidDataError) as error:
        encode({"a": times}, ["a"], {"a": Domain(["2026-01-01"])})
    assert str(error.value).endswith("(the offending value is not shown)")


def test_times_finer_than_microseconds_are_no_integers_and_no_rounded_times():
    import dask.dataframe as dd
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    values = np.array([1, 2, 1000], dtype="M8[ns]")
    second = pd.DataFrame({"a": values})
    engines = [
        {"a": values},
        second,
        pl.DataFrame({"a": values}),
        pl.LazyFrame({"a": values}),
        pa.table({"a": pa.array(values)}),
        dd.from_pandas(second, npartitions=2),
    ]
    for frame in engines:
        exact = Domain([np.datetime64(1, "ns"), datetime.datetime(1970, 1, 1, 0, 0, 0, 1)], other=True)
        np.testing.assert_array_equal(count_table(frame, ["a"], {"a": exact}), [1, 1, 1])
        rounded = Domain([datetime.datetime(1970, 1, 1), 1], other=True)
        np.testing.assert_array_equal(count_table(frame, ["a"], {"a": rounded}), [0, 0, 3])
    months = np.array([1, 12], dtype="m8[M]")
    np.testing.assert_array_equal(
        encode({"a": months}, ["a"], {"a": Domain([np.timedelta64(1, "Y")], other=True)})[0], [1, 0]
    )


def times_and_decimals():
    import polars as pl

    zone = datetime.timezone.utc
    yield [datetime.datetime(1987, 6, 5), None], [pl.Datetime("ms"), pl.Datetime("us"), pl.Datetime("ns")]
    yield [datetime.datetime(1987, 6, 5, tzinfo=zone)], [pl.Datetime(unit, "UTC") for unit in ("ms", "us", "ns")]
    yield [datetime.timedelta(hours=3), None], [pl.Duration("ms"), pl.Duration("us"), pl.Duration("ns")]
    yield [datetime.date(1987, 6, 5), None], [pl.Date]
    yield [datetime.time(1, 2, 3), None], [pl.Time]
    yield [decimal.Decimal("1234.50"), None], [pl.Decimal(10, 2), pl.Decimal(38, 4)]
    if hasattr(pl, "Int128"):
        yield [2**100, None, 2**53], [pl.Int128]
    yield [b"x\0", None], [pl.Binary]
    yield [None, None], [pl.Null]


def test_polars_columns_of_every_type():
    import polars as pl

    for values, types in times_and_decimals():
        present = list(dict.fromkeys(value for value in values if value is not None))
        domain = Domain([None, *present])
        expected = by_hand(values, domain)
        for dtype in types:
            frame = pl.DataFrame({"a": pl.Series(values, dtype=dtype)})
            np.testing.assert_array_equal(encode(frame, ["a"], {"a": domain})[0], expected, err_msg=str(dtype))
            counts = np.bincount(expected, minlength=len(domain))
            np.testing.assert_array_equal(count_table(frame.lazy(), ["a"], {"a": domain}), counts, err_msg=str(dtype))
            if hasattr(pl, "Int128") and dtype == pl.Int128:  # unknown there
                continue
            arrow = frame.to_arrow()
            np.testing.assert_array_equal(encode(arrow, ["a"], {"a": domain})[0], expected, err_msg=f"{arrow.schema}")


def test_engine_columns_that_are_no_scalars_or_of_rare_types():
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    dictionary = pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    null_words = pa.DictionaryArray.from_arrays(pa.array([0, 1, None], pa.int8()), pa.nulls(2))
    parts = [pa.array(["a", None, "b"]).dictionary_encode("encode"), pa.array(["b", None]).dictionary_encode("encode")]
    cases = [
        (pd.DataFrame({"a": pd.Series(["a", None, "b"], dtype=dictionary)}), [0, 2, 1]),
        (pa.table({"a": null_words}), [2, 2, 2]),
        (pa.table({"a": pa.chunked_array(parts)}), [0, 2, 1, 1, 2]),
        (pa.table({"a": pa.array(["a", None, "b"], pa.string_view())}), [0, 2, 1]),
        (pa.table({"a": pa.chunked_array([], type=pa.dictionary(pa.int32(), pa.date32()))}), []),
    ]
    for frame, expected in cases:
        np.testing.assert_array_equal(encode(frame, ["a"], {"a": ["a", "b", None]})[0], expected)
    big = pa.array([2**63 + 5, None], pa.uint64())
    np.testing.assert_array_equal(encode(pa.table({"a": big}), ["a"], {"a": [None, 2**63 + 5]})[0], [1, 0])
    half = pa.array([np.float16(0.5), None], pa.float16())
    np.testing.assert_array_equal(encode(pa.table({"a": half}), ["a"], {"a": [None, 0.5]})[0], [1, 0])
    sparse = pd.DataFrame({"a": pd.arrays.SparseArray(np.arange(3000) % 2000)})
    np.testing.assert_array_equal(encode(sparse, ["a"], {"a": 2000})[0], np.arange(3000) % 2000)
    lists = [[1], [2]]
    for frame in (
        pa.table({"a": lists}),
        pa.table({"a": pa.array([{"x": 1}])}),
        pl.DataFrame({"a": lists}),
        pl.DataFrame({"a": [{"x": 1}]}),
        pl.DataFrame({"a": pl.Series(lists, dtype=pl.Array(pl.Int64, 1))}),
        pl.DataFrame({"a": pl.Series(lists, dtype=pl.Object)}),
        pd.DataFrame({"a": pd.Series(lists, dtype=pd.ArrowDtype(pa.list_(pa.int64())))}),
    ):
        with pytest.raises(InvalidDataError, match="must hold scalars"):
            encode(frame, ["a"], {"a": Domain([1], other=True)})


def test_an_object_that_quotes_itself_is_not_quoted():
    class Loud:
        def __hash__(self):
            raise TypeError("the secret is 1234")

    for n_rows in (1, 300):
        column = np.array([Loud() for _ in range(n_rows)], dtype=object)
        with pytest.raises(InvalidDataError) as found:
            encode({"a": column}, ["a"], {"a": ["x"]})
        shown = traceback.format_exception(found.value)
        # Names of folders are random, and lines have numbers.
        assert "1234" not in "".join(line for line in shown if not line.startswith("  File"))


def test_names_that_engines_take_for_patterns():
    import duckdb
    import polars as pl

    columns = {"^b$": [0, 0, 0], "b": [1, 1, 1], "*": [0, 1, 1], "a.b": [1, 0, 0], "a`b": [1, 1, 0]}
    for frame in (pl.LazyFrame(columns), pl.DataFrame(columns), duckdb.from_arrow(pl.DataFrame(columns).to_arrow())):
        for name, values in columns.items():
            np.testing.assert_array_equal(count_table(frame, [name], {name: 2}), np.bincount(values, minlength=2))
    with pytest.raises(InvalidParameterError, match="different names"):
        count_table(duckdb.sql("select 0 as b, 1 as b"), ["b"], {"b": 2})


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_matrices_and_memory_of_every_kind():
    np.testing.assert_array_equal(count_table(np.matrix([[0, 1], [1, 0]]), [0], {0: 2}), [1, 1])
    unaligned = np.zeros(41, np.uint8)[1:].view("i8")
    np.testing.assert_array_equal(count_table({"a": unaligned}, ["a"], {"a": 2}), [5, 0])
    if not hasattr(np.dtypes, "StringDType"):
        return  # it came with NumPy 2
    text = np.array(["a", "b", "a"], dtype=np.dtypes.StringDType())
    np.testing.assert_array_equal(count_table({"a": text}, ["a"], {"a": ["a", "b"]}), [2, 1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: count_table({"a": [0]}, [["a"]], {"a": 2}), "columns must be a list of column names"),
        (lambda: count_tables({"a": [0]}, 5, {"a": 2}), "tables must be"),
        (lambda: count_table({"a": 5}, ["a"], {"a": 2}), "column 'a' must be one-dimensional"),
        (lambda: count_table({"a": None}, ["a"], {"a": 2}), "column 'a' must be one-dimensional"),
        (lambda: Domain(3, other="x"), "other must be True or False"),
        (lambda: Domain(3, other=2), "other must be True or False"),
        (lambda: count_table(np.zeros((2, 2), int), [True], {True: 2}), "columns must lie in"),
        (lambda: count_table({"age": np.array([0, 77])}, ["age"], {"age": 3}), "column 'age' must hold values"),
        (lambda: count_table({i: [0] for i in range(70)}, list(range(70)), dict.fromkeys(range(70), 1)), "at most 32"),
        (lambda: encode({"a": [0], "b": [0, 1]}, ["a", "b"], {"a": 2, "b": 2}), "same length"),
    ],
)
def test_what_used_to_fail_without_a_name(call, message):
    with pytest.raises((InvalidDataError, InvalidParameterError), match=message):
        call()


def test_a_signalling_nan_is_missing():
    signal = decimal.Decimal("sNaN")
    assert Domain([1, None]).code(signal, "a") == 1


def test_frames_of_narwhals_are_taken_as_they_are():
    import narwhals as nw
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    columns = {"a": [0, 1, 1]}
    for native in (pd.DataFrame(columns), pl.DataFrame(columns), pl.LazyFrame(columns), pa.table(columns)):
        for frame in (nw.from_native(native), nw.from_native(native).lazy()):
            np.testing.assert_array_equal(count_table(frame, ["a"], {"a": 2}), [1, 2])


def test_objects_of_which_some_are_equal_to_pandas_only():
    import pandas as pd

    day = [datetime.date(2020, 1, 1), np.datetime64("2020-01-01", "D"), pd.Timestamp("2020-01-01")]
    domain = Domain([datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1)])
    for order in ([0, 1, 2], [2, 1, 0]):
        values = [day[i] for i in order]
        frame = pd.DataFrame({"a": pd.Series(values, dtype=object)})
        np.testing.assert_array_equal(encode(frame, ["a"], {"a": domain})[0], by_hand(values, domain))
