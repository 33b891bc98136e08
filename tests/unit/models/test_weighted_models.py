"""Models that count each person as one: the tables are those of `count_tables`, on every engine."""

import json

import numpy as np
import pytest

import simplexdp as sdp
from simplexdp.exceptions import InvalidParameterError
from simplexdp.frames import count_tables
from simplexdp.models import (
    PrivateBayesianNetwork,
    PrivateBinner,
    PrivateCategoricalNB,
    PrivateGridSearch,
    PrivateHistogram,
    PrivateSynthesizer,
)
from simplexdp.testing import SeededRng

RNG = np.random.default_rng(8)
N = 4000
VISITS = {
    "patient": RNG.integers(0, 900, N),
    "ward": RNG.integers(0, 2, N),
    "visit": RNG.integers(0, 3, N),
    "age": RNG.integers(0, 90, N),
    "row": RNG.permutation(N),
}
DOMAINS = {"ward": 2, "visit": 3}
WHO = {"unit": "patient", "max_rows": 4, "first_by": "row"}
TABLES = [["ward"], ["ward", "visit"], ["visit"]]
EXACT = [table / 12 for table in count_tables(VISITS, TABLES, DOMAINS, weighted=True, **WHO)]
HUGE = 600.0
"""With such a budget and this seed noise of whole units is zero (in a cell it is not with a chance of 1e-5)."""

pytestmark = pytest.mark.filterwarnings("ignore::simplexdp.InsecureRandomnessWarning")


def polars_lazy(table):
    import polars as pl

    return pl.LazyFrame(table)


def dask(table):
    dd = pytest.importorskip("dask.dataframe")
    import pandas as pd

    return dd.from_pandas(pd.DataFrame(table), npartitions=3)


def duckdb(table):
    duckdb = pytest.importorskip("duckdb")
    import pandas as pd

    data = pd.DataFrame(table)
    return duckdb.from_df(data)


def pandas(table):
    import pandas as pd

    return pd.DataFrame(table)


ENGINES = [dict, pandas, polars_lazy, duckdb, dask]


def only(*columns):
    return {name: VISITS[name] for name in ("patient", "row", *columns)}


@pytest.mark.parametrize("engine", ENGINES)
def test_tables_of_a_classifier_and_of_a_network_are_those_of_persons(engine):
    shared = {"mechanism": "discrete_laplace", "weighted": True, "random_state": SeededRng(1), **WHO}
    found = PrivateCategoricalNB(HUGE, 1e-6, categories={"visit": 3}, classes=[0, 1], calibration=None, **shared)
    content = json.loads(found.fit(engine(only("ward", "visit")), "ward").to_json())
    assert np.ravel(content["class"]["released"]["values"]) == pytest.approx(EXACT[0], abs=1e-9)
    assert np.array(content["features"][0]["released"]["values"]) == pytest.approx(EXACT[1], abs=1e-9)
    network = PrivateBayesianNetwork([("ward", "visit")], DOMAINS, epsilon=HUGE, **shared).fit(engine(VISITS))
    nodes = {node["name"]: node["released"]["values"] for node in json.loads(network.to_json())["nodes"]}
    assert np.ravel(nodes["ward"]) == pytest.approx(EXACT[0], abs=1e-9)
    assert np.array(nodes["visit"]) == pytest.approx(EXACT[1], abs=1e-9)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_synthesizer_measures_persons(engine):
    given = {"domains": DOMAINS, "components": 4, "weighted": True, **WHO}
    model = PrivateSynthesizer(300.0, 1e-6, random_state=SeededRng(1), **given).fit(engine(VISITS))
    measured = json.loads(model.to_json())["measured"]
    # Ten of the widest parameter, whose rows and columns share 32 times that.
    assert measured["total"] == pytest.approx(len(np.unique(VISITS["patient"])), abs=5)
    pair = np.array(measured["cells"][5:]).reshape(2, 3)
    pair, exact = (each - each.mean(axis=1, keepdims=True) for each in (pair, EXACT[1]))
    assert pair - pair.mean(axis=0) == pytest.approx(exact - exact.mean(axis=0), abs=10 * measured["sigmas"][2])
    assert model.marginal(["ward", "visit"]).sum() == pytest.approx(1)


def test_persons_beside_an_array_and_hits_and_misses_are_weighted_too():
    features = np.stack([VISITS["visit"], RNG.integers(0, 2, N)], axis=1)
    model = PrivateCategoricalNB(HUGE, 1e-6, categories=[3, 2], classes=[0, 1], max_rows=4, weighted=True)
    model.set_params(random_state=SeededRng(1)).fit(features, VISITS["ward"], persons=VISITS["patient"])
    content = json.loads(model.to_json())
    people = len(np.unique(VISITS["patient"]))
    for table in (content["class"], *content["features"], content["calibration"]):
        assert np.sum(table["released"]["values"]) == pytest.approx(people, abs=0.5)
    assert content["privacy"]["weighted"] is True
    assert model.privacy_.unit == "person"


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_noise_is_that_for_one_record_and_files_say_so(adjacency):
    shared = {"adjacency": adjacency, "calibration": None, "mechanism": "discrete_laplace"}
    given = {"categories": {"visit": 3}, "classes": [0, 1], **shared}
    weighted = PrivateCategoricalNB(1.0, 1e-6, weighted=True, **WHO, **given).fit(only("ward", "visit"), "ward")
    one = PrivateCategoricalNB(1.0, 1e-6, **{**WHO, "max_rows": 1}, **given).fit(only("ward", "visit"), "ward")
    sizes = [json.loads(model.to_json())["features"][0]["released"]["size"] for model in (weighted, one)]
    assert sizes[0] == pytest.approx(sizes[1], rel=0.03)
    loaded = PrivateCategoricalNB.from_json(weighted.to_json())
    assert loaded.weighted
    assert loaded.max_rows == 4
    assert json.loads(loaded.to_json())["privacy"] == json.loads(weighted.to_json())["privacy"]
    # A posterior, as of any other release.
    assert loaded.interval(0.9)[1][0].shape == (2, 3, 2)


def test_bins_trees_and_grid_searches_take_weights():
    binner = PrivateBinner("private_quantile", n_bins=3, bounds={"age": (0, 90)}, epsilon=0.3)
    network = PrivateBayesianNetwork("learn", DOMAINS, epsilon=2.0, weighted=True, binner=binner, **WHO).fit(VISITS)
    assert network.privacy_.epsilon(1e-6) <= 2.0
    assert PrivateBayesianNetwork.from_json(network.to_json()).weighted
    classifier = PrivateCategoricalNB(categories={"visit": 3}, classes=[0, 1], weighted=True, **WHO)
    search = PrivateGridSearch(classifier, {"count_floor": [0.5, 2.0]}, epsilon=2.0).fit(only("ward", "visit"), "ward")
    assert search.best_estimator_.weighted
    assert search.privacy_.epsilon(1e-6) <= 2.0


def test_a_comparison_is_of_persons():
    given = {"domains": DOMAINS, "components": 4, "weighted": True, **WHO}
    model = PrivateSynthesizer(5.0, 1e-6, random_state=SeededRng(1), **given).fit(VISITS)
    found = model.compare(VISITS, epsilon=1.0, random_state=SeededRng(2))
    # One in 900 persons moves a distance by 1/900, and the noise of a third of epsilon 1 by three times that.
    assert found.margins[2] < 12 / 900
    assert abs(found.pairs) < 0.05


def test_what_cannot_be_weighted_is_refused_by_name():
    for model in (
        PrivateCategoricalNB(categories={"visit": 3}, classes=[0, 1], weighted=True),
        PrivateHistogram(2, weighted=True),
    ):
        with pytest.raises(InvalidParameterError, match="weighted must be False unless unit"):
            model.fit({name: VISITS[name] for name in ("ward", "visit")}, "ward")
    with pytest.raises(InvalidParameterError, match="weighted must be False unless unit"):
        PrivateSynthesizer(domains=DOMAINS, weighted=True).fit(VISITS)
    with pytest.raises(InvalidParameterError, match="max_rows must lie between 1 and 16"):
        PrivateSynthesizer(domains=DOMAINS, weighted=True, unit="patient", max_rows=17).fit(VISITS)
    with pytest.raises(InvalidParameterError, match="weighted must be True or False"):
        PrivateBayesianNetwork([], DOMAINS, weighted="yes", **WHO).fit(VISITS)
    with pytest.raises(InvalidParameterError, match="for partial_fit"):
        PrivateCategoricalNB(weighted=True).partial_fit([[0], [1]], [0, 1])
    ledger = sdp.Accountant(1.0, 1e-6, unit="patient")
    with pytest.raises(InvalidParameterError, match="weighted must be False"):
        PrivateSynthesizer(domains=DOMAINS, weighted=True, accountant=ledger).fit(VISITS)
    assert not ledger.debits
