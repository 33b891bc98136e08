"""[HA] Figure 1(b): data of two categories, 10 % ones, from 14000 to 20000 records.

Settings and methods as in part (a). Certification is left out: it takes a minute at n = 10^4.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from simplexdp.plots.style import panels
from simplexdp.reproduce.figure import Figure, Settings, Table
from simplexdp.reproduce.ha.two_categories import KEYS, errors, relative
from simplexdp.reproduce.posteriors import line

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Plot


def compute(settings: Settings) -> dict[str, Table]:
    """Compute the exact mean errors."""
    return {"sizes": errors(range(14_000, 20_001, 2000 if settings.fast else 500), KEYS, settings, (0.0, 1.0))}


def draw(tables: Mapping[str, Table]) -> Plot:
    """Draw the errors, and their ratio to the Laplace baseline without the global version."""
    plot, axes = panels(1, 2, width=4.2, height=3.6)
    left, right = axes[0]
    table = tables["sizes"]
    for key in table.distinct("mechanism"):
        rows = table.where(mechanism=key)
        line(left, key, rows["n"], rows["mean_error"])
        if key != "global":
            line(right, key, *relative(table, key))
    left.set(yscale="log", xlabel="records n, 10 % ones", ylabel="mean Hellinger error", title="Mean error")
    right.set(
        xlabel="records n, 10 % ones",
        ylabel="error relative to Laplace (2)",
        title="Beside the papers' baseline",
        ylim=(0, 1.3),
    )
    plot.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return plot


def finding(tables: Mapping[str, Table]) -> str:
    """Compare at both ends, and explain the closeness."""
    table = tables["sizes"]
    ends = min(table["n"]), max(table["n"])
    mean = {key: [table.where(mechanism=key, n=n)["mean_error"][0] for n in ends] for key in KEYS}
    saved = [100 * (1 - a / b) for a, b in zip(mean["smooth"], mean["laplace"], strict=True)]
    gap = max(abs(a / b - 1) for a, b in zip(mean["smooth"], mean["local"], strict=True))
    return (
        f"The smooth version is indeed better than Laplace noise of sensitivity 2, by {saved[0]:.1f} % at n = "
        f"{ends[0]:,} ({mean['smooth'][0]:.4f} against {mean['laplace'][0]:.4f}) and {saved[1]:.1f} % at n = "
        f"{ends[1]:,}: here the smooth bound is the local sensitivity (errors differ by {gap:.1g}), H grows linearly "
        "in the counts, and the mechanism is almost discrete Laplace noise of scale 2/epsilon itself. But one count "
        f"determines the other, so sensitivity 1 is enough: that has {mean['laplace_1'][1]:.4f} at n = {ends[1]:,} "
        f"and sum-preserving noise {mean['sum_preserving'][1]:.4f}, "
        f"{100 * mean['sum_preserving'][1] / mean['smooth'][1]:.0f} % of the smooth version's. Theorem P, which is "
        f"pure, has {mean['adaptive'][1]:.4f}."
    )


FIGURE = Figure(
    name="ha-figure-1b",
    source="[HA] Figure 1(b)",
    title="Mean error over 14000 to 20000 records of two categories",
    paper="With data of this size the exponential mechanism with smooth sensitivity has less error than Laplace noise.",
    compute=compute,
    draw=draw,
    finding=finding,
)
