"""What is true of a composition: the parts' pairs put together, as exactly as can be afforded."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from flint import arb
from parts import Budget, DiscreteGaussian, Gaussian, Part, Pure
from truth import (
    BinomialPair,
    GaussianPair,
    LaplacePair,
    Law,
    Pair,
    Product,
    ball,
    cells_of,
    product_of,
    score_product,
)

ENUMERATED = 4000
"""Outcomes of a product that are told apart."""

CELLS = 240
"""Intervals into which the losses of a part are cut where it is not enumerated."""

LONGEST = 5000
"""Scores of a product."""

LEAST_MASS = 2.0**-200
"""Outcomes below do not enter a product by scores."""

Parts = Sequence[tuple[Part, int]]


@dataclass
class _Sorted:
    """The parts of a composition by how they enter."""

    square: arb = field(default_factory=lambda: arb(0))
    laws: list[Law] = field(default_factory=list)
    closed: list[tuple[Part, int]] = field(default_factory=list)
    repeated: list[tuple[Law, int]] = field(default_factory=list)
    size: int = 1

    def enumerate(self, law: Law, count: int = 1) -> None:
        if self.size * len(law) ** count <= ENUMERATED:
            self.laws += [law] * count
            self.size *= len(law) ** count
        else:
            self.repeated.append((law, count))


def truth_of(parts: Parts, added: bool | None) -> Pair:
    """Return the product of the parts' pairs: under "replace", or where a record is removed or added."""
    kinds = _Sorted()
    for part, count in parts:
        if isinstance(part, Gaussian):
            kinds.square += part.pair(added).square * count
        elif isinstance(part, Pure | Budget):
            if count <= 64 or part.epsilon == 0:
                kinds.enumerate(part.law(count))
            else:
                kinds.closed.append((part, count))
        elif isinstance(part, DiscreteGaussian):
            kinds.enumerate(part.pair(added), part.changed * count)
        elif count == 1:
            kinds.closed.append((part, 1))
        else:
            kinds.repeated.append((cells(part, 1, added), count))
    return _together(kinds, added)


def closed_pair(part: Part, count: int, added: bool | None) -> Pair:
    """Return a pair with tails in closed form, or by summation."""
    if isinstance(part, Pure | Budget):
        return BinomialPair(ball(part.epsilon), ball(part.delta if isinstance(part, Budget) else 0), count)
    return part.pair(added)


def _together(kinds: _Sorted, added: bool | None) -> Pair:
    law = product_of(kinds.laws)
    gaussian = [GaussianPair(kinds.square)] if kinds.square > 0 else []
    pairs = gaussian + [closed_pair(*part, added) for part in kinds.closed]
    if kinds.repeated or len(pairs) > 1:
        factors = [(cells(*part, added), 1) for part in kinds.closed] + kinds.repeated
        factors += [(cells_between_ends(pair), 1) for pair in gaussian]
        pairs = [score_product(factors, _width(factors))]
    return Product(law, pairs[0]) if pairs else law


@lru_cache(maxsize=512)
def cells(part: Part, count: int, added: bool | None) -> Law:
    """Return which of many intervals the loss is in."""
    pair = closed_pair(part, count, added)
    if isinstance(pair, LaplacePair):
        end = float(pair.loss)
        low, high = -end, end * (1 - 1e-12)
        return cells_of(pair, np.linspace(low, high, CELLS)[1:].tolist())
    return cells_between_ends(pair)


def cells_between_ends(pair: Pair) -> Law:
    """Return which of many intervals the loss is in, most of them where it usually is."""
    low, high = _end(pair, -1.0, 1e-12), _end(pair, 1.0, 1e-40)
    middle = np.linspace(_end(pair, -1.0, 1e-4), _end(pair, 1.0, 1e-12), CELLS)
    outside = np.linspace(middle[-1], high, CELLS // 3)[1:]
    return cells_of(pair, [low, *middle.tolist(), *outside.tolist()])


def _end(pair: Pair, sign: float, mass: float) -> float:
    """Return a loss beyond which there is so little, within a tenth."""
    side = 0 if sign > 0 else 1
    size = 1e-9
    factor = 2.0
    while factor > 1.05:
        while True:
            loss = arb(sign * size * factor)
            left = (
                pair.tail(loss)[0]
                if side == 0
                else (pair.bottom(loss)[0] if hasattr(pair, "bottom") else 1 - pair.tail(loss)[0])
            )
            if left < mass or size > 1e9:
                break
            size *= factor
        factor = math.sqrt(factor)
    return sign * size * factor


def _width(factors: Sequence[tuple[Law, int]]) -> float:
    """Return a width of the scores: a fraction of the standard deviation of all losses together."""
    variance, lattice, widest, longest = 0.0, 0.0, 0.0, 0.0
    for law, count in factors:
        mass = np.array([float(p) for p in law.p])
        kept = mass > LEAST_MASS
        mass, loss = mass[kept] / mass[kept].sum(), -np.array(law.falling)[kept]
        variance += count * (mass * (loss - (mass * loss).sum()) ** 2).sum()
        widest = max(widest, float(np.ptp(loss)))
        longest += count * float(np.ptp(loss))
        if len(factors) == 1 and len(loss) > 2:
            steps = -np.diff(loss)
            if steps.max() < steps.min() * (1 + 1e-6):
                lattice = float(np.median(steps))  # integer noise: losses on a lattice, which scores can follow
    spread = math.sqrt(variance)
    # Twenty standard deviations on either side reach far; what lies beyond is left out.
    return lattice or max(spread / 60, min(longest, 40 * spread) / LONGEST, widest / LONGEST, 1e-12)
