"""Means and quantiles of groups of several columns: one price, exact sums, the same on every engine."""

import itertools

import numpy as np
import pytest

from simplexdp import hierarchy, numeric
from simplexdp.exceptions import InvalidDataError, InvalidParameterError
from simplexdp.sensitivity import of_counts
from simplexdp.testing import SeededRng

pytestmark = pytest.mark.filterwarnings("ignore")  # of seeds, and pyspark's own deprecations

RNG = np.random.default_rng(5)
N = 1200
PEOPLE = {
    "patient": RNG.integers(0, 500, N),
    "ward": np.array(["eye", "ear", "toe"])[RNG.integers(0, 3, N)],
    "sex": np.array(["f", "m"])[RNG.integers(0, 2, N)],
    "age": np.round(RNG.gamma(4.0, 10.0, N), 1),
    "visit": np.arange(N),
}
GROUPS = {"ward": ["ear", "eye", "toe"], "sex": ["f", "m"]}
GIVEN = {"bounds": (0, 120), "by": ["ward", "sex"], "groups": GROUPS}
PERSONS = {"unit": "patient", "max_rows": 2, "first_by": "visit"}


def pandas(table, spark=None):
    import pandas as pd

    return pd.DataFrame(table)


def polars(table, spark=None):
    import polars as pl

    return pl.LazyFrame(table)


def duckdb(table, spark=None):
    return pytest.importorskip("duckdb").from_df(pandas(table))


def dask(table, spark=None):
    return pytest.importorskip("dask.dataframe").from_pandas(pandas(table), npartitions=4)


def on_spark(table, request):
    spark = request.getfixturevalue("spark")
    rows = list(zip(*(np.asarray(column).tolist() for column in table.values()), strict=True))
    kinds = "patient bigint, ward string, sex string, age double, visit bigint"
    return spark.createDataFrame(rows, kinds).repartition(3)


ENGINES = [pandas, polars, duckdb, dask, on_spark]


def each_group(values=PEOPLE["age"]):
    for ward, sex in itertools.product(*GROUPS.values()):
        yield values[(PEOPLE["ward"] == ward) & (PEOPLE["sex"] == sex)]


@pytest.mark.parametrize("whose", [{}, PERSONS], ids=["records", "persons"])
@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_gives_the_same_means_and_quantiles(engine, whose, request):
    frame = engine(PEOPLE, request)
    for release, more in ((numeric.mean, {}), (numeric.quantiles, {"levels": [0.25, 0.5, 0.9], "delta": 1e-6})):
        given = {**GIVEN, **whose, **more, "epsilon": 1.0}
        expected = release(PEOPLE, "age", rng=SeededRng(3), **given)
        found = release(frame, "age", rng=SeededRng(3), **given)
        assert np.array_equal(found.estimate, expected.estimate)
        assert np.array_equal(found.interval(0.9), expected.interval(0.9))
        assert found.groups == GROUPS
        assert found.privacy.unit == (None if not whose else "patient")


@pytest.mark.parametrize("engine", [dask, on_spark])
def test_hierarchies_are_counted_where_the_data_are(engine, request):
    given = {"column": "sex", "domain": ["f", "m"], "epsilon": 1.0, **PERSONS}
    places = hierarchy.Hierarchy.from_mapping(["wing", "ward"], {"left": ["eye", "ear"], "right": ["toe"]})
    expected = hierarchy.release(PEOPLE, places, rng=SeededRng(4), **given)
    found = hierarchy.release(engine(PEOPLE, request), places, rng=SeededRng(4), **given)
    for one, other in zip(found.integers(), expected.integers(), strict=True):
        assert np.array_equal(one, other)


def test_with_a_large_budget_they_are_those_of_the_groups():
    mean = numeric.mean(PEOPLE, "age", epsilon=1e4, **GIVEN)
    expected = np.array([np.clip(values, 0, 120).mean() for values in each_group()]).reshape(3, 2)
    assert mean.estimate == pytest.approx(expected, abs=1e-2)
    assert mean.counts == pytest.approx(np.array([len(values) for values in each_group()]).reshape(3, 2), abs=0.1)
    found = numeric.quantiles(PEOPLE, "age", [0.1, 0.5], epsilon=1e4, **GIVEN)
    expected = np.array([np.quantile(values, [0.1, 0.5]) for values in each_group()]).reshape(3, 2, 2)
    # Two bins, and half of the gap between two of about 200 values.
    assert found.estimate == pytest.approx(expected, abs=1.2)
    assert found.count == pytest.approx(np.array([len(values) for values in each_group()]).reshape(3, 2), abs=1)


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("delta", [None, 1e-6])
def test_intervals_of_quantiles_cover_in_every_group(adjacency, delta):
    """600 intervals of 90 %, from 100 draws of six groups: 40 failures more than 60 have a chance below 1e-6."""
    truth = np.array([np.quantile(np.clip(values, 0, 120), 0.5, method="inverted_cdf") for values in each_group()])
    missed = 0
    for seed in range(100):
        found = numeric.quantiles(
            PEOPLE, "age", [0.5], epsilon=1.0, delta=delta, adjacency=adjacency, rng=SeededRng(seed), **GIVEN
        )
        low, high = found.interval(0.9).reshape(6, 2).T
        missed += int(np.count_nonzero((truth < low) | (truth > high)))
    assert missed <= 100


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("whose", [{}, {"unit": "patient", "max_rows": 2}], ids=["records", "persons"])
def test_the_price_is_that_of_every_neighbour_over_all_groups(adjacency, whose):
    """Counts of all nodes of all trees, of small tables and of all their neighbours, from another implementation."""
    found = numeric.quantiles(PEOPLE, "age", [0.5], epsilon=1.0, adjacency=adjacency, **whose, **GIVEN)
    single = numeric.quantiles(PEOPLE, "age", [0.5], bounds=(0, 120), epsilon=1.0, adjacency="add_remove", **whose)
    tree, law = found.each[0]._tree, found.each[0]._law
    rows = 2 if whose else 1
    places = [(group, leaf) for group in range(2) for leaf in (0, 1, 300)]

    def nodes(records):
        leaves = np.zeros((2, 512), dtype=np.int64)
        for group, leaf in records:
            leaves[group, leaf] += 1
        return np.concatenate([tree.count(each) for each in leaves])

    people = [list(each) for n in range(rows + 1) for each in itertools.combinations_with_replacement(places, n)]
    others = [[]] if adjacency == "add_remove" else people if rows > 1 else people[1:]
    own = people if rows > 1 or adjacency == "add_remove" else people[1:]
    worst = max(int(np.abs(nodes(h) - nodes(g)).sum()) for h in own for g in others)
    assert worst == of_counts(adjacency=adjacency, max_rows=rows, tables=len(tree.bits)).l1
    assert law.kind == "laplace"
    assert worst / law.size <= found.privacy.epsilon(0.0) * (1 + 1e-12)
    assert found.privacy.epsilon(0.0) <= 1.0
    assert single.privacy.epsilon(0.0) <= 1.0


def test_bad_groups_are_refused_by_name():
    for release in (numeric.mean, numeric.quantiles):
        given = {"bounds": (0, 120), "epsilon": 1.0}
        with pytest.raises(InvalidParameterError, match="groups must map each column of by"):
            release(PEOPLE, "age", by=["ward", "sex"], groups=["f", "m"], **given)
        with pytest.raises(InvalidParameterError, match="got none for 'sex'"):
            release(PEOPLE, "age", by=["ward", "sex"], groups={"ward": ["eye"]}, **given)
        for by in ([], ["age"], ["ward", "ward"]):
            with pytest.raises(InvalidParameterError, match="by must name columns other than 'age'"):
                release(PEOPLE, "age", by=by, groups=GROUPS, **given)
        with pytest.raises(InvalidParameterError, match="given together"):
            release(PEOPLE, "age", by=["ward"], **given)
        with pytest.raises(InvalidDataError, match="ward"):
            release(PEOPLE, "age", by=["ward", "sex"], groups={"ward": ["eye"], "sex": ["f", "m"]}, **given)
        with pytest.raises(InvalidParameterError, match="at most"):
            release(PEOPLE, "age", by=["ward", "sex"], groups={"ward": 10_000, "sex": 10_000}, **given)
