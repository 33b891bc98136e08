"""Every figure and table of the five papers that can be run again, by name."""

from __future__ import annotations

from importlib import import_module

from simplexdp.exceptions import InvalidParameterError
from simplexdp.reproduce.figure import Figure

__all__ = ["NAMES", "figure"]

# Each module holds one FIGURE; it is imported when it is asked for.
_MODULES = {
    "dm-table-1": "dm.table_1",
    "dm-figure-1": "dm.figure_1",
    "dm-figure-2": "dm.figure_2",
    "dm-figure-3": "dm.figure_3",
    "dm-figure-4": "dm.figure_4",
    "dm-figure-5": "dm.figure_5",
    "dm-figure-6": "dm.figure_6",
    "dm-figure-7": "dm.figure_7",
    "dm-equations": "dm.equations",
    "dps-figure-1": "dps.figure_1",
    "dps-figure-2": "dps.figure_2",
    "dps-figure-3": "dps.figure_3",
    "hp-figure-1": "hp.figure_1",
    "ha-figure-1a": "ha.figure_1a",
    "ha-figure-1b": "ha.figure_1b",
    "ha-figure-2": "ha.figure_2",
    "ha-figure-3": "ha.figure_3",
    "hn-figure-1": "hn.figure_1",
    "hn-figure-2": "hn.figure_2",
    "hn-figure-3": "hn.figure_3",
    "hn-figure-4": "hn.figure_4",
    "hn-figure-5": "hn.figure_5",
    "hn-figure-6": "hn.figure_6",
    "hn-figure-7": "hn.figure_7",
    "hn-figure-8": "hn.figure_8",
}

NAMES = tuple(_MODULES)
"""The names in the order of the papers."""


def figure(name: str) -> Figure:
    """Return the figure of this name."""
    if name not in _MODULES:
        raise InvalidParameterError(f"name must be one of {', '.join(NAMES)}; got {name!r}")
    found: Figure = import_module(f"simplexdp.reproduce.{_MODULES[name]}").FIGURE
    return found
