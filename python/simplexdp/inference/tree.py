"""The exact posterior of counts that add up along a tree, given noisy counts of some of its nodes.

The model: every node's count is the sum of its children's. Given its count n, a node's children have a
Dirichlet-multinomial law, prod_c Gamma(x_c + a_c) / (x_c! Gamma(a_c)) times n! Gamma(A) / Gamma(n + A), A = sum a; or
any split is as likely as any other. Noise of known law is added to counts of nodes. As a function of the counts all of
that is a product over nodes, so what the children say of their parent is a convolution: one pass upwards gives the
evidence, one downwards the law of every node. The concentrations A are integrated over, weighed by the evidence, as
those of a single table are.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simplexdp import special
from simplexdp.exceptions import NotAffordableError, NumericalError
from simplexdp.inference.laws import NOISE, CountLaws, Sums, Weights, remainders, sums
from simplexdp.inference.least_squares import Measured, least_squares
from simplexdp.inference.prior import CONCENTRATIONS, EVEN, Prior
from simplexdp.models.released import Law

__all__ = ["Level", "Part", "empirical_parts", "parts_of_prior", "tree_posterior"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

TOO_NOISY = (
    "release must tell its counts together: its noise is too large for that, and intervals of single cells remain"
)
"""What is said where no sum of the cells can be looked at."""
FARTHEST = {"laplace": 50.0, "gaussian": 10.5}
"""How many scales or sigmas of noise a window reaches: a mass of less than 1e-21 lies beyond."""
NEARER = 0.7
"""Where sums are formed term by term, windows are so much shorter: a mass of less than 1e-12 lies beyond."""
ACCURATE = 1e-11
"""Masses of sums below that part of the largest have too few digits to be multiplied by what grows beyond."""
NEAR = (0.03, 1e-4, 1e-6, 1e-8)
"""A sum is near its centre where its mode, all things considered, has at least that part of the largest mass: so much
is asked for at each turn, after which the centres move to where the posterior is."""
HEAVY = 0.01
"""Of priors with less weight nothing of the kind is asked."""
CLOSE = 0.5
"""How many deviations the mean of a sum may be away from its centre."""
WHOLE = 0.6
"""And how far in any case: counts are whole."""
LEAST_CENTRE = 0.05
MOST_STEPS = 40
MOST_OF_LEAVES = 1 << 23
LIGHT = 9.0
"""Concentrations whose evidence is so many times e below the best are left out."""
MOST_PARTS = 400
"""Combinations of concentrations that are kept: all of two levels."""
REST = 1e-6
"""The weight of those that nobody looks at in the end."""


class Part(NamedTuple):
    """One prior of a split."""

    log_weight: float
    parameters: Floats
    """One for each child."""
    totals: Floats
    """Their sums, one for each parent."""


@dataclass(frozen=True, eq=False)
class Level:
    """The nodes of one level, the children of each parent next to each other.

    Parameters
    ----------
    parent : ndarray of int, shape (n,)
        Positions in the level above, in order, none left out; of the first level zeros.
    parts : list of Part, optional
        Priors of the split; without any, every split is as likely as any other.
    noisy : ndarray, shape (n,), optional
        What was released of the counts.
    law : Law, optional
        Of the noise.
    """

    parent: Integers
    parts: Sequence[Part] | None = None
    noisy: Floats | None = None
    law: Law | None = None

    @cached_property
    def blocks(self) -> list[tuple[Integers, Integers]]:
        """Parents with about as many children each, and their children; -1 stands for none."""
        sizes = np.bincount(self.parent)
        first = np.cumsum(sizes) - sizes
        padded = sizes if len(np.unique(sizes)) <= 8 else 1 << np.ceil(np.log2(np.maximum(sizes, 1))).astype(np.int64)
        found = []
        for size in np.unique(padded):
            parents = np.flatnonzero(padded == size)
            steps = np.arange(size)
            children = np.where(steps < sizes[parents, None], first[parents, None] + steps, -1)
            found.append((parents, children))
        return found

    def log_likelihood(self, numbers: Integers) -> Floats:
        """Return the logarithm of the law of the noise at noisy counts minus these, up to a constant."""
        if self.noisy is None or self.law is None:
            return np.zeros(numbers.shape)
        away = np.abs(numbers - self.noisy[:, None]) / self.law.size
        return np.asarray(-away if self.law.kind == "laplace" else -(away**2) / 2)

    def leaves(self, part: float = 1.0, most: int | None = None) -> Weights:
        """Return what the noisy counts say of the nodes by themselves, in a part of a window and at `most` so large."""
        if self.noisy is None or self.law is None:
            raise NumericalError("the lowest level of a tree must have been released")
        reach = part * FARTHEST[self.law.kind] * self.law.size + 1
        starts = np.maximum(np.floor(self.noisy - reach), 0).astype(np.int64)
        ends = np.maximum(np.ceil(self.noisy + reach), reach).astype(np.int64)
        if most is not None:
            starts, ends = np.minimum(starts, most), np.minimum(ends, most)
        width = int((ends - starts).max()) + 1
        if width * len(starts) > MOST_OF_LEAVES:
            raise NotAffordableError("the noise is too large beside the number of cells to infer consistent counts")
        return Weights(starts, np.ones((len(starts), width)))


def empirical_parts(parent: Integers) -> list[Part]:
    """Return the priors of a split into even parts that is more or less close to even, as those of a single table."""
    sizes = np.bincount(parent)
    weights = (1 + CONCENTRATIONS / (EVEN * sizes.mean())) ** -0.5
    logs = np.log(weights / weights.sum())
    return [
        Part(float(log), (total / sizes)[parent], np.full(len(sizes), total))
        for log, total in zip(logs, CONCENTRATIONS, strict=True)
    ]


def parts_of_prior(prior: Prior, parents: int) -> list[Part]:
    """Return a prior of a histogram for many of them."""
    return [
        Part(float(log), np.tile(parameters, parents), np.full(parents, parameters.sum()))
        for log, parameters in zip(prior.log_weights, prior.parameters, strict=True)
    ]


class Ascent(NamedTuple):
    """What the levels say of the one above them."""

    above: Weights
    log_evidence: float
    kept: tuple[Kept, ...]
    """For each level, from below."""


class Kept(NamedTuple):
    """One level on the way up."""

    own: Weights
    """What is known of its nodes from below and the split, tilted."""
    sums: list[Sums]
    above: Weights
    """Of the sums, tilted."""
    tilts: Floats
    """One for each parent."""


def tree_posterior(levels: Sequence[Level], total: int | None = None) -> list[CountLaws]:
    """Return the laws of the total and of the nodes of each level.

    Parameters
    ----------
    levels : sequence of Level
        From the children of the root down; the last one has noisy counts.
    total : int, optional
        The public count of the root; without it every number is as likely as any other before the release.
    """
    measured = [
        Measured(
            level.parent,
            np.zeros(len(level.parent)) if level.noisy is None else level.noisy,
            np.inf if level.law is None else level.law.variance,
        )
        for level in levels
    ]
    found = least_squares(measured, total)
    whole = max(float(found[0].counts[0]), 1.0)
    # Where little is known, no further below an even split than that: the other ways to split must stay in view.
    centres = [
        np.maximum(each.counts, np.minimum(np.sqrt(each.variances) / 2, whole / len(each.counts))) for each in found
    ]
    try:
        for least in NEAR:
            laws, near = _Tree(tuple(levels), total, centres).posterior()
            if near > least:
                return laws
            centres = [each.mean for each in laws]
    except NumericalError:
        pass  # of the transforms, which have too few digits for this
    # Noise that is large beside the counts leaves sums far from each other likely.
    return _Tree(tuple(levels), total, centres, exact=True).posterior()[0]


@dataclass(frozen=True, eq=False)
class _Tree:
    """The two passes, for sums that are looked at near these centres: of the root, then of each level.

    All children of a parent are multiplied by e^(t x), and what follows for the parent by e^(-t n), which changes
    nothing, with t such that the mean of their sum is at the centre: transforms have most digits there.
    """

    levels: tuple[Level, ...]
    total: int | None
    centres: list[Floats]
    exact: bool = False
    """Whether sums are formed term by term: then nothing has to be near."""

    def posterior(self) -> tuple[list[CountLaws], float]:
        """Return the laws of the root and of each level, and how near to the centres all of them lie."""
        choices = self._choices()
        logs = np.array([log for _, log in choices])
        weights = np.exp(logs - logs.max())
        mixed: list[list[tuple[float, Weights]]] = [[] for _ in range(len(self.levels) + 1)]
        nearest = 1.0
        for (chosen, _), weight in zip(choices, weights / weights.sum(), strict=True):
            laws, near = self._descended(chosen)
            if any(np.any(each.values.sum(axis=1) == 0) for each in laws):
                # Too far from the centres to be told.
                nearest = 0.0 if weight > HEAVY else nearest
                continue
            nearest = min(nearest, near) if weight > HEAVY else nearest
            for place, found in enumerate(laws):
                mixed[place].append((float(weight), found))
        if not mixed[0]:
            raise NumericalError(TOO_NOISY)
        return [CountLaws(_mixture(each), (len(each[0][1]),)) for each in mixed], nearest

    def _choices(self) -> list[tuple[tuple[int, ...], float]]:
        """Return the priors of the splits that matter, as positions for each level from above, and their evidence."""
        states: list[tuple[tuple[int, ...], Ascent, float]] = [((), self._start, 0.0)]
        scores: list[float] = []
        for place in reversed(range(len(self.levels))):
            going = []
            parts = self.levels[place].parts
            for (chosen, state, prior), part in itertools.product(states, range(len(parts or (None,)))):
                new = self._ascended(place, part, state)
                going.append(((part, *chosen), new, prior + (parts[part].log_weight if parts else 0.0)))
            found = np.array([log + self._log_evidence(state, place) for _, state, log in going])
            best = float(found.max())
            if not np.isfinite(best):
                raise NumericalError(TOO_NOISY)
            order = [i for i in np.argsort(-found, kind="stable") if found[i] > best - LIGHT][:MOST_PARTS]
            if not place:
                # Only here it is the evidence of all that was released.
                weights = np.cumsum(np.exp(found[order] - best))
                order = order[: int(np.searchsorted(weights, (1 - REST) * weights[-1])) + 1]
            # Only what is needed to go on.
            states = [(going[i][0], going[i][1]._replace(kept=()), going[i][2]) for i in order]
            scores = [float(found[i]) for i in order]
        return [(chosen, score) for (chosen, _, _), score in zip(states, scores, strict=True)]

    @cached_property
    def _start(self) -> Ascent:
        level = self.levels[-1]
        flat = level.leaves(NEARER, self.total) if self.exact else level.leaves()
        found, logs = flat.times(level.log_likelihood(flat.numbers))
        return Ascent(found, float(logs.sum()), ())

    def _log_evidence(self, state: Ascent, place: int) -> float:
        """Return the logarithm of the evidence if every number of the level above were as likely, or the one known."""
        above = state.above
        known = not place and self.total is not None
        values = above.at(np.array([self.total or 0]), 1) if known else above.values
        with np.errstate(divide="ignore"):
            return state.log_evidence + float(np.log(values.sum(axis=1)).sum())

    def _ascended(self, place: int, part: int, state: Ascent) -> Ascent:
        """Add up the nodes of a level under one prior of the split; weigh by what was released of the one above."""
        level = self.levels[place]
        parents = self.centres[place]
        own, scales, tilts = state.above, 0.0, np.zeros(len(parents))
        if level.parts:
            prior = level.parts[part]
            means = np.maximum(parents, 0.5)
            # Negative binomial laws of these means are a good place to begin.
            tilts = np.log(means / (means + prior.totals))
            own, logs = own.times(_log_ways(prior.parameters, own.numbers) + own.numbers * tilts[level.parent, None])
            scales += float(logs.sum())
        own, more, scale = _tilted(own, level.parent, np.maximum(parents, LEAST_CENTRE))
        tilts, scales = tilts + more, scales + scale
        own = own.trimmed(0.0 if self.exact else NOISE)
        nothing = np.zeros((1, own.values.shape[1]))
        nothing[0, 0] = 1.0
        extended = Weights(np.append(own.starts, 0), np.concatenate([own.values, nothing]))
        found = []
        for _, block in level.blocks:
            found.append(sums(extended.rows(block.ravel()), block.shape[1], exact=self.exact))
            scales += float(found[-1].logs.sum())
        above = _assembled(
            [(where, each.total) for (where, _), each in zip(level.blocks, found, strict=True)], len(parents)
        )
        above = above.trimmed(0.0 if self.exact else ACCURATE)
        kept = Kept(own, found, above, tilts)
        above, logs = above.times(self._around(place, part, tilts, above.numbers))
        return Ascent(above, state.log_evidence + scales + float(logs.sum()), (*state.kept, kept))

    def _around(self, place: int, part: int, tilts: Floats, numbers: Integers) -> Floats:
        """Return what, beside the sum of its children, is in the law of a parent, as logarithms."""
        level = self.levels[place]
        found = -numbers * tilts[:, None]
        if level.parts:
            found = found - _log_ways(level.parts[part].totals, numbers)
        return found + self.levels[place - 1].log_likelihood(numbers) if place else found

    def _descended(self, chosen: tuple[int, ...]) -> tuple[list[Weights], float]:
        """Return the laws of the root and of all levels under one choice of priors, and how near they are."""
        state = self._start
        for place in reversed(range(len(self.levels))):
            state = self._ascended(place, chosen[place], state)
        root = state.above
        known = np.ones(root.values.shape) if self.total is None else (root.numbers == self.total).astype(np.float64)
        outside = Weights(root.starts, known)
        laws = [Weights(root.starts, root.values * known)]
        near = 1.0
        for place, (level, kept) in enumerate(zip(self.levels, reversed(state.kept), strict=True)):
            part = chosen[place]
            # What surrounds the sum of a node's children, where the node's law has any mass.
            tilted = kept.above.at(outside.starts, outside.values.shape[1])
            surrounding, mass = _within(tilted, outside, self._around(place, part, kept.tilts, outside.numbers))
            most = mass.max(axis=1, keepdims=True)
            near = min(near, float(np.where(mass >= most, tilted, 0.0).max(axis=1).min()))
            pieces = []
            for (where, children), each in zip(level.blocks, kept.sums, strict=True):
                inner = remainders(each, surrounding.rows(where), children.shape[1])
                real = np.flatnonzero(children.ravel() >= 0)
                pieces.append((children.ravel()[real], inner.rows(real)))
            around = _assembled(pieces, len(level.parent))
            around = Weights(kept.own.starts, around.at(kept.own.starts, kept.own.values.shape[1]))
            laws.append(Weights(kept.own.starts, kept.own.values * around.values).scaled()[0])
            logs = around.numbers * kept.tilts[level.parent, None]
            if level.parts:
                logs = logs + _log_ways(level.parts[part].parameters, around.numbers)
            outside = _within(kept.own.values, around, logs, included=True)[0]
        return laws, near


def _within(own: Floats, around: Weights, logs: Floats, *, included: bool = False) -> tuple[Weights, Floats]:
    """Multiply what surrounds nodes by what these are the logarithms of, where the product with `own` has any mass.

    Elsewhere it may be larger by any power. What is `included` in `own` already is no part of that mass. Returns also
    the masses, with a maximum of one.
    """
    with np.errstate(divide="ignore"):
        weights = np.log(around.values) + logs
        total = np.log(own) + (np.log(around.values) if included else weights)
    most = total.max(axis=1, keepdims=True)
    mass = np.exp(total - np.where(np.isfinite(most), most, 0.0))
    kept = np.where(mass > NOISE, weights, -np.inf)
    largest = kept.max(axis=1, keepdims=True)
    values = np.exp(kept - np.where(np.isfinite(largest), largest, 0.0))
    return Weights(around.starts, values).trimmed(0.0), mass


def _tilted(own: Weights, parent: Integers, centres: Floats) -> tuple[Weights, Floats, float]:
    """Multiply the rows of each parent by e^(t x), so that their means add up to its centre.

    Returns
    -------
    The rows, the tilts of the parents, and the logarithm of what all rows were divided by.
    """
    tilts, logs = np.zeros(len(centres)), 0.0
    low, high = np.full(len(centres), -np.inf), np.full(len(centres), np.inf)
    for _ in range(MOST_STEPS):
        masses = own.values / own.values.sum(axis=1, keepdims=True)
        places = np.arange(masses.shape[1], dtype=np.float64)
        first = masses @ places
        means = np.bincount(parent, own.starts + first)
        variances = np.maximum(np.bincount(parent, np.maximum(masses @ places**2 - first**2, 0.0)), 1e-2)
        spread = np.sqrt(variances)
        if np.all(np.abs(centres - means) <= np.maximum(CLOSE * spread, WHOLE)):
            break
        low, high = np.where(means < centres, tilts, low), np.where(means > centres, tilts, high)
        # Newton's step, not further than a few deviations at a time, and between what was too little and too much.
        goal = tilts + np.clip(centres - means, -3 * spread, 3 * spread) / variances
        inside = (goal > low) & (goal < high)
        bracketed = np.isfinite(low) & np.isfinite(high)
        middle = (np.where(bracketed, low, 0.0) + np.where(bracketed, high, 0.0)) / 2
        step = np.where(inside | ~bracketed, goal, middle) - tilts
        step = np.where(means == centres, 0.0, step)
        own, more = own.times(own.numbers * step[parent, None])
        tilts, logs = tilts + step, logs + float(more.sum())
    return own, tilts, logs


def _log_ways(parameters: Floats, numbers: Integers) -> Floats:
    """Return the logarithms of Gamma(x + a) / (x! Gamma(a))."""
    different, which = np.unique(parameters, return_inverse=True)
    least, most = int(numbers.min()), int(numbers.max())
    if len(different) * (most - least + 1) < numbers.size:
        # Few laws for many rows: each is looked up.
        every = np.arange(least, most + 1, dtype=np.float64)
        table = np.array([_log_ways_at(each, every) for each in different])
        found: Floats = table[which[:, None], numbers - least]
        return found
    return _log_ways_at(parameters[:, None], numbers.astype(np.float64))


def _log_ways_at(parameter: Floats, numbers: Floats) -> Floats:
    gamma = special.log_gamma
    return np.asarray(gamma(numbers + parameter) - gamma(numbers + 1.0) - gamma(parameter))


def _assembled(parts: list[tuple[Integers, Weights]], rows: int) -> Weights:
    """Put rows of several blocks together."""
    width = max(each.values.shape[1] for _, each in parts)
    starts, values = np.zeros(rows, dtype=np.int64), np.zeros((rows, width))
    for where, each in parts:
        starts[where] = each.starts
        values[where, : each.values.shape[1]] = each.values
    return Weights(starts, values)


def _mixture(parts: list[tuple[float, Weights]]) -> Weights:
    """Return the mean of laws by their weights."""
    starts = np.min([each.starts for _, each in parts], axis=0)
    ends = np.max([each.starts + each.values.shape[1] for _, each in parts], axis=0)
    width = int((ends - starts).max())
    values = np.zeros((len(starts), width))
    for weight, each in parts:
        masses = each.values / each.values.sum(axis=1, keepdims=True)
        values += weight * Weights(each.starts, masses).at(starts, width)
    return Weights(starts, values)
