"""The fitted mixture against the best of all distributions, on tables so small that it can be found.

A distribution over 2 x 3 x 2 cells is any vector of twelve shares, and the distance of its one-way and two-way tables
to noisy ones is convex in it: non-negative least squares finds the minimum. The fit is not asked to reach it, as its
prior draws pairs towards independence; it is asked to stay within what noise alone can tell apart.
"""

import itertools

import numpy as np
import pytest
from scipy.optimize import nnls

from simplexdp import _core
from simplexdp.testing import SeededRng

SIZES, PAIRS = (2, 3, 2), ((0, 1), (0, 2), (1, 2))
CELLS = list(itertools.product(*map(range, SIZES)))
TABLES = [(column,) for column in range(3)] + list(PAIRS)
N, DRAWS = 10_000, 40


def table_rows():
    """Return which of the twelve cells each cell of each table sums up."""
    shapes = [[range(SIZES[column]) for column in table] for table in TABLES]
    return np.array(
        [
            [float(all(cell[column] == level for column, level in zip(table, levels, strict=True))) for cell in CELLS]
            for table, shape in zip(TABLES, shapes, strict=True)
            for levels in itertools.product(*shape)
        ]
    )


def best_tables(rows, noisy):
    # The sum of the shares is one of the equations, and weighs more than all others.
    heavy = 1e6
    shares, _ = nnls(np.vstack([rows, np.full((1, len(CELLS)), heavy)]), np.append(noisy, heavy), maxiter=10_000)
    return rows @ (shares / shares.sum())


@pytest.mark.parametrize(("sigma", "further"), [(2.0, 1.3), (20.0, 1.3), (100.0, 1.4), (400.0, 1.6)])
def test_the_fit_stays_within_the_noise_of_the_best_distribution(sigma, further):
    rng = np.random.default_rng(1)
    rows = table_rows()
    pairs = slice(sum(SIZES), None)
    ours, theirs, chance = [], [], []
    for draw in range(DRAWS):
        counts = rng.multinomial(N, rng.dirichlet(np.full(len(CELLS), 0.5)))
        true = rows @ counts / N
        noisy = np.round(rows @ counts + rng.normal(0, sigma, len(rows)))
        measured = (float(N), 1.0, noisy, np.full(len(TABLES), sigma))
        model = _core.ProductMixture.fit(SIZES, PAIRS, measured, 256, None, SeededRng(draw))
        fitted = np.concatenate([model.marginal(list(table)).ravel() for table in TABLES])
        best = best_tables(rows, noisy / N)
        # In standard deviations of the noise on one cell.
        assert np.abs(fitted - best).max() * N / sigma < 4
        ours.append(np.abs(fitted - true)[pairs].sum())
        theirs.append(np.abs(best - true)[pairs].sum())
        chance.append(np.abs(noisy / N - true)[pairs].sum())
    # Any distribution is as likely as any other here, which is the worst case of a prior around independence.
    assert np.mean(ours) < further * np.mean(theirs)
    assert np.mean(ours) < np.mean(chance)
