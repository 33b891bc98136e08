"""Released shares with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp import _arguments as check
from simplexdp.exceptions import InvalidParameterError
from simplexdp.plots.style import PALETTE, axes_or_new, dress, falling, panels, shortened, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["release"]

MOST_LABELLED = 40
MOST_BARS = 60
"""Of more the largest `MOST_LABELLED` are drawn, and one bar for all others."""


def release(
    values: ArrayLike,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    labels: Sequence[object] | None = None,
    ax: Axes | None = None,
    *,
    level: float | None = None,
    sort: bool = False,
) -> Axes:
    """Plot released values as bars, with intervals of the true ones.

    Everything that is drawn was released or follows from it: see `DirichletMechanism.interval`. An interval need not
    hold the released value, which the prior may have pulled away from the true one.

    Parameters
    ----------
    values : array_like, shape (d,)
        What was released.
    lower, upper : array_like, shape (d,), optional
        Ends of the intervals; both or none.
    labels : sequence, optional
        Names of the categories. Of more than 60 the largest 40 are drawn, and one bar for all others.
    ax : matplotlib axes, optional
        Where to draw.
    level : float, optional
        Level of the intervals, for the legend.
    sort : bool, default False
        Whether the largest bars come first. Then every bar has its label: of more than 41 the largest 40 are drawn,
        and one bar for all others.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import simplexdp as sdp
    >>> mechanism = sdp.DirichletMechanism(scale=0.5, prior=2.0, dimension=3)
    >>> y = mechanism.release([50, 30, 20])
    >>> ax = sdp.plots.release(y, *mechanism.interval(y, 100).T, labels=["a", "b", "c"], level=0.95)
    >>> len(ax.patches), [text.get_text() for text in ax.get_yticklabels()]
    (3, ['a', 'b', 'c'])
    """
    heights = check.numbers("values", values)
    if heights.ndim != 1 or heights.size == 0:
        raise InvalidParameterError(f"values must have shape (d,), got shape {heights.shape}")
    if (lower is None) != (upper is None):
        raise InvalidParameterError("lower and upper must be given together, or neither of them")
    ends = [] if lower is None or upper is None else [check.numbers("lower", lower), check.numbers("upper", upper)]
    names = [str(i) for i in range(heights.size)] if labels is None else [str(label) for label in labels]
    if any(end.shape != heights.shape for end in ends) or len(names) != heights.size:
        raise InvalidParameterError(f"lower, upper and labels must have {heights.size} entries, one for each value")
    if heights.size > (MOST_LABELLED + 1 if check.flag("sort", sort) else MOST_BARS):
        heights, ends, names = _largest(heights, ends, names)
    elif sort:
        order = falling(heights)
        heights, ends, names = heights[order], [end[order] for end in ends], [names[i] for i in order]
    at = np.arange(heights.size)
    many = heights.size > MOST_LABELLED + 1
    with style():
        from matplotlib.ticker import MaxNLocator

        if ax is None:
            size = (6.4, 3.0) if many else (5.0, 0.9 + 0.26 * heights.size + 0.25 * bool(ends))
            ax = panels(width=size[0], height=size[1])[1][0, 0]
        ax = axes_or_new(ax)
        bars = ax.bar if many else ax.barh
        bars(at, heights, 0.8 if heights.size < 200 else 1.0, color=PALETTE[5], label="released")
        if ends:
            name = "interval" if level is None else f"{100 * check.open_unit('level', level):g} % interval"
            lines = ax.vlines if many else ax.hlines
            width = 1.6 if heights.size <= 100 else 0.7
            lines(at, *ends, color="#222222", linewidth=width, label=name, zorder=3)
            if not many:
                for end in ends:
                    ax.plot(end, at, "|", color="#222222", markersize=6, markeredgewidth=1.2, zorder=3)
        shares = float(np.nanmax(heights)) <= 1.0
        of_values = ax.yaxis if many else ax.xaxis
        of_values.set_major_formatter(_ticks(shares))
        of_values.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
        ax.set_title("Released shares" if shares else "Released values", pad=22 if ends else 6)
        if many:
            ax.set_xlim(-0.8, heights.size - 0.2)
            ax.set_xlabel(f"category (1 to {heights.size})" if labels is None else f"{heights.size} categories")
            ax.set_ylabel("share" if shares else "value")
            ax.set_xticks([])
        else:
            ax.set_yticks(at, [shortened(name) for name in names])
            ax.set_ylim(heights.size - 0.4, -0.6)
            ax.set_xlabel("share" if shares else "value")
        if ends:
            ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False, borderpad=0.2)
        dress(ax, grid="y" if many else "x")
    return ax


def _largest(
    heights: NDArray[np.float64], ends: list[NDArray[np.float64]], names: list[str]
) -> tuple[NDArray[np.float64], list[NDArray[np.float64]], list[str]]:
    """Return the largest values in falling order, and the sum of the others, which has no interval."""
    order = falling(heights)
    top, rest = order[:MOST_LABELLED], order[MOST_LABELLED:]
    ends = [np.append(end[top], np.nan) for end in ends]
    return np.append(heights[top], heights[rest].sum()), ends, [*(names[i] for i in top), f"{rest.size:,} others"]


def _ticks(shares: bool) -> Any:
    """Return how the axis of the values is labelled: shares in per cent."""
    from matplotlib.ticker import FuncFormatter, ScalarFormatter

    return FuncFormatter(lambda share, _: f"{100 * share:.3g} %") if shares else ScalarFormatter()
