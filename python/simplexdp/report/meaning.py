"""What a privacy curve means for one person: bounds on what an attacker can learn, each derived from the curve."""

import math
from dataclasses import dataclass

import numpy as np

from simplexdp.accounting import PrivacyCurve

__all__ = ["Meaning", "meaning"]

FRACTIONS = np.concatenate([np.geomspace(1e-4, 0.5, 60), np.linspace(0.5, 0.999, 60)[1:]])
"""Parts of delta that may go to the loss itself; the rest pays for the slope beyond it."""


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
        if not math.isfinite(self.factor):
            return 1.0
        return min(before * self.factor / (1 - before + before * self.factor) * (1 + 1e-12), 1.0)


def meaning(curve: PrivacyCurve, delta: float) -> Meaning:
    """Derive the bounds from a curve.

    The factor: let P and Q be the laws of a release for two neighbours, and S_t the outputs with P > e^t Q, those that
    move the odds by more than e^t. For every s < t, P(S_t) - e^s Q(S_t) <= delta(s) while Q(S_t) <= e^-t P(S_t), so

        P(S_t) <= delta(s) / (1 - e^(s-t)).

    This is delta itself when delta(s) = f delta and t = s - ln(1 - f). The best f is taken. Mixtures of neighbours
    obey the same bound, since the divergence is convex: "anything else" may be many records.

    The guess: two equally likely laws are told apart with probability (1 + delta(0)) / 2 at most.
    """
    epsilon = float(curve.epsilon(delta))
    loss, exception = (epsilon, 0.0) if delta == 0 else (_loss(curve, delta), delta)
    if 0 < delta < 0.5 and not math.isfinite(loss):
        loss, exception = _loss(curve, 2 * delta), 2 * delta
    factor = math.exp(loss) * (1 + 1e-9) if loss < 700 else math.inf
    guess = min((1 + float(curve.delta(0.0))) / 2 * (1 + 1e-12), 1.0)
    return Meaning(epsilon=epsilon, delta=delta, factor=factor, exception=exception, guess=guess)


def _loss(curve: PrivacyCurve, exception: float) -> float:
    """Return what the logarithm of the odds exceeds with a probability of at most `exception`."""
    return float(np.min(np.asarray(curve.epsilon(exception * FRACTIONS)) - np.log1p(-FRACTIONS)))
