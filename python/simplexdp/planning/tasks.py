"""The tasks of a plan by name, and what each measures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from simplexdp.accounting import PrivacyCurve

__all__ = ["METRICS", "MODELS", "NUMERIC", "OF_TASK", "TASKS", "Budget", "ByLevel", "Found", "Metric", "Task"]

TASKS = ("histogram", "groups", "posterior", "classifier", "network", "synthesis", "mean", "quantile", "hierarchy")
MODELS, NUMERIC = TASKS[3:6], TASKS[6:8]
"""Fitted to several columns; of a column of numbers between bounds."""


@dataclass(frozen=True)
class Metric:
    """What the user looks at.

    Attributes
    ----------
    name : str
    sentence : str
        With places for ``value``, ``within`` and ``level``.
    share : bool
        Whether it is a share, to be shown in per cent.
    more_is_better : bool
    interval : bool
        Whether ``within`` is half the length of a confidence interval, around what is released.
    """

    name: str
    sentence: str
    share: bool
    more_is_better: bool = False
    interval: bool = False

    @property
    def sign(self) -> str:
        """Before what one release keeps."""
        return "±" if self.interval else "≥" if self.more_is_better else "≤"

    def shown(self, value: float) -> str:
        """Return a value in the unit that people read; what is zero but for rounding is shown as zero."""
        value = 0.0 if abs(value) < 1e-12 else value
        if self.share:
            return f"{100 * value:.3g} %"
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            "counts",
            "a count is off by {value} records on average, and true ones lie within {within} of the noisy ones with "
            "{level} confidence each",
            share=False,
            interval=True,
        ),
        Metric(
            "finest",
            "a count of the finest level, as it is expected given all levels, is off by {value} records on average, "
            "and true ones lie within {within} of it with {level} confidence each",
            share=False,
            interval=True,
        ),
        Metric(
            "coarsest",
            "a count of the coarsest level, as it is expected given all levels, is off by {value} records on average, "
            "and true ones lie within {within} of it with {level} confidence each",
            share=False,
            interval=True,
        ),
        Metric(
            "shares",
            "a share is off by {value} on average, and by at most {within} with {level} confidence",
            share=True,
            interval=True,
        ),
        Metric(
            "largest",
            "the worst share is off by {value} on average, and all of them by at most {within} with {level} confidence",
            share=True,
            interval=True,
        ),
        Metric(
            "hellinger",
            "the posterior is at a Hellinger distance of {value} from that of the data on average, and of at most "
            "{within} in {level} of releases",
            share=False,
        ),
        Metric(
            "accuracy",
            "{value} of new records are classified right on average, and at least {within} in {level} of releases",
            share=True,
            more_is_better=True,
        ),
        Metric(
            "span",
            "what is released is off by {value} of the distance between the bounds on average, and its interval at "
            "{level} reaches {within} to both sides",
            share=True,
            interval=True,
        ),
        Metric(
            "pairs",
            "{value} of the records are in the wrong cell of a table of two columns on average, and at most "
            "{within} in {level} of releases",
            share=True,
        ),
    )
}

OF_TASK: Mapping[str, tuple[str, ...]] = {
    "histogram": ("counts", "shares", "largest"),
    "groups": ("counts", "shares"),
    "posterior": ("hellinger",),
    "classifier": ("accuracy",),
    "network": ("pairs",),
    "synthesis": ("pairs",),
    "mean": ("span",),
    "quantile": ("span",),
    "hierarchy": ("finest", "coarsest"),
}
"""The metrics of each task, the usual one first."""


@dataclass(frozen=True)
class Budget:
    """What is asked for."""

    epsilon: float
    delta: float
    adjacency: str
    level: float


@dataclass(frozen=True)
class ByLevel:
    """What one level of a hierarchy is off by.

    Attributes
    ----------
    name : str
    share : float
        Of the budget.
    value, standard_error : float
        The mean error of a count, and how uncertain it is.
    within : float
        Half the length of an interval with the plan's level, on average.
    reach : pair of float or None
        Between which means the error lies, as for a step.
    """

    name: str
    share: float
    value: float
    standard_error: float
    within: float
    reach: tuple[float, float] | None


@dataclass(frozen=True)
class Found:
    """What was measured at one budget and one number of records.

    Attributes
    ----------
    mechanism : str
    value, standard_error : float
        The mean of the metric, and how uncertain it is.
    within : float
        What one release keeps with the level of the plan: errors are at most so large, the accuracy at least.
    curve : PrivacyCurve or None
        None where only the size of an error was asked for.
    code : str
        Lines that make the release.
    reach : pair of float or None
        Between which values the mean of the metric lies, whatever the shape of the data; None where that is not known,
        or a stand-in shows the shape.
    by_level : tuple of ByLevel
        Of a hierarchy, from coarse to fine.
    """

    mechanism: str
    value: float
    standard_error: float
    within: float
    curve: PrivacyCurve | None
    code: str
    reach: tuple[float, float] | None = None
    by_level: tuple[ByLevel, ...] = ()


class Task(Protocol):
    """How a task is measured."""

    metric: Metric
    about: str
    yardstick_words: str
    reach_words: str
    fixed_yardstick: bool
    varies: bool
    """Whether what is measured quickly varies by so much that a search for records cannot end closely."""
    least_records: int

    def measure(self, budget: Budget, n: int, *, quick: bool = False) -> Found:
        """Return what the best mechanism does at a budget with n records; quickly where only its size matters."""
        ...

    def yardstick(self, n: int) -> float:
        """Return the value that n records have without any privacy: what chance alone does."""
        ...

    def most_records(self) -> int:
        """Return the largest number of records that can be tried."""
        ...
