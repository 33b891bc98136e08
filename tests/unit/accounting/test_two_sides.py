"""Guarantees of mechanisms against laws that are written out here, in every direction and at both ends.

Faults that other tests let pass: a direction left out, a pair of neighbours at the end of a range, an error that is not
added, a moment without its rise.
"""

import numpy as np
import pytest
from scipy.special import gammaln, polygamma
from scipy.stats import beta, gamma

import simplexdp as sdp


def gamma_deltas(a, r, epsilon):
    """delta of Gamma(a + r) against Gamma(a), and the other way round: the loss is monotone in x."""
    at = np.exp((epsilon + gammaln(a + r) - gammaln(a)) / r)
    more = gamma.sf(at, a + r) - np.exp(epsilon) * gamma.sf(at, a)
    at = np.exp((-epsilon + gammaln(a + r) - gammaln(a)) / r)
    less = gamma.cdf(at, a) - np.exp(epsilon) * gamma.cdf(at, a + r)
    return more, less


@pytest.mark.parametrize(("prior", "scale"), [(1.5, 1.0), (4.0, 0.5), (0.7, 2.0)])
def test_records_that_come_and_go_are_two_directions(prior, scale):
    curve = sdp.DirichletMechanism(scale=scale, prior=prior, dimension=3, adjacency="add_remove").privacy
    larger = set()
    for epsilon in (0.0, 0.2, 1.0, 2.0, 4.0):
        both = gamma_deltas(prior, scale, epsilon)
        assert curve.delta(epsilon) == pytest.approx(max(both), rel=1e-8)
        larger.add(both[0] > both[1])
    if scale < 2:
        assert larger == {True, False} or min(gamma_deltas(prior, scale, 1.0)) < 0.9 * max(
            gamma_deltas(prior, scale, 1.0)
        )


@pytest.mark.parametrize("fpr", [0.001, 0.05, 0.3, 0.9])
def test_the_best_attack_of_both_directions_bounds_the_trade_off(fpr):
    a, r = 1.5, 1.0
    curve = sdp.DirichletMechanism(scale=r, prior=a, dimension=3, adjacency="add_remove").privacy
    # Neyman and Pearson: reject for large x, or for small x.
    more = gamma.cdf(gamma.isf(fpr, a), a + r)
    less = gamma.sf(gamma.ppf(fpr, a + r), a)
    assert curve.tradeoff(fpr) == pytest.approx(min(more, less), rel=1e-5)
    assert curve.tradeoff(fpr) <= min(more, less)


def two_discrete_gaussians(sigma, epsilon):
    """delta of two independent integer Gaussians that both move by one, summed over all outcomes."""
    z = np.arange(-int(40 * sigma) - 2, int(40 * sigma) + 3)
    log_mass = -(z**2) / (2 * sigma**2)
    log_mass = log_mass - np.log(np.exp(log_mass).sum())
    loss = (2 * z + 1) / (2 * sigma**2)  # ln p(z) / p(z + 1)
    mass = np.exp(log_mass)
    gain = -np.expm1(np.minimum(epsilon - loss[:, None] - loss[None, :], 0.0))
    return float((mass[:, None] * mass[None, :] * gain).sum())


@pytest.mark.parametrize("sigma", [0.8, 2.0])
def test_two_counts_that_change_cost_what_two_cost(sigma):
    mechanism = sdp.DiscreteGaussianMechanism(sigma=sigma, sensitivity=2**0.5)
    for epsilon in (0.1, 1.0, 2.0):
        assert mechanism.privacy.delta(epsilon) == pytest.approx(two_discrete_gaussians(sigma, epsilon), rel=1e-6)


@pytest.mark.parametrize("changed", [1, 2, 7])
def test_the_grid_of_real_noise_leaves_its_error_in_the_guarantee(changed):
    mechanism = sdp.GaussianMechanism(sigma=4.0, sensitivity=1, changed=changed, resolution=2.0**-12)
    steps = 4.0 * 2**12
    assert mechanism.privacy.sampling_error == pytest.approx(changed / (5 * steps**4), rel=1e-9, abs=0)


@pytest.mark.parametrize("order", [1.5, 2.0, 3.0])
def test_renyi_divergences_of_two_shifted_beta_laws(order):
    a, r = 6.0, 1.0
    curve = sdp.DirichletMechanism(scale=r, prior=a, dimension=3).privacy

    def log_beta(x, y):
        return gammaln(x) + gammaln(y) - gammaln(x + y)

    # Of Beta(a + r, a) from Beta(a, a + r): the integral of p^order q^(1 - order) is a Beta function again.
    mixed = log_beta(a + order * r, a - (order - 1) * r)
    exact = (mixed - log_beta(a + r, a)) / (order - 1)
    assert curve.renyi(order) == pytest.approx(exact, rel=1e-9)


def beta_delta(x, y, r, epsilon):
    """delta of Beta(x + r, y) against Beta(x, y + r), the larger of both orders: the loss is monotone."""
    found = []
    for a, b in ((x, y), (y, x)):
        shift = gammaln(a + r) - gammaln(a) - gammaln(b + r) + gammaln(b)
        odds = np.exp((epsilon + shift) / r)
        at = odds / (1 + odds)
        found.append(beta.sf(at, a + r, b) - np.exp(epsilon) * beta.sf(at, a, b + r))
    return max(found)


@pytest.mark.parametrize("prior", [[5.0, 1.0], [1.0, 5.0], [2.0, 2.0]])
def test_two_categories_with_a_known_total_are_looked_at_from_end_to_end(prior):
    n, r = 9, 1.0
    curve = sdp.DirichletMechanism(scale=r, prior=prior, total=n).privacy
    for epsilon in (0.0, 0.5, 2.0):
        exact = max(beta_delta(prior[0] + r * (k - 1), prior[1] + r * (n - k), r, epsilon) for k in range(1, n + 1))
        assert curve.delta(epsilon) == pytest.approx(exact, rel=1e-8)


def test_the_lemma_of_truncated_bounds_has_the_tail_that_it_states():
    rho, omega = 0.1, 4.0
    curve = sdp.PrivacyCurve.from_tcdp(rho, omega, conversion="lemma")
    for epsilon in (0.75, 1.0, 3.0):
        # Beyond rho (2 omega - 1) the exponent is a line.
        assert curve.delta(epsilon) == pytest.approx(np.exp(-(omega - 1) * (epsilon - rho * omega)), rel=1e-9)
    for epsilon in (0.2, 0.5, 0.7):
        assert curve.delta(epsilon) == pytest.approx(np.exp(-((epsilon - rho) ** 2) / (4 * rho)), rel=1e-9)


@pytest.mark.parametrize("order", [1.5, 3.0])
def test_a_function_of_two_sensitivities_pays_for_the_euclidean_one(order):
    scale, prior, l2, linf = 0.5, 9.0, 3.0, 1.0
    mechanism = sdp.DirichletMechanism(scale=scale, prior=prior, dimension=5, l2=l2, linf=linf)
    exact = 0.5 * order * (scale * l2) ** 2 * polygamma(1, prior - (order - 1) * scale * linf)
    assert mechanism.privacy.renyi(order) == pytest.approx(exact, rel=1e-9)
