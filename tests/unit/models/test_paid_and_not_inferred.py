"""Released tables are paid for: a model whose tables cannot be inferred keeps them as they were drawn, and says so."""

import numpy as np
import pytest

import simplexdp as sdp
from simplexdp.exceptions import NumericalError
from simplexdp.models import PrivateBayesianNetwork, PrivateCategoricalNB
from simplexdp.models.naive_bayes_release import NaiveBayesRelease
from simplexdp.testing import SeededRng

NOT_INFERRED = "the model is not inferred, so that its tables stay as they were drawn"


def test_a_network_of_millions_of_records_is_inferred():
    generator = np.random.default_rng(0)
    size = 4_500_000
    first = generator.integers(0, 8, size)
    second = (first + generator.integers(0, 3, size)) % 8
    model = PrivateBayesianNetwork(
        [("a", "b")], {"a": 8, "b": 8}, epsilon=1.0, delta=1e-8, random_state=SeededRng(1)
    ).fit({"a": first, "b": second})
    assert model.smoothing_ == "posterior"
    true = np.zeros((8, 8))
    np.add.at(true, (first, second), 1)
    # Two tables share epsilon 1: noise of some counts, of half a million in a row.
    np.testing.assert_allclose(model.cpds_["b"], true / true.sum(axis=1, keepdims=True), atol=5e-5)


def test_a_network_whose_inference_fails(monkeypatch):
    def fails(*_):
        raise NumericalError("inference: by test")

    monkeypatch.setattr("simplexdp.models.network_release.smooth_network", fails)
    accountant = sdp.Accountant(1.0, 1e-6)
    model = PrivateBayesianNetwork(
        [("a", "b")], {"a": 3, "b": 3}, epsilon=1.0, delta=1e-7, accountant=accountant, random_state=SeededRng(1)
    )
    first = np.random.default_rng(0).integers(0, 3, 900)
    with pytest.warns(UserWarning, match=f"{NOT_INFERRED}.*by test"):
        model.fit({"a": first, "b": (first + 1) % 3})
    assert accountant.debits == 1
    assert model.smoothing_ == "floor"
    np.testing.assert_allclose(model.cpds_["b"], np.roll(np.eye(3), 1, axis=1), atol=0.1)
    with pytest.raises(AttributeError, match="cpd_sds_"):
        _ = model.cpd_sds_
    again = PrivateBayesianNetwork.from_json(model.to_json())
    np.testing.assert_array_equal(again.cpds_["b"], model.cpds_["b"])


def test_a_classifier_whose_inference_fails(monkeypatch):
    def fails(self):
        raise NumericalError("inference: by test")

    generator = np.random.default_rng(0)
    classes = generator.integers(0, 2, 500)
    features = np.column_stack([(classes + (generator.random(500) < 0.1)) % 2, generator.integers(0, 3, 500)])
    accountant = sdp.Accountant(1.0, 1e-6)
    model = PrivateCategoricalNB(
        1.0, 1e-7, categories=[2, 3], classes=[0, 1], accountant=accountant, random_state=SeededRng(1)
    )
    monkeypatch.setattr(NaiveBayesRelease, "posterior", property(fails))
    with pytest.warns(UserWarning, match=f"{NOT_INFERRED}.*by test"):
        model.fit(features, classes)
    assert accountant.debits == 1
    assert model.smoothing_ == "floor"
    assert model.score(features, classes) > 0.8
