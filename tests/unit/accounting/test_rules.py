"""Rules of budgets: what fits, what is refused, what is stored.

That they hold against adversaries is tests/property/test_adaptive_budgets.py.
"""

import itertools
import json
import zlib
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy import special, stats

import simplexdp as sdp
from simplexdp import PrivacyCurve, _core
from simplexdp.accounting import rules
from simplexdp.accounting.rules import Rule
from simplexdp.exceptions import BudgetExceededError, InvalidParameterError, LedgerError

mp.dps = 30
ADAPTIVE = ["pure", "gaussian", "renyi", "units"]


def made(name: str, **settings: Any) -> Rule:
    """A rule for (1, 1e-6)."""
    if name == "units":
        settings["curve"] = PrivacyCurve.gaussian(sigma=40.0)
    return rules.make(name, epsilon=1.0, delta=1e-6, adaptive=name != "planned", **settings)  # type: ignore[arg-type]


def releases(rule: Rule, curve: PrivacyCurve) -> int:
    """How many fit, one after the other."""
    state, count = rule.start(), 0
    while True:
        try:
            state = rule.debit(state, [(curve, 1)])
        except BudgetExceededError:
            return count
        count += 1


def dirichlet(epsilon: float, adjacency: Any = "replace") -> PrivacyCurve:
    """A draw calibrated to (epsilon, 1e-7)."""
    return sdp.DirichletMechanism.calibrated(
        epsilon=epsilon, delta=1e-7, dimension=6, total=1000, adjacency=adjacency
    ).privacy


def test_the_default_fits_the_budget() -> None:
    assert rules.make(epsilon=1.0, delta=0.0).name == "pure"
    assert rules.make(epsilon=1.0, delta=1e-6).name == "gaussian"
    assert rules.make(epsilon=1.0, delta=0.0, adaptive=False).name == "planned"


def response(epsilon: mpf) -> tuple[mpf, mpf]:
    """Chances of both answers of randomised response under P; under Q they are exchanged."""
    return 1 / (1 + mp.exp(-epsilon)), 1 / (1 + mp.exp(epsilon))


def test_composing_what_was_spent_is_no_bound_and_is_refused_by_default() -> None:
    """The counter-example of docs/theory/budgets.md: both branches compose to (1, 1e-2), the whole does not."""
    first, dear, telling = (
        PrivacyCurve.pure(0.5),
        PrivacyCurve.pure(0.5255),
        PrivacyCurve.from_epsilon_delta(0.0, 9.9e-3),
    )
    x = mp.exp(1)
    (p, q), (p2, q2) = response(mpf("0.5")), response(mpf("0.5255"))
    after_likely = p2 * max(0, 1 - x * (q / p) * (q2 / p2)) + q2 * max(0, 1 - x * (q / p) * (p2 / q2))
    after_other = mpf("9.9e-3") + (1 - mpf("9.9e-3")) * max(0, 1 - x * p / q)
    delta = p * after_likely + q * after_other
    assert 0.01358 < delta < 0.01359
    planned = rules.make(epsilon=1.0, delta=1e-2, adaptive=False)
    state = planned.debit(planned.start(), [(first, 1)])
    assert planned.fits(state, [(dear, 1)])
    assert planned.fits(state, [(telling, 1)])
    for name in ("gaussian", "pure", "auto"):
        rule = rules.make(name, epsilon=1.0, delta=1e-2)  # type: ignore[arg-type]
        state = rule.debit(rule.start(), [(first, 1)])
        assert rule.fits(state, [(telling, 1)])
        assert not rule.fits(state, [(dear, 1)])


def test_pure_costs_alone_fool_composition_too() -> None:
    """After 0.5 one of 0.5258926 or 40 of 0.05589, by the answer: each composes to delta 0.01, the whole is above."""
    one, many = mpf("0.5258926"), mpf("0.05589")
    x = mp.exp(1)
    (p, q), (p1, q1), (p2, q2) = response(mpf("0.5")), response(one), response(many)

    def after_one(x: mpf) -> mpf:
        return p1 * max(0, 1 - x * q1 / p1) + q1 * max(0, 1 - x * p1 / q1)

    def after_many(x: mpf) -> mpf:
        terms = [
            mp.binomial(40, k) * p2**k * q2 ** (40 - k) * max(0, 1 - x * mp.exp(many * (40 - 2 * k))) for k in range(41)
        ]
        return mp.fsum(terms)

    likely, other = x * q / p, x * p / q
    assert p * after_one(likely) + q * after_one(other) < 0.01
    assert p * after_many(likely) + q * after_many(other) < 0.01
    assert p * after_one(likely) + q * after_many(other) > 0.0100002
    spends = [(PrivacyCurve.pure(float(one)), 1)], [(PrivacyCurve.pure(float(many)), 40)]
    planned = rules.make(epsilon=1.0, delta=0.01, adaptive=False)
    state = planned.debit(planned.start(), [(PrivacyCurve.pure(0.5), 1)])
    assert all(planned.fits(state, spend) for spend in spends)
    rule = rules.make(epsilon=1.0, delta=0.01)
    state = rule.debit(rule.start(), [(PrivacyCurve.pure(0.5), 1)])
    assert not all(rule.fits(state, spend) for spend in spends)


def test_gaussian_books_lose_nothing_beside_a_plan() -> None:
    for curve in (PrivacyCurve.gaussian(sigma=80.0), PrivacyCurve.discrete_gaussian(sigma=80.0)):
        assert releases(made("gaussian"), curve) == releases(made("planned"), curve) == 358


def test_a_pure_budget_takes_nothing_that_needs_a_delta() -> None:
    for curve in (PrivacyCurve.gaussian(sigma=1e4), PrivacyCurve.from_epsilon_delta(0.01, 1e-12)):
        for name in ("units", "pure"):
            rule = rules.make(name, epsilon=1.0, delta=0.0, **({"curve": curve} if name == "units" else {}))
            assert releases(rule, curve) == 0


def test_pure_books_lose_nothing_beside_the_sum() -> None:
    assert releases(rules.make(epsilon=1.0, delta=0.0), PrivacyCurve.pure(2.0**-10)) == 1024
    assert releases(made("gaussian"), PrivacyCurve.pure(0.25)) == 4
    # Many small ones cost less than their sum.
    assert releases(made("gaussian"), PrivacyCurve.pure(0.01)) > 500


def test_dirichlet_books_lose_at_most_three_percent() -> None:
    curve = dirichlet(0.05)
    planned = releases(rules.make("units", epsilon=1.0, delta=1e-6, curve=curve), curve)
    assert planned == 764
    assert releases(made("gaussian"), curve) >= 0.97 * planned
    assert releases(made("renyi"), curve) >= 0.86 * planned


def test_dirichlet_books_lose_no_more_where_records_are_added_or_removed() -> None:
    curve = dirichlet(0.05, "add_remove")
    rule = rules.make(epsilon=1.0, delta=1e-6, adjacency="add_remove")
    planned = releases(rules.make("units", epsilon=1.0, delta=1e-6, adjacency="add_remove", curve=curve), curve)
    assert planned == 1234
    assert releases(rule, curve) >= 0.97 * planned


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_one_release_may_take_the_whole_budget(adjacency: Any) -> None:
    curve = sdp.DirichletMechanism.calibrated(
        epsilon=1.0, delta=1e-6, dimension=6, total=1000, adjacency=adjacency
    ).privacy
    rule = rules.make(epsilon=1.0, delta=1e-6, adjacency=adjacency)
    state = rule.debit(rule.start(), [(curve, 1)])
    assert rule.used(state) == pytest.approx(1.0, abs=1e-3)
    assert not rule.fits(state, [(PrivacyCurve.pure(1e-3, adjacency=adjacency), 1)])


def test_a_million_debits_later_a_debit_is_the_same() -> None:
    rule = rules.make(epsilon=1.0, delta=0.0)
    core = rule._core  # type: ignore[attr-defined]
    spend = _core.Spend(list(PrivacyCurve.pure(2.0**-20).profiles), 0.0)
    numbers = core.start()
    for _ in range(2**20):
        numbers, reason = core.debit(numbers, spend)
        assert reason is None
    assert numbers[:2] == [1.0, 0.0]
    assert core.debit(numbers, spend)[0] is None


Law = list[tuple[mpf, mpf]]
"""Losses under P with their masses."""


def of_response(epsilon: float) -> Law:
    """Randomised response."""
    likely, other = response(mpf(epsilon))
    return [(mpf(epsilon), likely), (-mpf(epsilon), other)]


def of_laplace(epsilon: float) -> Law:
    """Laplace noise: atoms at both ends, and exp(-x)/2 at the loss epsilon - 2 x."""
    nodes, weights = np.polynomial.legendre.leggauss(20)
    xs = [mpf(epsilon) * (1 + mpf(node)) / 2 for node in nodes]
    inside = [(epsilon - 2 * x, mpf(epsilon) / 2 * mpf(w) * mp.exp(-x) / 2) for x, w in zip(xs, weights, strict=True)]
    return [(mpf(epsilon), mpf(1) / 2), (-mpf(epsilon), mp.exp(-epsilon) / 2), *inside]


def of_dirichlet(a: float, r: float) -> Law:
    """r logit y, y of Beta(a + r, a): the trapezoidal rule converges as fast as the density falls."""
    step, log_beta = mpf(1) / 4, mp.log(mp.beta(a + r, a))
    ts = [step * k for k in range(-280, 281)]
    return [(r * t, step * mp.exp((a + r) * t - (2 * a + r) * mp.log(1 + mp.exp(t)) - log_beta)) for t in ts]


def gaussian(square: float, eps: mpf) -> mpf:
    """The profile of N(mu, 1) against N(0, 1), mu^2 = square."""
    mu = mp.sqrt(mpf(square))
    return mp.ncdf(mu / 2 - eps / mu) - mp.exp(eps) * mp.ncdf(-mu / 2 - eps / mu)


@pytest.mark.parametrize(
    ("curve", "law"),
    [
        (PrivacyCurve.pure(0.01), of_response(0.01)),
        (PrivacyCurve.laplace(scale=128.0), of_laplace(2.0**-7)),
        (PrivacyCurve([_core.beta_profile(0.625, 0.625, 0.015625)], adjacency="replace"), of_dirichlet(0.625, 2.0**-6)),
    ],
)
def test_a_moved_pair_dominates_with_the_spend(curve: PrivacyCurve, law: Law) -> None:
    """C x D_(M',S') <= D_(M,S) on both sides of zero, from the laws of the losses."""
    rule = rules.make(epsilon=1.0, delta=1e-6)
    state = rule.start()
    pairs = []
    while rule.fits(state, [(curve, 1)]):
        state = rule.debit(state, [(curve, 1)])
        kind, *numbers = [float.fromhex(x) for x in state.split(";")[0].split(",")]
        assert kind == 1
        pairs.append(numbers[:2])
    steps = [pair for pair in itertools.pairwise(pairs) if pair[1][0] > 0]
    assert abs(mp.fsum(mass for _, mass in law) - 1) < 1e-15
    assert len(steps) > 10
    closest = mpf(0)
    for before, after in steps[:: len(steps) // 3]:
        for eps in map(mpf, ["-0.3", "0", "0.2", "0.6", "1", "1.3"]):
            composed = mp.fsum(mass * gaussian(after[0], eps - loss) for loss, mass in law)
            left = 1 - mp.exp(-mpf(after[1])) * (1 - composed)
            right = 1 - mp.exp(-mpf(before[1])) * (1 - gaussian(before[0], eps))
            assert left <= right, (before, after, eps)
            closest = max(closest, left / right)
    assert closest > 0.99


def of_gamma(a: float, r: float, *, add: bool) -> tuple[np.ndarray, np.ndarray]:
    """Gamma(a) against Gamma(a + r), or the other way round, as losses and masses: the trapezoidal rule in ln g."""
    step = 1 / 16
    ts = np.arange(-60 * 16, 6 * 16) * step
    shape = a if add else a + r
    masses = step * np.exp(shape * ts - np.exp(ts) - special.gammaln(shape))
    losses = r * ts + special.gammaln(a) - special.gammaln(a + r)
    return -losses if add else losses, masses


def jumps(expected: float, height: float, *, rising: bool) -> tuple[np.ndarray, np.ndarray]:
    """Poisson(t) against Poisson(t exp(-h)), or the other way round."""
    counts = np.arange(900)
    mean = expected if rising else expected * np.exp(-height)
    losses = height * counts + expected * np.expm1(-height)
    return losses if rising else -losses, stats.poisson.pmf(counts, mean)


def with_gaussian(square: float, eps: np.ndarray) -> np.ndarray:
    """The profile of N(mu, 1) against N(0, 1) at each eps."""
    mu = np.sqrt(square)
    return special.ndtr(mu / 2 - eps / mu) - np.exp(eps) * special.ndtr(-mu / 2 - eps / mu)


@pytest.mark.parametrize("turned", [False, True])
def test_a_lopsided_pair_dominates_with_the_spend(turned: bool) -> None:
    """C x D_(M',S') x T_(c M') <= D_(M,S) x T_(c M) for a Dirichlet curve under add_remove, in both directions."""
    a, r = 1.25, 2.0**-7
    order = (True, False) if turned else (False, True)
    curve = PrivacyCurve([_core.gamma_profile(a, r, add) for add in order], adjacency="add_remove")
    for add, profile in zip(order, curve.profiles, strict=True):
        losses, masses = of_gamma(a, r, add=add)
        assert abs(masses.sum() - 1) < 1e-13
        for eps in (0.0, 0.01):
            above = losses > eps
            mine = np.sum(masses[above] * -np.expm1(eps - losses[above]))
            # It tells the directions apart: at a bend the rule is no better than its step.
            assert abs(mine - profile.delta(np.array([eps]))[0]) < 5e-3 * mine
    rule = rules.make(epsilon=1.0, delta=1e-6, adjacency="add_remove")
    state, books = rule.start(), []
    while rule.fits(state, [(curve, 1)]):
        state = rule.debit(state, [(curve, 1)])
        kind, *numbers = [float.fromhex(x) for x in state.split(";")[0].split(",")]
        assert kind == 2
        books.append(numbers)
    assert len(books) > 100
    closest = 0.0
    for before, after in [books[k : k + 2] for k in (0, len(books) // 2, len(books) - 12)]:
        often, height, heavier = before[6:]
        assert after[6:] == before[6:]
        for direction, add in enumerate(order):
            losses, masses = of_gamma(a, r, add=add)
            rising = direction == heavier
            # -r ln g is heavy on the right.
            assert rising == add
            held, chances = jumps(often * before[0], height, rising=rising)
            kept, fewer = jumps(often * after[0], height, rising=rising)
            for eps in (0.0, 0.1, 0.4, 0.7, 1.0, 1.2):
                summed = kept[:, None] + losses[None, :]
                composed = np.sum(fewer[:, None] * masses[None, :] * with_gaussian(after[0], eps - summed))
                whole = np.sum(chances * with_gaussian(before[0], eps - held))
                left = composed + (1 - composed) * -np.expm1(-after[1])
                right = whole + (1 - whole) * -np.expm1(-before[1])
                assert left <= right * (1 + 1e-12), (before, after, eps, direction)
                closest = max(closest, left / right)
    assert closest > 0.99


@pytest.mark.parametrize("name", [*ADAPTIVE, "planned"])
def test_rules_and_states_survive_as_texts(name: str) -> None:
    rule = made(name)
    curve = PrivacyCurve.gaussian(sigma=40.0)
    state = rule.debit(rule.start(), [(curve, 2)])
    again = rules.from_text(rule.to_text())
    assert again == rule
    assert again.to_text() == rule.to_text()
    assert repr(again) == repr(rule)
    assert again.debit(state, [(curve, 1)]) == rule.debit(state, [(curve, 1)])
    assert 0 < again.used(state) < 1
    assert "used" in rule.describe(state) or "spent" in rule.describe(state)
    assert ("adaptive=False" in repr(rule)) == (name == "planned")
    assert all(isinstance(key, str) for key in json.loads(rule.to_text()))


@pytest.mark.parametrize("name", [*ADAPTIVE, "planned"])
def test_states_that_no_spends_lead_to_are_refused(name: str) -> None:
    rule = made(name)
    state = rule.debit(rule.start(), [(PrivacyCurve.gaussian(sigma=40.0), 1)])
    for wrong in ("", "x", state[:-1] + "g", "1," + state):
        with pytest.raises(LedgerError):
            rule.used(wrong)


def test_a_curve_in_a_state_that_is_half_a_character_is_refused() -> None:
    # Found by fuzzing.
    for recipe in ("\ud800", "g\udfff"):
        with pytest.raises(LedgerError, match="a curve in the ledger cannot be read"):
            made("planned").used(json.dumps({"spent": {recipe: 1}, "allowed": {recipe: 1}}))


def test_a_declared_plan_is_one_spend() -> None:
    rule = made("gaussian")
    plan = [(dirichlet(0.3), 20), (PrivacyCurve.laplace(scale=20.0), 2)]
    assert sdp.compose([curve for curve, _ in plan], [count for _, count in plan]).epsilon(1e-6) < 1
    state = rule.debit(rule.start(), plan)
    one_by_one, count = rule.start(), 0
    for curve, times in plan:
        for _ in range(times):
            one_by_one, count = rule.debit(one_by_one, [(curve, 1)]), count + 1
    assert rule.used(state) < rule.used(one_by_one)


def test_what_is_wrong_is_named() -> None:
    with pytest.raises(InvalidParameterError, match="adaptive"):
        rules.make("gaussian", epsilon=1.0, delta=1e-6, adaptive=False)
    with pytest.raises(InvalidParameterError, match="adaptive"):
        rules.make("planned", epsilon=1.0, delta=1e-6)
    with pytest.raises(InvalidParameterError, match="order must not be given for the rule 'gaussian'"):
        rules.make("gaussian", epsilon=1.0, delta=1e-6, order=3.0)
    with pytest.raises(InvalidParameterError, match="delta"):
        rules.make("gaussian", epsilon=1.0, delta=0.0)
    for text in ("", "{}", '{"rule":"other"}', '{"rule":"pure","version":1}'):
        with pytest.raises(LedgerError):
            rules.from_text(text)
    rule = made("gaussian")
    with pytest.raises(InvalidParameterError, match="adjacency"):
        rule.debit(rule.start(), [(PrivacyCurve.pure(0.1, adjacency="add_remove"), 1)])
    with pytest.raises(InvalidParameterError, match="count"):
        rule.debit(rule.start(), [(PrivacyCurve.pure(0.1), 0)])
    with pytest.raises(BudgetExceededError, match="0 % of epsilon 1 at delta 1e-06 is used"):
        rule.debit(rule.start(), [(PrivacyCurve.pure(1.1), 1)])
    with pytest.raises(BudgetExceededError, match="a book of the rule 'renyi' takes less"):
        rule.debit(rule.start(), [(PrivacyCurve.from_zcdp(1.0), 1)])
    counting = made("units")
    with pytest.raises(BudgetExceededError, match="not the curve that this budget counts"):
        counting.debit(counting.start(), [(PrivacyCurve.pure(0.1), 1)])


def test_errors_of_samplers_are_a_sum_of_their_own() -> None:
    rule = made("gaussian")
    release = PrivacyCurve.gaussian(sigma=80.0).with_sampling_error(1e-13)
    state = rule.start()
    for _ in range(2):
        state = rule.debit(state, [(release, 1)])
    # (1 + e) 2.6e-13 is the share of delta that is set aside for them.
    assert not rule.fits(state, [(release, 1)])
    assert rule.fits(state, [(PrivacyCurve.gaussian(sigma=80.0), 1)])
    alone = PrivacyCurve.pure(0.9).with_sampling_error(2e-7)
    assert alone.epsilon(1e-6) <= 1.0
    assert rule.used(rule.debit(rule.start(), [(alone, 1)])) == 1.0


HUGE = "0x1p99999"


@pytest.mark.parametrize("rule", [{"epsilon": 1.0, "delta": 0.0}, {"epsilon": 1.0, "delta": 1e-6}])
def test_a_number_in_a_rule_that_no_double_holds_is_refused(rule):
    text = json.loads(rules.make(**rule).to_text())
    with pytest.raises(sdp.LedgerError, match="cannot be read"):
        rules.from_text(json.dumps({**text, "epsilon": HUGE}))
    made = rules.make(**rule)
    with pytest.raises(sdp.LedgerError, match="cannot be read"):
        made.used(f"{HUGE};{zlib.crc32(HUGE.encode()):08x}")


@pytest.mark.parametrize("state", ["9" * 5000, "-1", "1.0", ""])
def test_a_number_of_units_that_no_book_can_have_is_refused(state):
    rule = rules.make("units", epsilon=1.0, delta=0.0, curve=sdp.PrivacyCurve.pure(0.1))
    with pytest.raises(sdp.LedgerError, match="no number of units"):
        rule.used(state)


@pytest.mark.parametrize(
    "counts", ['["pure(0.1)"]', '{"pure(0.1)":true}', '{"pure(0.1)":1e400}', f'{{"pure(0.1)":{2**64}}}']
)
def test_counts_of_a_plan_that_are_none_are_refused(counts):
    rule = rules.make(epsilon=1.0, delta=1e-6, adaptive=False)
    with pytest.raises(sdp.LedgerError, match="its counts are no numbers"):
        rule.used(f'{{"spent":{counts},"allowed":{{}}}}')
