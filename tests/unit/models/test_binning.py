"""Bins: edges that cost nothing, edges that cost their budget, edges that leak and say so."""

import numpy as np
import pytest
from seeded_estimators import SeededByIntegers, unavoidable
from sklearn.utils.estimator_checks import parametrize_with_checks

import simplexdp as sdp
from simplexdp.exceptions import InvalidDataError
from simplexdp.models import PrivateBinner


class Seeded(SeededByIntegers, PrivateBinner):
    pass


@parametrize_with_checks(
    [PrivateBinner(bounds=(0, 1)), Seeded("private_quantile", bounds=(0, 1), epsilon=1.0)],
    expected_failed_checks=unavoidable,
)
def test_scikit_learn_accepts_the_transformer(estimator, check):
    check(estimator)


def test_uniform_bins_have_equal_width_and_clip():
    binner = PrivateBinner(n_bins=5, bounds=[(0, 10), (-1, 1)]).fit(np.zeros((1, 2)))
    np.testing.assert_allclose(binner.edges_[0], [2, 4, 6, 8])
    assert binner.transform([[-5, 0.9], [2, -3], [99, 0]]).tolist() == [[0, 4], [1, 0], [4, 2]]
    assert binner.n_bins_ == [5, 5]
    assert binner.epsilon_ == 0


def test_public_edges_are_taken_as_they_are():
    binner = PrivateBinner("edges", edges=[[1.0, 2.0]]).fit([[0.0]])
    assert binner.transform([[0.5], [1.0], [2.5]]).ravel().tolist() == [0, 1, 2]


def test_private_quantiles_are_near_the_quantiles_and_stay_inside_the_budget():
    rng = sdp.testing.SeededRng(1)
    values = np.random.default_rng(1).exponential(10, (20_000, 1))
    binner = PrivateBinner("private_quantile", bounds=(0, 100), epsilon=2.0, random_state=rng).fit(values)
    assert 1.99 < binner.epsilon_ <= 2.0
    # A rank error e is exp(epsilon e / 18) times less likely than none; 2000 of 20000 is far outside.
    ranks = (values < binner.edges_[0]).sum(axis=0)
    assert np.abs(ranks - 2000 * np.arange(1, 10)).max() < 600


def test_private_quantiles_charge_the_accountant_before_anything_is_drawn():
    accountant = sdp.Accountant(epsilon=0.5, delta=1e-6)
    binner = PrivateBinner("private_quantile", bounds=(0, 1), epsilon=1.0, accountant=accountant)
    with pytest.raises(sdp.BudgetExceededError):
        binner.fit([[0.5], [0.25]])
    assert not hasattr(binner, "edges_")


def test_quantiles_of_the_data_warn_and_cost_everything():
    binner = PrivateBinner("quantile", n_bins=4)
    with pytest.warns(sdp.PrivacyLeakWarning, match="private_quantile"):
        binner.fit(np.arange(100.0)[:, None])
    assert binner.epsilon_ == np.inf
    assert binner.n_bins_ == [4]


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"strategy": "other"}, "strategy must be one of"),
        ({}, "bounds must be public"),
        ({"edges": [[1.0]]}, "strategy must be 'edges'"),
        ({"bounds": (1, 0)}, "lower < upper"),
        ({"bounds": (0, float("nan"))}, "bounds"),
        ({"bounds": (0, 1, 2)}, "one pair"),
        ({"bounds": (0, 1), "n_bins": 1}, "n_bins must be an integer of at least 2"),
        ({"strategy": "edges"}, "edges must be given"),
        ({"strategy": "edges", "edges": [[2, 1]]}, "strictly increasing"),
        ({"strategy": "private_quantile", "bounds": (0, 1)}, "epsilon must be given"),
        ({"strategy": "private_quantile", "bounds": (0, 1), "epsilon": 0}, "epsilon must be positive"),
        ({"strategy": "private_quantile", "bounds": (0, 1), "epsilon": 1e-13}, "epsilon must be at least"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(sdp.InvalidParameterError, match=message):
        PrivateBinner(**parameters).fit([[0.5], [0.1]])


def test_a_mapping_of_columns_is_refused_in_words():
    with pytest.raises(sdp.InvalidDataError, match="X must be an array or a data frame"):
        PrivateBinner("uniform", n_bins=2, bounds={"v": (0, 1)}).fit({"v": [0.2, 0.7]})


def test_a_lazy_frame_is_refused_by_name():
    pl = pytest.importorskip("polars")
    lazy = pl.DataFrame({"age": [1.0, 2.0]}).lazy()
    with pytest.raises(InvalidDataError, match="collect it before"):
        PrivateBinner(bounds={"age": (0, 3)}).fit(lazy)
