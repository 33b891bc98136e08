"""Columns of numbers some of which are missing: one more bin, in every engine and model, and back again."""

import json
import math

import narwhals as nw
import numpy as np
import pytest

import simplexdp as sdp
from simplexdp.exceptions import InvalidDataError, InvalidParameterError
from simplexdp.models import PrivateBayesianNetwork, PrivateBinner, PrivateCategoricalNB, PrivateSynthesizer, domains_of
from simplexdp.testing import SeededRng

pytestmark = pytest.mark.filterwarnings("ignore")

N = 600
BOUNDS = {"age": (18, 90), "pay": (0, 100)}
BINNERS = {
    "edges": {"strategy": "edges", "edges": {"age": [30, 50], "pay": [40, 60]}},
    "uniform": {"bounds": BOUNDS, "n_bins": 4},
    "private_quantile": {"strategy": "private_quantile", "bounds": BOUNDS, "n_bins": 4, "epsilon": 0.5},
}


def columns():
    """Whole numbers, doubles and codes; of a fifth of the records the age is missing, mostly of job 2."""
    rng = np.random.default_rng(4)
    job = rng.integers(3, size=N)
    age = [None if rng.random() < (0.1, 0.1, 0.5)[each] else int(rng.integers(18, 90)) for each in job]
    pay = [None if rng.random() < 0.1 else float(rng.normal(50, 12)) for _ in job]
    return {"age": age, "pay": pay, "job": job.tolist()}


def frames():
    """The same records as every engine holds them, whole numbers as such where the engine has missing ones."""
    import dask.dataframe as dd
    import duckdb
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    whole = columns()
    nan = {name: np.array([math.nan if v is None else v for v in whole[name]]) for name in ("age", "pay")}
    job = np.array(whole["job"])
    nullable = {"age": pd.array(whole["age"], dtype="Int64"), "pay": nan["pay"], "job": job}
    objects = {name: [pd.NA if v is None else v for v in whole[name]] for name in ("age", "pay")}
    objects["pay"] = [pd.NaT if v is pd.NA else v for v in objects["pay"]]
    return {
        "dict": whole,
        "arrays": {**nan, "job": job},
        "pandas": pd.DataFrame(nullable, index=np.arange(N) * 3 + 1),
        "pandas of NaN": pd.DataFrame({**nan, "job": job}),
        "pandas of objects": pd.DataFrame({n: pd.Series(v, dtype=object) for n, v in objects.items()} | {"job": job}),
        "pandas of Arrow": pd.DataFrame(
            {"age": pd.array(whole["age"], dtype="int64[pyarrow]"), "pay": pd.array(whole["pay"], dtype="Float64"),
             "job": job}
        ),
        "polars": pl.DataFrame(whole),
        "polars of NaN": pl.DataFrame({**whole, "pay": nan["pay"]}),
        "polars lazy": pl.LazyFrame(whole),
        "pyarrow": pa.table(whole),
        "duckdb": duckdb.from_arrow(pa.table(whole)),
        "dask": dd.from_pandas(pd.DataFrame(nullable), npartitions=3),
        "dask of NaN": dd.from_pandas(pd.DataFrame({**nan, "job": job}), npartitions=2),
    }  # fmt: skip


FRAMES = frames()


def synthesizer(strategy="uniform", **parameters):
    binner = PrivateBinner(**{"null": True, **BINNERS[strategy]})
    given = {"epsilon": 5.0, "domains": {"job": 3}, "binner": binner, "components": 16, "random_state": SeededRng(1)}
    return PrivateSynthesizer(**{**given, **parameters})


@pytest.fixture(scope="module")
def models():
    return {strategy: synthesizer(strategy).fit(columns()) for strategy in BINNERS}


@pytest.mark.parametrize("strategy", BINNERS)
@pytest.mark.parametrize("engine", [name for name in FRAMES if name != "dict"])
def test_every_engine_gives_the_same_tables(models, engine, strategy):
    model = synthesizer(strategy).fit(FRAMES[engine])
    np.testing.assert_array_equal(model._measured.cells, models[strategy]._measured.cells)
    assert {name: len(domain) for name, domain in model.domains_.items()} == {
        name: len(domain) for name, domain in models[strategy].domains_.items()
    }


def test_spark_gives_the_same_tables(models, spark):
    rows = list(zip(*columns().values(), strict=True))
    frame = spark.createDataFrame(rows, "age int, pay double, job int")
    for strategy, expected in models.items():
        model = synthesizer(strategy).fit(frame)
        np.testing.assert_array_equal(model._measured.cells, expected._measured.cells)
    drawn = model.sample(200, random_state=SeededRng(2))
    assert [field.dataType.simpleString() for field in drawn.schema] == ["bigint", "double", "bigint"]
    ages = [row["age"] for row in drawn.collect()]
    assert None in ages
    assert all(age is None or type(age) is int for age in ages)


def test_an_array_has_columns_by_position(models):
    array = np.column_stack([FRAMES["arrays"][name] for name in ("age", "pay", "job")])
    binner = PrivateBinner("edges", edges={0: [30, 50], 1: [40, 60]}, null=[0, 1])
    model = synthesizer(domains={2: 3}, binner=binner).fit(array)
    np.testing.assert_array_equal(model._measured.cells, models["edges"]._measured.cells)
    drawn = model.sample(300, random_state=SeededRng(2))
    assert drawn.dtype == np.float64
    assert 0 < np.isnan(drawn[:, 0]).sum() < 300
    assert not np.isnan(drawn[:, 2]).any()


@pytest.mark.parametrize("kind", ["pandas", "polars", "polars lazy", "pyarrow", "duckdb", "dask"])
@pytest.mark.parametrize("n", [0, 400])
def test_missing_comes_back_as_missing_and_whole_numbers_as_such(models, kind, n):
    drawn = models["uniform"].sample(n, random_state=SeededRng(2), kind=kind)
    table = nw.from_native(drawn).lazy().collect("pyarrow").to_native()
    assert [str(kind) for kind in table.schema.types[:2]] == ["int64", "double"]
    # pandas has NaN for a double that is missing.
    ages, pays = (np.array([v is None or v != v for v in table.column(name).to_pylist()]) for name in ("age", "pay"))
    if n:
        assert 0.1 < ages.mean() < 0.4
        assert 0 < pays.mean() < 0.3
        found = [v for v in table.column("age").to_pylist() if v is not None]
        assert all(18 <= v <= 90 for v in found)


def test_a_dict_has_none_among_whole_numbers_and_nan_among_doubles(models):
    drawn = models["uniform"].sample(400, random_state=SeededRng(2))
    assert {type(value) for value in drawn["age"]} == {int, type(None)}
    assert drawn["pay"].dtype == np.float64
    assert np.isnan(drawn["pay"]).any()
    numbers = models["uniform"].sample(400, random_state=SeededRng(2), kind="numpy")
    assert numbers.dtype == np.float64
    assert np.isnan(numbers[:, 0]).sum() == sum(value is None for value in drawn["age"])


def test_the_level_is_close_to_the_share_that_is_missing(models):
    model, data = models["edges"], columns()
    missing = np.mean([value is None for value in data["age"]])
    assert model.marginal(["age"])[-1] == pytest.approx(missing, abs=0.05)
    bounds = model.error_bounds(["age"])
    assert bounds.lower[-1] <= missing <= bounds.upper[-1]
    given = model.predict_proba("age", {"job": [0, 2]})
    assert given.shape == (2, 4)
    assert given[1, -1] > given[0, -1] + 0.1
    # A value that is missing tells the job, and no number does as much.
    by_age = model.predict_proba("job", {"age": [None, 40]})
    assert by_age[0, 2] > by_age[1, 2] + 0.1
    assert math.isfinite(model.log_likelihood(data))
    paid = model.compare(data, epsilon=5.0, random_state=SeededRng(1))
    assert paid.one_way < 0.1


def test_files_keep_the_level(models):
    for model in models.values():
        text = model.to_json()
        again = PrivateSynthesizer.from_json(text)
        assert again.to_json() == text
        assert again.numeric_columns_["age"].null
        assert again.marginal(["age"]).tolist() == model.marginal(["age"]).tolist()
        assert None in again.sample(300, random_state=SeededRng(2))["age"]


@pytest.mark.parametrize("change", [{"null": False}, {"null": 1}, {"null": "yes"}, {"null": None}, {"edges": [30.0]}])
def test_hostile_files_are_refused(models, change):
    content = json.loads(models["edges"].to_json())
    content["columns"][0] |= change
    with pytest.raises(InvalidParameterError, match=r"edges of 'age'|null must be"):
        PrivateSynthesizer.from_json(json.dumps(content))


@pytest.mark.parametrize("strategy", BINNERS)
@pytest.mark.parametrize("engine", FRAMES)
def test_without_the_level_missing_values_are_refused_before_anything_is_paid(engine, strategy):
    accountant = sdp.Accountant(5.0, 1e-6, adjacency="add_remove")
    binner = PrivateBinner(**{**BINNERS[strategy], "null": ["pay"]})
    with pytest.raises(InvalidDataError, match=r"'age' must have no missing value.*null=True") as caught:
        synthesizer(binner=binner, accountant=accountant).fit(FRAMES[engine])
    assert not any(character.isdigit() for character in str(caught.value))
    assert accountant.spends() == []


@pytest.mark.parametrize(
    ("null", "message"),
    [("age", "True, False or a list"), (1, "True, False or a list"), (["job"], "columns that are binned"),
     ({"age": True}, "True, False or a list"), (None, "True, False or a list")],
)  # fmt: skip
def test_bad_statements_are_named(null, message):
    with pytest.raises(InvalidParameterError, match=message):
        synthesizer(binner=PrivateBinner(bounds=BOUNDS, null=null)).fit(columns())


@pytest.mark.parametrize("strategy", BINNERS)
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_one_budget_pays_whatever_is_missing(strategy, adjacency):
    gone = {**columns(), "age": [None] * N, "pay": [math.nan] * N}
    none = {**columns(), "age": [40] * N, "pay": [50.0] * N}
    costs = [synthesizer(strategy, adjacency=adjacency).fit(data).privacy_ for data in (gone, none, columns())]
    assert len({repr(cost) for cost in costs}) == 1
    assert 4.99 < costs[0].epsilon(1e-6) <= 5.0


def classifier(strategy="edges", **parameters):
    binner = PrivateBinner(**{"null": True, **BINNERS[strategy]})
    return PrivateCategoricalNB(
        **{"epsilon": 5.0, "classes": [0, 1, 2], "binner": binner, "random_state": SeededRng(1), **parameters}
    )


def network(strategy="edges", **parameters):
    binner = PrivateBinner(**{"null": True, **BINNERS[strategy]})
    given = {"epsilon": 5.0, "domains": {"job": 3}, "binner": binner, "random_state": SeededRng(1), **parameters}
    return PrivateBayesianNetwork([("job", "age"), ("job", "pay")], **given)


@pytest.mark.parametrize("strategy", BINNERS)
def test_classifiers_and_networks_have_the_level_in_every_engine(strategy):
    first = classifier(strategy).fit(columns(), "job")
    other = network(strategy).fit(columns())
    for name, frame in FRAMES.items():
        model = classifier(strategy).fit(frame, "job")
        for ours, expected in zip(model.feature_log_prob_, first.feature_log_prob_, strict=True):
            np.testing.assert_array_equal(ours, expected, err_msg=name)
        np.testing.assert_array_equal(model.predict_proba(frame), first.predict_proba(columns()), err_msg=name)
        tables = network(strategy).fit(frame).cpds_
        for node, table in tables.items():
            np.testing.assert_array_equal(table, other.cpds_[node], err_msg=name)
    assert first.n_categories_.tolist() == [len(edges) + 2 for edges in first.bin_edges_.values()]
    again = PrivateCategoricalNB.from_json(first.to_json())
    np.testing.assert_allclose(again.predict_proba(columns()), first.predict_proba(columns()), rtol=1e-12)
    # One record at a time has a way of its own.
    alone = first.predict_proba({"age": [None], "pay": [50.0]})
    np.testing.assert_array_equal(first.predict_proba({"age": [math.nan], "pay": [50.0]}), alone)
    assert alone[0, 2] > first.predict_proba({"age": [40], "pay": [50.0]})[0, 2]


@pytest.mark.parametrize("make", [classifier, network])
def test_the_public_number_of_records_is_that_of_all(make):
    model = make("private_quantile", adjacency="replace", mechanism="discrete_gaussian")
    model = model.fit(columns(), "job") if make is classifier else model.fit(columns())
    assert json.loads(model.to_json())["total"] == N


def test_networks_draw_missing_values():
    model = network().fit(columns())
    drawn = model.sample(2000, random_state=SeededRng(3))
    share = np.mean([value is None for value in drawn["age"]])
    assert share == pytest.approx(np.mean([value is None for value in columns()["age"]]), abs=0.06)
    again = PrivateBayesianNetwork.from_json(model.to_json())
    assert again.to_json() == model.to_json()
    assert again.log_likelihood(columns()) == pytest.approx(model.log_likelihood(columns()), rel=1e-12)
    drawn = again.sample(500, random_state=SeededRng(3), kind="polars")
    assert 0 < drawn["age"].null_count() < 500
    learned = network().set_params(edges="learn").fit(columns())
    assert None in learned.sample(500, random_state=SeededRng(3))["age"]


def test_a_binner_of_its_own_codes_missing_values_last():
    import pandas as pd

    frame = pd.DataFrame({"age": [20, None, 70], "pay": [10.0, 20.0, np.nan]})
    binner = PrivateBinner("edges", edges={"age": [30, 50], "pay": [15]}, null=True).fit(frame)
    assert binner.n_bins_ == [4, 3]
    assert binner.transform(frame).tolist() == [[0, 0], [3, 1], [2, 2]]
    one = PrivateBinner("edges", edges={"age": [30, 50], "pay": [15]}, null=["age"])
    for call in (one.fit, one.fit(frame.iloc[:2]).transform):
        with pytest.raises(InvalidDataError, match="'pay' must have no missing value, such as NaN"):
            call(frame)
    assert one.transform(frame.iloc[:2]).tolist() == [[0, 0], [3, 1]]
    drawn = PrivateBinner("private_quantile", n_bins=3, bounds=(0, 100), epsilon=9.0, null=True).fit(frame[["age"]])
    assert drawn.n_bins_ == [len(drawn.edges_[0]) + 2]
    sizes = {name: len(domain) for name, domain in domains_of(binner, ["age", "pay"]).items()}
    assert sizes == {"age": 4, "pay": 3}


def test_pages_name_the_level(models):
    page = str(sdp.report.synthesis_report(models["edges"]))
    assert "(missing)" in page


def test_a_list_of_numbers_tells_by_its_values_that_they_are_whole():
    # One record more would tell: of arrays and frames the type is public.
    binner = PrivateBinner("edges", edges={"age": [30, 50]}, null=True)
    for ages, kind in ([20, 40, None] * 100, int), ([20, 40.5, None] * 100, float):
        model = synthesizer(binner=binner, domains={"job": 2})
        with pytest.warns(sdp.PrivacyLeakWarning, match="'age' holds whole numbers was read off its list") as caught:
            model.fit({"age": ages, "job": np.array([0, 1, 1] * 100)})
        assert len(caught) == 1
        drawn = model.sample(50, random_state=SeededRng(1))["age"].tolist()
        assert kind in {type(age) for age in drawn}
