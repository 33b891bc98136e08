"""Released rows have the law of a Dirichlet draw on the grid.

The false-alarm rate of each test is 1e-6 or less; sample sizes stand beside the draws. Seeds are fixed.
"""

import numpy as np
import pytest
from scipy import special, stats

from simplexdp import _dirichlet
from simplexdp.testing import SeededRng

ALARM = 1e-6


def draw(shapes, n_rows, bits, seed):
    shapes = np.asarray(shapes, float)
    return _dirichlet.release_units(
        np.zeros((n_rows, len(shapes))), 1.0, shapes, resolution=2.0**-bits, rng=SeededRng(seed)
    )


def chi_square(observed, probabilities):
    """P-value, after neighbours with expectation below 10 are merged."""
    n = observed.sum()
    cells, o_sum, e_sum = [], 0.0, 0.0
    for o, e in zip(observed, n * np.asarray(probabilities), strict=True):
        o_sum, e_sum = o_sum + o, e_sum + e
        if e_sum >= 10:
            cells.append((o_sum, e_sum))
            o_sum = e_sum = 0.0
    if cells:
        cells[-1] = (cells[-1][0] + o_sum, cells[-1][1] + e_sum)
    if len(cells) < 2:
        return 1.0 if abs(o_sum) <= n else 0.0
    o, e = np.array(cells).T
    return stats.chi2.sf(((o - e) ** 2 / e).sum(), len(cells) - 1)


@pytest.mark.parametrize(
    ("a", "b"), [(1, 1), (0.3, 0.8), (1.5, 2.5), (5, 5), (0.05, 3), (40, 2), (1e-3, 1e-3), (1e-6, 1e-6), (7, 1e4)]
)
def test_every_unit_of_a_coarse_grid_has_its_probability(a, b, full):
    # Two entries: u = 1 + floor(M y) exactly, M = 254. Rows: 50 000 (2 000 000 in full).
    n_rows = 2_000_000 if full else 50_000
    units = draw([a, b], n_rows, 8, seed=11)[:, 0]
    cdf = special.betainc(a, b, np.arange(255) / 254)
    observed = np.bincount(units.astype(int), minlength=255)[1:]
    assert observed.sum() == n_rows
    assert chi_square(observed, np.diff(cdf)) > ALARM


@pytest.mark.parametrize(
    ("a", "b"),
    [(1e-6, 1e-6), (1e-6, 1.0), (1e-3, 2e-3), (0.02, 0.02), (0.1, 1e-6), (0.5, 0.5), (5, 995), (0.4, 1e6), (1, 1e12)],
)
def test_small_entries_are_right_on_the_log_scale(a, b, full):
    # Cells [2^j, 2^(j+1)) of the units of 2^-44, the atoms at the ends included. Rows: 20 000 (300 000 in full).
    n_rows = 300_000 if full else 20_000
    units = draw([a, b], n_rows, 44, seed=12)[:, 0]
    edges = np.array([1.0, 2.0, *2.0 ** np.arange(2, 44), 2.0**44 - 2, 2.0**44])
    shared = 2.0**44 - 2
    cdf = special.betainc(a, b, np.minimum((edges - 1) / shared, 1.0))
    # Beta(a, b) near one through the complement, which keeps its digits.
    cdf[-2] = 1 - special.betainc(b, a, (shared - (edges[-2] - 1)) / shared)
    observed = np.histogram(units.astype(float), edges)[0]
    assert observed.sum() == n_rows
    assert chi_square(observed, np.diff(cdf)) > ALARM


@pytest.mark.parametrize("shapes", [(1.0,) * 5, (0.5, 1.5, 2.5, 3.5), (1e12, 2e12, 3e12), (0.2,) * 40, (5.0,) * 1000])
def test_marginals_are_beta(shapes, full):
    # Kolmogorov-Smirnov for the first, middle and last entry; the grid moves an entry by at most 2^-43.
    # Rows: 40 000 gamma draws in all (4 000 000 in full, but for shapes where the distribution function is slow).
    n_rows = (4_000_000 if full and max(shapes) < 1e9 else 40_000) // len(shapes)
    y = draw(shapes, n_rows, 44, seed=13) * 2.0**-44
    total = sum(shapes)
    for i in {0, len(shapes) // 2, len(shapes) - 1}:
        cdf = special.betainc(shapes[i], total - shapes[i], y[:, i])
        assert stats.kstest(cdf, "uniform").pvalue > ALARM / 3, i


def test_parts_are_neutral(full):
    # y1/(y1+y2) is Beta(a1, a2), independent of y3 ~ Beta(a3, a1+a2): uniform on the square in 100 cells after the
    # transforms. Rows: 50 000 (2 000 000 in full).
    shapes = (0.7, 1.3, 2.2)
    y = draw(shapes, 2_000_000 if full else 50_000, 44, seed=14) * 2.0**-44
    first = special.betainc(0.7, 1.3, y[:, 0] / (y[:, 0] + y[:, 1]))
    second = special.betainc(2.2, 2.0, y[:, 2])
    observed = np.histogram2d(first, second, bins=10, range=[[0, 1], [0, 1]])[0].ravel()
    assert chi_square(observed, np.full(100, 0.01)) > ALARM


@pytest.mark.parametrize("shapes", [(0.3, 0.3), (0.3, 0.6, 5.0), (0.25,) * 8])
def test_logarithms_have_their_mean(shapes, full):
    # E ln y = digamma(a) - digamma(A). Entries near a unit of 2^-44 or below change their logarithm: with a >= 1/4 the
    # mean moves by less than 2^(-44 a) (2 + 1/a) < 0.003. 5.1 standard errors are a false-alarm rate below 1e-6.
    n_rows = 300_000 if full else 40_000
    y = draw(shapes, n_rows, 44, seed=15) * 2.0**-44
    total = sum(shapes)
    for i, a in enumerate(shapes):
        logs = np.log(y[:, i])
        deviation = np.sqrt(special.polygamma(1, a) - special.polygamma(1, total))
        expected = special.digamma(a) - special.digamma(total)
        assert abs(logs.mean() - expected) < 5.1 * deviation / np.sqrt(n_rows) + 0.003


def test_low_bits_are_uniform(full):
    # Holes of an ordinary sampler would show as units that never occur: the lowest 10 bits of a smooth density on the
    # grid of 2^-32 are uniform to 2^-20. Rows: 100 000 (2 000 000 in full).
    for shape in (1.5, 2.5, 0.4):
        units = draw([shape, 3.0], 2_000_000 if full else 100_000, 32, seed=16)[:, 0]
        observed = np.bincount((units % 1024).astype(int), minlength=1024)
        assert chi_square(observed, np.full(1024, 1 / 1024)) > ALARM / 3


@pytest.mark.parametrize("shape", [1e-6, 0.02, 0.5, 1.0, 1.5, 30.0, 1e6])
def test_gammas_have_their_law(shape, full):
    # 50 cells of equal probability, cut at whole units of 2^-32, so with exact probabilities.
    # Draws: 40 000 (2 000 000 in full).
    n_rows = 2_000_000 if full else 40_000
    units = _dirichlet.release_gamma_units(np.zeros((n_rows, 1)), 1.0, np.array([shape]), rng=SeededRng(17))[:, 0]
    inner = np.unique(np.floor(special.gammaincinv(shape, np.arange(1, 50) / 50) * 2.0**32))
    edges = np.concatenate([[0.0], inner[inner > 0] if (inner > 0).any() else [1.0], [np.inf]])
    observed = np.histogram(units.astype(float) - 1, np.append(edges[:-1], 2.0**63))[0]
    cdf = special.gammainc(shape, edges / 2.0**32)
    assert observed.sum() == n_rows
    assert chi_square(observed, np.diff(cdf)) > ALARM
