"""Every mechanism by name, once: what the command line, comparisons, tables of models and plots know of it.

Cheap to import: a class is loaded when it is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from simplexdp.exceptions import InvalidParameterError

__all__ = ["CATALOGUE", "Entry", "in_words", "names"]

_PERSONS = re.compile("dirichlet|gauss|laplace|hellinger")
BOTH = ("replace", "add_remove")
REPLACE = ("replace",)


@dataclass(frozen=True)
class Entry:
    """What the package knows of a mechanism.

    Parameters
    ----------
    name : str
        In options, tables and legends.
    kind : str
        The name of its class in `simplexdp.mechanisms`.
    pure : bool
        Whether it is epsilon-DP without a delta; the others need one.
    noise : bool
        Whether it adds noise to counts.
    integer : bool
        Whether it releases integers.
    adjacencies : tuple of str
        The neighbours that it protects.
    releases : bool
        Whether ``simplexdp release`` offers it: it releases a histogram.
    tables : bool
        Whether models release tables with rows by it.
    colour, marker : str
        In plots, which have to be readable without colour too.
    """

    name: str
    kind: str
    pure: bool
    noise: bool
    integer: bool
    adjacencies: tuple[str, ...]
    releases: bool
    tables: bool
    colour: str
    marker: str

    @property
    def mechanism(self) -> Any:
        """The class."""
        return getattr(import_module("simplexdp.mechanisms"), self.kind)

    def construction(
        self, epsilon: Any, delta: Any, adjacency: str, dimension: int
    ) -> tuple[list[Any], dict[str, Any]]:
        """Return the arguments of ``for_counts`` of a mechanism that adds noise; what is its default is left out."""
        keywords: dict[str, Any] = {} if len(self.adjacencies) > 1 else {"dimension": dimension}
        if adjacency != "replace":
            keywords["adjacency"] = adjacency
        return [epsilon] if self.pure else [epsilon, delta], keywords


def _entry(name: str, kind: str, colour: str, marker: str, **what: Any) -> Entry:
    usual = {"pure": False, "noise": False, "integer": False, "adjacencies": BOTH, "releases": False, "tables": False}
    return Entry(name, kind, colour=colour, marker=marker, **{**usual, **what})


_COUNTS = {"noise": True, "releases": True}
CATALOGUE: dict[str, Entry] = {
    entry.name: entry
    for entry in (
        _entry("dirichlet", "DirichletMechanism", "#0072B2", "o", releases=True, tables=True),
        _entry("posterior_draw", "DirichletMechanism", "#666666", "P"),
        _entry("gaussian", "GaussianMechanism", "#D55E00", "^", tables=True, **_COUNTS),
        _entry("discrete_gaussian", "DiscreteGaussianMechanism", "#E69F00", "<", integer=True, tables=True, **_COUNTS),
        _entry("laplace", "LaplaceMechanism", "#CC79A7", "v", pure=True, tables=True, **_COUNTS),
        _entry(
            "discrete_laplace",
            "DiscreteLaplaceMechanism",
            "#56B4E9",
            ">",
            pure=True,
            integer=True,
            tables=True,
            **_COUNTS,
        ),
        _entry(
            "sum_preserving_laplace",
            "SumPreservingLaplaceMechanism",
            "#8C510A",
            "D",
            pure=True,
            integer=True,
            adjacencies=REPLACE,
            **_COUNTS,
        ),
        _entry("hellinger", "HellingerMechanism", "#009E73", "s", pure=True, adjacencies=REPLACE),
    )
}
"""In the order of tables and legends."""


def names(which: Callable[[Entry], bool] = lambda _: True) -> tuple[str, ...]:
    """Return the names of the mechanisms that fit, in order.

    Examples
    --------
    >>> names(lambda entry: entry.integer and entry.pure)
    ('discrete_laplace', 'sum_preserving_laplace')
    """
    return tuple(name for name, entry in CATALOGUE.items() if which(entry))


def in_words(name: str) -> str:
    """Return what tables and pictures call a mechanism; other names only lose their underscores.

    Examples
    --------
    >>> in_words("sum_preserving_laplace"), in_words("discrete_gaussian"), in_words("my_noise")
    ('zero-sum Laplace', 'discrete Gaussian', 'my noise')
    """
    if not isinstance(name, str):
        raise InvalidParameterError(f"name must be a text, got {type(name).__name__}")
    if name not in CATALOGUE:
        return name.replace("_", " ")
    words = "zero-sum laplace" if name == "sum_preserving_laplace" else name.replace("_", " ")
    return _PERSONS.sub(lambda found: found[0].capitalize(), words)
