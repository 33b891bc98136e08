"""Very many equal releases: the grid of a composition adds a step for each, and their Renyi divergences take over.

Discrete Laplace noise under a change of one has two losses, so that n releases are a sum over a binomial law: the truth
is a difference of two incomplete beta functions, in ball arithmetic.
"""

import math

import pytest
from flint import arb, ctx

import simplexdp as sdp

DELTA = 1e-6
MANY = [2**24, 10**8, 10**10, 10**12]


def exact_delta(n: int, scale: float, epsilon: float) -> arb:
    """Return delta(epsilon) of n releases with discrete Laplace noise of sensitivity one."""
    loss = 1 / arb(scale)
    p = 1 / (1 + (-loss).exp())
    # More than k losses are positive where the sum of all exceeds epsilon.
    k = math.floor((n + epsilon * scale) / 2) + 1
    tails = [each.beta_lower(arb(k), arb(n - k + 1), True) for each in (p, 1 - p)]
    return tails[0] - arb(epsilon).exp() * tails[1]


@pytest.fixture(autouse=True)
def digits():
    before, ctx.prec = ctx.prec, 400
    yield
    ctx.prec = before


@pytest.mark.parametrize("n", MANY)
@pytest.mark.parametrize("size", [0.1, 3.0])
def test_laplace_noise_is_not_below_the_truth_and_next_to_it(n, size):
    scale = math.sqrt(n) / size
    curve = n * sdp.DiscreteLaplaceMechanism(scale=scale, sensitivity=1).privacy
    epsilon = curve.epsilon(DELTA)
    assert exact_delta(n, scale, epsilon) <= DELTA
    # [BS16]: each release is (loss^2 / 2)-zCDP.
    rho = size**2 / 2
    assert epsilon <= rho + 2 * math.sqrt(rho * math.log(1 / DELTA))
    assert exact_delta(n, scale, epsilon / 1.09) > DELTA
    delta = curve.delta(epsilon)
    assert exact_delta(n, scale, epsilon) <= delta <= DELTA
    assert curve.delta(0.5 * epsilon) >= exact_delta(n, scale, 0.5 * epsilon)


def test_noise_of_two_kinds_is_not_below_either_and_within_the_sum_of_both():
    n = 10**11
    laplace = n * sdp.DiscreteLaplaceMechanism(scale=math.sqrt(n) / 0.5, sensitivity=1).privacy
    gaussian = n * sdp.DiscreteGaussianMechanism(sigma=math.sqrt(n) / 0.5, sensitivity=1).privacy
    both = laplace + gaussian
    rho = 0.5**2 / 2 + 0.5**2 / 2
    least = max(laplace.epsilon(DELTA), gaussian.epsilon(DELTA))
    assert least <= both.epsilon(DELTA) <= rho + 2 * math.sqrt(rho * math.log(1 / DELTA))


@pytest.mark.parametrize("n", [10**9, 10**10, 10**12])
def test_dirichlet_draws_come_near_the_gaussian_that_they_tend_to(n):
    # The curvature of ln gamma at a prior of one: each category gives psi'(1) = pi^2 / 6.
    mu = math.sqrt(2 * (math.pi**2 / 6) / 10)
    curve = n * sdp.DirichletMechanism(scale=math.sqrt(0.1 / n), prior=1.0, dimension=3).privacy
    limit = sdp.GaussianMechanism(sigma=1 / mu, sensitivity=1).privacy.epsilon(DELTA)
    assert 0.999 * limit <= curve.epsilon(DELTA) <= 1.09 * limit


def test_one_release_more_does_not_cost_less():
    part = sdp.DiscreteLaplaceMechanism(scale=2.0**13, sensitivity=1).privacy
    costs = [(2**24 + k) * part for k in (-1, 0, 1)]
    epsilons = [curve.epsilon(DELTA) for curve in costs]
    assert epsilons[0] <= epsilons[1] * (1 + 1e-7)
    assert epsilons[1] <= epsilons[2] * (1 + 1e-7)
