"""Draw the gallery's figures for phones: ``python docs/generate/narrow.py``.

Panels stand below each other at the width of a phone, so that letters keep their size. The numbers are those beside
the figures: nothing is computed again.
"""

from __future__ import annotations

import csv
import sys
import textwrap
from pathlib import Path
from typing import Any

from simplexdp.plots.style import style
from simplexdp.reproduce.catalogue import NAMES, figure
from simplexdp.reproduce.figure import Table

GALLERY = Path(__file__).resolve().parents[1] / "gallery"
PHONE = 3.5
"""Inches, which a phone shows a little larger."""

PANEL = 2.5
"""Inches that a panel is high."""

LETTERS = 9.5
"""Points of labels: their exponents have 0.7 of it."""

AS_THEY_ARE = ("dm-table-1", "dm-equations", "dm-figure-5")
"""Tables and a drawing of graphs, which have no panels: a phone shows them at their size, and scrolls."""

TITLE = 34
"""Letters of a line above a panel."""

MOST_BYTES = 150_000


def narrow(name: str, folder: Path) -> str | None:
    """Write the figure for phones from the tables in the folder, and return its file."""
    if name in AS_THEY_ARE:
        return None
    tables = {path.stem.removeprefix(f"{name}-"): read(path) for path in sorted(folder.glob(f"{name}-*.csv"))}
    with style():
        plot = figure(name).draw(tables)
        stack(plot)
        plot.canvas.draw()
        cut = [ax.get_title() for ax in plot.axes if not within(ax.title, plot)]
        if cut:
            raise SystemExit(f"{name}: wider than a phone: {cut}")
        file = f"{name}-narrow.svg"
        plot.savefig(folder / file, metadata={"Date": None, "Creator": None})
        if (folder / file).stat().st_size > MOST_BYTES:
            (folder / file).unlink()
            file = f"{name}-narrow.png"
            plot.savefig(folder / file, metadata={"Software": None})
    return file


def lines_of(title: str) -> str:
    """Return a title in lines that fit above a panel; what is equal to what stays together."""
    return textwrap.fill(title.replace(" = ", "\xa0=\xa0"), TITLE)


def within(text: Any, plot: Any) -> bool:
    """Return whether a text stands within its figure."""
    place = text.get_window_extent()
    return bool(place.x0 >= 0 and place.x1 <= plot.bbox.width)


def read(path: Path) -> Table:
    """Read a table as it was computed."""
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    return Table.from_rows(header, [[value_of(cell) for cell in row] for row in rows])


def value_of(cell: str) -> Any:
    """Return a number, a truth value, nothing, or the text itself."""
    if cell in ("", "True", "False"):
        return {"": None, "True": True, "False": False}[cell]
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            continue
    return cell


def stack(plot: Any) -> None:
    """Place all panels of a figure below each other."""
    from matplotlib.gridspec import GridSpec
    from matplotlib.ticker import FixedLocator

    panels = [ax for ax in plot.axes if ax.axison]
    for ax in plot.axes:
        if not ax.axison:
            ax.remove()
    places = {ax: ax.get_subplotspec() for ax in panels}
    high = dict.fromkeys(panels, 1.0)
    for ax in panels:
        # Labels stand at the outer panels alone.
        if not ax.get_xlabel():
            below = [each for each in panels if places[each].colspan == places[ax].colspan and each.get_xlabel()]
            ax.set_xlabel(below[-1].get_xlabel() if below else "")
        first = next(each for each in panels if places[each].rowspan == places[ax].rowspan)
        if not ax.get_ylabel():
            ax.set_ylabel(first.get_ylabel())
        names = [text.get_text() for text in first.get_yticklabels()]
        categories = any(any(map(str.isalpha, name)) and "$" not in name for name in names)
        # Categories need a place of their own; a panel of numbers beside them finds its own ticks.
        if categories and isinstance(ax.yaxis.get_major_locator(), FixedLocator):
            ax.set_yticks(ax.get_yticks(), [textwrap.fill(name, 20) for name in names])
            high[ax] = max(1.25, 0.18 * len(names))
    grid = GridSpec(len(panels), 1, figure=plot, height_ratios=list(high.values()))
    for place, ax in enumerate(panels):
        ax.set_subplotspec(grid[place])
        ax.set_title(lines_of(ax.get_title()), fontsize=LETTERS + 1)
        ax.tick_params(which="both", labelsize=LETTERS)
        for label in (ax.xaxis.label, ax.yaxis.label):
            # One line of a panel's height.
            label.set(fontsize=LETTERS, text=textwrap.fill(label.get_text(), 34))
        legend = ax.get_legend()
        for text in [] if legend is None else legend.get_texts():
            text.set_fontsize(LETTERS)
    if plot.get_suptitle():
        plot.suptitle(lines_of(plot.get_suptitle()), fontsize=LETTERS + 1)
    lines = 0
    for legend in list(plot.legends):
        labels = [text.get_text() for text in legend.get_texts()]
        found: dict[str, Any] = {}
        for ax in panels:
            for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
                found.setdefault(label, handle)
        legend.remove()
        columns = 2 if max(map(len, labels)) < 20 else 1
        handles = [found[label] for label in labels]
        plot.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)
        lines = -(-len(labels) // columns)
    plot.set_size_inches(PHONE, PANEL * sum(high.values()) + 0.2 * lines + 0.1)


def main() -> int:
    """Draw all of them."""
    for name in NAMES:
        print(name, narrow(name, GALLERY), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
