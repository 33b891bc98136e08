"""Intervals of hierarchies hold what they promise, on all levels: hundreds of releases, seeded.

Where data come from the prior of the inference itself, the posterior mass below a true count, with a uniform share of
its own mass, is uniform (simulation-based calibration). Counts of one data set depend on each other, so a data set is
one observation: its mean shortfall of covered counts against the mass of their intervals, whose expectation is zero,
and its mean rank, whose expectation is a half. Each mean over the data sets is to lie within five of its standard
errors: a false alarm in 6e-7 of runs each by the normal law, and the seeds are fixed.
"""

from fractions import Fraction

import numpy as np
import pytest

import simplexdp as sdp
from simplexdp.hierarchy import HierarchicalCounts, Hierarchy
from simplexdp.hierarchy.release import drawn_levels, planned_levels
from simplexdp.inference.prior import CONCENTRATIONS, EVEN

DATA_SETS = 200


def tree_of(*sizes):
    paths = [()]
    for size in sizes:
        paths = [(*path, f"{path[-1] if path else ''}.{place}") for path in paths for place in range(size)]
    return Hierarchy([f"level {depth}" for depth in range(1, len(sizes) + 1)], paths)


def from_prior(tree, n, rng):
    """Draw the counts of the finest groups: on every level one concentration for all groups."""
    counts = np.array([n])
    for depth in range(tree.depth):
        sizes = np.bincount(tree.parents(depth))
        weights = (1 + CONCENTRATIONS / (EVEN * sizes.mean())) ** -0.5
        concentration = rng.choice(CONCENTRATIONS, p=weights / weights.sum())
        # Of a gamma variable of a tiny shape the logarithm is drawn: shares that are zero would not be a law.
        below = []
        for above, size in zip(counts, sizes, strict=True):
            shape = concentration / size
            logs = np.log(rng.standard_gamma(shape + 1, size)) + np.log(rng.random(size)) / shape
            shares = np.exp(logs - logs.max())
            below.append(rng.multinomial(above, shares / shares.sum()))
        counts = np.concatenate(below)
    return counts


def sums(tree, finest):
    found = [finest]
    for depth in range(tree.depth - 1, 0, -1):
        found.insert(0, np.bincount(tree.parents(depth), found[0]).astype(int))
    return found


@pytest.mark.parametrize(
    ("sizes", "n", "epsilon", "delta", "shares"),
    [
        ((3, 4), 150, 0.3, None, [1, 1]),
        ((3, 4), 150, 0.3, None, [0, 1]),
        ((2, 3, 3), 150, 1.0, 1e-6, [1, 1, 1]),
        ((3, 8), 2000, 1.0, 1e-6, [1, 2]),
    ],
)
def test_ranks_are_uniform_and_intervals_hold_their_mass(sizes, n, epsilon, delta, shares):
    tree, rng = tree_of(*sizes), np.random.default_rng(20)
    parts, mechanisms, curve = planned_levels(tree, epsilon, delta, shares, "replace", 1)
    noise = sdp.testing.SeededRng(21)
    short, ranks = [], []
    for _ in range(DATA_SETS):
        finest = from_prior(tree, n, rng)
        noisy = drawn_levels(tree, mechanisms, finest, noise)
        found = HierarchicalCounts(tree, None, parts, mechanisms, noisy, curve, n)
        of_levels = []
        for column, truth in zip(tree.columns, sums(tree, finest), strict=True):
            laws, seen = found.counts(column), []
            for place, (count, (low, high)) in enumerate(zip(truth, laws.interval(0.95), strict=True)):
                start, masses = laws._laws.law(place)
                at = start + np.arange(len(masses))
                held = masses[(low <= at) & (at <= high)].sum()
                assert held >= 0.95 - 1e-9
                rank = masses[at < count].sum() + rng.random() * masses[at == count].sum()
                seen.append((float(low <= count <= high) - held, rank))
            of_levels.append(np.mean(seen, axis=0))
        short.append([each[0] for each in of_levels])
        ranks.append([each[1] for each in of_levels])
    for values, expected in ((np.array(short), 0.0), (np.array(ranks), 0.5)):
        off = (values.mean(axis=0) - expected) / (values.std(axis=0, ddof=1) / DATA_SETS**0.5)
        # The only group above others that has all records is known: nothing varies.
        assert np.all(np.abs(off[np.isfinite(off)]) < 5), (values.mean(axis=0), off)


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_intervals_cover_populations_that_are_not_the_prior(adjacency):
    """200 data sets of 5 regions with 6 districts each, 1000 records, shares of all districts from Dirichlet(1/2).

    One coverage for each data set and level; the mean of 200, less than 0.95 by five of its standard errors at most,
    and by 0.02: this is not the prior, and with a private total the number of records has none.
    """
    tree, rng = tree_of(5, 6), np.random.default_rng(22)
    parts, mechanisms, curve = planned_levels(tree, 0.5, None, [1, 1], adjacency, 1)
    noise, covered = sdp.testing.SeededRng(23), []
    for _ in range(200):
        finest = rng.multinomial(1000, rng.dirichlet(np.full(30, 0.5)))
        noisy = drawn_levels(tree, mechanisms, finest, noise)
        total = 1000 if adjacency == "replace" else None
        found = HierarchicalCounts(tree, None, parts, mechanisms, noisy, curve, total)
        ends = [found.counts(column).interval(0.95) for column in tree.columns]
        hits = [
            np.mean((each[:, 0] <= truth) & (truth <= each[:, 1]))
            for each, truth in zip(ends, sums(tree, finest), strict=True)
        ]
        covered.append(hits)
    mean, error = np.mean(covered, axis=0), np.std(covered, axis=0, ddof=1) / 200**0.5
    assert parts == (Fraction(1, 2),) * 2
    assert np.all(mean > 0.95 - 0.02 - 5 * error), (mean, error)
