"""Plots and pages, checked before anything is spent and drawn after it was released."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import Any

import click

from simplexdp.cli.files import whole

__all__ = ["check_page", "check_picture", "save_plot"]


def check_picture(option: str, path: str) -> None:
    """Refuse a file that there is no program for."""
    _check_suffix(option, path, (".png", ".svg"))
    import_module("matplotlib").use("Agg")
    import_module("simplexdp.plots")


def check_page(option: str, path: str) -> None:
    """Refuse what is no name of a page; pages draw their figures themselves and need no other program."""
    _check_suffix(option, path, (".html", ".htm"))
    import_module("simplexdp.report")


def _check_suffix(option: str, path: str, suffixes: tuple[str, ...]) -> None:
    if not path.lower().endswith(suffixes):
        raise click.UsageError(f"{option} must end in {' or '.join(suffixes)}, got {path}")


def save_plot(draw: Callable[[Any], Any], path: str, *, seeded: bool = False) -> None:
    """Save the axes that a function of the plots module returns; those of a seeded release say so."""
    from simplexdp.plots.style import style

    with style():
        axes = draw(import_module("simplexdp.plots"))
        if seeded:
            axes.figure.text(0.5, 0.005, "NOT PRIVATE: made with a seed", ha="center", va="bottom", color="red")
        with whole(path) as draft:
            axes.figure.savefig(draft, format=os.path.splitext(path)[1][1:].lower())
