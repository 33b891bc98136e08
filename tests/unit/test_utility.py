"""The papers' accuracy bounds: their values, their inverses, their conditions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import lambertw

import simplexdp as sdp
from simplexdp.utility import (
    bias,
    histogram_error_bound,
    histogram_sample_size,
    kl_tail_bound,
    multinomial_kl_bound,
    multinomial_kl_sample_size,
    sample_size_kl,
)

thresholds = st.floats(1e-4, 20)
totals = st.floats(1, 1e9)
dimensions = st.integers(2, 5000)


def test_the_papers_tail_bound_is_its_formula():
    # [DM] Theorem 2 by hand: beta = 500, d alpha = 20, eta = 0.5.
    expected = math.exp(-500 * 0.25 / (2 * 2.5 * 5.5))
    assert kl_tail_bound(0.5, 1000, 10, scale=0.5, prior=2.0, form="paper") == pytest.approx(expected, rel=1e-14)
    assert kl_tail_bound(0.5, 100, 10, scale=0.5, prior=2.0, form="paper") == 1.0  # 50 < 20 / (e^0.25 - 1)


@given(thresholds, totals, dimensions, st.floats(0.5, 100))
def test_the_sharp_tail_bound_is_the_one_inside_the_proof(threshold, total, dimension, prior):
    mass = dimension * prior
    w = lambertw(total * math.exp(1 + threshold) / (total + mass)).real
    expected = math.exp(-total * (w - 1) ** 2 / w) if w > 1 else 1.0
    value = kl_tail_bound(threshold, total, dimension, prior=prior)
    # The reference loses digits where w is close to 1, as total * (w - 1)^2 does.
    assert value == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(thresholds, totals, dimensions, st.floats(0.5, 100))
def test_the_sharp_tail_bound_never_exceeds_the_papers(threshold, total, dimension, prior):
    sharp, paper = (kl_tail_bound(threshold, total, dimension, prior=prior, form=form) for form in ("sharp", "paper"))
    assert 0 <= sharp <= paper * (1 + 1e-9) <= 1 + 1e-9


@given(st.floats(0.01, 5), st.floats(1e-9, 0.5), st.integers(2, 500), st.floats(0.01, 10), st.floats(0.5, 20))
def test_sample_sizes_are_the_smallest_that_meet_their_bounds(error, failure, dimension, scale, prior):
    parameters = {"scale": scale, "prior": prior}
    for form in ("sharp", "paper"):
        n = sample_size_kl(error, failure, dimension, form=form, **parameters)
        assert kl_tail_bound(error, n, dimension, form=form, **parameters) <= failure
        assert n == 1 or kl_tail_bound(error, n - 1, dimension, form=form, **parameters) > failure
    for options in (parameters, {"mechanism": "gaussian", "rho": scale, "l2": prior}):
        n = histogram_sample_size(error, dimension, failure, **options)
        assert histogram_error_bound(n, dimension, failure, **options) <= error
        assert n == 1 or histogram_error_bound(n - 1, dimension, failure, **options) > error


@given(st.floats(1e-3, 10), st.floats(0, 20))
def test_the_multinomial_sample_size_is_the_smallest_that_meets_its_bound(threshold, step):
    p = [0.5, 0.4, 0.1]
    n = multinomial_kl_sample_size(threshold, p, 1.0, 1.0 + step)
    assert multinomial_kl_bound(p, n, 1.0, 1.0 + step) <= threshold
    assert n == 1 or multinomial_kl_bound(p, n - 1, 1.0, 1.0 + step) > threshold


def test_histogram_bounds_are_their_formulas():
    # [DPS] eq. 13 and 16 by hand.
    log_term = math.log(2 * 4 / 0.1)
    expected = math.sqrt(log_term / (2 * (50 + 6 + 1))) + 6 / 56
    value = histogram_error_bound(100, 4, 0.1, scale=0.5, prior=[1, 1, 2, 2])
    assert value == pytest.approx(expected, rel=1e-14)
    gaussian = histogram_error_bound([100, 200], 4, 0.1, mechanism="gaussian", rho=0.5, l2=1.0)
    assert gaussian == pytest.approx([math.sqrt(log_term / 0.5) / 100, math.sqrt(log_term / 0.5) / 200], rel=1e-14)


def test_the_bias_is_the_difference_of_means():
    p, alpha = np.array([0.5, 0.3, 0.2]), np.array([1.0, 2.0, 0.5])
    mean = (0.3 * 70 * p + alpha) / (0.3 * 70 + alpha.sum())
    np.testing.assert_allclose(bias(p, 70, scale=0.3, prior=alpha), mean - p, rtol=1e-13)
    assert bias(np.tile(p, (4, 1)), [1, 2, 3, 4]).shape == (4, 3)


@pytest.mark.parametrize(
    "call",
    [
        lambda: kl_tail_bound(0.1, 100, 3, prior=0.49),
        lambda: kl_tail_bound(0.0, 100, 3),
        lambda: kl_tail_bound(float("nan"), 100, 3),
        lambda: kl_tail_bound(0.1, -5, 3),
        lambda: kl_tail_bound(0.1, 100, 1),
        lambda: kl_tail_bound(0.1, 100, 2.5),
        lambda: kl_tail_bound(0.1, 100, 3, form="loose"),
        lambda: kl_tail_bound(0.1, 100, 3, scale=0),
        lambda: sample_size_kl(0.1, 1.0, 3),
        lambda: sample_size_kl(1e-15, 1e-9, 3),
        lambda: multinomial_kl_bound([0.5, 0.5], 10, 0.9, 2.0),
        lambda: multinomial_kl_bound([0.5, 0.5], 10, 2.0, 1.0),
        lambda: multinomial_kl_bound([1.0, 0.0], 10, 1.0, 2.0),
        lambda: multinomial_kl_bound([0.5, 0.6], 10, 1.0, 2.0),
        lambda: multinomial_kl_bound([0.5, 0.5], 10, [1, 1, 1], 2.0),
        lambda: histogram_error_bound(10, 3, 0.1, mechanism="gaussian"),
        lambda: histogram_error_bound(10, 3, 0.1, mechanism="laplace"),
        lambda: histogram_error_bound(0, 3, 0.1),
        lambda: histogram_error_bound(10, 3, 0.0),
        lambda: histogram_error_bound(10, 3, 0.1, prior=[1, 2]),
        lambda: histogram_error_bound(10, 3, 0.1, prior=-1),
        lambda: histogram_sample_size(-0.1, 3, 0.1),
        lambda: bias([0.5, 0.5], 0),
    ],
)
def test_parameters_outside_a_bounds_conditions_are_refused(call):
    with pytest.raises(sdp.InvalidParameterError):
        call()


def test_dimensions_beyond_memory_are_answered_or_refused_at_once():
    many = sdp.utility.histogram_error_bound(10**12, 2**31, 0.05)
    assert many == pytest.approx(np.sqrt(np.log(2**32 / 0.05) / (2 * (10**12 + 2**31 + 1))) + 2**31 / (10**12 + 2**31))
    for function in (sdp.utility.histogram_error_bound, sdp.utility.histogram_sample_size):
        with pytest.raises(sdp.InvalidParameterError, match="dimension must be at most"):
            function(0.5, 2**70, 0.5)
    with pytest.raises(sdp.InvalidParameterError, match="dimension must be at most"):
        sdp.utility.kl_tail_bound(0.5, 100, 10**400)
