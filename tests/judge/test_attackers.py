"""What an attacker can do, by Neyman and Pearson in balls: no test is better than the library says."""

import itertools
import math

import pytest
from compositions import cells_between_ends
from flint import arb
from judging import Case, Truth
from parts import Budget, Dirichlet, DiscreteGaussian, Gaussian, Laplace, Part, Pure
from truth import BetaPair, BinomialPair, GammaPair, GaussianPair, LaplacePair, Law, ball, product_of

import simplexdp as sdp

Attack = tuple[float, arb]
"""A false positive rate, rounded up, and the true positive rate that a test of that size attains."""


def upper(value: arb) -> float:
    """Return a double that is not below."""
    return min(math.nextafter(float(value.upper()), math.inf), 1.0)


def best_tests(law: Law) -> list[Attack]:
    """Return the tests that reject the k outcomes with the largest losses, and what only P has."""
    above_p, above_q = law._above
    return [(upper(q), p + law.infinite) for p, q in zip(above_p, above_q, strict=True)]


def by_thresholds(pair: object, losses: list[float]) -> list[Attack]:
    """Return the tests that reject above each loss."""
    tails = [pair.tail(ball(loss)) for loss in losses]
    return [(upper(q), p) for p, q in tails]


def assert_no_test_is_better(curve: sdp.PrivacyCurve, tests: list[Attack], close: float | None = None) -> None:
    for fpr, power in tests:
        missed = float((1 - power).upper())
        told = curve.tradeoff(fpr)
        assert 0 <= told <= missed + 1e-18, (fpr, told, missed)
        if close is not None:
            assert told >= missed - close, (fpr, told, missed)


LOSSES = [-2.0, -0.5, 0.0, 0.1, 0.7, 1.5]

SINGLE: list[tuple[sdp.PrivacyCurve, list[object]]] = [
    (sdp.PrivacyCurve.gaussian(sigma=0.7), [GaussianPair.of(0.7)]),
    (sdp.PrivacyCurve.gaussian(sigma=30.0, sensitivity=2.0), [GaussianPair.of(30, 2)]),
    (Dirichlet(0.5, 2.0).curve("replace"), [BetaPair.of(2.0, 0.5)]),
    (
        Dirichlet(0.5, 2.0).curve("add_remove"),
        [GammaPair.of(2.0, 0.5, added=False), GammaPair.of(2.0, 0.5, added=True)],
    ),
]


@pytest.mark.parametrize(("curve", "pairs"), SINGLE, ids=lambda value: str(value)[:40])
def test_tests_by_a_threshold(curve, pairs):
    for pair in pairs:
        tests = by_thresholds(pair, LOSSES)
        assert_no_test_is_better(curve, tests)
        # Randomising between two tests is a test.
        for (a, p), (b, q) in itertools.pairwise(tests):
            assert_no_test_is_better(curve, [(upper(ball(a) / 2 + ball(b) / 2), (p + q) / 2)])
    if len(pairs) == 1:
        assert_no_test_is_better(curve, by_thresholds(pairs[0], LOSSES), close=1e-6)


def test_laplace_noise_has_a_density_between_two_atoms():
    pair = LaplacePair.of(1.0, 1.5)
    assert_no_test_is_better(
        sdp.PrivacyCurve.laplace(scale=1.0, sensitivity=1.5), by_thresholds(pair, [-1.4, -0.3, 0.0, 0.9]), close=1e-6
    )


@pytest.mark.parametrize(
    "parts",
    [
        [(Pure(1.0), 1)],
        [(Pure(0.3), 12)],
        [(Budget(0.7, 1e-3), 3), (Pure(2.0), 1)],
        [(Budget(0.0, 0.2), 2)],
        [(DiscreteGaussian(0.6), 2), (Pure(0.4), 1)],
        [(Pure(12.0), 1), (Pure(1e-4), 2)],
    ],
    ids=str,
)
def test_the_best_tests_of_enumerated_compositions(parts):
    case = Case("replace", parts)
    law = product_of([law for part, count in parts for law in [enumerated(part)] * count])
    curve = case.curve()
    tests = best_tests(law)
    assert_no_test_is_better(curve, tests[:: max(len(tests) // 40, 1)])
    assert_no_test_is_better(curve, tests[:: max(len(tests) // 8, 1)], close=1e-5)
    advantage = case.truth.delta(0.0)
    assert not ball(advantage[0]) > ball(curve.advantage())
    assert curve.advantage() <= advantage[1] * (1 + 1e-6) + 1e-12


def enumerated(part: Part) -> Law:
    return part.pair(True) if isinstance(part, DiscreteGaussian) else part.law(1)


def test_tests_of_many_parts():
    pair = BinomialPair(ball(0.01), ball(0), 5000)
    curve = 5000 * sdp.PrivacyCurve.pure(0.01)
    # The number of likelier answers is the best statistic.
    tests = [(upper(pair._below(5000 - k)), pair.from_(k)) for k in (2510, 2600)]
    assert_no_test_is_better(curve, tests, close=1e-4)
    gaussian = 300 * sdp.PrivacyCurve.gaussian(sigma=15.0)
    whole = GaussianPair(GaussianPair.of(15).square * 300)
    assert_no_test_is_better(gaussian, by_thresholds(whole, [-1.0, 0.0, 1.0, 3.0]), close=1e-6)


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_tests_of_parts_that_cannot_be_enumerated(adjacency):
    parts: list[tuple[Part, int]] = [(Laplace(2.0), 1), (Gaussian(1.5), 1)]
    curve = Case(adjacency, parts).curve()
    law = product_of([cells_between_ends(GaussianPair.of(1.5)).coarser(60), laplace_cells(2.0)])
    tests = best_tests(law)
    assert_no_test_is_better(curve, tests[:: max(len(tests) // 6, 1)])


def laplace_cells(scale: float) -> Law:
    """Return which of many intervals the loss of Laplace noise is in, and on which side."""
    pair = LaplacePair.of(scale)
    end = float(pair.loss)
    losses = [end * (k / 30 - 1) for k in range(1, 60)]
    tails = [(ball(1), ball(1)), *(pair.tail(ball(loss)) for loss in losses), (ball(0), ball(0))]
    return Law([(p - s, q - t) for (p, q), (s, t) in itertools.pairwise(tails)], exact=False)


@pytest.mark.parametrize("fpr", [0.0, 1e-300, 1e-12, 0.3, 1 - 1e-16, 1.0])
def test_extreme_rates(fpr):
    gaussian = sdp.PrivacyCurve.gaussian(sigma=1.0)
    assert 0 <= gaussian.tradeoff(fpr) <= 1 - fpr
    told = sdp.PrivacyCurve.from_epsilon_delta(1.0, 1e-3)
    # What tells all with probability delta is found out without any false alarm.
    assert told.tradeoff(fpr) <= 1 - 1e-3
    assert Truth([told_all(1e-3)]).delta(0.0)[0] <= told.advantage()


def told_all(delta: float) -> Law:
    return Law([(1 - ball(delta), 1 - ball(delta))], ball(delta))
