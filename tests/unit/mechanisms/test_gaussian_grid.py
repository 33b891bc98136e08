"""Gaussian noise on a grid: the curve against the exact profile of the discrete law, and the proved distance."""

import math
from fractions import Fraction

import mpmath as mp
import pytest

import simplexdp as sdp

mp.mp.dps = 50


def discrete_weights(s: float) -> dict[int, mp.mpf]:
    weights = {k: mp.exp(-(mp.mpf(k) ** 2) / (2 * mp.mpf(s) ** 2)) for k in range(-int(14 * s), int(14 * s) + 1)}
    total = mp.fsum(weights.values())
    return {k: w / total for k, w in weights.items()}


@pytest.mark.parametrize("s", [16, 17.5, 32, 64])
def test_rounded_normal_is_as_near_as_proved(s):
    t = mp.sqrt(mp.mpf(s) ** 2 - mp.mpf(1) / 12)
    half = mp.mpf(1) / 2
    discrete = discrete_weights(s)
    distance = mp.fsum(abs(p - (mp.ncdf((k + half) / t) - mp.ncdf((k - half) / t))) for k, p in discrete.items()) / 2
    # The proof's constant is generous; the distance itself is 0.00049 / s^4.
    assert mp.mpf("0.0004") < distance * mp.mpf(s) ** 4 < mp.mpf(1) / 5


@pytest.mark.parametrize(("s", "shift"), [(16, 16), (16, 3), (24.5, 60), (40, 1)])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.5, 1.5])
def test_curve_covers_the_exact_profile_of_the_discrete_law(s, shift, epsilon):
    law = discrete_weights(s)
    # Up to the mass beyond 14 deviations, below 1e-42, where the shifted law is cut off.
    pairs = [(p, law[k - shift]) for k, p in law.items() if k - shift in law]
    exact = mp.fsum(max(p - mp.exp(epsilon) * q, 0) for p, q in pairs)
    # On a grid of step one a distance of shift - 1 may be rounded to shift.
    size = max(shift - 1, 1e-9)
    curve = sdp.GaussianMechanism(sigma=Fraction(s), sensitivity=size, resolution=1.0).privacy
    bound = curve.delta(epsilon)
    assert exact <= bound
    # What the bound adds: the proved distance, twice, and the shrunk deviation.
    assert bound <= exact + 4 * mp.exp(epsilon) / mp.mpf(s) ** 4 + mp.mpf("1e-3") * exact


def test_coarse_grids_fall_back_to_concentrated_privacy():
    mechanism = sdp.GaussianMechanism(sigma=8.0, sensitivity=1, resolution=1.0)
    reference = sdp.PrivacyCurve.from_zcdp(mechanism.rho)
    assert mechanism.privacy.sampling_error == 0
    assert mechanism.privacy.epsilon(1e-6) == reference.epsilon(1e-6)


def test_calibration_is_that_of_real_noise():
    scipy_stats = pytest.importorskip("scipy.stats")
    optimize = pytest.importorskip("scipy.optimize")
    normal = scipy_stats.norm

    def delta(sigma: float, epsilon: float) -> float:
        upper = normal.cdf(0.5 / sigma - epsilon * sigma)
        return float(upper - mp.exp(epsilon) * normal.cdf(-0.5 / sigma - epsilon * sigma))

    for epsilon, target in ((0.1, 1e-5), (1.0, 1e-6), (5.0, 1e-8)):
        sigma = optimize.brentq(lambda s, e=epsilon, d=target: delta(s, e) - d, 0.05, 1e3, xtol=1e-13)
        ours = sdp.GaussianMechanism.calibrated(epsilon=epsilon, delta=target, sensitivity=1)
        # The grid widens the sensitivity by 2^-20 of sigma at most.
        assert sigma * (1 - 1e-9) <= float(ours.sigma) <= sigma * (1 + 2**-19 * max(1.0, sigma))
        assert ours.privacy.epsilon(target) <= epsilon


def real_sigma(epsilon: float, delta: float) -> float:
    """Return the least deviation of real Gaussian noise at sensitivity one, in 50 digits [BW18, Theorem 8]."""
    low, high = mp.mpf("1e-3"), mp.mpf("1e6")
    for _ in range(120):
        sigma = mp.sqrt(low * high)
        spent = mp.ncdf(1 / (2 * sigma) - epsilon * sigma) - mp.exp(epsilon) * mp.ncdf(
            -1 / (2 * sigma) - epsilon * sigma
        )
        low, high = (low, sigma) if spent <= delta else (sigma, high)
    return float(high)


@pytest.mark.parametrize("epsilon", [50.0, 90.0, 105.0, 110.0, 120.0, 200.0, 400.0, 700.0, 5000.0])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-12])
def test_large_epsilons_take_little_more_noise_than_real_numbers_would(epsilon, delta):
    # Calibration stopped at about 110: at 200 it added 1.45 times the needed noise.
    mechanism = sdp.GaussianMechanism.calibrated(epsilon=epsilon, delta=delta, sensitivity=1)
    assert mechanism.privacy.epsilon(delta) <= epsilon
    assert real_sigma(epsilon, delta) * (1 - 1e-12) <= float(mechanism.sigma) <= 1.05 * real_sigma(epsilon, delta)


@pytest.mark.parametrize("advantage", [1e-9, 1e-6])
def test_the_grid_is_fine_beside_the_sensitivity_too(advantage):
    mechanism = sdp.GaussianMechanism.calibrated(advantage=advantage, sensitivity=1)
    # erf(mu / sqrt(8)) is mu / sqrt(2 pi) here.
    assert float(mechanism.sigma) <= 1.001 / (advantage * math.sqrt(2 * math.pi))


@pytest.mark.parametrize(("epsilon", "delta"), [(0.01, 1e-30), (1.0, 1e-45), (30.0, 1e-12)])
def test_tiny_deltas_get_a_finer_grid(epsilon, delta):
    mechanism = sdp.GaussianMechanism.calibrated(epsilon=epsilon, delta=delta, sensitivity=1, changed=1000)
    assert mechanism.resolution < float(mechanism.sigma) / 2**21
    assert 0.99 * epsilon <= mechanism.privacy.epsilon(delta) <= epsilon
