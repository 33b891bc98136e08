"""Writes the table of the exact normal proposal (docs/exactness.md, section 3), from mpmath at 60 digits.

The half plane under exp(-x^2/2), x >= 0, is covered by 255 rectangles of equal area v, stacked from the axis up, and by
v r exp(-r (x - r)) beyond r = width[0], whose area is v as well. Widths and v are doubles that count as exact;
heights are the exact rationals Y[0] = 0, Y[i+1] = Y[i] + v / width[i]. What the exactness of the draw needs:

    (cover)  width[i] = r or exp(-width[i]^2/2) <= Y[i],   Y[255] >= 1,   v r >= exp(-r^2/2)
    (inner)  exp(-t[i]^2/2) >= Y[i+1] for t[i] = inner[i] width[i] 2^-55

Rounding the widths up and the inner bounds down gives both; `check` proves them on the numbers as printed.
"""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

from mpmath import mp, mpf

RECTANGLES = 255
TARGET = Path(__file__).resolve().parents[1] / "src/sampling/dirichlet/normal_table.rs"


def _exact(x: float) -> mpf:
    return mpf(x)


def _up(x: mpf) -> float:
    """Return the least double that is not below x."""
    y = float(x)
    return y if _exact(y) >= x else math.nextafter(y, math.inf)


def _edge(area: mpf) -> mpf:
    """Return the least r with area * r >= exp(-r^2/2)."""
    low, high = mpf(1), mpf(6)
    for _ in range(200):
        middle = (low + high) / 2
        if area * middle >= mp.exp(-middle * middle / 2):
            high = middle
        else:
            low = middle
    return high


def _stack(area: float) -> tuple[list[float], list[mpf]] | None:
    """Widths and heights for rectangles of this area, or None when the top is reached too early."""
    widths, heights = [_up(_edge(_exact(area)))], [mpf(0)]
    for i in range(RECTANGLES):
        heights.append(heights[i] + _exact(area) / _exact(widths[i]))
        if i + 1 < RECTANGLES:
            if heights[-1] >= 1:
                return None
            widths.append(min(widths[0], _up(mp.sqrt(-2 * mp.log(heights[-1])))))
    return widths, heights


def table() -> tuple[float, list[float], list[int], list[mpf]]:
    """Return the area, the widths, the inner bounds (units of width * 2^-55) and the heights."""
    with mp.workdps(60):
        low, high = 0.0045, 0.006
        while math.nextafter(low, 1.0) < high:
            middle = (low + high) / 2
            stack = _stack(middle)
            if stack is None or stack[1][-1] >= 1:
                high = middle
            else:
                low = middle
        # The least area that covers may run out of room one rectangle early; a slightly smaller one never covers.
        stack = _stack(high)
        if stack is None:
            raise ArithmeticError("no area gives exactly 255 rectangles")
        widths, heights = stack
        inner = [
            min(2**55, int(mp.floor(mp.sqrt(-2 * mp.log(heights[i + 1])) / widths[i] * 2**55)))
            if heights[i + 1] < 1
            else 0
            for i in range(RECTANGLES)
        ]
        return high, widths, inner, heights


def check(area: float, widths: list[float], inner: list[int], digits: int = 100) -> None:
    """Raise unless (cover) and (inner) hold for the numbers as they stand."""
    with mp.workdps(digits):
        height = Fraction(0)
        tolerance = mpf(10) ** (-(digits - 10))  # each inequality must hold by more than mpmath's error
        assert mpf(area) * mpf(widths[0]) - mp.exp(-(mpf(widths[0]) ** 2) / 2) > tolerance
        for i in range(RECTANGLES):
            assert widths[i] <= widths[0]
            if widths[i] < widths[0]:
                value = mpf(height.numerator) / height.denominator
                assert value - mp.exp(-(mpf(widths[i]) ** 2) / 2) > tolerance
            height += Fraction(area) / Fraction(widths[i])
            assert 0 <= inner[i] <= 2**55
            if inner[i] > 0:
                edge = mpf(inner[i]) * mpf(widths[i]) / 2**55
                assert mp.exp(-edge * edge / 2) - mpf(height.numerator) / height.denominator > tolerance
        assert height >= 1


def render() -> str:
    """Print the Rust source."""
    area, widths, inner, heights = table()
    check(area, widths, inner)
    lines = [
        "//! Rectangles of the normal proposal, printed by `rust/core/tables/normal_proposal.py`.",
        "",
        "/// Area of each of the 255 rectangles and of the tail, exact as it stands.",
        f"pub(super) const AREA: f64 = {area!r};",
        "",
        "/// Half-widths, exact as they stand; the first one is also where the tail begins.",
        "#[rustfmt::skip]",
        f"pub(super) static WIDTH: [f64; {RECTANGLES + 1}] = [",
        *[f"    {w!r}," for w in widths],
        "    0.0, // the tail has no width",
        "];",
        "",
        "/// Points `|x| < INNER * WIDTH * 2^-55` of a rectangle lie under the curve.",
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
    TARGET.write_text(render())
