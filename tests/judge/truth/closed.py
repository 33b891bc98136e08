"""Pairs with a density, by their closed forms."""

from dataclasses import dataclass
from functools import cached_property

from flint import arb, ctx

from truth.balls import HALF, ONE, ZERO, Number, at_most_one, ball, is_sharp, positive_part, sharp


@dataclass(frozen=True)
class GaussianPair:
    """N(mu, 1) against N(0, 1), by the square of mu: products add squares up."""

    square: arb
    exact = True

    @classmethod
    def of(cls, sigma: Number, sensitivity: Number = 1) -> "GaussianPair":
        return cls((ball(sensitivity) / ball(sigma)) ** 2)

    @cached_property
    def mu(self) -> arb:
        return self.square.sqrt()

    def delta(self, epsilon: arb) -> arb:
        """Balle and Wang 2018, theorem 8."""
        root = arb(2).sqrt()
        above = ((epsilon / self.mu - self.mu / 2) / root).erfc() / 2
        below = ((epsilon / self.mu + self.mu / 2) / root).erfc() / 2
        return at_most_one(above - epsilon.exp() * below)

    def tail(self, loss: arb) -> tuple[arb, arb]:
        """Return the masses of P and Q where the loss is above `loss`."""
        root = arb(2).sqrt()
        centre = loss / self.mu
        return ((centre - self.mu / 2) / root).erfc() / 2, ((centre + self.mu / 2) / root).erfc() / 2


@dataclass(frozen=True)
class LaplacePair:
    """Laplace noise of scale 1 at 0 and at `loss`: atoms at both ends of [-loss, loss], a density between."""

    loss: arb
    exact = True

    @classmethod
    def of(cls, scale: Number, sensitivity: Number = 1) -> "LaplacePair":
        return cls(ball(sensitivity) / ball(scale))

    def delta(self, epsilon: arb) -> arb:
        inside = positive_part(1 - ((epsilon - self.loss) / 2).exp())
        beyond = 1 - epsilon.exp()
        if epsilon >= -self.loss:
            return inside
        return beyond if epsilon < -self.loss else inside.union(beyond)

    def tail(self, loss: arb) -> tuple[arb, arb]:
        """Return the masses of P and Q where the loss is above `loss`, which is inside."""
        return 1 - (-(self.loss - loss) / 2).exp() / 2, (-(self.loss + loss) / 2).exp() / 2


@dataclass(frozen=True)
class BetaPair:
    """Beta(a + r, b) against Beta(a, b + r): the loss is r times the log-odds, minus a constant."""

    a: arb
    b: arb
    r: arb
    exact = True

    @classmethod
    def of(cls, prior: Number, scale: Number, other: Number | None = None) -> "BetaPair":
        first = ball(prior)
        return cls(first, first if other is None else ball(other), ball(scale))

    @property
    def shift(self) -> arb:
        """What is taken from r times the log-odds: the logarithm of B(a + r, b) / B(a, b + r)."""
        if self.a is self.b:
            return ZERO
        return (self.a + self.r).lgamma() + self.b.lgamma() - self.a.lgamma() - (self.b + self.r).lgamma()

    def delta(self, epsilon: arb) -> arb:
        def difference() -> arb:
            p, q = self.tail(epsilon)
            return at_most_one(p - epsilon.exp() * q)

        return sharp(difference)

    def tail(self, loss: arb) -> tuple[arb, arb]:
        """Return the masses of P and Q where the loss is above `loss`."""
        y, rest = self._place(loss)
        return _incomplete_beta(rest, y, self.b, self.a + self.r), _incomplete_beta(rest, y, self.b + self.r, self.a)

    def bottom(self, loss: arb) -> tuple[arb, arb]:
        """Return the masses of P and Q where the loss is at most `loss`."""
        y, rest = self._place(loss)
        return _incomplete_beta(y, rest, self.a + self.r, self.b), _incomplete_beta(y, rest, self.a, self.b + self.r)

    def _place(self, loss: arb) -> tuple[arb, arb]:
        """Return the point y of that loss, and 1 - y."""
        odds = ((loss + self.shift) / self.r).exp()
        return 1 / (1 + 1 / odds), 1 / (1 + odds)


@dataclass(frozen=True)
class RowPair:
    """Beta(a + r, b) against Beta(a, b): a row of a table that a record leaves, by the share it leaves; or joins."""

    a: arb
    b: arb
    r: arb
    joined: bool = False
    exact = True

    @classmethod
    def of(cls, cell: Number, rest: Number, scale: Number, *, joined: bool) -> "RowPair":
        return cls(ball(cell), ball(rest), ball(scale), joined)

    @property
    def shift(self) -> arb:
        """What is taken from r times the logarithm of the share: that of B(a + r, b) / B(a, b)."""
        both = self.a + self.b
        return (self.a + self.r).lgamma() + both.lgamma() - self.a.lgamma() - (both + self.r).lgamma()

    def delta(self, epsilon: arb) -> arb:
        def difference() -> arb:
            p, q = self.tail(epsilon)
            return at_most_one(p - epsilon.exp() * q)

        return sharp(difference)

    def tail(self, loss: arb) -> tuple[arb, arb]:
        """Return the masses of P and Q where the loss is above `loss`."""
        return self._masses(loss, above=not self.joined)

    def bottom(self, loss: arb) -> tuple[arb, arb]:
        """Return the masses of P and Q where the loss is at most `loss`."""
        return self._masses(loss, above=self.joined)

    def _masses(self, loss: arb, *, above: bool) -> tuple[arb, arb]:
        """Return the masses on one side of the share at which the loss is `loss`."""
        log_share = (self.shift + (-loss if self.joined else loss)) / self.r
        with_record, without = self.a + self.r, self.a
        if log_share >= 0:
            with_it = without_it = ZERO if above else ONE
        elif not log_share < 0:
            raise ArithmeticError("the share is too near to one")
        else:
            y, rest = log_share.exp(), -log_share.expm1()
            with_it, without_it = (
                _incomplete_beta(rest, y, self.b, a) if above else _incomplete_beta(y, rest, a, self.b)
                for a in (with_record, without)
            )
        return (without_it, with_it) if self.joined else (with_it, without_it)


@dataclass(frozen=True)
class GammaPair:
    """Gamma(a + r) against Gamma(a), a record removed; the other way round where it is added."""

    a: arb
    r: arb
    added: bool = False
    exact = True

    @classmethod
    def of(cls, prior: Number, scale: Number, *, added: bool) -> "GammaPair":
        return cls(ball(prior), ball(scale), added)

    @property
    def shift(self) -> arb:
        return (self.a + self.r).lgamma() - self.a.lgamma()

    def delta(self, epsilon: arb) -> arb:
        def difference() -> arb:
            p, q = self.tail(epsilon)
            return at_most_one(p - epsilon.exp() * q)

        return sharp(difference)

    def tail(self, loss: arb) -> tuple[arb, arb]:
        """Return the masses of P and Q where the loss is above `loss`."""
        if self.added:  # the loss is shift - r ln(g)
            end = ((self.shift - loss) / self.r).exp()
            return _lower_gamma(self.a, end), _lower_gamma(self.a + self.r, end)
        end = ((self.shift + loss) / self.r).exp()
        return _upper_gamma(self.a + self.r, end), _upper_gamma(self.a, end)

    def bottom(self, loss: arb) -> tuple[arb, arb]:
        """Return the masses of P and Q where the loss is at most `loss`."""
        if self.added:
            end = ((self.shift - loss) / self.r).exp()
            return _upper_gamma(self.a, end), _upper_gamma(self.a + self.r, end)
        end = ((self.shift + loss) / self.r).exp()
        return _lower_gamma(self.a + self.r, end), _lower_gamma(self.a, end)


def _incomplete_beta(x: arb, y: arb, first: arb, second: arb) -> arb:
    """Return the regularised incomplete beta function I_x(first, second), y = 1 - x: DLMF 8.17.8, positive terms."""
    if not (is_sharp(x) and is_sharp(y)):
        return arb(0.5, 0.5)
    if x > HALF and (x * (first + second) > first or first > 30 * second):
        return 1 - _incomplete_beta(y, x, second, first)
    log_front = first * x.log() + second * y.log() + (first + second).lgamma() - (first + 1).lgamma() - second.lgamma()
    top, bottom, term, total = first + second, first + 1, ONE, ZERO
    small = arb(2) ** -(ctx.prec + 2)
    while True:
        total += term
        ratio = top / bottom * x
        term *= ratio
        # The ratios go to x monotonically: the rest is at most a geometric series with the larger of both.
        largest = ratio.max(x)
        if largest < ONE and term < total * (1 - largest) * small:
            rest = term / (1 - largest)
            return at_most_one(log_front.exp() * (total + rest / 2 + arb(0, 1) * rest))
        top, bottom = top + 1, bottom + 1


def _lower_gamma(shape: arb, end: arb) -> arb:
    """Return the regularised incomplete gamma function P(shape, end): DLMF 8.11.4, positive terms."""
    if not is_sharp(end):
        return arb(0.5, 0.5)
    if end > 2 * shape + 2000:
        return 1 - _upper_gamma(shape, end)
    log_front = shape * end.log() - end - (shape + 1).lgamma()
    bottom, term, total = shape + 1, ONE, ZERO
    small = arb(2) ** -(ctx.prec + 2)
    while True:
        total += term
        ratio = end / bottom
        term *= ratio
        # The ratios fall: the rest is at most a geometric series.
        if ratio < HALF and term < total * small:
            return at_most_one(log_front.exp() * (total + term + arb(0, 1) * term))
        bottom += 1


def _upper_gamma(shape: arb, end: arb) -> arb:
    if not is_sharp(end):
        return arb(0.5, 0.5)
    if end > 2 * shape + 2000:
        # The density falls by exp(-1 / 2) or more for each unit from here on: no more than two times it is left.
        most = 2 * ((shape - 1) * end.log() - end - shape.lgamma()).exp() / (1 - (-HALF).exp())
        return most / 2 + arb(0, 1) * most / 2
    return at_most_one(1 - _lower_gamma(shape, end))
