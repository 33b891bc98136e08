"""Posteriors are calibrated, which simulation shows: data from the prior, a release of the mechanism, then the
posterior probability of what lies below the true share is uniform.

One share of each simulated data set, so that values are independent: 150 of them for each setting (600 with
``--full``), Kolmogorov and Smirnov's test, false alarms 1e-6 for each setting. Coverage of 95 % intervals: within five
standard errors.
"""

import numpy as np
import pytest
from scipy import stats

import simplexdp as sdp
from simplexdp.inference import Total
from simplexdp.testing import SeededRng

SUM_PRESERVING = "zero-sum Laplace"


def mechanism_of(name, epsilon, dimension, total):
    return {
        SUM_PRESERVING: lambda: sdp.SumPreservingLaplaceMechanism.for_counts(epsilon, dimension=dimension),
        "discrete Laplace": lambda: sdp.DiscreteLaplaceMechanism.for_counts(epsilon),
        "discrete Gaussian": lambda: sdp.DiscreteGaussianMechanism.for_counts(epsilon, 1e-6),
        "Laplace": lambda: sdp.LaplaceMechanism.for_counts(epsilon),
        "Gaussian": lambda: sdp.GaussianMechanism.for_counts(epsilon, 1e-6),
        "Dirichlet": lambda: sdp.DirichletMechanism.calibrated(epsilon, 1e-6, dimension, total=total),
        "urn": lambda: sdp.DirichletMechanism.calibrated(epsilon, 1e-6, dimension, total=total),
        "Hellinger": lambda: sdp.HellingerMechanism(np.ones(dimension), total, epsilon),
    }[name]()


SHORT = [
    # name, dimension, total (a pair where it is private), epsilon, prior of each cell
    (SUM_PRESERVING, 2, 30, 0.3, 1.0),
    (SUM_PRESERVING, 20, 200, 0.5, 0.2),
    ("discrete Laplace", 5, 100, 0.5, 1.0),
    ("discrete Laplace", 4, (40, 80), 1.0, 0.5),
    ("discrete Gaussian", 5, 50, 0.5, 3.0),
    ("Laplace", 3, 40, 1.0, 0.3),
    ("Gaussian", 3, 40, 1.0, 0.3),
    ("Dirichlet", 4, 60, 1.0, 1.0),
    ("Dirichlet", 3, (20, 60), 3.0, 0.3),
    ("urn", 4, 60, 1.0, 0.5),
    ("Hellinger", 2, 40, 1.0, 1.0),
    ("Hellinger", 3, 12, 2.0, 1.0),
]
LONG = [
    (SUM_PRESERVING, 2, 40000, 0.1, 1.0),
    (SUM_PRESERVING, 10, 10, 0.1, 1.0),
    (SUM_PRESERVING, 100, 1000, 1.0, 0.05),
    (SUM_PRESERVING, 100, 10000, 0.1, 1.0),
    (SUM_PRESERVING, 1000, 100000, 1.0, 0.5),
    # A smaller prior has shares so near one that doubles cannot tell them from it.
    ("discrete Laplace", 2, 10, 0.1, 0.4),
    ("discrete Laplace", 10, 1000, 0.1, 10.0),
    ("discrete Laplace", 100, 10000, 1.0, 1.0),
    ("discrete Laplace", 10, (100, 500), 0.5, 1.0),
    ("discrete Gaussian", 2, 1000, 0.1, 1.0),
    ("discrete Gaussian", 50, 2000, 1.0, 0.1),
    ("discrete Gaussian", 300, 30000, 1.0, 1.0),
    ("Laplace", 20, 500, 0.5, 1.0),
    ("Gaussian", 20, 500, 0.5, 1.0),
    ("Dirichlet", 2, 1000, 1.0, 1.0),
    ("Dirichlet", 20, 500, 1.0, 0.3),
    ("Dirichlet", 50, 1000, 3.0, 1.0),
    ("urn", 10, 300, 3.0, 1.0),
]


def positions(setting, size, seed):
    """Return posterior probabilities of what lies below true shares, and which 95 % intervals of counts held."""
    name, dimension, total, epsilon, prior = setting
    generator, rng = np.random.default_rng(seed), SeededRng(seed)
    private = isinstance(total, tuple)
    guess = sum(total) // 2 if private else total
    mechanism = mechanism_of(name, epsilon, dimension, guess)
    found, covered = [], []
    for _ in range(size):
        n = int(generator.integers(total[0], total[1] + 1)) if private else total
        shares = generator.dirichlet(np.full(dimension, prior))
        counts = generator.multinomial(n, shares)
        if name == "Hellinger":
            posterior = mechanism.infer(mechanism.release(counts, rng), prior=prior)
        else:
            released = (
                mechanism.release_counts(counts, 100, rng=rng)
                if name == "urn"
                else mechanism.release(counts.astype(float) if name in ("Laplace", "Gaussian") else counts, rng=rng)
            )
            stated = Total.between(*total) if private else total
            posterior = mechanism.infer(released, prior=prior, total=stated)
        cell = int(generator.integers(dimension))
        found.append(float(posterior.shares.cdf(cell, shares[cell])))
        low, high = posterior.counts.interval(0.95)[cell]
        covered.append(low <= counts[cell] <= high)
    return np.array(found), np.array(covered)


def check_calibration(setting, size):
    found, covered = positions(setting, size, seed=11)
    result = stats.kstest(found, "uniform")
    print(setting, result.pvalue, covered.mean())
    assert result.pvalue > 1e-6
    # Five standard errors below the level; above it counts, being whole, may be as often as they like.
    assert covered.mean() > 0.95 - 5 * np.sqrt(0.95 * 0.05 / size)
    inside = np.abs(found - 0.5) <= 0.475
    assert abs(inside.mean() - 0.95) < 5 * np.sqrt(0.95 * 0.05 / size)


@pytest.mark.parametrize("setting", SHORT, ids=str)
def test_posteriors_are_calibrated(setting, full):
    check_calibration(setting, 600 if full else 150)


@pytest.mark.slow
@pytest.mark.parametrize("setting", LONG, ids=str)
def test_large_posteriors_are_calibrated(setting):
    check_calibration(setting, 600 if setting[1] < 100 else 200)


def test_the_test_sees_posteriors_that_ignore_the_noise():
    """An interval from the released numbers alone fails it: the test can fail."""
    generator, rng = np.random.default_rng(3), SeededRng(3)
    mechanism = sdp.SumPreservingLaplaceMechanism.for_counts(0.1, dimension=2)
    found = []
    for _ in range(300):
        share = generator.uniform()
        first = generator.binomial(30, share)
        released = mechanism.release([first, 30 - first], rng=rng)
        alpha = 1 + np.clip(released, 0, 30)
        found.append(stats.beta(*alpha).cdf(share))
    assert stats.kstest(found, "uniform").pvalue < 1e-6
