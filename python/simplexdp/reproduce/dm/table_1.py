"""[DM] Table 1: the data sets, as the paper states them and as their files measure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from simplexdp.reproduce.data import NUMERIC, available
from simplexdp.reproduce.figure import Figure, Settings, Table
from simplexdp.reproduce.rendering import table_plot

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Plot

# Instances, attributes, classes, share of positives in per cent where there are two classes: [DM] Table 1.
PAPER: dict[str, tuple[int, int, int, int | None]] = {
    "creditcard": (30000, 23, 2, 22),
    "thyroid": (7200, 21, 3, None),
    "shopper": (12330, 17, 2, 15),
    "digit": (5620, 64, 10, None),
    "germancredit": (1000, 20, 2, 30),
    "bank": (41188, 20, 2, 11),
    "spam": (4601, 57, 2, 39),
    "adult": (48842, 13, 2, 24),
}
MEASURES = ("instances", "attributes", "classes", "positive_percent")


def compute(settings: Settings) -> dict[str, Table]:
    """Measure what the files hold; the positive class of two is the rarer one."""
    measured: dict[str, tuple[Any, ...]] = {}
    for data in available(settings.data, list(NUMERIC)):
        classes = data.cardinalities["class"]
        positive = 100 * float(np.bincount(data.columns["class"]).min()) / data.n_records if classes == 2 else None
        measured[data.name] = (data.n_records, len(data.columns) - 1, classes, positive)
        settings.progress(len(measured) / (len(NUMERIC) if settings.data else 1))
    rows = [
        (name, measure, stated, measured[name][index] if name in measured else None)
        for name, values in PAPER.items()
        for index, (measure, stated) in enumerate(zip(MEASURES, values, strict=True))
    ]
    return {"data-sets": Table.from_rows(("data_set", "measure", "paper", "measured"), rows)}


def differences(table: Table) -> list[tuple[str, str, Any, Any]]:
    """Return the cells in which file and paper differ, the share of positives to whole per cent."""
    found = []
    for name, measure, stated, value in zip(*(table[c] for c in table.columns), strict=True):
        seen = round(value) if measure == "positive_percent" and value is not None else value
        if seen is not None and seen != stated:
            found.append((name, measure, stated, value))
    return found


def draw(tables: Mapping[str, Table]) -> Plot:
    """Print measured numbers, and the paper's beside them where the two differ."""
    table = tables["data-sets"]
    different = {(name, measure) for name, measure, _, _ in differences(table)}
    rows: list[list[str]] = []
    marks: dict[tuple[int, int], str] = {}
    for name in table.distinct("data_set"):
        cells = [name]
        for column, measure in enumerate(MEASURES, start=1):
            part = table.where(data_set=name, measure=measure)
            stated, value = part["paper"][0], part["measured"][0]
            cells.append(_cell(value if value is not None else stated, measure))
            if value is None and stated is not None:
                marks[len(rows), column] = "faint"
            if (name, measure) in different:
                cells[-1] += f" (paper: {_cell(stated, measure)})"
                marks[len(rows), column] = "bad"
        if not any(table.where(data_set=name)["measured"]):
            marks[len(rows), 0] = "faint"
        rows.append(cells)
    missing = any(not any(table.where(data_set=name)["measured"]) for name in table.distinct("data_set"))
    notes = ["Positive: the rarer of two classes, in per cent of the records."]
    if missing:
        notes.append("Grey: the paper's numbers; the files were not at hand.")
    return table_plot(
        ("data set", "instances", "attributes", "classes", "positive (%)"),
        rows,
        (1.4, 1.2, 1.6, 0.9, 1.3),
        title="The data sets, measured",
        right=(1, 2, 3, 4),
        marks=marks,
        notes=notes,
    )


def _cell(value: Any, measure: str) -> str:
    if value is None:
        return "–"
    return f"{value:.2f}" if isinstance(value, float) else f"{value}"


def finding(tables: Mapping[str, Table]) -> str:
    """Name the cells that differ."""
    table = tables["data-sets"]
    names = table.distinct("data_set")
    measured = [name for name in names if any(value is not None for value in table.where(data_set=name)["measured"])]
    compared = sum(value is not None for value in table["measured"])
    found = differences(table)
    text = f"{compared - len(found)} of {compared} numbers measured on {len(measured)} of {len(names)} data sets agree"
    if not found:
        text += " with the paper"
    else:
        text += "; " + "; ".join(
            f"{name} has {value:g} {measure}, not {stated}" for name, measure, stated, value in found
        )
        if ("adult", "attributes") in {(name, measure) for name, measure, _, _ in found}:
            text += " (the paper drops one column of adult without saying which; all are used here)"
    if len(measured) < len(names):
        text += "; the others need the UCI files (--data)"
    return text + "."


FIGURE = Figure(
    name="dm-table-1",
    source="[DM] Table 1",
    title="The data sets of the experiments",
    paper="Eight public data sets with 1000 to 48842 records, 13 to 64 attributes and 2 to 10 classes.",
    compute=compute,
    draw=draw,
    finding=finding,
)
