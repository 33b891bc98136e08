"""Parts that several figures draw: tables as plots, legends below the panels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from simplexdp.plots.style import panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Plot

__all__ = ["joint_legend", "table_plot"]

ROW_HEIGHT = 0.24
MARKS = {"bad": "#D55E00", "good": "#007A57", "plain": "#222222", "faint": "#777777"}


def table_plot(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    widths: Sequence[float],
    *,
    title: str,
    right: Iterable[int] = (),
    marks: dict[tuple[int, int], str] | None = None,
    notes: Sequence[str] = (),
) -> Plot:
    """Draw a table with rules above, below the header and at the end.

    Parameters
    ----------
    header, rows : cells as text
    widths : sequence of float
        Of the columns, in inches.
    title : str
    right : iterable of int
        Columns that are aligned to the right.
    marks : dict from (row, column) to a key of `MARKS`
    notes : lines below the table
    """
    right, marks = set(right), marks or {}
    width, lines = sum(widths), len(rows) + len(notes) + 3
    plot, axes = panels(width=width, height=ROW_HEIGHT * lines)
    ax = axes[0, 0]
    ax.set(xlim=(0, width), ylim=(lines, 0))
    ax.axis("off")
    edges = [sum(widths[:index]) for index in range(len(widths) + 1)]

    def write(y: float, cells: Sequence[str], row: int | None) -> None:
        for index, cell in enumerate(cells):
            x = edges[index + 1] - 0.12 if index in right else edges[index] + 0.04
            mark = marks.get((row, index), "plain") if row is not None else "plain"
            ax.text(
                x,
                y,
                cell,
                ha="right" if index in right else "left",
                va="center",
                fontsize=8,
                color=MARKS[mark],
                fontweight="bold" if row is None else "normal",
            )

    ax.text(0.04, 0.5, title, ha="left", va="center", fontsize=10)
    write(1.6, header, None)
    for row, cells in enumerate(rows):
        write(row + 2.6, cells, row)
    for index, note in enumerate(notes):
        ax.text(0.04, len(rows) + 2.75 + index, note, ha="left", va="center", fontsize=7.5, color=MARKS["faint"])
    for y, weight in ((1.05, 1.2), (2.1, 0.7), (len(rows) + 2.15, 1.2)):
        ax.plot([0, width], [y, y], color="black", linewidth=weight, clip_on=False)
    return plot


def joint_legend(plot: Plot, axes: Sequence[Any], *, columns: int, alphabetic: bool = False) -> None:
    """Put one legend for all panels below them, in the order of drawing or of the labels."""
    entries: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    labels = sorted(entries) if alphabetic else list(entries)
    plot.legend([entries[label] for label in labels], labels, loc="outside lower center", ncols=columns, frameon=False)
