"""Composition of curves: known values, the rules of adjacency, budgets and bounds from Renyi divergences."""

import math
import pickle

import mpmath
import numpy as np
import pytest

import simplexdp as sdp
from simplexdp.accounting import Structure, dirichlet_curve, shares_by_cardinality


def gaussian_delta(mu: float, epsilon: float) -> mpmath.mpf:
    with mpmath.workdps(60):
        mu, epsilon = mpmath.mpf(mu), mpmath.mpf(epsilon)
        left, right = -epsilon / mu + mu / 2, -epsilon / mu - mu / 2
        return mpmath.ncdf(left) - mpmath.exp(epsilon) * mpmath.ncdf(right)


@pytest.mark.parametrize("delta", ["1e-2", "1e-6", "5e-15", "1e-40"])
def test_a_thousand_gaussians_are_never_below_the_exact_epsilon(delta):
    total = sdp.compose([sdp.PrivacyCurve.gaussian(sigma=20.0)], [1000])
    epsilon = total.epsilon(float(delta))
    mu = mpmath.sqrt(1000) / 20
    assert gaussian_delta(mu, epsilon) <= mpmath.mpf(delta)
    assert gaussian_delta(mu, epsilon - 1e-5 * max(1, epsilon / 8.4)) > mpmath.mpf(delta)


def test_the_reference_values_of_composition():
    thousand = 1000 * sdp.PrivacyCurve.gaussian(sigma=20.0)
    assert 8.306225 - 5e-7 <= thousand.epsilon(1e-6) <= 8.306225 + 1e-5
    lower, upper = thousand.epsilon_bounds(1e-6, tolerance=1e-6)
    assert lower <= 8.306225049954728 <= upper <= lower + 1e-6
    laplace = sdp.compose([sdp.PrivacyCurve.laplace(scale=float(scale)) for scale in range(5, 25)])
    assert abs(laplace.epsilon(1e-6) - 1.52912) <= 1e-5


def test_many_gaussians_are_never_below():
    total = sdp.compose([sdp.PrivacyCurve.gaussian(sigma=500.0)], [625_000])
    assert gaussian_delta(mpmath.sqrt(625_000) / 500, total.epsilon(1e-10)) <= mpmath.mpf("1e-10")


# [DM 5.1] by [theory B2]: (attributes, Renyi epsilon, what brute force brackets).
NAIVE_BAYES = [
    (20, 0.1, 0.6908, 0.6914),
    (20, 1.0, 2.2779, 2.2785),
    (13, 0.1, 0.6880, 0.6885),
    (13, 1.0, 2.2598, 2.2602),
    (64, 0.1, 0.6996, 0.7012),
    (64, 1.0, 2.3448, 2.3462),
]


@pytest.mark.parametrize(("attributes", "epsilon", "least", "most"), NAIVE_BAYES)
def test_naive_bayes_at_the_settings_of_the_paper(attributes, epsilon, least, most):
    release = Structure.naive_bayes(attributes).from_rdp(order=5, epsilon=epsilon)
    assert least <= release.privacy.epsilon(1e-5) <= most


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_naive_bayes_agrees_with_monte_carlo_of_the_privacy_loss(adjacency):
    # 2e5 draws of 6 independent losses; allowed are 5.5 standard errors: over the 12 comparisons of this test
    # the false-alarm rate is below 1e-6.
    rng = np.random.default_rng(7)
    scale, prior, tables, draws = 0.3, 4.0, 6, 200_000
    release = Structure.bayesian_network(tables).release(scale, prior, adjacency=adjacency)
    lgamma = mpmath.loggamma(prior + scale) - mpmath.loggamma(prior)
    losses = []
    if adjacency == "replace":
        y = rng.beta(prior + scale, prior, (draws, tables))
        losses.append((scale * np.log(y / (1 - y))).sum(axis=1))
    else:
        shift = float(lgamma)
        losses.append((scale * np.log(rng.gamma(prior + scale, size=(draws, tables))) - shift).sum(axis=1))
        losses.append((shift - scale * np.log(rng.gamma(prior, size=(draws, tables)))).sum(axis=1))
    for epsilon in (0.3, 0.6):
        samples = [np.maximum(-np.expm1(epsilon - loss), 0) for loss in losses]
        estimate = max(sample.mean() for sample in samples)
        error = max(sample.std() for sample in samples) / np.sqrt(draws)
        assert abs(release.privacy.delta(epsilon) - estimate) <= 5.5 * error


def test_adjacencies_never_mix():
    with pytest.raises(sdp.InvalidParameterError, match="same adjacency"):
        sdp.PrivacyCurve.pure(1.0) + sdp.PrivacyCurve.pure(1.0, adjacency="add_remove")


def test_sums_and_multiples_flatten():
    a, b = sdp.PrivacyCurve.gaussian(sigma=3.0), sdp.PrivacyCurve.laplace(scale=4.0)
    left = (a + b) + 2 * (b + a)
    right = sdp.compose([a, b], [3, 3])
    assert left.epsilon(1e-5) == right.epsilon(1e-5)
    assert sorted(count for _, count in left.profiles[0].parts) == [3, 3]


@pytest.mark.parametrize("count", [0, -1, True, 1.5])
def test_a_count_is_a_positive_integer(count):
    with pytest.raises((sdp.InvalidParameterError, TypeError)):
        count * sdp.PrivacyCurve.pure(1.0)


def test_nothing_to_compose_is_refused():
    with pytest.raises(sdp.InvalidParameterError, match="at least one"):
        sdp.compose([])
    with pytest.raises(sdp.InvalidParameterError, match="privacy curves"):
        sdp.compose([1.0])
    with pytest.raises(sdp.InvalidParameterError, match="counts"):
        sdp.compose([sdp.PrivacyCurve.pure(1.0)], [0])


def test_pure_curves_add_up_at_delta_zero():
    total = 3 * sdp.PrivacyCurve.pure(0.5) + sdp.PrivacyCurve.laplace(scale=4.0)
    assert total.epsilon(0.0) == 1.75
    assert total.delta(1.76) == 0.0


def test_budgets_compose_as_the_optimal_theorem_says():
    # Kairouz, Oh, Viswanath 2015, Theorem 3.3, at epsilon = (k - 2 i) eps0.
    eps0, delta0, k = 0.3, 1e-7, 8
    total = k * sdp.PrivacyCurve.from_epsilon_delta(eps0, delta0)
    for i in range(0, 4):
        level = (k - 2 * i) * eps0
        terms = [
            mpmath.binomial(k, j) * (mpmath.exp((k - j) * eps0) - mpmath.exp((k - 2 * i + j) * eps0)) for j in range(i)
        ]
        part = mpmath.fsum(terms) / (1 + mpmath.exp(eps0)) ** k
        exact = 1 - (1 - mpmath.mpf(delta0)) ** k * (1 - part)
        reported = total.delta(level)
        assert exact * (1 - mpmath.mpf(10) ** -13) <= reported <= exact * 1.05 + 1e-12


def test_bounds_from_renyi_divergences_add_up():
    z = sdp.PrivacyCurve.from_zcdp(0.01)
    assert (z + z).renyi(5.0) == pytest.approx(0.1, rel=1e-9)
    assert (z + z).epsilon(1e-6) == pytest.approx(sdp.PrivacyCurve.from_zcdp(0.02).epsilon(1e-6), rel=1e-6)


def test_mixed_kinds_take_the_better_way():
    z, g = sdp.PrivacyCurve.from_zcdp(1e-4), sdp.PrivacyCurve.gaussian(sigma=1.0)
    both = (z + g).epsilon(1e-6)
    by_divergence = sdp.PrivacyCurve.from_zcdp(1e-4 + 0.5).epsilon(1e-6)
    assert g.epsilon(1e-6) <= both <= by_divergence * (1 + 1e-9)
    # A Gaussian of the same divergence is dominated by the zCDP statement.
    exact = (sdp.PrivacyCurve.gaussian(sigma=(2e-4) ** -0.5) + g).epsilon(1e-6)
    assert exact <= both * (1 + 1e-9)
    again = (z + g) + (z + g)
    assert sorted(count for _, count in again.profiles[0].parts) == [2, 2]


def test_sampling_errors_add_up():
    a = sdp.PrivacyCurve.gaussian(sigma=10.0).with_sampling_error(1e-9)
    total = 5 * a
    assert total.sampling_error == pytest.approx(5e-9, rel=1e-12)
    assert total.sampling_error >= 5e-9
    ideal = 5 * sdp.PrivacyCurve.gaussian(sigma=10.0)
    epsilon = total.epsilon(1e-6)
    assert epsilon > ideal.epsilon(1e-6)
    assert ideal.delta(epsilon) + 5e-9 * (1 + np.exp(epsilon)) <= 1e-6 * (1 + 1e-6)
    assert total.epsilon(1e-6, tolerance=1e-4) >= ideal.epsilon_bounds(1e-6, tolerance=1e-4)[0]


def test_composed_curves_pickle():
    total = 3 * sdp.PrivacyCurve.gaussian(sigma=2.0) + sdp.PrivacyCurve.from_zcdp(0.1)
    copy = pickle.loads(pickle.dumps(total))
    assert copy.epsilon(1e-6) == total.epsilon(1e-6)


def test_disjoint_groups_under_add_remove_cost_the_largest():
    small, large = (dirichlet_curve(scale=r, prior=1.0, dimension=4, adjacency="add_remove") for r in (0.2, 0.5))
    total = sdp.compose_disjoint([small, large, small])
    assert total.epsilon(1e-6) == large.epsilon(1e-6)
    assert total.adjacency == "add_remove"


def test_disjoint_groups_under_replace_cost_two():
    group = sdp.PrivacyCurve.gaussian(sigma=2.0, adjacency="add_remove")
    total = sdp.compose_disjoint([group] * 10, adjacency="replace")
    two = 2 * sdp.PrivacyCurve.gaussian(sigma=2.0)
    assert total.adjacency == "replace"
    assert total.epsilon(1e-6) == two.epsilon(1e-6)
    with pytest.raises(sdp.InvalidParameterError, match="add_remove"):
        sdp.compose_disjoint([sdp.PrivacyCurve.gaussian(sigma=2.0)])


def test_two_rows_of_a_table_are_as_one_beta_pair():
    # Theory B2: Gamma(a + r) x Gamma(a) against Gamma(a) x Gamma(a + r) is Beta(a + r, a) against Beta(a, a + r).
    row = dirichlet_curve(scale=0.5, prior=3.0, dimension=4, adjacency="add_remove")
    total = sdp.compose_disjoint([row, row], adjacency="replace")
    beta = dirichlet_curve(scale=0.5, prior=3.0, dimension=4)
    assert total.epsilon(1e-6) == pytest.approx(beta.epsilon(1e-6), rel=1e-5)
    assert total.epsilon(1e-6) >= beta.epsilon(1e-6) * (1 - 1e-9)


@pytest.mark.parametrize("epsilon", [150.0, 160.0, 1000.0])
@pytest.mark.parametrize("n_tables", [1, 8])
def test_a_budget_beyond_what_the_sampler_allows_takes_few_steps(epsilon, n_tables, monkeypatch):
    steps = []
    release = Structure.release
    monkeypatch.setattr(Structure, "release", lambda *args, **kwargs: steps.append(1) or release(*args, **kwargs))
    error = n_tables * 2.0**-255
    found = Structure((1.0,) * n_tables).calibrated(epsilon=epsilon, delta=1e-6, prior=2.0, sampling_error=error)
    assert 140 < found.privacy.epsilon(1e-6) <= epsilon
    assert len(steps) < 20


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("prior", [1.0, lambda r: 1 + 16 * r])
def test_calibration_spends_the_budget_and_not_more(adjacency, prior):
    structure = Structure.naive_bayes(4)
    release = structure.calibrated(epsilon=1.0, delta=1e-6, prior=prior, adjacency=adjacency)
    assert 1 - 2e-5 <= release.privacy.epsilon(1e-6) <= 1
    assert len(release.scales) == 5
    larger = release.scales[0] * 1.0001
    again = structure.release(larger, prior(larger) if callable(prior) else prior, adjacency=adjacency)
    assert again.privacy.epsilon(1e-6) > 1


def test_shares_split_the_budget_by_the_squares_of_the_scales():
    release = Structure.bayesian_network(3, shares=[1, 4, 4]).calibrated(epsilon=0.5, delta=1e-6, prior=2.0)
    assert release.scales[1] == pytest.approx(2 * release.scales[0])
    assert release.privacy.epsilon(1e-6) <= 0.5
    assert shares_by_cardinality([8, 1]) == pytest.approx((4.0, 1.0))
    with pytest.raises(sdp.InvalidParameterError, match="length 2"):
        Structure.group_by(2, shares=[1.0])


def test_the_error_of_sampling_tables_is_paid_on_top():
    error = 2.0**-20
    plain, off = (Structure.naive_bayes(2).release(0.3, 2.0, sampling_error=each).privacy for each in (0.0, error))
    for epsilon in (0.0, 0.5, 1.0):
        # Either law may be off by it, and that of the other data set counts e^epsilon times.
        assert off.delta(epsilon) - plain.delta(epsilon) >= (1 + np.exp(epsilon)) * error * (1 - 1e-6)


def test_draws_from_one_posterior_are_copies_of_one_pair():
    draws = Structure.posterior_draws(7).release(1.0, 20.0)
    assert draws.privacy.epsilon(1e-6) == (7 * dirichlet_curve(scale=1.0, prior=20.0, dimension=3)).epsilon(1e-6)


@pytest.mark.parametrize("sigma", [1e3, 1e6])
def test_small_losses_keep_their_digits(sigma):
    total = (3 * sdp.PrivacyCurve.gaussian(sigma=sigma)).epsilon(1e-9)
    one = sdp.PrivacyCurve.gaussian(sigma=sigma / 3**0.5).epsilon(1e-9)
    assert one * (1 - 1e-9) <= total <= one * (1 + 1e-5)


@pytest.mark.parametrize(
    ("large", "small", "delta"), [(8.031118864329512, 5.28e-5, 5.9e-13), (20.1, 1.8e-5, 7e-7), (35.4, 25.0, 1e-11)]
)
def test_a_whole_is_never_below_its_parts(large: float, small: float, delta: float) -> None:
    alone, other = sdp.PrivacyCurve.pure(large), sdp.PrivacyCurve.pure(small)
    whole = alone + other
    epsilon = whole.epsilon(delta)
    assert alone.epsilon(delta) <= epsilon <= large + small
    assert whole.delta(epsilon) <= delta
    # From below: the event that both name the record has the mass of the largest loss.
    least = -math.expm1(epsilon - large - small) / (1 + math.exp(-large)) / (1 + math.exp(-small))
    assert least <= delta * (1 + 1e-9)


def test_delta_at_the_largest_loss_is_the_mass_at_infinity() -> None:
    assert abs((10 * sdp.PrivacyCurve.from_epsilon_delta(0, 1e-3)).delta(0.0) - (1 - 0.999**10)) < 1e-15
    assert (3 * sdp.PrivacyCurve.pure(0)).delta(0.0) == 0.0
    assert (sdp.PrivacyCurve.pure(1) + sdp.PrivacyCurve.pure(2)).delta(3.0) == 0.0
    assert sdp.PrivacyCurve.pure(5e-324).epsilon(0.0) == 5e-324


def test_an_accountant_refuses_after_a_tiny_debit_what_it_refuses_alone() -> None:
    accountant = sdp.Accountant(8, 5.93e-13)
    accountant.spend(sdp.PrivacyCurve.pure(5.3e-5))
    assert not accountant.affords(sdp.PrivacyCurve.pure(8.031))
