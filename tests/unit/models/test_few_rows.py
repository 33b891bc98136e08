"""One record at a time gets the answers that all get together, and loading models does not load scikit-learn."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

import simplexdp as sdp
from simplexdp.frames import Domain
from simplexdp.models import PrivateBinner, PrivateCategoricalNB, PrivateGaussianNB
from simplexdp.models.few_rows import few_rows
from simplexdp.testing import SeededRng

N = 120


def table():
    rng = np.random.default_rng(4)
    return {
        "code": rng.integers(0, 3, N),
        "text": rng.choice(np.array(["x", "y", "z", None], dtype=object), N),
        "flag": rng.integers(0, 2, N).astype(bool),
        "age": rng.normal(40, 10, N).round(1),
        "answer": rng.choice(["no", "yes"], N),
    }


@pytest.fixture
def classifier():
    binner = PrivateBinner(bounds={"age": (0, 100)}, n_bins=4)
    categories = {"code": 3, "text": Domain(["x", None], other=True), "flag": [False, True]}
    options = {"categories": categories, "classes": ["no", "yes"], "binner": binner}
    return PrivateCategoricalNB(5.0, **options, random_state=SeededRng(1)).fit(table(), "answer")


@pytest.mark.parametrize("library", [pd, pl])
def test_one_record_at_a_time_is_as_all_together(classifier, library):
    frame = library.DataFrame({name: column for name, column in table().items() if name != "answer"})
    together = classifier.predict_log_proba(frame)
    one_by_one = np.concatenate([classifier.predict_log_proba(frame[i : i + 1]) for i in range(N)])
    np.testing.assert_array_equal(together, one_by_one)
    assert few_rows(frame[:3], ["code", "text", "flag", "age"]) is not None
    with pytest.raises(sdp.InvalidDataError, match="not shown"):
        classifier.predict(library.DataFrame({"code": [7], "text": ["x"], "flag": [True], "age": [30.0]}))
    with pytest.raises(sdp.InvalidDataError, match="age"):
        classifier.predict(library.DataFrame({"code": [1], "text": ["x"], "flag": [True], "age": ["old"]}))
    with pytest.raises(sdp.InvalidDataError, match="missing"):
        classifier.predict(library.DataFrame({"code": [1], "text": ["x"], "flag": [True], "age": [float("nan")]}))


@pytest.mark.parametrize("library", [pd, pl])
def test_numbers_too(library):
    X = library.DataFrame({"a": np.linspace(0, 1, 40), "b": np.arange(40)})
    model = PrivateGaussianNB(bounds={"a": (0, 1), "b": (0, 40)}, classes=[0, 1], random_state=SeededRng(1))
    model.fit(X, np.arange(40) % 2)
    one_by_one = np.concatenate([model.predict_log_proba(X[i : i + 1]) for i in range(40)])
    np.testing.assert_allclose(model.predict_log_proba(X), one_by_one, rtol=1e-12)
    with pytest.raises(sdp.InvalidDataError, match="missing"):
        model.predict(library.DataFrame({"a": [float("nan")], "b": [1]}))
    with pytest.raises(sdp.InvalidDataError, match="numbers"):
        model.predict(library.DataFrame({"a": ["x"], "b": [1]}))


def test_what_is_not_plain_takes_the_long_way():
    frame = pd.DataFrame({"a": [1], "b": [2]})
    assert few_rows(frame, ["a", "b"]) == [[1, 2]]
    assert few_rows(frame, ["b", "a"]) is None
    assert few_rows(frame, ["a"]) is None
    assert few_rows(pd.concat([frame] * 20), ["a", "b"]) is None
    assert few_rows(frame.iloc[:0], ["a", "b"]) is None
    assert few_rows(pd.DataFrame({"a": [pd.Timestamp("2024-01-01")], "b": [2]}), ["a", "b"]) is None
    assert few_rows(pl.DataFrame({"a": [1], "b": [2]}).lazy(), ["a", "b"]) is None
    assert few_rows(np.zeros((1, 2)), [0, 1]) is None


def test_loading_the_models_loads_no_scikit_learn():
    asked = "import sys, simplexdp.models as m; print('sklearn' in sys.modules, sorted(m.__all__) == sorted(m._HOMES))"
    found = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["False", "True"]
    with pytest.raises(AttributeError, match="PrivateForest"):
        _ = sdp.models.PrivateForest
    assert "PrivateGaussianNB" in dir(sdp.models)
