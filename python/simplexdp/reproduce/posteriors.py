"""Releases of a posterior as [HP], [HA] and [HN] compare them, with ours and the strongest baseline: laws of the error.

The error is exact where the candidates or the noise can be enumerated, and simulated with a standard error elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp.mechanisms.hellinger import HellingerMechanism
from simplexdp.mechanisms.laplace_posterior import LaplacePosteriorMechanism
from simplexdp.mechanisms.noisy_posterior import NoisyPosteriorMechanism
from simplexdp.mechanisms.posterior_errors import ErrorDistribution, Metric, errors_of, simulated_errors
from simplexdp.mechanisms.sum_preserving import SumPreservingLaplaceMechanism
from simplexdp.testing import SeededRng

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from simplexdp.reproduce.figure import Table

__all__ = [
    "CONTENDERS",
    "QUANTILES",
    "Contender",
    "Law",
    "box",
    "boxes",
    "hellinger",
    "law",
    "line",
    "printed_smoothness",
    "smooth_over_l1",
    "summary",
]

Floats = NDArray[np.float64]

ENUMERATED = 2_000_000
"""Candidates up to which the law of a figure is enumerated; it is the same law when drawn, in less time."""

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
"""The quantiles of a box and its whiskers."""

QUANTILES = tuple(f"q{round(100 * level):02d}" for level in LEVELS)
"""The columns that hold them."""


@dataclass(frozen=True)
class Contender:
    """One way to release a posterior, and how it is drawn.

    Attributes
    ----------
    label : str
    colour, marker, line : str
    private : bool
        Whether a guarantee at the epsilon of the figure is proved.
    """

    label: str
    colour: str
    marker: str
    line: str = "-"
    private: bool = True


CONTENDERS = {
    "global": Contender("global sensitivity", "#999999", "x"),
    "local": Contender("local sensitivity (no guarantee)", "#000000", "o", ":", private=False),
    "smooth": Contender("smooth sensitivity (ε claimed)", "#0072B2", "s", private=False),
    "smooth_printed": Contender("smooth, δ = 0.8 (as printed)", "#56B4E9", "s", "--", private=False),
    "smooth_l1": Contender("smooth over l1 distance (as printed)", "#56B4E9", "s", "--", private=False),
    "printed": Contender("[HN] as printed, ε / LS", "#56B4E9", "o", "--", private=False),
    "adaptive": Contender("adaptive, Theorem P (pure)", "#009E73", "P"),
    "certified": Contender("adaptive, certified (pure)", "#00513B", "*"),
    "laplace": Contender("Laplace (2), projected", "#CC79A7", "v"),
    "laplace_truncated": Contender("Laplace (2), truncated in turn", "#CC79A7", "<", "--"),
    "laplace_1": Contender("Laplace (1)", "#882255", "^", "--"),
    "sum_preserving": Contender("sum-preserving Laplace", "#8C510A", "D"),
}
"""In the order of the legends. The papers' smooth version has a guarantee, but a weaker one than they claim."""


@dataclass(frozen=True)
class Law:
    """The law of an error; the standard error of its mean is 0 where it is exact."""

    distribution: ErrorDistribution
    standard_error: float

    @property
    def mean(self) -> float:
        """The expected error."""
        return self.distribution.mean


@lru_cache(maxsize=64)
def hellinger(key: str, prior: tuple[float, ...], n: int, epsilon: float, delta: float) -> HellingerMechanism:
    """Return the exponential mechanism of this key; delta matters to the smooth ones alone, the others are pure."""
    if key == "global":
        return HellingerMechanism(prior, n, epsilon, sensitivity="global", calibration="proved")
    if key == "local":
        return HellingerMechanism(prior, n, epsilon, sensitivity="local", calibration="paper", allow_nonprivate=True)
    if key == "printed":
        # [HN 2.3] omits the maximum over data sets, which leaves the local sensitivity, and [HN 4.4] the 1/2.
        return hellinger("local", prior, n, 2 * epsilon, delta)
    if key in ("smooth", "smooth_printed", "smooth_l1"):
        return HellingerMechanism(prior, n, epsilon, delta, sensitivity="smooth", calibration="paper")
    return HellingerMechanism(prior, n, epsilon, calibration="proved" if key == "adaptive" else "certified")


def law(
    key: str,
    prior: Sequence[float],
    counts: Sequence[int],
    epsilon: float,
    delta: float,
    *,
    metric: Metric = "hellinger",
    samples: int = 10_000,
    seed: int = 0,
) -> Law:
    """Return the law of the error of a contender at the counts."""
    x, n = np.asarray(counts, dtype=np.int64), int(sum(counts))
    rng = SeededRng(seed)
    if key in ("laplace", "laplace_1"):
        if len(x) == 2:
            return Law(_laplace_of_two(prior, x, (2.0 if key == "laplace" else 1.0) / epsilon, metric), 0.0)
        noisy = LaplacePosteriorMechanism(prior, n, epsilon)
        return _with_error(noisy.error_distribution(x, metric, samples=samples, rng=rng), samples)
    if key == "laplace_truncated":
        plain = LaplacePosteriorMechanism(prior, n, epsilon, consistent=False).simulate(x, samples, rng)
        truncated = _truncated_in_turn(plain, n)
        return _with_error(simulated_errors(np.asarray(prior, dtype=float), x, truncated, metric), samples)
    if key == "sum_preserving":
        noise = SumPreservingLaplaceMechanism.for_counts(epsilon, dimension=len(x))
        found = NoisyPosteriorMechanism(prior, n, noise).error_distribution(x, metric, samples=samples, rng=rng)
        return _with_error(found, samples)
    mechanism = hellinger(key, tuple(map(float, prior)), n, epsilon, delta)
    if key == "smooth_printed":
        inverse = mechanism.family.inverse_sensitivity(x, "smooth", printed_smoothness(n, epsilon))
        return Law(_law_at(mechanism, x, epsilon * inverse, metric), 0.0)
    if key == "smooth_l1":
        return Law(_law_at(mechanism, x, epsilon / (2 * smooth_over_l1(mechanism, x)), metric), 0.0)
    if math.comb(n + len(x) - 1, n) <= ENUMERATED:
        return Law(mechanism.error_distribution(x, metric), 0.0)
    drawn = mechanism.simulate(x, samples, rng)
    return _with_error(simulated_errors(mechanism.prior, x, drawn, metric), samples)


def smooth_over_l1(mechanism: HellingerMechanism, counts: ArrayLike) -> float:
    """Return the smooth sensitivity with the l1 distance of histograms in it, as [HA] prints; no proof covers it."""
    # The l1 distance is twice the number of records, so twice the smoothness does it.
    smoothness = 2 * (mechanism.smoothness or 0.0)
    return 0.5 / mechanism.family.inverse_sensitivity(np.asarray(counts, dtype=np.int64), "smooth", smoothness)


def printed_smoothness(n: int, epsilon: float, delta: float = 0.8) -> float:
    """Return the smoothness in the captions of [HN] Figures 3 and 4: n stands where the candidates are counted."""
    return math.log1p(-epsilon / (2 * math.log(delta / (2 * n))))


def summary(found: Law) -> list[float]:
    """Return mean, standard error of the mean, and the quantiles of `LEVELS`."""
    return [found.mean, found.standard_error, *(found.distribution.quantile(level) for level in LEVELS)]


def boxes(ax: Axes, table: Table) -> None:
    """Draw boxes from quartile to quartile, whiskers from 5 % to 95 %, and a circle at the mean.

    The table has the columns mechanism, mean, and those of `QUANTILES`.
    """
    names = table["mechanism"]
    for row in range(len(names)):
        box(ax, table, row, -row, width=0.6, orientation="horizontal")
    ax.set_yticks([-row for row in range(len(names))], [CONTENDERS[name].label for name in names])
    ax.set_ylim(-len(names) + 0.4, 0.6)
    ax.grid(axis="y", visible=False)


def box(ax: Axes, table: Table, row: int, position: float, **options: Any) -> None:
    """Draw one row of such a table, with a circle at the mean; the options are ``width`` and ``orientation``."""
    look = CONTENDERS[table["mechanism"][row]]
    names = ("whislo", "q1", "med", "q3", "whishi")
    statistics = {name: table[column][row] for name, column in zip(names, QUANTILES, strict=True)}
    horizontal = options["orientation"] == "horizontal"
    ax.bxp(
        [statistics],
        positions=[position],
        widths=options["width"],
        orientation=options["orientation"],
        showfliers=False,
        manage_ticks=False,
        patch_artist=True,
        boxprops={"facecolor": look.colour, "alpha": 0.3, "edgecolor": look.colour, "linestyle": look.line},
        medianprops={"color": look.colour, "linewidth": 1.8},
        whiskerprops={"color": look.colour},
        capprops={"color": look.colour},
    )
    mean = (table["mean"][row], position) if horizontal else (position, table["mean"][row])
    ax.plot(*mean, "o", color=look.colour, mfc="white", markersize=4 if horizontal else 3)


def line(ax: Axes, key: str, x: Sequence[float], y: Sequence[float], **options: Any) -> None:
    """Draw the line of a contender; markers are hollow where nothing is proved at this epsilon."""
    look = CONTENDERS[key]
    hollow = {} if look.private else {"mfc": "white"}
    given = {"label": look.label, "marker": look.marker, "linestyle": look.line, **hollow, **options}
    ax.plot(x, y, color=look.colour, **given)


def _with_error(found: ErrorDistribution, samples: int) -> Law:
    # Enumerated noise leaves out tails of 1e-12; the band of a simulation is far wider.
    if found.band <= 1e-9:
        return Law(found, 0.0)
    variance = float(found.probabilities @ (found.values - found.mean) ** 2)
    return Law(found, math.sqrt(variance / samples))


def _laplace_of_two(prior: Sequence[float], x: NDArray[np.int64], scale: float, metric: Metric) -> ErrorDistribution:
    """Integrate over one Laplace noise on the first count, clipped to [0, n]; the second is what is left of n."""
    nodes, weights = np.polynomial.legendre.leggauss(8)
    released: list[Floats] = []
    masses: list[Floats] = []
    for sign, room in ((-1, float(x[0])), (1, float(x[1]))):
        reach = min(room / scale, 40.0)
        # Density exp(-t)/2 on either side: panels of half a scale or less, and what is clipped as an atom.
        edges = np.linspace(0.0, reach, max(2, math.ceil(2 * reach) + 1))
        half = np.diff(edges)[:, None] / 2
        t = edges[:-1, None] + half * (nodes + 1)
        released += [x[0] + sign * scale * t.ravel(), np.array([x[0] + sign * scale * reach])]
        masses += [(half * weights * np.exp(-t) / 2).ravel(), np.array([math.exp(-reach) / 2])]
    first = np.concatenate(released)
    errors = errors_of(np.asarray(prior, dtype=float), x, np.stack([first, x.sum() - first], axis=1), metric)
    order, mass = np.argsort(errors), np.concatenate(masses)
    return ErrorDistribution(errors[order], mass[order] / mass.sum(), 0.0)


def _truncated_in_turn(noisy: Floats, n: int) -> Floats:
    """Cut each count to [0, what is left of n], in order; the last gets the rest: one reading of [HA 5]."""
    kept, left = np.empty_like(noisy), np.full(len(noisy), float(n))
    for column in range(noisy.shape[1] - 1):
        kept[:, column] = np.clip(noisy[:, column], 0.0, left)
        left -= kept[:, column]
    kept[:, -1] = left
    return kept


def _law_at(mechanism: HellingerMechanism, x: NDArray[np.int64], exponent: float, metric: Metric) -> ErrorDistribution:
    """Return the law with an exponent that the mechanism itself would not take."""
    return ErrorDistribution(*mechanism.family.error_law(x, exponent, metric), 0.0)
