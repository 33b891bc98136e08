"""``simplexdp compare``: which mechanism wins at equal guarantees."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from simplexdp.cli import options
from simplexdp.cli.files import Command
from simplexdp.cli.guarantee import warn_of
from simplexdp.cli.neighbours import adjacency_of
from simplexdp.cli.pictures import check_picture, save_plot
from simplexdp.cli.progress import Progress
from simplexdp.cli.writing import Output, Result, emit, wrote

__all__ = ["compare"]


class _Numbers(click.ParamType):  # type: ignore[type-arg]
    """One or more positive integers, separated by commas."""

    name = "numbers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        try:
            numbers = tuple(int(float(part)) for part in str(value).split(","))
        except (ValueError, OverflowError):
            numbers = ()
        if not numbers or min(numbers) < 1:
            self.fail(f"{value!r} is not a list of positive integers such as 100,1000", param, ctx)
        return numbers


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  simplexdp compare --n 1000 --dimension 10 --epsilon 1 --delta 1e-6
  simplexdp compare --n 1000 --dimension 10 --epsilon 1 --delta 1e-6 --metric l1 --json
  simplexdp compare --n 100,1000 --dimension 2,10 --epsilon 1 --delta 1e-6 --plot winners.png
""",
)
@click.option("--n", type=_Numbers(), required=True, metavar="N[,N...]", help="Numbers of records.")
@click.option("--dimension", type=_Numbers(), required=True, metavar="D[,D...]", help="Numbers of categories.")
@click.option("--epsilon", type=float, required=True, help="Privacy budget of every mechanism.")
@click.option("--delta", type=float, required=True, help="Privacy budget of every mechanism.")
@click.option("--metric", type=click.Choice(["kl", "hellinger", "l1", "linf"]), default="kl", show_default=True)
@click.option("--plot", type=click.Path(dir_okay=False), metavar="FILE", help="Heat map of the winners, PNG or SVG.")
@adjacency_of("replace")
@options.output_options
def compare(
    n: tuple[int, ...],
    dimension: tuple[int, ...],
    epsilon: float,
    delta: float,
    metric: Any,
    adjacency: str,
    plot: str | None,
    out: str | None,
    form: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Say which mechanism has the least error at equal exact (epsilon, delta), and by how much. No data are read.

    Each mechanism gets its best public post-processing. With several N or D, the winner of every pair.
    """
    output = Output.chosen(out, form, as_json)
    if plot is not None:
        check_picture("--plot", plot)
    comparison: Any = import_module("simplexdp.comparison")
    with Progress("comparing") as bar:

        def progress(done: int, of: int) -> None:
            bar(done / of)

        budget = {"epsilon": epsilon, "delta": delta, "metric": metric, "adjacency": adjacency, "progress": progress}
        if len(n) == len(dimension) == 1 and plot is None:
            found = comparison.compare(n[0], dimension[0], **budget)
            result = _table_of(found)
        else:
            found = comparison.winners(n, dimension, **budget)
            result = _map_of(found)
    warn_of(epsilon, delta, max(n), quiet=quiet)
    if output.form == "table" and output.path is None:
        click.echo(str(found))
    else:
        emit(result, output, quiet=quiet)
    if plot is not None:
        save_plot(lambda plots: plots.winner_map(found), plot)
        wrote(plot)


def _table_of(found: Any) -> Result:
    content = found.to_dict()
    rows = content.pop("rows")
    names = ("mechanism", "postprocessing", "error", "standard_error", "ratio")
    columns = {name: [row[name] for row in rows] for name in names}
    return Result(columns, content, [f"Best: {found.winner}{_tie(bool(content.get('ties')))}."])


def _map_of(found: Any) -> Result:
    content = found.to_dict()
    cells = [(i, j) for i in range(len(content["ns"])) for j in range(len(content["dimensions"]))]
    columns = {
        "n": [content["ns"][i] for i, _ in cells],
        "dimension": [content["dimensions"][j] for _, j in cells],
        "winner": _picked(content.pop("winner"), cells),
        "margin": _picked(content.pop("margin"), cells),
        "tied": _picked(content.pop("tied"), cells),
    }
    return Result(columns, content, ["margin is the error of the second over that of the winner."])


def _picked(table: Any, cells: list[tuple[int, int]]) -> list[Any]:
    return [table[i][j] for i, j in cells]


def _tie(tied: bool) -> str:
    return ", tied with others" if tied else ""
