"""What models leave behind when something is refused, and what they say of releases that were made."""

import contextlib
import json
import warnings

import numpy as np
import pytest

import simplexdp as sdp
from simplexdp.exceptions import BudgetExceededError, InvalidDataError, InvalidParameterError
from simplexdp.frames import Domain
from simplexdp.models import PrivateBayesianNetwork, PrivateBinner, PrivateCategoricalNB, PrivateHistogram

X = np.array([[0, 1], [1, 1], [1, 0], [0, 0]] * 50)
Y = np.array(list("abba") * 50)
STATED = {"categories": [2, 2], "classes": ["a", "b"]}


def test_a_refused_fit_keeps_no_counts():
    accountant = sdp.Accountant(epsilon=1.0, delta=1e-6)
    model = PrivateCategoricalNB(epsilon=2.0, **STATED, accountant=accountant)
    with pytest.raises(BudgetExceededError):
        model.fit(X, Y)
    assert not [name for name in vars(model) if name.endswith("_") or name == "_counts"]
    assert model.set_params(epsilon=0.5).partial_fit(X, Y)._counts[0].tolist() == [[100, 100]]


def test_a_refused_refit_leaves_tables_and_encodings_together():
    frame = {"f": ["x", "z"] * 100, "g": ["p", "q"] * 100}
    model = PrivateCategoricalNB(epsilon=2.0, categories=[["x", "z"], ["p", "q"]], classes=["a", "b"])
    model.fit(frame, ["a", "b"] * 100)
    before, saved = model.predict_proba(frame), model.to_json()
    model.set_params(categories=[["z", "x"], ["q", "p"]], accountant=sdp.Accountant(epsilon=0.1, delta=1e-6))
    with pytest.raises(BudgetExceededError):
        model.fit(frame, ["a", "b"] * 100)
    np.testing.assert_array_equal(model.predict_proba(frame), before)
    assert model.to_json() == saved
    with pytest.raises(InvalidDataError):
        model.partial_fit({"f": ["x", "?"], "g": ["p", "q"]}, ["a", "b"])
    np.testing.assert_array_equal(model.predict_proba(frame), before)


def test_releases_whose_costs_do_not_add_are_refused_before_they_are_drawn():
    model = PrivateCategoricalNB(epsilon=1.0, **STATED).fit(X, Y)
    tables, cost = model.feature_log_prob_, model.privacy_
    model.set_params(adjacency="add_remove").partial_fit(X, Y)
    with pytest.raises(InvalidParameterError, match="adjacency"):
        model.release()
    assert model.feature_log_prob_ is tables
    assert model.privacy_ is cost


def test_what_was_released_without_protection_stays_so():
    model = PrivateCategoricalNB(mechanism="none", **STATED).partial_fit(X, Y).release()
    assert model.privacy_ is None
    assert model.set_params(mechanism="dirichlet").partial_fit(X, Y).release().privacy_ is None
    assert model.fit(X, Y).privacy_ is not None


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_an_accountant_is_not_asked_for_nothing(adjacency):
    accountant = sdp.Accountant(epsilon=1.0, delta=1e-6, adjacency=adjacency)
    common = {"mechanism": "none", "adjacency": adjacency, "accountant": accountant}
    with pytest.raises(InvalidParameterError, match="accountant must be None"):
        PrivateCategoricalNB(**common, **STATED).fit(X, Y)
    with pytest.raises(InvalidParameterError, match="accountant must be None"):
        PrivateBayesianNetwork([("a", "b")], {"a": 2, "b": 2}, **common).fit({"a": X[:, 0], "b": X[:, 1]})


def test_debits_of_models_are_noted_as_released():
    accountant = sdp.Accountant(epsilon=10.0, delta=1e-6)
    frame = {"a": X[:, 0], "b": X[:, 1]}
    PrivateCategoricalNB(**STATED, accountant=accountant).fit(X, Y)
    PrivateBayesianNetwork([("a", "b")], {"a": 2, "b": 2}, accountant=accountant).fit(frame)
    PrivateHistogram(2, total=200, accountant=accountant).fit(frame, "a")
    PrivateBinner("private_quantile", bounds=(0, 1), epsilon=0.5, accountant=accountant).fit(X[:, :1])
    assert [row["state"] for row in accountant.spends()] == ["released"] * 4


@pytest.mark.parametrize("kind", ["network", "classifier"])
def test_values_without_a_place_are_refused_before_private_quantiles_are_paid_for(kind):
    accountant = sdp.Accountant(epsilon=1.0, delta=1e-6)
    binner = PrivateBinner("private_quantile", n_bins=3, bounds={"n": (0, 10)}, epsilon=0.2)
    frame = {"n": np.arange(100) / 10, "c": ["x", "y"] * 49 + ["x", "?"], "t": [0, 1] * 50}
    paid = {"binner": binner, "accountant": accountant}
    if kind == "network":
        domains = {"c": ["x", "y"], "t": 2}
        model, arguments = PrivateBayesianNetwork([("t", "n"), ("t", "c")], domains, **paid), (frame,)
    else:
        model = PrivateCategoricalNB(categories={"c": ["x", "y"]}, classes=[0, 1], **paid)
        arguments = (frame, "t")
    with pytest.raises(InvalidDataError, match="'c'"):
        model.fit(*arguments)
    assert accountant.spent_epsilon() == 0


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize(
    ("epsilon", "delta", "n_tables"),
    [(10, 1e-20, 1), (20, 1e-12, 1), (20, 1e-12, 5), (20, 1e-16, 1), (5, 1e-20, 1), (5, 1e-20, 5), (1, 1e-6, 5)],
)
def test_gaussian_tables_keep_small_deltas(epsilon, delta, n_tables, adjacency):
    model = PrivateCategoricalNB(
        epsilon, delta, mechanism="gaussian", adjacency=adjacency, categories=[2] * n_tables, classes=[0, 1]
    )
    model.fit(np.zeros((8, n_tables), dtype=int), [0, 1] * 4)
    assert 0.9999 * epsilon <= model.privacy_.epsilon(delta) <= epsilon


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize(("epsilon", "delta"), [(5.0, 1e-25), (20.0, 1e-18)])
def test_a_delta_below_the_error_of_the_grids_is_refused_by_name(epsilon, delta, adjacency):
    model = PrivateCategoricalNB(
        epsilon, delta, mechanism="gaussian", adjacency=adjacency, categories=[2], classes=[0, 1]
    )
    with pytest.raises(InvalidParameterError, match="delta must"):
        model.fit([[0], [1]] * 4, [0, 1] * 4)


def test_a_file_says_how_the_tables_were_drawn():
    model = PrivateCategoricalNB(epsilon=1.0, **STATED).fit(X, Y)
    said = json.loads(model.to_json())["privacy"]
    model.set_params(adjacency="add_remove", mechanism="laplace")
    assert json.loads(model.to_json())["privacy"] == said
    assert (said["adjacency"], said["mechanism"], "seeded" in said) == ("replace", model.mechanism_, False)
    frame = {"a": X[:, 0], "b": X[:, 1]}
    with _quiet():
        seeded = PrivateCategoricalNB(**STATED, random_state=sdp.testing.SeededRng(1)).fit(X, Y)
        network = PrivateBayesianNetwork([("a", "b")], {"a": 2, "b": 2}, random_state=sdp.testing.SeededRng(1)).fit(
            frame
        )
    for fitted in (seeded, network):
        text = fitted.to_json()
        assert json.loads(text)["privacy"]["seeded"] is True
        again = type(fitted).from_json(text)
        assert json.loads(again.to_json())["privacy"]["seeded"] is True


@contextlib.contextmanager
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("epsilon", [1e-51, 1e-300, 5e-324])
@pytest.mark.parametrize("mechanism", ["auto", "laplace", "discrete_laplace", "dirichlet"])
def test_a_budget_that_no_search_can_meet_is_refused_by_name(mechanism, epsilon):
    # Some of these searches never ended, others left the range of a logarithm.
    with pytest.raises(InvalidParameterError, match=f"^epsilon must be at least 1e-50, got {epsilon}"):
        PrivateCategoricalNB(epsilon, mechanism=mechanism, **STATED).fit(X, Y)


def test_labels_of_mixed_types_keep_theirs():
    y = np.array([0, "a"] * 100, dtype=object)
    model = PrivateCategoricalNB(epsilon=50.0, categories=[2], classes=[0, "a"]).fit([[0], [1]] * 100, y)
    assert model.classes_.tolist() == [0, "a"]
    assert set(model.predict([[0], [1]])) == {0, "a"}
    assert model.score([[0], [1]] * 100, y) == 1.0
    assert model.score([[0], [1]], np.array([0, "secret"], dtype=object)) == 0.5
    assert model.score([[0], [1]], ["0", "secret"]) == 0.0
    assert model.score([[0], [1]], np.array([0, "b"], dtype=object), sample_weight=[3, 1]) == 0.75
    again = PrivateCategoricalNB.from_json(model.to_json())
    assert again.classes_.tolist() == [0, "a"]


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        (["a", None], "missing value"),
        ({"a", "b"}, "list of values"),
        (0, "at least one level"),
        (1.5, "list of values"),
    ],
)
def test_classes_that_are_no_list_are_named(classes, message):
    with pytest.raises(InvalidParameterError, match=message):
        PrivateCategoricalNB(categories=[2, 2], classes=classes).fit(X, Y)


def test_classes_may_be_a_domain_or_a_cardinality():
    for classes in (Domain(["a", "b"]), np.array(["a", "b"])):
        assert PrivateCategoricalNB(categories=[2, 2], classes=classes).fit(X, Y).classes_.tolist() == ["a", "b"]
    assert PrivateCategoricalNB(categories=[2, 2], classes=3).fit(X, X[:, 0]).classes_.tolist() == [0, 1, 2]


def test_masked_records_are_refused_by_estimators():
    masked = np.ma.masked_array(X, X == 1)
    with pytest.raises(InvalidDataError, match="masked"):
        PrivateCategoricalNB(**STATED).fit(masked, Y)


def test_frames_may_follow_arrays():
    import pandas as pd
    import polars as pl

    model = PrivateCategoricalNB(epsilon=5.0, **STATED).fit(X, Y)
    expected = model.predict_proba(X)
    columns = {"f": X[:, 0], "g": X[:, 1]}
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns)):
        with _quiet():  # scikit-learn warns that names were not there before
            np.testing.assert_array_equal(model.predict_proba(frame), expected)
    with _quiet(), pytest.raises(ValueError, match="2 features"):
        model.predict(pd.DataFrame({"f": X[:, 0]}))


def test_binned_columns_keep_their_names():
    import pandas as pd
    from sklearn.compose import ColumnTransformer

    frame = pd.DataFrame({"n": [0.1, 0.9, 0.4], "m": [0.5, 0.2, 0.3]})
    binner = PrivateBinner("uniform", bounds=(0, 1), n_bins=2)
    assert binner.fit(frame).get_feature_names_out().tolist() == ["n", "m"]
    transformer = ColumnTransformer([("bins", binner, ["n"])]).set_output(transform="pandas")
    assert transformer.fit_transform(frame)["bins__n"].tolist() == [0, 1, 0]


def test_no_label_is_quoted_by_a_wrong_score():
    model = PrivateCategoricalNB(epsilon=1.0, **STATED).fit(X, Y)
    assert model.score(X[:2], [7, 8]) == 0.0
    with pytest.raises(InvalidDataError, match="same number of records"):
        model.score(X[:2], ["a"])
    assert model.score(X[:2], [7, 8], sample_weight=[0, 1]) == 0.0
    for weights in ([np.nan, 1], [1], "x", [0, 0], [-1, 2], [[1, 2]]):
        with pytest.raises(InvalidParameterError, match="sample_weight must"):
            model.score(X[:2], ["a", "b"], sample_weight=weights)


@pytest.mark.parametrize("groups", [["Female", "Rare"], ["Rare"], ["Rare", "Rarer", "Female"]])
def test_dask_labels_do_not_depend_on_the_categories_that_occur(groups):
    dd, pd = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    for rare in (0, 1):
        values = ["Female"] * (100 - rare) + ["Rare"] * rare
        frame = dd.from_pandas(pd.DataFrame({"g": pd.Categorical(values), "x": ["a", "b"] * 50}), npartitions=2)
        histogram = PrivateHistogram(domain=["a", "b"], groups=groups, epsilon=0.5, total=100)
        released = histogram.release_on_dask(frame, "x", by="g").compute()
        assert sorted(released["g"]) == sorted(groups)
        assert released.dtypes["g"] == pd.Series(groups).dtype


@pytest.mark.parametrize("groups", [[1, None], ["1", 1], [1.0, 2.5]])
def test_dask_groups_of_other_types_than_the_column(groups):
    dd, pd = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    from simplexdp.models.dask import group_counts

    frame = dd.from_pandas(pd.DataFrame({"g": [1, 1, 2], "x": ["a", "b", "a"]}), npartitions=2)
    counted = group_counts(frame, "x", ["g"], Domain(["a", "b"]), {"g": groups}).compute().sort_values("g 0")
    found = dict(zip(counted["g"].tolist(), counted[["g 0", "g 1"]].to_numpy().tolist(), strict=True))
    assert [found[key] for key in found if key == 1] == [[1, 1]]
    assert sum(map(sum, found.values())) == 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: PrivateCategoricalNB(**STATED, accountant="x").fit(X, Y), "accountant must be"),
        (lambda: PrivateHistogram(2, total=200, accountant="x").fit({"a": X[:, 0]}, "a"), "accountant must be"),
        (
            lambda: PrivateBinner("private_quantile", bounds=(0, 1), epsilon=1.0, accountant="x").fit(X),
            "accountant must be",
        ),
        (lambda: PrivateBinner("uniform", bounds=5).fit(X), "bounds must be"),
        (lambda: PrivateBinner("edges", edges=5).fit(X), "edges must be"),
        (lambda: PrivateBinner("edges", edges=np.array(5)).fit(X), "edges must be"),
    ],
)
def test_parameters_of_a_wrong_kind_are_named(call, message):
    with pytest.raises(InvalidParameterError, match=message):
        call()


def test_no_records_are_released_where_their_number_is_private():
    model = PrivateCategoricalNB(**STATED, adjacency="add_remove").fit(X[:0], Y[:0])
    assert model.class_log_prior_.shape == (2,)


def test_groups_are_named_in_the_order_of_the_rows():
    frame = {"g": ["b", "a"] * 100, "x": X[:, 0]}
    histogram = PrivateHistogram(2, groups=["b", "c", "a"], total=200).fit(frame, "x", by="g")
    assert histogram.groups_ == ["b", "c", "a"]
    assert len(histogram.probabilities_) == 3
    assert histogram.fit(frame, "x").groups_ is None
