"""Noise with hostile parameters: every accepted one draws at once and keeps its promises; nothing hangs or panics."""

from fractions import Fraction

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

import simplexdp as sdp
from simplexdp._polya import release_counts

integers = st.one_of(st.integers(1, 100), st.integers(1, 2**64), st.integers(1, 2**1000))
scales = st.one_of(
    st.floats(0, 2.0**50, exclude_min=True),
    st.builds(Fraction, integers, integers).filter(lambda scale: scale <= 2**50),
    st.integers(1, 2**50),
)
finite = st.floats(0, 1e300)


@given(scales)
@example(5e-324)
@example(2.0**50)
@example(Fraction(2**50 - 1, 2**999 + 1))
def test_integer_noise(scale):
    for mechanism in (
        sdp.DiscreteLaplaceMechanism(scale=scale, sensitivity=1),
        sdp.DiscreteGaussianMechanism(sigma=scale, sensitivity=1),
    ):
        draws = mechanism.release(np.zeros(50, dtype=np.int64))
        # 50 draws beyond 60 scales: a chance below 50 exp(-60).
        assert np.all(np.abs(draws) <= 60 * float(scale) + 0.5)


@given(scales, st.integers(1, 60))
@example(5e-324, 60)
@example(2.0**50, 25)
@example(2.0**50, 24)
def test_noise_that_keeps_a_sum(scale, dimension):
    mechanism = sdp.SumPreservingLaplaceMechanism(scale=scale, dimension=dimension, rows="independent")
    rows = mechanism.release(np.zeros((3, dimension), dtype=np.int64))
    assert [sum(row) for row in rows.tolist()] == [0, 0, 0]


@given(
    scales.filter(lambda scale: scale > 1e-250), st.integers(1, 1000), st.lists(st.floats(allow_nan=False), max_size=5)
)
@example(1e-200, 1, [1e308, -5e-324])
def test_noise_on_a_grid(scale, changed, values):
    for mechanism in (
        sdp.LaplaceMechanism(scale=scale, sensitivity=scale, changed=changed),
        sdp.GaussianMechanism(sigma=scale, sensitivity=scale, changed=changed),
    ):
        released = mechanism.release(np.array(values, dtype=np.float64))
        assert np.all(np.isfinite(released))
        assert np.all(np.abs(released) <= 2.0**53 * mechanism.resolution)
        assert mechanism.privacy.delta(2.0) < 1


@given(finite, st.lists(st.tuples(finite, finite), min_size=1, max_size=6), st.integers(0, 300))
@example(0.0, [(1.0, 5e-324)], 10)
def test_urns(scale, categories, size):
    counts, prior = (np.array(column) for column in zip(*categories, strict=True))
    if not np.any((prior > 0) | ((counts > 0) & (scale > 0))):
        return
    drawn = release_counts(counts, scale, prior, size)
    assert drawn.sum() == size
    # What has no weight is never drawn.
    assert np.all((drawn == 0) | (prior > 0) | ((counts > 0) & (scale > 0)))
