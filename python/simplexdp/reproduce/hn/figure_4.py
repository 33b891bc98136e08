"""[HN] Figure 4: error in Hellinger distance and in l1 distance, Dirichlet(7, 4, 5), 150 records.

Settings as in Figure 3, whose caption for n = 120 this one repeats. The l1 error is that of the released counts after
the noise was made consistent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from simplexdp.mechanisms.posterior_errors import Metric
from simplexdp.plots.style import panels
from simplexdp.reproduce.figure import Figure, Settings, Table
from simplexdp.reproduce.hn.accuracy import costs, errors, lookup
from simplexdp.reproduce.hn.figure_3 import EPSILON, KEYS, PRIOR
from simplexdp.reproduce.posteriors import CONTENDERS, boxes

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Plot

SIZE = 150
METRICS: dict[Metric, str] = {"hellinger": "Hellinger error", "l1": "l1 error of the counts"}


def compute(settings: Settings) -> dict[str, Table]:
    """Compute the laws in both distances."""
    n = SIZE // 3 if settings.fast else SIZE
    table = errors(PRIOR, [(n, metric) for metric in METRICS], KEYS, EPSILON, settings)
    return {"errors": table, "costs": costs(PRIOR, [n], EPSILON)}


def draw(tables: Mapping[str, Table]) -> Plot:
    """Draw one panel for each distance."""
    plot, axes = panels(1, 2, width=4.6, height=3.2)
    table = tables["errors"]
    for ax, (metric, label), part in zip(axes[0], METRICS.items(), "ab", strict=True):
        boxes(ax, table.where(metric=metric))
        ax.set(xlabel=label, title=f"({part}) n = {table['n'][0]}, ε = {EPSILON}")
    axes[0, 1].set_yticklabels([])
    return plot


def finding(tables: Mapping[str, Table]) -> str:
    """Say whether the order of the mechanisms depends on the distance."""
    table = tables["errors"]
    means = {metric: lookup(table, "mean", metric=metric) for metric in METRICS}
    orders = {metric: sorted(mean, key=lambda key: mean[key]) for metric, mean in means.items()}
    same = orders["hellinger"] == orders["l1"]
    hellinger, l1 = means["hellinger"], means["l1"]
    best = CONTENDERS[orders["l1"][0]].label
    exact = tables["costs"].where(mechanism="local")["exact_epsilon"][0]
    return (
        f"The order of the mechanisms is {'the same' if same else 'not the same'} in both distances at n = "
        f"{table['n'][0]}, and {best} leads: in l1 it is {l1['sum_preserving']:.1f} counts off on average, Laplace "
        f"noise {l1['laplace']:.1f}, the certified mechanism {l1['certified']:.1f}, local {l1['local']:.1f}, smooth "
        f"{l1['smooth']:.1f} and global {l1['global']:.1f} (in Hellinger distance {hellinger['sum_preserving']:.3f}, "
        f"{hellinger['laplace']:.3f}, {hellinger['certified']:.3f}, {hellinger['local']:.3f}, "
        f"{hellinger['smooth']:.3f} and {hellinger['global']:.3f}). To score by the Hellinger distance pays off in "
        f"neither. The local version costs {exact:.3f} by exact certification, "
        f"{'above' if exact > EPSILON else 'within'} its nominal {EPSILON}."
    )


FIGURE = Figure(
    name="hn-figure-4",
    source="[HN] Figure 4",
    title="Error in Hellinger and in l1 distance, 150 records",
    paper="The same four mechanisms, measured in l1 distance for comparison.",
    compute=compute,
    draw=draw,
    finding=finding,
)
