"""Models of persons with several records: bounded where the data are, priced for all of them, and saying so."""

import json
import pickle

import numpy as np
import pytest

import simplexdp as sdp
from simplexdp.exceptions import InvalidDataError, InvalidParameterError
from simplexdp.models import PrivateBayesianNetwork, PrivateBinner, PrivateCategoricalNB, PrivateSynthesizer
from simplexdp.testing import SeededRng

pytestmark = pytest.mark.filterwarnings("ignore::simplexdp.InsecureRandomnessWarning")

RNG = np.random.default_rng(4)
PERSONS = RNG.integers(0, 400, 3000)
VISITS = {
    "patient": [f"p{person}" for person in PERSONS.tolist()],
    "ward": RNG.choice(["eye", "ear"], 3000).tolist(),
    "visit": RNG.integers(0, 3, 3000).tolist(),
    "day": RNG.integers(0, 365, 3000),
}
DOMAINS = {"ward": ["eye", "ear"], "visit": 3}
WHO = {"unit": "patient", "max_rows": 2}
N_KEPT = int(np.minimum(np.unique(PERSONS, return_counts=True)[1], 2).sum())


def naive_bayes(frame=VISITS, **given):
    model = PrivateCategoricalNB(1.0, 1e-6, categories={"visit": 3}, classes=["eye", "ear"], **{**WHO, **given})
    columns = {name: frame[name] for name in ("patient", "ward", "visit")} if frame is VISITS else frame
    return model.fit(columns, "ward")


def network(frame=VISITS, **given):
    return PrivateBayesianNetwork([("ward", "visit")], DOMAINS, epsilon=1.0, **{**WHO, **given}).fit(frame)


def synthesizer(frame=VISITS, **given):
    return PrivateSynthesizer(1.0, 1e-6, domains=DOMAINS, components=4, **{**WHO, **given}).fit(frame)


def tree(frame=VISITS, **given):
    return PrivateBayesianNetwork("learn", DOMAINS, epsilon=1.0, **{**WHO, **given}).fit(frame)


MODELS = [naive_bayes, network, synthesizer, tree]


@pytest.mark.parametrize("fit", MODELS)
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_the_guarantee_names_whom_it_is_for_also_in_a_file(fit, adjacency):
    model = fit(adjacency=adjacency)
    assert model.privacy_.epsilon(1e-6) <= 1.0
    assert model.privacy_.label.endswith("for 'patient' with 2 records")
    text = model.to_json()
    assert json.loads(text)["privacy"]["unit"] == "patient"
    loaded = type(model).from_json(text)
    assert loaded.privacy_.label.endswith("for 'patient' with 2 records")
    assert (loaded.unit, loaded.max_rows) == ("patient", 2)
    assert json.loads(loaded.to_json())["privacy"] == json.loads(text)["privacy"]


def test_tables_count_the_bounded_records():
    classes = np.exp(naive_bayes(mechanism="none", adjacency="add_remove").class_log_prior_)
    # Shares of so many records, whatever records are drawn.
    assert classes * N_KEPT == pytest.approx(np.rint(classes * N_KEPT), abs=1e-6)
    assert np.exp(naive_bayes(mechanism="none").class_log_prior_).sum() == pytest.approx(1)
    assert synthesizer().n_records_ == pytest.approx(N_KEPT, abs=400)


def test_one_record_each_keeps_a_public_number_of_records():
    assert json.loads(naive_bayes(max_rows=1).to_json())["total"] == len(set(PERSONS.tolist()))
    assert json.loads(network(max_rows=2).to_json())["total"] is None
    assert synthesizer(max_rows=1, adjacency="replace").n_records_ == len(set(PERSONS.tolist()))


@pytest.mark.parametrize("mechanism", ["dirichlet", "gaussian", "laplace", "discrete_gaussian", "discrete_laplace"])
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("order", [None, 8.0])
def test_twice_the_records_get_twice_the_noise(mechanism, adjacency, order):
    sizes = []
    for rows in (1, 2):
        model = network(mechanism=mechanism, adjacency=adjacency, order=order, max_rows=rows, smoothing="floor")
        sizes.append(model._released.tables["visit"].law.size)
    ratio = sizes[0] / sizes[1] if mechanism == "dirichlet" else sizes[1] / sizes[0]
    # A Dirichlet prior is chosen for the number of records, which is public for one record each alone.
    assert 1.9 < ratio < (2.8 if (mechanism, adjacency, order) == ("dirichlet", "replace", None) else 2.1)


def test_private_bins_are_paid_for_all_records_of_a_person():
    binner = PrivateBinner(n_bins=4, strategy="private_quantile", bounds={"day": (0, 365)}, epsilon=0.4)
    for model in (
        PrivateSynthesizer(1.0, 1e-6, domains={"ward": ["eye", "ear"]}, binner=binner, components=4, **WHO),
        PrivateBayesianNetwork([("ward", "day")], {"ward": ["eye", "ear"]}, epsilon=1.0, binner=binner, **WHO),
    ):
        assert 0.4 < model.fit(VISITS).privacy_.epsilon(1e-6) <= 1.0
    from simplexdp.models.bins import BinPlan

    one, two = (BinPlan.of(binner, ["day"], rows) for rows in (1, 2))
    # The same price for a person, for which each record gets half.
    assert two.epsilon <= 0.4
    assert two.share == one.share / 2
    assert two.cost >= 2 * sdp._core.quantile_epsilon(two.share, 1 << 32)


def test_persons_come_beside_an_array():
    X = np.stack([VISITS["visit"], np.array(VISITS["day"]) % 5], axis=1)
    model = PrivateCategoricalNB(categories=[3, 5], classes=["eye", "ear"], max_rows=2)
    model.fit(X, VISITS["ward"], persons=VISITS["patient"])
    assert model.privacy_.label.endswith("for a person with 2 records")
    assert model.predict(X[:4]).shape == (4,)
    frame = PrivateSynthesizer(1.0, 1e-6, domains={0: 3, 1: 5}, components=4, max_rows=2).fit(X, persons=PERSONS)
    assert frame.compare(X, epsilon=1.0, persons=PERSONS).privacy.label.endswith("for a person with 2 records")


def test_no_model_keeps_who_the_persons_are():
    X = np.array(VISITS["visit"])[:, None]
    secret = ["secret-" + name for name in VISITS["patient"]]
    for model in (
        PrivateCategoricalNB(categories=[3], classes=["eye", "ear"], max_rows=2).fit(X, VISITS["ward"], persons=secret),
        PrivateBayesianNetwork([], {0: 3}, max_rows=2).fit(X, persons=secret),
        PrivateSynthesizer(1.0, 1e-6, domains={0: 3}, components=4, max_rows=2).fit(X, persons=secret),
    ):
        state = {name: value for name, value in vars(model).items() if name != "_mixture"}
        assert b"secret" not in pickle.dumps(state)


def test_persons_are_no_features():
    assert naive_bayes().feature_names_in_.tolist() == ["visit"]
    model = PrivateCategoricalNB(categories={"visit": 3}, classes=["eye", "ear"], first_by="day", **WHO)
    frame = {name: values for name, values in VISITS.items() if name != "ward"}
    model.fit(frame, VISITS["ward"])
    assert model.feature_names_in_.tolist() == ["visit"]
    # Neither is asked for afterwards.
    assert model.predict({"visit": [0, 1]}).shape == (2,)
    with pytest.warns(sdp.exceptions.PrivacyLeakWarning):
        found = PrivateSynthesizer(1.0, 1e-6, components=4, **WHO).fit(VISITS)
    assert "patient" not in found.domains_


@pytest.mark.parametrize("engine", ["pandas", "polars", "polars lazy", "duckdb", "dask"])
def test_every_engine_bounds_where_the_data_are(engine):
    pa = pytest.importorskip("pyarrow")
    table = pa.table({name: VISITS[name] for name in ("patient", "ward", "visit")})
    if engine == "duckdb":
        frame = pytest.importorskip("duckdb").from_arrow(table)
    elif engine == "dask":
        frame = pytest.importorskip("dask.dataframe").from_pandas(table.to_pandas(), npartitions=3)
    elif engine == "pandas":
        frame = table.to_pandas()
    else:
        frame = pytest.importorskip("polars").from_arrow(table)
        frame = frame.lazy() if engine == "polars lazy" else frame
    for fit in (naive_bayes, network, synthesizer):
        # The seed of a test draws the same records and the same noise everywhere.
        here = fit({name: VISITS[name] for name in ("patient", "ward", "visit")}, random_state=SeededRng(5))
        there = fit(frame, random_state=SeededRng(5))
        assert json.loads(there.to_json()) == json.loads(here.to_json())


def test_what_cannot_be_bounded_is_refused():
    model = PrivateCategoricalNB(categories=[3], classes=["eye", "ear"])
    X = np.array(VISITS["visit"])[:, None]
    with pytest.raises(InvalidParameterError, match="for partial_fit"):
        PrivateCategoricalNB(max_rows=2).partial_fit(X, VISITS["ward"], classes=["eye", "ear"])
    with pytest.raises(InvalidParameterError, match="max_rows must be given"):
        model.fit(X, VISITS["ward"], persons=PERSONS)
    with pytest.raises(InvalidParameterError, match="unit and first_by must be None for an array"):
        PrivateCategoricalNB(categories=[3], classes=["eye", "ear"], **WHO).fit(X, VISITS["ward"])
    with pytest.raises(InvalidDataError, match="persons must be as many"):
        model.set_params(max_rows=2).fit(X, VISITS["ward"], persons=PERSONS[:7])
    with pytest.raises(InvalidParameterError, match="unit must name a column beside"):
        network(unit="ward")
    with pytest.raises(InvalidParameterError, match="fit is given persons"):
        network(unit=None)
    with pytest.raises(InvalidParameterError, match="prior must be at least 1/2"):
        sdp.accounting.Structure.naive_bayes(2).release(1.0, 0.4, max_rows=4)
    lazy = pytest.importorskip("polars").LazyFrame({"visit": VISITS["visit"]})
    with pytest.raises(InvalidParameterError, match="persons must be None for a lazy frame"):
        PrivateSynthesizer(1.0, 1e-6, domains={"visit": 3}, max_rows=2).fit(lazy, persons=PERSONS)


def test_a_file_that_lies_about_persons_is_refused():
    text = json.loads(network().to_json())
    for wrong in ({"max_rows": 0}, {"max_rows": "2"}, {"max_rows": None}, {"unit": ["patient"]}):
        text["privacy"] |= {"unit": "patient", "max_rows": 2, **wrong}
        with pytest.raises(InvalidParameterError):
            PrivateBayesianNetwork.from_json(json.dumps(text))
