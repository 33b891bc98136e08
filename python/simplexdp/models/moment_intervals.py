"""Confidence intervals of the means behind noisy counts and sums, which cover whatever the data."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from simplexdp import _core
from simplexdp.models.moment_release import HALF, ReleasedMoments
from simplexdp.models.released import Law

__all__ = ["mean_intervals", "radius", "ratio_intervals"]

Floats = NDArray[np.float64]


def mean_intervals(released: ReleasedMoments, level: float) -> Floats:
    """Return the ends for each mean between -1 and 1, shape (n_classes, n_columns, 2)."""
    sums, counts = released.sums, released.counts[:, None]
    if released.sum_law.kind == "none":
        mean = sums / np.maximum(counts, 1.0)
        return np.stack([mean, mean], axis=-1)
    return ratio_intervals(sums, counts, released.sum_law, released.count_law, level, 0.5 / HALF)


def ratio_intervals(
    sums: Floats, counts: Floats, sum_law: Law, count_law: Law, level: float, rounding: float
) -> Floats:
    """Return the ends for each quotient of a sum and a count that lies between -1 and 1, a new last axis.

    With noise a on the sum s and b on the count n, the mean m makes s - m n equal to a - m b, whose law is known: the
    interval is the set of m for which that is no larger than its quantile (Fieller). Of Laplace noise the quantiles of
    a and b at half the error each are added. `rounding` is how far the places of values are off.
    """
    alpha = 1 - level
    if sum_law.kind == "gaussian":
        lower, upper = _quadratic(sums, counts, radius(sum_law, alpha), radius(count_law, alpha))
    else:
        lower, upper = _linear(sums, counts, radius(sum_law, alpha / 2), radius(count_law, alpha / 2))
    clipped: Floats = np.clip(np.stack([lower - rounding, upper + rounding], axis=-1), -1.0, 1.0)
    return clipped


def radius(law: Law, alpha: float) -> float:
    """Return what the noise exceeds with a probability of at most `alpha`, rounding to its grid included."""
    kind = "gaussian" if law.kind == "gaussian" else "laplace"
    steps = Fraction(law.size) / Fraction(law.step)
    return (float(_core.NoiseMechanism(kind, steps.as_integer_ratio(), (1, 1)).radius(alpha)) + 0.5) * law.step


def _quadratic(sums: Floats, counts: Floats, of_sum: float, of_count: float) -> tuple[Floats, Floats]:
    """Solve (s - m n)^2 <= a^2 + m^2 b^2."""
    leading = counts**2 - of_count**2
    told = (leading > 0) & (counts > 0)
    safe = np.where(told, leading, 1.0)
    root = np.sqrt(np.maximum((of_count * sums) ** 2 + of_sum**2 * safe, 0.0))
    lower, upper = (sums * counts - root) / safe, (sums * counts + root) / safe
    return np.where(told, lower, -1.0), np.where(told, upper, 1.0)


def _linear(sums: Floats, counts: Floats, of_sum: float, of_count: float) -> tuple[Floats, Floats]:
    """Solve |s - m n| <= a + |m| b."""
    least, most = counts - of_count, counts + of_count
    told = least > 0
    safe = np.where(told, least, 1.0)
    high, low = sums + of_sum, sums - of_sum
    upper = np.where(high >= 0, high / safe, high / most)
    lower = np.where(low <= 0, low / safe, low / most)
    return np.where(told, lower, -1.0), np.where(told, upper, 1.0)
