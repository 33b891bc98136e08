"""Plans for numbers: a mean, and quantiles, of a column between public bounds."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplexdp.exceptions import InvalidParameterError
from simplexdp.numeric import mean, quantiles
from simplexdp.planning.stand_in import OTHER_SAMPLES, range_of_samples
from simplexdp.planning.tasks import METRICS, Budget, Found
from simplexdp.testing import SeededRng

__all__ = ["Numbers", "numbers_like"]

Floats = NDArray[np.float64]

REPEATS, LEAST_REPEATS, MOST_DRAWN = {"mean": 1000, "quantile": 80}, 40, 20_000_000
"""Releases at one epsilon; fewer where so many numbers would be drawn."""

OF_EACH = 5
"""Releases of each data set: how far data sets differ is told from how far releases do."""

QUICK, SHARE = 8, 3
"""Releases where only the size of an error matters; which share of the others each shape gets for its range."""

INTERVALS = 6
"""Whose lengths are averaged: they hardly differ."""

MARGIN = 2.0
"""Standard errors by which such a range is wider than the means that were seen."""

MOST_NUMBERS = 400_000
"""That are released again and again."""

SAMPLE, SAMPLE_PAIRS = 1000, 400
"""Size and number of samples that chance is measured on."""

LEVELS = (0.25, 0.5, 0.75)

SHAPES: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "bell": lambda generator, n: np.clip(generator.normal(0.5, 0.15, n), 0.0, 1.0),
    "even": lambda generator, n: generator.random(n),
    "near one bound": lambda generator, n: np.clip(generator.exponential(0.1, n), 0.0, 1.0),
    "at both bounds": lambda generator, n: generator.beta(0.4, 0.4, n),
    "in a hundred steps": lambda generator, n: np.rint(100 * np.clip(generator.normal(0.5, 0.15, n), 0.0, 1.0)) / 100,
}
"""Laws between 0 and 1 that nobody's data had a part in."""

PLANNED = "bell"


class Numbers:
    """A mean, or the quartiles, in shares of the distance between the bounds.

    Parameters
    ----------
    task : {"mean", "quantile"}
    bounds : (float, float)
    values : ndarray, optional
        Of a column that is public or synthetic.
    seed : int
    """

    metric = METRICS["span"]
    yardstick_words = "chance alone, another sample of as many records, makes {}"
    fixed_yardstick = varies = False
    least_records = 10

    def __init__(self, task: str, bounds: tuple[float, float], values: Floats | None, seed: int) -> None:
        self._task, self._bounds, self._seed = task, bounds, seed
        self.reach_words = (
            "That is for values in a bell around the middle; other shapes make it" if values is None else OTHER_SAMPLES
        )
        lower, upper = bounds
        self._chance: float | None = None
        self._values = None if values is None else np.clip((values - lower) / (upper - lower), 0.0, 1.0)
        self.about = "the mean of a column" if task == "mean" else "the quartiles of a column"

    def most_records(self) -> int:
        """Return how many numbers can be tried."""
        return MOST_NUMBERS

    def measure(self, budget: Budget, n: int, *, quick: bool = False) -> Found:
        """Release made-up numbers again and again, as a user would."""
        repeats = max(min(REPEATS[self._task], MOST_DRAWN // n), LEAST_REPEATS)
        of_each = 1 if quick or self._values is None else OF_EACH
        errors, released = self._tried(self._law(PLANNED), budget, n, QUICK if quick else repeats, of_each)
        error = _standard_error(errors.reshape(-1, of_each).mean(axis=1))
        if quick:
            return Found("", float(errors.mean()), error, math.nan, None, "")
        if self._values is not None:
            ranges = range_of_samples(errors.reshape(-1, OF_EACH), n, len(self._values))
        else:
            means = [float(errors.mean()) + sign * MARGIN * error for sign in (-1, 1)]
            for name in SHAPES:
                if name == PLANNED:
                    continue
                found = self._tried(self._law(name), budget, n, repeats // SHARE)[0]
                means += [float(found.mean()) + sign * MARGIN * _standard_error(found) for sign in (-1, 1)]
            ranges = (max(min(means), 0.0), max(means))
        return Found(
            released[0].mechanism,
            float(errors.mean()),
            error,
            self._kept(released, errors, budget.level),
            released[0].privacy,
            self._code(budget),
            ranges,
        )

    def _kept(self, released: list[Any], errors: Floats, level: float) -> float:
        """Return how far a release may be off: half of its interval, where that does not end at the bounds.

        An error does not stop at half of what is left between them.
        """
        ends = np.array([each.interval(level) for each in released])
        half = float(np.mean([_half_length(each) for each in ends]))
        inside = ends.min() > 0.0 and ends.max() < 1.0
        return half if inside else max(half, float(np.quantile(errors, level, method="higher")))

    def yardstick(self, n: int) -> float:
        """Return how far the figures of a sample are from those of the law: falling with the root of n."""
        if self._chance is None:
            generator, draw = np.random.default_rng(self._seed), self._law(PLANNED)
            pairs = [
                self._true(draw(generator, SAMPLE)) - self._true(draw(generator, SAMPLE)) for _ in range(SAMPLE_PAIRS)
            ]
            self._chance = float(np.abs(pairs).mean() / math.sqrt(2)) * math.sqrt(SAMPLE)
        return self._chance / math.sqrt(n)

    def _law(self, name: str) -> Callable[[np.random.Generator, int], Floats]:
        values = self._values
        if values is None:
            return SHAPES[name]
        # Another sample of the same population: what falls on a step of this one does not on that of others.
        return lambda generator, n: generator.choice(values, n)

    def _tried(
        self, draw: Callable[[np.random.Generator, int], Floats], budget: Budget, n: int, repeats: int, of_each: int = 1
    ) -> tuple[Floats, list[Any]]:
        """Return the errors of many releases, a few of each data set, and some of the releases."""
        generator = np.random.default_rng(self._seed)
        errors: list[float] = []
        kept: list[Any] = []
        values = np.empty(0)
        given: dict[str, Any] = {"bounds": (0.0, 1.0), "epsilon": budget.epsilon, "adjacency": budget.adjacency}
        given["delta"] = budget.delta or None
        release: Any = mean if self._task == "mean" else quantiles
        with warnings.catch_warnings():
            # Seeded on purpose: the data are nobody's.
            warnings.simplefilter("ignore")
            rng = SeededRng(self._seed)
            for turn in range(math.ceil(repeats / of_each) * of_each):
                values = draw(generator, n) if turn % of_each == 0 else values
                released = release(values, rng=rng, **given)
                errors.append(float(np.abs(released.estimate - self._true(values)).mean()))
                kept += [released] if len(kept) < INTERVALS else []
        return np.array(errors), kept

    def _true(self, values: Floats) -> Any:
        return values.mean() if self._task == "mean" else np.quantile(values, LEVELS)

    def _code(self, budget: Budget) -> str:
        delta = f", delta={budget.delta!r}" if budget.delta else ""
        change = "" if budget.adjacency == "replace" else f", adjacency={budget.adjacency!r}"
        call = "mean(values" if self._task == "mean" else f"quantiles(values, levels={LEVELS!r}"
        return (
            f"import simplexdp as sdp\nreleased = sdp.numeric.{call}, bounds={self._bounds!r}, "
            f"epsilon={budget.epsilon!r}{delta}{change})\n"
            f"released.estimate, released.interval({budget.level!r})"
        )


def numbers_like(like: Any) -> Floats | None:
    """Return the numbers of a stand-in column."""
    if like is None:
        return None
    values = np.asarray(like, dtype=object)
    try:
        found = values.astype(np.float64)
    except (TypeError, ValueError):
        found = np.array([np.nan])
    if found.ndim != 1 or not len(found) or not np.isfinite(found).all():
        raise InvalidParameterError("like must be a sequence of finite numbers for this task")
    return found


def _half_length(ends: Floats) -> float:
    return float(np.ptp(np.atleast_2d(ends), axis=1).mean()) / 2


def _standard_error(values: Floats) -> float:
    return float(np.std(values, ddof=1) / math.sqrt(len(values)))
