"""How much the evidence of naive Bayes counts: what is counted, what it costs, what follows from it."""

import json
import math

import numpy as np
import polars as pl
import pytest

import simplexdp as sdp
from simplexdp.accounting import compose
from simplexdp.exceptions import InvalidParameterError
from simplexdp.mechanisms import DiscreteGaussianMechanism, DiscreteLaplaceMechanism
from simplexdp.models import PrivateCategoricalNB
from simplexdp.models.calibration import EDGES, calibration_shape, hits_and_misses
from simplexdp.testing import SeededRng

LEVELS = [2, 3, 4]


def records(n, rng, classes=2, copies=1):
    """Features that hang on the class; `copies` of each."""
    y = rng.choice(classes, n, p=np.arange(1, classes + 1) / np.arange(1, classes + 1).sum())
    columns = []
    for levels in LEVELS:
        table = rng.dirichlet(np.full(levels, 1.0), classes)
        columns.append((rng.random(n)[:, None] > table.cumsum(axis=1)[y]).sum(axis=1).clip(0, levels - 1))
    return np.stack(columns * copies, axis=1), y


def model(classes=2, copies=1, seed=3, **options):
    """A seeded model of them."""
    options = {"epsilon": 1.0, "categories": LEVELS * copies, "classes": list(range(classes)), **options}
    return PrivateCategoricalNB(random_state=SeededRng(seed), **options)


def counted_one_by_one(joint, classes):
    """The table by its definition."""
    table = np.zeros(calibration_shape(joint.shape[1]), dtype=int)
    for row, label in zip(joint, classes, strict=True):
        shares = np.exp(row - row.max()) / np.exp(row - row.max()).sum()
        best = int(np.argmax(row))
        odds = math.log(shares[best] / (1 - shares[best])) if shares[best] < 1 else math.inf
        table[best * (len(EDGES) + 1) + sum(odds >= edge for edge in EDGES), int(best != label)] += 1
    return table


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_hits_and_misses_are_counted_by_class_and_confidence(classes):
    rng = np.random.default_rng(classes)
    joint = rng.normal(size=(500, classes)) * rng.choice([0.3, 3.0, 30.0], 500)[:, None]
    labels = rng.integers(0, classes, 500)
    found = hits_and_misses(joint, labels)
    np.testing.assert_array_equal(found, counted_one_by_one(joint, labels))
    # Whatever a record becomes, two cells move by one at most: nothing else depends on it.
    for _ in range(50):
        other, moved = joint.copy(), labels.copy()
        at = rng.integers(500)
        other[at], moved[at] = rng.normal(size=classes) * 5, rng.integers(classes)
        change = hits_and_misses(other, moved) - found
        assert np.abs(change).sum() in (0, 2)
        assert np.abs(change).max() <= 1


def test_copies_of_a_feature_count_once():
    rng = np.random.default_rng(1)
    X, y = records(20000, rng)
    once = model(epsilon=20.0).fit(X, y)
    copied = model(copies=6, epsilon=20.0).fit(np.tile(X, 6), y)
    assert once.evidence_weight_ == pytest.approx(1, abs=0.1)
    assert copied.evidence_weight_ == pytest.approx(1 / 6, abs=0.03)
    np.testing.assert_allclose(once.predict_proba(X), copied.predict_proba(np.tile(X, 6)), atol=0.05)
    trusting = model(copies=6, epsilon=20.0, calibration=None).fit(np.tile(X, 6), y)
    assert trusting.evidence_weight_ == 1

    def loss(fitted, X):
        return -fitted.predict_log_proba(X)[np.arange(len(y)), y].mean()

    assert loss(copied, np.tile(X, 6)) < loss(trusting, np.tile(X, 6)) - 0.05
    # P(x) is what it was.
    joint = copied.predict_joint_log_proba(np.tile(X, 6))
    np.testing.assert_allclose(
        np.logaddexp.reduce(joint, axis=1),
        np.logaddexp.reduce(copied._naive_joint(list(np.tile(X, 6).T)), axis=1),
        rtol=1e-9,
    )


def test_noise_that_hides_everything_leaves_the_weight_open():
    X, y = records(100, np.random.default_rng(2))
    fitted = model(epsilon=1e-3).fit(X, y)
    assert 0.2 < fitted.evidence_weight_ < 0.8


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("mechanism", ["discrete_gaussian", "discrete_laplace"])
def test_the_budget_pays_for_the_table(mechanism, adjacency):
    X, y = records(400, np.random.default_rng(4))
    fitted = model(mechanism=mechanism, adjacency=adjacency).fit(X, y)
    released = json.loads(fitted.to_json())
    tables = [released["class"], *released["features"], released["calibration"]]
    sizes = [table["released"]["size"] for table in tables]
    assert sizes[-1] > max(sizes[:-1])
    cells = 2 if adjacency == "replace" else 1
    if mechanism == "discrete_gaussian":
        parts = [
            DiscreteGaussianMechanism(sigma=size, sensitivity=math.sqrt(cells), adjacency=adjacency) for size in sizes
        ]
        times = [1] * len(parts)
    else:
        parts = [DiscreteLaplaceMechanism(scale=size, sensitivity=1, adjacency=adjacency) for size in sizes]
        times = [cells] * len(parts)
    by_hand = compose([part.privacy for part in parts], times).epsilon(1e-6)
    assert fitted.privacy_.epsilon(1e-6) == pytest.approx(by_hand, rel=1e-6)
    assert 0.97 < fitted.privacy_.epsilon(1e-6) <= 1


def test_a_fit_is_one_debit():
    asked = []

    class Watching(sdp.Accountant):
        def spend(self, *curves, **options):
            asked.append(curves)
            return super().spend(*curves, **options)

    accountant = Watching(1.0, 1e-6)
    X, y = records(300, np.random.default_rng(5))
    fitted = model(accountant=accountant).fit(X, y)
    assert "calibration" in json.loads(fitted.to_json())
    assert len(asked) == 1
    assert asked[0][0] == fitted.privacy_
    with pytest.raises(sdp.exceptions.BudgetExceededError):
        model(accountant=accountant).fit(X, y)


def test_files_hold_the_weight_and_what_it_came_from():
    X, y = records(500, np.random.default_rng(6), classes=3)
    fitted = model(classes=3).fit(X, y)
    again = PrivateCategoricalNB.from_json(fitted.to_json())
    assert again.evidence_weight_ == fitted.evidence_weight_
    np.testing.assert_array_equal(again.predict_log_proba(X), fitted.predict_log_proba(X))
    assert again.to_json() == fitted.to_json()
    content = json.loads(fitted.to_json())
    hostile = [
        1,
        [],
        {},
        {"weight": 2, "sd": 0.1, "released": content["calibration"]["released"]},
        {"weight": "x", "sd": 0.1, "released": content["calibration"]["released"]},
        {"weight": 0.5, "sd": -1, "released": content["calibration"]["released"]},
        {"weight": 0.5, "sd": 0.1, "released": content["class"]["released"]},
        {"weight": 0.5, "sd": 0.1, "released": None},
    ]
    for found in hostile:
        with pytest.raises(InvalidParameterError):
            PrivateCategoricalNB.from_json(json.dumps({**content, "calibration": found}))
    del content["calibration"]
    assert PrivateCategoricalNB.from_json(json.dumps(content)).evidence_weight_ == 1


def test_where_there_is_no_such_table():
    X, y = records(300, np.random.default_rng(7))
    for options in ({"mechanism": "dirichlet"}, {"smoothing": "floor"}, {"calibration": None}, {"mechanism": "none"}):
        fitted = model(**options).fit(X, y)
        assert fitted.evidence_weight_ == 1
        assert "calibration" not in json.loads(fitted.to_json())
    gathered = model().partial_fit(X[:100], y[:100]).partial_fit(X[100:], y[100:]).release()
    assert gathered.evidence_weight_ == 1
    alone = model(classes=1).fit(X, np.zeros(len(X), dtype=int))
    assert alone.evidence_weight_ == 1
    for bad in ("none", 1, True, np.nan, "posterior"):
        with pytest.raises(InvalidParameterError, match="calibration"):
            model(calibration=bad).fit(X, y)


def engines(frame):
    """The frame on every lazy engine that is installed."""
    yield "polars", pl.DataFrame(frame).lazy()
    duckdb = pytest.importorskip("duckdb")
    local = pl.DataFrame(frame)
    yield "duckdb", duckdb.connect().from_arrow(local.to_arrow())


@pytest.mark.parametrize("classes", [2, 3])
def test_engines_count_what_memory_counts(classes):
    rng = np.random.default_rng(8)
    X, y = records(2000, rng, classes=classes)
    words = np.array(["a", "it's", "ü"])
    frame = {"f.1": words[X[:, 1]].tolist(), "^g$": X[:, 2].tolist(), "h": X[:, 0].tolist(), "class": y.tolist()}
    frame["h"] = [None if value == 1 else value for value in frame["h"]]
    frame["age"] = (20 + 10 * X[:, 2] + rng.random(2000)).tolist()
    options = {
        "categories": {"f.1": words.tolist(), "^g$": 4, "h": [0, None]},
        "binner": sdp.models.PrivateBinner("edges", edges={"age": [30.0, 45.0]}),
    }
    fitted = model(classes=classes, **options).fit(pl.DataFrame(frame), "class")
    assert 0 < fitted.evidence_weight_ < 1
    for name, lazy in engines(frame):
        found = model(classes=classes, **options).fit(lazy, "class")
        assert found.to_json() == fitted.to_json(), name
