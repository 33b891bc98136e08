"""Domains that are stated in a transformer and nowhere else: the model behind it takes them from there."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer, OrdinalEncoder, StandardScaler

import simplexdp as sdp
from simplexdp.models import PrivateBinner, PrivateCategoricalNB, PrivateGridSearch, domains_of

WARDS = OrdinalEncoder(categories=[["eye", "ear"]], dtype=int, handle_unknown="use_encoded_value", unknown_value=2)
AGES = PrivateBinner(bounds={"age": (0, 100)}, n_bins=5)
PASSED = {"smoker": ["no", "yes"]}


def glued(part, name):
    return part + name


def records(n=2000):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "ward": rng.choice(["eye", "ear", "nose"], n),
            "age": rng.uniform(0, 99, n),
            "smoker": rng.choice(["no", "yes"], n),
        }
    )
    return frame, np.where(frame["age"] > 50, "b", "a")


def transformer(**given):
    parts = [("w", WARDS, ["ward"]), ("a", AGES, ["age"]), ("gone", "drop", ["day"]), ("s", "passthrough", ["smoker"])]
    return ColumnTransformer(parts, **given)


@pytest.mark.parametrize("names", [True, False, "{feature_name}_{transformer_name}", glued])
@pytest.mark.parametrize("output", ["pandas", "default"])
def test_a_pipeline_states_its_domains_once(names, output):
    frame, y = records()
    made = transformer(verbose_feature_names_out=names).set_output(transform=output)
    made.set_params(transformers=[part for part in made.transformers if part[0] != "gone"])
    domains = domains_of(made, passed=PASSED)
    assert [len(domain) for domain in domains.values()] == [3, 5, 2]
    model = PrivateCategoricalNB(
        epsilon=4.0, categories=domains if output == "pandas" else list(domains.values()), classes=["a", "b"]
    )
    # Warnings are errors: nothing was read off the records.
    pipeline = Pipeline([("transform", made), ("model", model)]).fit(frame, y)
    assert list(domains) == made.get_feature_names_out().tolist()
    assert pipeline.score(frame, y) > 0.8
    kept = pickle.loads(pickle.dumps(pipeline))
    assert kept.predict(frame).tolist() == pipeline.predict(frame).tolist()
    assert domains_of(made, passed=PASSED) == domains
    unseen = frame[:1].assign(ward="unheard of")
    assert pipeline.predict(unseen).shape == (1,)


def test_one_transformer_alone_and_one_in_a_pipeline():
    assert [len(each) for each in domains_of(WARDS, ["ward"]).values()] == [3]
    cleaned = Pipeline([("lower", FunctionTransformer()), ("encode", WARDS)])
    assert domains_of(cleaned, ["ward"]) == domains_of(WARDS, ["ward"])
    private = PrivateBinner("private_quantile", bounds=(0, 100), n_bins=7, epsilon=0.1)
    assert [len(each) for each in domains_of(private, ["age"]).values()] == [7]
    edges = PrivateBinner("edges", edges={"age": [10, 20]})
    assert [len(each) for each in domains_of(edges, ["age"]).values()] == [3]


def test_a_search_over_the_number_of_bins_keeps_the_rest():
    frame, y = records()
    model = PrivateCategoricalNB(categories=domains_of(WARDS, ["ward"]), classes=["a", "b"], binner=AGES)
    made = ColumnTransformer([("w", WARDS, ["ward"]), ("a", "passthrough", ["age"])], verbose_feature_names_out=False)
    pipeline = Pipeline([("transform", made.set_output(transform="pandas")), ("model", model)])
    search = PrivateGridSearch(pipeline, {"model__binner__n_bins": [2, 10]}, epsilon=4.0).fit(frame, y)
    assert search.score(frame, y) > 0.8


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: domains_of(WARDS), "columns must be given"),
        (lambda: domains_of(WARDS, "ward"), "columns must list names"),
        (lambda: domains_of(WARDS, [0]), "columns must list names"),
        (lambda: domains_of(OrdinalEncoder(dtype=int), ["ward"]), "'auto' reads them off the data"),
        (lambda: domains_of(OrdinalEncoder(categories=[["a"]]), ["ward"]), "dtype of the encoder"),
        (lambda: domains_of(OrdinalEncoder(categories=[["a"]], dtype=int), ["x", "y"]), "values of each column"),
        (lambda: domains_of(OrdinalEncoder(categories=[["a"]], dtype=int, min_frequency=3), ["x"]), "how often"),
        (
            lambda: domains_of(
                OrdinalEncoder(categories=[["a"]], dtype=int, handle_unknown="use_encoded_value", unknown_value=-1),
                ["x"],
            ),
            "unknown_value",
        ),
        (lambda: domains_of(PrivateBinner("quantile"), ["age"]), "'quantile' are the data's"),
        (lambda: domains_of(PrivateBinner("uniform"), ["age"]), "bounds"),
        (lambda: domains_of(KBinsDiscretizer(), ["age"]), "got KBinsDiscretizer"),
        (lambda: domains_of(Pipeline([("s", StandardScaler()), ("b", AGES)]), ["age"]), "got StandardScaler"),
        (lambda: domains_of(Pipeline([("e", OrdinalEncoder()), ("b", AGES)]), ["age"]), "'auto' reads them off"),
        (lambda: domains_of(Pipeline([("q", PrivateBinner("quantile")), ("b", AGES)]), ["age"]), "'quantile'"),
        (lambda: domains_of(Pipeline([("p", "passthrough")]), ["age"]), "got NoneType"),
        (lambda: domains_of(transformer()), "passed must have a public domain"),
        (lambda: domains_of(transformer(remainder="passthrough"), passed=PASSED), "drop the remainder"),
        (lambda: domains_of(ColumnTransformer([("w", WARDS, [0])])), "columns must list names"),
        (
            lambda: domains_of(
                ColumnTransformer([("a", WARDS, ["w"]), ("b", WARDS, ["w"])], verbose_feature_names_out=False)
            ),
            "twice",
        ),
    ],
)
def test_what_is_not_public_beforehand_is_refused(made, message):
    with pytest.raises(sdp.InvalidParameterError, match=message):
        made()
