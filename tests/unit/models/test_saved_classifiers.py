"""Classifiers as JSON: what is read back predicts the same, and nothing else is taken for a classifier."""

import json

import numpy as np
import pytest
from hostile_json import cut_off_and_replaced, spoiled

import simplexdp as sdp
from simplexdp.frames import Domain
from simplexdp.models import PrivateBinner, PrivateCategoricalNB


def records(n=400):
    rng = np.random.default_rng(5)
    return {
        "code": rng.integers(0, 3, n),
        "text": rng.choice(np.array(["x", "y", "z", None], dtype=object), n),
        "age": rng.normal(40, 10, n),
        "answer": rng.choice(["no", "yes"], n),
    }


CATEGORIES = {"code": 3, "text": Domain(["x", None], other=True)}
BINNER = PrivateBinner(bounds={"age": (0, 100)}, n_bins=4)


@pytest.fixture
def classifier():
    options = {"categories": CATEGORIES, "classes": ["no", "yes"], "binner": BINNER}
    return PrivateCategoricalNB(2.0, **options, random_state=sdp.testing.SeededRng(1)).fit(records(), "answer")


@pytest.mark.parametrize("mechanism", ["dirichlet", "discrete_gaussian", "none"])
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_files_bring_back_the_same_classifier(tmp_path, mechanism, adjacency):
    model = PrivateCategoricalNB(
        2.0, mechanism=mechanism, adjacency=adjacency, categories=CATEGORIES, classes=["no", "yes"], binner=BINNER
    ).fit(records(), "answer")
    model.save(tmp_path / "model.json")
    loaded = PrivateCategoricalNB.load(tmp_path / "model.json")
    X = {name: column for name, column in records().items() if name != "answer"}
    np.testing.assert_allclose(loaded.predict_log_proba(X), model.predict_log_proba(X), rtol=1e-13, atol=1e-14)
    assert loaded.predict(X).tolist() == model.predict(X).tolist()
    assert loaded.score(records(), "answer") == model.score(records(), "answer")
    assert loaded.feature_names_in_.tolist() == ["code", "text", "age"]
    assert json.loads(loaded.to_json())["class"] == json.loads(model.to_json())["class"]
    if mechanism == "none":
        assert loaded.privacy_ is None
    else:
        assert loaded.privacy_.epsilon(1e-6) == pytest.approx(model.privacy_.epsilon(1e-6), rel=1e-12)
        assert loaded.privacy_.adjacency == adjacency


def test_arrays_and_integer_classes_come_back_too():
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 4, (300, 3)), rng.integers(0, 2, 300)
    model = PrivateCategoricalNB(categories=[4, 4, 4], classes=[0, 1]).fit(X, y)
    loaded = PrivateCategoricalNB.from_json(model.to_json())
    assert loaded.predict(X).tolist() == model.predict(X).tolist()
    assert loaded.classes_.dtype.kind == "i"
    with pytest.raises(ValueError, match="features"):
        loaded.predict(X[:, :2])


def test_a_loaded_classifier_can_learn_more_and_its_cost_adds_up(classifier):
    loaded = PrivateCategoricalNB.from_json(classifier.to_json())
    before = loaded.privacy_.epsilon(1e-6)
    loaded.partial_fit(records(100), "answer").release()
    assert loaded.privacy_.epsilon(2e-6) > 1.5 * before


def test_hostile_files_are_refused_or_are_classifiers(classifier):
    text = classifier.to_json()
    for content in cut_off_and_replaced(text):
        with pytest.raises(sdp.InvalidParameterError):
            PrivateCategoricalNB.from_json(content)
    refused = 0
    X = {"code": [0], "text": ["x"], "age": [3.0]}
    for content in spoiled(text):
        try:
            loaded = PrivateCategoricalNB.from_json(content)
        except sdp.InvalidParameterError:
            refused += 1
        else:
            # Another class or value, say: still a classifier, of these features or of others.
            assert len(loaded.class_log_prior_) == len(loaded.classes_)
            if loaded.columns_ == list(X) and loaded.domains_[:2] == [Domain(3), Domain(["x", None], other=True)]:
                assert loaded.predict_proba(X).sum() == pytest.approx(1)
    assert refused > 300


def test_what_json_cannot_hold_is_named():
    model = PrivateCategoricalNB(categories=[[1 + 2j, 3j]], classes=[0, 1])
    model.fit(np.array([[1 + 2j], [3j]], dtype=object), [0, 1])
    with pytest.raises(sdp.InvalidParameterError, match="saved as JSON"):
        model.to_json()


def test_what_is_read_back_is_written_letter_by_letter():
    rng = np.random.default_rng(7)
    for trial in range(9):
        features = {f"x{position}": rng.integers(0, 7, 60) for position in range(40)}
        mechanism = ["dirichlet", "discrete_gaussian", "none"][trial % 3]
        model = PrivateCategoricalNB(
            1.0 + trial / 7, mechanism=mechanism, categories=dict.fromkeys(features, 7), classes=[0, 1, 2]
        ).fit({**features, "y": rng.integers(0, 3, 60)}, "y")
        text = model.to_json()
        again = PrivateCategoricalNB.from_json(text)
        assert again.to_json() == text
        np.testing.assert_array_equal(again.class_log_prior_, model.class_log_prior_)
