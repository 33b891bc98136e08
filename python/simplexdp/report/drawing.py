"""The page's pictures, as inline SVG that takes its colours from the page."""

import math

import numpy as np
from numpy.typing import NDArray

from simplexdp._typesetting import per_cent
from simplexdp.accounting import PrivacyCurve
from simplexdp.plots.curves import curve_points
from simplexdp.report.text import power, rounded

__all__ = ["axis", "bar", "curve_chart"]

WIDTH, HEIGHT = 360.0, 236.0
LEFT, RIGHT, TOP, BOTTOM = 52.0, 14.0, 12.0, 36.0
LEAST_DELTA = 1e-12


def bar(value: float, lower: float | None, upper: float | None, end: float) -> str:
    """Draw a value and its interval, if there is one, on an axis from 0 to `end`; the table holds the numbers."""
    v = _part(value, end)
    body = f'<rect class="value" y="5" height="12" width="{v}" rx="2"/>'
    if lower is not None and upper is not None:
        a, b = _part(lower, end), _part(upper, end)
        body += (
            f'<line x1="{a}" x2="{b}" y1="11" y2="11"/><line x1="{a}" x2="{a}" y1="7" y2="15"/>'
            f'<line x1="{b}" x2="{b}" y1="7" y2="15"/>'
        )
    return f'<svg class="bar" aria-hidden="true" focusable="false">{body}</svg>'


def _part(value: float, end: float) -> str:
    return f"{min(max(100 * value / end, 0.0), 100.0):.2f}%"


MOST_TICKS = 4


def axis(end: float, *, counts: bool = False) -> str:
    """Draw the axis that belongs to the bars, of shares or of counts."""
    step = _step(end)
    ticks = [i * step for i in range(math.floor(end / step * (1 + 1e-9)) + 1)]
    decimals = max(0, -math.floor(math.log10(100 * step) + 1e-9))
    parts = []
    # Names of many ticks stand on each other where the bars are short.
    for tick in ticks[:: 2 if len(ticks) > MOST_TICKS else 1]:
        at = 100 * tick / end
        anchor = "start" if at < 8 else "end" if at > 92 else "middle"
        said = f"{tick:,.10g}" if counts else per_cent(f"{100 * tick:.{decimals}f}")
        parts.append(f'<text x="{at:.2f}%" y="12" text-anchor="{anchor}">{said}</text>')
    return f'<svg class="axis" aria-hidden="true" focusable="false">{"".join(parts)}</svg>'


def curve_chart(curve: PrivacyCurve, epsilon: float, delta: float) -> str:
    """Draw delta, on a logarithmic axis, against epsilon, with the stated guarantee marked."""
    at, deltas = curve_points(curve, LEAST_DELTA)
    end = max(float(at[-1]), epsilon if math.isfinite(epsilon) else 0.0) or 1.0
    step = _step(end)
    parts = [
        '<svg class="curve" viewBox="0 0 360 236" role="img" aria-labelledby="curve-title curve-text">',
        '<title id="curve-title">Privacy curve: delta against epsilon</title>',
        f'<desc id="curve-text">A falling line, from delta {power(float(curve.delta(0.0)))} at epsilon 0. '
        f"The guarantee, epsilon {rounded(epsilon)} at delta {power(delta)}, is marked on it.</desc>",
    ]
    for exponent in range(0, -13, -3):
        y = _y(10.0**exponent)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 3.5:.1f}" text-anchor="end">{power(10.0**exponent)}</text>')
    for i in range(math.floor(end / step * (1 + 1e-9)) + 1):
        x = _x(i * step, end)
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>')
        parts.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 14}" text-anchor="middle">{i * step:.10g}</text>')
    parts.append(
        f'<text class="name" x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 4}" text-anchor="middle">epsilon</text>'
    )
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(
        f'<text class="name" x="10" y="{middle}" text-anchor="middle" transform="rotate(-90 10 {middle})">delta</text>'
    )
    parts.append(f'<path class="line" d="{_path(at, deltas, end)}"/>')
    if delta > 0 and math.isfinite(epsilon):
        x, y = _x(epsilon, end), _y(delta)
        parts.append(
            f'<path class="lead" d="M{LEFT} {y:.1f}H{x:.1f}V{HEIGHT - BOTTOM}"/>'
            f'<circle class="mark" cx="{x:.1f}" cy="{y:.1f}" r="4.5"/>'
        )
    elif math.isfinite(epsilon):
        parts.append(f'<circle class="mark" cx="{_x(epsilon, end):.1f}" cy="{HEIGHT - BOTTOM}" r="4.5"/>')
    return "".join([*parts, "</svg>"])


def _step(end: float) -> float:
    """Return a round step that divides an axis into two to six."""
    power_of_ten = 10.0 ** math.floor(math.log10(end))
    return next(power_of_ten * part for part in (0.2, 0.25, 0.5, 1.0, 2.0) if end / (power_of_ten * part) < 6)


def _x(epsilon: float, end: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * epsilon / end


def _y(delta: float) -> float:
    share = math.log10(max(delta, LEAST_DELTA)) / math.log10(LEAST_DELTA)
    return TOP + (HEIGHT - TOP - BOTTOM) * share


def _path(epsilon: NDArray[np.float64], delta: NDArray[np.float64], end: float) -> str:
    points = [f"{_x(float(e), end):.1f} {_y(float(d)):.1f}" for e, d in zip(epsilon, delta, strict=True)]
    return "M" + "L".join(dict.fromkeys(points))
