"""Mechanisms for counts, against every move that one person can make: enumerated, not derived."""

import itertools
import math
from fractions import Fraction
from functools import lru_cache

import pytest
from judging import Truth, assert_true
from truth import BetaPair, GammaPair, GaussianPair, Law, ball, discrete_gaussian_law, product_of

import simplexdp as sdp

Move = tuple[int, ...]


def people(cells: int, max_rows: int) -> list[Move]:
    """Return the counts of all people: each of their rows is in one cell, or in none."""
    return [h for h in itertools.product(range(max_rows + 1), repeat=cells) if sum(h) <= max_rows]


def moves(adjacency: str, cells: int, max_rows: int) -> set[Move]:
    """Return the differences between counts of neighbours, by size: noise is symmetric, and the same in each cell."""
    everyone = people(cells, max_rows)
    others = everyone if adjacency == "replace" else [(0,) * cells]
    found = {
        tuple(sorted((abs(a - b) for a, b in zip(person, other, strict=True) if a != b), reverse=True))
        for person, other in itertools.product(everyone, others)
    }
    return found - {()}


def test_the_enumeration_knows_the_textbook_moves():
    assert moves("add_remove", 3, 1) == {(1,)}
    assert moves("replace", 3, 1) == {(1,), (1, 1)}
    assert moves("add_remove", 2, 2) == {(1,), (2,), (1, 1)}
    assert moves("replace", 2, 2) == {(1,), (2,), (1, 1), (2, 1), (2, 2)}


def laplace_law(scale: Fraction, shift: int, reach: int = 60) -> Law:
    """Return discrete Laplace noise beside the same at another integer; far masses are left out."""
    p = (-1 / ball(scale)).exp()
    front = (1 - p) / (1 + p)
    window = range(-int(reach * scale) - shift, int(reach * scale) + 2 * shift + 1)
    return Law([(front * p ** abs(z), front * p ** abs(z - shift)) for z in window], exact=False)


@lru_cache(maxsize=256)
def integer_law(kind: type, size: Fraction, shift: int) -> Law:
    if kind is sdp.DiscreteLaplaceMechanism:
        return laplace_law(size, shift)
    return discrete_gaussian_law(size, shift, reach=14.0)


def truth_of_integers(kind: type, mechanism: object, all_moves: set[Move]) -> Truth:
    """Return the laws of all moved cells together; a lower bound where they are too many to enumerate."""
    size = Fraction(mechanism.scale if kind is sdp.DiscreteLaplaceMechanism else mechanism.sigma)
    widths = {1: 4000, 2: 140, 3: 30, 4: 12}
    laws = [
        product_of([integer_law(kind, size, step).coarser(widths[len(move)]) for step in move])
        for move in all_moves
        if len(move) in widths
    ]
    return Truth(laws)


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize(("cells", "max_rows"), [(2, 1), (3, 1), (2, 2), (3, 3), (4, 2)])
@pytest.mark.parametrize(
    ("kind", "budget"),
    [
        (sdp.DiscreteLaplaceMechanism, (1.0,)),
        (sdp.DiscreteLaplaceMechanism, (0.3,)),
        (sdp.DiscreteGaussianMechanism, (1.0, 1e-5)),
        (sdp.DiscreteGaussianMechanism, (6.0, 1e-9)),
    ],
)
def test_integer_noise_for_counts_covers_every_move_of_a_person(kind, budget, adjacency, cells, max_rows):
    mechanism = kind.for_counts(*budget, adjacency=adjacency, max_rows=max_rows)
    truth = truth_of_integers(kind, mechanism, moves(adjacency, cells, max_rows))
    epsilon, delta = budget if len(budget) == 2 else (*budget, 0.0)
    if delta:
        assert not truth.exceeds(epsilon, delta)
        # The worst move is among the enumerated ones where two cells are the most that count.
        assert truth.exceeds(0.9 * epsilon, delta)
        assert_true(truth, mechanism.privacy, [1e-2, delta, 1e-12], [0.0, epsilon / 3])
    else:
        assert_true(truth, mechanism.privacy, [0.0, 1e-4], [0.0, epsilon / 3, epsilon])
        # Every unit of distance costs 1 / scale, and nothing less would do.
        farthest = max(sum(move) for move in moves(adjacency, cells, max_rows))
        exact = Fraction(farthest) / Fraction(mechanism.scale)
        assert exact <= Fraction(mechanism.privacy.epsilon(0.0)) <= exact * (1 + Fraction(1, 2**50))


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize(("cells", "max_rows"), [(2, 1), (3, 2), (4, 5)])
def test_noise_on_reals_for_counts_covers_every_move_of_a_person(adjacency, cells, max_rows):
    all_moves = moves(adjacency, cells, max_rows)
    square = max(sum(step * step for step in move) for move in all_moves)
    mechanism = sdp.GaussianMechanism.for_counts(0.8, 1e-6, adjacency=adjacency, max_rows=max_rows)
    truth = Truth([GaussianPair(ball(square) / ball(Fraction(mechanism.sigma)) ** 2)])
    assert not truth.exceeds(0.8, 1e-6)
    assert truth.exceeds(0.8 * (1 - 1e-4), 1e-6)
    assert_true(truth, mechanism.privacy, [1e-2, 1e-6], [0.0, 0.3])
    # Counts are whole, so they lie on any grid of a step 2^-k: a distance is that of the counts.
    laplace = sdp.LaplaceMechanism.for_counts(0.8, adjacency=adjacency, max_rows=max_rows)
    exact = Fraction(max(sum(move) for move in all_moves)) / Fraction(laplace.scale)
    assert exact <= Fraction(laplace.privacy.epsilon(0.0)) <= Fraction(0.8)


@pytest.mark.parametrize("max_rows", [1, 2, 3])
def test_sum_preserving_noise_for_counts_covers_every_move_that_keeps_the_sum(max_rows):
    mechanism = sdp.SumPreservingLaplaceMechanism.for_counts(1.0, dimension=3, max_rows=max_rows)
    everyone = [h for h in people(3, max_rows) if sum(h) == max_rows]
    # The law of y around x is exp(-l1(y - x) / scale) on one lattice: the worst ratio is at y = x.
    farthest = max(sum(abs(a - b) for a, b in zip(h, k, strict=True)) for h in everyone for k in everyone)
    exact = Fraction(farthest) / Fraction(mechanism.scale)
    assert exact <= Fraction(mechanism.privacy.epsilon(0.0)) <= exact * (1 + Fraction(1, 2**50))
    assert mechanism.privacy.epsilon(0.0) <= 1.0


@pytest.mark.parametrize("fixed_total", [False, True])
def test_a_dirichlet_draw_for_two_counts_covers_every_replacement(fixed_total):
    n = 12
    mechanism = sdp.DirichletMechanism.calibrated(1.0, 1e-4, dimension=2, total=n, fixed_total=fixed_total)
    r, a = mechanism.scale, float(mechanism.prior)
    totals = [n] if fixed_total else [1, 2, 5, n]
    pairs = []
    for total in totals:
        for k in range(total):
            # k stay in the first category, the last record leaves it for the second; and the other way round.
            first, second = ball(a) + ball(r) * k, ball(a) + ball(r) * (total - 1 - k)
            pairs += [BetaPair(first, second, ball(r)), BetaPair(second, first, ball(r))]
    truth = Truth(pairs)
    assert not truth.exceeds(1.0, 1e-4)
    assert truth.exceeds(0.99, 1e-4)
    assert_true(truth, mechanism.privacy, [1e-2, 1e-4, 1e-8], [0.0, 0.5])


def test_a_dirichlet_draw_covers_a_record_that_comes_or_goes():
    mechanism = sdp.DirichletMechanism.for_counts(1.0, 1e-4, dimension=3, total=10, adjacency="add_remove")
    r, a = ball(mechanism.scale), ball(float(mechanism.prior))
    # The records' own category is where the laws differ; the more of them, the less they do.
    truth = Truth([GammaPair(a + r * k, r, added=added) for k in (0, 1, 5) for added in (False, True)])
    assert not truth.exceeds(1.0, 1e-4)
    assert truth.exceeds(0.99, 1e-4)
    assert_true(truth, mechanism.privacy, [1e-2, 1e-8], [0.0, 0.5])


@pytest.mark.parametrize("advantage", [1e-6, 0.05, 0.7])
def test_what_is_calibrated_by_an_advantage_gives_no_more_of_it(advantage):
    gaussian = sdp.GaussianMechanism.for_counts(advantage=advantage)
    pair = GaussianPair(2 / ball(Fraction(gaussian.sigma)) ** 2)
    assert not pair.delta(ball(0)) > ball(advantage)
    assert pair.delta(ball(0)) > ball(advantage) * (1 - ball(1e-4))
    laplace = sdp.DiscreteLaplaceMechanism.for_counts(advantage=advantage)
    # The worst pure pair, of which this noise is one: tanh(epsilon / 2).
    loss = ball(Fraction(2) / Fraction(laplace.scale))
    assert not (loss / 2).tanh() > ball(advantage)
    assert math.isfinite(float(loss))
