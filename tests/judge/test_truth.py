"""The judge itself: its parts agree with each other, with exact fractions and with quadrature in mpmath."""

import math
import random
from fractions import Fraction
from itertools import product

import mpmath
import pytest
from flint import arb
from truth import (
    BetaPair,
    BinomialPair,
    GammaPair,
    GaussianPair,
    LaplacePair,
    Law,
    Product,
    RowPair,
    ball,
    binomial_law,
    budget_law,
    cells_of,
    discrete_gaussian_law,
    product_of,
    score_product,
)


def contains(enclosure: arb, value: mpmath.mpf, relative: float = 1e-25) -> bool:
    """Whether a ball holds a number that is known to so many digits."""
    return abs(enclosure - arb(mpmath.nstr(value, 40))) < relative * abs(float(value)) + 1e-40


def quadrature(log_p, log_q, ends, epsilon):
    """Integrate (p - exp(epsilon) q)^+ over a line, split where the integrand has its kink."""
    with mpmath.workdps(40):

        def integrand(x):
            return max(mpmath.exp(log_p(x)) - mpmath.exp(epsilon + log_q(x)), mpmath.mpf(0))

        def gap(x):
            return log_p(x) - log_q(x) - epsilon

        low, high = ends
        points = [low, high]
        if gap(low) * gap(high) < 0:
            points = [low, mpmath.findroot(gap, (low, high), solver="bisect", tol=1e-30, maxsteps=200), high]
        return mpmath.quad(integrand, points, maxdegree=10)


@pytest.mark.parametrize("epsilon", [-0.5, 0.0, 0.3, 1.5])
def test_closed_forms_are_the_integrals(epsilon):
    with mpmath.workdps(40):
        at = ball(epsilon)
        gauss = quadrature(
            lambda x: mpmath.log(mpmath.npdf(x, 0.75)), lambda x: mpmath.log(mpmath.npdf(x)), (-14, 14), epsilon
        )
        assert contains(GaussianPair.of(4, 3).delta(at), gauss, 1e-15)
        laplace = mpmath.quad(
            lambda x: max(mpmath.exp(-abs(x)) - mpmath.exp(epsilon - abs(x - 2)), 0) / 2,
            [-60, -1, 0, (2 - epsilon) / 2, 2, 3, 60],
        )
        assert contains(LaplacePair.of(1, 2).delta(at), laplace, 1e-12)
        a, b, r = mpmath.mpf(1.5), mpmath.mpf(2.25), mpmath.mpf(0.5)

        def log_beta(first, second):
            # In log-odds, so that nothing is singular.
            norm = mpmath.log(mpmath.beta(first, second))
            return lambda t: -first * mpmath.log1p(mpmath.exp(-t)) - second * mpmath.log1p(mpmath.exp(t)) - norm

        ends = (mpmath.mpf(-40), mpmath.mpf(40))
        beta = quadrature(log_beta(a + r, b), log_beta(a, b + r), ends, epsilon)
        assert contains(BetaPair.of(1.5, 0.5, 2.25).delta(at), beta, 1e-12)
        row = quadrature(log_beta(a + r, b), log_beta(a, b), ends, epsilon)
        assert contains(RowPair.of(1.5, 2.25, 0.5, joined=False).delta(at), row, 1e-12)
        row = quadrature(log_beta(a, b), log_beta(a + r, b), ends, epsilon)
        assert contains(RowPair.of(1.5, 2.25, 0.5, joined=True).delta(at), row, 1e-12)

        def log_gamma(shape):
            return lambda t: shape * t - mpmath.exp(t) - mpmath.loggamma(shape)

        ends = (mpmath.mpf(-40), mpmath.mpf(5))
        removed = quadrature(log_gamma(a + r), log_gamma(a), ends, epsilon)
        assert contains(GammaPair.of(1.5, 0.5, added=False).delta(at), removed, 1e-12)
        added = quadrature(log_gamma(a), log_gamma(a + r), ends, epsilon)
        assert contains(GammaPair.of(1.5, 0.5, added=True).delta(at), added, 1e-12)


def test_a_product_of_laws_is_a_sum_over_all_outcomes_in_fractions():
    rng = random.Random(1)
    for _ in range(20):
        laws, rows = [], []
        for _ in range(3):
            p = [Fraction(rng.randint(1, 20)) for _ in range(3)]
            q = [Fraction(rng.randint(1, 20)) for _ in range(3)]
            p, q = [x / (sum(p) + 1) for x in p], [x / (sum(q) + 2) for x in q]
            rows.append(list(zip(p, q, strict=True)))
            laws.append(Law([(ball(x), ball(y)) for x, y in rows[-1]], ball(1 - sum(p))))
        finite = math.prod(sum(p for p, _ in row) for row in rows)
        for weight in (Fraction(1, 3), Fraction(1), Fraction(5, 2)):
            exact = (
                1
                - finite
                + sum(
                    max(math.prod(p for p, _ in choice) - weight * math.prod(q for _, q in choice), 0)
                    for choice in product(*rows)
                )
            )
            for value in (
                product_of(laws).delta(ball(weight).log()),
                Product(laws[0], product_of(laws[1:])).delta(ball(weight).log()),
            ):
                assert value.overlaps(ball(exact))
                assert value.rad() < 1e-30


@pytest.mark.parametrize(
    ("epsilon", "delta", "count"), [(0.3, 1e-3, 10), (2.0, 0.0, 7), (1e-3, 0.0, 400), (40.0, 1e-200, 9)]
)
def test_tails_of_many_pairs_agree_with_their_enumeration(epsilon, delta, count):
    pairs, law = BinomialPair(ball(epsilon), ball(delta), count), binomial_law(epsilon, delta, count)
    direct = product_of([budget_law(epsilon, delta)] * min(count, 7))
    for share in (0.0, 0.01, 0.3, 0.5, 0.77, 0.95, 1.0, 1.2):
        at = ball(epsilon) * count * ball(share)
        difference = pairs.delta(at) - law.delta(at)
        assert abs(difference) <= 1e-20 * law.delta(at) + 1e-36
        if count <= 7:
            assert abs(direct.delta(at) - law.delta(at)) <= 1e-25


def test_optimal_composition_of_budgets():
    # Kairouz, Oh, Viswanath 2015, theorem 3.3.
    epsilon, delta, count = ball(0.3), ball(1e-7), 8
    law = binomial_law(0.3, 1e-7, 8)
    for i in range(count // 2 + 1):
        level = (count - 2 * i) * epsilon
        terms = [
            math.comb(count, j) * (((count - j) * epsilon).exp() - ((count - 2 * i + j) * epsilon).exp())
            for j in range(i)
        ]
        part = sum(terms, arb(0)) / (1 + epsilon.exp()) ** count
        assert abs(law.delta(level) - (1 - (1 - delta) ** count * (1 - part))) < 1e-30


@pytest.mark.parametrize("sigma", [0.4, 1.0, 3.0])
def test_discrete_gaussian_masses_sum_to_one(sigma):
    law = discrete_gaussian_law(sigma)
    assert abs(sum(law.p, arb(0)) - 1) < 1e-30
    theta = mpmath.nsum(lambda z: mpmath.exp(-z * z / (2 * mpmath.mpf(sigma) ** 2)), [-mpmath.inf, mpmath.inf])
    assert contains(1 / max(law.p, key=float), theta, 1e-12)


def test_merging_outcomes_only_lowers_delta_and_only_a_little():
    pair = BetaPair.of(3.0, 0.5)
    law = cells_of(pair, [-4 + k / 40 for k in range(360)])
    assert abs(sum(law.p, arb(0)) - 1) < 1e-25
    for at in (0.0, 0.3, 1.0, 2.0, 3.0):
        fine, coarse = pair.delta(ball(at)), law.delta(ball(at))
        assert not coarse > fine
        assert coarse > fine * (1 - 0.01)
        assert not law.coarser(90).delta(ball(at)) > coarse


def test_tests_by_scores_are_lower_bounds_that_are_close():
    laws = [binomial_law(0.3, 1e-9, 5), binomial_law(0.11, 0, 4), binomial_law(0.017, 1e-5, 3)]
    exact = product_of(laws)
    for width, close in ((0.05, 0.05), (0.002, 1e-3)):
        scores = score_product([(law, 1) for law in laws], width)
        for at in (0.0, 0.2, 0.5, 1.0, 1.5):
            true, below = exact.delta(ball(at)), scores.delta(ball(at))
            assert not below > true
            assert below > true * (1 - close)
    gaussians = score_product([(discrete_gaussian_law(2.0), 9)], 0.25)
    repeated = discrete_gaussian_law(2.0, 1)
    alone = score_product([(product_of([repeated.coarser(200)]), 9)], 0.25)
    assert abs(gaussians.delta(ball(1.0)) - alone.delta(ball(1.0))) < 1e-30
