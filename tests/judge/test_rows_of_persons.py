"""What a Dirichlet draw guarantees a person with several rows, against every way to spread them (Theorem G).

The judge knows independent gammas alone: a part of l rows moves Gamma(a) to Gamma(a + l r), whose losses have a
distribution function in closed form. Losses of the parts are put on a grid, once rounded down and once up, and
convolved; so the truth of every partition lies between two numbers that no code of the library made.
"""

import itertools

import numpy as np
import pytest
from scipy.signal import fftconvolve
from scipy.special import gammainc, gammaincc, gammaln

import simplexdp as sdp

WIDTH = 2.0**-6
EPSILONS = (0.0, 0.5, 2.0, 6.0)


def partitions(rows, most=None):
    """Every way to split rows into parts, in falling order."""
    if rows == 0:
        yield ()
    for first in range(min(rows, most or rows), 0, -1):
        for rest in partitions(rows - first, first):
            yield (first, *rest)


def of_part(a, r, removed):
    """Return the first grid loss and the masses of the losses in cells of the grid, mass outside moved inwards.

    P has the rows if they are removed: g ~ Gamma(a + r), loss r ln g - c; else g ~ Gamma(a), loss c - r ln g.
    """
    c = gammaln(a + r) - gammaln(a)
    shape = a + r if removed else a
    ends = np.arange(-round(60 / WIDTH), round(60 / WIDTH) + 1) * WIDTH
    g = np.exp(np.clip((ends + c if removed else c - ends) / r, -700, 700))
    below = gammainc(shape, g) if removed else gammaincc(shape, g)
    masses = np.diff(below)
    return ends[0], masses, below[0], 1 - below[-1]


def bracket(parts, epsilons):
    """Return bounds of delta of a product of parts (a, r, removed)."""
    start, masses, above = 0.0, np.ones(1), 0.0
    for part in parts:
        first, own, _, beyond = of_part(*part)
        masses, start = fftconvolve(masses, own), start + first
        above += beyond
    down = start + WIDTH * np.arange(len(masses))
    up = down + len(parts) * WIDTH

    def delta(losses, epsilon):
        return float(np.sum(np.maximum(masses, 0) * np.maximum(-np.expm1(np.minimum(epsilon - losses, 1)), 0)))

    # Mass beyond the grid: everything is lost in the upper bound, nothing in the lower.
    return [(delta(down, epsilon) - 1e-12, delta(up, epsilon) + above + 1e-12) for epsilon in epsilons]


def ways(rows, adjacency):
    """Every set of parts that leave, and under replacement of parts that come, of at most so many rows each."""
    spread = list(partitions(rows))
    if adjacency == "add_remove":
        return [[(part, removed) for part in parts] for parts in spread for removed in (True, False)]
    fewer = [parts for n in range(rows + 1) for parts in partitions(n)]
    pairs = [*itertools.product(spread, fewer), *itertools.product(fewer, spread)]
    return [[*((p, True) for p in out), *((p, False) for p in into)] for out, into in pairs]


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize(("a", "r", "rows"), [(0.5, 1.0, 2), (0.5, 0.3, 3), (2.0, 3.0, 2), (20.0, 1.5, 3)])
def test_no_way_to_spread_the_rows_of_a_person_beats_the_curve(a, r, rows, adjacency):
    curve = sdp.DirichletMechanism(scale=r, prior=a, dimension=9, max_rows=rows, adjacency=adjacency).privacy
    told = np.asarray(curve.delta(np.array(EPSILONS)))
    worst = np.zeros(len(EPSILONS))
    for parts in ways(rows, adjacency):
        lower, _ = zip(*bracket([(a, part * r, removed) for part, removed in parts], EPSILONS), strict=True)
        worst = np.maximum(worst, lower)
    assert np.all(told >= worst)
    # Attained: all rows in one category. The grid leaves a relative (e^h - 1) for each part.
    assert np.all(told <= worst * (1 + 4 * WIDTH) + 4 * WIDTH)


def test_below_a_half_two_categories_beat_one_and_the_curve_knows():
    one = bracket([(0.1, 2.0, True), (0.1, 2.0, False)], [8.0])[0]
    two = bracket([(0.1, 1.0, True)] * 2 + [(0.1, 1.0, False)] * 2, [8.0])[0]
    assert one[1] < 0.71 < 0.76 < two[0]
    told = float(sdp.DirichletMechanism(scale=1.0, prior=0.1, dimension=9, max_rows=2).privacy.delta(8.0))
    assert two[0] <= told <= two[1]


def test_every_mechanism_for_counts_hides_all_rows_of_a_person():
    """Pure noise: the log-ratio at k rows in one cell, moved to another or gone, is epsilon at most, and is reached."""
    for rows, adjacency in itertools.product((1, 2, 5), ("replace", "add_remove")):
        mechanism = sdp.DiscreteLaplaceMechanism.for_counts(1.0, adjacency=adjacency, max_rows=rows)
        ends = 2 if adjacency == "replace" else 1
        assert ends * rows / float(mechanism.scale) == 1.0
        gaussian = sdp.GaussianMechanism.for_counts(1.0, 1e-6, adjacency=adjacency, max_rows=rows)
        distance = np.sqrt(ends) * rows / float(gaussian.sigma)
        ideal = sdp.PrivacyCurve.gaussian(sigma=1.0, sensitivity=distance)
        assert ideal.epsilon(1e-6) <= gaussian.privacy.epsilon(1e-6) <= 1.0


def test_calibrated_for_persons_the_budget_is_kept_and_used():
    for rows, adjacency, floor in itertools.product((2, 7), ("replace", "add_remove"), (0, 4)):
        mechanism = sdp.DirichletMechanism.calibrated(
            1.0, 1e-6, 5, total=500, adjacency=adjacency, max_rows=rows, floor=floor
        )
        assert mechanism.prior >= 0.5
        assert 0.999 <= mechanism.privacy.epsilon(1e-6) <= 1.0
        assert mechanism.table_privacy == mechanism.privacy
