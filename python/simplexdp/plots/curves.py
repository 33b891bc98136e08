"""Privacy curves: delta against epsilon."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from simplexdp._arguments import open_unit
from simplexdp.accounting.curve import PrivacyCurve
from simplexdp.exceptions import InvalidParameterError
from simplexdp.plots.style import axes_or_new, colour, dress, line_style, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["curve_points", "privacy_curve"]

POINTS = 120
BAND_POINTS = 40


def privacy_curve(
    curve: PrivacyCurve | Mapping[str, PrivacyCurve], ax: Axes | None = None, *, least_delta: float = 1e-12
) -> Axes:
    """Plot what mechanisms guarantee: delta on a logarithmic axis, against epsilon.

    Of a composition a band shows how far the numerical bound may lie above the true curve of the composed ones.

    Parameters
    ----------
    curve : PrivacyCurve or mapping of str to PrivacyCurve
        One curve, or several with their names.
    ax : matplotlib axes, optional
        Where to draw.
    least_delta : float, default 1e-12
        Where the plot ends.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import simplexdp as sdp
    >>> ax = sdp.plots.privacy_curve(sdp.PrivacyCurve.gaussian(sigma=4.0))
    >>> ax.get_yscale()
    'log'
    """
    curves = named_curves(curve)
    least_delta = open_unit("least_delta", least_delta)
    with style():
        ax = axes_or_new(ax)
        ax.set_ylim(least_delta, 1.0)
        ax.set_yscale("log")
        for index, (name, entry) in enumerate(curves.items()):
            hue, line = colour(name, index), line_style(index)
            epsilon, delta = curve_points(entry, least_delta)
            ax.plot(epsilon, delta, color=hue, linestyle=line, label=name or entry.label or "guarantee")
            if _is_composed(entry):
                lower, upper, deltas = _brackets(entry, least_delta)
                if np.any(upper > lower):
                    ax.fill_betweenx(deltas, lower, upper, color=hue, alpha=0.25, linewidth=0)
        ax.set_xlim(left=0.0)
        ax.set_xlabel("epsilon")
        ax.set_ylabel("delta")
        if len(curves) > 1:
            ax.set_title("delta at each epsilon")
            ax.legend()
        else:
            ax.set_title(next(iter(curves)) or next(iter(curves.values())).label)
        dress(ax)
    return ax


def named_curves(curve: PrivacyCurve | Mapping[str, PrivacyCurve]) -> dict[str, PrivacyCurve]:
    """Return the curves by name; a single one has none."""
    curves = dict(curve) if isinstance(curve, Mapping) else {"": curve}
    if not curves or not all(isinstance(entry, PrivacyCurve) for entry in curves.values()):
        raise InvalidParameterError("curve must be a privacy curve, or a mapping of names to privacy curves")
    return curves


def curve_points(curve: PrivacyCurve, least_delta: float = 1e-12) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return points of a curve, evenly spread along both axes, from epsilon 0 to where delta is `least_delta`.

    Where delta is never that small, the points go a quarter beyond the largest epsilon that has a finite answer.
    """
    largest = float(curve.delta(0.0))
    if largest <= least_delta:
        return np.array([0.0]), np.array([max(largest, 0.0)])
    deltas = np.geomspace(largest, least_delta, POINTS)[1:]
    at = np.asarray(curve.epsilon(deltas))
    reached = at[np.isfinite(at)]
    end = float(reached.max()) if reached.size else 1.0
    if reached.size < at.size:
        end = 1.25 * end + (end == 0)
    epsilon = np.unique(np.concatenate([np.linspace(0, end, POINTS), reached]))
    delta = np.asarray(curve.delta(epsilon))
    shown = delta > 0
    return epsilon[shown], delta[shown]


def _is_composed(curve: PrivacyCurve) -> bool:
    """Tell whether a curve is composed numerically; of others the bounds from below cost much and say nothing."""
    return any(profile.is_composition for profile in curve.profiles)


def _brackets(
    curve: PrivacyCurve, least_delta: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return bounds of epsilon from both sides, and the deltas for which there are any."""
    deltas = np.geomspace(min(max(float(curve.delta(0.0)), least_delta), 0.99), least_delta, BAND_POINTS)
    lower, upper = (np.asarray(bound) for bound in curve.epsilon_bounds(deltas))
    # A lower bound of zero says that none is known.
    known = (lower > 0) & np.isfinite(upper)
    return lower[known], upper[known], deltas[known]
