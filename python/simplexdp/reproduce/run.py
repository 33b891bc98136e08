"""Run figures: numbers as CSV, plots as PNG and SVG, and one index page that says what was found."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from simplexdp._core import __version__
from simplexdp.exceptions import InsecureRandomnessWarning
from simplexdp.plots.style import style
from simplexdp.reproduce.catalogue import NAMES, figure
from simplexdp.reproduce.figure import Settings

__all__ = ["Outcome", "reproduce"]


@dataclass(frozen=True)
class Outcome:
    """What one figure left behind.

    Attributes
    ----------
    name, source, title, paper : str
        As in the figure.
    finding : str
        What the numbers say.
    seconds : float
    files : tuple of str
        Names inside the directory: plots first, then tables.
    """

    name: str
    source: str
    title: str
    paper: str
    finding: str
    seconds: float
    files: tuple[str, ...]


def reproduce(
    names: Iterable[str] | None,
    out: Path,
    settings: Settings,
    *,
    started: Callable[[str], None] | None = None,
) -> list[Outcome]:
    """Run the named figures, or all, and write them and their index to a directory.

    Parameters
    ----------
    names : iterable of str, or None for all
    out : Path
        Made when it is missing; files of the same name are replaced.
    settings : Settings
    started : callable, optional
        Called with the name of each figure before it runs.
    """
    chosen = [figure(name) for name in (NAMES if names is None else names)]
    out.mkdir(parents=True, exist_ok=True)
    outcomes = []
    for each in chosen:
        if started is not None:
            started(each.name)
        begin = time.perf_counter()
        with warnings.catch_warnings():
            # Nothing here is a private release.
            warnings.simplefilter("ignore", InsecureRandomnessWarning)
            tables = each.compute(settings)
        with style():
            plot = each.draw(tables)
            files = [f"{each.name}.png", f"{each.name}.svg"]
            plot.savefig(out / files[0])
            # Where everything stands is known now; finding it again would take as long.
            plot.set_layout_engine("none")
            # Neither date nor version: the same numbers give the same file.
            plot.savefig(out / files[1], metadata={"Date": None, "Creator": None})
        for name, table in tables.items():
            files.append(f"{each.name}-{name}.csv")
            table.write(out / files[-1])
        seconds = time.perf_counter() - begin
        outcomes.append(
            Outcome(
                each.name, each.source, each.title, each.paper, each.finding(tables), round(seconds, 2), tuple(files)
            )
        )
    _write_index(out, outcomes, settings)
    return outcomes


def _write_index(out: Path, outcomes: Sequence[Outcome], settings: Settings) -> None:
    data = "the bundled data set" if settings.data is None else "the UCI data sets"
    lines = [
        "# The papers' figures, run again",
        "",
        f"Made by `simplexdp reproduce{' --fast' if settings.fast else ''}` with simplexdp {__version__} on {data}.",
    ]
    for each in outcomes:
        tables = ", ".join(f"[{name}]({name})" for name in each.files[2:])
        lines += [
            "",
            f"## {each.source}: {each.title}",
            "",
            f"![{each.title}]({each.files[1]})",
            "",
            f"**The paper:** {each.paper}",
            "",
            f"**Here:** {each.finding}",
            "",
            f"Numbers: {tables}.",
        ]
    (out / "index.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (out / "index.json").write_text(json.dumps([asdict(each) for each in outcomes], indent=1) + "\n", encoding="utf-8")
