"""What one replaced record shows in all noisy tables at once, from the inverse of each covariance and every change."""

from functools import cache
from itertools import combinations, product

import numpy as np
import pytest

from simplexdp import _core
from simplexdp.testing import SeededRng

SPREAD = 32.0


@cache
def one_way_precision(a):
    """Return the inverse of the covariance of the noise of a one-way table: all cells share some."""
    return np.linalg.inv(np.eye(a) + SPREAD**2 * np.ones((a, a)))


@cache
def precision(a, b):
    """Return the same of a pair: there is noise in cells, noise shared by rows and noise shared by columns."""
    shared = np.kron(np.eye(a), np.ones((b, b))) + np.kron(np.ones((a, a)), np.eye(b))
    return np.linalg.inv(np.eye(a * b) + SPREAD**2 * shared)


def shown(sizes, pairs, sigmas, old, new):
    """Return mu^2 of replacing one record by another."""
    total = 0.0
    for column, size in enumerate(sizes):
        change = np.zeros(size)
        change[old[column]] += 1
        change[new[column]] -= 1
        total += change @ one_way_precision(size) @ change / sigmas[column] ** 2
    for (i, j), sigma in zip(pairs, sigmas[len(sizes) :], strict=True):
        change = np.zeros((sizes[i], sizes[j]))
        change[old[i], old[j]] += 1
        change[new[i], new[j]] -= 1
        cells = np.flatnonzero(change)
        inside = precision(sizes[i], sizes[j])[np.ix_(cells, cells)]
        total += change.flat[cells] @ inside @ change.flat[cells] / sigma**2
    return total


def worst(sizes, pairs, sigmas):
    """Return the largest mu^2 over the sets of columns that change: names of levels do not matter to the noise."""
    old = np.zeros(len(sizes), dtype=int)
    changes = product(*((0, size - 1) if size > 1 else (0,) for size in sizes))
    return max(shown(sizes, pairs, sigmas, old, np.array(new)) for new in changes)


def planned(sizes, pairs, weights, persons, mu, n):
    """Return the parameters of all tables' noise of a plan that costs mu, for about n records."""
    plan = _core.MarginalPlan(sizes, pairs, weights, persons, mu)
    cells = [np.zeros(size, dtype=np.int64) for size in (*sizes, *(sizes[i] * sizes[j] for i, j in pairs))]
    for table in cells:
        table[0] = n
    return plan.measure(np.concatenate(cells), SeededRng(5))[3]


def cases():
    """Yield columns, pairs and weights: alike, of all sizes, few pairs, heavy pairs, a column that cannot change."""
    rng = np.random.default_rng(1)
    yield [2] * 8, list(combinations(range(8), 2)), None
    yield [10] * 6, list(combinations(range(6), 2)), None
    yield [2, 16, 3, 7, 41, 2, 5], list(combinations(range(7), 2)), None
    yield [2, 3, 1, 4, 9], list(combinations(range(5), 2)), None
    yield [1, 1, 4], list(combinations(range(3), 2)), None
    yield [3, 4], [(0, 1)], None
    for _ in range(12):
        sizes = rng.integers(1, 9, size=rng.integers(3, 9)).tolist()
        pairs = [pair for pair in combinations(range(len(sizes)), 2) if rng.random() < rng.uniform(0.2, 1.0)]
        yield sizes, pairs, rng.lognormal(sigma=1.5, size=len(pairs)).tolist()


@pytest.mark.parametrize("case", range(18))
@pytest.mark.parametrize("persons", [(True, 1), (True, 3)])
def test_no_change_of_a_record_shows_more_than_is_paid_for(case, persons):
    sizes, pairs, weights = list(cases())[case]
    mu = 0.6
    sigmas = planned(sizes, pairs, weights or [1.0] * len(pairs), persons, mu, 200_000)
    measured = pairs if len(sigmas) > len(sizes) else []
    found = worst(sizes, measured, sigmas) ** 0.5 * persons[1]
    assert found <= mu * (1 + 1e-9)
    if persons == (True, 1) and max(sizes) > 1:
        # What is paid for is not much more than the worst there is.
        assert found > 0.92 * mu, found / mu


def test_levels_have_no_names():
    # Every change of a record there is, not only those from the first level to the last.
    sizes, pairs = [2, 3, 3], [(0, 1), (0, 2), (1, 2)]
    sigmas = planned(sizes, pairs, [1.0, 2.0, 0.5], (True, 1), 0.6, 200_000)
    records = [np.array(record) for record in product(*map(range, sizes))]
    every = max(shown(sizes, pairs, sigmas, old, new) for old in records for new in records)
    assert every == pytest.approx(worst(sizes, pairs, sigmas), rel=1e-9)
