"""Means and variances of the classes given noisy moments: the posterior on a grid, with classes drawn to their centre.

In the units of the bounds, where these are -1 and 1: a class of n records with mean m and variance v has the sums n m
of u and n (2 (m^2 + v) - 1) of 2 u^2 - 1. What is released of them has a normal law, near enough, whose variance is
that of the noise and of what is not known of n. Classes are alike: m ~ N(M, kappa^2 V), log(v / V) ~ N(0, min(2 kappa,
2)^2), with M and V of all classes together. How alike they are, kappa, is integrated over, by the evidence of all
columns, so that a small budget makes all classes equal instead of making them up.

It is post-processing of a release. M and V come from the same release, so it is no exact posterior; with a budget that
says anything they are known far better than the parts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simplexdp import _core
from simplexdp.models.moment_release import ReleasedMoments

__all__ = ["ClassMoments", "class_moments"]

KAPPAS = np.array([0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0])
ALIKE = 0.1
"""Weight of each kappa before any column is seen: columns of a table are alike."""
ROUNDS = 30
LEAST_VARIANCE = 1e-7
"""A few times the variance of rounding to the grid of places, 2^-22 / 12."""
POINTS = 31
SPREADS = 6.0
"""How many deviations of the likelihood the grid reaches to either side."""
OFFSETS = np.array([0.003, 0.01, 0.03, 0.06, 0.1, 0.2, 0.3, 0.6, 1.0, 2.0, 3.0])
"""Deviations from the common centre that are looked at too, so that a narrow prior is seen on any grid."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ClassMoments:
    """Posterior of the classes, in units of the bounds.

    Attributes
    ----------
    shares, counts : ndarray, shape (n_classes,)
    mean, mean_sd, variance : ndarray, shape (n_classes, n_columns)
        `variance` is the expected one and what is not known of the mean: that of a new record.
    """

    shares: Floats
    counts: Floats
    mean: Floats
    mean_sd: Floats
    variance: Floats


def class_moments(released: ReleasedMoments) -> ClassMoments:
    """Return shares, means and variances of the classes, given what was released of them."""
    if released.sum_law.kind == "none":
        return _exact(released)
    n_classes, n_columns = released.sums.shape
    shares, counts, count_variance = _classes(released)
    noise = released.sum_law.variance
    everybody = counts.sum(), _total_variance(released, count_variance)
    evidence, moments = np.zeros((n_columns, len(KAPPAS))), np.empty((n_columns, n_classes, len(KAPPAS), 3))
    for j in range(n_columns):
        sums, squares = released.sums[:, j], released.squares[:, j]
        centre, unsure, spread = _Class(sums.sum(), squares.sum(), n_classes * noise, *everybody).alone()
        for c in range(n_classes):
            part = _Class(sums[c], squares[c], noise, counts[c], count_variance[c])
            of_class, moments[j, c] = part.near(centre, spread)
            evidence[j] += of_class
            # A mean that is drawn to the centre moves with it: of a normal law, by its variance over that of the prior.
            own = moments[j, c, :, 1] - moments[j, c, :, 0] ** 2
            moments[j, c, :, 1] += unsure * np.minimum(own / (KAPPAS**2 * spread), 1.0) ** 2
    first, second, within = np.einsum("jk,jckm->mcj", _weights(evidence), moments)
    uncertain = np.maximum(second - first**2, 0.0)
    variance = np.maximum(within + uncertain, LEAST_VARIANCE)
    return ClassMoments(shares, counts, first, np.sqrt(uncertain), variance)


def _weights(evidence: Floats) -> Floats:
    """Return the weights of kappa for each column: how often which kappa occurs is learnt from all columns together."""
    likelihood = np.exp(evidence - evidence.max(axis=1, keepdims=True))
    share = np.full(evidence.shape[1], 1 / evidence.shape[1])
    for _ in range(ROUNDS):
        weights: Floats = likelihood * share
        weights /= weights.sum(axis=1, keepdims=True)
        share = ALIKE + weights.sum(axis=0)
        share /= share.sum()
    return weights


def _exact(released: ReleasedMoments) -> ClassMoments:
    counts = np.maximum(released.counts, 1e-3)[:, None]
    mean = released.sums / counts
    variance = np.maximum((released.squares / counts + 1) / 2 - mean**2, LEAST_VARIANCE)
    shares = released.counts / max(released.counts.sum(), 1.0)
    return ClassMoments(shares, released.counts, mean, np.zeros_like(mean), variance)


def _classes(released: ReleasedMoments) -> tuple[Floats, Floats, Floats]:
    """Return shares, expected counts and their variances."""
    deviations = np.full(len(released.counts), np.sqrt(released.count_law.variance))
    if len(deviations) == 1:
        known = released.total
        found = np.array([max(released.counts[0], 1.0) if known is None else max(float(known), 1.0)])
        return np.ones(1), found, deviations**2 if known is None else np.zeros(1)
    observed = _core.Observation.normal(np.ascontiguousarray(released.counts), np.maximum(deviations, 1e-3))
    posterior = _core.SmoothedTables([(observed, len(deviations))], 1, None, 1.0, released.total, None, [], 1)
    shares, counts = posterior.shares(0).reshape(-1, 2), posterior.counts(0).reshape(-1, 2)
    return shares[:, 0] / shares[:, 0].sum(), np.maximum(counts[:, 0], 1e-3), np.maximum(counts[:, 1], 0.0)


def _total_variance(released: ReleasedMoments, of_counts: Floats) -> float:
    return 0.0 if released.total is not None else float(of_counts.sum())


class _Class:
    """What was released of one column of one class."""

    def __init__(self, sum_: float, square: float, noise: float, count: float, count_variance: float) -> None:
        self.sum, self.square, self.noise = sum_, square, noise
        self.count, self.count_variance = max(count, 1e-3), count_variance

    def alone(self) -> tuple[float, float, float]:
        """Return the mean, its variance, and the variance of a record, without a prior of other classes."""
        means, variances = self._grid(0.0, 1.0 / 3.0)
        log_weights = self._log_likelihood(means, variances)
        # Flat in the standard deviation.
        widths = _widths(means)[:, None] * _widths(np.log(variances)) * np.sqrt(variances)
        weights = np.exp(log_weights - log_weights.max()) * widths
        weights /= weights.sum()
        mean = float(weights.sum(axis=1) @ means)
        unsure = max(float(weights.sum(axis=1) @ means**2) - mean**2, 0.0)
        within = float(weights.sum(axis=0) @ variances)
        return mean, unsure, max(within, LEAST_VARIANCE)

    def near(self, centre: float, spread: float) -> tuple[Floats, Floats]:
        """Return log evidence and (E m, E m^2, E v) for each kappa."""
        means, variances = self._grid(centre, spread)
        log_likelihood = self._log_likelihood(means, variances)
        log_widths = np.log(_widths(means))[:, None] + np.log(_widths(np.log(variances)))
        evidence, moments = np.empty(len(KAPPAS)), np.empty((len(KAPPAS), 3))
        for index, kappa in enumerate(KAPPAS):
            deviation, log_deviation = kappa * np.sqrt(spread), min(2 * kappa, 2.0)
            prior = -0.5 * ((means[:, None] - centre) / deviation) ** 2 - np.log(deviation)
            prior = prior - 0.5 * (np.log(variances / spread) / log_deviation) ** 2 - np.log(log_deviation)
            log_weights = log_likelihood + prior + log_widths
            largest = log_weights.max()
            weights = np.exp(log_weights - largest)
            whole = weights.sum()
            evidence[index] = largest + np.log(whole)
            of_mean = weights.sum(axis=1) / whole
            moments[index] = of_mean @ means, of_mean @ means**2, weights.sum(axis=0) @ variances / whole
        return evidence, moments

    def _grid(self, centre: float, spread: float) -> tuple[Floats, Floats]:
        """Return means and variances: where the likelihood is, and where a narrow prior would be."""
        n, deviation = self.count, np.sqrt(self.noise)
        mean = np.clip(self.sum / n, -1.0, 1.0)
        mean_sd = np.hypot(deviation, mean * np.sqrt(self.count_variance)) / n
        edge = 0.999999
        low, high = np.clip([mean - SPREADS * mean_sd, mean + SPREADS * mean_sd], -edge, edge)
        near = centre + np.sqrt(spread) * np.concatenate([-OFFSETS, [0.0], OFFSETS])
        means = _different(np.concatenate([np.linspace(low, high, POINTS), np.clip(near, -edge, edge)]))
        square = np.clip((self.square / n + 1) / 2, 0.0, 1.0)
        variance = np.clip(square - mean**2, LEAST_VARIANCE, 1.0)
        variance_sd = np.hypot(np.hypot(0.5 * deviation / n, 2 * mean * mean_sd), np.sqrt(self.count_variance) / n)
        low, high = np.clip([variance - SPREADS * variance_sd, variance + SPREADS * variance_sd], LEAST_VARIANCE, 1.0)
        around = spread * np.exp(2 * np.concatenate([-OFFSETS, [0.0], OFFSETS]))
        found = np.concatenate([np.geomspace(low, max(high, low * 1.001), POINTS), np.clip(around, LEAST_VARIANCE, 1)])
        return means, _different(found)

    def _log_likelihood(self, means: Floats, variances: Floats) -> Floats:
        m, v = means[:, None], variances[None, :]
        second = 2 * (m**2 + v) - 1
        first_variance = self.noise + m**2 * self.count_variance
        second_variance = self.noise + second**2 * self.count_variance
        value = -0.5 * (
            (self.sum - self.count * m) ** 2 / first_variance
            + np.log(first_variance)
            + (self.square - self.count * second) ** 2 / second_variance
            + np.log(second_variance)
        )
        # A mean m leaves a variance of at most 1 - m^2 between -1 and 1.
        found: Floats = np.where(v <= 1 - m**2 + LEAST_VARIANCE, value, -1e300)
        return found


def _different(values: Floats) -> Floats:
    """Return the points of a grid, increasing, none of them so near to another that it has no width."""
    ordered = np.unique(values)
    found: Floats = ordered[np.concatenate([[True], np.diff(ordered) > 1e-12 * np.abs(ordered[1:])])]
    return found


def _widths(points: Floats) -> Floats:
    """Return the weights of the trapezoidal rule."""
    gaps = np.diff(points)
    widths: Floats = 0.5 * (np.concatenate([gaps, [0.0]]) + np.concatenate([[0.0], gaps]))
    return widths
