"""Products of pairs: exact where outcomes can be enumerated, else from below, by tests of a sum of scores.

The lower bound is Neyman and Pearson's: any event E gives P(E) - exp(epsilon) Q(E) <= delta. Every factor's outcomes
get an integer score, about the loss in units of a width; the masses of the sum of scores, under P and under Q, are
products of polynomials with whole coefficients. Outcomes may be left out of all events.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Protocol

from flint import arb, fmpz_poly

from truth.balls import ONE, ZERO, at_most_one
from truth.laws import Law, either, once_in


class Pair(Protocol):
    """Two laws and their divergence."""

    exact: bool

    def delta(self, epsilon: arb) -> arb: ...


@dataclass
class Product:
    """A discrete law beside another pair: a finite mixture of the shifted divergences of the latter."""

    law: Law
    last: Pair

    @property
    def exact(self) -> bool:
        return self.law.exact and self.last.exact

    def delta(self, epsilon: arb) -> arb:
        losses = ((p, (p / q).log()) for p, q in self.law.outcomes)
        return at_most_one(self.law.infinite + sum((p * self.last.delta(epsilon - loss) for p, loss in losses), ZERO))


POINT = Law([(ONE, ONE)])


def product_of(laws: Sequence[Law]) -> Law:
    """Return the product of all, outcome by outcome."""
    return reduce(Law.times, laws, POINT)


def cells_of(pair: Pair, losses: Sequence[float]) -> Law:
    """Return the law of which of the intervals between these losses the loss is in: post-processing."""
    ends = [arb(loss) for loss in losses]
    upper = [pair.tail(end) for end in ends]
    lower = [
        pair.bottom(end) if hasattr(pair, "bottom") else (1 - p, 1 - q) for end, (p, q) in zip(ends, upper, strict=True)
    ]
    outcomes = [lower[0]]
    for left, right in zip(range(len(ends)), range(1, len(ends)), strict=False):
        from_above = [upper[left][side] - upper[right][side] for side in (0, 1)]
        from_below = [lower[right][side] - lower[left][side] for side in (0, 1)]
        # The smaller of the two tails has the digits.
        outcomes.append(tuple(a if a.rad() < b.rad() else b for a, b in zip(from_above, from_below, strict=True)))
    outcomes.append(upper[-1])
    return Law([(p, q) for p, q in outcomes if p > 0 and q > 0], exact=False)


Scores = tuple[int, fmpz_poly, fmpz_poly]
"""The least score, and the masses of P, rounded down, and of Q, rounded up, by score, in units of 2^-BITS."""

BITS = 400
LEAST = 1 << (BITS - 200)
"""Masses of P below 2^-200 at either end are left out."""


def scored(law: Law, width: float) -> Scores:
    """Return the masses by score."""
    # Rounded down: the losses of integer noise lie in the middle between multiples.
    unit = arb(2) ** BITS
    scores = [
        (math.floor(-key / width), p, q)
        for key, p, q in zip(law.falling, law.p, law.q, strict=True)
        if p * unit > LEAST
    ]
    least = min(score for score, _, _ in scores)
    p = [0] * (max(score for score, _, _ in scores) - least + 1)
    q = list(p)
    for score, mass_p, mass_q in scores:
        p[score - least] += int((mass_p * unit).lower().floor().unique_fmpz())
        q[score - least] += int((mass_q * unit).upper().ceil().unique_fmpz())
    return trimmed(least, p, q, 8000)


def trimmed(least: int, p: list[int], q: list[int], longest: int) -> Scores:
    """Leave out both ends while their masses are below the least, or while too many are left."""
    first, last = 0, min(len(p), len(q))
    while last - first > 1 and (min(p[first], p[last - 1]) < LEAST or last - first > longest):
        if p[first] < p[last - 1]:
            first += 1
        else:
            last -= 1
    return least + first, fmpz_poly(p[first:last]), fmpz_poly(q[first:last])


def times(a: Scores, b: Scores, longest: int = 8000) -> Scores:
    """Return the masses of the sum of two scores."""
    p = [int(mass) >> BITS for mass in (a[1] * b[1]).coeffs()]
    q = [-(-int(mass) >> BITS) for mass in (a[2] * b[2]).coeffs()]
    return trimmed(a[0] + b[0], p, q, longest)


def score_product(factors: Sequence[tuple[Law, int]], width: float) -> Law:
    """Return the product of laws to the power of counts, outcomes told apart by their sum of scores only."""
    infinite, total = ZERO, (0, fmpz_poly([1 << BITS]), fmpz_poly([1 << BITS]))
    for law, count in factors:
        infinite = either(infinite, once_in(law.infinite, count))
        square = scored(law, width)
        while count:
            if count & 1:
                total = times(total, square)
            count >>= 1
            if count:
                square = times(square, square)
    unit = arb(2) ** -BITS
    outcomes = [(arb(p) * unit, arb(q) * unit) for p, q in zip(total[1].coeffs(), total[2].coeffs(), strict=False)]
    return Law([(p, q) for p, q in outcomes if p > 0 and q > 0], infinite, exact=False)
