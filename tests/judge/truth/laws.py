"""Discrete laws: outcomes with their masses under P and Q."""

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from flint import arb

from truth.balls import ONE, ZERO, Number, at_most_one, ball, log_ratio, positive_part

TIE = 1e-11
"""Losses so close to epsilon, relatively, are looked at one by one: the doubles that sort them are off by less."""


class Law:
    """Outcomes with masses p and q > 0, and outcomes that only P has, of mass `infinite` together.

    Masses of P may be missing: the divergence is then a lower bound, and `exact` is false.
    """

    def __init__(self, outcomes: Iterable[tuple[arb, arb]], infinite: arb = ZERO, *, exact: bool = True) -> None:
        keyed = sorted(((-log_ratio(p, q), p, q) for p, q in outcomes), key=lambda outcome: outcome[0])
        self.falling = [key for key, _, _ in keyed]  # minus the loss, increasing
        self.p = [p for _, p, _ in keyed]
        self.q = [q for _, _, q in keyed]
        self.infinite, self.exact = infinite, exact

    def __len__(self) -> int:
        return len(self.p)

    @property
    def outcomes(self) -> Iterable[tuple[arb, arb]]:
        return zip(self.p, self.q, strict=True)

    @cached_property
    def _above(self) -> tuple[list[arb], list[arb]]:
        """Masses of the k outcomes with the largest losses, for every k."""
        return [ZERO, *accumulate(self.p)], [ZERO, *accumulate(self.q)]

    def delta(self, epsilon: arb) -> arb:
        """Return the divergence; for a law that is not exact, of the outcomes that are left."""
        middle = -float(epsilon)
        slack = TIE * max(1.0, abs(middle))
        first, last = bisect_left(self.falling, middle - slack), bisect_left(self.falling, middle + slack)
        above_p, above_q = self._above
        weight = epsilon.exp()
        near = sum((positive_part(self.p[i] - weight * self.q[i]) for i in range(first, last)), ZERO)
        return at_most_one(self.infinite + positive_part(above_p[first] - weight * above_q[first]) + near)

    def coarser(self, size: int) -> "Law":
        """Return the law with neighbouring outcomes merged, at most about `size` of them: it has less divergence."""
        if len(self) <= size:
            return self
        step = -(-len(self) // size)
        merged = [(sum(self.p[i : i + step], ZERO), sum(self.q[i : i + step], ZERO)) for i in range(0, len(self), step)]
        return Law(merged, self.infinite, exact=False)

    def times(self, other: "Law") -> "Law":
        """Return the product, outcome by outcome."""
        outcomes = [(p * s, q * t) for p, q in self.outcomes for s, t in other.outcomes]
        return Law(outcomes, either(self.infinite, other.infinite), exact=self.exact and other.exact)


def either(first: arb, second: arb) -> arb:
    """Return the probability of one event or the other, independent."""
    return first + second * (1 - first)


def once_in(mass: arb, count: int) -> arb:
    """Return the probability that something of this probability happens at least once, with all digits."""
    return -((-mass).log1p() * count).expm1()


def budget_law(epsilon: Number, delta: Number = 0) -> Law:
    """Return the worst pair of an (epsilon, delta) guarantee: randomised response, and delta that tells all [KOV15]."""
    return binomial_law(epsilon, delta, 1)


def binomial_law(epsilon: Number, delta: Number, count: int) -> Law:
    """Return the product of so many of these pairs, by the number of answers that are the likelier ones."""
    pairs = BinomialPair(ball(epsilon), ball(delta), count)
    if epsilon == 0:
        return Law([(pairs.told**count, pairs.told**count)], pairs.infinite)
    masses = [pairs.mass(0)]
    for k in range(count):
        masses.append(masses[-1] * pairs.weight * (count - k) / (k + 1))
    return Law(zip(masses, reversed(masses), strict=True), pairs.infinite)


@dataclass(frozen=True)
class BinomialPair:
    """The same product for large counts, its tails summed where they are asked for."""

    epsilon: arb
    told_all: arb
    count: int
    exact = True

    @property
    def weight(self) -> arb:
        return self.epsilon.exp()

    @property
    def told(self) -> arb:
        return 1 - self.told_all

    @property
    def infinite(self) -> arb:
        return once_in(self.told_all, self.count)

    def mass(self, k: int) -> arb:
        """Return the mass under P of k likelier answers; under Q it is that of count - k."""
        n = arb(self.count)
        ways = ((n + 1).lgamma() - arb(k + 1).lgamma() - (n - k + 1).lgamma()).exp()
        return ways * (self.told / (1 + self.weight)) ** self.count * self.weight**k

    def from_(self, k: int) -> arb:
        """Return the mass under P of k likelier answers or more: its terms fall geometrically above the mode."""
        if k <= 0:
            return self.told**self.count
        if k > self.count:
            return ZERO
        if k <= float(self.weight / (1 + self.weight)) * self.count:
            return self.told**self.count - self._sum(k - 1, -1)
        return self._sum(k, 1)

    def _sum(self, k: int, step: int) -> arb:
        """Add masses up, away from the mode, with a ball for what is left out."""
        term, total = self.mass(k), ZERO
        weight = self.weight
        while True:
            total += term
            if k == (self.count if step > 0 else 0):
                return total
            ratio = weight * (self.count - k) / (k + 1) if step > 0 else k / ((self.count - k + 1) * weight)
            k, term = k + step, term * ratio
            if ratio < 0.999999 and term < total * 1e-30 * (1 - ratio):
                # Ratios fall from here on: the rest is at most a geometric series.
                rest = term / (1 - ratio)
                return total + rest / 2 + arb(0, 1) * rest

    def delta(self, epsilon: arb) -> arb:
        # k likelier answers have the loss (2 k - count) epsilon0.
        place = float((epsilon / self.epsilon + self.count) / 2)
        k = min(max(math.ceil(place), 0), self.count + 1)
        # Any k gives a lower bound; next to a tie both give the same, up to what the ball holds.
        return max((self._at(epsilon, j) for j in {k - 1, k, k + 1}), key=lambda value: value.mid())

    def _at(self, epsilon: arb, k: int) -> arb:
        k = min(max(k, 0), self.count + 1)
        # Under Q, count - K is as K under P.
        return at_most_one(self.infinite + self.from_(k) - epsilon.exp() * self._below(self.count - k))

    def tail(self, loss: arb) -> tuple[arb, arb]:
        """Return the masses of P and Q where the loss is above `loss`, or above one a little larger."""
        k = min(max(math.ceil(float((loss / self.epsilon + self.count) / 2)), 0), self.count + 1)
        return self.from_(k), self._below(self.count - k)

    def bottom(self, loss: arb) -> tuple[arb, arb]:
        """Return the masses of P and Q where it is not."""
        k = min(max(math.ceil(float((loss / self.epsilon + self.count) / 2)), 0), self.count + 1)
        return self._below(k - 1), self.from_(self.count - k + 1)

    def _below(self, k: int) -> arb:
        """Return the mass under P of at most k likelier answers."""
        if k < 0:
            return ZERO
        if k > float(self.weight / (1 + self.weight)) * self.count:
            return self.told**self.count - self.from_(k + 1)
        return self._sum(k, -1)


def loss_table_law(losses: Sequence[Number], masses: Sequence[Number], infinite: Number = 0) -> Law:
    """Return the pair with these masses of P at these losses."""
    outcomes = [
        (ball(mass), ball(mass) * (-ball(loss)).exp()) for loss, mass in zip(losses, masses, strict=True) if mass
    ]
    return Law(outcomes, ball(infinite))


def discrete_gaussian_law(sigma: Number, shift: int = 1, *, reach: float = 40.0) -> Law:
    """Return discrete Gaussian noise on the integers beside the same at another integer.

    What lies more than `reach` times sigma away is left out: masses below exp(-reach^2 / 2) of the largest, which for
    40 is below all that is asked for.
    """
    masses, total = gaussian_masses(sigma, reach, shift)
    # P is centred at zero, Q at the shift.
    ends = range(min(masses) + shift, max(masses) + 1)
    return Law([(masses[z] / total, masses[z - shift] / total) for z in ends], exact=reach >= 40)


def gaussian_masses(sigma: Number, reach: float, shift: int = 1) -> tuple[dict[int, arb], arb]:
    """Return exp(-z^2 / (2 sigma^2)) over a window, and a ball around its sum over all integers."""
    square = 1 / (2 * ball(sigma) ** 2)
    end = int(reach * float(sigma)) + 1 + shift
    step = (-square).exp()
    values, value, ratio = [ONE], ONE, step  # ratio from z to z + 1: exp(-(2 z + 1) square)
    for _ in range(end):
        value = value * ratio
        ratio = ratio * step * step
        values.append(value)
    # Beyond the window terms fall at least geometrically, with the last ratio.
    tail = values[-1] * ratio / (1 - ratio)
    half = sum(values[1:], ZERO) + tail / 2 + arb(0, 1) * (tail / 2)
    return {z: values[abs(z)] for z in range(-end, end + 1)}, 1 + 2 * half
