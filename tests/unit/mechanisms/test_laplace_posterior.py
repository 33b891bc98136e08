"""Posteriors from counts with Laplace noise: large numbers of observations."""

import math

import numpy as np
import pytest

import simplexdp as sdp
from simplexdp.testing import SeededRng

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.mark.parametrize("log_n", [0, 31, 32, 33, 36, 40, 43])
@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 50.0])
def test_counts_are_not_clamped(log_n, epsilon):
    # The expectation of a symmetric error is zero: the mean of 4000 draws lies within 5 standard errors but for a
    # chance of 6e-7 each, 1e-4 over all settings. (n = 2^36 halved came out as 0.0625 of n.)
    n, draws = 2**log_n, 4000
    for counts in ([n // 2, n - n // 2], [n, 0, 0], [0, n - n // 3, n // 3]):
        mechanism = sdp.LaplacePosteriorMechanism(np.ones(len(counts)), n, epsilon, consistent=False)
        noise = mechanism.simulate(counts, draws, SeededRng(8)) - np.array(counts)
        spread = math.sqrt(2) * mechanism.scale
        assert np.all(np.abs(noise.mean(axis=0)) <= 5 * spread / math.sqrt(draws) + 1e-9)
        # Below a step of the grid discrete noise is smaller than real noise.
        step = mechanism._noise.resolution
        if mechanism.scale > 4 * step:
            assert noise.std(axis=0) == pytest.approx(spread, rel=0.15)
        # Counts are on the grid: rounding costs nothing.
        assert step <= 1
        assert mechanism.privacy.epsilon(0.0) <= epsilon * (1 + 1e-12)
        assert mechanism.scale == pytest.approx(2 / epsilon)


@pytest.mark.parametrize("log_n", [33, 36, 43])
def test_a_released_posterior_is_near_that_of_the_data(log_n):
    n = 2**log_n
    for counts in ([n // 2, n // 2], [n, 0, 0]):
        mechanism = sdp.LaplacePosteriorMechanism(np.ones(len(counts)), n, 1.0)
        released = mechanism.release(counts, SeededRng(3)).alpha - 1
        # Beyond 40 scales with a chance of exp(-40); the projection at most doubles an error.
        assert np.all(np.abs(released - counts) <= 2 * 40 * mechanism.scale)
        assert released.sum() == pytest.approx(n, rel=1e-15)


@pytest.mark.parametrize("epsilon", [5e-324, 8.7e-313, 1e-300, 1e-18, 5.6e-14])
def test_an_epsilon_whose_noise_no_grid_holds_is_refused(epsilon):
    with pytest.raises(sdp.InvalidParameterError, match=f"^epsilon must be at least 5.68e-14 .* got {epsilon}"):
        sdp.LaplacePosteriorMechanism([1.0, 1.0], 5, epsilon)
