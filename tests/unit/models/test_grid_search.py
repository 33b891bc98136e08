"""A search is one release: one debit, one price, nothing drawn before it is paid, and a winner that is worth it."""

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import dlaplace
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OrdinalEncoder

import simplexdp as sdp
from simplexdp.accounting import compose_parts
from simplexdp.models import PrivateBinner, PrivateCategoricalNB, PrivateGaussianNB, PrivateGridSearch


def records(n=4000, seed=1):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return rng.normal(50 + 10 * np.where(y, 1, -1) * rng.choice([-1, 1], n), 2)[:, None], y


def searched(**parameters):
    model = PrivateCategoricalNB(classes=[0, 1], binner=PrivateBinner(bounds=(0, 100)))
    return PrivateGridSearch(model, {"binner__n_bins": [2, 3, 20]}, **parameters)


def test_it_finds_the_better_setting():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 4000)
    # Class 1 is in the middle and class 0 at both ends: two bins cannot tell them apart, six can.
    X = np.where(y == 1, rng.uniform(35, 65, 4000), rng.choice([10, 90], 4000) + rng.uniform(-8, 8, 4000))[:, None]
    search = searched(epsilon=2.0, random_state=sdp.testing.SeededRng(1)).fit(X, y)
    assert search.best_params_ != {"binner__n_bins": 2}
    assert search.score(X, y) > 0.9
    assert search.predict(X[:3]).tolist() == search.best_estimator_.predict(X[:3]).tolist()
    assert search.predict_proba(X[:2]).shape == search.predict_log_proba(X[:2]).shape == (2, 2)
    assert np.all(search.score_intervals_[:, 0] <= search.score_intervals_[:, 1])
    assert search.scores_[0] < 0.7 < search.scores_[search.best_index_]
    assert search.seeded_


@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_all_of_it_is_one_debit_within_the_budget(epsilon):
    X, y = records()
    accountant = sdp.Accountant(epsilon, 1e-6, adaptive=False)
    search = searched(epsilon=epsilon, accountant=accountant).fit(X, y)
    assert 0.98 * epsilon <= search.privacy_.epsilon(1e-6) <= epsilon
    assert [row["label"] for row in accountant.spends()] == ["grid search of 3 candidates"]
    assert search.fit_epsilon_ < epsilon
    # Fits by themselves, composed outside, are within the price.
    fits = sdp.compose([search.best_estimator_.privacy_], [3])
    assert fits.epsilon(1e-6) <= search.privacy_.epsilon(1e-6) * (1 + 1e-9)
    with pytest.raises(sdp.BudgetExceededError):
        clone(search).fit(X, y)


def test_nothing_is_drawn_before_it_is_paid(monkeypatch):
    drawn = []
    release = sdp.DiscreteGaussianMechanism.release
    monkeypatch.setattr(
        sdp.DiscreteGaussianMechanism, "release", lambda self, *a, **k: drawn.append(1) or release(self, *a, **k)
    )
    with pytest.raises(sdp.BudgetExceededError):
        searched(epsilon=2.0, accountant=sdp.Accountant(1.0, 1e-6)).fit(*records())
    assert not drawn


def test_parts_by_place_cost_the_largest_part_judged_by_enumeration():
    """Two records, a part each: noise on the first, then noise on the second, whose sign the first release chose."""
    small, large = 0.4, 0.9
    values = np.arange(-60, 61)

    def law(x, epsilon):
        return dlaplace.pmf(values - x, epsilon)

    def joint(first, second):
        a = law(first, small)
        by_sign = [law(second, large), law(1 - second, large)]
        return np.stack([a[i] * by_sign[int(values[i] > 0)] for i in range(len(values))])

    told = compose_parts([sdp.PrivacyCurve.pure(small), sdp.PrivacyCurve.pure(large)])
    for x, changed in itertools.product(itertools.product((0, 1), repeat=2), (0, 1)):
        other = list(x)
        other[changed] = 1 - other[changed]
        p, q = joint(*x), joint(*other)
        for epsilon in (0.0, 0.2, 0.5, 0.9):
            assert np.maximum(p - np.exp(epsilon) * q, 0).sum() <= told.delta(epsilon) + 1e-12
    assert told.epsilon(0.0) == large
    both = sdp.compose([sdp.PrivacyCurve.pure(small), sdp.PrivacyCurve.pure(large)])
    assert told.delta(0.8) < both.delta(0.8)
    with pytest.raises(sdp.InvalidParameterError, match="replace"):
        compose_parts([sdp.PrivacyCurve.pure(1.0, adjacency="add_remove")])


def test_frames_and_pipelines_are_searched():
    rng = np.random.default_rng(3)
    y = rng.choice(["no", "yes"], 2000)
    columns = {"a": rng.uniform(0, 1, 2000) + (y == "yes"), "b": rng.uniform(0, 1, 2000), "class": y}
    model = PrivateGaussianNB(bounds={"a": (0, 2), "b": (0, 1)}, classes=["no", "yes"])
    for frame in (columns, pd.DataFrame(columns), pl.DataFrame(columns), pl.DataFrame(columns).lazy()):
        search = PrivateGridSearch(
            model, {"priors": [None, [0.99, 0.01]]}, epsilon=3.0, random_state=sdp.testing.SeededRng(1)
        )
        search.fit(frame, "class")
        assert search.best_params_ == {"priors": None}
        assert search.score(frame, "class") > 0.7
    text = rng.choice(["x", "y"], (2000, 2)).astype(object)
    pipeline = Pipeline(
        [
            ("encode", OrdinalEncoder(categories=[["x", "y"]] * 2, dtype=int)),
            ("model", PrivateCategoricalNB(categories=[2, 2], classes=["no", "yes"])),
        ]
    )
    found = PrivateGridSearch(pipeline, {"model__fit_prior": [True, False]}, epsilon=1.0).fit(text, y)
    assert found.predict(text[:2]).shape == (2,)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"param_grid": {"fit_prior": [True]}}, "2 to 1000 candidates"),
        ({"param_grid": {"epsilon": [1, 2]}}, "'epsilon', which the search sets"),
        ({"param_grid": "x"}, "param_grid"),
        ({"estimator": PrivateBinner()}, "private classifier"),
        ({"estimator": PrivateCategoricalNB(adjacency="add_remove", categories=[2], classes=[0, 1])}, "'replace'"),
        ({"estimator": PrivateCategoricalNB(categories=[2], classes=[0, 1], unit=0, max_rows=2)}, "no unit"),
        ({"param_grid": {"max_rows": [1, 2]}}, "no max_rows"),
        ({"epsilon": -1}, "epsilon"),
        ({"delta": 0}, "delta"),
        ({"holdout": 1.0}, "holdout"),
    ],
)
def test_bad_arguments_are_refused_by_name(change, message):
    X, y = np.zeros((40, 1), dtype=int), np.arange(40) % 2
    given = {
        "estimator": PrivateCategoricalNB(categories=[2], classes=[0, 1]),
        "param_grid": {"fit_prior": [True, False]},
    }
    with pytest.raises(sdp.InvalidParameterError, match=message):
        PrivateGridSearch(**{**given, **change}).fit(X, y)


def test_bad_records_are_refused_before_anything_is_paid():
    accountant = sdp.Accountant(2.0, 1e-6)
    X, y = records(100)
    for bad_X, bad_y in [(X, y[:-1]), (X, np.where(y == 0, 7, 8)), (X[:1], y[:1])]:
        with pytest.raises((sdp.InvalidDataError, ValueError)):
            searched(accountant=accountant).fit(bad_X, bad_y)
    assert accountant.debits == 0
