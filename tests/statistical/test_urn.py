"""Polya's urn from Python: margins are beta-binomial; chi-square, 20000 draws, false alarm 1e-6."""

import numpy as np
import pytest
from scipy import stats

import simplexdp as sdp
from simplexdp._polya import release_counts, release_records
from simplexdp.testing import SeededRng

COUNTS = np.array([3.0, 0.0, 12.0])
PRIOR = np.array([0.3, 1.7, 0.1])


def test_margins_are_beta_binomial():
    size, rng = 12, SeededRng(8)
    draws = np.array([release_counts(COUNTS, 0.25, PRIOR, size, rng) for _ in range(20_000)])
    assert np.all(draws.sum(axis=1) == size)
    weights = 0.25 * COUNTS + PRIOR
    for i, weight in enumerate(weights):
        expected = stats.betabinom(size, weight, weights.sum() - weight).pmf(np.arange(size + 1)) * len(draws)
        seen = np.bincount(draws[:, i], minlength=size + 1)
        assert stats.chisquare(seen, expected).pvalue > 1e-6


def test_records_and_counts_come_from_the_same_draws():
    records = release_records(COUNTS, 0.25, PRIOR, 1000, SeededRng(9))
    counts = release_counts(COUNTS, 0.25, PRIOR, 1000, SeededRng(9))
    assert np.array_equal(np.bincount(records, minlength=3), counts)
    assert release_counts(np.tile(COUNTS, (2, 4, 1)), 0.25, PRIOR, 7).shape == (2, 4, 3)


def test_hostile_urns():
    with pytest.raises(sdp.InvalidParameterError):
        release_counts(COUNTS, 1.0, PRIOR, -1)
    with pytest.raises(sdp.NotAffordableError):
        release_counts(COUNTS, 1.0, PRIOR, 2**40)
    with pytest.raises(sdp.InvalidDataError):
        release_counts(np.zeros(3), 1.0, np.zeros(3), 5)
    assert release_counts(COUNTS, 1.0, PRIOR, 0).tolist() == [0, 0, 0]
