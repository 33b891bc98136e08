"""``simplexdp compare``: which mechanism wins at equal guarantees."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from simplexdp.cli import options
from simplexdp.cli.progress import Progress
from simplexdp.cli.writing import Output, Result, emit

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
    epilog="""\b
Examples:
  simplexdp compare --n 1000 --dimension 10 --epsilon 1 --delta 1e-6
  simplexdp compare --n 1000 --dimension 10 --epsilon 1 --delta 1e-6 --metric l1 --json
  simplexdp compare --n 100,1000,10000 --dimension 2,10 --epsilon 1 --delta 1e-6 --plot winners.png
"""
)
@click.option("--n", type=_Numbers(), required=True, metavar="N[,N...]", help="Numbers of records.")
@click.option("--dimension", type=_Numbers(), required=True, metavar="D[,D...]", help="Numbers of categories.")
@click.option("--epsilon", type=float, required=True, help="Privacy budget of every mechanism.")
@click.option("--delta", type=float, required=True, help="Privacy budget of every mechanism.")
@click.option("--metric", type=click.Choice(["kl", "hellinger", "l1", "linf"]), default="kl", show_default=True)
@click.option("--plot", type=click.Path(dir_okay=False), metavar="FILE", help="Heat map of the winners, PNG or SVG.")
@options.output_options
def compare(
    n: tuple[int, ...],
    dimension: tuple[int, ...],
    epsilon: float,
    delta: float,
    metric: Any,
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
    comparison: Any = import_module("simplexdp.comparison")
    if len(n) == len(dimension) == 1 and plot is None:
        with Progress("comparing") as bar:
            bar()
            found = comparison.compare(n[0], dimension[0], epsilon, delta, metric=metric)
        rows = found.to_dict()["rows"]
        columns = {name: [row[name] for row in rows] for name in rows[0]}
        details = {key: value for key, value in found.to_dict().items() if key != "rows"}
        emit(Result(columns, details, [f"Best: {found.winner}."]), output, quiet=quiet)
        return
    raise click.UsageError("several N or D are not available yet")
