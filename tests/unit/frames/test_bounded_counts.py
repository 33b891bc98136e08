"""Tables of bounded rows beside the rule written out row by row, which shares nothing with the core but its text."""

import datetime
import hashlib
from decimal import Decimal

import numpy as np
import pytest

from simplexdp.exceptions import InvalidDataError, NumericalError
from simplexdp.frames import Domain, bound_rows, count_table, count_tables
from simplexdp.sensitivity import weight_units

PRIME = 2**31 - 1


def number(text):
    return int(hashlib.md5(text.encode()).hexdigest()[:15], 16) % PRIME


def kept(persons, columns, max_rows, seed, order=None):
    """Return the kept combinations of texts, each with how many are kept of its person.

    `persons` and `columns` have the text of each value, ``n`` for none.
    """
    key, again = f"seed {seed}.", number(f"seed {seed}.again")
    found = []
    for person in sorted(set(persons)):
        rows = [row for row, text in enumerate(persons) if text == person]
        if len(rows) > max_rows:
            score, alike = {}, {}
            for row in rows:
                value = sum(number(f"{key}{i}{column[row]}") for i, column in enumerate(columns)) % PRIME
                place = (0 if order is None else order[row], value)
                alike[place] = alike.get(place, 0) + 1
                drawn = number(f"{key}u{person}") * ((value + alike[place] * again) % PRIME) % PRIME
                score[row] = (place[0], drawn)
            rows = sorted(rows, key=score.get)[:max_rows]
        found += [(tuple(column[row] for column in columns), len(rows)) for row in rows]
    return found


IDS = {
    "next to each other": lambda p: p - 20,
    "far apart": lambda p: p * 0x1234_5678_9ABC_DEF % 2**62 - 2**61,
    "many digits": lambda p: 2**63 - 1 - p,
    "unsigned": lambda p: np.uint64(2**64 - 1 - p),
    "doubles": lambda p: float(p),
    "half": lambda p: p / 2,
    "truth": lambda p: p > 11,
    "text": lambda p: f"pé {p}",
    "missing whole": lambda p: None if p == 3 else p,
    "missing text": lambda p: None if p == 3 else f"{p}",
    "decimals": lambda p: Decimal(p),
}


def text_of(value):
    if value is None:
        return "n"
    if isinstance(value, (bool, np.bool_)):
        return f"v{bool(value)}".lower()
    if isinstance(value, float) and not value.is_integer():
        return f"vf{int(np.floor(value * 2**20))}"
    return f"v{int(value)}" if isinstance(value, (float, np.uint64)) else f"v{value}"


def as_given(data):
    return data


def as_pandas(data):
    import pandas as pd

    return pd.DataFrame(data)


def as_polars_lazy(data):
    import polars as pl

    return pl.DataFrame(data, strict=False).lazy()


def as_duckdb(data):
    import duckdb
    import pyarrow as pa

    return duckdb.from_arrow(pa.table(data))


def as_dask(data):
    import dask.dataframe as dd

    return dd.from_pandas(as_pandas(data), npartitions=3)


@pytest.mark.parametrize("engine", [as_given, as_pandas, as_polars_lazy, as_duckdb, as_dask])
@pytest.mark.parametrize("name", list(IDS))
def test_tables_are_those_of_the_rule(name, engine):
    if engine in (as_duckdb, as_dask, as_polars_lazy) and name in ("unsigned", "decimals"):
        pytest.skip("frames have no such column, or another")
    rng = np.random.default_rng(5)
    n, levels, days = 300, ["a", "b", "ç"], rng.integers(0, 4, 300)
    persons = [IDS[name](int(p)) for p in rng.integers(0, 24, n)]
    if name == "next to each other" and engine is as_given:
        persons = np.array(persons, dtype=np.int8)
    ward, sight = [levels[c] for c in rng.integers(0, 3, n)], rng.integers(0, 2, n)
    frame = engine({"u": persons, "ward": ward, "sight": sight, "day": days})
    columns = [[f"v{w}" for w in ward], [f"v{s}" for s in sight]]
    for max_rows, options, order in ((3, {}, None), (12, {}, None), (2, {"first_by": "day"}, days.tolist())):
        units = weight_units(max_rows)
        expected, shared = np.zeros((2, 3, 2), dtype=np.int64)
        for (w, s), n in kept([text_of(p) for p in persons], columns, max_rows, 7, order):
            expected[levels.index(w[1:]), int(s[1:])] += 1
            shared[levels.index(w[1:]), int(s[1:])] += units // n
        given = {"unit": "u", "max_rows": max_rows, "seed": 7, **options}
        domains = {"ward": levels, "sight": 2}
        both, one = count_tables(frame, [["ward", "sight"], ["sight"]], domains, **given)
        np.testing.assert_array_equal(both, expected)
        np.testing.assert_array_equal(one, expected.sum(axis=0))
        weighted = count_table(frame, ["ward", "sight"], domains, **given, weighted=True)
        np.testing.assert_array_equal(weighted, shared)
        assert shared.sum() == units * len(set(map(text_of, persons)))


def test_a_value_outside_the_domain_counts_only_where_it_is_kept():
    data = {"u": [1, 1, 2], "x": ["a", "?", "a"], "day": [1, 2, 1]}
    for engine in (as_given, as_pandas, as_polars_lazy, as_duckdb, as_dask):
        given = {"unit": "u", "max_rows": 1, "first_by": "day"}
        assert count_table(engine(data), ["x"], {"x": ["a"]}, **given).tolist() == [2]
        assert count_table(engine(data), ["x"], {"x": ["a"]}, **given, weighted=True).tolist() == [2]
        with pytest.raises(InvalidDataError, match="'x' must hold values of its domain"):
            count_table(engine({**data, "day": [2, 1, 1]}), ["x"], {"x": ["a"]}, **given)


def test_columns_of_many_values_and_tables_of_many_cells_are_counted_alike():
    rng = np.random.default_rng(2)
    n = 80_000
    data = {"u": rng.integers(0, 20_000, n), "x": rng.permutation(n) / 8, "y": rng.integers(0, 900, n).astype(str)}
    domains = {"x": Domain([0.125, 7.5], other=True), "y": Domain([str(code) for code in range(900)])}
    for columns in (["x"], ["x", "y"], ["y"]):
        given = {"unit": "u", "max_rows": 2, "seed": 3}
        found = count_table(data, columns, domains, **given)
        rows = bound_rows(data, columns=columns, **given)
        np.testing.assert_array_equal(found, count_table(rows, columns, domains))
        assert found.sum() == np.minimum(np.bincount(data["u"]), 2).sum()


@pytest.mark.filterwarnings("ignore")  # pyspark's own deprecations
def test_spark_counts_in_tasks_what_the_rule_keeps_and_its_query_agrees(spark, monkeypatch):
    rng = np.random.default_rng(4)
    persons, codes = rng.integers(0, 40, 400), rng.integers(0, 3, 400)
    rows = [
        (int(p), None if p == 5 else f"{p}", -0.0 if p == 6 else float(p) / 4, "abc"[c])
        for p, c in zip(persons, codes, strict=True)
    ]
    frame = spark.createDataFrame(rows, "whole bigint, text string, part double, x string").repartition(5)
    for unit in ("whole", "text", "part"):
        given = {"unit": unit, "max_rows": 3, "seed": 1}
        expected = count_table(
            dict(zip(("whole", "text", "part", "x"), zip(*rows, strict=True), strict=True)),
            ["x"],
            {"x": list("abc")},
            **given,
        )
        # Zeros of either sign are one person.
        names = np.where(persons == 6, 0, persons) if unit == "part" else persons
        assert expected.sum() == np.minimum(np.bincount(names), 3).sum()
        found = [count_table(frame, ["x"], {"x": list("abc")}, **given)]
        with monkeypatch.context() as patched:
            patched.setattr("simplexdp.frames.spark_tasks.answers", lambda *_: {"no simplexdp"})
            with pytest.warns(UserWarning, match="no simplexdp"):
                found.append(count_table(frame, ["x"], {"x": list("abc")}, **given))
        for each in found:
            np.testing.assert_array_equal(each, expected)
    with pytest.raises(InvalidDataError, match="'x' must hold values of its domain"):
        count_table(frame, ["x"], {"x": ["a"]}, unit="whole", max_rows=3)


@pytest.mark.filterwarnings("ignore")  # pyspark's own deprecations
def test_rows_of_one_person_in_two_tasks_are_noticed(spark, monkeypatch):
    frame = spark.createDataFrame([(1, 0)] * 40, "u bigint, x bigint")
    dealt = type(frame).repartition
    monkeypatch.setattr(type(frame), "repartition", lambda frame, *_: dealt(frame, 4))
    with pytest.raises(NumericalError, match="rows of one person to two tasks"):
        count_table(frame, ["x"], {"x": 1}, unit="u", max_rows=1)


@pytest.mark.filterwarnings("ignore")  # pyspark's own deprecations
@pytest.mark.parametrize("options", [{}, {"first_by": "day"}], ids=["drawn", "first"])
def test_spark_gives_the_rows_of_the_rule_in_tasks_and_by_its_query(spark, monkeypatch, options):
    rng = np.random.default_rng(8)
    days = [datetime.date(2024, 1, 1 + int(day)) for day in rng.integers(0, 9, 300)]
    doses = [None if dose > 2 else float(dose) / 4 for dose in rng.integers(0, 4, 300)]
    rows = list(
        zip(rng.integers(0, 40, 300).tolist(), doses, days, rng.choice(["a", "b.c"], 300).tolist(), strict=True)
    )
    frame = spark.createDataFrame(rows, "`a.b` bigint, dose double, day date, x string").repartition(5)
    given = {"unit": "a.b", "max_rows": 3, "seed": 1, "columns": ["x", "dose"], **options}
    local = bound_rows(as_pandas(dict(zip(("a.b", "dose", "day", "x"), zip(*rows, strict=True), strict=True))), **given)
    expected = sorted(map(repr, local.astype(object).where(local.notna(), None).itertuples(index=False, name=None)))
    in_tasks = bound_rows(frame, **given)
    assert in_tasks.schema.simpleString() == "struct<x:string,dose:double>"
    assert sorted(repr(tuple(row)) for row in in_tasks.collect()) == expected
    assert "MapInArrow" in in_tasks._jdf.queryExecution().toString()
    monkeypatch.setattr("simplexdp.frames.spark_tasks.answers", lambda *_: {"no simplexdp"})
    by_query = bound_rows(frame, **given)
    assert sorted(repr(tuple(row)) for row in by_query.collect()) == expected
