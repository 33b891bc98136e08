"""Cases that were once below the truth, or absurdly above it: each is judged by exact enumeration in balls."""

import math
import random
import subprocess
import sys

import pytest
from judging import Case, assert_true
from parts import Budget, DiscreteGaussian, Gaussian, Laplace, Part, Pure
from truth import ball, loss_table_law, product_of

import simplexdp as sdp

PURE = sdp.PrivacyCurve.pure


def verdicts(parts: list[tuple[Part, int]], delta: float) -> None:
    """Judge epsilon at delta, and delta at that epsilon."""
    case = Case("replace", parts)
    assert_true(case.truth, case.curve(), [delta])


def test_a_small_part_beside_a_large_one_does_not_hide_it():
    total = PURE(8.031118864329512) + PURE(5.28e-5)
    epsilon = total.epsilon(5.9e-13)
    truth = product_of([Pure(8.031118864329512).law(1), Pure(5.28e-5).law(1)])
    assert not truth.delta(ball(epsilon)) > ball(5.9e-13)
    # One part alone costs 8.031 at this delta, both together at most their sum.
    assert PURE(8.031118864329512).epsilon(5.9e-13) <= epsilon <= (8.031118864329512 + 5.28e-5) * (1 + 1e-12)
    assert total.delta(epsilon) <= 5.9e-13


def test_an_accountant_refuses_after_a_small_debit_what_it_refuses_alone():
    with pytest.raises(sdp.BudgetExceededError):
        sdp.Accountant(8, 5.93e-13).spend(PURE(8.031))
    accountant = sdp.Accountant(8, 5.93e-13)
    accountant.spend(PURE(5.3e-5))
    with pytest.raises(sdp.BudgetExceededError):
        accountant.spend(PURE(8.031))


@pytest.mark.parametrize(("low", "high"), [(6, 10), (10, 20), (20, 40)])
def test_random_pairs_of_pure_curves_with_a_large_part(low, high, full):
    rng = random.Random(f"pairs {low}")
    for _ in range(2000 if full else 60):
        parts = [(Pure(rng.uniform(low, high)), 1), (Pure(10 ** rng.uniform(-6, math.log10(high))), 1)]
        verdicts(parts, 10 ** rng.uniform(-15, -1))


@pytest.mark.parametrize(
    ("large", "small"),
    [
        (Laplace(0.1), Pure(1e-4)),
        (Laplace(0.04), Pure(1e-3)),
        (Budget(12.5, 1e-20), Pure(3e-5)),
        (Budget(33.0, 1e-9), Budget(1e-4, 1e-12)),
        (DiscreteGaussian(0.118), Pure(2.87e-4)),
        (DiscreteGaussian(0.2, 2), Pure(1e-3)),
    ],
    ids=repr,
)
def test_other_pairs_whose_losses_cluster_at_the_ends(large, small, full):
    rng = random.Random(repr(large))
    for _ in range(500 if full else 12):
        verdicts([(large, 1), (small, rng.randint(1, 3))], 10 ** rng.uniform(-25, -1))


def test_small_discrete_gaussian_noise_beside_two_small_pure_parts(full):
    rng = random.Random("mixes")
    for _ in range(1000 if full else 40):
        sigma, small = 0.118 * 2 ** rng.uniform(-0.5, 1), 10 ** rng.uniform(-4.5, -2.5)
        verdicts([(DiscreteGaussian(sigma), 1), (Pure(small), 2)], 10 ** rng.uniform(-25, -2))


@pytest.mark.parametrize("sigma", [0.3, 1.0, 7.0, 200.0])
@pytest.mark.parametrize("delta", [1e-270, 1e-280, 1e-290, 1e-300, 1e-305])
def test_gaussians_at_the_smallest_deltas(sigma, delta):
    verdicts([(Gaussian(sigma), 3)], delta)
    verdicts([(Gaussian(sigma), 2), (Gaussian(sigma * 1.7), 1)], delta)
    verdicts([(Gaussian(sigma), 1), (Pure(0.1), 1)], delta)


@pytest.mark.parametrize(
    "parts",
    [
        [(Budget(0.0, 1e-3), 10)],
        [(Pure(0.0), 3)],
        [(Budget(0.0, 1e-3), 10), (Pure(0.0), 2)],
        [(Budget(0.0, 0.1), 1), (Budget(0.0, 1e-9), 3)],
    ],
    ids=str,
)
@pytest.mark.parametrize("epsilon", [0.0, 1e-9, 1.0, 50.0])
def test_delta_where_no_loss_is_above_zero_is_the_infinite_mass(parts, epsilon):
    case = Case("replace", parts)
    lower, upper = case.truth.delta(epsilon)
    assert lower <= case.curve().delta(epsilon) <= upper * (1 + 1e-9) + 1e-300


@pytest.mark.parametrize("parts", [[(1.0, 1), (2.0, 1)], [(0.5, 3), (0.25, 2)], [(8.0, 2)]], ids=str)
@pytest.mark.parametrize("beyond", [1.0, 1 + 1e-15, 2.0])
def test_delta_at_and_beyond_the_largest_loss_is_zero(parts, beyond):
    curve = sdp.compose([PURE(epsilon) for epsilon, _ in parts], [count for _, count in parts])
    assert curve.delta(math.fsum(epsilon * count for epsilon, count in parts) * beyond) == 0.0


def test_the_smallest_loss_is_not_none():
    assert PURE(5e-324).epsilon(0.0) >= 5e-324
    assert (2 * PURE(5e-324)).epsilon(0.0) >= 1e-323


def table(losses: dict[int, float], infinite: float, width: float = 1.0) -> sdp.PrivacyCurve:
    """Return the curve of masses at multiples of a width."""
    peer = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    pld = peer.PrivacyLossDistribution.create_from_rounded_probability(losses, infinite, width)
    return sdp.PrivacyCurve.from_dp_accounting(pld, adjacency="replace")


def test_whole_losses_at_whole_epsilons_are_nearly_exact():
    # Masses of P at -1, 0, 1 such that those of Q sum to one.
    low = 0.3 / (1 + math.e)
    masses = {-1: low, 0: 0.7, 1: 0.3 - low}
    total = 5 * table(masses, 0.0)
    law = loss_table_law(list(masses), list(masses.values()))
    truth = product_of([law] * 5)
    for epsilon in range(-5, 6):
        enclosure = truth.delta(ball(epsilon))
        answer = total.delta(float(epsilon))
        assert not enclosure > ball(answer)
        assert answer <= float(enclosure.upper()) * (1 + 1e-6) + 1e-12


BELOW_ZERO = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
import simplexdp as sdp
from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

masses, infinite, width, zeros = eval(sys.argv[1])
pld = PrivacyLossDistribution.create_from_rounded_probability(masses, infinite, width)
curve = sdp.PrivacyCurve.from_dp_accounting(pld, adjacency="replace")
total = sdp.compose([curve, sdp.PrivacyCurve.pure(0.0)], [2, zeros])
print(curve.delta(0.0), total.delta(0.0), total.delta(-2.5 * width))
"""


@pytest.mark.parametrize(
    ("masses", "infinite", "width", "zeros"),
    [
        ({-3: 0.4, -1: 0.5}, 0.1, 1.0, 0),
        ({-1: 0.5, -2: 0.4}, 0.1, 0.1, 1),
        ({-1: 1 - 2.0**-30}, 2.0**-30, 1e-9, 0),
        ({-1000: 0.5, -1: 0.4}, 0.1, 1.0, 1),
    ],
    ids=str,
)
def test_a_table_with_all_finite_losses_below_zero_answers_at_zero(masses, infinite, width, zeros):
    pytest.importorskip("dp_accounting")
    # In a process of its own: this once took all memory and ended the interpreter.
    command = [sys.executable, "-c", BELOW_ZERO, repr((masses, infinite, width, zeros))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-500:]
    single, two, below = (float(value) for value in done.stdout.split())
    assert infinite <= single <= infinite * (1 + 1e-9)
    both = 1 - (1 - ball(infinite)) ** 2
    assert not both > ball(two)
    assert ball(two) < both * (1 + 1e-9)
    law = loss_table_law([ball(width) * step for step in masses], list(masses.values()), infinite)
    assert not product_of([law] * 2).delta(ball(-2.5 * width)) > ball(below)
