"""Guarantees as values: equality to the last bit, text and back, what an attacker can do."""

import math
import pickle

import mpmath
import numpy as np
import pytest

import simplexdp as sdp
from simplexdp import _core
from simplexdp.accounting import dirichlet_curve

CURVES = [
    sdp.PrivacyCurve.pure(0.1),
    sdp.PrivacyCurve.from_epsilon_delta(0.1, 1e-9, adjacency="add_remove"),
    sdp.PrivacyCurve.gaussian(sigma=3.3) + 2 * sdp.PrivacyCurve.from_zcdp(0.01),
    dirichlet_curve(scale=0.1, prior=[1.5, 2.5, 3.5]).with_sampling_error(2.0**-64),
    dirichlet_curve(scale=0.1, prior=2.0, dimension=2, total=17),
    sdp.compose_disjoint(
        [dirichlet_curve(scale=r, prior=2.0, dimension=3, adjacency="add_remove") for r in (0.1, 0.2)]
    ),
    sdp.PrivacyCurve.from_tcdp(0.5, 4.0, conversion="lemma"),
]


@pytest.mark.parametrize("curve", CURVES, ids=repr)
def test_a_guarantee_comes_back_from_its_text(curve):
    text = curve.guarantee.to_text()
    again = _core.Guarantee.from_text(text)
    assert again == curve.guarantee
    assert hash(again) == hash(curve.guarantee)
    assert again.to_text() == text
    assert pickle.loads(pickle.dumps(curve)) == curve


def test_curves_that_differ_in_one_bit_are_not_equal_and_not_merged():
    a, b = sdp.PrivacyCurve.gaussian(sigma=5.0), sdp.PrivacyCurve.gaussian(sigma=math.nextafter(5.0, 6))
    assert repr(a) == repr(b)
    assert a != b
    assert sorted(count for _, count in sdp.compose([a, b, a]).profiles[0].parts) == [1, 2]
    assert sdp.compose([a, b]).epsilon(1e-6) >= max(a.epsilon(1e-6), b.epsilon(1e-6))
    assert len({a, b, sdp.PrivacyCurve.gaussian(sigma=5.0)}) == 2


def test_a_curve_made_from_a_function_has_no_text_but_pickles():
    curve = 2 * sdp.PrivacyCurve.from_renyi(_gaussian_renyi)
    assert curve.guarantee.to_text() is None
    again = pickle.loads(pickle.dumps(curve))
    assert again.epsilon(1e-6) == curve.epsilon(1e-6)


def _gaussian_renyi(order: float) -> float:
    return order / 50


@pytest.mark.parametrize(
    "text", ["", "replace", "__import__('os')", "replace(0.0, beta(1.0))", "x" * 100, "replace(0.0, \x00)"]
)
def test_foreign_text_is_refused(text):
    with pytest.raises(sdp.InvalidParameterError, match="text must be"):
        _core.Guarantee.from_text(text)


def test_certified_curves_have_a_text():
    mechanism = sdp.HellingerMechanism(prior=[1, 1], n=8, epsilon=0.8, delta=1e-8, calibration="certified")
    curve = mechanism.privacy
    assert sdp.PrivacyCurve.from_guarantee(_core.Guarantee.from_text(curve.guarantee.to_text())) == curve
    accountant = sdp.Accountant(1.0, 1e-6)
    accountant.release(mechanism, [3, 5])
    assert len(accountant.spends()) == 1


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 5.0])
def test_the_tradeoff_of_a_pure_guarantee(epsilon):
    fpr = np.linspace(0, 1, 41)
    exact = np.maximum.reduce([0 * fpr, 1 - math.exp(epsilon) * fpr, math.exp(-epsilon) * (1 - fpr)])
    bound = sdp.PrivacyCurve.pure(epsilon).tradeoff(fpr)
    assert np.all(bound <= exact + 1e-15)
    assert np.all(bound >= exact - 1e-6)


@pytest.mark.parametrize("sigma", [0.3, 1.0, 8.0])
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_the_tradeoff_of_gaussian_noise(sigma, adjacency):
    curve = sdp.PrivacyCurve.gaussian(sigma=sigma, adjacency=adjacency)
    for fpr in (1e-6, 0.01, 0.2, 0.5, 0.9, 0.999):
        with mpmath.workdps(40):
            z = mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * mpmath.mpf(fpr))
            exact = mpmath.ncdf(z - 1 / mpmath.mpf(sigma))
        bound = curve.tradeoff(fpr)
        assert bound <= exact
        assert bound >= exact - 1e-6


def test_one_direction_alone_may_be_worse():
    # Gamma(a + r) against Gamma(a) and back: two different curves, of which the lower one counts at each rate.
    curve = dirichlet_curve(scale=1.0, prior=1.0, dimension=3, adjacency="add_remove")
    single = [sdp.PrivacyCurve((profile,), adjacency="replace") for profile in curve.profiles]
    fpr = np.array([0.01, 0.1, 0.4, 0.8])
    both = np.minimum(*(one.tradeoff(fpr) for one in single))
    np.testing.assert_allclose(curve.tradeoff(fpr), both, atol=1e-12)


def test_advantage_is_the_total_variation_distance():
    assert sdp.PrivacyCurve.pure(1.0).advantage() == pytest.approx(math.tanh(0.5), rel=1e-9)
    assert sdp.PrivacyCurve.laplace(scale=1.0).advantage() >= 1 - math.exp(-0.5)


@pytest.mark.parametrize("fpr", [-0.1, 1.1, math.nan, "x"])
def test_rates_outside_the_unit_interval_are_refused(fpr):
    with pytest.raises(sdp.InvalidParameterError, match="fpr must"):
        sdp.PrivacyCurve.pure(1.0).tradeoff(fpr)
