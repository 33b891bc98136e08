"""Numeric columns in a model: bins, tables and one budget for both."""

import itertools
import json

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

import simplexdp as sdp
from simplexdp.models import PrivateBayesianNetwork, PrivateBinner, PrivateCategoricalNB
from simplexdp.testing import SeededRng

MECHANISMS = ["dirichlet", "gaussian", "laplace", "discrete_laplace", "discrete_gaussian"]
BOUNDS = {"age": (0, 100), "hours": (0, 80)}


def people(n_records=3000, seed=5):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n_records)
    hours = np.round(rng.normal(40, 10, n_records), 1)
    sex = rng.integers(0, 2, n_records)
    rich = (age / 90 + hours / 80 + rng.random(n_records) > 1.6).astype(int)
    return {"sex": np.array(["f", "m"])[sex], "age": age, "hours": hours, "rich": rich}


def private_quantiles(**parameters):
    return PrivateBinner("private_quantile", n_bins=5, bounds=BOUNDS, epsilon=0.3, **parameters)


def classifier(**parameters):
    settings = {"epsilon": 1.0, "categories": {"sex": ["f", "m"]}, "classes": [0, 1], "binner": private_quantiles()}
    return PrivateCategoricalNB(**{**settings, **parameters})


def network(**parameters):
    settings = {"epsilon": 1.0, "domains": {"sex": ["f", "m"], "rich": 2}, "binner": private_quantiles()}
    return PrivateBayesianNetwork([("age", "rich"), ("rich", "hours")], **{**settings, **parameters})


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("make", [classifier, network])
def test_bins_and_tables_keep_one_budget_and_use_all_of_it(make, mechanism, adjacency):
    model = make(mechanism=mechanism, adjacency=adjacency)
    data = people()
    model = model.fit(data, "rich") if make is classifier else model.fit(data)
    assert 0.99 < model.privacy_.epsilon(1e-6) <= 1.0
    assert model.privacy_.adjacency == adjacency
    # All of the budget: without bins the tables alone would have it.
    assert model.privacy_.delta(0.0) < 1


@pytest.mark.parametrize("mechanism", MECHANISMS[1:])
def test_what_bins_cost_is_missing_from_the_tables(mechanism):
    # The same tables with public bins have the whole budget, so that their noise is smaller.
    def noise(binner):
        saved = json.loads(classifier(mechanism=mechanism, binner=binner).fit(people(300), "rich").to_json())
        return [table["released"]["size"] for table in (saved["class"], *saved["features"])]

    public = PrivateBinner("uniform", n_bins=5, bounds=BOUNDS)
    for paying, free in zip(noise(private_quantiles()), noise(public), strict=True):
        assert paying > 1.05 * free


def test_the_loss_of_a_private_quantile_is_concentrated_as_gaussian_noise_says():
    # Brute force over neighbours of 12 values on a grid of 6 candidates: Renyi divergence against order * epsilon^2/8.
    epsilon, n = 0.9, 12

    def law(ranks, level):
        weights = np.exp(-0.5 * epsilon * np.abs(ranks - level * n))
        return weights / weights.sum()

    worst = 0.0
    for base in itertools.combinations_with_replacement(range(7), 4):
        below = np.sort(np.repeat(base, 3))
        for moved in range(7):
            changed = np.array([moved, *below[1:]])
            p, q = (law(np.array([(v <= c).sum() for c in range(6)]), 0.3) for v in (below, changed))
            for order in (1.5, 2.0, 5.0, 20.0):
                divergence = np.log(np.sum(p**order * q ** (1 - order))) / (order - 1)
                worst = max(worst, divergence / (order * epsilon**2 / 8))
    assert 0.5 < worst <= 1


@pytest.mark.parametrize("mechanism", MECHANISMS[:3])
@pytest.mark.parametrize("make", [classifier, network])
def test_renyi_budgets_pay_for_bins_too(make, mechanism):
    model = make(mechanism=mechanism, order=5.0, epsilon=0.5)
    model = model.fit(people(), "rich") if make is classifier else model.fit(people())
    spent = model.privacy_.renyi(5.0)
    if mechanism == "gaussian":
        assert 0.4 < spent <= 0.5 * (1 + 1e-11)
        return
    # The divergence of the 8 quantiles by its closed form, for randomised response with odds e^(0.3 / 8).
    share, order = 0.3 / 8, 5.0
    e = np.exp(share)
    bins = 8 / (order - 1) * np.log((e**order + e ** (1 - order)) / (1 + e))
    assert bins < spent <= 0.5 * (1 + 1e-11)


def test_public_bins_cost_nothing_and_equal_a_binner_of_their_own():
    data = people()
    binner = PrivateBinner("uniform", n_bins=4, bounds=BOUNDS)
    model = classifier(binner=binner, mechanism="none").fit(data, "rich")
    assert not hasattr(binner, "edges_")
    for name in BOUNDS:
        codes = PrivateBinner("uniform", n_bins=4, bounds=BOUNDS[name]).fit_transform(data[name][:, None]).ravel()
        position = ["sex", "age", "hours"].index(name)
        for label in (0, 1):
            expected = np.bincount(codes[data["rich"] == label], minlength=4) / np.sum(data["rich"] == label)
            np.testing.assert_allclose(np.exp(model.feature_log_prob_[position][label]), expected, rtol=1e-12)
    with_bins = classifier(binner=binner, random_state=sdp.testing.SeededRng(1)).fit(data, "rich")
    codes = {name: np.searchsorted(with_bins.bin_edges_[name], data[name], side="right") for name in BOUNDS}
    without = classifier(
        binner=None, categories={"sex": ["f", "m"], "age": 4, "hours": 4}, random_state=sdp.testing.SeededRng(1)
    ).fit({**data, **codes}, "rich")
    for ours, expected in zip(with_bins.feature_log_prob_, without.feature_log_prob_, strict=True):
        np.testing.assert_array_equal(ours, expected)
    assert with_bins.privacy_.epsilon(1e-6) == without.privacy_.epsilon(1e-6)


@pytest.mark.parametrize("make", [classifier, network])
def test_the_accountant_is_debited_once_for_bins_and_tables(make):
    accountant = sdp.Accountant(epsilon=1.0, delta=1e-6)
    model = clone(make(accountant=accountant))
    data = people()
    model = model.fit(data, "rich") if make is classifier else model.fit(data)
    assert len(accountant.spends()) == 1
    assert accountant.spends()[0]["epsilon"] == pytest.approx(model.privacy_.epsilon(1e-6), rel=1e-4)
    again = make(accountant=accountant)
    with pytest.raises(sdp.BudgetExceededError):
        again.fit(data, "rich") if make is classifier else again.fit(data)
    assert not hasattr(again, "bin_edges_")
    assert len(accountant.spends()) == 1


def test_a_binner_that_has_an_accountant_is_refused():
    binner = private_quantiles(accountant=sdp.Accountant(epsilon=9.0, delta=1e-6))
    with pytest.raises(sdp.InvalidParameterError, match="accountant of its own"):
        classifier(binner=binner).fit(people(), "rich")


def test_arrays_clones_and_cross_validation_work():
    data = people()
    X = np.stack([data["age"], data["hours"]], axis=1)
    binner = PrivateBinner("private_quantile", n_bins=5, bounds=(0, 100), epsilon=0.5)
    model = PrivateCategoricalNB(epsilon=8.0, classes=[0, 1], binner=binner, random_state=SeededRng(1))
    searched = clone(model).set_params(accountant=sdp.Accountant(100.0, 1e-3))
    scores = cross_val_score(searched, X, data["rich"], cv=3)
    assert scores.min() > 0.6
    fitted = model.fit(X, data["rich"])
    assert fitted.n_categories_.tolist() == [5, 5]
    assert model.get_params()["binner__epsilon"] == 0.5
    with_list = PrivateCategoricalNB(epsilon=8.0, classes=[0, 1], categories=[None, 2], binner=binner)
    assert with_list.fit(np.stack([data["age"], data["rich"]], axis=1), data["rich"]).bin_edges_.keys() == {0}


def test_the_plan_is_the_same_whatever_quantiles_are_drawn():
    # All values equal: the quantiles coincide and leave fewer bins than planned.
    spread, constant = people(), people()
    constant["age"] = np.full(3000, 50)
    constant["hours"] = np.full(3000, 20.0)
    models = [classifier(epsilon=3.0, random_state=sdp.testing.SeededRng(3)).fit(d, "rich") for d in (spread, constant)]
    assert repr(models[0].privacy_) == repr(models[1].privacy_)
    assert models[0].privacy_.epsilon(1e-7) == models[1].privacy_.epsilon(1e-7)


def engines():
    def pandas(data):
        import pandas as pd

        return pd.DataFrame(data, index=np.arange(len(data["age"])) * 7 + 3)

    def polars(data):
        import polars as pl

        return pl.DataFrame(data)

    def pyarrow(data):
        import pyarrow as pa

        return pa.table(data)

    def duckdb(data):
        import duckdb

        return duckdb.from_arrow(pyarrow(data))

    def dask(data):
        import dask.dataframe as dd

        return dd.from_pandas(pandas(data), npartitions=3)

    return [pandas, polars, lambda data: polars(data).lazy(), pyarrow, duckdb, dask]


@pytest.mark.parametrize("engine", engines(), ids=["pandas", "polars", "lazy", "pyarrow", "duckdb", "dask"])
@pytest.mark.parametrize(
    "binner", [private_quantiles(), PrivateBinner("edges", edges={"age": [30, 60], "hours": [40]})]
)
def test_every_engine_gives_the_same_model(engine, binner):
    data = people(800)
    eager = classifier(binner=binner, random_state=sdp.testing.SeededRng(4)).fit(data, "rich")
    model = classifier(binner=binner, random_state=sdp.testing.SeededRng(4)).fit(engine(data), "rich")
    for ours, expected in zip(model.feature_log_prob_, eager.feature_log_prob_, strict=True):
        np.testing.assert_array_equal(ours, expected)
    np.testing.assert_array_equal(model.predict_log_proba(engine(data)), eager.predict_log_proba(data))
    assert model.score(engine(data), "rich") == eager.score(data, "rich")
    one = network(binner=binner, random_state=sdp.testing.SeededRng(4)).fit(data)
    two = network(binner=binner, random_state=sdp.testing.SeededRng(4)).fit(engine(data))
    for node, table in one.cpds_.items():
        np.testing.assert_array_equal(two.cpds_[node], table)
    assert two.log_likelihood(engine(data)) == one.log_likelihood(data)


def test_synthetic_numbers_fall_into_their_bins(tmp_path):
    model = network(epsilon=20.0, random_state=SeededRng(1)).fit(people())
    sample = model.sample(20_000, random_state=SeededRng(2))
    assert list(sample) == ["sex", "rich", "age", "hours"]
    exact = network(mechanism="none", binner=PrivateBinner("edges", edges=model.bin_edges_)).fit(sample)
    # 20000 records: six deviations of a frequency of a row with at least 500 of them; model and sample have seeds.
    for node, table in model.cpds_.items():
        np.testing.assert_allclose(exact.cpds_[node], table, atol=6 * 0.5 / np.sqrt(500))
    assert sample["age"].min() >= 0
    assert sample["age"].max() <= 100
    model.save(tmp_path / "network.json")
    loaded = PrivateBayesianNetwork.load(tmp_path / "network.json")
    assert loaded.log_likelihood(people()) == model.log_likelihood(people())
    assert loaded.to_json() == model.to_json()
    assert set(loaded.sample(100, random_state=SeededRng(3))["hours"]) <= set(sample["hours"])


@pytest.mark.parametrize("edges", [[30.0], [30.0, 60.0], [0.0], [120.0, 130.0], []])
@pytest.mark.parametrize("bounds", [None, (0, 100)])
def test_every_bin_has_a_number_that_falls_into_it(edges, bounds):
    from simplexdp.models.bins import centres

    numbers = centres(np.array(edges), bounds)
    assert np.searchsorted(edges, numbers, side="right").tolist() == list(range(len(edges) + 1))


def test_quantiles_of_the_data_warn():
    with pytest.warns(sdp.PrivacyLeakWarning, match="private_quantile"):
        model = classifier(categories={"sex": ["f", "m"]}, binner=PrivateBinner("quantile", n_bins=4)).fit(
            people(), "rich"
        )
    assert model.bin_edges_["age"].tolist() == np.quantile(people()["age"], [0.25, 0.5, 0.75]).tolist()


def test_partial_counts_take_public_bins_only():
    data = people()
    binner = PrivateBinner("uniform", n_bins=4, bounds=BOUNDS)
    halves = [{name: values[part] for name, values in data.items()} for part in (slice(0, 1000), slice(1000, None))]
    model = classifier(binner=binner, mechanism="none")
    for half in halves:
        model.partial_fit(half, "rich")
    whole = classifier(binner=binner, mechanism="none").fit(data, "rich")
    for ours, expected in zip(model.release().feature_log_prob_, whole.feature_log_prob_, strict=True):
        np.testing.assert_array_equal(ours, expected)
    with pytest.raises(sdp.InvalidParameterError, match="all records at once"):
        classifier().partial_fit(data, "rich")


@pytest.mark.parametrize("make", [classifier, network])
@pytest.mark.parametrize(
    "binner, message",
    [
        ("uniform", "binner must be a PrivateBinner"),
        (PrivateBinner(bounds={"nowhere": (0, 1)}), "columns of the model|columns of domains"),
        (PrivateBinner(bounds={"sex": (0, 1)}), "without a domain|columns of domains"),
        (PrivateBinner("private_quantile", bounds=BOUNDS, epsilon=3.0), "leave something"),
        (PrivateBinner("private_quantile", bounds=BOUNDS), "epsilon must be given"),
        (PrivateBinner(bounds={"age": (1, 0), "hours": (0, 1)}), "lower < upper"),
        (PrivateBinner("edges", edges={"age": [2, 1], "hours": [0]}), "strictly increasing"),
    ],
)
def test_bad_binners_are_named(make, binner, message):
    with pytest.raises(sdp.InvalidParameterError, match=message):
        make(binner=binner).fit(people(), "rich")


@pytest.mark.parametrize("engine", engines(), ids=["pandas", "polars", "lazy", "pyarrow", "duckdb", "dask"])
@pytest.mark.parametrize("strategy", ["uniform", "private_quantile"])
@pytest.mark.parametrize("bad", ["missing", "text"])
def test_what_is_no_number_is_refused_without_being_quoted(engine, strategy, bad):
    data = {name: values.tolist() for name, values in people(50).items()}
    if bad == "missing":
        data["hours"][17] = None
    else:
        data["hours"] = [f"{value} hours" for value in data["hours"]]
    binner = PrivateBinner(strategy, bounds=BOUNDS, epsilon=0.3)
    with pytest.raises(sdp.InvalidDataError, match="'hours'"):
        classifier(binner=binner).fit(engine(data), "rich")


@pytest.mark.filterwarnings("ignore")  # pyspark's own deprecations
def test_spark_gives_the_same_model(spark):
    data = people(400)
    rows = list(zip(*(values.tolist() for values in data.values()), strict=True))
    frame = spark.createDataFrame(rows, "sex string, age int, hours double, rich int")
    for binner in (private_quantiles(), PrivateBinner("uniform", n_bins=4, bounds=BOUNDS)):
        eager = classifier(binner=binner, random_state=sdp.testing.SeededRng(4)).fit(data, "rich")
        model = classifier(binner=binner, random_state=sdp.testing.SeededRng(4)).fit(frame, "rich")
        for ours, expected in zip(model.feature_log_prob_, eager.feature_log_prob_, strict=True):
            np.testing.assert_array_equal(ours, expected)
        one = network(binner=binner, random_state=sdp.testing.SeededRng(4)).fit(data)
        two = network(binner=binner, random_state=sdp.testing.SeededRng(4)).fit(frame)
        for node, table in one.cpds_.items():
            np.testing.assert_array_equal(two.cpds_[node], table)
    assert model.score(frame, "rich") == eager.score(data, "rich")


@pytest.mark.parametrize("strategy", ["uniform", "private_quantile", "quantile"])
def test_a_binner_without_columns_to_bin_changes_nothing(strategy):
    X, y = np.array([[0], [1]] * 100), np.array([0, 1] * 100)
    binner = PrivateBinner(strategy, bounds=(0, 1), epsilon=0.5)
    fitted = [
        PrivateCategoricalNB(categories=[2], classes=[0, 1], binner=b, random_state=sdp.testing.SeededRng(1)).fit(X, y)
        for b in (None, binner)
    ]
    np.testing.assert_array_equal(fitted[0].feature_log_prob_[0], fitted[1].feature_log_prob_[0])
    assert repr(fitted[0].privacy_) == repr(fitted[1].privacy_)


def test_a_binner_of_its_own_takes_bounds_by_column():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({name: people(100)[name] for name in BOUNDS})
    by_name = PrivateBinner("uniform", n_bins=4, bounds=dict(reversed(BOUNDS.items()))).fit(frame)
    by_order = PrivateBinner("uniform", n_bins=4, bounds=list(BOUNDS.values())).fit(frame)
    np.testing.assert_array_equal(by_name.edges_, by_order.edges_)
    assert by_name.transform(frame).max() <= 3


def test_a_lazy_frame_reads_the_column_that_is_named_and_no_pattern():
    polars = pytest.importorskip("polars")
    data = {"^b$": [0.9] * 100, "b": [0.1] * 100, "*": [0.9] * 100, "y": [0, 1] * 50}
    binner = PrivateBinner(bounds={"^b$": (0, 1), "b": (0, 1), "*": (0, 1)}, n_bins=2)
    for frame in (polars.DataFrame(data), polars.LazyFrame(data)):
        model = PrivateBayesianNetwork([], {"y": 2}, binner=binner, epsilon=100.0, random_state=SeededRng(1)).fit(frame)
        assert {name: int(np.argmax(model.cpds_[name])) for name in ("^b$", "b", "*")} == {"^b$": 1, "b": 0, "*": 1}
