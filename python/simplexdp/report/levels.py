"""A page about a release of a hierarchy: all levels with their intervals, and what each of them got of the budget."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from simplexdp import _arguments as check
from simplexdp.exceptions import InvalidParameterError
from simplexdp.hierarchy import HierarchicalCounts
from simplexdp.hierarchy.expected import expected
from simplexdp.models.released import Law
from simplexdp.report.drawing import axis, bar
from simplexdp.report.facts import Facts
from simplexdp.report.meaning import meaning
from simplexdp.report.page import (
    NOT_REPEATED,
    as_page,
    in_plain_words,
    listed,
    made_with,
    provenance,
    record_head,
    remarks,
    shown,
    summary,
    warnings,
    warns,
    whole_curve,
)
from simplexdp.report.shares import LARGEST_SHOWN, MOST_ROWS
from simplexdp.report.text import escaped, percent, rounded

if TYPE_CHECKING:
    from simplexdp.report.meaning import Meaning

__all__ = ["hierarchy_record", "hierarchy_report"]


def hierarchy_report(
    *,
    counts: HierarchicalCounts,
    level: float = 0.95,
    guarantee: Mapping[str, Any],
    title: str = "Private counts on the levels of a hierarchy",
    notes: Sequence[str] = (),
    facts: Facts | None = None,
) -> str:
    """Return one self-contained HTML page about counts on all levels of a hierarchy.

    Everything on it follows from what was released and from public numbers. All text is escaped.

    Parameters
    ----------
    counts : HierarchicalCounts
        What `simplexdp.hierarchy.release` returned; it holds no true count.
    level : float
        Of the intervals.
    guarantee : mapping
        ``delta``, at which the curve is read; ``epsilon``, if one was asked for; anything else is listed.
    title : str
        Of the page.
    notes : sequence of str
        Remarks, one paragraph each. Those that start with NOT PRIVATE stand on top, as warnings.
    facts : Facts, optional
        Where the release comes from.

    Returns
    -------
    str

    Examples
    --------
    >>> from simplexdp import hierarchy
    >>> from simplexdp.report import hierarchy_report
    >>> places = hierarchy.Hierarchy.from_mapping(["region", "district"], {"north": ["n1", "n2"], "south": ["s1"]})
    >>> people = {"district": ["n1"] * 50 + ["n2"] * 30 + ["s1"] * 20}
    >>> found = hierarchy.release(people, places, epsilon=1.0)
    >>> page = hierarchy_report(counts=found, guarantee={"epsilon": 1.0})
    >>> page.startswith("<!doctype html>"), "<script" in page
    (True, False)
    """
    found = _checked(counts, guarantee)
    level = check.open_unit("level", level)
    curve, places = counts.privacy, counts.hierarchy
    cells = sum(len(places.groups(column)) for column in places.columns) * len(counts.levels or [None])
    loud = [note for note in notes if warns(note)]
    sections = [
        warnings(loud),
        summary(title, found, curve, f"{cells:,} {'count' if cells == 1 else 'counts'} on {_levels(places.depth)}"),
        _picture(counts, level, seeded=bool(loud)),
        *_tables(counts, level),
        _budget(counts, found),
        in_plain_words(found, curve),
        remarks([note for note in notes if not warns(note)]),
        provenance(facts),
        whole_curve(found, curve),
        listed("Parameters", {name: value for name, value in guarantee.items() if name not in NOT_REPEATED}),
        made_with(),
    ]
    return as_page(title, sections)


def hierarchy_record(
    *,
    counts: HierarchicalCounts,
    level: float = 0.95,
    guarantee: Mapping[str, Any],
    title: str = "Private counts on the levels of a hierarchy",
    notes: Sequence[str] = (),
    facts: Facts | None = None,
) -> dict[str, Any]:
    """Return what `hierarchy_report` shows as JSON-LD for programs: a schema.org Dataset. Arguments are the same.

    Examples
    --------
    >>> from simplexdp import hierarchy
    >>> from simplexdp.report import hierarchy_record
    >>> places = hierarchy.Hierarchy.from_mapping(["region", "district"], {"north": ["n1", "n2"], "south": ["s1"]})
    >>> found = hierarchy.release({"district": ["n1"] * 50 + ["s1"] * 20}, places, epsilon=1.0)
    >>> record = hierarchy_record(counts=found, guarantee={"epsilon": 1.0})
    >>> [each["level"] for each in record["levels"]], record["levels"][1]["data"][0]["group"]
    (['region', 'district'], ['north', 'n1'])
    """
    found = _checked(counts, guarantee)
    level = check.open_unit("level", level)
    levels = []
    for budget, (column, rows) in zip(_budgets(counts, found), _rows(counts, level), strict=True):
        data = [
            {
                "group": [str(part) for part in path],
                **({} if counts.levels is None else {"label": str(value)}),
                "count": round(mean, 6),
                "countInterval": None if ends is None else list(ends),
            }
            for path, value, mean, ends in rows
        ]
        levels.append({"level": str(column), **budget, "data": data})
    return {
        **record_head(title, found, counts.privacy, facts),
        "parameters": {str(name): shown(value) for name, value in guarantee.items() if name not in NOT_REPEATED},
        "level": level,
        "records": counts.total,
        "intervals": "credible",
        "levels": levels,
        "notes": [str(note) for note in notes],
    }


def _checked(counts: Any, guarantee: Mapping[str, Any]) -> Meaning:
    if not isinstance(counts, HierarchicalCounts):
        raise InvalidParameterError(f"counts must be what hierarchy.release returned, got {type(counts).__name__}")
    return meaning(counts.privacy, check.non_negative("delta", guarantee.get("delta", 0.0)))


def _levels(number: int) -> str:
    return f"{number} {'level' if number == 1 else 'levels'}"


Row = tuple[tuple[Any, ...], Any, float, tuple[int, int] | None]


def _rows(counts: HierarchicalCounts, level: float) -> list[tuple[Any, list[Row]]]:
    """Return each level's column with its groups, values, counts and intervals, whose ends are rounded outward."""
    places, values = counts.hierarchy, counts.levels or [None]
    found = []
    for column, (means, ends) in zip(places.columns, expected(counts, level), strict=True):
        paths = places.groups(column)
        table = means.reshape(len(paths), len(values))
        both = None if ends is None else ends.reshape(*table.shape, 2)
        rows: list[Row] = []
        for i, path in enumerate(paths):
            for j, value in enumerate(values):
                whole = None
                if both is not None:
                    low, high = (round(float(end), 6) for end in both[i, j])
                    whole = (max(math.floor(low), 0), max(math.ceil(high), 0))
                rows.append((path, value, float(table[i, j]), whole))
        found.append((column, rows))
    return found


def _picture(counts: HierarchicalCounts, level: float, *, seeded: bool) -> str:
    """Return the picture of all groups within the page; of too many there is none, as the tables hold them."""
    from simplexdp.plots.hierarchies import fits_hierarchy, hierarchy
    from simplexdp.plots.style import style

    if not fits_hierarchy(counts.hierarchy, None if counts.levels is None else len(counts.levels)):
        return ""
    drawn = io.BytesIO()
    with style():
        figure: Any = hierarchy(counts, level=level).figure
        if seeded:
            figure.text(0.5, 0.005, "NOT PRIVATE: made with a seed", ha="center", va="bottom", color="red")
        figure.savefig(drawn, format="svg", metadata={"Date": None})
    content = base64.b64encode(drawn.getvalue()).decode("ascii")
    return (
        '<section aria-labelledby="picture"><h2 id="picture">All levels</h2>\n'
        '<figure class="sideways"><img class="picture" '
        'alt="The counts of all groups, each above those that lie in it; the tables below hold the numbers." '
        f'src="data:image/svg+xml;base64,{content}"></figure></section>\n'
    )


def _tables(counts: HierarchicalCounts, level: float) -> list[str]:
    coverage = percent(level, max(0, len(f"{100 * level:.10g}".partition(".")[2])))
    sections = []
    for depth, (column, rows) in enumerate(_rows(counts, level)):
        words = ""
        if depth == 0:
            words = (
                "<p>The bar is the count to expect, given what was released on all levels. The line is the "
                f"{coverage} interval: the count in these data lies on it with that probability, given the release. "
                "Groups add up to the one in which they lie.</p>"
                if rows[0][-1] is not None
                else "<p>Counts are estimates by least squares, which add up and may be below zero: the noise is too "
                "large for intervals.</p>"
            )
        table = _table(rows, coverage, range(len(rows)))
        if len(rows) > MOST_ROWS:
            largest = np.argsort([-row[2] for row in rows], kind="stable")[:LARGEST_SHOWN].tolist()
            table = (
                f"<h3>The {LARGEST_SHOWN} largest of {len(rows):,}</h3>{_table(rows, coverage, largest)}"
                f"<details><summary>All {len(rows):,} counts, in the order of the hierarchy</summary>{table}</details>"
            )
        sections.append(f"<section><h2>By <bdi>{escaped(column)}</bdi></h2>\n{words}{table}</section>\n")
    return sections


def _table(rows: Sequence[Row], coverage: str, order: Sequence[int]) -> str:
    end = max([1.0, *(max(row[2], 0 if row[3] is None else row[3][1]) for row in rows)])
    # Explicit roles: on a phone rows are laid out as grids, and a screen reader shall still find a table.
    body = [
        '<div class="scroll"><table class="shares" role="table"><thead role="rowgroup"><tr role="row">'
        '<th scope="col" role="columnheader">Group</th><th scope="col" role="columnheader">Records</th>'
        f'<th scope="col" role="columnheader">{coverage} interval</th>'
        f'<th scope="col" role="columnheader"><span class="unseen">Bar</span>{axis(end, counts=True)}</th></tr></thead>'
        '<tbody role="rowgroup">\n'
    ]
    for at in order:
        path, value, mean, ends = rows[at]
        label = escaped(" > ".join(map(str, path)) + ("" if value is None else f": {value}"))
        title = f' title="{label}"' if len(label) > 60 else ""
        interval = "none" if ends is None else f"{ends[0]:,} – {ends[1]:,}"
        low, high = (None, None) if ends is None else ends
        body.append(
            f'<tr role="row"><th scope="row" role="rowheader"><bdi{title}>{label}</bdi></th>'
            f'<td role="cell">{mean:,.1f}</td><td role="cell">{interval}</td>'
            f'<td role="cell">{bar(mean, low, high, end)}</td></tr>\n'
        )
    return "".join([*body, "</tbody></table></div>"])


def _budgets(counts: HierarchicalCounts, found: Meaning) -> list[dict[str, Any]]:
    """Return what each level got: nothing where it was not measured."""
    budgets = []
    for share, mechanism in zip(counts.shares, counts.mechanisms, strict=True):
        measured = mechanism is not None
        budgets.append(
            {
                "share": float(share),
                "mechanism": mechanism.__class__.__name__.removesuffix("Mechanism") if measured else None,
                "epsilon": float(mechanism.privacy.epsilon(found.delta)) if mechanism is not None else 0.0,
                "standardDeviation": math.sqrt(Law.of_noise(mechanism).variance) if measured else None,
            }
        )
    return budgets


NOISES = {"DiscreteLaplace": "discrete Laplace", "DiscreteGaussian": "discrete Gaussian"}


def _budget(counts: HierarchicalCounts, found: Meaning) -> str:
    rows = []
    for column, each in zip(counts.hierarchy.columns, _budgets(counts, found), strict=True):
        noise, epsilon = "not measured: it follows from the others", "–"
        if each["mechanism"] is not None:
            noise = f"{NOISES[each['mechanism']]}, sd {each['standardDeviation']:.3g}"
            epsilon = rounded(each["epsilon"])
        rows.append(
            f'<tr><th scope="row"><bdi>{escaped(column)}</bdi></th><td>{percent(each["share"], 1)}</td>'
            f"<td>{epsilon}</td><td>{noise}</td></tr>"
        )
    return (
        '<section aria-labelledby="budget"><h2 id="budget">The budget by level</h2>\n<table class="budget"><thead><tr>'
        '<th scope="col">Level</th><th scope="col">Share</th><th scope="col">epsilon by itself</th>'
        f'<th scope="col">Noise of each count</th></tr></thead><tbody>{"".join(rows)}</tbody></table>\n'
        f"<p>A record counts once on every level that was measured. All levels together cost epsilon "
        f"{rounded(found.epsilon)}, the composition of their curves.</p></section>\n"
    )
