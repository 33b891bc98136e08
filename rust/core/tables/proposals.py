"""Writes the tables of the exact normal and exponential proposals (docs/exactness.md, section 3), from mpmath.

The plane under a curve f, x >= 0, is covered by 255 rectangles of equal area v, stacked from the axis up, and by a
tail beyond r = width[0] whose area is v as well: v r exp(-r (x - r)) for exp(-x^2/2), v exp(-(x - r)) for exp(-x).
Widths and v are doubles that count as exact; heights are the exact rationals Y[0] = 0, Y[i+1] = Y[i] + v / width[i].
What the exactness of the draw needs:

    (cover)  width[i] = r or f(width[i]) <= Y[i],   Y[255] >= 1,   the tail's height at r >= f(r)
    (inner)  f(t[i]) >= Y[i+1] for t[i] = inner[i] width[i] 2^-bits

Rounding the widths up and the inner bounds down gives both; `check` proves them on the numbers as printed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from mpmath import mp, mpf

RECTANGLES = 255
FOLDER = Path(__file__).resolve().parents[1] / "src/sampling/dirichlet"


@dataclass(frozen=True)
class Curve:
    """A decreasing f with f(0) = 1, and how its tables are printed."""

    name: str
    f: Callable[[mpf], mpf]
    inverse: Callable[[mpf], mpf]
    tail_height: Callable[[mpf, mpf], mpf]
    """The height of the tail's cover at r, for the area v and r."""
    position_bits: int
    """Positions inside a rectangle are multiples of width 2^-bits."""
    areas: tuple[float, float]
    """Between these lies the least area that covers."""


NORMAL = Curve(
    name="normal",
    f=lambda x: mp.exp(-x * x / 2),
    inverse=lambda y: mp.sqrt(-2 * mp.log(y)),
    tail_height=lambda area, r: area * r,
    position_bits=51,  # and a sign
    areas=(0.0045, 0.006),
)
EXPONENTIAL = Curve(
    name="exponential",
    f=lambda x: mp.exp(-x),
    inverse=lambda y: -mp.log(y),
    tail_height=lambda area, r: area,
    position_bits=52,
    areas=(0.0036, 0.0048),
)


def _up(x: mpf) -> float:
    """Return the least double that is not below x."""
    y = float(x)
    return y if mpf(y) >= x else math.nextafter(y, math.inf)


def _edge(curve: Curve, area: mpf) -> mpf:
    """Return the least r where the tail's cover is not below the curve."""
    low, high = mpf(1), mpf(9)
    for _ in range(200):
        middle = (low + high) / 2
        if curve.tail_height(area, middle) >= curve.f(middle):
            high = middle
        else:
            low = middle
    return high


def _stack(curve: Curve, area: float) -> tuple[list[float], list[mpf]] | None:
    """Widths and heights for rectangles of this area, or None when the top is reached too early."""
    widths, heights = [_up(_edge(curve, mpf(area)))], [mpf(0)]
    for i in range(RECTANGLES):
        heights.append(heights[i] + mpf(area) / mpf(widths[i]))
        if i + 1 < RECTANGLES:
            if heights[-1] >= 1:
                return None
            widths.append(min(widths[0], _up(curve.inverse(heights[-1]))))
    return widths, heights


def table(curve: Curve) -> tuple[float, list[float], list[int], list[mpf]]:
    """Return the area, the widths, the inner bounds (units of width * 2^-bits) and the heights."""
    whole = 2**curve.position_bits
    with mp.workdps(60):
        low, high = curve.areas
        while math.nextafter(low, 1.0) < high:
            middle = (low + high) / 2
            stack = _stack(curve, middle)
            if stack is None or stack[1][-1] >= 1:
                high = middle
            else:
                low = middle
        # The least area that covers may run out of room one rectangle early; a slightly smaller one never covers.
        stack = _stack(curve, high)
        if stack is None:
            raise ArithmeticError("no area gives exactly 255 rectangles")
        widths, heights = stack
        inner = [
            min(whole, int(mp.floor(curve.inverse(heights[i + 1]) / widths[i] * whole))) if heights[i + 1] < 1 else 0
            for i in range(RECTANGLES)
        ]
        return high, widths, inner, heights


def check(curve: Curve, area: float, widths: list[float], inner: list[int], digits: int = 100) -> None:
    """Raise unless (cover) and (inner) hold for the numbers as they stand."""
    whole = 2**curve.position_bits
    with mp.workdps(digits):
        height = Fraction(0)
        tolerance = mpf(10) ** (-(digits - 10))  # each inequality must hold by more than mpmath's error
        assert curve.tail_height(mpf(area), mpf(widths[0])) - curve.f(mpf(widths[0])) > tolerance
        for i in range(RECTANGLES):
            assert widths[i] <= widths[0]
            if widths[i] < widths[0]:
                value = mpf(height.numerator) / height.denominator
                assert value - curve.f(mpf(widths[i])) > tolerance
            height += Fraction(area) / Fraction(widths[i])
            assert 0 <= inner[i] <= whole
            if inner[i] > 0:
                edge = mpf(inner[i]) * mpf(widths[i]) / whole
                assert curve.f(edge) - mpf(height.numerator) / height.denominator > tolerance
        assert height >= 1


def render(curve: Curve) -> str:
    """Print the Rust source."""
    area, widths, inner, heights = table(curve)
    check(curve, area, widths, inner)
    lines = [
        f"//! Rectangles of the {curve.name} proposal, printed by `rust/core/tables/proposals.py`.",
        "",
        "/// Area of each of the 255 rectangles and of the tail, exact as it stands.",
        f"pub(super) const AREA: f64 = {area!r};",
        "",
        "/// Widths on one side, exact as they stand; the first one is also where the tail begins.",
        "#[rustfmt::skip]",
        f"pub(super) static WIDTH: [f64; {RECTANGLES + 1}] = [",
        *[f"    {w!r}," for w in widths],
        "    0.0, // the tail has no width",
        "];",
        "",
        f"/// Points `|x| < INNER * WIDTH * 2^-{curve.position_bits}` of a rectangle lie under the curve.",
        "#[rustfmt::skip]",
        f"pub(super) static INNER: [u64; {RECTANGLES + 1}] = [",
        *[f"    {k}," for k in inner],
        "    0,",
        "];",
        "",
        "/// Lower edges of the rectangles, rounded to doubles: used with a margin only.",
        "#[rustfmt::skip]",
        f"pub(super) static FLOOR: [f64; {RECTANGLES}] = [",
        *[f"    {float(heights[i])!r}," for i in range(RECTANGLES)],
        "];",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    for curve in (NORMAL, EXPONENTIAL):
        (FOLDER / f"{curve.name}_table.rs").write_text(render(curve))
