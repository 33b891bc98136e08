"""The candidates of a Hellinger release with three categories, on the triangle of their shares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from simplexdp import _arguments as check
from simplexdp.exceptions import InvalidParameterError
from simplexdp.plots.style import PALETTE, axes_or_new, panels, shortened, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from simplexdp.mechanisms import HellingerMechanism

__all__ = ["ternary"]

CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])


def ternary(
    mechanism: HellingerMechanism,
    counts: ArrayLike,
    ax: Axes | None = None,
    *,
    labels: Sequence[object] | None = None,
    show_truth: bool = False,
) -> Axes:
    """Plot the probability of every candidate of a release, as a heat map on the triangle of shares.

    The probabilities are those at the counts given: the plot tells them, and is as private as they are. It is for
    counts that may be shown.

    Parameters
    ----------
    mechanism : HellingerMechanism
        With three categories.
    counts : array_like of int, shape (3,)
        Of sum n.
    ax : matplotlib axes, optional
        Where to draw.
    labels : sequence, optional
        Names of the three categories.
    show_truth : bool, default False
        Whether to mark the candidate of the counts themselves.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import simplexdp as sdp
    >>> mechanism = sdp.HellingerMechanism(prior=[1, 1, 1], n=10, epsilon=1.0)
    >>> ax = sdp.plots.ternary(mechanism, [5, 3, 2])
    >>> len(ax.collections[0].get_array())
    66
    """
    from simplexdp.mechanisms import HellingerMechanism as Kind

    if not isinstance(mechanism, Kind):
        raise InvalidParameterError(f"mechanism must be a HellingerMechanism, got {type(mechanism).__name__}")
    if len(mechanism.prior) != 3:
        raise InvalidParameterError(f"mechanism must have three categories, got {len(mechanism.prior)}")
    names = ["category 1", "category 2", "category 3"] if labels is None else [shortened(str(x)) for x in labels]
    if len(names) != 3:
        raise InvalidParameterError(f"labels must have three entries, got {len(names)}")
    check.flag("show_truth", show_truth)
    probabilities = mechanism.probabilities(counts)
    centres = mechanism.candidates() / mechanism.n @ CORNERS
    # Hexagons around the points of the lattice: each touches its six neighbours.
    angles = np.arange(6) * np.pi / 3 + np.pi / 6
    hexagon = np.stack([np.cos(angles), np.sin(angles)], axis=1) / mechanism.n / np.sqrt(3)
    with style():
        from matplotlib.collections import PolyCollection

        if ax is None:
            ax = panels(width=4.6, height=3.5)[1][0, 0]
        ax = axes_or_new(ax)
        tiles = PolyCollection(
            centres[:, None] + hexagon, array=probabilities, cmap="viridis", edgecolors="face", lw=0.2
        )
        tiles.set_clim(0.0, float(probabilities.max()))
        ax.add_collection(tiles)
        if show_truth:
            x, y = np.asarray(counts) / mechanism.n @ CORNERS
            ax.plot(x, y, marker="o", markersize=9, markerfacecolor="none", markeredgecolor="white", markeredgewidth=3)
            ax.plot(
                x,
                y,
                marker="o",
                markersize=9,
                markerfacecolor="none",
                markeredgecolor=PALETTE[1],
                markeredgewidth=1.6,
                linestyle="none",
                label="the data's posterior",
            )
            ax.legend(loc="upper center", frameon=False, bbox_to_anchor=(0.5, -0.02))
        margin = 0.03 + 1 / mechanism.n
        ax.text(-margin / 2, -margin, names[0], ha="center", va="top")
        ax.text(1 + margin / 2, -margin, names[1], ha="center", va="top")
        ax.text(0.5, CORNERS[2, 1] + margin, names[2], ha="center", va="bottom")
        ax.set_xlim(-0.1 - margin, 1.1 + margin)
        ax.set_ylim(-0.08 - margin, CORNERS[2, 1] + 0.08 + margin)
        ax.set_aspect("equal")
        ax.set_axis_off()
        ax.set_title(f"Releases of {mechanism.n} records at epsilon = {mechanism.epsilon:g}")
        bar = ax.figure.colorbar(tiles, ax=ax, shrink=0.7, pad=0.02)
        bar.set_label("probability")
        bar.ax.tick_params(labelsize=8)
    return ax
