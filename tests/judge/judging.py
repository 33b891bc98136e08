"""What is true of a curve, and the verdict on what the library answers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from compositions import Parts, truth_of
from parts import Adjacency
from truth import Pair, ball

import simplexdp as sdp

EXCESSES = (1e-9, 1e-7, 1e-5, 1e-4, 1e-3, 1e-2)
"""By how much a reported number is above the true one: the classes of the table, relatively."""

SMALLEST = ball(5e-324)
"""Where the true delta is smaller than any positive double, zero is a right answer."""


@dataclass
class Truth:
    """Pairs that neighbours attain, or approach: the largest divergence counts."""

    pairs: Sequence[Pair]
    sampling_error: float = 0.0
    """What the sampler is off by, at most: of a reported delta, (1 + exp(epsilon)) times that is owed to it."""

    @property
    def exact(self) -> bool:
        """Whether the largest divergence is known from both sides."""
        return all(pair.exact for pair in self.pairs)

    def exceeds(self, epsilon: float, bound: float) -> bool:
        """Whether the true delta at epsilon is above the bound, beyond doubt."""
        limit = max(ball(bound), SMALLEST)
        return any(pair.delta(ball(epsilon)) > limit for pair in self.pairs)

    def delta(self, epsilon: float) -> tuple[float, float]:
        """Return a lower bound of the true delta, and an upper bound where the truth is exact."""
        balls = [pair.delta(ball(epsilon)) for pair in self.pairs]
        owed = (1 + ball(epsilon).exp()) * ball(self.sampling_error)
        return max(float(b.lower()) for b in balls), max(float((b + owed).upper()) for b in balls)


@dataclass
class Case:
    """A composition of parts."""

    adjacency: Adjacency
    parts: Parts

    @cached_property
    def truth(self) -> Truth:
        directions: Sequence[bool | None] = [None] if self.adjacency == "replace" else [False, True]
        pairs = [truth_of(self.parts, added) for added in directions]
        if not all(pair.exact for pair in pairs):
            # One part alone is never more than all of them.
            pairs += [truth_of([(part, 1)], added) for part, _ in self.parts for added in directions]
        return Truth(pairs)

    def curve(self) -> sdp.PrivacyCurve:
        parts = [part.curve(self.adjacency) for part, _ in self.parts]
        return sdp.compose(parts, [count for _, count in self.parts])

    def __str__(self) -> str:
        return f"{self.adjacency}: " + " + ".join(f"{count} * {part}" for part, count in self.parts)


@dataclass
class Verdict:
    """What is wrong with an answer, or by how much it is above the truth."""

    fault: str | None = None
    margin: float | None = None
    """The answer's delta over the true one, minus one; below zero is a fault. None where both are zero."""
    excess: float | None = None
    """The class of `EXCESSES`, where the truth is exact."""


def judge_epsilon(truth: Truth, curve: sdp.PrivacyCurve, delta: float) -> Verdict:
    """Judge the answer to "which epsilon at this delta?"."""
    answer = curve.epsilon(delta)
    if not answer >= 0:
        return Verdict(f"epsilon({delta!r}) = {answer!r}")
    if math.isinf(answer):
        # Only what one law has and the other has not is worth an infinite loss.
        if truth.exact and not truth.sampling_error and not truth.exceeds(1e9, delta * (1 - 1e-6)):
            return Verdict(f"epsilon({delta!r}) = inf, where a finite one is true")
        return Verdict()
    if truth.exceeds(answer, delta):
        return Verdict(f"epsilon({delta!r}) = {answer!r}: the true delta there is {truth.delta(answer)[0]!r}")
    excess = None
    if truth.exact and answer > 0:
        excess = next((x for x in EXCESSES if truth.exceeds(answer * (1 - x), delta)), math.inf)
    lower, _ = truth.delta(answer)
    return Verdict(None, delta / lower - 1 if answer > 0 and lower > 1e-305 else None, excess)


def judge_delta(truth: Truth, curve: sdp.PrivacyCurve, epsilon: float) -> Verdict:
    """Judge the answer to "which delta at this epsilon?"."""
    answer = curve.delta(epsilon)
    if not 0 <= answer <= 1:
        return Verdict(f"delta({epsilon!r}) = {answer!r}")
    lower, upper = truth.delta(epsilon)
    if lower < 1 and truth.exceeds(epsilon, answer):
        return Verdict(f"delta({epsilon!r}) = {answer!r}: the truth is {lower!r}")
    excess = None
    if truth.exact:
        excess = next((x for x in EXCESSES if answer <= upper * (1 + x) + 1e-15), math.inf)
    return Verdict(None, answer / lower - 1 if 1e-305 < lower < 1 else None, excess)


def assert_true(truth: Truth, curve: sdp.PrivacyCurve, deltas: Sequence[float], epsilons: Sequence[float] = ()) -> None:
    """Ask a curve for epsilon at each delta and for delta there and at each epsilon; fail on a false answer."""
    verdicts = [judge_epsilon(truth, curve, delta) for delta in deltas]
    places = [at for at in (curve.epsilon(delta) for delta in deltas) if math.isfinite(at)]
    verdicts += [judge_delta(truth, curve, epsilon) for epsilon in [*epsilons, *places]]
    faults = [verdict.fault for verdict in verdicts if verdict.fault]
    assert not faults, faults
