"""Categories that nobody listed: those that many records have, with their noisy counts.

Publishing that a category occurs tells of the persons who have it. So a category is published where its noisy count
reaches a threshold that a person alone hardly ever reaches; the rest is "other". The guarantee is formed in the core
(`rust/core/src/guarantee/discovery.rs`).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from simplexdp import _arguments as check
from simplexdp import _core
from simplexdp.exceptions import InvalidParameterError
from simplexdp.frames.cleaning import Cleaning
from simplexdp.frames.distinct import distinct_of_array
from simplexdp.frames.distinct_series import distinct_of_series
from simplexdp.frames.domain import Domain, is_null, plain
from simplexdp.frames.persons import bounded, checked_bound
from simplexdp.frames.source import as_frame, column_of, is_lazy

if TYPE_CHECKING:
    from simplexdp.accounting import PrivacyCurve

__all__ = ["DiscoveredDomain", "discover"]

OTHER_SHARE = Fraction(1, 10)
"""Of epsilon, for the noisy count of the rest, where that is not known for free."""
LEAST_SHARE = 10
"""Categories with fewer records than a threshold divided by this are not looked at; the threshold is as much higher."""


@dataclass(frozen=True)
class DiscoveredDomain(Domain):
    """A domain that was released, with the noisy counts that were released with it.

    It is used as any `Domain`; its last level, `other`, holds what was not published, missing values too unless they
    have a level. Made by `Domain.discover`.

    Parameters
    ----------
    values, other, clean
        As of `Domain`.
    noisy_counts : ndarray of int64
        One for each value, at least `threshold`, and last that of the rest, which may be negative.
    threshold, least : int
        The least noisy count that was published, the least count that was looked at.
    scale, other_scale : Fraction
        Of the discrete Laplace noise of the values and of the rest; 0 where the rest is what the public number of
        records leaves.
    privacy : PrivacyCurve
        Of values and counts together.
    unit : column, optional
        Whose rows the guarantee speaks of.
    max_rows : int
        How many of them there are at most.
    """

    noisy_counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64), compare=False)
    threshold: int = 1
    least: int = 1
    scale: Fraction = Fraction(1)
    other_scale: Fraction = Fraction(0)
    privacy: PrivacyCurve | None = field(default=None, compare=False)
    unit: Any = None
    max_rows: int = 1

    def interval(self, level: float = 0.95) -> NDArray[np.int64]:
        """Return confidence intervals of the counts, from what was released alone.

        Each covers its count with a probability of at least `level`, given that the category was published: a noisy
        count that had to reach the threshold is larger than its count on average, and the interval knows. Where the
        number of records is public the rest is what the others leave, and its interval follows from theirs together.

        Returns
        -------
        ndarray of int64, shape (number of levels, 2)
            In the order of `noisy_counts`, the rest last. With `unit` they are of the rows that were kept.

        Examples
        --------
        >>> from simplexdp.frames import Domain
        >>> visits = {"drug": ["aspirin"] * 500 + ["statin"] * 300 + [f"rare {i}" for i in range(50)]}
        >>> found = Domain.discover(visits, "drug", epsilon=1.0, delta=1e-6)
        >>> found.interval().shape
        (3, 2)
        """
        from simplexdp.inference.published import intervals_above
        from simplexdp.mechanisms import DiscreteLaplaceMechanism

        level = check.open_unit("level", level)
        *noisy, rest = self.noisy_counts.tolist()

        def of_values(miss: float) -> NDArray[np.int64]:
            return intervals_above(noisy, scale=self.scale, threshold=self.threshold, least=self.least, miss=miss)

        if self.other_scale:
            last = DiscreteLaplaceMechanism(scale=self.other_scale, sensitivity=1).interval([rest], level)[0]
        elif noisy:
            # The counts of the values and of the rest add up to what their noisy ones do.
            last = rest + (np.array(noisy)[:, None] - of_values(_core.test_size(level, len(noisy)))).sum(axis=0)[::-1]
        else:
            last = np.array([rest, rest])
        return np.vstack([of_values(_core.test_size(level, 1)), np.clip(last, 0, None)])


def discover(
    frame: Any,
    column: Any,
    *,
    epsilon: float,
    delta: float,
    adjacency: str = "replace",
    unit: Any = None,
    max_rows: int | None = None,
    first_by: Any = None,
    seed: int | None = None,
    null: bool = False,
    clean: Cleaning | None = None,
    accountant: Any = None,
    label: str = "categories",
    rng: Any = None,
) -> DiscoveredDomain:
    """Return the categories of a column whose noisy count reaches the threshold: see `Domain.discover`."""
    from simplexdp.accounting.unit import unit_of
    from simplexdp.mechanisms import DiscreteLaplaceMechanism

    check.choice("adjacency", adjacency, ("replace", "add_remove"))
    check.generator("rng", rng)
    check.accountant("accountant", accountant)
    null = check.flag("null", null)
    bound = checked_bound(unit, max_rows, first_by, seed)
    plan = Plan.of(check.positive("epsilon", epsilon), check.open_unit("delta", delta), adjacency, bound)
    source = as_frame(frame)
    if bound is not None:
        source = bounded(source, bound, [column])
    levels, counts, n_records = _counted(source, column, plan.least, clean, null)
    label_of = f"discovered above {plan.threshold}" + ("" if unit is None else f", {plan.max_rows} rows of {unit}")
    curve = plan.privacy(label_of).for_unit(None if unit is None else unit_of(unit))
    with nullcontext() if accountant is None else accountant.spend(curve, label=label):
        noise = DiscreteLaplaceMechanism(scale=plan.scale, sensitivity=1)
        noisy = np.asarray(noise.release(counts, rng=rng)) if len(counts) else counts
        shown = noisy >= plan.threshold
        rest = int(n_records - counts[shown].sum())
        if plan.other_scale:
            rest = int(DiscreteLaplaceMechanism(scale=plan.other_scale, sensitivity=1).release(rest, rng=rng))
        else:
            # What the public number of records leaves beside what was published: no release of its own.
            rest = int(n_records - noisy[shown].sum())
        places = np.flatnonzero(shown)
        # By their noisy counts, and those that tie in an order that tells nothing of the data.
        ordered = sorted(places.tolist(), key=lambda place: (-int(noisy[place]), _sort_key(levels[place])))
        values = [levels[place] for place in ordered]
        return DiscoveredDomain(
            tuple(values) if values else (),
            other=True,
            clean=clean,
            noisy_counts=np.array([*noisy[ordered].tolist(), rest], dtype=np.int64),
            threshold=plan.threshold,
            least=plan.least,
            scale=plan.scale,
            other_scale=plan.other_scale,
            privacy=curve,
            unit=unit,
            max_rows=plan.max_rows,
        )


@dataclass(frozen=True)
class Plan:
    """What noise and threshold meet a budget: public, and decided before the data are looked at."""

    scale: Fraction
    other_scale: Fraction
    threshold: int
    least: int
    max_rows: int
    adjacency: str

    @classmethod
    def of(cls, epsilon: float, delta: float, adjacency: str, bound: Any) -> Plan:
        """Split the budget and find the least threshold."""
        rows = 1 if bound is None else bound.max_rows
        exact = Fraction(epsilon)
        # With one row each, a replaced record leaves the number of records as it is, and that is public.
        free = adjacency == "replace" and rows == 1
        room = exact if free else exact * (1 - OTHER_SHARE)
        ends = 2 if adjacency == "replace" else 1
        # A little more noise than asked, and a little less delta: curves are rounded up.
        slack = 1 + Fraction(1, 2**36)
        scale = (ends * rows / room * slack).limit_denominator(2**40)
        other = Fraction(0) if free else (rows / (exact * OTHER_SHARE) * slack).limit_denominator(2**40)
        ratio = (scale.numerator, scale.denominator)
        fresh = _core.discovery_threshold(adjacency, ratio, rows, delta * (1 - 2.0**-30))
        least = 1 + fresh // LEAST_SHARE
        plan = cls(scale, other, fresh + least - 1, least, rows, adjacency)
        spent = plan.privacy("").epsilon(delta)
        if not spent <= epsilon:
            raise InvalidParameterError(f"epsilon must be at least {spent} at this delta, got {epsilon}")
        return plan

    def privacy(self, label: str) -> PrivacyCurve:
        """Return the curve of categories and counts, and of the rest where it costs something."""
        from simplexdp.accounting import PrivacyCurve, compose

        guarantee = _core.discovery_guarantee(
            self.adjacency, (self.scale.numerator, self.scale.denominator), self.threshold, self.least, self.max_rows
        )
        curve = PrivacyCurve.from_guarantee(guarantee, label)
        if not self.other_scale:
            return curve
        ratio = (self.other_scale.numerator, self.other_scale.denominator)
        rest = _core.NoiseMechanism("laplace", ratio, (self.max_rows, 1)).guarantee(self.adjacency)
        both = compose([curve, PrivacyCurve.from_guarantee(rest, "rest")])
        return PrivacyCurve.from_guarantee(both.guarantee, label)


def _counted(
    frame: Any, column: Any, least: int, clean: Cleaning | None, null: bool
) -> tuple[list[Any], NDArray[np.int64], int]:
    """Return the categories that at least so many records have, their counts, and the number of all records."""
    if is_lazy(frame):
        from simplexdp.frames.lazy import counts_of_column

        # What is cleaned is merged first: every spelling has to be seen.
        levels, counts, n_records = counts_of_column(frame, column, 1 if clean is not None else least)
    else:
        values = column_of(frame, column)
        levels, numbers = (distinct_of_array if isinstance(values, np.ndarray) else distinct_of_series)(values, column)
        counts, n_records = np.bincount(numbers, minlength=len(levels)).astype(np.int64), len(values)
    if clean is None and set(map(type, levels)) <= {str, type(None)} and len(set(levels)) == len(levels):
        # Different texts stay different categories: of a million rare ones nothing more is asked.
        frequent = np.flatnonzero(counts >= least).tolist()
        levels, counts = [levels[place] for place in frequent], counts[frequent]
    merged: dict[Any, int] = {}
    missing = 0
    cleaned = levels if clean is None else [clean(level) for level in levels]
    for level, count in zip(cleaned, counts.tolist(), strict=True):
        if is_null(level):
            missing += count
        else:
            key = plain(level)
            merged[key] = merged.get(key, 0) + count
    found = {level: count for level, count in merged.items() if count >= least}
    if null and missing >= least:
        found[None] = missing
    # Engines find them in orders of their own; a seed gives the same noise to the same category on all of them.
    ordered = sorted(found, key=_sort_key)
    return ordered, np.fromiter((found[level] for level in ordered), dtype=np.int64, count=len(found)), n_records


def _sort_key(level: Any) -> tuple[str, Any]:
    return (type(level).__name__, repr(level))


def checked_cleaning(clean: Any) -> Cleaning | None:
    """Return a cleaning, or one that a mapping of its arguments describes."""
    if clean is None or isinstance(clean, Cleaning):
        return clean
    if isinstance(clean, Mapping):
        return Cleaning(**clean)
    raise InvalidParameterError(f"clean must be a Cleaning, got {type(clean).__name__}")
