"""The audit itself: it finds what is there, and nothing that is not."""

import numpy as np
import pytest
from audit import audit, epsilon_lower_bound
from scipy.stats import binom, norm

import simplexdp as sdp


def test_the_bound_is_clopper_pearson():
    # Endpoints by their definition: the tail probability at the bound is half of the false-alarm rate.
    size, hits, neighbour_hits, delta, rate = 1000, 300, 100, 0.01, 1e-3
    found = float(epsilon_lower_bound(np.array(hits), np.array(neighbour_hits), size, delta, rate))
    p = np.linspace(0.2, 0.3, 200_001)
    p_low = p[np.searchsorted(binom.sf(hits - 1, size, p), rate / 2)]
    q = np.linspace(0.1, 0.2, 200_001)
    q_high = q[len(q) - np.searchsorted(binom.cdf(neighbour_hits, size, q)[::-1], rate / 2)]
    assert found == pytest.approx(np.log((p_low - delta) / q_high), abs=1e-4)


def test_impossible_events_prove_nothing():
    bounds = epsilon_lower_bound(np.array([0, 5, 100]), np.array([0, 100, 100]), 100, 0.01, 1e-6)
    assert np.all(bounds == 0)


def test_a_gaussian_is_found_near_its_exact_epsilon(full):
    # N(1, 1) against N(0, 1) at delta 0.01: the exact curve is the ceiling; false-alarm rate 1e-6.
    size = 1_000_000 if full else 100_000
    rng = np.random.default_rng(1)
    claim = sdp.PrivacyCurve.gaussian(sigma=1.0).epsilon(0.01)
    found = audit(lambda n: rng.normal(1, 1, n), lambda n: rng.normal(0, 1, n), size=size, delta=0.01)
    print(found, claim)
    assert 0.8 * claim <= found.epsilon <= claim
    assert norm.sf(found.threshold) == pytest.approx(found.neighbour_hits / size, rel=0.2)


def test_equal_laws_are_not_told_apart():
    rng = np.random.default_rng(2)
    assert audit(rng.random, rng.random, size=100_000, delta=0.0).epsilon < 0.05
