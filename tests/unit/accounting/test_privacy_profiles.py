"""Profiles, Renyi divergences and conversions against mpmath and brute force."""

import csv
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar

import simplexdp as sdp
from simplexdp import _core
from simplexdp._algorithm_one import algorithm_one_scale
from simplexdp.accounting import dirichlet_bound_curve, dirichlet_curve, rdp_epsilon, renyi_composition

GOLDEN = Path(__file__).parents[2] / "golden" / "data" / "privacy_profiles.csv"
SAFETY_MARGIN = 1e-11


def make(kind, a, b, r):
    if kind == "beta":
        return _core.beta_profile(a, b, r)
    return _core.gaussian_profile(r) if kind == "gaussian" else _core.gamma_profile(a, r, kind == "add")


def golden_rows():
    with GOLDEN.open(newline="") as file:
        for kind, *numbers, delta in list(csv.reader(file))[1:]:
            yield kind, *map(float.fromhex, numbers), mp.mpf(delta)


def test_delta_agrees_with_mpmath_over_twelve_decades_of_parameters():
    low = high = 0.0
    for kind, epsilon, a, b, r, truth in golden_rows():
        profile = make(kind, a, b, r)
        upper, lower = (mp.mpf(float(f(np.array([epsilon]))[0])) for f in (profile.delta, profile.delta_lower))
        assert lower <= truth <= upper, (kind, epsilon, a, b, r)
        if upper < 1:
            error = float(upper / (1 + mp.mpf(SAFETY_MARGIN)) / truth - 1)
            low, high = min(low, error), max(high, error)
    print(f"relative errors before the margin: {low:.1e} .. {high:.1e}")
    assert low >= -1e-12
    assert high <= 1e-12


def test_epsilon_returns_to_where_delta_came_from():
    for kind, epsilon, a, b, r, truth in golden_rows():
        if not (epsilon > 0 and 1e-290 < truth < 1e-3):
            continue
        profile = make(kind, a, b, r)
        back = profile.epsilon(np.array([float(truth)]))
        # Never before the point, and so close behind it that delta there is the same to a few margins.
        assert back[0] >= epsilon * (1 - 1e-15), (kind, epsilon, a, b, r)
        assert float(profile.delta_lower(back)[0] / truth) >= 1 - 1e-10, (kind, epsilon, a, b, r)


@pytest.mark.parametrize(
    ("alpha", "exact", "theorem"),
    [
        (1.5, 7.8789, 19.4326),
        (3.0, 4.3563, 9.8292),
        (10.0, 1.8772, 3.6270),
        (50.0, 0.7335, 1.2270),
        (100.0, 0.4995, 0.8095),
        (1000.0, 0.1417, 0.2273),
    ],
)
def test_exact_curve_and_theorem_two(alpha, exact, theorem):
    assert round(dirichlet_curve(scale=1.0, prior=alpha, dimension=3).epsilon(1e-5), 4) == exact
    curve = dirichlet_bound_curve(scale=1.0, l2=2**0.5, linf=1.0, prior=alpha, bound="theorem")
    assert round(curve.epsilon(1e-5), 4) == theorem
    assert curve.delta(curve.epsilon(1e-5)) == pytest.approx(1e-5, rel=1e-6)
    # Through all orders the same bound is sharper, and still above the exact curve.
    assert exact < dirichlet_bound_curve(scale=1.0, l2=2**0.5, linf=1.0, prior=alpha).epsilon(1e-5) < theorem


@pytest.mark.parametrize(
    ("epsilon", "exact"),
    [(0.001, 0.93708e-3), (0.01, 0.0085017), (0.1, 0.076368), (1.0, 0.73986), (10.0, 7.3701)],
)
def test_algorithm_one_is_below_its_target(epsilon, exact):
    r = algorithm_one_scale(5.0, epsilon, 2.0, 1.0)
    alpha = 1 + 16 * r
    divergence = dirichlet_curve(scale=r, prior=alpha, dimension=3).renyi(5.0)
    assert f"{divergence:.5g}" == f"{exact:.5g}"
    bound = dirichlet_bound_curve(scale=r, l2=2**0.5, linf=1.0, prior=alpha).renyi(5.0)
    assert divergence < bound == pytest.approx(epsilon, rel=1e-10)


def log_gamma_moment(u, v, order):
    """ln of the integral of Gamma(u)^order Gamma(v)^(1-order)."""
    return mp.loggamma(u + (order - 1) * (u - v)) + (order - 1) * mp.loggamma(v) - order * mp.loggamma(u)


def test_renyi_divergences_agree_with_mpmath():
    rng = np.random.default_rng(3)
    with mp.workdps(80):
        for _ in range(300):
            a, b, r = (float(10 ** rng.uniform(-3, 9)) for _ in range(3))
            top = a / r
            order = 1 + float(min(10 ** rng.uniform(-3, 3), 0.99 * top, 0.99 * b / r))
            up, down = (mp.mpf(x) + mp.mpf(r) for x in (a, b))
            rising = log_gamma_moment(up, mp.mpf(a), mp.mpf(order))
            falling = log_gamma_moment(mp.mpf(b), down, mp.mpf(order))
            adding = log_gamma_moment(mp.mpf(a), up, mp.mpf(order))
            cases = [(_core.beta_profile(a, b, r), rising + falling)]
            cases += [(_core.gamma_profile(a, r, False), rising), (_core.gamma_profile(a, r, True), adding)]
            for profile, moment in cases:
                truth = moment / (mp.mpf(order) - 1)
                error = float(mp.mpf(float(profile.renyi(np.array([order]))[0])) / truth - 1)
                assert 0 <= error <= 2e-11, (profile, order)


@pytest.mark.parametrize("epsilon", [1e-3, 0.3, 1.0, 20.0])
@pytest.mark.parametrize("order", [1.001, 1.5, 2.0, 17.0, 300.0])
def test_renyi_divergences_of_laplace_and_randomised_response(epsilon, order):
    with mp.workdps(60):
        e, o = mp.mpf(epsilon), mp.mpf(order)
        laplace = mp.log((o * mp.exp((o - 1) * e) + (o - 1) * mp.exp(-o * e)) / (2 * o - 1)) / (o - 1)
        response = mp.log((mp.exp(o * e) + mp.exp((1 - o) * e)) / (1 + mp.exp(e))) / (o - 1)
        for profile, truth in (
            (_core.laplace_profile(epsilon), laplace),
            (_core.budget_profile(epsilon, 0.0), response),
        ):
            error = float(mp.mpf(float(profile.renyi(np.array([order]))[0])) / truth - 1)
            assert 0 <= error <= 2e-11


@pytest.mark.parametrize("epsilon", [1e-300, 1e-9, 0.3, 1.0, 20.0])
def test_renyi_divergences_of_pure_pairs_reach_epsilon_at_the_largest_orders(epsilon):
    # Twice the largest doubles overflow: there the divergence of two Laplace laws was told as 0.
    orders = np.array([1e300, 8e307, 9e307, 1e308, np.finfo(float).max])
    for profile in (_core.laplace_profile(epsilon), _core.budget_profile(epsilon, 0.0)):
        found = profile.renyi(orders)
        with mp.workdps(30):
            for order, value in zip(orders.tolist(), found.tolist(), strict=True):
                # Either law of the likelier event has half of its mass: e^((l-1) epsilon) / 2 from below.
                least = mp.mpf(epsilon) - mp.log(2) / (mp.mpf(order) - 1)
                assert least <= mp.mpf(value) <= mp.mpf(epsilon) * (1 + mp.mpf(10) ** -10), order
    curve = sdp.PrivacyCurve.laplace(scale=1.0)
    assert float((3 * curve).renyi(1.7e308)) >= 3.0
    assert float(curve.tcdp(1.7e308)) >= np.exp(-1)


@pytest.mark.parametrize(
    "profile",
    [
        _core.beta_profile(2.0, 5.0, 1.0),
        _core.gamma_profile(3.0, 1.0, True),
        _core.gamma_profile(3.0, 1.0, False),
        _core.laplace_profile(1.0),
        _core.budget_profile(1.0, 0.0),
    ],
    ids=repr,
)
@pytest.mark.parametrize("omega", [1.2, 2.5, 2.99])
def test_tcdp_is_the_largest_slope_of_the_renyi_curve(profile, omega):
    orders = 1 + (omega - 1) * np.linspace(1e-6, 1, 20001)
    largest = np.max(profile.renyi(orders) / orders)
    assert largest <= float(profile.tcdp(np.array([omega]))[0]) <= largest * (1 + 1e-5)


def binary_divergence(p, q, order):
    return np.log(p**order * q ** (1 - order) + (1 - p) ** order * (1 - q) ** (1 - order)) / (order - 1)


@pytest.mark.parametrize("order", [1.2, 2.0, 5.0, 40.0])
@pytest.mark.parametrize("divergence", [0.01, 0.3, 2.0])
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_the_optimal_conversion_is_the_worst_binary_pair(order, divergence, epsilon):
    # For each q the largest p within the divergence; the difference is concave in q, so the best q is a bounded search.
    def gain(q):
        end = 1 - 1e-15
        if binary_divergence(end, q, order) <= divergence:
            return end - np.exp(epsilon) * q
        p = brentq(lambda p: binary_divergence(p, q, order) - divergence, q, end, xtol=1e-15)
        return p - np.exp(epsilon) * q

    grid = np.exp(np.linspace(-18, -0.01, 120))
    top = int(np.argmax([gain(q) for q in grid]))
    around = (grid[max(top - 1, 0)], grid[min(top + 1, len(grid) - 1)])
    best = -minimize_scalar(lambda q: -gain(q), bounds=around, method="bounded", options={"xatol": 1e-13}).fun
    # A bound at one order holds for the smaller orders too; what a pair within it can reach stays the same.
    profile = _core.rdp_profile(order, divergence, True)
    found = float(profile.delta(np.array([epsilon]))[0])
    # The search loses what is below the rounding of p.
    assert best * (1 - 1e-9) <= found <= max(best * (1 + 1e-4), 1e-7)
    tangent = float(_core.rdp_profile(order, divergence, False).delta(np.array([epsilon]))[0])
    assert found <= tangent * (1 + 1e-9)


def test_conversions_of_zcdp_keep_their_order():
    rho, delta = 0.3, np.array([1e-3, 1e-6, 1e-12])
    lemma, tangent, optimal = (
        sdp.PrivacyCurve.from_zcdp(rho, conversion=c).epsilon(delta) for c in ("lemma", "tangent", "optimal")
    )
    gaussian = sdp.PrivacyCurve.gaussian(sigma=(2 * rho) ** -0.5).epsilon(delta)
    assert np.all(gaussian < optimal)
    assert np.all(optimal <= tangent * (1 + 1e-12))
    assert np.all(tangent < lemma)
    np.testing.assert_allclose(lemma, rho + 2 * np.sqrt(-rho * np.log(delta)), rtol=1e-10)


@pytest.mark.parametrize(
    ("rho", "omega", "delta"), [(0.5, 4.0, 1e-6), (0.5, 4.0, 0.3), (2.0, 1.5, 1e-9), (0.01, 40, 1e-5)]
)
def test_lemma_one(rho, omega, delta):
    log = np.log(1 / delta)
    case_one = log <= (omega - 1) ** 2 * rho
    expected = rho + 2 * np.sqrt(rho * log) if case_one else rho * omega + log / (omega - 1)
    curve = sdp.PrivacyCurve.from_tcdp(rho, omega, conversion="lemma")
    assert curve.epsilon(delta) == pytest.approx(expected, rel=1e-10)
    assert curve.epsilon(delta) >= expected
    assert sdp.PrivacyCurve.from_tcdp(rho, omega).epsilon(delta) < expected


def test_the_papers_conversion_at_a_fixed_order():
    np.testing.assert_allclose(rdp_epsilon(5.0, [0.1, 1.0], 1e-5), [2.3527, 3.2527], atol=5e-5)
    order, epsilon, delta = 7.0, 0.4, 1e-6
    expected = epsilon + np.log(order - 1) - (np.log(delta) + order * np.log(order)) / (order - 1)
    assert expected <= rdp_epsilon(order, epsilon, delta) <= expected * (1 + 1e-10)


def test_a_renyi_function_is_minimised_over_real_orders():
    curve = sdp.PrivacyCurve.from_renyi(lambda order: 0.25 * order, conversion="tangent")
    orders = np.linspace(1.01, 60, 200001)
    best = np.min(rdp_epsilon(orders, 0.25 * orders, 1e-6))
    assert curve.epsilon(1e-6) == pytest.approx(best, rel=1e-6)


def test_an_exception_of_the_function_reaches_the_caller():
    def bound(order):
        if order > 10:
            raise KeyError("no such order")
        return order

    with pytest.raises(KeyError, match="no such order"):
        sdp.PrivacyCurve.from_renyi(bound).delta(1.0)


def test_renyi_composition_adds():
    one = sdp.PrivacyCurve.from_zcdp(0.1)
    other = dirichlet_curve(scale=1.0, prior=5.0, dimension=3).with_sampling_error(1e-12)
    both = renyi_composition([one, other], times=[2, 3])
    assert both.renyi(2.0) == pytest.approx(0.4 + 3 * other.renyi(2.0), rel=1e-9)
    assert both.sampling_error >= 3e-12
    with pytest.raises(sdp.InvalidParameterError, match="adjacency"):
        renyi_composition([one, sdp.PrivacyCurve.pure(1.0, adjacency="add_remove")])


@pytest.mark.parametrize(
    "arguments",
    [
        {"prior": 1.0},
        {"prior": [1.0, 2.0], "dimension": 2},
        {"prior": [[1.0, 2.0]]},
        {"prior": [1.0, 0.0]},
        {"prior": [1.0]},
        {"prior": 1.0, "dimension": 1},
        {"prior": 1.0, "dimension": 3, "scale": 0.0},
        {"prior": 1.0, "dimension": 3, "floor": -1.0},
        {"prior": 1.0, "dimension": 3, "adjacency": "both"},
        {"prior": 1.0, "dimension": 2, "total": 0},
        {"prior": 1.0, "dimension": 2, "total": 3, "adjacency": "add_remove"},
        {"prior": 1.0, "dimension": 2, "total": 4, "floor": 2},
    ],
)
def test_bad_dirichlet_parameters_are_refused(arguments):
    with pytest.raises(sdp.InvalidParameterError):
        dirichlet_curve(**{"scale": 1.0, **arguments})


def test_exactness_follows_the_total():
    assert dirichlet_curve(scale=1.0, prior=1.0, dimension=3, floor=2, total=7).exact
    assert not dirichlet_curve(scale=1.0, prior=1.0, dimension=3, floor=2, total=6).exact
    assert dirichlet_curve(scale=1.0, prior=1.0, dimension=2, total=1000).exact
    with_total = dirichlet_curve(scale=1.0, prior=1.5, dimension=2, total=1000).epsilon(1e-5)
    assert round(with_total, 3) == 7.281
