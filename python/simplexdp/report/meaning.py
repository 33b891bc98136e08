"""What a privacy curve means for one person: bounds on what an attacker can learn, each derived from the curve."""

from dataclasses import dataclass

from simplexdp import _core
from simplexdp.accounting import PrivacyCurve

__all__ = ["Meaning", "meaning"]


@dataclass(frozen=True)
class Meaning:
    """Bounds for an attacker who knows everything but one record.

    Attributes
    ----------
    epsilon, delta : float
        The guarantee.
    factor : float
        The odds of what is true against anything else grow by at most this factor, except with probability `exception`.
    exception : float
        delta, or twice that where the guarantee bounds no factor with delta itself.
    guess : float
        Probability of telling two equally likely records apart.
    """

    epsilon: float
    delta: float
    factor: float
    exception: float
    guess: float

    def belief(self, before: float) -> float:
        """Return the largest belief after the release, except with probability `exception`."""
        return _core.belief_after(before, self.factor)


def meaning(curve: PrivacyCurve, delta: float) -> Meaning:
    """Derive the bounds from a curve; the proof stands in `rust/core/src/guarantee/meaning.rs`."""
    epsilon = float(curve.epsilon(delta))  # which checks delta
    _, factor, exception, guess = curve.guarantee.meaning(delta)
    return Meaning(epsilon=epsilon, delta=delta, factor=factor, exception=exception, guess=guess)
