"""A page about a synthesizer: every one-way table with its error bars, and how far each pair may be off."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from simplexdp import _arguments
from simplexdp._core import __version__
from simplexdp.exceptions import InvalidParameterError
from simplexdp.report.drawing import axis, bar
from simplexdp.report.facts import Facts
from simplexdp.report.meaning import meaning
from simplexdp.report.page import as_page, provenance
from simplexdp.report.text import escaped, percent, power, rounded
from simplexdp.report.whose import whose

if TYPE_CHECKING:
    from simplexdp.models import PaidComparison, PrivateSynthesizer
    from simplexdp.models.error_bounds import MarginalBounds

__all__ = ["synthesis_record", "synthesis_report"]

MOST_LEVELS = 40
"""Longer tables show their largest shares."""

MOST_COLUMNS = 60
"""The map of pairs has room for so many."""

SIDE = 26
MARGIN = 150
LONGEST_NAME = 20
"""Of a column on the map of pairs; the space that shorter names leave is cut off."""

LETTER, WIDE_LETTER = 7.5, 12.5
"""Widths at most, in the same unit."""


def synthesis_report(
    model: PrivateSynthesizer,
    *,
    level: float = 0.95,
    title: str = "Synthetic records",
    notes: Sequence[str] = (),
    comparison: PaidComparison | None = None,
    facts: Facts | None = None,
) -> str:
    """Return one self-contained HTML page about the quality of a fitted synthesizer.

    Everything on it follows from what was released, so it costs nothing: the shares that the model says, intervals in
    which the true ones lie, and for each pair how much the columns depend on each other in the model, and how far its
    table may be from the true one. The true counts are not looked at.

    Parameters
    ----------
    model : PrivateSynthesizer
        A fitted one.
    level : float
        Of each table's bounds.
    title : str
        Of the page.
    notes : sequence of str
        Remarks, one paragraph each. Those that start with NOT PRIVATE stand on top, as warnings.
    comparison : PaidComparison, optional
        What `PrivateSynthesizer.compare` returned; the page says its price.
    facts : Facts, optional
        Source, date, ledger, and the code that made it.

    Returns
    -------
    str

    Examples
    --------
    >>> from simplexdp.models import PrivateSynthesizer
    >>> from simplexdp.report import synthesis_report
    >>> people = {"season": [0, 1] * 500, "rain": [1, 0] * 500}
    >>> model = PrivateSynthesizer(domains={"season": 2, "rain": 2}, components=16).fit(people)
    >>> synthesis_report(model).startswith("<!doctype html>")
    True
    """
    level, notes = _checked(model, level, notes, comparison)
    epsilon = float(model.privacy_.epsilon(model.delta))
    loud = [note for note in notes if note.startswith("NOT PRIVATE")]
    quiet = [note for note in notes if note not in loud]
    sections = [
        f"<header><h1>{escaped(title)}</h1>",
        *(f'<p class="warning" role="note">{escaped(note)}</p>' for note in loud),
        f"<p>{len(model.domains_)} columns. All tables together are ({rounded(epsilon, 4)}, {power(model.delta)})-"
        f"differentially private when <bdi>{escaped(whose(model.privacy_).sentence)}</bdi>.</p>",
        *(f"<p>{escaped(note)}</p>" for note in quiet),
        "</header>",
        _pairs(model, level),
        *(_column(model, name, level) for name in model.domains_),
        provenance(facts),
    ]
    return as_page(title, sections)


def synthesis_record(
    model: PrivateSynthesizer,
    *,
    level: float = 0.95,
    title: str = "Synthetic records",
    notes: Sequence[str] = (),
    comparison: PaidComparison | None = None,
    facts: Facts | None = None,
) -> dict[str, Any]:
    """Return what `synthesis_report` shows as JSON-LD for programs: a schema.org Dataset. Arguments are the same.

    All levels and all pairs are there; a pair that was not measured has no bound (None).

    Examples
    --------
    >>> from simplexdp.models import PrivateSynthesizer
    >>> from simplexdp.report import synthesis_record
    >>> people = {"season": [0, 1] * 500, "rain": [1, 0] * 500}
    >>> model = PrivateSynthesizer(domains={"season": 2, "rain": 2}, components=16).fit(people)
    >>> record = synthesis_record(model)
    >>> [column["name"] for column in record["columns"]], len(record["pairs"])
    (['season', 'rain'], 1)
    """
    level, notes = _checked(model, level, notes, comparison)
    curve = model.privacy_
    found = meaning(curve, float(model.delta))
    columns = []
    for name in model.domains_:
        bounds = model.error_bounds([name], level=level)
        columns.append(
            {
                "name": str(name),
                "levels": _labels(model, name),
                "share": bounds.model.tolist(),
                "lower": bounds.lower.tolist(),
                "upper": bounds.upper.tolist(),
                "offAtMost": float(bounds.total_variation),
            }
        )
    pairs = []
    for first, second in combinations(model.domains_, 2):
        apart, measured = _apart(model, first, second), _bounds(model, first, second, level)
        off = None if measured is None else float(measured.total_variation)
        pairs.append({"columns": [str(first), str(second)], "fromIndependent": apart, "offAtMost": off})
    return {
        "@context": "https://schema.org",
        "@type": "Dataset",
        "name": str(title),
        "creator": {"@type": "SoftwareApplication", "name": "simplexdp", "softwareVersion": __version__},
        **({} if facts is None else facts.as_record()),
        "privacy": {
            "epsilon": found.epsilon,
            "delta": found.delta,
            "adjacency": curve.adjacency,
            **({} if curve.unit is None else {"unit": curve.unit}),
            "attackerIsRight": found.guess,
        },
        "level": level,
        "columns": columns,
        "pairs": pairs,
        "notes": list(notes),
    }


def _checked(
    model: PrivateSynthesizer, level: float, notes: Sequence[str], comparison: PaidComparison | None
) -> tuple[float, Sequence[str]]:
    """Return the level, and the remarks with those that belong to the model."""
    from simplexdp.models import PrivateSynthesizer

    if not isinstance(model, PrivateSynthesizer):
        raise InvalidParameterError(f"model must be a PrivateSynthesizer, got {type(model).__name__}")
    level = _arguments.open_unit("level", level)
    if comparison is not None:
        notes = [*notes, comparison_sentence(comparison)]
    return level, ["NOT PRIVATE: made with a seed.", *notes] if model.seeded_ else notes


def comparison_sentence(comparison: PaidComparison) -> str:
    """Return what a comparison that was paid for says, and its price."""
    measured = zip(
        ("one-way tables", "pairs", "the pair that is furthest off"),
        (comparison.one_way, comparison.pairs, comparison.largest_pair),
        comparison.margins,
        strict=True,
    )
    said = ", ".join(
        f"{name} {percent(max(value, 0.0), 2)} (give or take {percent(most, 2)})" for name, value, most in measured
    )
    price = float(comparison.privacy.epsilon(0.0))
    return (
        f"Compared with the records once more, for another epsilon of {rounded(price, 4)} beside the above: of all "
        f"records, so many would have to change in the mean, each with confidence 95%: {said}."
    )


def _column(model: PrivateSynthesizer, name: Any, level: float) -> str:
    bounds = model.error_bounds([name], level=level)
    labels = _labels(model, name)
    order = np.argsort(-bounds.model, kind="stable") if len(labels) > MOST_LEVELS else np.arange(len(labels))
    shown = order[:MOST_LEVELS]
    end = max(float(bounds.upper[shown].max()), float(bounds.model[shown].max()), 1e-3)
    rows = "".join(
        f'<tr><th scope="row">{escaped(labels[at])}</th>'
        f"<td>{bar(float(bounds.model[at]), float(bounds.lower[at]), float(bounds.upper[at]), end)}</td>"
        f"<td>{percent(float(bounds.model[at]), 1)}</td>"
        f"<td>{_interval(float(bounds.lower[at]), float(bounds.upper[at]))}</td></tr>"
        for at in shown
    )
    more = f"<p>The {len(shown)} largest of {len(labels)} levels.</p>" if len(shown) < len(labels) else ""
    return (
        f"<section><h2>{escaped(name)}</h2><p>At most {percent(bounds.total_variation, 1, up=True)} of the records "
        f"would have to change for the true table, with confidence {percent(level, 0)}.</p>{more}"
        f'<div class="scroll"><table class="levels"><thead><tr><th scope="col">value</th><td>{axis(end)}</td>'
        '<th scope="col">share</th>'
        f'<th scope="col">true share</th></tr></thead><tbody>{rows}</tbody></table></div></section>'
    )


def _interval(lower: float, upper: float) -> str:
    return f"{percent(lower, 1, up=False)} to {percent(upper, 1, up=True)}"


def _labels(model: PrivateSynthesizer, name: Any) -> list[str]:
    if name not in model.bin_edges_:
        return ["(missing)" if each is None else str(each) or "(empty)" for each in model.domains_[name].levels]
    edges = [f"{edge:g}" for edge in model.bin_edges_[name]]
    missing = ["(missing)"] if model.numeric_columns_[name].null else []
    if not edges:
        return ["all", *missing]
    inner = [f"{low} to {high}" for low, high in pairwise(edges)]
    return [f"below {edges[0]}", *inner, f"{edges[-1]} and above", *missing]


def _pairs(model: PrivateSynthesizer, level: float) -> str:
    names = list(model.domains_)[:MOST_COLUMNS]
    cells, worst = [], None
    for (i, first), (j, second) in combinations(enumerate(names), 2):
        apart = _apart(model, first, second)
        bounds = _bounds(model, first, second, level)
        off = None if bounds is None else bounds.total_variation
        if off is not None and (worst is None or off > worst):
            worst = off
        said = f"{first} and {second}: {percent(apart, 1)} apart from independent columns in the model; " + (
            "not measured" if off is None else f"at most {percent(off, 1, up=True)} of the records off"
        )
        cells.append(_square(j, i, min(1.0, apart / 0.5), said))
        cells.append(_square(i, j, 0.0 if off is None else min(1.0, off / 0.5), said))
    longest = max(sum(LETTER if ord(sign) < 0x1100 else WIDE_LETTER for sign in _short(name)) for name in names)
    unused = max(MARGIN - 12 - math.ceil(longest), 0)
    size = MARGIN + SIDE * len(names) - unused
    words = "".join(_name(at, name) for at, name in enumerate(names))
    claim = "" if worst is None else f" No measured pair is off by more than {percent(worst, 1, up=True)}."
    return (
        "<section><h2>Pairs of columns</h2><p>Right of the diagonal: how far the model's pairs are from independent "
        f"columns. Left of it: how far the true pairs may be from the model's, with confidence {percent(level, 0)} for "
        f"each. Full colour stands for half of all records or more.{claim}</p>"
        f'<div class="scroll"><svg role="img" aria-label="heat map of pairs" width="{size}" height="{size}" '
        f'viewBox="{unused} {unused} {size} {size}" fill="currentColor" font-size="12">{words}{"".join(cells)}'
        "</svg></div></section>"
    )


def _short(name: Any) -> str:
    return str(name)[:LONGEST_NAME]


def _name(at: int, name: Any) -> str:
    """Draw the name of a column beside its row and above its column."""
    place, text = MARGIN + SIDE * at + 17, escaped(_short(name))
    return (
        f'<text x="{MARGIN - 6}" y="{place}" text-anchor="end">{text}</text>'
        f'<text transform="translate({place} {MARGIN - 6}) rotate(-90)">{text}</text>'
    )


def _apart(model: PrivateSynthesizer, first: Any, second: Any) -> float:
    """Return how far a pair of the model is from independent columns, in shares of the records."""
    table = model.marginal([first, second])
    return 0.5 * float(np.abs(table - np.outer(table.sum(1), table.sum(0))).sum())


def _bounds(model: PrivateSynthesizer, first: Any, second: Any, level: float) -> MarginalBounds | None:
    """Return the bounds of a pair, None for one that was not measured."""
    names = list(model.domains_)
    pair = (names.index(first), names.index(second))
    return model.error_bounds([first, second], level=level) if pair in model.pairs_ else None


def _square(column: int, row: int, strength: float, said: str) -> str:
    x, y = MARGIN + SIDE * column, MARGIN + SIDE * row
    return (
        f'<rect x="{x}" y="{y}" width="{SIDE - 2}" height="{SIDE - 2}" fill="#2f6fb3" '
        f'fill-opacity="{0.06 + 0.94 * strength:.3f}"><title>{escaped(said)}</title></rect>'
    )
