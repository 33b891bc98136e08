"""What each epsilon buys: error and attack side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simplexdp.exceptions import InvalidParameterError
from simplexdp.plots.style import PALETTE, axes_or_new, dress, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from simplexdp.planning import Plan

__all__ = ["plan"]

LABELS = {
    "counts": "mean error of a count",
    "finest": "mean error, finest level",
    "coarsest": "mean error, coarsest level",
    "shares": "mean error of a share (%)",
    "largest": "largest error of a share (%)",
    "hellinger": "Hellinger distance",
    "accuracy": "accuracy (%)",
    "pairs": "distance of tables of two columns (%)",
}


def plan(plan: Plan, ax: Axes | None = None) -> Axes:
    """Plot the error of a plan against epsilon, and beside it how often the best attacker is right.

    Parameters
    ----------
    plan : Plan
        What `sdp.plan` returned.
    ax : matplotlib axes, optional
        Where to draw.

    Returns
    -------
    matplotlib axes
        Of the error; the attacker has an axis of its own on the right.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> ax = sdp.plots.plan(sdp.plan("histogram", n=1000, domains=5, epsilons=[0.5, 1.0, 2.0]))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('epsilon', 'mean error of a count')
    """
    from matplotlib.ticker import NullLocator

    from simplexdp.planning import Plan as Kind
    from simplexdp.planning.tasks import METRICS

    if not isinstance(plan, Kind):
        raise InvalidParameterError(f"plan must be what sdp.plan returned, got {type(plan).__name__}")
    metric = METRICS[plan.metric]
    unit = 100.0 if metric.share else 1.0
    epsilon = np.array([step.epsilon for step in plan.steps])
    values = unit * np.array([step.value for step in plan.steps])
    within = unit * np.array([step.within for step in plan.steps])
    with style():
        ax = axes_or_new(ax)
        ax.set_xscale("log")
        if not metric.more_is_better:
            ax.set_yscale("log")
            values, within = (np.where(each > 0, each, np.nan) for each in (values, within))
        ax.plot(epsilon, values, "o-", color=PALETTE[0], label="on average")
        if all(step.reach for step in plan.steps):
            low, high = unit * np.array([step.reach for step in plan.steps], dtype=np.float64).T
            floor = np.nanmin(values) / 2
            ax.fill_between(
                epsilon, np.maximum(low, floor), np.maximum(high, floor), color=PALETTE[0], alpha=0.15, linewidth=0,
                label="even to uneven data",
            )  # fmt: skip
        ends = "at least" if metric.more_is_better else "within" if metric.interval else "at most"
        ax.plot(epsilon, within, "v--", color=PALETTE[0], alpha=0.7, label=f"{ends}, {100 * plan.level:g} %")
        words = "without privacy" if metric.more_is_better else "chance"
        ax.axhline(unit * plan.yardstick, color="#555555", linestyle=":", label=words)
        if plan.target is not None:
            ax.axhline(unit * plan.target, color="#555555", linestyle="-.", label="target")
        right = ax.twinx()
        right.plot(
            epsilon,
            [100 * step.guess for step in plan.steps],
            "s-.",
            color=PALETTE[1],
            label="attacker is right",
        )
        right.set_ylim(50, 100)
        right.set_ylabel("attacker is right, at most (%)", color=PALETTE[1])
        right.tick_params(labelsize=8, colors=PALETTE[1])
        right.grid(False)
        right.spines["top"].set_visible(False)
        enough = plan.enough
        if enough is not None:
            ax.axvspan(enough.epsilon, epsilon.max(), color=PALETTE[2], alpha=0.1, linewidth=0)
        if epsilon.size <= 9:
            ax.set_xticks(epsilon, [f"{each:g}" for each in epsilon])
            ax.xaxis.set_minor_locator(NullLocator())
        ax.set_xlabel("epsilon")
        ax.set_ylabel(LABELS[plan.metric])
        ax.set_title(f"{plan.about}, n = {plan.n:,}")
        bands = [each for each in ax.collections if str(each.get_label()) == "even to uneven data"]
        lines = [*ax.get_lines(), *bands, *right.get_lines()]
        ax.legend(
            lines,
            [str(line.get_label()) for line in lines],
            loc="upper center",
            bbox_to_anchor=(0.5, -0.18),
            ncols=2,
            frameon=False,
        )
        dress(ax)
    return ax
