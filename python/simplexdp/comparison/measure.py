"""Choosing the post-processing on one sample of data sets, and measuring the error on another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simplexdp.comparison.candidates import Candidate, UnavailableError
from simplexdp.comparison.metrics import errors
from simplexdp.comparison.postprocessing import Rule

__all__ = ["Choice", "Measured", "measure"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

STRENGTHS = 7
REFINEMENTS = 4
"""Strengths tried over the whole range, and then by halving the step around the best one."""

UNLIMITED = 2**31
SLOW_CANDIDATES = 2
"""Rules with a limit of rows are slow, and tried on so many of a mechanism's candidates."""

ROUGH_SHARE, CLOSE = 0.25, 1.3
"""Everything is tried on a share of the sample; what is that close to the best there is tried on all of it."""


@dataclass(frozen=True)
class Choice:
    """A candidate, what is done to its release, and how strongly."""

    candidate: Candidate
    rule: Rule
    strength: float | None


@dataclass(frozen=True)
class Measured:
    """The errors of a choice, one for each data set."""

    choice: Choice
    errors: Floats

    @property
    def mean(self) -> float:
        """The average error."""
        return float(self.errors.mean())

    @property
    def standard_error(self) -> float:
        """The standard error of the average."""
        return _standard_error(self.errors)

    def clearly_better(self, other: Measured, deviations: float) -> bool:
        """Whether the paired difference is that many standard errors above zero.

        Where rare large errors of the other drown the difference, it is cut above its 90 % quantile: that can only
        make its mean smaller, and so what is clear afterwards is clear.
        """
        rows = min(len(self.errors), len(other.errors))
        mine, theirs = self.errors[:rows], other.errors[:rows]
        if np.isinf(theirs).any():
            return bool(np.isfinite(mine).all())
        difference = theirs - mine
        cut = np.minimum(difference, np.quantile(difference, 0.9))
        return any(bool(d.mean() > deviations * _standard_error(d)) for d in (difference, cut))


@dataclass(frozen=True)
class _Trial:
    """A rule, and releases that it has been prepared for."""

    candidate: Candidate
    rule: Rule
    weights: Floats
    true: Floats
    metric: str

    @classmethod
    def of(cls, candidate: Candidate, rule: Rule, counts: Integers, released: Floats, metric: str) -> _Trial:
        """Prepare as many releases as the rule may be tried on."""
        rows = min(len(counts), rule.most_rows)
        return cls(candidate, rule, rule.prepare(released[:rows]), _shares(counts[:rows]), metric)

    def errors(self, strength: float | None, rows: int | None = None) -> Floats:
        """Return the errors of the first rows."""
        return errors(self.metric, self.true[:rows], self.rule.shares(self.weights[:rows], strength))

    def error_of_best(self, share: float, refinements: int) -> tuple[float | None, float]:
        """Return the best strength on a share of the rows, and its error."""
        rows = max(int(share * len(self.true)), 1)

        def error(strength: float | None) -> float:
            return float(self.errors(strength, rows).mean())

        if self.rule.strengths is None:
            return None, error(None)
        low, high = np.log(self.rule.strengths)
        step = (high - low) / (STRENGTHS - 1)
        tried = {float(low + step * k): error(float(np.exp(low + step * k))) for k in range(STRENGTHS)}
        for _ in range(refinements):
            step /= 2
            middle = min(tried, key=lambda log: tried[log])
            for log in (middle - step, middle + step):
                if low <= log <= high:
                    tried[log] = error(float(np.exp(log)))
        best = min(tried, key=lambda log: tried[log])
        return float(np.exp(best)), tried[best]


def measure(
    options: Sequence[Candidate], metric: str, training: Integers, testing: Integers, seeds: tuple[int, int]
) -> Measured:
    """Choose among the options and their rules on one sample; return the errors on the other.

    What was chosen was the best on its sample by luck too, so that its error has to be measured on fresh data sets.
    """
    drawn = [
        (candidate, counts, candidate.sample(counts, seeds[0]))
        for candidate in options
        for counts in [training[: candidate.most_rows]]
    ]
    # Where zeros can be released the expected divergence is infinite, whatever the sample says.
    trials = [
        (at, rule)
        for at, candidate in enumerate(options)
        for rule in candidate.rules
        if metric != "kl" or rule.positive
    ]
    if not trials:
        raise UnavailableError("every allowed rule of post-processing may release a share of zero")
    quick = [_Trial.of(options[at], rule, *drawn[at][1:], metric) for at, rule in trials if rule.most_rows >= UNLIMITED]
    found = _best_of(quick)
    slow = [(at, rule) for at, rule in trials if rule.most_rows < UNLIMITED]
    if found:
        # What is slow is tried on the candidates that are best without it.
        order = list(dict.fromkeys(id(trial.candidate) for trial, *_ in found))[:SLOW_CANDIDATES]
        slow = [(at, rule) for at, rule in slow if id(options[at]) in order]
    for at, rule in slow:
        trial = _Trial.of(options[at], rule, *drawn[at][1:], metric)
        strength, error = trial.error_of_best(share=1.0, refinements=REFINEMENTS)
        # On the same rows as the best so far.
        if not found or error <= float(found[0][0].errors(found[0][1], len(trial.true)).mean()):
            found = [(trial, strength, error), *found]
    trial, strength, _ = found[0]
    best = Choice(trial.candidate, trial.rule, strength)
    counts = testing[: min(best.candidate.most_rows, best.rule.most_rows)]
    weights = best.rule.prepare(best.candidate.sample(counts, seeds[1]))
    return Measured(best, errors(metric, _shares(counts), best.rule.shares(weights, best.strength)))


def _best_of(trials: Sequence[_Trial]) -> list[tuple[_Trial, float | None, float]]:
    """Return those of the trials that are near the best on a part of the sample, the best on all of it first."""
    if not trials:
        return []
    rough = [trial.error_of_best(share=ROUGH_SHARE, refinements=0)[1] for trial in trials]
    close = [trial for trial, error in zip(trials, rough, strict=True) if error <= CLOSE * min(rough)]
    found = [(trial, *trial.error_of_best(share=1.0, refinements=REFINEMENTS)) for trial in close]
    return sorted(found, key=lambda entry: entry[2])


def _shares(counts: Integers) -> Floats:
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def _standard_error(values: Floats) -> float:
    if len(values) < 2 or not np.isfinite(values).all():
        return float("inf")
    return float(values.std(ddof=1) / np.sqrt(len(values)))
