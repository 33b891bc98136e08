"""``simplexdp plan``: what each epsilon buys for a task."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, cast

import click

from simplexdp.cli import options
from simplexdp.cli.counting import codes
from simplexdp.cli.files import Command
from simplexdp.cli.guarantee import warn_of
from simplexdp.cli.numbers import stated_bounds
from simplexdp.cli.numeric import stated_columns
from simplexdp.cli.pictures import check_picture, save_plot
from simplexdp.cli.progress import Progress
from simplexdp.cli.reading import Source
from simplexdp.cli.writing import Output, Result, emit, wrote

__all__ = ["plan"]

TASKS = ("histogram", "groups", "posterior", "classifier", "network", "synthesis", "mean", "quantile", "hierarchy")
METRICS = ("counts", "finest", "coarsest", "shares", "largest", "hellinger", "accuracy", "pairs", "span")
SHAPES = ("uniform", "dirichlet", "zipf", "sparse")


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  simplexdp plan histogram --n 1000 --domains 10 --epsilons 0.5,1,2
  simplexdp plan groups --n 5000 --domains 20,4 --metric shares --epsilons 0.5 --plot plan.png
  simplexdp plan synthesis --n 1000 --domains 4,3,2 --epsilons 1 --json
  simplexdp plan hierarchy --n 5000 --domains 5,100 --epsilons 0.5,1
  simplexdp plan mean --n 1000 --bounds 0:100 --epsilons 0.5,1
  simplexdp plan classifier --n 500 --like people.csv --domains domains.json --classes job --epsilons 2
""",
)
@click.argument("task", type=click.Choice(TASKS), metavar="TASK")
@click.option("--n", type=click.IntRange(1), required=True, help="Number of records, public or a public guess.")
@click.option(
    "--domains",
    metavar="D[,D...]|FILE.json",
    help="Numbers of categories of the columns; or a file of public domains, as 'synthesize' takes. 'groups': the "
    "groups first; 'classifier': the classes last; 'hierarchy': groups of each level from coarse to fine.",
)
@click.option("--delta", type=float, default=1e-6, show_default=True, help="Below one in n, better a tenth of it.")
@click.option("--epsilons", metavar="E[,E...]", help="By default 0.1,0.2,0.5,1,2,5,10.")
@click.option(
    "--like",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="CSV or Parquet of a table that is public or synthetic and similar to the private one. Never the private one.",
)
@click.option("--metric", type=click.Choice(METRICS), help="What you look at; by default what is usual for the task.")
@click.option("--target", type=float, help="What is good enough, in units of the metric; shares as 0.05.")
@click.option("--edges", metavar="A>B[,...]", help="Of a network: parents and children.")
@click.option("--classes", metavar="COLUMN", help="Of a classifier: the column of the classes; by default the last.")
@click.option(
    "--bounds", callback=stated_bounds, metavar="LOWER:UPPER", help="Of a mean or a quantile: public; by default 0:1."
)
@click.option(
    "--shape",
    type=click.Choice(SHAPES),
    help="What the shares are like, where that is public: equal, spread out, by rank, on few categories.",
)
@click.option(
    "--adjacency", type=click.Choice(["replace", "add_remove"]), help="By default that of the command that releases."
)
@click.option("--level", type=float, default=0.95, show_default=True, help="Of intervals.")
@click.option("--plot", type=click.Path(dir_okay=False), metavar="FILE", help="A picture, PNG or SVG.")
@options.level_options
@options.output_options
def plan(
    task: str,
    n: int,
    domains: str | None,
    delta: float,
    epsilons: str | None,
    like: str | None,
    metric: str | None,
    target: float | None,
    edges: str | None,
    classes: str | None,
    bounds: tuple[float, float] | None,
    shape: str | None,
    adjacency: str | None,
    level: float,
    plot: str | None,
    other: str | None,
    null: str | None,
    out: str | None,
    form: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Say what each epsilon buys for TASK, before any private record is read.

    TASK is histogram, groups, posterior, classifier, network, synthesis, mean, quantile or hierarchy. At each epsilon
    the best mechanism is tried on made-up data, or on records of a public table: the error, how sure an attacker can
    be, and how many records it takes until privacy costs no more than chance.
    """
    output = Output.chosen(out, form, as_json, default=None if out else "table")
    if domains is None and like is None and task not in TASKS[6:8]:
        raise click.UsageError("--domains or --like must be given")
    if plot is not None:
        check_picture("--plot", plot)
    given: dict[str, Any] = {"target": target, "metric": metric, "adjacency": adjacency, "level": level, "shape": shape}
    if epsilons is not None:
        given["epsilons"] = _floats(epsilons)
    if edges is not None:
        given["edges"] = _pairs(edges)
    if bounds is not None:
        given["bounds"] = bounds
    if classes is not None:
        given["classes"] = classes
    stated, table = _stated(task, domains, like, other, null)
    import simplexdp as sdp

    with Progress("measuring") as bar:
        found = sdp.plan(
            task,
            n=n,
            domains=stated,
            delta=delta,
            like=table,
            progress=lambda done, of: bar(done / of),
            **given,
        )
    warn_of(found.steps[-1].epsilon, delta, n, quiet=quiet)
    if output.form == "table" and output.path is None:
        click.echo(str(found))
        if found.enough is not None:
            click.echo("\nIn Python:\n")
            click.echo("\n".join(f"    {line}" for line in found.enough.code.splitlines()))
    else:
        emit(_result(found), output, quiet=quiet)
    if plot is not None:
        save_plot(lambda plots: plots.plan(found), plot)
        wrote(plot)


def _result(found: Any) -> Result:
    content = found.to_dict()
    rows = content.pop("steps")
    words = content.pop("words")
    names = [name for name in rows[0] if name not in ("code", "by_level")]
    columns = {name: [row[name] for row in rows] for name in names}
    for place, level in enumerate(rows[0]["by_level"]):
        for what in ("share", "value", "within"):
            columns[f"{level['name']} {what}"] = [row["by_level"][place][what] for row in rows]
    return Result(columns, content, [words])


def _floats(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise click.UsageError(f"--epsilons must be numbers such as 0.5,1,2, got {text!r}") from None


def _pairs(text: str) -> list[tuple[str, str]]:
    pairs = [tuple(part.strip() for part in edge.split(">")) for edge in text.split(",")]
    if any(len(pair) != 2 or not all(pair) for pair in pairs):
        raise click.UsageError(f"--edges must be pairs such as age>job,age>sex, got {text!r}")
    return [(first, second) for first, second in pairs]


def _stated(task: str, domains: str | None, like: str | None, other: str | None, null: str | None) -> tuple[Any, Any]:
    """Return the public domains and the public table, cut as the commands cut that release."""
    if domains is None or not os.path.isfile(domains):
        if other is not None or null is not None:
            raise click.UsageError("--other and --null need a file of --domains, to whose columns they add a level")
        table = None if like is None else _numbers(like) if task in TASKS[6:8] else _table(like)
        return None if domains is None else _sizes(domains), table
    columns = cast("Mapping[str, Any]", stated_columns(domains, other, null))
    table = None if like is None else codes(Source(like), columns)
    return {name: len(levels.all) for name, levels in columns.items()}, table


def _sizes(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise click.UsageError(f"--domains must be numbers such as 10 or 5,4,3, or a file, got {text!r}") from None


def _numbers(path: str) -> Any:
    """Read a public column of numbers: the file has no other."""
    table = _table(path)
    if table.num_columns != 1:
        raise click.UsageError(f"--like must have one column of numbers for this task, got {table.num_columns}")
    return table.column(0).to_pylist()


def _table(path: str) -> Any:
    """Read a public table."""
    if path.lower().endswith((".parquet", ".pq")):
        import pyarrow.parquet as pq

        return pq.read_table(path)
    from pyarrow import csv

    return csv.read_csv(path)
