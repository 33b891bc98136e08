"""No adversary that chooses its next spend by the answers gets more than the budget: trees, exact by recursion.

With D(x) = sup over events of P(E) - x Q(E), and p(y), q(y) the chances of an answer y under both data sets, D of
everything from a node on is the chance that it tells everything, and the sum over its answers of
p(y) D_(child y)(x q(y)/p(y)). That is computed with 40 digits and shares nothing with the library but the state that
decides what may be released next.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import pytest
from mpmath import mp, mpf

from simplexdp import PrivacyCurve, _core
from simplexdp.accounting import rules
from simplexdp.accounting.rules import Rule
from simplexdp.exceptions import BudgetExceededError

mp.dps = 40
DEPTH = 8
LARGEST = 40
"""Releases of one tree, after which its branches stop."""
BUDGETS = [(1.0, 1e-2), (1.0, 1e-6), (0.3, 1e-4), (3.0, 1e-5), (0.05, 1e-9)]
TREES = 150
"""For each rule; 600 in all."""


@dataclass(frozen=True)
class Release:
    """Answers with their chances under both data sets, the chance that everything is told, and what it costs."""

    chances: tuple[tuple[mpf, mpf], ...]
    told: mpf
    curve: PrivacyCurve


def randomised_response(epsilon: float, told: float = 0.0) -> Release:
    """The worst release that is (epsilon, told)-DP: everything with that chance, else one bit [KOV15]."""
    likely = (1 - mpf(told)) / (1 + mp.exp(-mpf(epsilon)))
    other = 1 - mpf(told) - likely
    return Release(((likely, other), (other, likely)), mpf(told), PrivacyCurve.from_epsilon_delta(epsilon, told))


def binned_normal(sigma: float, cuts: tuple[float, ...]) -> Release:
    """N(1, sigma^2) against N(0, sigma^2), of which only the interval is seen."""
    edges = [mp.ninf, *cuts, mp.inf]
    chances = tuple(
        (mp.ncdf(high, 1, sigma) - mp.ncdf(low, 1, sigma), mp.ncdf(high, 0, sigma) - mp.ncdf(low, 0, sigma))
        for low, high in pairwise(edges)
    )
    return Release(chances, mpf(0), PrivacyCurve.gaussian(sigma=sigma))


def normal_divergence(sigma: float, x: mpf) -> mpf:
    """D of N(1, sigma^2) against N(0, sigma^2), all of it seen."""
    mu = 1 / mpf(sigma)
    eps = mp.log(x)
    return mp.ncdf(mu / 2 - eps / mu) - x * mp.ncdf(-mu / 2 - eps / mu)


class Adversary:
    """Spends as much as it may, on what its answers suggest; D of all that it sees, at x."""

    def __init__(self, rule: Rule, menu: list[Release], rng: random.Random) -> None:
        self.rule, self.menu, self.rng = rule, menu, rng
        self.rounds = 0

    def divergences(self, xs: list[mpf], state: str, depth: int) -> list[mpf]:
        """D of everything from here on, for both orders of the data sets, each at its x."""
        choice = self._choose(state, depth)
        if choice is None:
            return self._last(xs, state)
        release, after = choice
        self.rounds += 1
        totals = [release.told, release.told]
        for p, q in self.rng.sample(release.chances, len(release.chances)):
            below = self.divergences([xs[0] * q / p, xs[1] * p / q], after, depth - 1)
            totals[0] += p * below[0]
            totals[1] += q * below[1]
        return totals

    def _choose(self, state: str, depth: int) -> tuple[Release, str] | None:
        """One of the dearest releases that fit, with the state after it."""
        if depth == 0 or self.rounds >= LARGEST:
            return None
        fitting = [(release, after) for release in self.menu for after in self._paid(state, release)]
        if not fitting:
            return None
        dearest = sorted(fitting, key=lambda pair: self.rule.used(pair[1]), reverse=True)
        return self.rng.choice(dearest[: self.rng.choice((1, 1, 3, 8))])

    def _paid(self, state: str, release: Release) -> Iterator[str]:
        try:
            yield self.rule.debit(state, [(release.curve, 1)])
        except BudgetExceededError:
            return

    def _last(self, xs: list[mpf], state: str) -> list[mpf]:
        """Stop, or look at one normal number more."""
        sigmas = [sigma for sigma in (0.5, 1.5, 4.0, 12.0, 40.0) if self.rng.random() < 0.5]
        for sigma in sigmas:
            if self.rule.fits(state, [(PrivacyCurve.gaussian(sigma=sigma, adjacency=self.rule.adjacency), 1)]):
                return [normal_divergence(sigma, x) for x in xs]
        return [max(1 - x, mpf(0)) for x in xs]


def menu(epsilon: float, delta: float, *, pure: bool) -> list[Release]:
    """Releases of many sizes; what uses up all that is left is found among them or not."""
    shares = (1.0, 0.5, 0.5255, 0.4745, 0.25, 0.125, 0.06, 0.01)
    responses = [randomised_response(share * epsilon) for share in shares]
    if pure:
        return responses
    told = [
        randomised_response(share * epsilon, part * delta) for share in (0.0, 0.5, 0.1) for part in (0.99, 0.3, 0.01)
    ]
    normals = [binned_normal(ratio / epsilon, (0.5,)) for ratio in (30.0, 12.0, 6.0)]
    return responses + told + normals


def table(chances: Sequence[tuple[mpf, mpf]]) -> _core.Profile:
    """The curve of answers with these chances, in one direction."""
    losses, masses = zip(*sorted((float(mp.log(p / q)), float(p)) for p, q in chances), strict=True)
    return _core.loss_table_profile(losses, masses, 0.0)


def answered(chances: Sequence[tuple[mpf, mpf]]) -> Release:
    """A release with these answers, where records are added or removed."""
    curves = [table(pairs) for pairs in (chances, [(q, p) for p, q in chances])]
    return Release(tuple(chances), mpf(0), PrivacyCurve(curves, adjacency="add_remove"))


def skewed(size: float, rare: float) -> list[tuple[mpf, mpf]]:
    """One answer of two is rare and tells much, under the second data set more often: losses are skewed."""
    q = mpf(rare)
    p = q * mp.exp(-mpf(size))
    return [(p, q), (1 - p, 1 - q)]


def partly_skewed(size: float, rare: float) -> list[tuple[mpf, mpf]]:
    """The same, and randomised response of the same variance where the rare answer is not given."""
    told, (p, q) = skewed(size, rare)
    likely = 1 / (1 + mp.exp(-mpf(size) * mp.sqrt(rare)))
    return [told, (p * likely, q * (1 - likely)), (p * (1 - likely), q * likely)]


def both_ways(release: Release) -> Release:
    """The same release where records are added or removed."""
    profiles = release.curve.profiles * (3 - len(release.curve.profiles))
    return Release(release.chances, release.told, PrivacyCurve(profiles, adjacency="add_remove"))


@pytest.mark.parametrize("turned", [False, True])
def test_no_adversary_gets_more_from_a_lopsided_book(turned: bool) -> None:
    """A small skewed release first, which makes the pair of the book skewed; then whatever still fits."""
    rng = random.Random(11)
    rounds, closest = 0, mpf(0)
    for number in range(TREES // 6):
        epsilon, delta = BUDGETS[number % len(BUDGETS)]
        rule = rules.make("gaussian", epsilon=epsilon, delta=delta, adjacency="add_remove")

        first = partly_skewed(epsilon / 10, 0.01)
        skew = [skewed(share * epsilon, rare) for share in (1.0, 0.5, 0.2) for rare in (0.3, 0.05, 0.002)]
        small, *others = [answered([(q, p) for p, q in chances] if turned else chances) for chances in (first, *skew)]
        state = rule.debit(rule.start(), [(small.curve, 1)])
        assert state.startswith(float(2).hex()), "the book is not lopsided"
        choices = [both_ways(release) for release in menu(epsilon, delta, pure=False)] + others * 2
        adversary = Adversary(rule, choices, rng)
        depth = rng.randint(2, DEPTH)
        x = mp.exp(mpf(epsilon))
        totals = [mpf(0), mpf(0)]
        for p, q in small.chances:
            below = adversary.divergences([x * q / p, x * p / q], state, depth)
            totals = [totals[0] + p * below[0], totals[1] + q * below[1]]
        assert max(totals) <= delta + mpf(10) ** -30, (epsilon, delta, number)
        rounds += adversary.rounds
        closest = max(closest, max(totals) / mpf(delta))
    print(f"{rounds} releases, closest {float(closest):.4f} of delta")
    assert rounds > 2 * TREES


@pytest.mark.parametrize("name", ["pure", "pure with slack", "gaussian", "renyi"])
def test_no_adversary_gets_more_than_the_budget(name: str) -> None:
    rng = random.Random(7)
    rounds, closest = 0, mpf(0)
    for number in range(TREES):
        epsilon, delta = BUDGETS[number % len(BUDGETS)]
        if name == "pure":
            delta = 0.0
        rule = rules.make(name.split()[0], epsilon=epsilon, delta=delta)  # type: ignore[arg-type]
        adversary = Adversary(rule, menu(epsilon, delta, pure=name == "pure"), rng)
        divergence = max(adversary.divergences([mp.exp(mpf(epsilon))] * 2, rule.start(), rng.randint(2, DEPTH)))
        assert divergence <= delta + mpf(10) ** -30, (name, epsilon, delta, number)
        rounds += adversary.rounds
        closest = max(closest, divergence / delta if delta else mpf(0))
    print(f"{name}: {rounds} releases, closest {float(closest):.4f} of delta")
    assert rounds > 5 * TREES
