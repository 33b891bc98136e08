"""Posteriors: moments, divergences and draws."""

import pickle
import re

import numpy as np
import pytest
from scipy import stats

import simplexdp as sdp


@pytest.mark.parametrize("alpha", [[1.0, 1.0], [0.01, 3.0, 1e6], [7.0, 4.0, 5.0, 0.5]])
def test_moments_are_those_of_the_dirichlet(alpha):
    posterior = sdp.Posterior(alpha)
    np.testing.assert_allclose(posterior.mean, stats.dirichlet.mean(alpha), rtol=1e-13)
    np.testing.assert_allclose(posterior.var, stats.dirichlet.var(alpha), rtol=1e-9)


def test_divergences_are_those_of_the_parameters():
    p, q = sdp.Posterior([1.5, 2.0, 3.0]), sdp.Posterior([2.0, 2.0, 2.5])
    assert p.hellinger(q) == q.hellinger(p) == sdp.divergence.hellinger_dirichlet(p.alpha, q.alpha)
    assert p.kl(q) == sdp.divergence.kl_dirichlet(p.alpha, q.alpha)
    assert p.renyi(q, 3.0) == sdp.divergence.renyi_dirichlet(p.alpha, q.alpha, 3.0)
    assert p.hellinger(p) == 0 == p.kl(p)


def test_draws_are_probability_vectors_and_repeat_with_a_seed():
    posterior = sdp.Posterior([0.5, 2.0, 3.0])
    assert posterior.sample().shape == (3,)
    draws = posterior.sample(2000, rng=5)
    np.testing.assert_array_equal(draws, posterior.sample(2000, rng=np.random.default_rng(5)))
    np.testing.assert_allclose(draws.sum(axis=1), 1)
    # The mean of 2000 draws is within 6 of its standard errors: false-alarm rate 6e-9.
    assert np.all(np.abs(draws.mean(axis=0) - posterior.mean) < 6 * np.sqrt(posterior.var / 2000))


def test_posteriors_are_values():
    posterior = sdp.Posterior([1, 2])
    assert posterior == sdp.Posterior([1.0, 2.0]) == pickle.loads(pickle.dumps(posterior))
    assert posterior != sdp.Posterior([2, 1])
    assert len({posterior, sdp.Posterior([1, 2])}) == 1
    assert repr(posterior) == "Posterior([1., 2.])"
    with pytest.raises(AttributeError):
        posterior.alpha = [1, 1]
    with pytest.raises(ValueError, match="read-only"):
        posterior.alpha[0] = 5


@pytest.mark.parametrize(
    ("alpha", "message"),
    [
        ([1.0], "alpha must have shape (m,) with m >= 2"),
        ([[1.0, 2.0]], "alpha must have shape (m,) with m >= 2"),
        ([1.0, 0.0], "alpha must be positive"),
        ([1.0, float("nan")], "alpha must be finite"),
        (["a", "b"], "alpha must be"),
    ],
)
def test_bad_parameters_are_named(alpha, message):
    with pytest.raises(sdp.InvalidParameterError, match=re.escape(message)):
        sdp.Posterior(alpha)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999999])
def test_intervals_are_beta_quantiles(level):
    alpha = np.array([0.3, 4.0, 250.0])
    interval = sdp.Posterior(alpha).interval(level)
    margins = stats.beta(alpha, alpha.sum() - alpha)
    np.testing.assert_allclose(interval[:, 0], margins.ppf((1 - level) / 2), rtol=1e-7)
    np.testing.assert_allclose(interval[:, 1], margins.isf((1 - level) / 2), rtol=1e-7)
    with pytest.raises(sdp.InvalidParameterError, match="level must lie strictly between 0 and 1"):
        sdp.Posterior(alpha).interval(1.0)


def test_only_posteriors_of_the_same_size_are_compared():
    with pytest.raises(sdp.InvalidParameterError, match="other must be a Posterior, got list"):
        sdp.Posterior([1, 2]).kl([1, 2])
    with pytest.raises(sdp.InvalidParameterError, match="other must have 2 categories"):
        sdp.Posterior([1, 2]).hellinger(sdp.Posterior([1, 2, 3]))
