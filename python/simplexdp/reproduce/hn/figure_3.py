"""[HN] Figure 3: error of every mechanism under the prior Dirichlet(7, 4, 5), 100 and 120 records.

Epsilon is 0.8. The captions print a delta of 0.8 as well, which is next to no guarantee, and bounds on the smoothness
that follow from it with n in the place of the number of candidates. That version is drawn as printed, beside the same
with delta = 1e-8. The rest is as in `accuracy`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from simplexdp import divergence
from simplexdp.plots.style import panels
from simplexdp.reproduce.figure import Figure, Settings, Table
from simplexdp.reproduce.hn.accuracy import DELTA, costs, errors, lookup
from simplexdp.reproduce.posteriors import boxes, hellinger, printed_smoothness

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Plot

PRIOR, EPSILON, SIZES = (7.0, 4.0, 5.0), 0.8, (100, 120)
KEYS = ("global", "local", "smooth", "smooth_printed", "adaptive", "certified", "laplace", "sum_preserving")
PRINTED_GLOBAL = 0.239992747797
PRINTED_SMOOTHNESS = {100: 0.0699407108115, 120: 0.0677791100173}


def compute(settings: Settings) -> dict[str, Table]:
    """Compute the laws, exact but for the Laplace noise, and what the captions print."""
    sizes = tuple(n // 3 for n in SIZES) if settings.fast else SIZES
    table = errors(PRIOR, [(n, "hellinger") for n in sizes], KEYS, EPSILON, settings)
    # A record that leaves an empty category: no data set has such a neighbour.
    impossible = float(divergence.hellinger_dirichlet([7.0, 4.0, 5.0], [8.0, 3.0, 5.0]))
    right = hellinger("global", PRIOR, 100, EPSILON, DELTA).sensitivity_at([0, 0, 100])
    printed = [
        ("global sensitivity", PRINTED_GLOBAL, right),
        ("distance of (7, 4, 5) from (8, 3, 5)", PRINTED_GLOBAL, impossible),
    ]
    printed += [
        (f"smoothness at n = {n} with n for the candidates", value, printed_smoothness(n, EPSILON))
        for n, value in PRINTED_SMOOTHNESS.items()
    ]
    return {
        "errors": table,
        "costs": costs(PRIOR, sizes, EPSILON),
        "captions": Table.from_rows(("quantity", "printed", "computed"), printed),
    }


def draw(tables: Mapping[str, Table]) -> Plot:
    """Draw one panel for each size."""
    plot, axes = panels(1, 2, width=4.6, height=3.2)
    table = tables["errors"]
    for ax, n, part in zip(axes[0], table.distinct("n"), "ab", strict=True):
        boxes(ax, table.where(n=n))
        ax.set(xlabel="Hellinger error", title=f"({part}) n = {n}, ε = {EPSILON}", xlim=(-0.02, 1.02))
    axes[0, 1].set_yticklabels([])
    return plot


def finding(tables: Mapping[str, Table]) -> str:
    """Compare the mechanisms, and trace the figures of the captions."""
    table, captions = tables["errors"], tables["captions"]
    n = table.distinct("n")[0]
    mean = lookup(table, "mean", n=n)
    exact = lookup(tables["costs"], "exact_epsilon", n=n)
    printed, computed = captions["printed"], captions["computed"]
    gap = max(abs(a / b - 1) for a, b in list(zip(printed, computed, strict=True))[2:])
    above = exact["local"] > EPSILON
    return (
        f"Mean errors at n = {n}: global {mean['global']:.3f}, local {mean['local']:.3f}, smooth {mean['smooth']:.3f} "
        f"at delta = {DELTA:g} and {mean['smooth_printed']:.3f} as printed, certified {mean['certified']:.3f}, "
        f"Laplace {mean['laplace']:.3f}, sum-preserving {mean['sum_preserving']:.3f}. By exact certification the "
        f"local version costs {exact['local']:.3f}{', more than' if above else ' at this size, within'} its nominal "
        f"{EPSILON}. The printed smoothness follows (to {gap:.0e}) from delta = 0.8 with n in place of the number of "
        f"candidates, so it promises little; the printed global sensitivity {printed[0]:.4f} is the distance of DL(7, "
        f"4, 5) from DL(8, 3, 5) ({computed[1]:.4f}), two posteriors that no neighbouring data sets have: the right "
        f"value is {computed[0]:.4f}."
    )


FIGURE = Figure(
    name="hn-figure-3",
    source="[HN] Figure 3",
    title="Error under the prior Dirichlet(7, 4, 5), 100 and 120 records",
    paper="With three categories, as with two, local and smooth sensitivity do better than global sensitivity.",
    compute=compute,
    draw=draw,
    finding=finding,
)
