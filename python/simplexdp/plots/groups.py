"""Released values of several groups: small multiples on one scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from simplexdp import _arguments as check
from simplexdp.exceptions import InvalidParameterError
from simplexdp.plots.style import PALETTE, dress, falling, panels, shortened, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["fits_panels", "groups"]

MOST_PANELS = 30
MOST_LABELLED = 40
ACROSS = 3


def fits_panels(groups: int, values: int) -> bool:
    """Whether a table has a panel for each group."""
    return 1 <= groups <= MOST_PANELS and 1 <= values <= MOST_LABELLED


def groups(
    values: ArrayLike,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    *,
    names: Sequence[object],
    labels: Sequence[object],
    level: float | None = None,
    what: str = "count",
    shown: str = "released",
    sort: bool = False,
) -> Axes:
    """Plot one small histogram for each group, all on one scale, with intervals of the true values.

    Parameters
    ----------
    values : array_like, shape (groups, d)
        What was released, or follows from it.
    lower, upper : array_like, shape (groups, d), optional
        Ends of the intervals; both or none.
    names : sequence
        Of the groups, at most 30.
    labels : sequence
        Of the values, at most 40.
    level : float, optional
        Level of the intervals, for the legend.
    what : str
        What the values are, below the axes.
    shown : str
        Where they come from, for the legend: "expected" for posterior means.
    sort : bool, default False
        Whether values and groups come in falling order of their sums; all histograms keep one order of the values.

    Returns
    -------
    matplotlib axes
        The first of them; ``.figure`` holds all.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> ax = sdp.plots.groups([[5, 2], [1, 3]], names=["north", "south"], labels=["yes", "no"])
    >>> len(ax.figure.axes)
    2
    """
    table = check.numbers("values", values)
    shape = (len(names), len(labels))
    if table.shape != shape or not fits_panels(*shape):
        raise InvalidParameterError(
            f"values must have shape (groups, d) as names and labels say, at most ({MOST_PANELS}, {MOST_LABELLED}), "
            f"got shape {table.shape}"
        )
    if (lower is None) != (upper is None):
        raise InvalidParameterError("lower and upper must be given together, or neither of them")
    ends = [] if lower is None or upper is None else [check.numbers("lower", lower), check.numbers("upper", upper)]
    if any(end.shape != shape for end in ends):
        raise InvalidParameterError(f"lower and upper must have the shape of values, {shape}")
    if check.flag("sort", sort):
        rows, columns = falling(table.sum(axis=1)), falling(table.sum(axis=0))
        table, ends = table[np.ix_(rows, columns)], [end[np.ix_(rows, columns)] for end in ends]
        names, labels = [names[i] for i in rows], [labels[i] for i in columns]
    across = min(ACROSS, shape[0])
    down = math.ceil(shape[0] / across)
    at = np.arange(shape[1])
    most = max(float(np.max(each)) for each in (table, *ends))
    least = min(0.0, *(float(np.min(each)) for each in (table, *ends)))
    with style():
        figure, axes = panels(down, across, width=2.3 + 1.4 / across, height=0.9 + 0.2 * shape[1])
        for place, ax in enumerate(axes.ravel()):
            if place >= shape[0]:
                ax.remove()
                continue
            ax.barh(at, table[place], 0.8, color=PALETTE[5], label=shown)
            if ends:
                name = "interval" if level is None else f"{100 * check.open_unit('level', level):g} % interval"
                ax.hlines(at, ends[0][place], ends[1][place], color="#222222", linewidth=1.4, label=name, zorder=3)
            ax.set_title(shortened(str(names[place])))
            ax.set_xlim(least, most * 1.04 if most > 0 else 1.0)
            first = place % across == 0
            ax.set_yticks(at, [shortened(str(label), 20) for label in labels] if first else [""] * shape[1])
            ax.invert_yaxis()
            if place + across >= shape[0]:
                ax.set_xlabel(what)
            dress(ax, grid="x")
        if ends:
            handles, texts = axes[0, 0].get_legend_handles_labels()
            figure.legend(handles, texts, loc="outside upper center", ncols=2, frameon=False)
    first_axes: Axes = axes[0, 0]
    return first_axes
