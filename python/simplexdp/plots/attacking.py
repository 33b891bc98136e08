"""What an attacker can do against a release: the errors that no test can avoid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from simplexdp.accounting.curve import PrivacyCurve
from simplexdp.plots.curves import named_curves
from simplexdp.plots.style import axes_or_new, colour, dress, line_style, panels, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["tradeoff"]

POINTS = 101


def tradeoff(curve: PrivacyCurve | Mapping[str, PrivacyCurve], ax: Axes | None = None) -> Axes:
    """Plot how often an attacker must miss a record that is there, against its rate of false alarms.

    Parameters
    ----------
    curve : PrivacyCurve or mapping of str to PrivacyCurve
        One curve, or several with their names.
    ax : matplotlib axes, optional
        Where to draw.

    Returns
    -------
    matplotlib axes
        Tests lie on or above a curve. The dotted diagonal is guessing: nothing can be learnt.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> ax = sdp.plots.tradeoff(sdp.PrivacyCurve.gaussian(sigma=4.0))
    >>> ax.get_xlabel()
    'false positive rate'
    """
    curves = named_curves(curve)
    # Evenly spread and, near the ends, where curves of little privacy fall, finer.
    rates = np.sin(np.linspace(0, np.pi / 2, POINTS)) ** 4
    with style():
        if ax is None:
            ax = panels(width=4.4, height=4.9 + 0.18 * len(curves))[1][0, 0]
        ax = axes_or_new(ax)
        ax.plot([0, 1], [1, 0], linestyle=":", color="grey", label="guessing")
        for index, (name, entry) in enumerate(curves.items()):
            shown = f"{name or entry.label or 'guarantee'} (advantage {entry.advantage():.2g})"
            line = {"color": colour(name, index), "linestyle": line_style(index)}
            ax.plot(rates, np.asarray(entry.tradeoff(rates)), label=shown, **line)
        ax.set_xlim(0, 1)
        ax.set_ylim(0, 1)
        ax.set_aspect("equal")
        ax.set_xlabel("false positive rate")
        ax.set_ylabel("false negative rate")
        ax.set_title("What no attacker can do better")
        # Below: the curves fill the square from corner to corner.
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), frameon=False)
        dress(ax)
    return ax
