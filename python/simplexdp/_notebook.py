"""Tables for notebooks: escaped, without styles of their own, so that they follow the look of the notebook."""

import html
from collections.abc import Iterable, Sequence

from simplexdp._typesetting import kept_together

__all__ = ["MOST_SHOWN", "largest", "table"]

MOST_SHOWN = 50
"""Rows of a table in a notebook; of more the largest are shown."""


def largest(values: Sequence[float]) -> tuple[list[int], str]:
    """Return which rows are shown, all in their order or the largest by size, and what is to be said of the others.

    Examples
    --------
    >>> largest([0.2, 0.8])
    ([0, 1], '')
    """
    if len(values) <= MOST_SHOWN:
        return list(range(len(values))), ""
    order = sorted(range(len(values)), key=lambda place: -values[place])
    rest = sum(values[place] for place in order[MOST_SHOWN:])
    return order[:MOST_SHOWN], (
        f"The {MOST_SHOWN} largest of {len(values)}; the {len(values) - MOST_SHOWN} others have {100 * rest:.2f} %."
    )


def table(
    heads: Sequence[object], rows: Iterable[Sequence[object]], *, caption: object = "", notes: Sequence[object] = ()
) -> str:
    """Return an HTML table whose first column names the rows.

    Examples
    --------
    >>> table(["delta"], [["<1"]]).partition("<tbody>")[2]
    '<tr><th scope="row">&lt;1</th></tr></tbody></table>'
    """

    def shown(value: object) -> str:
        return html.escape(kept_together(str(value)))

    above = f"<caption>{shown(caption)}</caption>" if caption else ""
    head = "".join(f'<th scope="col">{shown(name)}</th>' for name in heads)
    body = "".join(
        f'<tr><th scope="row">{shown(row[0])}</th>' + "".join(f"<td>{shown(cell)}</td>" for cell in row[1:]) + "</tr>"
        for row in rows
    )
    below = "".join(f"<p>{shown(note)}</p>" for note in notes)
    return f"<table>{above}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"
