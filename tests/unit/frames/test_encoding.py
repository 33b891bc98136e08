"""Codes of columns of every type, against looking each value up by hand."""

import datetime
import decimal

import numpy as np
import pytest

from simplexdp.exceptions import InvalidDataError
from simplexdp.frames import Domain, encode
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
