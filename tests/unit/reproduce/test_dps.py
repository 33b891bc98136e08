"""[DPS] Figures 1 to 3: closed forms, SciPy and exact moments at points of their tables."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.special import gammaln, polygamma
from scipy.stats import beta as beta_law
from scipy.stats import gamma as gamma_law

from simplexdp.reproduce.catalogue import figure
from simplexdp.reproduce.dps.calibration import RHOS, posterior_prior
from simplexdp.reproduce.figure import Settings

FAST = Settings(fast=True)


@pytest.fixture(scope="module")
def figure_1():
    return figure("dps-figure-1").compute(FAST)


def test_the_guarantee_of_figure_1_is_half_of_trigamma(figure_1):
    rho = figure_1["rho"]
    expected = polygamma(1, np.array(rho["prior"]) - 1) / 2
    np.testing.assert_allclose(rho["rho_theorem_1"], expected, rtol=1e-10)


def test_rho_of_the_two_histograms_follows_equation_18(figure_1):
    rho = figure_1["rho"]
    prior, n = np.array(rho["prior"]), 147.0
    for column, sign in (("rho_from_x", -1), ("rho_from_neighbour", 1)):
        # Only the count that differs and the total are left of the beta functions; order 2.
        u, v = (prior, prior + 1) if sign < 0 else (prior + 1, prior)
        total_u, total_v = n + 6 * prior + (u - prior), n + 6 * prior + (v - prior)
        log_moment = (gammaln(v) + gammaln(2 * u - v) - 2 * gammaln(u)) - (
            gammaln(total_v) + gammaln(2 * total_u - total_v) - 2 * gammaln(total_u)
        )
        np.testing.assert_allclose(rho[column], log_moment / 2, rtol=1e-8)


def test_epsilons_of_figure_1_follow_equation_8_and_the_gamma_pair(figure_1):
    curves = figure_1["epsilon-delta"]
    row = curves.where(prior=10, delta=curves.distinct("delta")[3])
    delta = row["delta"][0]

    def equation_7(gamma):
        return 0.5 * polygamma(1, 10 - gamma) * (gamma + 1) + math.log(1 / delta) / gamma

    best = minimize_scalar(equation_7, bounds=(1e-6, 10 - 1e-6), method="bounded", options={"xatol": 1e-12})
    assert row["epsilon_eq_8"][0] == pytest.approx(best.fun, rel=1e-8)
    # Removing a record: Gamma(11) against Gamma(10), likelihood ratio x / 10.
    epsilon = row["epsilon_exact"][0]
    t = 10 * math.exp(epsilon)
    removed = gamma_law.sf(t, 11) - math.exp(epsilon) * gamma_law.sf(t, 10)
    t = 10 * math.exp(-epsilon)
    added = gamma_law.cdf(t, 10) - math.exp(epsilon) * gamma_law.cdf(t, 11)
    assert max(removed, added) == pytest.approx(delta, rel=1e-5)


@pytest.mark.parametrize("rho", RHOS)
def test_priors_belong_to_rho(rho):
    assert float(polygamma(1, posterior_prior(rho, 2.0) - 2.0)) == pytest.approx(rho, rel=1e-11)


# A mean of 200 inputs against the mean error of a normal or beta variable's largest; each within 6 standard errors of
# 200 values: one false alarm in 10^8.
def test_noise_of_figure_2_is_the_papers():
    table = figure("dps-figure-2").compute(FAST)["error"]
    row = table.where(dimension=10, rho=1.0, records=100_000, mechanism="gaussian")
    sigma = 1e-5  # sigma^2 = 2 / (2 N^2 rho)
    mean = quad(lambda x: 1 - math.erf(x / math.sqrt(2)) ** 10, 0, 12)[0] * sigma
    assert row["mean_linf_error"][0] == pytest.approx(mean, abs=6 * row["standard_deviation"][0] / math.sqrt(200))


def test_divergences_of_figure_3_for_even_data_are_near_their_expectation():
    table = figure("dps-figure-3").compute(FAST)["divergence"]
    # Many even records: KL of Dirichlet(x + 1) from Dirichlet(x + a) is close to sum (a-1)^2 / (2 x_i) - total.
    row = table.where(eta=10.0, rho=1.0, records=100_000, mechanism="dirichlet")
    shift = posterior_prior(1.0, 2.0) - 1
    # E[1/q] = 99/9 for q ~ Beta(10, 90); the common part is (10 shift)^2 / (2 N).
    inverse = beta_law(10, 90).expect(lambda q: 1 / q)
    expected = (10 * inverse * shift**2 - (10 * shift) ** 2) / (2 * 100_000)
    assert row["mean_kl_nats"][0] == pytest.approx(
        expected, rel=0.01, abs=6 * row["standard_deviation"][0] / math.sqrt(200)
    )
