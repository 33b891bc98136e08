"""What a synthesizer's measurement costs, computed again without any of its code: dense covariances and mpmath."""

import itertools

import mpmath
import numpy as np
import pytest

from simplexdp.models.marginal_release import Release

# What docs/synthesis.md says that rows and columns share, over the noise of a cell.
SHARED = 32.0**2


def covariance(shape, sigma):
    """Return the covariance of a table's noise, cell by cell."""
    if len(shape) == 1:
        shared = np.ones((shape[0], shape[0]))
    else:
        rows, columns = shape
        shared = np.kron(np.eye(rows), np.ones((columns, columns))) + np.kron(np.ones((rows, rows)), np.eye(columns))
    return sigma**2 * (np.eye(int(np.prod(shape))) + SHARED * shared)


def moved(sizes, pairs, sigmas, total_sigma, first, second):
    """Return mu squared for a record that is `first` in one data set, and `second` (or nothing) in the other."""
    squared = 0.0 if second is not None or not total_sigma else total_sigma**-2
    tables = [((size,), (column,)) for column, size in enumerate(sizes)]
    tables += [((sizes[i], sizes[j]), (i, j)) for i, j in pairs]
    # Pairs of few records are not measured.
    for (shape, columns), sigma in zip(tables[: len(sigmas)], sigmas, strict=True):
        change = np.zeros(shape)
        change[tuple(first[column] for column in columns)] += 1
        if second is not None:
            change[tuple(second[column] for column in columns)] -= 1
        change = change.ravel()
        squared += change @ np.linalg.solve(covariance(shape, sigma), change)
    return squared


def gaussian_delta(mu, epsilon):
    """Return the delta of two normal laws mu standard deviations apart, to 40 digits."""
    with mpmath.workdps(40):
        mu, epsilon = mpmath.mpf(mu), mpmath.mpf(epsilon)
        return mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)


@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
@pytest.mark.parametrize(("epsilon", "delta", "n"), [(0.1, 1e-6, 50), (1.0, 1e-6, 100_000), (3.0, 1e-9, 5000)])
def test_the_noise_that_is_drawn_keeps_the_budget_and_uses_it_up(adjacency, epsilon, delta, n):
    sizes, pairs = (2, 5, 3), [(0, 1), (0, 2), (1, 2)]
    release = Release.planned(
        sizes, dict.fromkeys(pairs, 1.0), epsilon=epsilon, delta=delta, adjacency=adjacency, beside=None
    )
    counts = np.zeros(sum(sizes) + sum(sizes[i] * sizes[j] for i, j in pairs), dtype=np.int64)
    counts[[0, 2, 7, 10, 20, 26]] = n
    measured = release.measure(sizes, counts, None)
    records = list(itertools.product(*map(range, sizes)))
    others = [None] if adjacency == "add_remove" else records
    worst = max(moved(sizes, pairs, measured.sigmas, measured.total_sigma, records[0], other) for other in others)
    # Rounding takes less than a part in 2000 of a cell's variance; with replace a bound for each table is not attained
    # by one record in all of them.
    mu = float(np.sqrt(worst))
    assert mu <= release.mu <= mu * (1.0005 if adjacency == "add_remove" else 1.2)
    assert gaussian_delta(release.mu, epsilon) <= delta
    assert gaussian_delta(release.mu * (1 + 1e-6), epsilon) > delta
    reported = release.privacy.delta(epsilon)
    assert reported == pytest.approx(float(gaussian_delta(release.mu, epsilon)), rel=1e-6)
    assert reported <= delta


def test_the_error_of_drawing_integers_is_paid_for_and_is_nothing():
    release = Release.planned((40, 40), {(0, 1): 1.0}, epsilon=1.0, delta=1e-6, adjacency="add_remove", beside=None)
    with mpmath.workdps(40):
        distance = 4 * (40 * 40 + 80 + 2 * 41 + 2) * mpmath.exp(-2 * mpmath.pi**2 * 16)
    assert distance <= release.privacy.sampling_error <= distance * 1.001
