"""Scores of released models over data sets, mechanisms, clipping rules and budgets: means, plots and verdicts."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from simplexdp.plots.style import COLOURS, MARKERS, panels
from simplexdp.reproduce.figure import Settings, Table
from simplexdp.reproduce.rendering import joint_legend
from simplexdp.reproduce.simulated_tables import FLOORS

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Plot

__all__ = ["MECHANISMS", "SMOOTHED", "Verdict", "draw_scores", "epsilons", "means", "seeds"]

SMOOTHED = ("smoothed", 1.0)
"""The model without privacy: one is added to every count, or most test sets would hold an impossible record."""

MECHANISMS = [("none", 0.0), SMOOTHED, ("dirichlet", 0.0), *((m, f) for m in ("gaussian", "laplace") for f in FLOORS)]
"""Every mechanism with its parameter."""

KEY = ("data_set", "mechanism", "floor_or_smoothing", "renyi_epsilon_order_5")
RIVALS = ("gaussian", "laplace")
SHOWN_FLOOR = 1.0


def epsilons(settings: Settings) -> list[float]:
    """Return the Renyi budgets, 1e-3 to 10."""
    return [float(f"{e:.4g}") for e in np.geomspace(1e-3, 10.0, 5 if settings.fast else 13)]


def seeds(settings: Settings, full: int) -> range:
    """Return the seeds of the splits and draws."""
    return range(settings.seed, settings.seed + (2 if settings.fast else full))


def means(results: Iterable[Any], score: str, column: str) -> Table:
    """Return mean and standard error over the splits of one score, a row for each model and budget."""
    groups: dict[tuple[str, str, float, float], list[float]] = defaultdict(list)
    for r in results:
        groups[r.data, r.mechanism, r.count_floor, r.epsilon].append(getattr(r, score))
    rows: list[tuple[Any, ...]] = []
    for key, values in groups.items():
        mean = float(np.mean(values))
        error = float(np.std(values, ddof=1)) / math.sqrt(len(values)) if math.isfinite(mean) else None
        rows.append((*key, len(values), mean, error))
    return Table.from_rows((*KEY, "splits", column, "standard_error"), rows)


class Verdict:
    """Where the Dirichlet model is ahead.

    Attributes
    ----------
    total : int
        Number of pairs of a data set and a budget.
    against : dict of float to int
        For each clipping rule, how often the Dirichlet model beats both rivals under that rule.
    budgets : list of float
    lost : dict of str to list of float
        By data set, the budgets at which some rival with some rule is better.
    """

    def __init__(self, table: Table, column: str, *, larger_is_better: bool) -> None:
        sign = -1.0 if larger_is_better else 1.0
        keys = zip(*(table[name] for name in KEY), strict=True)
        score = {key: sign * value for key, value in zip(keys, table[column], strict=True)}
        points = list(dict.fromkeys((data, epsilon) for data, _, _, epsilon in score))
        self.total = len(points)
        self.budgets = sorted({epsilon for _, epsilon in points})
        self.against = {
            floor: sum(
                all(score[d, "dirichlet", 0.0, e] < score[d, rival, floor, e] for rival in RIVALS) for d, e in points
            )
            for floor in FLOORS
        }
        self.lost: dict[str, list[float]] = {}
        for d, e in points:
            if any(score[d, rival, floor, e] < score[d, "dirichlet", 0.0, e] for rival in RIVALS for floor in FLOORS):
                self.lost.setdefault(d, []).append(e)

    def sentence(self) -> str:
        """Say it in words."""
        low, high = min(FLOORS), max(FLOORS)
        n_lost = sum(map(len, self.lost.values()))
        where = ", ".join(f"{data} ({_range(at, self.budgets)})" for data, at in self.lost.items())
        return (
            f"The Dirichlet model beats both additive mechanisms at {self.against[low]} of {self.total} points when "
            f"their noisy counts are clipped at {low:g}, and at {self.against[high]} when they are clipped at "
            f"{high:g}; under the best of {len(FLOORS)} rules at each point additive noise wins {n_lost}"
            + (f": {where}" if where else "")
        )


def _range(at: Sequence[float], budgets: Sequence[float]) -> str:
    between = [epsilon for epsilon in budgets if min(at) <= epsilon <= max(at)]
    if len(at) > 2 and len(at) == len(between):
        return f"epsilon {min(at):g} to {max(at):g}"
    return "epsilon " + ", ".join(f"{epsilon:g}" for epsilon in at)


def draw_scores(
    table: Table,
    column: str,
    *,
    label: str,
    columns: int,
    scale: str = "linear",
    closeup: float | None = None,
) -> Plot:
    """Draw one panel for each data set: lines with error bars, and the span of the clipping rules as a band.

    With `closeup` a second panel below each shows the budgets from there on at their own scale.
    """
    names = table.distinct("data_set")
    columns = 2 if len(names) == 1 and closeup is not None else min(columns, len(names))
    views = [(name, start) for start in ((None,) if closeup is None else (None, closeup)) for name in names]
    rows = -(-len(views) // columns)
    wide = {1: (5.4, 3.4), 2: (3.6, 2.7), 3: (3.1, 2.4)}.get(columns, (2.75, 2.35))
    plot, axes = panels(rows, columns, width=wide[0], height=wide[1])
    for ax, (name, start) in zip(axes.ravel(), views, strict=False):
        part = table.where(data_set=name)
        if start is not None:
            kept = [epsilon >= start for epsilon in part["renyi_epsilon_order_5"]]
            part = Table({key: [v for v, keep in zip(part[key], kept, strict=True) if keep] for key in part.columns})
        _panel(ax, part, column)
        ax.set(xscale="log", yscale=scale, title=name if start is None else f"{name}, from {start:g} on")
        if scale == "log":
            _readable_ticks(ax)
    for ax in axes.ravel()[len(views) :]:
        ax.axis("off")
    for ax in axes[-1]:
        ax.set_xlabel(r"Rényi $\varepsilon$ (order 5)")
    for ax in axes[:, 0]:
        ax.set_ylabel(label)
    joint_legend(plot, list(axes.ravel()), columns={1: 2, 2: 3, 3: 3}.get(columns, 6), alphabetic=True)
    return plot


def _panel(ax: Any, table: Table, column: str) -> None:
    base = table.where(mechanism="smoothed")[column][0]
    ax.axhline(base, color="black", linestyle="--", linewidth=1.2, label="not private (add-one)")
    for mechanism in ("dirichlet", *RIVALS):
        part = table.where(mechanism=mechanism)
        if mechanism in RIVALS:
            by_rule = np.array([part.where(floor_or_smoothing=floor)[column] for floor in FLOORS])
            budgets = part.where(floor_or_smoothing=FLOORS[0])["renyi_epsilon_order_5"]
            ax.fill_between(
                budgets,
                by_rule.min(axis=0),
                by_rule.max(axis=0),
                color=COLOURS[mechanism],
                alpha=0.16,
                linewidth=0,
                label=f"{mechanism.title()}, clipped at {FLOORS[0]:g} to {FLOORS[-1]:g}",
            )
            part = part.where(floor_or_smoothing=SHOWN_FLOOR)
        ax.errorbar(
            part["renyi_epsilon_order_5"],
            part[column],
            yerr=2 * np.array(part["standard_error"]),
            color=COLOURS[mechanism],
            marker=MARKERS[mechanism],
            markersize=3,
            linewidth=1.3,
            label="Dirichlet" if mechanism == "dirichlet" else f"{mechanism.title()}, clipped at {SHOWN_FLOOR:g}",
        )


def _readable_ticks(ax: Any) -> None:
    """Label a short logarithmic axis with plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = ax.get_ylim()
    decades = math.log10(high / low)
    steps = (1.0,) if decades > 2.5 else (1.0, 3.0) if decades > 1.2 else (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)
    ax.yaxis.set_major_locator(LogLocator(subs=steps))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())
