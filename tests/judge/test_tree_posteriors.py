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


def convolved(left, right):
    """Return the logarithms of a convolution, term by term."""
    n = np.arange(len(left))
    apart = n[:, None] - n[None, :]
    terms = left[None, :] + np.where(apart >= 0, right[np.maximum(apart, 0)], -np.inf)
    top = terms.max(axis=1)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return safe + np.log(np.exp(terms - safe[:, None]).sum(axis=1))


class PlainSums:
    """A tree of levels from the top down: for each the parent of every node, and the logarithms of what noise says."""

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
        upward = {levels: {(): self.said[-1]}}
        for place in reversed(range(levels)):
            upward[place] = {
                (total, *state): [
                    self.around(place, v, total) + self.sums([messages[k] + self.ways(total / len(kids)) for k in kids])
                    for v, kids in enumerate(self.kids[place])
                ]
                for (state, messages), total in itertools.product(upward[place + 1].items(), GRID)
            }
        flat = np.zeros(self.most + 1)
        start = flat if self.total is None else np.where(np.arange(self.most + 1) == self.total, 0.0, -np.inf)
        weights = [log_prior(len(p) / (max(p) + 1)) for p in self.parents]
        outside = {
            state: [start + sum(w[GRID.index(total)] for w, total in zip(weights, state, strict=True))]
            for state in upward[0]
        }
        found = [self.law(outside, upward[0], 1)]
        for place in range(levels):
            outside = self.downward(place, outside, upward[place + 1])
            found.append(self.law(outside, upward[place + 1], len(self.parents[place])))
        return found

    def sums(self, parts):
        found = parts[0]
        for part in parts[1:]:
            found = convolved(found, part)
        return found

    def downward(self, place, outside, messages):
        below = {}
        for (total, *rest), above in outside.items():
            state = tuple(rest)
            new = below.setdefault(state, [np.full(self.most + 1, -np.inf) for _ in self.parents[place]])
            for v, kids in enumerate(self.kids[place]):
                own = self.ways(total / len(kids))
                parts = [messages[state][k] + own for k in kids]
                nothing = np.where(np.arange(self.most + 1) == 0, 0.0, -np.inf)
                before = list(itertools.accumulate(parts[:-1], convolved, initial=nothing))
                after = list(itertools.accumulate(parts[:0:-1], convolved, initial=nothing))[::-1]
                whole = (above[v] + self.around(place, v, total))[::-1]
                for k, left, right in zip(kids, before, after, strict=True):
                    others = convolved(left, right)
                    new[k] = np.logaddexp(new[k], own + convolved(others, whole)[::-1])
        return below

    @staticmethod
    def law(outside, messages, nodes):
        found = []
        for v in range(nodes):
            logs = np.logaddexp.reduce([outside[state][v] + messages[state][v] for state in outside])
            masses = np.exp(logs - logs.max())
            found.append(masses / masses.sum())
        return found


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


@pytest.mark.parametrize("shares", [[1, 1, 1], [0, 0, 1]])
def test_a_hierarchy_of_three_levels(shares):
    """All 2197 choices of concentrations are likely: the best 400, which once were all, have 78 % of the weight."""
    rng, n = np.random.default_rng(32), 40
    paths = [(f"{a}", f"{a}.{b}", f"{a}.{b}.{c}") for a in range(2) for b in range(3) for c in range(2)]
    tree = Hierarchy(["region", "district", "place"], paths)
    counts = [rng.multinomial(n, rng.dirichlet(np.full(12, 0.7)))]
    counts = [counts[0].reshape(2, 6).sum(axis=1), counts[0].reshape(6, 2).sum(axis=1), counts[0]]
    parts, mechanisms, curve = planned_levels(tree, 0.1, None, shares, "replace", 1)
    noisy = tuple(
        None if mechanism is None else noisy_counts(each, float(mechanism.scale), rng)
        for each, mechanism in zip(counts, mechanisms, strict=True)
    )
    found = HierarchicalCounts(tree, None, parts, mechanisms, noisy, curve, n)
    said = [
        None if mechanism is None else said_by(each, float(mechanism.scale), n)
        for each, mechanism in zip(noisy, mechanisms, strict=True)
    ]
    laws = PlainSums([tree.parents(depth).tolist() for depth in range(3)], said, n, n).laws()
    for column, expected in zip(tree.columns, laws[1:], strict=True):
        assert_same(found.counts(column), expected, n)
