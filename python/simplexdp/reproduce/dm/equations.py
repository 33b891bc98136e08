"""The equations and statements of [DM], evaluated against brute force."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, fields
from typing import TYPE_CHECKING

import numpy as np

from simplexdp.reproduce.dm.checking import Check
from simplexdp.reproduce.dm.model_checks import model_checks
from simplexdp.reproduce.dm.privacy_checks import privacy_checks
from simplexdp.reproduce.dm.utility_checks import utility_checks
from simplexdp.reproduce.figure import Figure, Settings, Table
from simplexdp.reproduce.rendering import table_plot

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Plot


def compute(settings: Settings) -> dict[str, Table]:
    """Evaluate every statement on random cases and grids."""
    n = 200 if settings.fast else 5000
    checks: list[Check] = []
    for step, part in enumerate((privacy_checks, utility_checks, model_checks)):
        checks += part(n, np.random.default_rng((settings.seed, 31, step)))
        settings.progress((step + 1) / 3)
    return {"checks": Table.from_rows([f.name for f in fields(Check)], [astuple(check) for check in checks])}


def draw(tables: Mapping[str, Table]) -> Plot:
    """Print the table of statements and verdicts."""
    table = tables["checks"]
    rows: list[tuple[str, ...]] = []
    marks: dict[tuple[int, int], str] = {}
    for where, statement, kind, cases, worst, holds, _ in zip(*(table[c] for c in table.columns), strict=True):
        figure = f"{worst:.1e}" if kind == "identity" else f"{worst:+.2g}"
        rows.append(
            (where, statement, f"{cases}", "error" if kind == "identity" else "margin", figure, _verdict(holds))
        )
        marks[len(rows) - 1, 5] = "good" if holds else "bad"
    return table_plot(
        ("where", "statement", "cases", "worst", "", "verdict"),
        rows,
        (0.85, 5.3, 0.65, 0.6, 0.8, 0.65),
        title="[DM], statement by statement",
        right=(2, 4),
        marks=marks,
        notes=(
            "error: largest relative difference of both sides. margin: smallest 1 - value/limit; violated if negative.",
        ),
    )


def _verdict(holds: bool) -> str:
    return "holds" if holds else "fails"


def finding(tables: Mapping[str, Table]) -> str:
    """Count what holds, and say what follows where a statement fails."""
    table = tables["checks"]
    failed = [
        f"{where}: {statement} ({remark})"
        for where, statement, holds, remark in zip(
            *(table[column] for column in ("where", "statement", "holds", "remark")), strict=True
        )
        if not holds
    ]
    text = f"{len(table) - len(failed)} of {len(table)} statements hold in every case"
    return text + (f". As they stand, these fail: {'; '.join(failed)}." if failed else ".")


FIGURE = Figure(
    name="dm-equations",
    source="[DM] equations",
    title="The equations, checked",
    paper="Privacy by eq. 5 and 6, a tail bound for the KL divergence, and models built on both.",
    compute=compute,
    draw=draw,
    finding=finding,
)
