"""Budgets: what each release took and what is left."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from simplexdp._rounding import rounded
from simplexdp.accounting.accountant import Accountant
from simplexdp.plots.style import PALETTE, axes_or_new, dress, panels, shortened, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["budget"]

MOST_ROWS = 18


def budget(accountant: Accountant | str | os.PathLike[str], ax: Axes | None = None) -> Axes:
    """Plot what each release added to the epsilon spent, and what is left of the budget.

    Bars stand where the total was before and after the release, so that a bar is what it cost on top of the others. Of
    many releases the first ones are shown as one bar.

    Parameters
    ----------
    accountant : Accountant or path-like
        An accountant, or the file of its ledger.
    ax : matplotlib axes, optional
        Where to draw.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import simplexdp as sdp
    >>> accountant = sdp.Accountant(1.0, 1e-6)
    >>> spend = accountant.spend(sdp.PrivacyCurve.gaussian(sigma=10.0), label="ages")
    >>> [text.get_text() for text in sdp.plots.budget(accountant).get_yticklabels()]
    ['ages', 'left']
    """
    if not isinstance(accountant, Accountant):
        accountant = Accountant.open(accountant)
    steps = accountant.running_total(MOST_ROWS)
    names, ends = [name for name, _ in steps], [epsilon for _, epsilon in steps]
    merged = accountant.debits - MOST_ROWS + 1
    if merged > 1:
        names[0] = f"first {merged} releases"
    starts = [0.0, *ends][: len(ends)]
    spent = ends[-1] if ends else 0.0
    with style():
        ax = panels(width=5.4, height=1.3 + 0.26 * (len(names) + 1))[1][0, 0] if ax is None else axes_or_new(ax)
        rows = range(len(names))
        widths = [end - start for start, end in zip(starts, ends, strict=True)]
        ax.barh(rows, widths, left=starts, height=0.7, color=PALETTE[0], label="spent")
        left = max(accountant.epsilon - spent, 0.0)
        ax.barh(len(names), left, left=spent, height=0.7, color="none", edgecolor="#666666", hatch="///", label="left")
        ax.axvline(accountant.epsilon, color="black", linestyle="--", linewidth=1.0, label="budget")
        for row, (start, width) in enumerate(zip([*starts, spent], [*widths, left], strict=True)):
            # Text stands inside the axes: right of the bar in the left half, else left of it.
            before = start + width > 0.62 * accountant.epsilon
            x = start - 0.012 * accountant.epsilon if before else start + width + 0.012 * accountant.epsilon
            middle = row == len(names) and width > 0.12 * accountant.epsilon
            if middle:
                x = start + width / 2
            ax.text(
                x,
                row,
                rounded(width, 3, up=row < len(names)),
                ha="center" if middle else "right" if before else "left",
                va="center",
                fontsize=8,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0},
            )
        ax.set_yticks([*rows, len(names)], [*(shortened(name) for name in names), "left"])
        ax.set_ylim(len(names) + 0.6, -0.6)
        ax.set_xlim(0, 1.03 * max(accountant.epsilon, spent))
        ax.set_xlabel(f"epsilon spent at delta = {accountant.delta:g}")
        ax.set_title(f"{rounded(spent, 3)} of {accountant.epsilon:g} spent")
        dress(ax, grid="x")
    return ax
