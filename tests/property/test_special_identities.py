"""Identities of the special functions over their whole range, and answers to any double whatever."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

import simplexdp as sdp
from simplexdp._algorithm_one import algorithm_one_scale

special = sdp.special
shapes = st.floats(1e-3, 1e9)
points = st.floats(0, 1)
anything = st.floats() | st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 5e-324, math.inf, -math.inf, math.nan])
# Arrays of every shape, strides included.
any_array = arrays(np.float64, array_shapes(min_dims=0, min_side=0, max_side=4), elements=anything)
strided = any_array.map(lambda x: x[..., ::-2] if x.ndim else x)


def log_space(low, high):
    return st.floats(math.log(low), math.log(high)).map(math.exp)


@pytest.mark.parametrize("name", sorted(set(special.__all__) - {"log_beta", "polygamma"}))
@given(data=st.data())
def test_any_doubles_of_any_shape_are_answered(name, data):
    function = getattr(special, name)
    n_arguments = 3 if "beta" in name else 2 if "inc" in name or name == "log_gamma_ratio" else 1
    first = data.draw(strided)
    rest = [data.draw(anything) for _ in range(n_arguments - 1)]
    values = function(first, *rest)
    assert np.shape(values) == first.shape
    if "inc" in name and "log" not in name and "inverse" not in name:
        values = np.asarray(values)
        assert np.all(np.isnan(values) | ((values >= 0) & (values <= 1)))


@given(order=st.integers(0, 20), x=any_array)
def test_polygamma_answers_any_double(order, x):
    assert np.shape(special.polygamma(order, x)) == x.shape


@given(x=log_space(1e-12, 1e12))
def test_one_step_of_the_recurrences(x):
    assert special.log_gamma(x + 1) == pytest.approx(special.log_gamma(x) + math.log(x), rel=1e-13, abs=1e-14)
    # x + 1 is rounded, which matters to the left of 1e-3 only through the terms that are added.
    assert special.trigamma(x) == pytest.approx(special.trigamma(x + 1) + 1 / x**2, rel=1e-13)
    assert special.log_gamma_ratio(x, 1.0) == pytest.approx(math.log(x), rel=1e-13, abs=1e-13)


@given(a=log_space(1e-3, 1e9), x=log_space(1e-12, 1e12))
def test_the_tails_of_a_gamma_close_to_one_and_agree_with_their_logarithms(a, x):
    p, q = special.gammainc(a, x), special.gammaincc(a, x)
    # Each tail has its own formula where both are needed.
    assert p + q == pytest.approx(1, abs=1e-14)
    for tail, log_tail in ((p, special.log_gammainc(a, x)), (q, special.log_gammaincc(a, x))):
        assert log_tail <= 0
        if tail > 1e-300:
            assert math.exp(log_tail) == pytest.approx(tail, rel=3e-13)


@given(a=log_space(1e-3, 1e9), b=log_space(1e-3, 1e9), x=points)
def test_the_tails_of_a_beta_close_to_one_and_mirror_each_other(a, b, x):
    p, q = special.betainc(a, b, x), special.betaincc(a, b, x)
    # Each tail has its own formula where both are needed.
    assert p + q == pytest.approx(1, abs=1e-14)
    if x >= 0.5:
        # 1 - x is exact.
        assert special.betaincc(b, a, 1 - x) == p
    for tail, log_tail in ((p, special.log_betainc(a, b, x)), (q, special.log_betaincc(a, b, x))):
        assert log_tail <= 0
        if tail > 1e-300:
            assert math.exp(log_tail) == pytest.approx(tail, rel=3e-13)


@given(a=log_space(1e-2, 1e9), pair=st.tuples(points, points))
def test_quantiles_increase_and_land_where_they_say(a, pair):
    low, high = sorted(pair)
    x, y = special.gammainc_inverse(a, low), special.gammainc_inverse(a, high)
    assert x <= y * (1 + 1e-13)
    if 1e-290 < x < math.inf:
        # One ulp of x moves the probability by up to x times the density.
        step = abs(special.gammainc(a, x * (1 + 1e-14)) - special.gammainc(a, x * (1 - 1e-14)))
        assert special.gammainc(a, x) == pytest.approx(low, rel=1e-12, abs=step)


@given(
    order=log_space(1.001, 1e6),
    epsilon=log_space(1e-9, 1e9),
    l2_squared=log_space(1e-6, 1e6),
    linf=log_space(1e-3, 1e3),
    floor=st.just(0.0) | log_space(1e-3, 1e6),
    slack=st.just(0.0) | st.floats(0.01, 10),
)
def test_algorithm_one_never_exceeds_its_target(order, epsilon, l2_squared, linf, floor, slack):
    r = algorithm_one_scale(order, epsilon, l2_squared, linf, floor, slack)
    argument = 1 + floor * r + slack * (order - 1) * r * linf
    achieved = order / 2 * r * r * l2_squared * special.trigamma(argument)
    assert epsilon * (1 - 2e-14) <= achieved <= epsilon


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_algorithm_one_names_what_is_wrong(bad):
    good = {"order": 5.0, "epsilon": 1.0, "l2_squared": 2.0, "linf": 1.0}
    for name in good:
        with pytest.raises(sdp.InvalidParameterError, match=name):
            algorithm_one_scale(**{**good, name: bad})
