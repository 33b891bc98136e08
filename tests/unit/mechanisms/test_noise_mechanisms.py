"""Mechanisms that add noise: their parameters, their privacy, and what a release looks like."""

import contextlib
import copy
import math
import pickle
import subprocess
import sys
import warnings
from dataclasses import FrozenInstanceError
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import simplexdp as sdp
from simplexdp.testing import SeededRng

MECHANISMS = [
    sdp.DiscreteLaplaceMechanism(scale=3.5, sensitivity=2),
    sdp.DiscreteGaussianMechanism(sigma=Fraction(7, 3), sensitivity=1),
    sdp.SumPreservingLaplaceMechanism(scale=2, dimension=3, rows="independent"),
    sdp.LaplaceMechanism(scale=2.0, sensitivity=1, changed=3),
    sdp.GaussianMechanism(sigma=2.0, sensitivity=1, changed=3),
]
INTEGER = MECHANISMS[:3]
REAL = MECHANISMS[3:]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
class TestEvery:
    def test_release_keeps_the_shape(self, mechanism):
        for shape in ((3,), (2, 3), (0, 3), (2, 4, 3)):
            released = mechanism.release(np.ones(shape, dtype=np.int64))
            assert released.shape == shape
            assert released.dtype == (np.float64 if mechanism in REAL else np.int64)

    def test_a_seed_repeats_and_the_default_does_not(self, mechanism):
        values = np.zeros(300, dtype=np.int64).reshape(100, 3)
        first, again = (mechanism.release(values, rng=SeededRng(5)) for _ in range(2))
        assert np.array_equal(first, again)
        assert not np.array_equal(mechanism.release(values), mechanism.release(values))

    def test_it_is_immutable_and_survives_copies(self, mechanism):
        name = "sigma" if hasattr(mechanism, "sigma") else "scale"
        with pytest.raises(FrozenInstanceError):
            setattr(mechanism, name, 1.0)
        _ = mechanism.privacy
        for twin in (copy.deepcopy(mechanism), pickle.loads(pickle.dumps(mechanism))):
            assert twin == mechanism
            assert hash(twin) == hash(mechanism)
            released = (m.release([1, 2, 3], rng=SeededRng(2)) for m in (mechanism, twin))
            assert np.array_equal(*released)
            assert twin.privacy.epsilon(1e-6) == mechanism.privacy.epsilon(1e-6)

    def test_bad_data_are_refused_and_not_quoted(self, mechanism):
        bad = [["7777", "1", "2"], [None, 1, 2], [1j, 2, 3], [[7777, 1], [2]], [7777.25, "x", None]]
        if mechanism in INTEGER:
            bad += [[7777.0, 1.0, 2.0], [True, False, True]]
        else:
            bad += [[math.nan, 7777.0, 1.0]]
        for values in bad:
            with pytest.raises(sdp.InvalidDataError) as error:
                mechanism.release(values)
            assert "7777" not in str(error.value)

    def test_extreme_data_are_clamped(self, mechanism):
        values = [2**63 - 1, -(2**63), 0] if mechanism in INTEGER else [1e308, -math.inf, 5e-324]
        if isinstance(mechanism, sdp.SumPreservingLaplaceMechanism):
            # A clamped value would change the sum, which the noise keeps.
            for extreme in (values, [10**30, 0, 0], [2**61, 0, 0], [0, 0, -(2**61)]):
                with pytest.raises(sdp.InvalidDataError, match="not shown"):
                    mechanism.release(extreme)
            assert mechanism.release([2**61 - 1, 1 - 2**61, 0]).sum() == 0
            return
        released = mechanism.release(values)
        assert np.all(np.isfinite(released))
        assert released[0] > 1e9
        assert released[1] < -1e9
        if mechanism in INTEGER:
            assert mechanism.release([10**30, 0, 0])[0] > 2**60
            assert mechanism.release(np.array([2**64 - 1, 0, 0], dtype=np.uint64))[0] > 2**60

    def test_other_generators_are_refused(self, mechanism):
        with pytest.raises(sdp.InvalidParameterError, match="not cryptographically secure"):
            mechanism.release([1, 2, 3], rng=np.random.default_rng(1))


@pytest.mark.parametrize("mechanism", [m for m in MECHANISMS if m is not MECHANISMS[2]], ids=repr)
def test_a_scalar_gives_a_scalar(mechanism):
    assert isinstance(mechanism.release(5), float if mechanism in REAL else int)


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, "1", None, 2.0**51, 1j])
def test_bad_scales_are_refused(bad):
    builders = [
        lambda: sdp.DiscreteLaplaceMechanism(scale=bad, sensitivity=1),
        lambda: sdp.DiscreteGaussianMechanism(sigma=bad, sensitivity=1),
        lambda: sdp.SumPreservingLaplaceMechanism(scale=bad, dimension=3),
        lambda: sdp.LaplaceMechanism(scale=bad, sensitivity=1, resolution=1.0),
        lambda: sdp.GaussianMechanism(sigma=bad, sensitivity=1, resolution=1.0),
    ]
    for build in builders:
        with pytest.raises(sdp.InvalidParameterError):
            build()


@pytest.mark.parametrize(
    "arguments",
    [
        {"sensitivity": 0},
        {"sensitivity": math.inf},
        {"changed": 0},
        {"changed": 1.5},
        {"resolution": 0.3},
        {"resolution": 0.0},
        {"resolution": math.nan},
        {"resolution": -1.0},
        {"resolution": "x"},
        {"resolution": 2.0**-60},
        {"adjacency": "other"},
    ],
)
def test_bad_parameters_are_refused_by_name(arguments):
    (name,) = arguments
    for build in (
        lambda: sdp.LaplaceMechanism(**{"scale": 1.0, "sensitivity": 1, **arguments}),
        lambda: sdp.GaussianMechanism(**{"sigma": 1.0, "sensitivity": 1, **arguments}),
    ):
        with pytest.raises(sdp.InvalidParameterError, match=name):
            build()


def test_rows_of_another_length_are_refused():
    for values in (5, [1, 2], [[1], [2], [3]]):
        with pytest.raises(sdp.InvalidDataError, match=r"shape \(\.\.\., 3\)"):
            MECHANISMS[2].release(values)
    for dimension in (0, -1, 1.5, 2**40):
        with pytest.raises(sdp.InvalidParameterError, match="dimension"):
            sdp.SumPreservingLaplaceMechanism(scale=1, dimension=dimension)


def test_pure_losses_are_exact_fractions_rounded_up():
    for scale, sensitivity in ((3, 1), (Fraction(1, 3), 2), (0.1, 0.3), (7, 1e-9)):
        exact = Fraction(sensitivity) / Fraction(scale)
        reported = sdp.DiscreteLaplaceMechanism(scale=scale, sensitivity=sensitivity).privacy.epsilon(0.0)
        assert exact <= Fraction(reported) <= exact * (1 + Fraction(1, 2**50))
    third = sdp.SumPreservingLaplaceMechanism.calibrated(epsilon=Fraction(1, 3), dimension=5)
    assert third.scale == 6
    assert Fraction(third.privacy.epsilon(0.0)) >= Fraction(1, 3)


def test_the_curves_hold_against_the_exact_laws():
    # Sums over the integers of the hockey-stick divergence, in 60-term tails that doubles hold well.
    z = np.arange(-400, 401)
    for sensitivity in (1, 2, 3):
        laplace = np.exp(-np.abs(z) / 4.0)
        gaussian = np.exp(-(z**2) / 32.0)
        curves = [
            (laplace, sdp.DiscreteLaplaceMechanism(scale=4, sensitivity=sensitivity).privacy),
            (gaussian, sdp.DiscreteGaussianMechanism(sigma=4, sensitivity=sensitivity).privacy),
        ]
        for weights, curve in curves:
            p = weights / weights.sum()
            q = np.roll(p, sensitivity)
            for epsilon in (0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 2.0):
                exact = np.maximum(p - np.exp(epsilon) * q, 0).sum()
                assert curve.delta(epsilon) >= exact - 1e-13


def test_gaussian_calibration_meets_its_budget_and_wastes_little():
    for make in (sdp.DiscreteGaussianMechanism, sdp.GaussianMechanism):
        by_rho = make.calibrated(rho=0.02, sensitivity=3)
        assert 0.02 * (1 - 1e-4) <= by_rho.rho <= 0.02
        by_curve = make.calibrated(epsilon=0.7, delta=1e-6, sensitivity=1)
        assert 0.7 * (1 - 1e-4) <= by_curve.privacy.epsilon(1e-6) <= 0.7
        for arguments in (
            {},
            {"rho": 1.0, "epsilon": 1.0, "delta": 0.1},
            {"rho": 1.0, "advantage": 0.1},
            {"epsilon": 1.0, "delta": 0.1, "advantage": 0.1},
            {"advantage": 1.0},
            {"epsilon": 1.0},
            {"delta": 0.1},
            {"rho": -1},
        ):
            with pytest.raises(sdp.InvalidParameterError):
                make.calibrated(sensitivity=1, **arguments)


def test_laplace_calibration_counts_the_rounding():
    mechanism = sdp.LaplaceMechanism.calibrated(epsilon=1, sensitivity=0.3, changed=4, resolution=0.25)
    # ceil(0.3 / 0.25) + 4 - 1 = 5 steps of 1/4.
    assert mechanism.scale == Fraction(5, 4)
    assert mechanism.privacy.epsilon(0.0) == 1.0
    fine = sdp.LaplaceMechanism.calibrated(epsilon=1, sensitivity=0.3, changed=4)
    assert 0.3 < fine.scale < 0.3 * (1 + 2**-17)


@given(
    pairs=st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-4, 4)), min_size=1, max_size=6),
    log_resolution=st.integers(-10, 3),
)
def test_rounding_never_exceeds_the_stated_sensitivity(pairs, log_resolution):
    first = np.array([x for x, _ in pairs])
    second = np.array([x + d for x, d in pairs])
    resolution = 2.0**log_resolution
    l1 = sum(abs(Fraction(a) - Fraction(b)) for a, b in zip(first, second, strict=True))
    squares = sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(first, second, strict=True))
    if l1 == 0:
        return
    # Noise of a thousandth of a step is zero but for a chance of exp(-1000).
    silent = sdp.LaplaceMechanism(scale=resolution / 1000, sensitivity=l1, changed=len(pairs), resolution=resolution)
    steps = np.abs(silent.release(first) - silent.release(second)) / resolution
    assert Fraction(steps.sum()) / Fraction(0.001) <= Fraction(silent.privacy.epsilon(0.0)) * (1 + Fraction(1, 10**9))
    widened = Fraction(math.isqrt(math.ceil(squares * 2**80)) + 1, 2**40)
    gaussian = sdp.GaussianMechanism(
        sigma=resolution / 1000, sensitivity=widened, changed=len(pairs), resolution=resolution
    )
    assert (steps**2).sum() * 1e6 / 2 <= gaussian.rho * (1 + 1e-9)


def test_releases_lie_on_the_grid():
    for mechanism in REAL:
        released = mechanism.release(np.linspace(-3, 3, 999) * math.pi)
        assert np.all(released / mechanism.resolution == np.rint(released / mechanism.resolution))
        assert mechanism.resolution == 2.0**-20


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize(
    ("size", "sensitivity"), [(0.5, 1), (3, 1), (7e5, 1), (1e9, 3), (2.0**44, 1), (1e14, 0.25), (2, 300)]
)
def test_the_default_grid_is_small_beside_noise_and_distance(kind, size, sensitivity):
    """A coarse one counts its steps as distance: a sensitivity of 1 as 1.5 on a grid of 0.5."""
    name, noise = {"laplace": ("scale", sdp.LaplaceMechanism), "gaussian": ("sigma", sdp.GaussianMechanism)}[kind]
    step = Fraction(noise(**{name: size}, sensitivity=sensitivity).resolution)
    wanted = min(Fraction(size), Fraction(sensitivity)) / 2**20
    finest = Fraction(size) / 2**44
    assert max(wanted, finest) / 2 < step <= max(wanted, finest)


@pytest.mark.parametrize("epsilon", [1e-3, 1e-6, 1e-9])
def test_little_epsilon_pays_for_no_grid(epsilon):
    """The least scale without a grid is sensitivity / epsilon; the distance of 10 values grows by their steps alone."""
    for changed in (1, 10):
        scale = sdp.LaplaceMechanism.calibrated(epsilon=epsilon, sensitivity=1, changed=changed).scale
        assert 1 <= scale * Fraction(epsilon) <= 1 + Fraction(20, 2**14)


def test_sums_are_kept():
    for dimension, scale in ((1, 3), (2, 0.5), (24, 2), (25, 2), (300, 5)):
        mechanism = sdp.SumPreservingLaplaceMechanism(scale=scale, dimension=dimension, rows="independent")
        counts = np.arange(4 * dimension).reshape(4, dimension)
        assert np.array_equal(mechanism.release(counts).sum(axis=1), counts.sum(axis=1))


def test_seeded_noise_is_stable():
    # A change here is a value change for every user.
    laplace = sdp.DiscreteLaplaceMechanism(scale=10, sensitivity=1).release(np.zeros(6, dtype=int), rng=SeededRng(42))
    gaussian = sdp.DiscreteGaussianMechanism(sigma=1000, sensitivity=1).release(
        np.zeros(6, dtype=int), rng=SeededRng(42)
    )
    closed = sdp.SumPreservingLaplaceMechanism(scale=3, dimension=6).release(np.zeros(6, dtype=int), rng=SeededRng(42))
    assert laplace.tolist() == [-1, 3, 3, -11, 22, 27]
    assert gaussian.tolist() == [1931, -867, 1620, 1033, 2397, -1117]
    assert closed.tolist() == [7, 0, 0, -3, 5, -9]


def test_using_a_seed_warns_where_the_release_is_called():
    code = (
        "import warnings, simplexdp as sdp\n"
        "from simplexdp.testing import SeededRng\n"
        "with warnings.catch_warnings(record=True) as seen:\n"
        "    warnings.simplefilter('always')\n"
        "    sdp.simulation.dirichlet([1.0, 2.0], rng=SeededRng(1))\n"
        "    sdp.simulation.discrete_laplace(2.0, rng=SeededRng(1))\n"
        "    assert not seen\n"
        "    sdp.DiscreteLaplaceMechanism(scale=1, sensitivity=1).release([1], rng=SeededRng(1))\n"
        "    sdp.DiscreteLaplaceMechanism(scale=1, sensitivity=1).release([1], rng=SeededRng(1))\n"
        "print([w.category.__name__ for w in seen])\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert (result.stdout.strip(), result.stderr) == ("['InsecureRandomnessWarning']", "")


@pytest.mark.parametrize("kind", [sdp.GaussianMechanism, sdp.DiscreteGaussianMechanism])
@pytest.mark.parametrize("epsilon", [1e100, 1e179, 1e300, 1.7e308])
def test_budgets_beyond_all_noise_are_answered_or_refused(kind, epsilon):
    """The loss over the distance overflowed to NaN, and a function called itself for ever: the process ended."""
    with warnings.catch_warnings(), contextlib.suppress(sdp.InvalidParameterError):
        warnings.simplefilter("ignore", sdp.WeakGuaranteeWarning)
        assert kind.for_counts(epsilon, 3.5e-310).privacy.epsilon(1e-6) <= epsilon


@pytest.mark.parametrize("sigma", [1e-6, 1.0, 1e6])
def test_losses_beyond_the_square_root_of_the_doubles_have_no_delta(sigma):
    curve = sdp.PrivacyCurve.gaussian(sigma=sigma)
    for epsilon in (1e179, 1e292, 1e300, 1.7e308):
        assert curve.delta(epsilon) <= 1e-300
