"""Mechanisms side by side: error against epsilon, and which of them wins where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from simplexdp import _arguments as check
from simplexdp._catalogue import in_words
from simplexdp.exceptions import InvalidParameterError
from simplexdp.plots.style import MARKERS, PALETTE, axes_or_new, colour, dress, line_style, panels, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from simplexdp.comparison import Comparison, WinnerMap

__all__ = ["error_against_epsilon", "winner_map"]

Series = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
"""Epsilons in growing order, errors, standard errors."""


def error_against_epsilon(
    data: Sequence[Comparison] | Mapping[str, Any], ax: Axes | None = None, *, ylabel: str | None = None
) -> Axes:
    """Plot the error of mechanisms against epsilon, both on logarithmic axes.

    Parameters
    ----------
    data : sequence of Comparison, or mapping
        Results of `sdp.compare` at several epsilons; or, for each name, a pair (epsilons, errors) or a triple with the
        standard errors, which are drawn as bars of two of them to either side, downwards to a tenth of the error.
    ax : matplotlib axes, optional
        Where to draw.
    ylabel : str, optional
        What the error is; of comparisons, their metric.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import simplexdp as sdp
    >>> names = ["dirichlet", "discrete_gaussian"]
    >>> tables = [sdp.compare(500, 5, epsilon, 1e-6, mechanisms=names, samples=50) for epsilon in (0.5, 1.0, 2.0)]
    >>> [line.get_label() for line in sdp.plots.error_against_epsilon(tables).get_lines()]
    ['Dirichlet', 'discrete Gaussian']
    """
    series = _given(data) if isinstance(data, Mapping) else _measured(data)
    if not isinstance(data, Mapping) and ylabel is None:
        ylabel = f"mean {data[0].metric} error"
    with style():
        ax = axes_or_new(ax)
        for index, (name, (epsilon, error, deviation)) in enumerate(series.items()):
            hue, marker = colour(name, index), MARKERS.get(name, "osD^v<>P"[index % 8])
            ax.plot(
                epsilon,
                error,
                color=hue,
                marker=marker,
                linestyle=line_style(index),
                label=in_words(name),
            )
            sure = np.isfinite(error) & np.isfinite(deviation)
            x, y, bar = epsilon[sure], error[sure], 2 * deviation[sure]
            ax.vlines(x, np.maximum(y - bar, y / 10), y + bar, color=hue, linewidth=1)
        ax.set_xscale("log")
        ax.set_yscale("log")
        _plain_ticks(ax, np.unique(np.concatenate([entry[0] for entry in series.values()])))
        ax.set_xlabel("epsilon")
        ax.set_ylabel("error" if ylabel is None else ylabel)
        if not isinstance(data, Mapping):
            first = data[0]
            ax.set_title(f"n = {first.n}, {first.dimension} categories, delta = {first.delta:g}")
        ax.legend()
        dress(ax)
    return ax


def winner_map(winners: WinnerMap, ax: Axes | None = None) -> Axes:
    """Plot which mechanism has the least error, over the number of categories and of records.

    Each cell names its winner and says how many times larger the error of the second is. Hatched cells are ties.

    Parameters
    ----------
    winners : WinnerMap
        From `sdp.comparison.winners`.
    ax : matplotlib axes, optional
        Where to draw.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import simplexdp as sdp
    >>> found = sdp.comparison.winners([100, 1000], [3, 10], mechanisms=["dirichlet", "discrete_laplace"], samples=50)
    >>> ax = sdp.plots.winner_map(found)
    >>> len(ax.texts)
    4
    """
    from simplexdp.comparison import WinnerMap as Kind

    if not isinstance(winners, Kind):
        raise InvalidParameterError(f"winners must be a WinnerMap, got {type(winners).__name__}")
    rows, columns = winners.winner.shape
    names = list(dict.fromkeys(str(name) for name in winners.winner.ravel()))
    with style():
        import matplotlib as mpl

        if ax is None:
            ax = panels(width=1.3 + 0.95 * columns, height=1.2 + 0.62 * rows)[1][0, 0]
        ax = axes_or_new(ax)
        codes = np.array([[names.index(str(name)) for name in row] for row in winners.winner])
        hues = mpl.colors.ListedColormap([_pale(colour(name, index)) for index, name in enumerate(names)])
        edges = np.arange(columns + 1) - 0.5, np.arange(rows + 1) - 0.5
        ax.pcolormesh(*edges, codes, cmap=hues, vmin=-0.5, vmax=len(names) - 0.5, edgecolors="white", linewidth=1.5)
        inches = ax.get_window_extent().width / ax.figure.dpi / columns
        size = float(np.clip(9.5 * inches, 4.0, 8.0))
        for row in range(rows):
            for column in range(columns):
                name, margin = str(winners.winner[row, column]), float(winners.margin[row, column])
                ratio = "" if not np.isfinite(margin) else f"\n{margin:.2f}x" if margin < 10 else f"\n{margin:.3g}x"
                if winners.tied[row, column]:
                    ratio = "\ntie"
                    cell = (column - 0.5, row - 0.5)
                    ax.add_patch(
                        mpl.patches.Rectangle(
                            cell, 1, 1, fill=False, hatch="////", edgecolor="#00000030", linewidth=0, zorder=1.5
                        )
                    )
                text = in_words(name).replace(" ", "\n") + ratio
                ax.text(column, row, text, ha="center", va="center", fontsize=size, linespacing=1.1, zorder=3)
        ax.set_xticks(range(columns), [f"{d:,}" for d in winners.dimensions])
        ax.set_yticks(range(rows), [f"{n:,}" for n in winners.ns])
        ax.set_xlabel("categories")
        ax.set_ylabel("records")
        ax.set_title(
            # Short lines: a map of few columns is narrow, and a title that is wider is cut off.
            f"least {winners.metric} error, by how much\nthe second's is larger (x)\n"
            f"epsilon = {winners.epsilon:g}, delta = {winners.delta:g}"
        )
        dress(ax, grid=None)
    return ax


def _measured(data: Sequence[Comparison]) -> dict[str, Series]:
    from simplexdp.comparison import Comparison as Kind

    if not isinstance(data, Sequence) or not all(isinstance(table, Kind) for table in data):
        raise InvalidParameterError(
            "data must be a list of comparisons, or a mapping from names to epsilons and errors"
        )
    tables = sorted(data, key=lambda table: table.epsilon)
    if not tables:
        raise InvalidParameterError("data must hold at least one comparison")
    asked = {(t.n, t.dimension, t.delta, t.metric, t.adjacency, t.population) for t in tables}
    if len(asked) > 1:
        raise InvalidParameterError("data must differ in epsilon only")
    series = {}
    for name in dict.fromkeys(row.mechanism for table in tables for row in table.rows):
        found = [(t.epsilon, r.error, r.standard_error) for t in tables for r in t.rows if r.mechanism == name]
        epsilon, error, deviation = np.array(found).T
        series[name] = (epsilon, error, deviation)
    return series


def _given(data: Mapping[str, Any]) -> dict[str, Series]:
    if not data:
        raise InvalidParameterError("data must hold at least one series")
    series = {}
    for name, entry in data.items():
        parts = [check.numbers(f"data[{name!r}]", part) for part in entry]
        if len(parts) not in (2, 3) or any(part.ndim != 1 or part.shape != parts[0].shape for part in parts):
            raise InvalidParameterError(f"data[{name!r}] must be epsilons and errors of equal length")
        order = np.argsort(parts[0])
        deviation = parts[2] if len(parts) == 3 else np.zeros_like(parts[0])
        series[str(name)] = (parts[0][order], parts[1][order], deviation[order])
    return series


def _plain_ticks(ax: Axes, epsilons: NDArray[np.float64]) -> None:
    """Label the epsilons themselves where they are few, and more than powers of ten where errors span little."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

    low, high = ax.get_ylim()
    if high < 50 * low:
        ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ax.yaxis.set_minor_formatter(NullFormatter())
    if epsilons.size <= 9:
        ax.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
        ax.xaxis.set_minor_locator(NullLocator())


def _pale(hue: str) -> tuple[float, ...]:
    """Return a tint on which black text can be read."""
    from matplotlib.colors import to_rgb

    return tuple(0.55 + 0.45 * part for part in to_rgb(hue if hue != "#000000" else PALETTE[7]))
