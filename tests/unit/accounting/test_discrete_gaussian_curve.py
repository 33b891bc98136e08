"""The curve of discrete Gaussian noise against sums over all outcomes with 60 digits, and where it is used."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import simplexdp as sdp
from simplexdp import DiscreteGaussianMechanism, PrivacyCurve


def delta_by_hand(sigma, shift, epsilon):
    """Sum P - e^epsilon Q over all outcomes of noise whose means differ by `shift`, where that is positive."""
    with mpmath.workdps(60):
        sigma = mpmath.mpf(sigma)
        reach = int(30 * sigma) + 4
        noise = {z: mpmath.exp(-(mpmath.mpf(z) ** 2) / (2 * sigma**2)) for z in range(-reach - 2, reach + 3)}
        total, factor = sum(noise.values()), mpmath.exp(mpmath.mpf(epsilon))
        if len(shift) == 1:
            terms = (noise[z - shift[0]] - factor * noise[z] for z in range(-reach, reach + 1))
            return sum(term for term in terms if term > 0) / total
        # For each value of the first coordinate the second one's terms are positive from some point on.
        terms = (
            noise[x - shift[0]] * noise[y - shift[1]] - factor * noise[x] * noise[y]
            for x in range(-reach, reach + 1)
            for y in range(-reach, reach + 1)
        )
        return sum(term for term in terms if term > 0) / total**2


@pytest.mark.parametrize("sigma", [0.1, 0.5, 1.0, 3.7, 40.0])
@pytest.mark.parametrize("epsilon", [-0.7, 0.0, 0.02, 0.5, 1.3, 4.0])
def test_one_changed_value(sigma, epsilon):
    curve = PrivacyCurve.discrete_gaussian(sigma=sigma)
    expected = delta_by_hand(sigma, (1,), epsilon)
    assert expected <= curve.delta(epsilon) <= expected * (1 + 1e-9) + mpmath.mpf("2e-307")


@pytest.mark.parametrize("sigma", [0.3, 1.0, 2.6])
@pytest.mark.parametrize("shift", [(1, 1), (1, -1), (1, 0), (0, -1)])
def test_two_changed_values_whatever_their_signs(sigma, shift):
    curve = PrivacyCurve.discrete_gaussian(sigma=sigma, changed=2)
    for epsilon in (0.0, 0.3, 2.0):
        expected = delta_by_hand(sigma, shift, epsilon)
        assert expected <= curve.delta(epsilon)
        if 0 not in shift:
            assert curve.delta(epsilon) <= expected * (1 + 1e-9)


def test_composition_of_two_is_the_curve_of_two():
    for sigma in (1.0, 6.0, 25.0):
        both = PrivacyCurve.discrete_gaussian(sigma=sigma, changed=2)
        composed = 2 * PrivacyCurve.discrete_gaussian(sigma=sigma)
        for delta in (1e-3, 1e-6, 1e-9):
            lower, upper = composed.epsilon_bounds(delta)
            assert lower - 1e-9 <= both.epsilon(delta) <= upper <= both.epsilon(delta) * (1 + 1e-3)


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("sensitivity", [1, 2**0.5, math.nextafter(2**0.5, 2), Fraction(17, 10)])
def test_the_mechanism_reports_the_exact_curve_for_small_distances(adjacency, sensitivity):
    mechanism = DiscreteGaussianMechanism(sigma=7, sensitivity=sensitivity, adjacency=adjacency)
    loose = PrivacyCurve.from_zcdp(mechanism.rho, adjacency=adjacency)
    assert mechanism.privacy.exact
    assert mechanism.privacy.adjacency == adjacency
    for delta in (1e-2, 1e-6, 1e-12):
        assert mechanism.privacy.epsilon(delta) < loose.epsilon(delta)
    orders = np.array([1.5, 2.0, 30.0])
    assert np.all(mechanism.privacy.renyi(orders) <= orders * mechanism.rho * (1 + 1e-10))


@pytest.mark.parametrize(
    "parameters",
    [{"sigma": 9, "sensitivity": 1.8}, {"sigma": 9, "sensitivity": 0.5}, {"sigma": 6000, "sensitivity": 1}],
)
def test_elsewhere_the_mechanism_is_between_its_continuous_counterpart_and_concentrated_privacy(parameters):
    mechanism = DiscreteGaussianMechanism(**parameters)
    assert not mechanism.privacy.exact
    moved = max(math.isqrt(math.floor(parameters["sensitivity"] ** 2)), 0)
    for delta in (1e-3, 1e-6, 1e-12):
        loose = PrivacyCurve.from_zcdp(mechanism.rho).epsilon(delta)
        assert mechanism.privacy.epsilon(delta) <= loose
        if moved:
            # One count that moves by one: less than a normal law of the same sigma, by parts in sigma^2.
            least = PrivacyCurve.gaussian(sigma=parameters["sigma"], sensitivity=moved).epsilon(delta)
            assert mechanism.privacy.epsilon(delta) >= 0.99 * least


def test_where_no_normal_law_is_near_the_mechanism_reports_concentrated_privacy():
    mechanism = DiscreteGaussianMechanism(sigma=3, sensitivity=1.8)
    assert mechanism.privacy.epsilon(1e-6) == PrivacyCurve.from_zcdp(mechanism.rho).epsilon(1e-6)


@pytest.mark.parametrize("epsilon, delta", [(0.003, 1e-6), (0.1, 1e-9), (1.0, 1e-6), (8.0, 1e-3)])
@pytest.mark.parametrize("changed", [1, 2])
def test_calibrated_noise_spends_the_budget_and_is_less_than_by_concentrated_privacy(epsilon, delta, changed):
    size = math.nextafter(math.sqrt(changed), 2)
    mechanism = DiscreteGaussianMechanism.calibrated(epsilon=epsilon, delta=delta, sensitivity=size)
    assert 0.9999 * epsilon <= mechanism.privacy.epsilon(delta) <= epsilon
    assert PrivacyCurve.from_zcdp(mechanism.rho).epsilon(delta) > 1.02 * epsilon


def test_parameters_that_the_curve_does_not_cover_are_refused():
    for parameters, message in (
        ({"sigma": 0.0}, "sigma must be"),
        ({"sigma": 1e4}, "sigma must lie between 0.001 and 5000"),
        ({"sigma": 1.0, "changed": 7}, "changed must be 1 or 2, got 7"),
        ({"sigma": 1.0, "changed": 0}, "changed must be"),
    ):
        with pytest.raises(sdp.InvalidParameterError, match=message):
            PrivacyCurve.discrete_gaussian(**parameters)


@pytest.mark.parametrize("sigma", [1e-3, 0.02, 0.03, 0.05])
@pytest.mark.parametrize("changed", [1, 2])
def test_tiny_noise_hides_nothing_whatever_the_epsilon(sigma, changed):
    # The noise is zero but for a chance of exp(-200), so that delta is one up to the loss at zero, c (changed times 1).
    # An overflow between losses that lie far apart made it negative.
    curve = PrivacyCurve.discrete_gaussian(sigma=sigma, changed=changed)
    loss = changed / (2 * sigma * sigma)
    for share in (0.1, 0.5, 0.9, 0.99):
        assert curve.delta(share * loss) >= 1 - math.exp(-0.01 * loss) - 1e-12
    assert curve.epsilon(1e-3) >= loss + math.log1p(-1e-3) - 1e-9 * loss
