"""At most so many rows of each person: the same ones on every engine, and nobody's by anybody else's."""

import datetime
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import simplexdp as sdp
from simplexdp.exceptions import InvalidDataError, InvalidParameterError
from simplexdp.frames import bound_rows, count_table, count_tables

DAY = datetime.date(2024, 1, 1)
DOMAINS = {"diagnosis": [*(f"d{code}" for code in range(1, 6)), None], "dose": [0.0, 0.25, 1.0], "old": [False, True]}
COLUMNS = ["diagnosis", "dose", "old"]


def visits(seed=1, n_rows=900, n_persons=150):
    """Messy rows: missing persons and diagnoses, text beyond ASCII, dates, fractions."""
    rng = np.random.default_rng(seed)
    persons = rng.integers(0, n_persons, n_rows)
    codes, doses = rng.integers(0, 6, n_rows), rng.integers(0, 3, n_rows)
    return {
        "patient": [None if person < 2 else f"pé{person}" for person in persons.tolist()],
        "number": persons.tolist(),
        "diagnosis": [f"d{code}" if code else None for code in codes.tolist()],
        "dose": [[0.0, 0.25, 1.0][code] for code in doses.tolist()],
        "old": (codes > doses).tolist(),
        "day": [DAY + datetime.timedelta(days=int(days)) for days in rng.integers(0, 200, n_rows)],
    }


def as_pandas(data):
    import pandas as pd

    return pd.DataFrame(data)


def as_polars(data):
    import polars as pl

    return pl.DataFrame(data)


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

    return dd.from_pandas(as_pandas(data), npartitions=3)


ENGINES = [dict, as_pandas, as_polars, as_polars_lazy, as_pyarrow, as_duckdb, as_dask]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("options", [{}, {"first_by": "day"}], ids=["drawn", "first"])
@pytest.mark.parametrize("unit", ["patient", "number"])
def test_a_seed_keeps_the_same_rows_on_every_engine(engine, unit, options):
    data = visits()
    expected = count_table(data, COLUMNS, DOMAINS, unit=unit, max_rows=3, seed=5, **options)
    found = count_table(engine(data), COLUMNS, DOMAINS, unit=unit, max_rows=3, seed=5, **options)
    assert np.array_equal(found, expected)
    _, rows = np.unique([str(person) for person in data[unit]], return_counts=True)
    assert expected.sum() == np.minimum(rows, 3).sum()


@pytest.mark.parametrize("options", [{}, {"first_by": "day"}], ids=["drawn", "first"])
def test_columns_whose_texts_are_their_values_are_bounded_alike_on_duckdb(options):
    data = visits(n_rows=2000)
    for columns in (["diagnosis"], ["old", "diagnosis"], ["old"]):
        for rows in (1, 4, 40):
            given = {"unit": "patient", "max_rows": rows, "seed": 9, **options}
            expected = count_table(data, columns, DOMAINS, **given)
            assert np.array_equal(count_table(as_duckdb(data), columns, DOMAINS, **given), expected)


def test_numbers_that_are_none_are_bounded_in_a_file_on_duckdb(tmp_path):
    """DuckDB cast each different value of a file's column to an integer, what is no number too, and showed it."""
    import duckdb
    import polars as pl

    odd = [np.nan, np.inf, -np.inf, 0.5, 3.0, 0.0, -1.25, 2.0**40]
    data = {"who": np.arange(400) // 8, "x": np.array(odd * 50)}
    pl.DataFrame(data).write_parquet(tmp_path / "odd.parquet")
    relation = duckdb.read_parquet(str(tmp_path / "odd.parquet"))
    for kind in ("double", "float"):
        found = bound_rows(relation.project(f"who, x::{kind} as x"), unit="who", max_rows=3, seed=2).fetchnumpy()
        expected = bound_rows({"who": data["who"], "x": data["x"].astype(kind)}, unit="who", max_rows=3, seed=2)
        rows = [
            sorted(zip(each["who"].tolist(), map(repr, each["x"].tolist()), strict=True)) for each in (found, expected)
        ]
        assert rows[0] == rows[1]


def test_a_relation_that_draws_its_rows_is_read_once():
    """Persons who have few rows in one look and many in the next would have more than may count."""
    import duckdb

    drawn = duckdb.sql("select (random() * 20)::int as person, 'eye' as ward from range(400)")
    for _ in range(5):
        assert count_table(drawn, ["ward"], {"ward": ["eye"]}, unit="person", max_rows=20).sum() <= 21 * 20


@pytest.mark.filterwarnings("ignore")  # pyspark's own deprecations
def test_spark_keeps_the_same_rows_too(spark):
    data = visits(n_rows=300, n_persons=50)
    frame = spark.createDataFrame(
        list(zip(*data.values(), strict=True)),
        "patient string, number bigint, diagnosis string, dose double, old boolean, day date",
    )
    for unit, options in (("patient", {}), ("number", {"first_by": "day"})):
        expected = count_table(data, COLUMNS, DOMAINS, unit=unit, max_rows=2, seed=5, **options)
        found = count_table(frame, COLUMNS, DOMAINS, unit=unit, max_rows=2, seed=5, **options)
        assert np.array_equal(found, expected)


@pytest.mark.parametrize("options", [{}, {"first_by": "day"}], ids=["drawn", "first"])
def test_a_person_who_leaves_moves_nobody_elses_rows(options):
    data = visits()
    whole = count_table(data, COLUMNS, DOMAINS, unit="number", max_rows=2, seed=3, **options)
    for person in range(0, 150, 10):
        others = [row for row, number in enumerate(data["number"]) if number != person]
        without = {name: [values[row] for row in others] for name, values in data.items()}
        less = count_table(without, COLUMNS, DOMAINS, unit="number", max_rows=2, seed=3, **options)
        assert np.all(less <= whole)
        assert (whole - less).sum() <= 2


def test_the_order_of_the_rows_does_not_matter():
    data = visits()
    order = np.random.default_rng(0).permutation(len(data["day"])).tolist()
    turned = {name: [values[row] for row in order] for name, values in data.items()}
    one, other = (count_table(each, COLUMNS, DOMAINS, unit="patient", max_rows=2, seed=8) for each in (data, turned))
    assert np.array_equal(one, other)


def test_the_first_rows_are_the_first():
    data = {"p": [1, 1, 1, 2, 2], "when": [3.0, 1.0, float("nan"), None, 5.0], "what": ["c", "a", "n", "n", "b"]}
    kept = count_table(data, ["what"], {"what": ["a", "b", "c", "n"]}, unit="p", max_rows=1, first_by="when")
    assert kept.tolist() == [1, 1, 0, 0]


def test_rows_of_a_person_are_kept_equally_often_without_a_seed():
    data = {"p": np.repeat(np.arange(4000), 5), "what": np.tile([0, 0, 0, 0, 1], 4000)}
    kept = count_table(data, ["what"], {"what": 2}, unit="p", max_rows=1)
    # Binomial(4000, 1/5): deviation 25.3; six of them are a false alarm in 5e8.
    assert abs(kept[1] - 800) < 152
    again = count_table(data, ["what"], {"what": 2}, unit="p", max_rows=1)
    assert not np.array_equal(kept, again) or kept[1] == again[1]


def test_persons_written_alike_are_one():
    data = {"p": np.array([1, 1.0, np.nan, None, "a", "".join("a")], dtype=object), "x": np.zeros(6, dtype=int)}
    assert count_table(data, ["x"], {"x": 1}, unit="p", max_rows=1).tolist() == [3]


def test_a_number_is_the_person_of_the_text_that_it_is_written_like():
    """What docs/persons.md says of values of several types."""
    alike = [
        [1, 1.0, Decimal("1.00"), Fraction(1), True, "1"],
        [0.5, Decimal("0.50"), Fraction(1, 2), "0.5"],
        [datetime.date(2024, 1, 31), "2024-01-31"],
    ]
    alone = ["1.0", "0.50", "True", "true", " 1"]
    persons = np.array([*(value for values in alike for value in values), *alone], dtype=object)
    counted = count_table({"p": persons, "x": np.zeros(len(persons), dtype=int)}, ["x"], {"x": 1}, unit="p", max_rows=1)
    assert counted.tolist() == [len(alike) + len(alone)]


def test_tables_of_one_call_count_the_same_rows():
    tables = count_tables(visits(), [["diagnosis"], ["dose", "old"]], DOMAINS, unit="patient", max_rows=2)
    assert tables[0].sum() == tables[1].sum()


@pytest.mark.parametrize("engine", ENGINES)
def test_frames_are_bounded_as_they_are(engine):
    data = visits()
    frame = engine(data)
    result = bound_rows(frame, unit="patient", max_rows=1, columns=["old", "dose"], seed=1)
    assert isinstance(result, type(frame))
    counted = count_table(result, ["old"], DOMAINS)
    assert counted.sum() == len(set(data["patient"]))


def test_arrays_are_bounded_by_their_columns():
    array = np.array([[1, 0], [1, 0], [1, 1], [2, 1]])
    assert bound_rows(array, unit=0, max_rows=1).shape == (2, 2)
    assert count_table(array, [1], {1: 2}, unit=0, max_rows=5).tolist() == [2, 2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"unit": "patient"}, "max_rows must be given with unit"),
        ({"max_rows": 2}, "max_rows must be None unless unit"),
        ({"unit": "patient", "max_rows": 0}, "max_rows must be an integer of at least 1"),
        ({"unit": "patient", "max_rows": 2**21}, r"max_rows must be at most 2\^20"),
        ({"unit": "patient", "max_rows": 2, "first_by": "patient"}, "first_by must be another column"),
        ({"unit": "patient", "max_rows": 2, "seed": -1}, "seed must be an integer of at least 0"),
        ({"unit": "nobody", "max_rows": 2}, "columns must exist in the frame"),
    ],
)
@pytest.mark.parametrize("engine", [dict, as_pandas, as_polars_lazy, as_duckdb])
def test_bad_arguments_are_named(engine, options, message):
    with pytest.raises(InvalidParameterError, match=message):
        count_table(engine(visits()), ["old"], DOMAINS, **options)


def test_an_order_of_values_of_several_kinds_is_refused_without_quoting_them():
    data = {"p": [1, 1], "x": [0, 0], "when": np.array(["secret", 3], dtype=object)}
    with pytest.raises(InvalidDataError, match="values of one kind") as refused:
        count_table(data, ["x"], {"x": 1}, unit="p", max_rows=1, first_by="when")
    assert "secret" not in str(refused.value)


def test_a_mechanism_for_persons_survives_copies_and_says_so():
    mechanism = sdp.DirichletMechanism(scale=0.1, prior=2.0, dimension=3, max_rows=3)
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
    assert "max_rows=3" in repr(mechanism)
    assert "max_rows=3" in mechanism.privacy.label


@pytest.mark.parametrize("options", [{"total": 50}, {"l2": 1.0, "linf": 1.0}, {"prior": 0.4, "max_rows": 4}], ids=str)
def test_what_a_mechanism_for_persons_cannot_have_is_refused(options):
    with pytest.raises(InvalidParameterError, match=r"max_rows|prior"):
        _ = sdp.DirichletMechanism(**{"scale": 0.1, "prior": 2.0, "dimension": 3, "max_rows": 3, **options}).privacy


@pytest.mark.parametrize("persons", [[], np.zeros(0, dtype=int)], ids=["list", "array"])
def test_nobody_has_no_rows(persons):
    assert count_table({"p": persons, "x": persons}, ["x"], {"x": 2}, unit="p", max_rows=1).tolist() == [0, 0]


def test_values_as_written_come_by_size_and_then_as_texts():
    from simplexdp.frames.persons import _as_written

    texts = ["10", "9", "b", "a", "-1", "nan", DAY]
    assert sorted(texts, key=_as_written) == ["-1", "9", "10", DAY, "a", "b", "nan"]


@pytest.mark.parametrize(
    ("low", "dtype"),
    [(0, "u1"), (-128, "i1"), (-(2**63), "i8"), (2**63 - 40, "i8"), (2**64 - 40, "u8"), (2**40, "i8"), (7, "u4")],
)
@pytest.mark.parametrize("spread", [1, 3, 1000])
def test_integers_that_lie_close_together_are_the_same_persons(low, dtype, spread):
    persons = np.random.default_rng(2).integers(0, 12, 200)
    top = np.iinfo(dtype).max - low
    numbers = [low + min(spread * int(person), top - 12 + int(person)) for person in persons]
    ward = np.random.default_rng(3).integers(0, 3, 200)
    tables = [
        count_table({"u": unit, "w": ward}, ["w"], {"w": 3}, unit="u", max_rows=4, seed=5)
        for unit in (np.array(numbers, dtype=dtype), np.array(list(map(str, numbers)), dtype=object))
    ]
    assert tables[0].sum() == 48
    np.testing.assert_array_equal(*tables)


@pytest.mark.parametrize("seed", [0, 2**63, 2**64 - 1])
def test_a_seed_is_any_word_of_a_generator(seed):
    rows = {"person": [1, 1, 2], "x": [1, 2, 3]}
    kept = bound_rows(rows, unit="person", max_rows=1, seed=seed)
    assert len(kept["x"]) == 2
    with pytest.raises(InvalidParameterError, match=r"seed must be at most 2\^64 - 1"):
        bound_rows(rows, unit="person", max_rows=1, seed=2**64)


HALF = "secret\udcff"
"""A text with half of a surrogate pair, which no UTF-8 holds."""


def as_pandas_objects(data):
    import pandas as pd

    return pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in data.items()})


@pytest.mark.parametrize("engine", [dict, as_pandas_objects, lambda data: {k: np.array(v) for k, v in data.items()}])
@pytest.mark.parametrize(
    ("data", "named"),
    [
        ({"p": [HALF, HALF, HALF, "b"], "x": ["q", "r", "q", "q"]}, "'p'"),
        ({"p": ["b", "b", "b", "b"], "x": ["q", HALF, "q", "q"]}, "'x'"),
    ],
)
def test_text_that_no_utf8_holds_is_refused_without_quoting_it(engine, data, named):
    for call in (bound_rows, lambda frame, **options: count_table(frame, ["x"], {"x": ["q", "r", HALF]}, **options)):
        with pytest.raises(InvalidDataError, match=f"column {named} must hold text that UTF-8 can hold") as refused:
            call(engine(data), unit="p", max_rows=2)
        error = refused.value
        while error is not None:
            assert "secret" not in f"{error} {error.args} {vars(error)} {getattr(error, 'object', '')}"
            error = error.__cause__ or error.__context__


def test_persons_beside_a_frame_are_called_so():
    model = sdp.models.PrivateCategoricalNB(categories=[2], classes=["x", "y"], max_rows=1)
    with pytest.raises(InvalidDataError, match="column 'persons' must hold text"):
        model.fit([[0], [1], [1]], ["x", "y", "y"], persons=np.array([HALF, HALF, HALF], dtype=object))


def odd_layouts():
    """A column of Arrow in layouts that most of its functions do not know, each with four rows."""
    import pyarrow as pa

    texts, words = pa.array(["q", "q", None, "r"]), pa.array(["q", None, "r"])

    def runs(values):
        return pa.RunEndEncodedArray.from_arrays([2, 3, 4], values)

    return {
        "views": texts.cast(pa.string_view()),
        "runs": runs(words),
        "runs of views": runs(words.cast(pa.string_view())),
        "runs of categories": runs(words.dictionary_encode()),
        "a part of runs": pa.RunEndEncodedArray.from_arrays([3, 4, 9], words).slice(1, 4),
    }


@pytest.mark.parametrize("layout", odd_layouts())
def test_views_and_runs_of_arrow_are_bounded(layout):
    import pyarrow as pa

    column = odd_layouts()[layout]
    true = [column.to_pylist().count(value) for value in ("q", "r", None)]
    domain = {"x": ["q", "r", None]}
    for parts in ([column], [column.slice(0, 1), column.slice(1)], [column.slice(0, 0), column]):
        frame = pa.table({"p": [1, 1, 2, 1], "x": pa.chunked_array(parts)})
        assert count_table(frame, ["x"], domain).tolist() == true
        assert count_table({"x": frame["x"]}, ["x"], domain).tolist() == true
        plain = pa.table({"p": [1, 1, 2, 1], "x": column.to_pylist()})
        for columns in (None, ["x"]):
            for unit in ("p", "x"):
                options = {"unit": unit, "max_rows": 1, "columns": columns, "seed": 4}
                result = bound_rows(frame, **options)
                assert isinstance(result, pa.Table)
                assert result.to_pydict() == bound_rows(plain, **options).to_pydict()


def test_bytes_in_views_are_bounded():
    import pyarrow as pa

    frame = pa.table({"p": [1, 1, 2], "x": pa.array([b"q", b"q", b"r"]).cast(pa.binary_view())})
    assert sorted(bound_rows(frame, unit="p", max_rows=1)["x"].to_pylist()) == [b"q", b"r"]
