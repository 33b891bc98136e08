"""Mechanisms that add noise, against the laws that they draw from: enumerated, with all shifts that neighbours make."""

import itertools
import math
from fractions import Fraction

import pytest
from judging import Truth, assert_true
from truth import GaussianPair, ball, discrete_gaussian_law, product_of

import simplexdp as sdp

EPSILONS = [0.0, 0.05, 0.5, 1.0, 3.0]


def shifts(radius_squared: Fraction, coordinates: int) -> list[tuple[int, ...]]:
    """Return the largest moves of that many integers within a ball, up to signs and order."""
    reach = math.isqrt(math.floor(radius_squared))
    moves = itertools.combinations_with_replacement(range(reach + 1), coordinates)
    return [move for move in moves if 0 < sum(step * step for step in move) <= radius_squared]


@pytest.mark.parametrize("sigma", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("sensitivity", [1, 1.42, 1.75, 2])
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_discrete_gaussian_noise_covers_every_move_of_its_sensitivity(sigma, sensitivity, adjacency):
    curve = sdp.DiscreteGaussianMechanism(sigma=sigma, sensitivity=sensitivity, adjacency=adjacency).privacy
    laws = {step: discrete_gaussian_law(sigma, step, reach=12.0).coarser(250) for step in (1, 2)}
    moves = shifts(Fraction(sensitivity) ** 2, 2)
    truth = Truth([product_of([laws[step] for step in move if step]) for move in moves])
    assert_true(truth, curve, [1e-2, 1e-6, 1e-12], EPSILONS)


@pytest.mark.parametrize(("sigma", "steps"), [(1.0, 16), (0.7, 24), (2.0, 12)])
@pytest.mark.parametrize("sensitivity", [1.0, 0.3, 1.9])
def test_gaussian_noise_on_a_grid_covers_the_law_on_that_grid(sigma, steps, sensitivity):
    resolution = 2.0 ** -math.ceil(math.log2(steps / sigma))
    mechanism = sdp.GaussianMechanism(sigma=sigma, sensitivity=sensitivity, resolution=resolution)
    # Two values at that distance, wherever they lie, are rounded to so many steps apart, and some are.
    apart = math.ceil(Fraction(sensitivity) / Fraction(resolution))
    law = discrete_gaussian_law(Fraction(sigma) / Fraction(resolution), apart, reach=16.0)
    assert_true(Truth([law]), mechanism.privacy, [1e-2, 1e-6, 1e-12], EPSILONS)


@pytest.mark.parametrize("sensitivity", [1.0, 0.8])
def test_several_values_on_a_grid_each_move_by_a_step_more(sensitivity):
    sigma, resolution = 1.0, 2.0**-4
    mechanism = sdp.GaussianMechanism(sigma=sigma, sensitivity=sensitivity, changed=2, resolution=resolution)
    exact = Fraction(sensitivity) ** 2
    moves = []
    for angle in (0.0, 0.3, math.pi / 4):
        first = Fraction(sensitivity * math.cos(angle) * (1 - 1e-12))
        second = Fraction(sensitivity * math.sin(angle) * (1 - 1e-12))
        assert first**2 + second**2 <= exact
        moves.append(tuple(math.ceil(part / Fraction(resolution)) for part in (first, second)))
    laws = [
        product_of(
            [
                discrete_gaussian_law(Fraction(sigma) / Fraction(resolution), k, reach=10.0).coarser(150)
                for k in move
                if k
            ]
        )
        for move in moves
    ]
    assert_true(Truth(laws), mechanism.privacy, [1e-2, 1e-6], EPSILONS)


@pytest.mark.parametrize(
    ("scale", "sensitivity"), [(2, 1), (0.3, 1), (Fraction(7, 3), 2), (1e-3, 1), (1e6, 3), (0.1, Fraction(1, 3))]
)
def test_discrete_laplace_noise_costs_its_whole_sensitivity(scale, sensitivity):
    mechanism = sdp.DiscreteLaplaceMechanism(scale=scale, sensitivity=sensitivity)
    exact = Fraction(sensitivity) / Fraction(scale)
    reported = Fraction(mechanism.privacy.epsilon(0.0))
    assert exact <= reported <= exact * (1 + Fraction(1, 2**52))


@pytest.mark.parametrize(("epsilon", "sensitivity"), [(1.0, 1), (0.1, 2), (0.3, Fraction(1, 7)), (40.0, 3.0)])
@pytest.mark.parametrize("changed", [1, 2, 5])
def test_laplace_noise_on_a_grid_costs_the_steps_that_values_can_be_apart(epsilon, sensitivity, changed):
    mechanism = sdp.LaplaceMechanism.calibrated(epsilon=epsilon, sensitivity=sensitivity, changed=changed)
    grid, scale = Fraction(mechanism.resolution), Fraction(mechanism.scale)
    # The l1 distance of rounded values: the first takes almost all, the others a trifle that crosses a boundary each.
    steps = math.ceil(Fraction(sensitivity) / grid - Fraction(changed - 1, 10**30)) + changed - 1
    exact = steps * grid / scale
    assert exact <= Fraction(mechanism.privacy.epsilon(0.0)) <= Fraction(epsilon) * (1 + Fraction(1, 2**50))


def sum_preserving_law(counts: tuple[int, ...], scale: Fraction, outputs: list[tuple[int, ...]]) -> list:
    """Return the unnormalised masses of the outputs: exp(-l1(y - x) / scale)."""
    return [(-ball(Fraction(sum(abs(a - b) for a, b in zip(y, counts, strict=True))) / scale)).exp() for y in outputs]


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("scale", [Fraction(2), Fraction(1, 2), Fraction(20, 3)])
def test_sum_preserving_noise_by_brute_force(dimension, scale):
    n, reach = 3, 12
    inputs = [x for x in itertools.product(range(n + 1), repeat=dimension) if sum(x) == n]
    free = itertools.product(range(-reach, n + reach + 1), repeat=dimension - 1)
    outputs = [(*y, n - sum(y)) for y in free]
    worst = ball(0)
    for x, other in itertools.permutations(inputs, 2):
        if sum(abs(a - b) for a, b in zip(x, other, strict=True)) != 2:
            continue  # not one record moved
        p, q = (sum_preserving_law(counts, scale, outputs) for counts in (x, other))
        worst = max([worst, *((a / b).log() for a, b in zip(p, q, strict=True))], key=float)
    # The normaliser does not depend on the data: the lattice of noise is the same around each.
    reported = sdp.SumPreservingLaplaceMechanism(scale=scale, dimension=dimension).privacy.epsilon(0.0)
    assert not worst > ball(reported)
    assert reported <= float(worst.upper()) * (1 + 1e-12)


@pytest.mark.parametrize(("prior", "sensitivity"), [([1, 1], 1), ([1, 1], 2), ([1, 2, 3], 2)])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 30.0])
def test_laplace_posterior_covers_the_distance_of_counts(prior, sensitivity, epsilon):
    mechanism = sdp.LaplacePosteriorMechanism(prior, 60, epsilon, sensitivity=sensitivity)
    # With two categories one count has noise, and it moves by one; with more, two counts move by one each.
    moved = 1 if len(prior) == 2 else 2
    # Its scale as a double: up to half a unit in the last place above the exact one.
    exact = Fraction(moved) / (Fraction(mechanism.scale) * (1 + Fraction(1, 2**53)))
    assert exact <= Fraction(mechanism.privacy.epsilon(0.0))
    assert mechanism.privacy.epsilon(0.0) <= epsilon * (1 + 1e-15)


@pytest.mark.parametrize("changed", [1, 2])
@pytest.mark.parametrize("sigma", [0.05, 0.2, 1.0, 7.0, 40.0])
def test_the_discrete_gaussian_curve_is_that_of_its_law(sigma, changed):
    curve = sdp.PrivacyCurve.discrete_gaussian(sigma=sigma, changed=changed)
    law = discrete_gaussian_law(sigma)
    truth = Truth([law if changed == 1 else product_of([law if len(law) < 500 else law.coarser(500)] * 2)])
    assert_true(truth, curve, [0.3, 1e-3, 1e-9, 1e-30], EPSILONS)


@pytest.mark.parametrize("rho", [1e-4, 0.02, 0.5, 12.0])
def test_concentrated_privacy_covers_the_noise_that_has_it(rho):
    """Gaussian noise is rho-zCDP and (order, rho order)-Renyi DP: a curve from that alone is not below its own."""
    truth = Truth([GaussianPair(2 * ball(rho))])
    curves = [
        sdp.PrivacyCurve.from_zcdp(rho),
        sdp.PrivacyCurve.from_zcdp(rho, conversion="lemma"),
        sdp.PrivacyCurve.from_tcdp(rho, 40.0),
        sdp.PrivacyCurve.from_rdp(7.0, math.nextafter(7.0 * rho, math.inf)),
        sdp.PrivacyCurve.from_renyi(lambda order: math.nextafter(rho * order, math.inf)),
    ]
    for curve in curves:
        assert_true(truth, curve, [1e-2, 1e-9], [0.0, 0.5])
    twice = Truth([GaussianPair(4 * ball(rho))])
    for curve in curves:
        assert_true(twice, 2 * curve, [1e-6])
    beside = curves[0] + sdp.PrivacyCurve.gaussian(sigma=(2 * rho) ** -0.5 * (1 - 1e-15))
    assert_true(twice, beside, [1e-6])


def hostile_pairs(sensitivity: Fraction, resolution: Fraction) -> list[tuple[float, float]]:
    """Return doubles at a distance of at most the sensitivity, exactly, around halves of the grid, also below zero."""
    halves = [resolution * Fraction(odd, 2) for odd in range(-9, 10, 2)]
    starts = [float(half) for half in halves]
    starts += [math.nextafter(start, way) for start in starts for way in (-math.inf, math.inf)]
    pairs = []
    for x in starts:
        for end in (Fraction(x) + sensitivity, Fraction(x) - sensitivity):
            near = float(end)
            for y in (near, math.nextafter(near, math.inf), math.nextafter(near, -math.inf)):
                if abs(Fraction(x) - Fraction(y)) <= sensitivity:
                    pairs.append((x, y))
    return pairs


@pytest.mark.parametrize("resolution", [1.0, 0.25, 2.0**-21, 4.0])
@pytest.mark.parametrize("sensitivity", [1, 2, 0.75, 3])
def test_values_at_that_distance_are_never_further_apart_on_the_grid_than_their_price_says(sensitivity, resolution):
    # Noise so small that it is zero: what comes out is where a value was rounded to.
    still = sdp.LaplaceMechanism(scale=resolution / 1000, sensitivity=sensitivity, resolution=resolution)
    priced = sdp.LaplaceMechanism(scale=1, sensitivity=sensitivity, resolution=resolution)
    # The loss of discrete Laplace noise of scale 1 between centres at distance t is t.
    allowed = Fraction(priced.privacy.epsilon(0.0))
    pairs = hostile_pairs(Fraction(sensitivity), Fraction(resolution))
    assert len(pairs) > 40
    found = max(abs(Fraction(still.release(x)) - Fraction(still.release(y))) for x, y in pairs)
    assert found <= allowed
    assert found > 0
