"""Audit one release: draw, choose events, count them in fresh draws, and say what they prove."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplexdp import _arguments as check
from simplexdp.accounting import PrivacyCurve
from simplexdp.auditing import scores
from simplexdp.auditing.bounds import epsilon_at_least, mu_at_least, rate_above, rate_below
from simplexdp.auditing.draws import Draw, in_batches, one_by_one
from simplexdp.auditing.worst import Pair, worst_pair
from simplexdp.exceptions import InvalidDataError, InvalidParameterError

__all__ = ["Audit", "Event", "audit"]

Floats = NDArray[np.float64]

THRESHOLDS = 200
"""How many thresholds are tried for each score."""
CHOICE_ERROR = 3.0
"""While events are chosen, rates are taken so many standard errors on the careful side."""
USUAL_DELTA = 0.01
"""Where epsilon is asked of a claim that is not pure: large enough that some ten thousand draws can see it."""
ROUNDING = 1e-11
"""How far bounds and claims may be from each other by rounding alone."""


@dataclass(frozen=True)
class Event:
    """A set of outputs, and how many of the counted draws fell into it."""

    score: str
    """What was looked at."""
    threshold: float
    """The event is a score of at least this."""
    swapped: bool
    """Whether it is the second data set under which the event is the likelier one."""
    hits: int
    """Draws in the event under the data set that makes it likely."""
    other_hits: int
    """Draws in the event under the other."""
    size: int
    """Draws under each."""


@dataclass(frozen=True)
class Audit:
    """What an audit has proved, with the stated confidence for all of it together."""

    epsilon: float
    """No (epsilon', delta)-DP holds for an epsilon' below this."""
    delta: float
    """Where `epsilon` is meant."""
    mu: float
    """No mu'-Gaussian DP holds for a mu' below this."""
    claimed: float | None
    """The epsilon that is claimed at `delta`."""
    refuted: bool | None
    """Whether an event is likelier than the claim's trade-off curve allows; None without a claim."""
    confidence: float
    """Probability with which the bounds hold, whatever the release does."""
    events: tuple[Event, ...]
    """The events that were counted: chosen for `epsilon`, for `mu` and, where there is one, for the claim."""

    @property
    def power(self) -> float | None:
        """How much of the claimed epsilon was found; a release that uses up its claim reaches at most 1."""
        if self.claimed is None or not self.claimed > 0 or not np.isfinite(self.claimed):
            return None
        return self.epsilon / self.claimed


def audit(
    release: Any,
    pair: Sequence[Any] | None = None,
    *,
    claim: PrivacyCurve | float | None = None,
    delta: float | None = None,
    size: int = 20_000,
    confidence: float = 0.999_999,
    score: Callable[[Any], Any] | None = None,
    batch: bool = False,
) -> Audit:
    """Find from its outputs how private a release can be at most, and whether that refutes what it claims.

    The release is run `size` times on each of two data sets to learn what tells them apart and `size` times more to
    count; only the second half enters the bounds, which are exact (Clopper and Pearson) and assume nothing of the
    release but that its runs are independent. Its law may drift from run to run: a coin says on which of the data sets
    each pair of runs begins. An audit can refute a claim. It never proves one: a release that passes may fail on other
    data, or in events too rare to be seen.

    Parameters
    ----------
    release : callable or mechanism
        Takes a data set and returns a number or an array of numbers, of one size always; None and NaN stand for a
        number that is held back. A mechanism of this package is called by its ``release``.
    pair : (data, data), optional
        Two neighbouring data sets, whatever `release` takes. For our mechanisms `worst_pair` proposes one.
    claim : PrivacyCurve or float, optional
        What to refute: a curve, or an epsilon that goes with `delta`. By default what a mechanism says of itself.
    delta : float, optional
        Where epsilon is asked, in [0, 1). By default 0 without a claim and for pure ones, 0.01 otherwise.
    size : int, default 20000
        Draws from each data set that are counted, 100 or more; as many more are learnt from.
    confidence : float, default 0.999999
        Of all bounds together.
    score : callable, optional
        Makes a number, or an array of them, of one output (with `batch`: of all outputs). A likelihood ratio has the
        most power.
    batch : bool, default False
        Whether `release` takes a data set and a number of draws, and returns them along the first axis. It is called
        six times, and its law must not drift from call to call.

    Returns
    -------
    Audit

    Examples
    --------
    >>> import numpy as np, simplexdp as sdp
    >>> rng = np.random.default_rng(1)
    >>> noise = lambda data, size: data + rng.laplace(size=size)
    >>> sdp.audit(noise, (1.0, 0.0), claim=1.0, batch=True).refuted
    False
    >>> sdp.audit(noise, (2.0, 0.0), claim=1.0, batch=True).refuted
    True
    """
    size = check.integer("size", size, 100)
    confidence = check.open_unit("confidence", confidence)
    check.flag("batch", batch)
    ours = hasattr(release, "release") and hasattr(release, "privacy")
    if ours and isinstance(release, type):
        raise InvalidParameterError(f"release must be a function or a mechanism, got the class {release.__name__}")
    if ours and claim is None:
        claim = release.privacy
    pair = _checked_pair(worst_pair(release) if pair is None else pair)
    call, score = _callable(release, score, ours)
    draw: Draw = in_batches(call, score) if batch else one_by_one(call, score)
    curve = _curve(claim, delta)
    delta = _delta(curve, delta)

    learn, choose = (draw(pair, part) for part in (size // 2, size - size // 2))
    chosen = _chosen(learn, choose, curve, delta)
    counted = draw(pair, size)
    _check_fresh(learn[0], counted[0])
    return _judged(chosen, counted, curve, delta, confidence)


def _checked_pair(pair: Sequence[Any]) -> Pair:
    wrong = InvalidParameterError(f"pair must hold two data sets in their order, got {type(pair).__name__}")
    # Iteration over these gives letters, keys, names of columns, or an order of its own.
    if isinstance(pair, str | bytes | Mapping | Set) or hasattr(pair, "columns"):
        raise wrong
    try:
        first, second = pair
    except (TypeError, ValueError):
        raise wrong from None
    return Pair(first, second)


def _callable(release: Any, score: Any, ours: bool) -> tuple[Callable[..., Any], Callable[[Any], Any] | None]:
    if ours:
        view = score
        if view is None:
            # A posterior is released by its parameters.
            def view(output: Any) -> Any:
                return getattr(output, "alpha", output)

        return release.release, view
    if not callable(release):
        raise InvalidParameterError(f"release must be a function or a mechanism, got {type(release).__name__}")
    if score is not None and not callable(score):
        raise InvalidParameterError(f"score must be a function, got {type(score).__name__}")
    return release, score


def _curve(claim: PrivacyCurve | float | None, delta: float | None) -> PrivacyCurve | None:
    if claim is None or isinstance(claim, PrivacyCurve):
        return claim
    return PrivacyCurve.from_epsilon_delta(check.non_negative("claim", claim), _in_range(delta) if delta else 0.0)


def _in_range(delta: float) -> float:
    value = check.non_negative("delta", delta)
    if not value < 1:
        raise InvalidParameterError(f"delta must be below 1, got {value}")
    return value


def _delta(curve: PrivacyCurve | None, delta: float | None) -> float:
    if delta is not None:
        return _in_range(delta)
    return 0.0 if curve is None or np.isfinite(_claimed(curve, 0.0)) else USUAL_DELTA


def _claimed(curve: PrivacyCurve, delta: float) -> float:
    """Return the claimed epsilon, infinite at delta 0 where the claim is not pure."""
    try:
        return float(curve.epsilon(delta))
    except InvalidParameterError:
        if delta > 0:
            raise
        return float("inf")


def _check_fresh(before: Floats, after: Floats) -> None:
    """Refuse a release whose later runs repeat its earlier ones in their order, where few agree by chance."""
    again = int(np.sum(np.all(before == after[: len(before)], axis=1)))
    if 2 * len(np.unique(before, axis=0)) > len(before) and 2 * again > len(before):
        raise InvalidDataError(
            f"release must draw afresh in each run: {again} of {len(before)} outputs came again in the same order"
        )


@dataclass(frozen=True)
class _Choice:
    name: str
    score: scores.Score
    threshold: float
    swapped: bool


def _chosen(
    learn: tuple[Floats, Floats], choose: tuple[Floats, Floats], curve: PrivacyCurve | None, delta: float
) -> list[_Choice]:
    """Return the events that show the largest epsilon, the largest mu, and the most beyond the claimed trade-off."""
    best: dict[str, tuple[float, _Choice]] = {}
    allowed = _allowed(curve, len(choose[0]))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for swapped in (False, True):
            order = (1, 0) if swapped else (0, 1)
            for name, score in scores.learnt(learn[order[0]], learn[order[1]]):
                likely, other = (np.sort(np.nan_to_num(score(choose[at]))) for at in order)
                thresholds = _thresholds(likely, other)
                power = _careful(len(likely) - np.searchsorted(likely, thresholds), len(likely), -CHOICE_ERROR)
                alarm = _careful(len(other) - np.searchsorted(other, thresholds), len(other), CHOICE_ERROR)
                marks = {
                    "epsilon": epsilon_at_least(power, alarm, delta),
                    "mu": mu_at_least(power, alarm),
                }
                if allowed is not None:
                    marks["claim"] = _excess(power, alarm, len(likely), allowed)
                for aim, mark in marks.items():
                    at = int(np.argmax(mark))
                    if aim not in best or mark[at] > best[aim][0]:
                        best[aim] = float(mark[at]), _Choice(name, score, float(thresholds[at]), swapped)
    return [choice for _, choice in best.values()]


def _thresholds(likely: Floats, other: Floats) -> Floats:
    tails = np.geomspace(1 / len(likely), 1.0, THRESHOLDS)
    places = np.minimum((tails * len(likely)).astype(np.int64), len(likely)) - 1
    # Both laws, both tails: the small of one, and all but the small of the other.
    return np.unique(
        np.concatenate([side[index] for side in (likely, other) for index in (len(likely) - 1 - places, places)])
    )


def _careful(hits: NDArray[np.int64], size: int, errors: float) -> Floats:
    """Return Wilson's bound: close enough to the exact one to choose by."""
    rate, square = hits / size, errors**2
    middle = (rate + square / (2 * size)) / (1 + square / size)
    width = np.abs(errors) / (1 + square / size) * np.sqrt(rate * (1 - rate) / size + square / (4 * size**2))
    bound: Floats = np.clip(middle + np.sign(errors) * width, 0.0, 1.0)
    return bound


def _allowed(curve: PrivacyCurve | None, size: int) -> tuple[Floats, Floats] | None:
    """Return false positive rates and the largest power that the claim allows at each."""
    if curve is None:
        return None
    rates = np.concatenate([[0.0], np.geomspace(1 / size, 1.0, 60)])
    return rates, 1.0 - np.asarray(curve.tradeoff(rates), dtype=np.float64)


def _excess(power: Floats, alarm: Floats, size: int, allowed: tuple[Floats, Floats]) -> Floats:
    """Return by how many standard errors the power is beyond what the claim allows."""
    ceiling = np.interp(alarm, *allowed)
    return (power - ceiling) / np.sqrt((power * (1 - power) + alarm * (1 - alarm)) / size + 1 / size**2)


def _judged(
    chosen: list[_Choice],
    counted: tuple[Floats, Floats],
    curve: PrivacyCurve | None,
    delta: float,
    confidence: float,
) -> Audit:
    size = len(counted[0])
    # Two bounds for each event; all of them hold together.
    error = (1.0 - confidence) / (2 * len(chosen))
    epsilon, mu, refuted, events = 0.0, 0.0, False, []
    for choice in chosen:
        order = (1, 0) if choice.swapped else (0, 1)
        hits = [int(np.sum(np.nan_to_num(choice.score(counted[at])) >= choice.threshold)) for at in order]
        power = float(rate_below(np.array(hits[0]), size, error))
        alarm = float(rate_above(np.array(hits[1]), size, error))
        epsilon = max(epsilon, float(epsilon_at_least(np.array(power), np.array(alarm), delta)))
        mu = max(mu, float(mu_at_least(np.array(power), np.array(alarm))))
        if curve is not None:
            refuted |= 1.0 - power < float(curve.tradeoff(alarm)) - ROUNDING
        events.append(Event(choice.name, choice.threshold, choice.swapped, hits[0], hits[1], size))
    claimed = None if curve is None else _claimed(curve, delta)
    if claimed is not None:
        refuted |= epsilon > claimed + ROUNDING
    return Audit(epsilon, delta, mu, claimed, refuted if curve is not None else None, confidence, tuple(events))
