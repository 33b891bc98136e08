"""Simulation draws against their distribution functions.

Kolmogorov-Smirnov with 20000 draws (200000 with --full), false alarm 1e-6 a test; seeds are fixed.
"""

import numpy as np
import pytest
from scipy import stats

import simplexdp as sdp
from simplexdp.testing import SeededRng

RATE = 1e-6


def assert_follows(draws, law, below=np.inf):
    """Compare the draws below a bound, and their number; doubles are too coarse near one for tiny shapes."""
    inside, share = draws[draws < below], float(law.cdf(below))
    if share < 1:
        assert stats.binomtest(len(inside), len(draws), share).pvalue > RATE
    result = stats.kstest(inside, lambda x: law.cdf(x) / share)
    print(f"KS {result.statistic:.4f}, p = {result.pvalue:.2g}")
    assert result.pvalue > RATE


@pytest.fixture
def n(full):
    return 200_000 if full else 20_000


@pytest.mark.parametrize("shape", [0.01, 0.3, 1.0, 2.5, 1e3, 1e9])
def test_gamma_draws(shape, n):
    assert_follows(sdp.simulation.gamma(shape, 2.0, size=n, rng=SeededRng(1)), stats.gamma(shape, scale=2.0))


@pytest.mark.parametrize("a, b", [(0.02, 0.03), (0.5, 0.5), (1.0, 3.0), (1e4, 2e4)])
def test_beta_draws(a, b, n):
    assert_follows(sdp.simulation.beta(a, b, size=n, rng=SeededRng(2)), stats.beta(a, b), below=0.9)


@pytest.mark.parametrize("alpha", [[0.01, 0.05, 0.09], [0.05, 2.0, 0.4], [5.0] * 10, [1e6, 1.0, 3.0]])
def test_margins_of_dirichlet_draws(alpha, n):
    rows = sdp.simulation.dirichlet(alpha, n, SeededRng(3))
    assert np.allclose(rows.sum(axis=1), 1.0)
    for i, shape in enumerate(alpha):
        below = 0.9 if sum(alpha) < 1 else np.inf
        assert_follows(rows[:, i], stats.beta(shape, sum(alpha) - shape), below)


def test_small_shapes_neither_vanish_nor_divide_by_zero():
    rows = sdp.simulation.dirichlet([1e-6, 1e-5, 1e-9], 1000, SeededRng(4))
    assert np.all(np.isfinite(rows))
    assert np.allclose(rows.sum(axis=1), 1.0)


def test_discrete_draws_have_the_stated_spread(n):
    # Variances 2 q/(1 - q)^2 and sigma^2; the bound is 5 standard errors, a chance of 6e-7.
    q = np.exp(-0.1)
    for draws, variance, kurtosis in (
        (sdp.simulation.discrete_laplace(10.0, n, SeededRng(5)), 2 * q / (1 - q) ** 2, 6.0),
        (sdp.simulation.discrete_gaussian(10.0, n, SeededRng(6)), 100.0, 3.0),
    ):
        assert abs(np.mean(draws)) < 5 * np.sqrt(variance / n)
        assert abs(np.mean(draws**2) / variance - 1) < 5 * np.sqrt((kurtosis - 1) / n)


def test_shapes_broadcast_as_in_numpy():
    simulation = sdp.simulation
    assert isinstance(simulation.gamma(1.0), float)
    assert isinstance(simulation.beta(1.0, 2.0), float)
    assert isinstance(simulation.discrete_laplace(1.0), int)
    assert simulation.gamma([1.0, 2.0]).shape == (2,)
    assert simulation.gamma([[1.0], [2.0]], [1.0, 2.0, 3.0]).shape == (2, 3)
    assert simulation.gamma([[1.0], [2.0]], size=(4, 2, 3)).shape == (4, 2, 3)
    assert simulation.beta([1.0, 2.0], 3.0, size=(5, 2)).shape == (5, 2)
    assert simulation.dirichlet([1.0, 2.0]).shape == (2,)
    assert simulation.dirichlet([1.0, 2.0], (3, 0)).shape == (3, 0, 2)
    # Each parameter reaches its own place.
    means = simulation.gamma([[1.0], [1e6]], [1.0, 1e3], size=(2, 2))
    assert np.all(np.abs(np.log10(means[1] / [1e6, 1e9])) < 0.01)


@pytest.mark.parametrize(
    "call",
    [
        lambda s: s.gamma(0.0),
        lambda s: s.gamma(np.inf),
        lambda s: s.gamma(np.nan),
        lambda s: s.gamma(1.0, -1.0),
        lambda s: s.gamma([1.0, 2.0], size=3),
        lambda s: s.gamma(1.0, size=-1),
        lambda s: s.gamma(1.0, size=1.5),
        lambda s: s.beta(1.0, 0.0),
        lambda s: s.dirichlet([]),
        lambda s: s.dirichlet(1.0),
        lambda s: s.dirichlet([1.0, -1.0]),
        lambda s: s.discrete_laplace(0.0),
        lambda s: s.discrete_gaussian(2.0**51),
        lambda s: s.discrete_gaussian([1.0]),
        lambda s: s.gamma(1.0, rng=np.random.default_rng(1)),
    ],
)
def test_bad_arguments_are_refused(call):
    with pytest.raises(sdp.InvalidParameterError):
        call(sdp.simulation)


@pytest.mark.parametrize("a, b", [(1e-3, 1e-3), (0.0025, 0.0025), (0.01, 0.03), (0.05, 2.0), (1e-5, 3e-5)])
def test_beta_draws_of_small_parameters_follow_the_law_also_in_arrays(a, b):
    """20,000 draws; the bound of Dvoretzky, Kiefer and Wolfowitz is exceeded with chance 1e-9 each."""
    n = 20_000
    drawn = sdp.simulation.beta(np.full(n, a), np.full(n, b), rng=SeededRng(11))
    assert np.all((drawn >= 0) & (drawn <= 1))
    # Below the least double and within an ulp of one the law has mass that doubles round to 0 and to 1.
    at = np.array([1e-300, 1e-100, 1e-10, 0.1, 0.5, 0.9, 1 - 1e-10])
    shares = np.mean(drawn[:, None] <= at, axis=0)
    band = np.sqrt(np.log(2 / 1e-9) / (2 * n))
    np.testing.assert_allclose(shares, stats.beta.cdf(at, a, b), rtol=0, atol=band)


def test_beta_draws_of_the_least_parameters_are_a_coin():
    """4,000 draws of a coin with chance 1/4: five standard deviations are exceeded with chance 6e-7."""
    for scale in (5e-324, 1e-310, 1e-250):
        drawn = sdp.simulation.beta(np.full(4000, scale), np.full(4000, 3 * scale), rng=SeededRng(12))
        assert set(drawn) == {0.0, 1.0}
        assert abs(drawn.mean() - 0.25) < 5 * np.sqrt(0.25 * 0.75 / 4000)
