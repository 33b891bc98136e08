"""Posteriors from noisy counts: consistency, guarantees, laws of the error."""

import re

import numpy as np
import pytest
from scipy import stats

import simplexdp as sdp
from simplexdp.testing import SeededRng

ONE = sdp.DiscreteLaplaceMechanism(scale=1, sensitivity=1)

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def noises(m):
    return [
        sdp.DiscreteLaplaceMechanism(scale=4, sensitivity=2),
        sdp.DiscreteGaussianMechanism(sigma=5, sensitivity=2**0.5),
        sdp.SumPreservingLaplaceMechanism(scale=4, dimension=m),
    ]


@pytest.mark.parametrize("counts", [[3, 0, 9], [40, 0, 0], [0, 0, 0], [1, 1]])
def test_released_counts_are_possible_ones(counts):
    n, m = sum(counts), len(counts)
    for noise in noises(m):
        mechanism = sdp.NoisyPosteriorMechanism(np.ones(m), n, noise)
        drawn = mechanism.simulate(counts, 500, SeededRng(1))
        assert drawn.min() >= 0
        assert np.all(drawn.sum(axis=1) == n)
        assert mechanism.privacy is noise.privacy
        assert mechanism.release(counts).alpha.sum() == n + m
    for sensitivity in [1, 2][m > 2 :]:
        laplace = sdp.LaplacePosteriorMechanism(np.ones(m), n, 0.5, sensitivity=sensitivity)
        drawn = laplace.simulate(counts, 500, SeededRng(2))
        assert drawn.min() >= 0
        np.testing.assert_allclose(drawn.sum(axis=1), n, atol=1e-9)


def test_sum_preserving_noise_has_the_smaller_error():
    # Theory B6: m = 3, n = 40, eps = 2: 0.097 against 0.166 over all data sets; here at one of them.
    x = [20, 12, 8]
    independent, preserving = (
        sdp.NoisyPosteriorMechanism([1, 1, 1], 40, noise).error_distribution(x)
        for noise in (
            sdp.DiscreteLaplaceMechanism.calibrated(epsilon=2.0, sensitivity=2),
            sdp.SumPreservingLaplaceMechanism.calibrated(epsilon=2.0, dimension=3),
        )
    )
    assert preserving.mean < 0.8 * independent.mean


@pytest.mark.parametrize("metric", ["hellinger", "l1"])
@pytest.mark.parametrize("kind", [0, 1, 2])
def test_enumerated_errors_are_those_of_draws(kind, metric):
    # 20000 draws; the band of Dvoretzky, Kiefer, Wolfowitz and Massart has a false-alarm rate of 1e-6.
    x, n_draws = [3, 17], 20_000
    mechanism = sdp.NoisyPosteriorMechanism([1, 0.5], 20, noises(2)[kind])
    law = mechanism.error_distribution(x, metric)
    assert law.band == 1e-12
    drawn = mechanism.simulate(x, n_draws, SeededRng(6))
    errors = np.abs(drawn - x).sum(axis=1).astype(float)
    if metric == "hellinger":
        prior = np.array([1, 0.5])
        errors = sdp.divergence.hellinger_dirichlet(drawn + prior, x + prior)
    cumulative = np.cumsum(law.probabilities)
    empirical = (errors[:, None] <= law.values + 1e-9).mean(axis=0)
    assert np.abs(cumulative - empirical).max() <= np.sqrt(np.log(2e6) / (2 * n_draws))


def test_errors_that_are_too_many_to_enumerate_are_simulated():
    mechanism = sdp.NoisyPosteriorMechanism([1] * 5, 100, noises(5)[0])
    law = mechanism.error_distribution([20] * 5, samples=500, rng=SeededRng(7))
    assert law.band == pytest.approx(np.sqrt(np.log(2e6) / 1000))
    assert law.probabilities.sum() == pytest.approx(1)


def test_guarantees_are_pure_and_as_asked():
    for sensitivity in (1, 2):
        mechanism = sdp.LaplacePosteriorMechanism([1, 1], 50, 0.7, sensitivity=sensitivity)
        assert mechanism.privacy.epsilon(0.0) <= 0.7 * (1 + 1e-12)
        assert mechanism.scale == pytest.approx(sensitivity / 0.7)


@pytest.mark.parametrize(("m", "epsilon"), [(2, 1.0), (3, 0.5), (7, 2.0)])
def test_the_l1_error_of_plain_noise_has_the_stated_tail(m, epsilon):
    # Kolmogorov-Smirnov against the gamma law; 20000 draws, false-alarm rate 1e-6.
    counts = np.full(m, 10)
    mechanism = sdp.LaplacePosteriorMechanism(np.ones(m), 10 * m, epsilon, consistent=False)
    errors = np.abs(mechanism.simulate(counts, 20_000, SeededRng(4)) - counts).sum(axis=1)
    assert stats.kstest(errors, lambda t: 1 - mechanism.l1_tail(np.maximum(t, 0))).pvalue > 1e-6
    for beta in [0.5, 0.05, 1e-6]:
        assert mechanism.l1_tail(mechanism.l1_bound(beta)) <= beta * (1 + 1e-12)


def test_plain_parameters_are_not_called_a_posterior():
    mechanism = sdp.LaplacePosteriorMechanism([1, 1, 1], 3, 0.01, consistent=False)
    assert mechanism.release_parameters([1, 1, 1]).shape == (3,)
    for call in [mechanism.release, mechanism.error_distribution]:
        with pytest.raises(sdp.InvalidParameterError, match="consistent must be True"):
            call([1, 1, 1])
    assert mechanism.error_distribution([1, 1, 1], "l1", samples=10).values.size == 10


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sdp.LaplacePosteriorMechanism([1, 1, 1], 5, 1.0, sensitivity=1), "sensitivity must be 2 for more"),
        (lambda: sdp.LaplacePosteriorMechanism([1, 1], 5, 1.0, sensitivity=3), "sensitivity must be 1 or 2, got 3"),
        (lambda: sdp.LaplacePosteriorMechanism([1, 1], 5, 0.0), "epsilon must be positive"),
        (lambda: sdp.LaplacePosteriorMechanism([1], 5, 1.0), "prior must have at least 2 entries"),
        (lambda: sdp.LaplacePosteriorMechanism([1, -1], 5, 1.0), "prior must have entries in"),
        (lambda: sdp.LaplacePosteriorMechanism([1, 1], -5, 1.0), "n must be an integer of at least 0"),
        (lambda: sdp.NoisyPosteriorMechanism([1, 1], 5, ONE), "at least 2, got 1"),
        (lambda: sdp.NoisyPosteriorMechanism([1, 1], 5, sdp.LaplaceMechanism.for_counts(1)), "noise must be one of"),
        (lambda: sdp.NoisyPosteriorMechanism([1, 1, 1], 5, noises(2)[2]), "noise must have dimension 3, got 2"),
    ],
)
def test_bad_parameters_are_named(make, message):
    with pytest.raises(sdp.InvalidParameterError, match=re.escape(message)):
        make()


@pytest.mark.parametrize("counts", [[7, 4], [11, -1], [9.5, 0.5], [10], [[10, 0]]])
def test_bad_counts_are_never_quoted(counts):
    for mechanism in [
        sdp.LaplacePosteriorMechanism([1, 1], 10, 1.0),
        sdp.NoisyPosteriorMechanism([1, 1], 10, noises(2)[0]),
    ]:
        with pytest.raises(sdp.InvalidDataError) as raised:
            mechanism.release(counts)
        shapes = str(np.shape(counts)) + "(2,)"
        assert all(digit in shapes for digit in re.findall(r"\d+", str(raised.value)))
