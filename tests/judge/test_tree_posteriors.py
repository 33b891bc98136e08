"""Posteriors of counts along a tree beside plain sums: every count up to N and every choice of concentrations.

What docs/groups.md says is summed as it stands: children of a node with n records have a Dirichlet-multinomial law with
one concentration for all nodes of a level, from a grid with prior weights; a private number of records is as likely as
any other; noise with masses proportional to exp(-|k| / scale) was added. No window, tilt, transform or choice that is
left out, and no function of the package: what the core leaves out for speed is seen here, all 13^3 choices of three
levels included: where noise is large beside the counts nearly all of them matter.
"""

import itertools
import math

import numpy as np
import pytest

import simplexdp as sdp
from simplexdp.hierarchy import HierarchicalCounts, Hierarchy
from simplexdp.hierarchy.release import planned_levels
from simplexdp.inference import Total

GRID = [10 ** (k / 2) for k in range(-2, 11)]


def log_prior(children):
    weights = np.array([(1 + total / (10 * children)) ** -0.5 for total in GRID])
    return np.log(weights / weights.sum())


def log_sum(logs, axis):
    top = logs.max(axis=axis)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return safe + np.log(np.exp(logs - np.expand_dims(safe, axis)).sum(axis=axis))


def convolved(left, right):
    """Return the logarithms of a convolution along the last axis, term by term, where doubles would underflow."""
    tops = [np.where(np.isfinite(top := part.max(axis=-1, keepdims=True)), top, 0.0) for part in (left, right)]
    a, b = (np.exp((part - top).astype(np.longdouble)) for part, top in zip((left, right), tops, strict=True))
    found = np.zeros(np.broadcast_shapes(a.shape, b.shape), dtype=np.longdouble)
    for k in range(a.shape[-1]):
        found[..., k:] += a[..., k : k + 1] * b[..., : a.shape[-1] - k]
    with np.errstate(divide="ignore"):
        return sum(tops) + np.log(found).astype(float)


class PlainSums:
    """A tree of levels from the top down: for each the parent of every node, and the logarithms of what noise says.

    What is known of a node of level l from below has an axis for the choice of every level from l on, and one for its
    count.
    """

    def __init__(self, parents, said, most, total):
        self.parents, self.said, self.most, self.total = parents, said, most, total
        self.kids = [[np.flatnonzero(np.equal(p, v)) for v in range(max(p) + 1)] for p in parents]
        self.known = {}

    def ways(self, a):
        """Return the logarithms of Gamma(x + a) / (x! Gamma(a))."""
        if a not in self.known:
            steps = [math.log((x + a) / (x + 1)) for x in range(self.most)]
            self.known[a] = np.concatenate([[0.0], np.cumsum(steps)])
        return self.known[a]

    def around(self, place, parent, total):
        """Return what, beside the sum of its children, is in the law of a parent."""
        said = self.said[place - 1] if place else None
        return -self.ways(total) + (0.0 if said is None else said[parent])

    def laws(self):
        """Return the masses of the counts 0..most of the root and of the nodes of each level."""
        levels = len(self.parents)
        upward = {levels: list(self.said[-1])}
        for place in reversed(range(levels)):

            def parent(v, kids, total, place=place):
                parts = [upward[place + 1][k] + self.ways(total / len(kids)) for k in kids]
                return self.around(place, v, total) + self.sums(parts)

            upward[place] = [
                np.stack([parent(v, kids, total) for total in GRID]) for v, kids in enumerate(self.kids[place])
            ]
        flat = np.zeros(self.most + 1)
        above = flat if self.total is None else np.where(np.arange(self.most + 1) == self.total, 0.0, -np.inf)
        for place, parents in enumerate(self.parents):
            weights = log_prior(len(parents) / (max(parents) + 1))
            above = above + weights.reshape(-1, *[1] * (levels - place))
        outside = [above]
        found = [self.law(outside, upward[0])]
        for place in range(levels):
            outside = self.downward(place, outside, upward[place + 1])
            found.append(self.law(outside, upward[place + 1]))
        return found

    def sums(self, parts):
        found = parts[0]
        for part in parts[1:]:
            found = convolved(found, part)
        return found

    def downward(self, place, outside, messages):
        new = [np.full((), -np.inf) for _ in self.parents[place]]
        nothing = np.where(np.arange(self.most + 1) == 0, 0.0, -np.inf)
        for choice, total in enumerate(GRID):
            for v, kids in enumerate(self.kids[place]):
                own = self.ways(total / len(kids))
                parts = [messages[k] + own for k in kids]
                before = list(itertools.accumulate(parts[:-1], convolved, initial=nothing))
                after = list(itertools.accumulate(parts[:0:-1], convolved, initial=nothing))[::-1]
                whole = (outside[v][choice] + self.around(place, v, total))[..., ::-1]
                for k, left, right in zip(kids, before, after, strict=True):
                    new[k] = np.logaddexp(new[k], own + convolved(convolved(left, right), whole)[..., ::-1])
        return new

    @staticmethod
    def law(outside, messages):
        logs = [(above + below).reshape(-1, below.shape[-1]) for above, below in zip(outside, messages, strict=True)]
        masses = [np.exp(each - each.max()) for each in (log_sum(part, 0) for part in logs)]
        return [each / each.sum() for each in masses]


def said_by(noisy, scale, most):
    return [-np.abs(np.arange(most + 1) - y) / scale for y in np.ravel(noisy)]


def noisy_counts(counts, scale, rng):
    p = 1 - math.exp(-1 / scale)
    return counts + rng.geometric(p, len(counts)) - rng.geometric(p, len(counts))


def assert_same(found, expected, most):
    """In total variation to the 1e-6 of weight that the core may leave out, and 1e-7 for all of its windows."""
    for place, masses in enumerate(expected):
        start, own = found._laws.law(place)
        at = start + np.arange(len(own))
        inside = at <= most
        gap = masses.copy()
        gap[at[inside]] -= np.asarray(own)[inside]
        distance = (np.abs(gap).sum() + np.asarray(own)[~inside].sum()) / 2
        assert distance < 1.1e-6, (place, distance)


@pytest.mark.parametrize(
    ("rows", "values", "scale", "n", "total", "most"),
    [(13, 3, 40.0, 108, 108, 108), (3, 2, 1.5, 12, None, 90)],
    ids=["13 months by three wards at epsilon 0.05", "a private number of records"],
)
def test_margins_of_a_table(rows, values, scale, n, total, most):
    rng = np.random.default_rng(31)
    counts = rng.multinomial(n, rng.dirichlet(np.full(rows * values, 0.7)))
    noisy = noisy_counts(counts, scale, rng).reshape(rows, values)
    mechanism = sdp.DiscreteLaplaceMechanism(scale=scale, sensitivity=2)
    margins = mechanism.infer(noisy, prior="empirical", total=Total.flat()).margins(total)
    parents = [[0] * rows, np.repeat(np.arange(rows), values)]
    laws = PlainSums(parents, [None, said_by(noisy, scale, most)], most, total).laws()
    # Of a private number nothing that matters lies beyond.
    assert total is not None or laws[0][0][-1] < 1e-9
    for found, expected in zip((margins.total, margins.rows, margins.cells), laws, strict=True):
        assert_same(found, expected, most)


def released(columns, paths, shares, epsilon, n, rng):
    """Return a release of a hierarchy, and the laws that plain sums give."""
    tree = Hierarchy(columns, paths)
    leaves = rng.multinomial(n, rng.dirichlet(np.full(len(paths), 0.7)))
    counts = [leaves]
    for depth in reversed(range(1, tree.depth)):
        counts.insert(0, np.bincount(tree.parents(depth), counts[0]).astype(np.int64))
    parts, mechanisms, curve = planned_levels(tree, epsilon, None, shares, "replace", 1)
    noisy = tuple(
        None if mechanism is None else noisy_counts(each, float(mechanism.scale), rng)
        for each, mechanism in zip(counts, mechanisms, strict=True)
    )
    found = HierarchicalCounts(tree, None, parts, mechanisms, noisy, curve, n)
    said = [
        None if mechanism is None else said_by(each, float(mechanism.scale), n)
        for each, mechanism in zip(noisy, mechanisms, strict=True)
    ]
    return found, PlainSums([tree.parents(depth).tolist() for depth in range(tree.depth)], said, n, n).laws()


@pytest.mark.parametrize("shares", [[1, 1, 1], [0, 0, 1]])
def test_a_hierarchy_of_three_levels(shares):
    """All 2197 choices of concentrations are likely: the best 400, which once were all, have 78 % of the weight."""
    paths = [(f"{a}", f"{a}.{b}", f"{a}.{b}.{c}") for a in range(2) for b in range(3) for c in range(2)]
    found, laws = released(["region", "district", "place"], paths, shares, 0.1, 40, np.random.default_rng(32))
    for column, expected in zip(found.hierarchy.columns, laws[1:], strict=True):
        assert_same(found.counts(column), expected, 40)


def test_a_hierarchy_of_five_levels():
    """All 371,293 choices count: the core tells three levels of concentrations apart and sums out the others.

    The best 2197 choices of the levels below the first, which once were all, were off by 0.024.
    """
    paths = [("a", "a.a", f"a.a.{c}", f"a.a.{c}.{d}", f"a.a.{c}.{d}.{e}") for c in "ab" for d in "ab" for e in "ab"]
    paths += [("b", "b.a", "b.a.a", "b.a.a.a", "b.a.a.a.a"), ("b", "b.b", "b.b.a", "b.b.a.a", "b.b.a.a.a")]
    found, laws = released([*"abcde"], paths, [0, 0, 0, 0, 1], 0.1, 8, np.random.default_rng(33))
    for column, expected in zip(found.hierarchy.columns, laws[1:], strict=True):
        assert_same(found.counts(column), expected, 8)
