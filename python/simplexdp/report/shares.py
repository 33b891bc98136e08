"""Released shares on a page: tables with intervals, counts and bars; of groups one below the other."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp import _arguments as check
from simplexdp.exceptions import InvalidParameterError
from simplexdp.report.drawing import axis, bar
from simplexdp.report.text import escaped, percent

__all__ = ["LARGEST_SHOWN", "MOST_ROWS", "Kind", "Shares", "clean"]

MOST_ROWS = 40
"""Longer tables open with their largest shares; the whole table is behind a click."""

LARGEST_SHOWN = 20

Kind = Literal["confidence", "credible"]

Counts = tuple[ArrayLike, ArrayLike, ArrayLike]


@dataclass(frozen=True)
class Shares:
    """Shares with the ends of their intervals, shape (d, 2), the same of counts where they are known, and groups."""

    labels: Sequence[object]
    values: NDArray[np.float64]
    ends: NDArray[np.float64]
    counts: NDArray[np.float64] | None = None
    count_ends: NDArray[np.int64] | None = None
    by: Sequence[object] | None = None
    of_records: bool = False
    """Whether shares are of these very records, and not of all whom such records come from."""

    @classmethod
    def checked(
        cls,
        labels: Sequence[object],
        values: ArrayLike,
        lower: ArrayLike,
        upper: ArrayLike,
        *,
        total: int | None = None,
        counts: Counts | None = None,
        by: Sequence[object] | None = None,
    ) -> "Shares":
        """Return what was given, if it fits together; of `total` records shares tell the counts."""
        shares = check.numbers("values", values)
        if shares.ndim != 1 or shares.size == 0:
            raise InvalidParameterError(f"values must have shape (d,), got shape {shares.shape}")
        ends = [check.numbers("lower", lower), check.numbers("upper", upper)]
        if any(end.shape != shares.shape for end in ends) or len(labels) != shares.size:
            raise InvalidParameterError(f"labels, lower and upper must have {shares.size} entries, one for each value")
        if by is not None and len(by) != shares.size:
            raise InvalidParameterError(f"by must have {shares.size} entries, one for each value")
        both = np.stack(ends, axis=-1)
        if counts is not None:
            parts = [check.numbers("counts", part) for part in counts] if isinstance(counts, Sequence) else []
            if len(parts) != 3 or any(part.shape != shares.shape or np.any(abs(part) > 2.0**53) for part in parts):
                raise InvalidParameterError(
                    f"counts must be three times {shares.size} numbers to 2^53: values, lower, upper"
                )
            numbers, *stated = parts
            return cls(labels, shares, both, np.clip(numbers, 0.0, None), _whole(np.stack(stated, axis=-1)), by)
        if total is None:
            return cls(labels, shares, both, by=by)
        return cls(
            labels,
            shares,
            both,
            np.array([clean(s) * total for s in shares]),
            _whole(both * total),
            by,
            of_records=True,
        )

    @property
    def size(self) -> str:
        """How many there are, in words."""
        number = len(self.labels)
        if self.by is None:
            return f"{number:,} {'category' if number == 1 else 'categories'}"
        groups = len(dict.fromkeys(map(str, self.by)))
        return f"{groups:,} {'group' if groups == 1 else 'groups'}, {number:,} categories in all"

    def section(self, level: float, kind: Kind) -> str:
        """Return the section of a page that shows them."""
        coverage = _coverage(level)
        words = {
            "confidence": f"The bar is the released share. The line is the {coverage} interval: it covers the true "
            f"share with a probability of at least {coverage}, and was computed from the release and public parameters "
            "alone. It need not be centred on the bar, because it allows for what the mechanism does to the shares.",
            "credible": "The bar is the share to expect, given what was released. The line is the "
            f"{coverage} interval: the share lies on it with that probability, given the release. Both know of the "
            "noise, and were computed from the release and public parameters alone.",
        }[kind]
        if self.by is not None:
            words += " Shares are of the records of a group."
        if self.count_ends is not None and kind == "credible":
            words += (
                " Shares and records are those in these data."
                if self.of_records
                else f" Shares are those with which such records come, records those in these data, with their own "
                f"{coverage} interval."
            )
        heading = '<section aria-labelledby="shares"><h2 id="shares">Released distribution</h2>'
        return f"{heading}\n<p>{words}</p>\n{self.tables(level)}</section>\n"

    def named_section(self, name: object, level: float) -> str:
        """Return a section behind a name of its own."""
        return f"<section><h2><bdi>{escaped(name)}</bdi></h2>\n{self.tables(level)}</section>\n"

    def tables(self, level: float) -> str:
        """Return the table, or one for each group; of many rows the largest, and the rest behind a click."""
        everything = np.arange(self.values.size)
        whole = self._groups(level) if self.by is not None else self._table(everything, level)
        if self.values.size <= MOST_ROWS:
            return whole
        largest = np.argsort(-self.values, kind="stable")[:LARGEST_SHOWN]
        what = "categories, in their own order" if self.by is None else "categories, group by group"
        return (
            f"<h3>The {LARGEST_SHOWN} largest of {self.values.size:,}</h3>{self._table(largest, level, grouped=True)}"
            f"<details><summary>All {self.values.size:,} {what}</summary>{whole}</details>"
        )

    def records(self) -> list[dict[str, Any]]:
        """Return the same for programs, one entry each."""
        entries = []
        for i, (label, share, ends) in enumerate(zip(self.labels, self.values, self.ends, strict=True)):
            entry: dict[str, Any] = {} if self.by is None else {"group": str(self.by[i])}
            entry |= {"label": str(label), "share": clean(share), "interval": [clean(end) for end in ends]}
            if self.counts is not None and self.count_ends is not None:
                entry |= {"count": round(float(self.counts[i]), 6), "countInterval": self.count_ends[i].tolist()}
            entries.append(entry)
        return entries

    def _groups(self, level: float) -> str:
        assert self.by is not None
        rows: dict[str, list[int]] = {}
        for i, group in enumerate(self.by):
            rows.setdefault(str(group), []).append(i)
        return "".join(
            f"<h3><bdi>{escaped(group)}</bdi></h3>{self._table(np.array(own), level)}" for group, own in rows.items()
        )

    def _table(self, order: NDArray[np.intp], level: float, *, grouped: bool = False) -> str:
        """Return a table of these rows; `grouped` ones name their group, where there are groups."""
        shares, ends = np.clip(self.values, 0.0, None), np.clip(self.ends, 0.0, None)
        end = max(float(shares.max()), float(ends.max()), 1e-9)  # one axis for all tables
        # As many decimals as the intervals leave any meaning to.
        width = float(np.median(ends[:, 1] - ends[:, 0])) * 100
        decimals = 2 if width <= 0 else int(np.clip(1 - math.floor(math.log10(width)), 1, 6))
        # Explicit roles: on a phone rows are laid out as grids, and a screen reader shall still find a table.
        rows = [
            '<div class="scroll"><table class="shares" role="table"><thead role="rowgroup"><tr role="row">'
            '<th scope="col" role="columnheader">Category</th><th scope="col" role="columnheader">Share</th>'
            f'<th scope="col" role="columnheader">{_coverage(level)} interval</th>'
            + ("" if self.counts is None else '<th scope="col" role="columnheader" class="count">Records</th>')
            + f'<th scope="col" role="columnheader"><span class="unseen">Bar</span>{axis(end)}</th></tr></thead>'
            '<tbody role="rowgroup">\n'
        ]
        for i in order:
            value, low, high = float(shares[i]), float(ends[i, 0]), float(ends[i, 1])
            own = f"{self.by[i]}: {self.labels[i]}" if grouped and self.by is not None else self.labels[i]
            label = escaped(own)
            title = f' title="{label}"' if len(label) > 60 else ""
            interval = f"{percent(low, decimals, up=False)[:-2]} – {percent(high, decimals, up=True)}"
            rows.append(
                f'<tr role="row"><th scope="row" role="rowheader"><bdi{title}>{label}</bdi></th>'
                f'<td role="cell">{percent(value, decimals)}</td><td role="cell">{interval}</td>{self._counted(i)}'
                f'<td role="cell">{bar(value, low, high, end)}</td></tr>\n'
            )
        return "".join([*rows, "</tbody></table></div>"])

    def _counted(self, i: int) -> str:
        if self.counts is None or self.count_ends is None:
            return ""
        first, last = self.count_ends[i].tolist()
        return f'<td role="cell" class="count"><b>{round(float(self.counts[i])):,}</b> ({first:,} – {last:,})</td>'


def clean(share: Any) -> float:
    """Return a share for the public: not negative, and zero where only rounding is left of it."""
    value = float(share)
    return 0.0 if value < 1e-12 else value


def _whole(ends: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the ends of intervals as counts, rounded outward; what is off by the last digits is not."""
    near = np.round(ends, 6)
    outward = np.stack([np.floor(near[:, 0]), np.ceil(near[:, 1])], axis=-1)
    found: NDArray[np.int64] = np.maximum(outward, 0.0).astype(np.int64)
    return found


def _coverage(level: float) -> str:
    return percent(level, max(0, len(f"{100 * level:.10g}".partition(".")[2])))
