"""The accuracy bounds hold in simulation, and the theorem that is false where we refuse it is seen to fail there.

Draws come from NumPy's Dirichlet with fixed seeds: the bounds are about the ideal law, whichever sampler draws it.
A frequency is compared with its bound through an exact binomial test, false-alarm rate 1e-6 per comparison.
"""

import numpy as np
import pytest
from scipy.stats import binomtest

from simplexdp.utility import histogram_error_bound, kl_tail_bound, multinomial_kl_bound

FALSE_ALARM = 1e-6

SHAPES = {
    "one category": lambda d: np.eye(d)[0],
    "uniform": lambda d: np.full(d, 1 / d),
    "half of them": lambda d: np.where(np.arange(d) < d // 2, 2 / d, 0) / (2 * (d // 2) / d),
    "geometric": lambda d: 0.5 ** np.arange(d) / np.sum(0.5 ** np.arange(d)),
}


def draws(rng, p, total, scale, prior, size):
    return rng.dirichlet(scale * total * p + prior, size)


def kl(p, y):
    used = p > 0
    return np.sum(p[used] * np.log(p[used] / y[:, used]), axis=1)


def assert_at_most(hits, size, bound):
    """The frequency is compatible with a probability of at most `bound`."""
    if bound < 1:
        assert binomtest(hits, size, bound, alternative="greater").pvalue > FALSE_ALARM, (hits / size, bound)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "dimension, total, scale, prior", [(4, 60, 1.0, 0.5), (4, 300, 0.2, 2.0), (50, 2000, 1.0, 1.0)]
)
def test_the_kl_tail_stays_below_both_forms_of_the_bound(shape, dimension, total, scale, prior, full):
    size = 200_000 if full else 20_000
    p = SHAPES[shape](dimension)
    divergences = kl(p, draws(np.random.default_rng(1), p, total, scale, prior, size))
    for threshold in [0.02, 0.05, 0.1, 0.3, 1.0]:
        for form in ("sharp", "paper"):
            bound = float(kl_tail_bound(threshold, total, dimension, scale=scale, prior=prior, form=form))
            assert_at_most(int(np.sum(divergences > threshold)), size, bound)


def test_the_papers_tail_bound_is_false_below_a_prior_of_one_half():
    # Theory C7: d = 1000, uniform p, alpha = 0.1, beta = 1000, eta = 0.2; 2000 draws, every one above the threshold.
    p = np.full(1000, 1e-3)
    bound = np.exp(-1000 * 0.2**2 / (2 * 2.2 * 4.6))
    assert bound == pytest.approx(0.1386, abs=1e-4)
    assert 1000 * 0.1 / np.expm1(0.1) <= 1000  # the condition that the paper states
    divergences = kl(p, draws(np.random.default_rng(2), p, 1000, 1.0, 0.1, 2000))
    assert np.mean(divergences > 0.2) == 1.0


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "dimension, total, scale, prior", [(3, 30, 1.0, 0.3), (10, 500, 0.5, 4.0), (100, 100, 1.0, 1.0)]
)
def test_the_histogram_bound_of_the_dirichlet_mechanism_holds(shape, dimension, total, scale, prior, full):
    size = 100_000 if full else 10_000
    p = SHAPES[shape](dimension)
    error = np.abs(draws(np.random.default_rng(3), p, total, scale, prior, size) - p).max(axis=1)
    for failure in [0.5, 0.1, 0.01]:
        bound = histogram_error_bound(total, dimension, failure, scale=scale, prior=prior)
        assert_at_most(int(np.sum(error > bound)), size, failure)


def test_the_histogram_bound_of_the_gaussian_mechanism_holds(full):
    size, dimension, total, rho, l2 = (100_000 if full else 10_000), 20, 300, 0.2, np.sqrt(2)
    sigma = l2 / (total * np.sqrt(2 * rho))
    error = np.abs(np.random.default_rng(4).normal(0, sigma, (size, dimension))).max(axis=1)
    for failure in [0.5, 0.1, 0.01]:
        bound = histogram_error_bound(total, dimension, failure, mechanism="gaussian", rho=rho)
        assert_at_most(int(np.sum(error > bound)), size, failure)


@pytest.mark.parametrize("p", [[0.5, 0.5], [0.9, 0.05, 0.05], [0.02, 0.28, 0.3, 0.4]])
def test_the_expected_kl_of_a_larger_prior_stays_below_theorem_3(p, full):
    import simplexdp as sdp

    # Mean of bounded, independent values: a normal bound at 4.9 standard errors, false-alarm rate 1e-6.
    size, total = (50_000 if full else 5_000), 40
    counts = np.random.default_rng(5).multinomial(total, p, size)
    for prior, private_prior in [(1.0, 1.5), (1.0, 4.0), (3.0, 10.0)]:
        divergences = sdp.divergence.kl_dirichlet(counts + prior, counts + private_prior)
        mean, error = divergences.mean(), divergences.std() / np.sqrt(size)
        assert mean - 4.9 * error <= multinomial_kl_bound(p, total, prior, private_prior)
