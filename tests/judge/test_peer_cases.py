"""Cases that accountants of other projects check themselves by, written anew: the numbers follow from closed forms."""

import math

import pytest
from judging import Truth, assert_true, judge_delta
from truth import (
    BinomialPair,
    GaussianPair,
    LaplacePair,
    Product,
    ball,
    binomial_law,
    budget_law,
    loss_table_law,
    product_of,
)

import simplexdp as sdp

CURVE = sdp.PrivacyCurve


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize(("sigma", "count"), [(1.0, 1), (1.0, 16), (5.0, 1000), (0.5, 2), (100.0, 10**6)])
def test_equal_gaussians_are_one_gaussian(adjacency, sigma, count):
    total = sdp.compose([CURVE.gaussian(sigma=sigma, adjacency=adjacency)], [count])
    truth = Truth([GaussianPair(GaussianPair.of(sigma).square * count)])
    assert_true(truth, total, [1e-2, 1e-5, 1e-10], [0.0, 1.0])
    assert truth.exceeds(total.epsilon(1e-5) * (1 - 2e-3), 1e-5)


def test_different_gaussians_are_one_gaussian():
    sigmas = [0.8, 3.0, 11.0, 250.0]
    total = sdp.compose([CURVE.gaussian(sigma=sigma) for sigma in sigmas])
    truth = Truth([GaussianPair(sum((GaussianPair.of(sigma).square for sigma in sigmas), ball(0)))])
    assert_true(truth, total, [1e-2, 1e-5, 1e-10], [0.0, 1.0])
    assert truth.exceeds(total.epsilon(1e-5) * (1 - 1e-3), 1e-5)


def test_a_larger_sensitivity_is_less_noise():
    truth = Truth([GaussianPair.of(6, 3)])
    assert_true(truth, CURVE.gaussian(sigma=6.0, sensitivity=3.0), [1e-2, 1e-9], [0.0, 0.3])
    assert_true(Truth([LaplacePair.of(6, 3)]), CURVE.laplace(scale=6.0, sensitivity=3.0), [1e-2], [0.0, 0.3, 0.5, 1.0])


@pytest.mark.parametrize("count", [1, 5, 40, 1000])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-8), (math.log(3), 0.0), (1.0, 0.05), (0.01, 1e-3)])
def test_budgets_compose_as_by_the_optimal_theorem(epsilon, delta, count):
    total = sdp.compose([CURVE.from_epsilon_delta(epsilon, delta)], [count])
    truth = Truth([BinomialPair(ball(epsilon), ball(delta), count)])
    infinite = 1 - (1 - delta) ** count
    assert_true(truth, total, [min(0.9, infinite + 1e-4)], [0.0, epsilon, epsilon * count / 2, epsilon * count])


def test_what_tells_all_with_some_probability_costs_that_at_any_epsilon():
    total = 3 * CURVE.from_epsilon_delta(0.0, 0.1)
    for epsilon in (0.0, 1.0, 30.0):
        assert total.delta(epsilon) == pytest.approx(1 - 0.9**3, rel=1e-9)
        assert not ball(1) - (1 - ball(0.1)) ** 3 > ball(total.delta(epsilon))
    assert math.isinf(total.epsilon(0.2))
    assert total.epsilon(0.3) == 0.0


def test_nothing_beside_something_is_something():
    gaussian, nothing = CURVE.gaussian(sigma=2.0), CURVE.pure(0.0)
    both = sdp.compose([gaussian, nothing], [1, 50])
    assert_true(Truth([GaussianPair.of(2)]), both, [1e-2, 1e-9], [0.0, 0.3])
    assert both.epsilon(1e-5) == pytest.approx(gaussian.epsilon(1e-5), rel=1e-4)


@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_laplace_beside_randomised_response(count):
    total = CURVE.laplace(scale=1.0) + count * CURVE.pure(0.7)
    truth = Truth([Product(binomial_law(0.7, 0, count), LaplacePair.of(1))])
    assert_true(truth, total, [0.1, 1e-2, 1e-6], [0.0, 0.35, 1.0, 1 + 0.7 * count])


def test_randomised_response_over_several_values():
    """k-ary response keeps with probability p, else any of the k: P, Q of two inputs differ in two outcomes."""
    k, keep = 5, 0.4
    high, low = ball(keep) + (1 - ball(keep)) / k, (1 - ball(keep)) / k
    loss = float((high / low).log())
    truth = Truth(
        [product_of([loss_table_law([(high / low).log(), 0, (low / high).log()], [high, (k - 2) * low, low])] * 4)]
    )
    # The library has its dominating pair only: pure, with the two outcomes in the middle left out.
    total = 4 * CURVE.pure(math.nextafter(loss, math.inf))
    assert_true(truth, total, [1e-1, 1e-3], [0.0, loss, 2 * loss])


@pytest.mark.parametrize("delta", [1e-3, 1e-9, 1e-15, 1e-30, 1e-100])
def test_small_deltas_keep_their_guarantee(delta):
    """Accountants that add masses up in doubles lose tails below about 1e-15."""
    total = 30 * CURVE.gaussian(sigma=6.0) + 2 * CURVE.laplace(scale=20.0)
    alone = Truth([GaussianPair(GaussianPair.of(6).square * 30)])
    assert_true(alone, total, [delta])
    gaussians = Truth(alone.pairs)
    assert_true(gaussians, 30 * CURVE.gaussian(sigma=6.0), [delta])
    assert gaussians.exceeds((30 * CURVE.gaussian(sigma=6.0)).epsilon(delta) * (1 - 2e-3), delta)


@pytest.mark.parametrize("epsilon", [-3.0, -0.5, -1e-9])
def test_negative_epsilons_are_answered_too(epsilon):
    pairs = [budget_law(0.5), budget_law(0.25)]
    total = CURVE.pure(0.5) + CURVE.pure(0.25)
    verdict = judge_delta(Truth([product_of(pairs)]), total, epsilon)
    assert verdict.fault is None
    assert total.delta(epsilon) >= 1 - math.exp(epsilon)


def test_a_loss_distribution_of_another_library_keeps_its_masses():
    peer = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    masses = {-2: 0.1, 0: 0.5, 1: 0.25, 3: 0.1}
    pld = peer.PrivacyLossDistribution.create_from_rounded_probability(masses, 0.05, 0.5)
    curve = CURVE.from_dp_accounting(pld, adjacency="replace")
    law = loss_table_law([loss / 2 for loss in masses], list(masses.values()), 0.05)
    for count in (1, 2, 4):
        truth = Truth([product_of([law] * count)])
        for epsilon in (0.0, 0.2, 0.5, 1.0, 1.5, 2.5):
            assert judge_delta(truth, sdp.compose([curve], [count]), epsilon).fault is None
