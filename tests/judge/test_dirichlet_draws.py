"""Draws from Dirichlet laws: actual neighbours, over all small tables, against what is reported."""

import itertools
import random
from collections.abc import Iterator, Sequence

import pytest
from judging import Truth, assert_true, judge_delta, judge_epsilon
from truth import BetaPair, GammaPair, Law, Pair, Product, RowPair, ball, cells_of

import simplexdp as sdp

DELTAS = [1e-2, 1e-6, 1e-12]
EPSILONS = [0.0, 0.1, 1.0]


def moved(counts: Sequence[int], priors: Sequence[float], scale: float, left: int, joined: int) -> Pair:
    """Return the pair of a record that moves from one cell to another: what is left depends on two shares."""
    # P has it in `left`: Dirichlet(.., a + r, .., b, ..) against (.., a, .., b + r, ..).
    a = ball(scale) * (counts[left] - 1) + ball(priors[left])
    b = ball(scale) * counts[joined] + ball(priors[joined])
    return BetaPair(a, b, ball(scale))


def compositions(total: int, cells: int) -> Iterator[tuple[int, ...]]:
    if cells == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in compositions(total - first, cells - 1):
            yield (first, *rest)


@pytest.mark.parametrize("total", [1, 3, 8])
@pytest.mark.parametrize("prior", [[1.5, 1.5], [0.3, 4.0], [20.0, 0.7]])
@pytest.mark.parametrize("scale", [0.25, 1.0])
def test_a_public_total_fixes_both_counts(total, prior, scale):
    mechanism = sdp.DirichletMechanism(scale=scale, prior=prior, total=total)
    pairs = [
        moved(counts, prior, scale, left, 1 - left)
        for counts in compositions(total, 2)
        for left in (0, 1)
        if counts[left] > 0
    ]
    assert_true(Truth(pairs, mechanism.privacy.sampling_error), mechanism.privacy, DELTAS, EPSILONS)
    # It is the worst of them: hardly anything is given away.
    assert Truth(pairs).exceeds(mechanism.privacy.epsilon(1e-3) * (1 - 1e-6), 1e-3)


@pytest.mark.parametrize("prior", [[1.0, 1.0, 1.0], [0.5, 2.0, 7.0], [10.0, 0.1, 0.1]])
@pytest.mark.parametrize("floor", [0, 2])
def test_every_move_of_a_record_in_a_small_table(prior, floor):
    scale, total = 0.5, 4 + 3 * floor
    mechanism = sdp.DirichletMechanism(scale=scale, prior=prior, floor=floor)
    pairs = {}
    for counts in compositions(total, 3):
        for left, joined in itertools.permutations(range(3), 2):
            after = list(counts)
            after[left] -= 1
            after[joined] += 1
            if min(*counts, *after) >= floor:
                pairs[counts[left], left, counts[joined], joined] = moved(counts, prior, scale, left, joined)
    truth = Truth(list(pairs.values()))
    assert_true(truth, mechanism.privacy, DELTAS, EPSILONS)
    assert truth.exceeds(mechanism.privacy.epsilon(1e-3) * (1 - 1e-6), 1e-3)


def row_change(counts: Sequence[int], priors: Sequence[float], scale: float, cell: int, *, joined: bool) -> RowPair:
    """Return the pair of a row that a record leaves (P has it), or joins (Q has it); `counts` are without it."""
    parameters = [ball(scale) * count + ball(prior) for count, prior in zip(counts, priors, strict=True)]
    rest = sum((value for k, value in enumerate(parameters) if k != cell), ball(0))
    return RowPair(parameters[cell], rest, ball(scale), joined)


@pytest.mark.parametrize("prior", [[1.0, 1.0], [0.5, 2.0, 7.0], [20.0, 1e3, 1e3]])
def test_a_record_that_comes_or_goes(prior):
    scale = 1.0
    mechanism = sdp.DirichletMechanism(scale=scale, prior=prior, adjacency="add_remove")
    pairs: list[Pair] = []
    for counts in ([0] * len(prior), [3] * len(prior), [0] * (len(prior) - 1) + [10**4]):
        for cell in range(len(prior)):
            pairs += [row_change(counts, prior, scale, cell, joined=joined) for joined in (False, True)]
    assert_true(Truth(pairs), mechanism.privacy, [1e-2, 1e-6], EPSILONS)
    # The limit of large totals, which no table attains.
    limit = Truth([GammaPair.of(min(prior), scale, added=added) for added in (False, True)])
    assert_true(limit, mechanism.privacy, DELTAS, EPSILONS)
    assert limit.exceeds(mechanism.privacy.epsilon(1e-3) * (1 - 1e-6), 1e-3)


def cut(pair: RowPair) -> Law:
    """Return which of many intervals the share is in."""
    middle, spread = float(pair.a / (pair.a + pair.b)), float((pair.b / (pair.a * (pair.a + pair.b))).sqrt())
    losses = []
    for k in range(-45, 46):
        # A share of exp(k / 10) spreads around its mean, as a loss.
        log_share = ball(middle).log() + ball(k / 10) * ball(spread)
        if log_share < 0:
            loss = pair.r * log_share - pair.shift
            losses.append(float(-loss if pair.joined else loss))
    return cells_of(pair, sorted(losses))


@pytest.mark.parametrize("prior", [[2.0, 2.0], [1.0, 30.0], [5.0, 20.0, 20.0]])
def test_a_record_that_moves_between_rows_of_one_table(prior):
    scale = 1.0
    mechanism = sdp.DirichletMechanism(scale=scale, prior=prior)
    for counts, others in (([0] * len(prior), [0] * len(prior)), ([0] * len(prior), [1] + [40] * (len(prior) - 1))):
        for left, joined in itertools.product(range(len(prior)), repeat=2):
            first = cut(row_change(counts, prior, scale, left, joined=False))
            truth = Truth([Product(first, row_change(others, prior, scale, joined, joined=True))])
            for delta in (1e-2, 1e-6):
                verdict = judge_epsilon(truth, mechanism.table_privacy, delta)
                assert verdict.fault is None, (counts, others, left, joined, verdict.fault)
            assert judge_delta(truth, mechanism.table_privacy, 0.5).fault is None


def test_a_table_with_two_kinds_of_priors_costs_more_than_a_row():
    """Both rows may lose and gain at the smallest prior; within one row a record meets it at most once."""
    priors = [20.0, 1e4, 1e4]
    mechanism = sdp.DirichletMechanism(scale=1.0, prior=priors)
    first = cut(row_change([0, 0, 0], priors, 1.0, 0, joined=False))
    truth = Truth([Product(first, row_change([0, 0, 0], priors, 1.0, 0, joined=True))])
    within, across = mechanism.privacy.epsilon(1e-6), mechanism.table_privacy.epsilon(1e-6)
    assert truth.exceeds(within, 1e-6)
    assert not truth.exceeds(across, 1e-6)
    assert truth.exceeds(across * 0.98, 1e-6)


def test_an_accountant_is_debited_what_a_table_costs():
    mechanism = sdp.DirichletMechanism(scale=1.0, prior=[20.0, 1e6, 1e6])
    cost = mechanism.table_privacy.epsilon(1e-6)
    accountant = sdp.Accountant((mechanism.privacy.epsilon(1e-6) + cost) / 2, 1e-6)
    with pytest.raises(sdp.BudgetExceededError):
        accountant.release(mechanism, [[3, 4, 5], [1, 0, 2]], rows="table")


def test_random_parameters_of_one_draw(full):
    rng = random.Random(11)
    for _ in range(2000 if full else 30):
        scale, prior = 10 ** rng.uniform(-3, 2), 10 ** rng.uniform(-2, 4)
        other = prior * 10 ** rng.uniform(0, 2)
        delta = 10 ** rng.uniform(-30, -1)
        mechanism = sdp.DirichletMechanism(scale=scale, prior=[prior, other, other])
        pairs = [BetaPair.of(prior, scale, other), BetaPair.of(other, scale, prior)]
        curve = mechanism.privacy
        assert_true(Truth(pairs, curve.sampling_error), curve, [delta], [rng.uniform(0, 3)])
        added = sdp.DirichletMechanism(scale=scale, prior=[prior, other, other], adjacency="add_remove")
        curve, pairs = added.privacy, [GammaPair.of(prior, scale, added=joined) for joined in (False, True)]
        assert_true(Truth(pairs, curve.sampling_error), curve, [delta])
