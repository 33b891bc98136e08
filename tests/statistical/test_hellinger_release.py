"""Releases of the Hellinger mechanism against its enumerated law."""

import numpy as np
import pytest
from scipy import stats

import simplexdp as sdp
from simplexdp.testing import SeededRng

pytestmark = pytest.mark.filterwarnings("ignore::simplexdp.InsecureRandomnessWarning")


@pytest.mark.parametrize(
    ("prior", "counts", "epsilon"),
    [
        ([1, 1], [49, 49], 0.8),
        ([1, 1], [60, 0], 2.0),
        ([0.01, 50.0], [3, 17], 5.0),
        ([1, 1, 1], [12, 0, 8], 3.0),
        ([0.2, 1.0, 1.0, 7.0], [2, 0, 3, 1], 8.0),
    ],
)
def test_releases_have_the_enumerated_law(prior, counts, epsilon, full):
    # Chi-square over candidates with an expectation of 5 or more, the rest pooled; 40000 draws (400000 in full),
    # false-alarm rate 1e-6 each.
    size = 400_000 if full else 40_000
    h = sdp.HellingerMechanism(prior, sum(counts), epsilon, calibration="proved")
    expected = h.probabilities(counts) * size
    drawn = h.simulate(counts, size, rng=SeededRng(20))
    order = np.lexsort(h.candidates().T[::-1])
    assert np.array_equal(order, np.arange(len(order)))
    places = {tuple(k): i for i, k in enumerate(h.candidates().tolist())}
    observed = np.bincount([places[tuple(k)] for k in drawn.tolist()], minlength=len(expected)).astype(float)
    large = expected >= 5
    rest = expected[~large].sum()
    statistic = ((observed[large] - expected[large]) ** 2 / expected[large]).sum()
    degrees = large.sum() - 1
    if rest >= 5:
        statistic += (observed[~large].sum() - rest) ** 2 / rest
        degrees += 1
    assert stats.chi2.sf(statistic, degrees) > 1e-6
