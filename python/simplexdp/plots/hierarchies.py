"""Counts on all levels of a hierarchy: every group above the groups that lie in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from simplexdp import _arguments as check
from simplexdp.exceptions import InvalidParameterError
from simplexdp.plots.groups import fits_panels, groups
from simplexdp.plots.heat import fits_map, heat_map

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["fits_hierarchy", "hierarchy"]

ALL = "count"
"""What is counted where no column has values."""


def fits_hierarchy(places: Any, values: int | None) -> bool:
    """Whether a plot has room for all groups of a hierarchy, with so many values each; None without a column."""
    n_groups = sum(len(places.groups(column)) for column in places.columns)
    return fits_panels(1, n_groups) or fits_map(n_groups, 1) if values is None else fits_map(n_groups, values)


def hierarchy(counts: Any, *, level: float = 0.95) -> Axes:
    """Plot what a release of a hierarchy says of every group, with intervals where there is room for panels.

    Parameters
    ----------
    counts : HierarchicalCounts
        What `simplexdp.hierarchy.release` returned.
    level : float, default 0.95
        Of the intervals.

    Returns
    -------
    matplotlib axes
        The first of them; a table of too many groups is a heat map, without intervals.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> from simplexdp import hierarchy
    >>> places = hierarchy.Hierarchy.from_mapping(["region", "district"], {"north": ["n1", "n2"], "south": ["s1"]})
    >>> people = {"district": ["n1"] * 50 + ["n2"] * 30 + ["s1"] * 20}
    >>> ax = sdp.plots.hierarchy(hierarchy.release(people, places, epsilon=1.0))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['north', 'north > n1', 'north > n2', 'south', 'south > s1']
    """
    from simplexdp.hierarchy import HierarchicalCounts

    if not isinstance(counts, HierarchicalCounts):
        raise InvalidParameterError(f"counts must be what hierarchy.release returned, got {type(counts).__name__}")
    check.open_unit("level", level)
    places, values = counts.hierarchy, counts.levels
    if not fits_hierarchy(places, None if values is None else len(values)):
        raise InvalidParameterError("counts must be of at most 200 groups on all levels together, and 60 values")
    paths = [path for column in places.columns for path in places.groups(column)]
    # A group above those that lie in it, in the order of the hierarchy.
    inside_out = dict.fromkeys(path[:depth] for path in places.paths for depth in range(1, len(path) + 1))
    at = {path: place for place, path in enumerate(inside_out)}
    order = sorted(range(len(paths)), key=lambda row: at[paths[row]])
    names = [" > ".join(map(str, paths[row])) for row in order]
    means, ends = _laws(counts, level)
    means = means[order]
    ends = None if ends is None else ends[order]
    low, high = (None, None) if ends is None else (ends[..., 0], ends[..., 1])
    told = None if ends is None else level
    if values is None:
        if not fits_panels(1, len(names)):
            return heat_map(means[:, None], names=names, labels=(ALL,))
        bars = [None if each is None else each[None] for each in (low, high)]
        return groups(means[None], *bars, names=[" > ".join(map(str, places.columns))], labels=names, level=told)
    if not fits_panels(len(names), len(values)):
        return heat_map(means, names=names, labels=values)
    return groups(means, low, high, names=names, labels=values, level=told)


def _laws(counts: Any, level: float) -> tuple[Any, Any]:
    """Return what is expected of all groups, level by level, and the ends of the intervals if there are any."""
    from simplexdp.hierarchy.expected import expected

    means, ends = zip(*expected(counts, level), strict=True)
    return np.concatenate(means), None if ends[0] is None else np.concatenate(ends)
