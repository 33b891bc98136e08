"""The bounds of an audit against SciPy and against their definitions."""

import numpy as np
import pytest
from scipy.stats import beta, binom, norm

import simplexdp as sdp
from simplexdp.auditing.bounds import epsilon_at_least, mu_at_least, rate_above, rate_below


@pytest.mark.parametrize("size", [100, 20_000, 3_000_000])
@pytest.mark.parametrize("error", [1e-9, 1e-3, 0.2])
def test_rates_are_those_of_clopper_and_pearson(size, error):
    hits = np.unique(np.concatenate([[0, 1, 2, size // 3, size - 1, size], np.geomspace(1, size, 20).astype(int)]))
    low, high = rate_below(hits, size, error), rate_above(hits, size, error)
    inner = (hits > 0) & (hits < size)
    assert low[inner] == pytest.approx(beta.ppf(error, hits[inner], size - hits[inner] + 1), rel=1e-9)
    assert high[inner] == pytest.approx(beta.isf(error, hits[inner] + 1, size - hits[inner]), rel=1e-9)
    assert low[0] == 0
    assert high[-1] == 1
    # By their definition: at the bound, what was seen has just this probability.
    assert binom.sf(hits[1:] - 1, size, low[1:]) == pytest.approx(error, rel=1e-6)
    assert binom.cdf(hits[:-1], size, high[:-1]) == pytest.approx(error, rel=1e-6)


def test_coverage_is_counted_over_every_outcome():
    # The chance that a bound is wrong, summed over all outcomes, is at most what was allowed, for every true rate.
    size, error = 60, 0.01
    hits = np.arange(size + 1)
    low, high = rate_below(hits, size, error), rate_above(hits, size, error)
    for p in np.linspace(0.001, 0.999, 97):
        mass = binom.pmf(hits, size, p)
        assert mass[low > p].sum() <= error
        assert mass[high < p].sum() <= error


def test_epsilon_and_mu_follow_from_rates():
    assert epsilon_at_least(np.array([0.5, 0.2, 0.0]), np.array([0.1, 0.3, 0.1]), 0.1) == pytest.approx(
        [np.log(4), 0, 0]
    )
    assert mu_at_least(np.array([0.9]), np.array([0.2]))[0] == pytest.approx(norm.ppf(0.9) - norm.ppf(0.2))
    # A Gaussian's own trade-off gives its mu back.
    assert mu_at_least(np.array([norm.cdf(1.3 + norm.ppf(0.05))]), np.array([0.05]))[0] == pytest.approx(1.3)
    claimed = sdp.PrivacyCurve.gaussian(sigma=1 / 1.3)
    assert float(claimed.tradeoff(0.05)) == pytest.approx(1 - norm.cdf(1.3 + norm.ppf(0.05)), abs=1e-9)
