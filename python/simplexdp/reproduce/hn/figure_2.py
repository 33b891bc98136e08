"""[HN] Figure 2: error of every mechanism under the prior beta(7, 4), 500 and 300 records.

Epsilon is 0.5 as in the caption; it prints no delta, 1e-8 is taken. The rest is as in `accuracy`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from simplexdp.plots.style import panels
from simplexdp.reproduce.figure import Figure, Settings, Table
from simplexdp.reproduce.hn.accuracy import DELTA, costs, errors, lookup
from simplexdp.reproduce.posteriors import boxes

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Plot

PRIOR, EPSILON, SIZES = (7.0, 4.0), 0.5, (500, 300)
KEYS = ("global", "local", "smooth", "adaptive", "certified", "laplace", "laplace_1", "sum_preserving")


def compute(settings: Settings) -> dict[str, Table]:
    """Compute the exact laws; nothing is simulated here."""
    table = errors(PRIOR, [(n, "hellinger") for n in SIZES], KEYS, EPSILON, settings)
    return {"errors": table, "costs": costs(PRIOR, SIZES, EPSILON)}


def draw(tables: Mapping[str, Table]) -> Plot:
    """Draw one panel for each size."""
    plot, axes = panels(1, 2, width=4.6, height=3.2)
    for ax, n, part in zip(axes[0], SIZES, "ab", strict=True):
        boxes(ax, tables["errors"].where(n=n))
        ax.set(xlabel="Hellinger error", title=f"({part}) n = {n}, ε = {EPSILON}", xlim=(-0.02, 1.02))
    axes[0, 1].set_yticklabels([])
    return plot


def finding(tables: Mapping[str, Table]) -> str:
    """Compare the four of the paper and ours at both sizes, and what they cost."""
    means = [lookup(tables["errors"], "mean", n=n) for n in SIZES]
    exact = [lookup(tables["costs"], "exact_epsilon", n=n) for n in SIZES]
    first, second = (
        f"{m['global']:.3f} (global), {m['local']:.3f} (local), {m['smooth']:.3f} (smooth) and {m['laplace']:.3f} "
        "(Laplace)"
        for m in means
    )
    best = means[0]
    local = [e["local"] for e in exact]
    return (
        f"Mean errors at n = {SIZES[0]}: {first}; at n = {SIZES[1]}: {second}. At balanced data of this size the "
        "smooth bound is the local sensitivity, and it saves most of the error that the global one costs; Laplace "
        f"noise still has less. What epsilon = {EPSILON} comes to exactly, at delta = {DELTA:g} and n = {SIZES[0]}: "
        f"global {exact[0]['global']:.3f}, smooth {exact[0]['smooth']:.3f}, local {exact[0]['local']:.3f}; the local "
        f"version has no guarantee beforehand, and {'stays below' if max(local) <= EPSILON else 'exceeds'} its "
        f"nominal epsilon here. Certified at {EPSILON} and pure, the error is {best['certified']:.3f}; Laplace noise "
        f"of sensitivity 1 has {best['laplace_1']:.3f} and sum-preserving noise {best['sum_preserving']:.3f}."
    )


FIGURE = Figure(
    name="hn-figure-2",
    source="[HN] Figure 2",
    title="Error under the prior beta(7, 4), 500 and 300 records",
    paper="Four mechanisms side by side: the exponential mechanism comes closer to the posterior with local or smooth "
    "than with global sensitivity.",
    compute=compute,
    draw=draw,
    finding=finding,
)
