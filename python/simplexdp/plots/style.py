"""One look for every plot: sizes, colours that colour-blind readers can tell apart, the same colour for a mechanism."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from simplexdp._catalogue import CATALOGUE
from simplexdp.exceptions import InvalidParameterError, SimplexDpError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "MARKERS", "colour", "panels", "style"]

# Okabe and Ito's palette, in the order in which its colours are easiest to tell apart.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")

COLOURS = {name: entry.colour for name, entry in CATALOGUE.items()} | {"none": "#000000"}
"""The colour of each mechanism wherever it is drawn."""

MARKERS = {name: entry.marker for name, entry in CATALOGUE.items()} | {"none": ""}
"""The marker of each mechanism: a plot has to be readable without colour too."""

SETTINGS = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "figure.constrained_layout.use": True,
    "figure.dpi": 100,
    "font.size": 9,
    "grid.alpha": 0.25,
    "legend.fontsize": 8,
    "legend.framealpha": 0.9,
    "lines.linewidth": 1.5,
    "lines.markersize": 4,
    "savefig.dpi": 150,
    "svg.fonttype": "none",  # text stays text: small files that can be searched
    "svg.hashsalt": "simplexdp",  # the same plot is the same file
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
}


def colour(name: str, index: int = 0) -> str:
    """Return the colour of a mechanism, or the palette's colour at ``index`` for anything else."""
    return COLOURS.get(name, PALETTE[index % len(PALETTE)])


@contextmanager
def style() -> Iterator[None]:
    """Draw in the library's style inside the block; the user's own settings come back after it."""
    import_matplotlib()
    from matplotlib import rc_context

    with rc_context(SETTINGS):
        yield


def panels(rows: int = 1, columns: int = 1, *, width: float = 3.4, height: float = 2.7) -> tuple[Figure, Any]:
    """Return a figure that no window knows of, and its axes as an array of shape (rows, columns)."""
    import_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * columns, height * rows))
    return figure, figure.subplots(rows, columns, squeeze=False)


def axes_or_new(axes: Axes | None) -> Axes:
    """Return the axes given, or those of a new figure."""
    from matplotlib.axes import Axes as Kind

    if axes is not None and not isinstance(axes, Kind):
        raise InvalidParameterError(f"ax must be matplotlib axes or None, got {type(axes).__name__}")
    return panels(width=5.0, height=3.4)[1][0, 0] if axes is None else axes


def import_matplotlib() -> None:
    """Say which extra is missing where matplotlib is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise SimplexDpError("plots need matplotlib: pip install simplexdp[plots]") from error


def dress(ax: Axes, grid: Literal["both", "x", "y"] | None = "both") -> None:
    """Fix what ticks and grids would otherwise take from the settings in force when the plot is saved."""
    ax.tick_params(which="both", labelsize=SETTINGS["xtick.labelsize"])
    ax.set_axisbelow(True)
    ax.grid(False)
    if grid is not None:
        ax.grid(True, axis=grid, alpha=SETTINGS["grid.alpha"])
    for side in ("right", "top"):
        ax.spines[side].set_visible(False)


def line_style(index: int) -> Any:
    """Return a dash pattern: lines can be told apart without colour."""
    return ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (2, 1)), (0, (1, 2)))[index % 8]


def shortened(text: str, most: int = 28) -> str:
    """Return a label that fits beside a plot, as plain text: no line breaks, no mathematical markup."""
    flat = " ".join(text.split()).replace("$", r"\$")
    return flat if len(flat) <= most else flat[: most - 1] + "…"


def falling(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the places of values from the largest to the smallest, equal ones in the order in which they are."""
    order: NDArray[np.int64] = np.argsort(-values, kind="stable")
    return order
