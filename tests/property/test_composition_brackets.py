"""Lower bound <= exact <= upper bound of compositions, over many mechanisms, counts and grids."""

import mpmath
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import simplexdp as sdp
from simplexdp import _core


def exact_gaussian_delta(mu: float, epsilon: float) -> mpmath.mpf:
    mu, epsilon = mpmath.mpf(mu), mpmath.mpf(epsilon)
    return mpmath.ncdf(-epsilon / mu + mu / 2) - mpmath.exp(epsilon) * mpmath.ncdf(-epsilon / mu - mu / 2)


@given(
    mus=st.lists(st.floats(0.01, 3.0), min_size=1, max_size=3),
    counts=st.lists(st.integers(1, 40), min_size=3, max_size=3),
    log_delta=st.floats(-60.0, -2.0),
    log_tolerance=st.floats(-3.0, 0.0),
)
@settings(max_examples=25)
def test_gaussians_are_bracketed_on_every_grid(mus, counts, log_delta, log_tolerance):
    curves = [sdp.PrivacyCurve.gaussian(sigma=1 / mu) for mu in mus]
    total = sdp.compose(curves, counts[: len(mus)])
    delta, tolerance = float(np.exp(log_delta)), float(10**log_tolerance)
    with mpmath.workdps(60):
        mu = mpmath.sqrt(mpmath.fsum(mpmath.mpf(m) ** 2 * c for m, c in zip(mus, counts, strict=False)))
        for lower, upper in (
            total.epsilon_bounds(delta),
            total.epsilon_bounds(delta, tolerance=tolerance),
        ):
            assert lower <= upper
            # sigma = 1/mu is rounded, by 1e-16; so is delta.
            slack = mpmath.mpf(10) ** -9
            assert exact_gaussian_delta(mu, upper) <= mpmath.mpf(delta) * (1 + slack)
            if lower > 0:
                assert exact_gaussian_delta(mu, lower) >= mpmath.mpf(delta) * (1 - slack)


def table(draw_losses, draw_masses, infinite):
    losses = np.unique(np.array(draw_losses)) / 97
    masses = np.array(draw_masses[: losses.size]) + 1e-3
    # Scaled so that both P and Q are distributions: the rest of Q lies where P has no mass.
    masses *= (1 - infinite) / masses.sum()
    return losses, masses


@given(
    tables=st.lists(
        st.tuples(
            st.lists(st.integers(-194, 291), min_size=2, max_size=5, unique=True),
            st.lists(st.floats(0.0, 1.0), min_size=5, max_size=5),
            st.sampled_from([0.0, 1e-9, 1e-3]),
        ),
        min_size=2,
        max_size=4,
    ),
    epsilon=st.floats(-3.0, 8.0),
)
@settings(max_examples=40)
def test_small_tables_agree_with_an_exact_convolution(tables, epsilon):
    profiles, outcomes, finite = [], [(mpmath.mpf(0), mpmath.mpf(1))], mpmath.mpf(1)
    with mpmath.workdps(50):
        for draw_losses, draw_masses, infinite in tables:
            losses, masses = table(draw_losses, draw_masses, infinite)
            if np.sum(masses * np.exp(-losses)) > 1:
                # Q must be a distribution too: moving all losses up makes room.
                losses = losses + float(np.log(np.sum(masses * np.exp(-losses))))
            profiles.append(_core.loss_table_profile(losses.tolist(), masses.tolist(), infinite))
            outcomes = [(a + float(x), p * float(m)) for a, p in outcomes for x, m in zip(losses, masses, strict=True)]
            finite *= mpmath.fsum(map(mpmath.mpf, masses.tolist()))
        totals = [mpmath.fsum(map(mpmath.mpf, table(*t)[1].tolist())) + t[2] for t in tables]
        exact = mpmath.fprod(totals) - finite
        exact += mpmath.fsum(p * (1 - mpmath.exp(epsilon - a)) for a, p in outcomes if a > epsilon)
    composed = _core.compose_profiles(profiles, [1] * len(profiles))
    at = np.array([epsilon])
    lower, upper = float(composed.delta_lower(at)[0]), float(composed.delta(at)[0])
    assert lower <= exact + mpmath.mpf(10) ** -12
    assert upper >= exact - mpmath.mpf(10) ** -12
    assert upper - exact <= 5e-3
