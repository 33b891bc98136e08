"""Released values of many groups: one map, a row for each group and a column for each value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from simplexdp import _arguments as check
from simplexdp.exceptions import InvalidParameterError
from simplexdp.plots.style import dress, falling, panels, shortened, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["fits_map", "heat_map"]

MOST_ROWS = 200
MOST_COLUMNS = 60
MOST_WRITTEN = 300
"""Cells: in so many there is room for their values."""


def fits_map(groups: int, values: int) -> bool:
    """Whether a table has room on a map."""
    return 1 <= groups <= MOST_ROWS and 1 <= values <= MOST_COLUMNS


def heat_map(
    values: ArrayLike,
    *,
    names: Sequence[object],
    labels: Sequence[object],
    what: str = "count",
    sort: bool = False,
) -> Axes:
    """Plot a table of groups as a heat map; small tables have their values written in the cells.

    Parameters
    ----------
    values : array_like, shape (groups, d)
        What was released, or follows from it.
    names : sequence
        Of the groups, at most 200.
    labels : sequence
        Of the values, at most 60.
    what : str
        What the values are, beside the scale of colours.
    sort : bool, default False
        Whether groups and values come in falling order of their sums.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import simplexdp as sdp
    >>> ax = sdp.plots.heat_map([[5, 2], [1, 3]], names=["north", "south"], labels=["yes", "no"])
    >>> [text.get_text() for text in ax.texts]
    ['5', '2', '1', '3']
    """
    table = check.numbers("values", values)
    shape = (len(names), len(labels))
    if table.shape != shape or not fits_map(*shape):
        raise InvalidParameterError(
            f"values must have shape (groups, d) as names and labels say, at most ({MOST_ROWS}, {MOST_COLUMNS}), "
            f"got shape {table.shape}"
        )
    if check.flag("sort", sort):
        rows, columns = falling(table.sum(axis=1)), falling(table.sum(axis=0))
        table = table[np.ix_(rows, columns)]
        names, labels = [names[i] for i in rows], [labels[i] for i in columns]
    with style():
        figure, axes = panels(1, 1, width=2.6 + 0.5 * shape[1], height=1.3 + 0.24 * shape[0])
        ax: Axes = axes[0, 0]
        image = ax.imshow(table, cmap="cividis", aspect="auto", vmin=min(0.0, float(table.min())))
        ax.set_xticks(range(shape[1]), [shortened(str(label), 20) for label in labels], rotation=45, ha="right")
        ax.set_yticks(range(shape[0]), [shortened(str(name)) for name in names])
        if table.size <= MOST_WRITTEN:
            middle = (float(table.max()) + min(0.0, float(table.min()))) / 2
            for (row, column), value in np.ndenumerate(table):
                colour = "white" if value < middle else "black"
                ax.text(
                    column,
                    row,
                    f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}",
                    ha="center",
                    va="center",
                    color=colour,
                    fontsize=7,
                )
        figure.colorbar(image, ax=ax, label=what)
        dress(ax, grid=None)
    return ax
