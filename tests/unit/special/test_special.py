"""Shapes, types and refusals of simplexdp.special; accuracy is tested in tests/golden."""

import math

import mpmath
import numpy as np
import pytest
import scipy.special

import simplexdp as sdp

special = sdp.special
UNARY = [special.log_gamma, special.digamma, special.trigamma]


@pytest.mark.parametrize("function", UNARY)
def test_scalars_give_python_floats_and_arrays_keep_their_shape(function):
    assert type(function(3)) is float
    assert type(function(np.float32(2.5))) is float
    assert type(function(True)) is float
    x = np.linspace(0.5, 9, 24).reshape(2, 3, 4)
    for view in (x, x[::-1, :, ::2], x.T, np.asfortranarray(x)):
        expected = np.array([function(float(value)) for value in view.ravel()]).reshape(view.shape)
        np.testing.assert_array_equal(function(view), expected)
    assert function(np.empty((0, 3))).shape == (0, 3)
    assert function([]).shape == (0,)


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.float16, np.float32, bool])
def test_number_types_are_converted(dtype):
    x = np.array([1, 1, 1], dtype=dtype)
    np.testing.assert_array_equal(special.trigamma(x), [special.trigamma(1.0)] * 3)


def test_arguments_broadcast():
    order, x = np.arange(4)[:, None], np.array([0.5, 1.5, 20.0])
    values = special.polygamma(order, x)
    assert values.shape == (4, 3)
    np.testing.assert_allclose(values, scipy.special.polygamma(order, x), rtol=1e-13)
    assert special.polygamma(np.empty((0, 1)), x).shape == (0, 3)


def test_log_beta_sums_over_the_last_axis():
    a = np.array([[[1.0, 2.0, 3.0], [0.5, 0.5, 9.0]]])
    expected = scipy.special.gammaln(a).sum(-1) - scipy.special.gammaln(a.sum(-1))
    np.testing.assert_allclose(special.log_beta(a), expected, rtol=1e-13)
    assert type(special.log_beta([1.0, 2.0])) is float


def test_integers_beyond_double_precision_are_taken_as_doubles():
    assert special.log_gamma(2**70) == special.log_gamma(2.0**70)
    assert special.trigamma(np.array([2**60 + 1])) == special.trigamma(2.0**60)


@pytest.mark.parametrize(
    "bad", ["1", [1j], np.array([object()]), [None], np.array(["2020"], "M8"), [[1, 2], [3]], 1 << 2000]
)
@pytest.mark.parametrize("function", UNARY)
def test_what_is_not_a_real_number_is_refused_by_name(function, bad):
    with pytest.raises(sdp.InvalidParameterError, match=r"^x must "):
        function(bad)


def test_refusals_name_the_argument():
    with pytest.raises(sdp.InvalidParameterError, match="order must be a whole number from 0 to 20, got 21"):
        special.polygamma(21, 1.0)
    with pytest.raises(sdp.InvalidParameterError, match=r"order must .* got 0\.5"):
        special.polygamma([1, 0.5], 1.0)
    with pytest.raises(sdp.InvalidParameterError, match=r"order \(2,\), x \(3,\)"):
        special.polygamma([1, 2], [1.0, 2.0, 3.0])
    with pytest.raises(sdp.InvalidParameterError, match="a must have shape"):
        special.log_beta(1.0)


@pytest.mark.parametrize(
    "ours, peer",
    [
        (special.log_gamma, scipy.special.gammaln),
        (special.digamma, scipy.special.digamma),
        (special.trigamma, lambda x: scipy.special.polygamma(1, x)),
        (lambda x: special.polygamma(2, x), lambda x: scipy.special.polygamma(2, x)),
        (lambda x: special.polygamma(3, x), lambda x: scipy.special.polygamma(3, x)),
    ],
)
def test_poles_infinities_and_nan_are_scipys(ours, peer):
    x = np.array([0.0, -0.0, -1.0, -7.0, -1e20, np.inf, -np.inf, np.nan])
    np.testing.assert_array_equal(ours(x), peer(x))
    x = -np.linspace(0.0531, 9.9587, 67)
    np.testing.assert_allclose(ours(x), peer(x), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("x", [5e-324, 3e-322, 1e-310, 2.3e-308, 1e-295, 9.9e-291, 1.01e-290])
@pytest.mark.parametrize("a", [1e-3, 0.018, 0.3])
@pytest.mark.parametrize("b", [0.5, 1.0, 3.0, 1e6])
def test_beta_tails_where_x_has_lost_digits(a, b, x):
    with mpmath.workdps(50):
        log_power = mpmath.log(x) * a - mpmath.log(a) - mpmath.log(mpmath.beta(a, b))  # off by b x
        lower = mpmath.exp(log_power)
        assert special.betainc(a, b, x) == pytest.approx(float(lower), rel=2e-13)
        assert special.betaincc(a, b, x) == pytest.approx(float(1 - lower), rel=1e-14)
        assert special.log_betainc(a, b, x) == pytest.approx(float(log_power), rel=1e-14)


def test_the_median_of_a_symmetric_beta_is_exactly_half():
    for a in (1e-5, 0.7, math.e, 40.0, 1e9):
        assert special.betainc(a, a, 0.5) == special.betaincc(a, a, 0.5) == 0.5
