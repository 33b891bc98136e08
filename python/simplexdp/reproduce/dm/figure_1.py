"""[DM] Figure 1: the trigamma function between its two reciprocal bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from simplexdp.plots.style import panels
from simplexdp.reproduce.figure import Figure, Settings, Table
from simplexdp.special import trigamma

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Plot


def compute(settings: Settings) -> dict[str, Table]:
    """Evaluate trigamma and the bounds 1/x + 1/(2 x^2) and 1/x + 1/x^2 on a grid."""
    x = np.linspace(0.1, 5.0, 99 if settings.fast else 491)
    value = trigamma(x)
    lower, upper = 1 / x + 1 / (2 * x * x), 1 / x + 1 / (x * x)
    return {"trigamma": Table({"x": x, "trigamma": value, "lower": lower, "upper": upper})}


def draw(tables: Mapping[str, Table]) -> Plot:
    """Plot the function and the band of its bounds on a logarithmic axis."""
    table = tables["trigamma"]
    plot, axes = panels(width=4.6, height=3.2)
    ax = axes[0, 0]
    ax.plot(table["x"], table["trigamma"], label=r"$\psi'(x)$")
    ax.fill_between(table["x"], table["lower"], table["upper"], alpha=0.25, label="between the bounds")
    ax.set(yscale="log", xlabel="x", ylabel=r"$\psi'(x)$", title="Trigamma is positive, convex and decreasing")
    ax.legend()
    return plot


def finding(tables: Mapping[str, Table]) -> str:
    """Check shape and bounds on the grid."""
    table = tables["trigamma"]
    value = np.array(table["trigamma"])
    shape = bool((value > 0).all() and (np.diff(value) < 0).all() and (np.diff(value, 2) > 0).all())
    inside = bool((np.array(table["lower"]) <= value).all() and (value <= np.array(table["upper"])).all())
    return (
        f"The function is {'' if shape else 'not '}positive, decreasing and convex on the grid of {len(table)} points, "
        f"and {'stays' if inside else 'does not stay'} between 1/x + 1/(2x²) and 1/x + 1/x²."
    )


FIGURE = Figure(
    name="dm-figure-1",
    source="[DM] Figure 1",
    title="The trigamma function",
    paper="The second derivative of log-gamma is positive, convex and decreasing, and close to reciprocals.",
    compute=compute,
    draw=draw,
    finding=finding,
)
