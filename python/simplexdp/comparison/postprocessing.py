"""What can be done to a release without the data: every rule here sees the release and public quantities only."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simplexdp.mechanisms.dirichlet import _nearest_on_simplex

__all__ = ["Rule", "additive_rules", "dirichlet_rules", "posterior_rules"]

Floats = NDArray[np.float64]
Step = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Rule:
    """A way from a release to shares: `prepare`, then `blend` with a public strength, then normalise.

    Parameters
    ----------
    name : str
        "raw", "clip", "project" or "debias+project", with "+smooth" behind where a prior count is added to every
        category; or "floor", which raises noisy counts to a least one.
    prepare : callable
        From the rows of a release to rows of weights in the unit of counts.
    blend : callable, optional
        From weights and the strength to non-negative weights.
    strengths : (float, float), optional
        The range in which the best strength is looked for.
    """

    name: str
    prepare: Step
    blend: Callable[[Floats, float], Floats] | None = None
    strengths: tuple[float, float] | None = None

    def shares(self, weights: Floats, strength: float | None) -> Floats:
        """Return rows that sum to one from prepared weights; a row of zeros becomes uniform."""
        if self.blend is not None and strength is not None:
            weights = self.blend(weights, strength)
        sums = weights.sum(axis=1, keepdims=True)
        uniform = np.full(weights.shape, 1 / weights.shape[1])
        shares: Floats = np.divide(weights, sums, out=uniform, where=sums > 0)
        return shares


def additive_rules(n: int, dimension: int, spread: float, *, total_is_public: bool) -> list[Rule]:
    """Return the rules for noisy counts; `spread` is the standard deviation of the noise."""

    def project(noisy: Floats) -> Floats:
        totals = n if total_is_public else np.maximum(noisy.sum(axis=1, keepdims=True), 1.0)
        return np.asarray(_nearest_on_simplex(noisy / totals) * totals)

    floor = Rule("floor", lambda noisy: noisy, np.maximum, (1e-3 * max(spread, 1.0), 10 * spread + 1))
    return [
        *_with_smoothing("clip", lambda noisy: np.maximum(noisy, 0.0), n, dimension, spread),
        floor,
        *_with_smoothing("project", project, n, dimension, spread),
    ]


def dirichlet_rules(n: int, dimension: int, scale: float, prior: float, *, total_is_public: bool) -> list[Rule]:
    """Return the rules for a row of the Dirichlet mechanism with one prior for all categories."""
    pull = dimension * prior / (scale * n)
    spread = math.sqrt(prior) / scale
    rules = _with_smoothing("raw", lambda y: y * n, n, dimension, spread)
    if total_is_public:
        # What `DirichletMechanism.debias` does with project=True.
        rules += _with_smoothing(
            "debias+project", lambda y: _nearest_on_simplex(y + (y - 1 / dimension) * pull) * n, n, dimension, spread
        )
    return rules


def posterior_rules(n: int, dimension: int) -> list[Rule]:
    """Return the rules for released counts that are non-negative and sum to n."""
    return _with_smoothing("raw", lambda counts: counts, n, dimension, 1.0)


def _with_smoothing(name: str, prepare: Step, n: int, dimension: int, spread: float) -> list[Rule]:
    largest = 100 * (spread + n / dimension) + 1
    return [Rule(name, prepare), Rule(f"{name}+smooth", prepare, np.add, (1e-3, largest))]
