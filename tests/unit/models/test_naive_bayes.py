"""Naive Bayes: scikit-learn's contract, the budget, and what must never leave the model."""

import pickle

import numpy as np
import pytest
from seeded_estimators import SeededByIntegers, unavoidable
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import CategoricalNB
from sklearn.utils.estimator_checks import parametrize_with_checks

import simplexdp as sdp
from simplexdp.frames import Domain
from simplexdp.models import PrivateCategoricalNB

MECHANISMS = ["dirichlet", "gaussian", "laplace", "discrete_laplace", "discrete_gaussian"]


class Seeded(SeededByIntegers, PrivateCategoricalNB):
    pass


@pytest.mark.filterwarnings("ignore::simplexdp.PrivacyLeakWarning")
@parametrize_with_checks(
    [PrivateCategoricalNB(mechanism="none"), Seeded(epsilon=20.0)], expected_failed_checks=unavoidable
)
def test_scikit_learn_accepts_the_classifier(estimator, check):
    check(estimator)


def records(n_records=4000, seed=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n_records)
    X = np.stack([(y + rng.integers(0, 2, n_records)) % 3, rng.integers(0, 4, n_records), y // 2], axis=1)
    return X, y


PUBLIC = {"categories": [3, 4, 2], "classes": [0, 1, 2]}


def test_without_noise_it_is_scikit_learns_classifier():
    X, y = records()
    ours = PrivateCategoricalNB(mechanism="none", **PUBLIC).fit(X, y)
    theirs = CategoricalNB(alpha=1e-10, force_alpha=True).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)
    np.testing.assert_allclose(ours.class_log_prior_, theirs.class_log_prior_, rtol=1e-12)
    assert ours.privacy_ is None


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_the_budget_is_kept_and_a_large_one_hides_little(mechanism, adjacency):
    X, y = records()
    parameters = {"mechanism": mechanism, "adjacency": adjacency, "random_state": sdp.testing.SeededRng(5), **PUBLIC}
    model = PrivateCategoricalNB(epsilon=25.0, delta=1e-6, **parameters).fit(X, y)
    exact = PrivateCategoricalNB(mechanism="none", **PUBLIC).fit(X, y)
    assert 24 < model.privacy_.epsilon(1e-6) <= 25
    assert model.privacy_.adjacency == adjacency
    for ours, true in zip(model.feature_log_prob_, exact.feature_log_prob_, strict=True):
        np.testing.assert_allclose(np.exp(ours).sum(axis=1), 1, rtol=1e-12)
        np.testing.assert_allclose(np.exp(ours), np.exp(true), atol=0.05)


@pytest.mark.parametrize("mechanism", MECHANISMS[:3])
def test_renyi_budgets_are_split_as_in_the_paper(mechanism):
    X, y = records()
    model = PrivateCategoricalNB.from_rdp(order=5, epsilon=1.0, mechanism=mechanism, **PUBLIC).fit(X, y)
    # The paper bounds the divergence of Laplace noise by a parabola: half of the budget is left at this order.
    assert (0.4 if mechanism == "laplace" else 0.7) < model.privacy_.renyi(5.0) <= 1.0 + 1e-9


@pytest.mark.parametrize("container", ["text", "pandas", "polars", "columns"])
def test_categories_of_any_kind_are_welcome(container):
    X, y = records(600)
    words = np.array(["red", "green", "blue", "grey"])[X]
    names = ["a", "b", "c"]
    categories = [Domain(["red", "green", "blue"]), Domain(["grey"], other=True), ["red", "green"]]
    frame = words
    if container != "text":
        data = {name: words[:, i] for i, name in enumerate(names)}
        module = pytest.importorskip("pandas" if container != "polars" else "polars")
        frame = module.DataFrame(data)
        if container == "columns":
            categories = dict(zip(names, categories, strict=True))
    model = PrivateCategoricalNB(mechanism="none", categories=categories, classes=["x", "y", "z"])
    labels = np.array(["x", "y", "z"])[y]
    model.fit(frame, labels)
    assert model.predict(frame).dtype == model.classes_.dtype
    assert model.n_categories_.tolist() == [3, 2, 2]
    expected = PrivateCategoricalNB(mechanism="none", categories=[3, 4, 2], classes=[0, 1, 2]).fit(X, y)
    np.testing.assert_allclose(model.feature_log_prob_[0], expected.feature_log_prob_[0])


def test_partial_counts_are_released_together_and_never_pickled():
    X, y = records()
    model = PrivateCategoricalNB(epsilon=5.0, mechanism="none", **PUBLIC)
    model.partial_fit(X[:1000], y[:1000]).partial_fit(X[1000:], y[1000:])
    with pytest.raises(sdp.InvalidDataError, match="release must be called"):
        pickle.dumps(model)
    with pytest.raises(sdp.InvalidDataError, match="release must be called"):
        model.__getstate__()
    model.release()
    whole = PrivateCategoricalNB(epsilon=5.0, mechanism="none", **PUBLIC).fit(X, y)
    for ours, expected in zip(model.feature_log_prob_, whole.feature_log_prob_, strict=True):
        np.testing.assert_array_equal(ours, expected)
    with pytest.raises(sdp.InvalidDataError, match="partial_fit must have counted"):
        model.release()


def test_a_fitted_model_holds_no_count():
    X, y = records(777)
    model = PrivateCategoricalNB(epsilon=1.0, **PUBLIC).fit(X, y)
    state = model.__getstate__()
    integers = [k for k, v in state.items() if isinstance(v, np.ndarray) and v.dtype.kind in "iu" and v.sum() >= 777]
    assert integers == []
    assert not hasattr(model, "class_count_")
    assert not hasattr(model, "category_count_")
    assert pickle.loads(pickle.dumps(model)).predict(X[:3]).shape == (3,)


def test_every_release_adds_to_the_cost():
    X, y = records()
    model = PrivateCategoricalNB(epsilon=1.0, **PUBLIC).fit(X, y)
    once = model.privacy_.epsilon(1e-6)
    model.partial_fit(X, y).release()
    assert model.privacy_.epsilon(1e-6) > 1.2 * once
    assert model.fit(X, y).privacy_.epsilon(1e-6) == once


def test_releases_of_nearly_the_same_cost_are_not_charged_as_one():
    # Once the curves of tables were merged where the six digits of their labels agreed: here they do.
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 3, (30, 2)), rng.integers(0, 2, 30)
    model = PrivateCategoricalNB(1.0, categories=[3, 3], classes=[0, 1]).fit(X, y)
    first = model.privacy_
    model.set_params(epsilon=1.0000001).partial_fit(X, y).release()
    assert model.privacy_ != 2 * first
    assert model.privacy_.epsilon(1e-6) > (2 * first).epsilon(1e-6)


def test_inferred_domains_warn_and_name_the_argument():
    X, y = records(100)
    with pytest.warns(sdp.PrivacyLeakWarning, match="categories="):
        PrivateCategoricalNB(mechanism="none", classes=[0, 1, 2]).fit(X, y)
    with pytest.warns(sdp.PrivacyLeakWarning, match="classes="):
        PrivateCategoricalNB(mechanism="none", categories=[3, 4, 2]).fit(X, y)


def test_the_accountant_is_asked_and_survives_clone_and_cross_validation():
    X, y = records()
    accountant = sdp.Accountant(epsilon=1.5, delta=1e-5)
    model = PrivateCategoricalNB(epsilon=0.5, accountant=accountant, **PUBLIC)
    clone(model).fit(X, y)
    first = accountant.spent_epsilon()
    cross_val_score(model, X, y, cv=3)
    assert accountant.spent_epsilon() > 1.3 * first > 0
    copies = [clone(model) for _ in range(40)]
    with pytest.raises(sdp.BudgetExceededError):
        [copy.fit(X, y) for copy in copies]


@pytest.mark.parametrize("value", [7, np.random.default_rng(0), "os"])
def test_other_generators_are_refused(value):
    X, y = records(50)
    accountant = sdp.Accountant(epsilon=9.0, delta=1e-5)
    with pytest.raises(sdp.InvalidParameterError, match="random_state must be None"):
        PrivateCategoricalNB(random_state=value, accountant=accountant, **PUBLIC).fit(X, y)
    assert accountant.spends() == []


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"mechanism": "other"}, "mechanism must be one of"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": float("nan")}, "epsilon"),
        ({"delta": 1.5}, "delta"),
        ({"adjacency": "both"}, "adjacency must be one of"),
        ({"order": 1.0}, "order"),
        ({"mechanism": "gaussian", "count_floor": -1}, "count_floor"),
        ({"classes": "012"}, "classes must be a list"),
        ({"classes": [0, 0, 1]}, "every value once"),
        ({"categories": [3, 4]}, "one domain for each of 3 features"),
        ({"categories": "abc"}, "categories must list"),
        ({"categories": None, "min_categories": 1.5}, "min_categories"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    X, y = records(50)
    with pytest.raises(sdp.InvalidParameterError, match=message):
        PrivateCategoricalNB(**{**PUBLIC, **parameters}).fit(X, y)


def test_data_outside_the_domain_are_refused_without_being_quoted():
    X, y = records(50)
    with pytest.raises(sdp.InvalidDataError) as caught:
        PrivateCategoricalNB(categories=[3, 2, 2], classes=[0, 1, 2]).fit(X, y)
    assert "3" not in str(caught.value)


@pytest.mark.parametrize("value", [-1, 3, 10**6])
def test_predictions_refuse_what_fit_would_refuse(value):
    X, y = records(50)
    model = PrivateCategoricalNB(**PUBLIC).fit(X, y)
    X[7, 0] = value
    with pytest.raises(sdp.InvalidDataError, match="not shown"):
        model.predict(X)


def test_classes_in_a_column_and_beside_the_features_are_the_same():
    X, y = records(500)
    columns = dict(zip("abc", X.T, strict=True))
    seeded = [
        PrivateCategoricalNB(random_state=sdp.testing.SeededRng(2), **PUBLIC).fit(*data)
        for data in ((X, y), (columns, y), ({**columns, "y": y}, "y"))
    ]
    for model in seeded[1:]:
        for ours, expected in zip(model.feature_log_prob_, seeded[0].feature_log_prob_, strict=True):
            np.testing.assert_array_equal(ours, expected)
    np.testing.assert_array_equal(seeded[1].predict_log_proba(columns), seeded[0].predict_log_proba(X))
    reordered = {name: columns[name] for name in "cab"}
    np.testing.assert_array_equal(seeded[1].predict(reordered), seeded[0].predict(X))


@pytest.mark.parametrize(
    "X, y, error, message",
    [
        (np.zeros((4, 3), int), "y", sdp.InvalidParameterError, "X is an array"),
        ({"a": [0, 1]}, "y", sdp.InvalidParameterError, "must name a column"),
        ({"y": [0, 1]}, "y", sdp.InvalidDataError, "at least one feature"),
        ({"a": [0, 1], "b": [0, 1], "c": [0, 1]}, np.array(["x", None], dtype=object), sdp.InvalidDataError, "missing"),
        ({"a": [0, 1], "b": [0, 1], "c": [0, 1]}, [0, 1, 2], sdp.InvalidDataError, "same number of records"),
    ],
)
def test_bad_classes_are_named(X, y, error, message):
    with pytest.raises(error, match=message):
        PrivateCategoricalNB(**PUBLIC).fit(X, y)
