"""PrivacyCurve: arguments, shapes, immutability and the closed forms that need no oracle file."""

import pickle

import mpmath
import numpy as np
import pytest

import simplexdp as sdp
from simplexdp import _core
from simplexdp.exceptions import InvalidParameterError

CURVES = [
    sdp.PrivacyCurve.gaussian(sigma=2.0),
    sdp.PrivacyCurve.laplace(scale=0.5),
    sdp.PrivacyCurve.pure(1.0),
    sdp.PrivacyCurve.from_epsilon_delta(1.0, 1e-6),
    sdp.PrivacyCurve((_core.beta_profile(1.5, 1.5, 1.0),), adjacency="replace", exact=True),
    sdp.PrivacyCurve(
        (_core.gamma_profile(2.0, 1.0, False), _core.gamma_profile(2.0, 1.0, True)), adjacency="add_remove"
    ),
]


@pytest.mark.parametrize("curve", CURVES, ids=repr)
def test_arrays_keep_their_shape(curve):
    assert isinstance(curve.delta(1.0), float)
    assert isinstance(curve.epsilon(1e-3), float)
    assert curve.delta(np.ones((2, 3))).shape == (2, 3)
    assert curve.epsilon([1e-3, 1e-2]).shape == (2,)
    assert curve.renyi([[1.5]]).shape == (1, 1)


@pytest.mark.parametrize("curve", CURVES, ids=repr)
def test_epsilon_and_delta_are_inverse_from_the_safe_side(curve):
    deltas = np.array([1e-2, 1e-4, 2e-6])
    epsilons = curve.epsilon(deltas)
    assert np.all(curve.delta(epsilons) <= deltas)
    # Not more than 1e-10 too far: the curve is continuous there, or epsilon is where it ends.
    left = curve.delta(epsilons * (1 - 1e-10))
    assert np.all(left > deltas * (1 - 1e-5)), (left, deltas)


@pytest.mark.parametrize("curve", CURVES, ids=repr)
def test_pickle_gives_the_same_curve(curve):
    again = pickle.loads(pickle.dumps(curve.with_sampling_error(1e-9)))
    assert repr(again) == repr(curve.with_sampling_error(1e-9))
    assert again.delta(0.7) == curve.with_sampling_error(1e-9).delta(0.7)


def test_a_curve_cannot_be_changed():
    with pytest.raises(AttributeError, match="immutable"):
        CURVES[0].label = "other"
    with pytest.raises(AttributeError, match="immutable"):
        del CURVES[0].label


@pytest.mark.parametrize(
    ("alpha", "expected"),
    [(1.5, 7.8789), (3.0, 4.3563), (10.0, 1.8772), (50.0, 0.7335), (100.0, 0.4995), (1000.0, 0.1417)],
)
def test_the_epsilon_of_one_replaced_record(alpha, expected):
    curve = sdp.PrivacyCurve((_core.beta_profile(alpha, alpha, 1.0),), adjacency="replace")
    assert round(curve.epsilon(1e-5), 4) == expected


@pytest.mark.parametrize("mu", [1e-3, 0.1, 1.0, 7.0])
@pytest.mark.parametrize("epsilon", [-1.0, 0.0, 0.3, 4.0])
def test_the_gaussian_curve_is_the_analytic_one(mu, epsilon):
    with mpmath.workdps(50):
        mu_, eps_ = mpmath.mpf(mu), mpmath.mpf(epsilon)
        truth = mpmath.ncdf(mu_ / 2 - eps_ / mu_) - mpmath.exp(eps_) * mpmath.ncdf(-mu_ / 2 - eps_ / mu_)
        if truth < mpmath.mpf("1e-290"):
            return
        error = float(_core.gaussian_profile(mu).delta(np.array([epsilon]))[0] / truth - 1)
    assert 0 <= error <= 2e-11 or truth > 1 - 1e-10


def test_the_sampling_error_is_added():
    curve, eta = CURVES[0], 1e-7
    worse = curve.with_sampling_error(eta)
    assert worse.sampling_error == eta
    np.testing.assert_allclose(worse.delta(1.0), curve.delta(1.0) + (1 + np.e) * eta, rtol=1e-10)
    assert worse.delta(1.0) >= curve.delta(1.0) + (1 + np.e) * eta
    assert worse.epsilon(1e-5) > curve.epsilon(1e-5)
    assert worse.delta(worse.epsilon(1e-5)) <= 1e-5


def test_no_epsilon_reaches_a_delta_below_the_sampling_error():
    assert CURVES[0].with_sampling_error(1e-7).epsilon(1e-7) == np.inf


def test_delta_never_grows_with_epsilon_despite_the_sampling_error():
    values = CURVES[0].with_sampling_error(1e-9).delta(np.linspace(-2, 40, 400))
    # Where the addition dominates, delta stays at its least value, found to 1e-6 by a search.
    assert np.all(np.diff(values) <= 1e-6 * values[1:])


def test_zero_delta_is_for_pure_curves():
    assert sdp.PrivacyCurve.pure(0.5).epsilon(0.0) == pytest.approx(0.5, rel=1e-12)
    with pytest.raises(InvalidParameterError, match="not pure"):
        sdp.PrivacyCurve.gaussian(sigma=1.0).epsilon(0.0)


@pytest.mark.parametrize("delta", [-1e-9, 1.0, 2.0, np.nan, np.inf, [1e-5, 1.0]])
def test_delta_outside_the_unit_interval_is_refused(delta):
    with pytest.raises(InvalidParameterError, match="delta"):
        CURVES[0].epsilon(delta)


@pytest.mark.parametrize("order", [1.0, 0.5, -2.0, np.nan])
def test_orders_up_to_one_are_refused(order):
    with pytest.raises(InvalidParameterError, match="order"):
        CURVES[0].renyi(order)


@pytest.mark.parametrize(
    "make",
    [
        lambda: sdp.PrivacyCurve.gaussian(sigma=0.0),
        lambda: sdp.PrivacyCurve.gaussian(sigma=np.nan),
        lambda: sdp.PrivacyCurve.laplace(scale=-1.0),
        lambda: sdp.PrivacyCurve.pure(-0.1),
        lambda: sdp.PrivacyCurve.pure(np.inf),
        lambda: sdp.PrivacyCurve.from_epsilon_delta(1.0, 1.0),
        lambda: sdp.PrivacyCurve.pure(1.0, adjacency="swap"),
        lambda: sdp.PrivacyCurve((), adjacency="replace"),
        lambda: sdp.PrivacyCurve.pure(1.0).with_sampling_error(-1e-3),
        lambda: sdp.PrivacyCurve.pure(1.0).with_sampling_error(1.5),
        lambda: _core.beta_profile(0.0, 1.0, 1.0),
        lambda: _core.beta_profile(1.0, 1.0, float("nan")),
    ],
)
def test_bad_parameters_are_refused(make):
    with pytest.raises(InvalidParameterError):
        make()


@pytest.mark.parametrize(
    "curve",
    [
        sdp.PrivacyCurve.gaussian(sigma=2.0),
        sdp.PrivacyCurve.laplace(scale=3.0),
        sdp.PrivacyCurve.pure(1.0),
        sdp.PrivacyCurve.discrete_gaussian(sigma=5.0, changed=2),
        sdp.PrivacyCurve.from_epsilon_delta(0.5, 1e-9),
        sdp.accounting.dirichlet_curve(scale=1.0, prior=[1.0, 2.0, 3.0]),
        sdp.accounting.dirichlet_curve(scale=0.3, prior=4.0, dimension=3, adjacency="add_remove"),
        sdp.accounting.dirichlet_curve(scale=1.0, prior=1.5, dimension=2, total=40),
    ],
    ids=lambda curve: curve.label,
)
def test_bounds_of_a_pair_are_next_to_each_other_without_a_grid(curve):
    for delta in (1e-30, 1e-6, 0.01, 0.5):
        lower, upper = curve.epsilon_bounds(delta)
        assert lower <= upper == curve.epsilon(delta)
        assert upper == np.inf or upper - lower <= 1e-9
        assert curve.epsilon_bounds(delta, tolerance=1e-8) == (lower, upper)
        if 0 < lower < np.inf:
            assert curve.delta(lower * (1 - 1e-6)) > delta


def test_bounds_that_nothing_brings_together_are_said_to_be_so():
    curve = sdp.PrivacyCurve.from_zcdp(0.1)
    assert curve.epsilon_bounds(1e-6)[0] == 0
    with pytest.raises(sdp.NumericalError, match="stay more than the tolerance"):
        curve.epsilon_bounds(1e-6, tolerance=0.1)
