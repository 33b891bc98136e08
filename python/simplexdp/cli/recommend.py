"""``simplexdp recommend``: a mechanism for a task, measured at public quantities."""

from __future__ import annotations

import click

from simplexdp.cli import options
from simplexdp.cli.files import Command
from simplexdp.cli.guarantee import warn_of
from simplexdp.cli.neighbours import adjacency_of
from simplexdp.cli.progress import Progress
from simplexdp.cli.writing import Output, Result, emit

__all__ = ["recommend"]

TASKS = (
    "histogram", "counts", "groups", "numeric-histogram", "posterior", "posterior-draw", "naive-bayes",
    "bayesian-network", "synthetic-data", "synthesis", "mean", "quantile", "hierarchy", "margins", "categories",
    "gaussian-nb", "classifier", "network",
)  # fmt: skip


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  simplexdp recommend histogram --n 1000 --dimension 10 --epsilon 1 --delta 1e-6
  simplexdp recommend histogram --n 1000 --dimension 10 --epsilon 1 --delta 1e-6 --metric kl --json
  simplexdp recommend mean --n 1000 --epsilon 1 --delta 1e-6
  simplexdp recommend hierarchy --n 5000 --levels 5,100 --epsilon 1 --delta 1e-6
  simplexdp recommend naive-bayes --n 1000 --dimension 5 --tables 9 --rows 2 --epsilon 1 --delta 1e-6
""",
)
@click.argument("task", type=click.Choice(TASKS), metavar="TASK")
@click.option("--n", type=click.IntRange(1), required=True, help="Number of records, public or a public guess.")
@click.option("--dimension", type=click.IntRange(2), help="Number of categories, of a typical column.")
@click.option("--epsilon", type=float, required=True, help="Privacy budget.")
@click.option("--delta", type=float, required=True, help="Privacy budget.")
@click.option("--metric", type=click.Choice(["kl", "hellinger", "l1", "linf"]), help="Error of a histogram.")
@click.option("--tables", type=click.IntRange(1), help="Of a model: how many tables it has.")
@click.option("--rows", type=click.IntRange(1), help="Of a model: how many rows a typical table has; groups, classes.")
@click.option("--levels", metavar="K,K[,...]", help="Of a hierarchy: groups on each level, from coarse to fine.")
@adjacency_of("replace")
@options.output_options
def recommend(
    task: str,
    n: int,
    dimension: int | None,
    epsilon: float,
    delta: float,
    metric: str | None,
    tables: int | None,
    rows: int | None,
    levels: str | None,
    adjacency: str,
    out: str | None,
    form: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Recommend a mechanism for TASK, by measuring those that suit it. No data are read.

    TASK is histogram, counts, groups, numeric-histogram, posterior, posterior-draw, naive-bayes (or classifier),
    bayesian-network (or network), synthetic-data (records of a network), synthesis (records of a table of unknown
    structure), gaussian-nb, margins (sums of a table of --rows groups), and without --dimension mean or quantile (of a
    column of numbers), hierarchy (with --levels) or categories (that nobody listed). The answer comes with the figures
    that it rests on, and with lines of Python.
    """
    output = Output.chosen(out, form, as_json, default=None if out else "table")
    from simplexdp.comparison import recommend as advise

    with Progress("measuring"):
        advice = advise(
            task,
            n=n,
            dimension=dimension,
            epsilon=epsilon,
            delta=delta,
            metric=metric,
            adjacency=adjacency,
            tables=tables,
            rows=rows,
            levels=None if levels is None else _sizes(levels),
        )
    warn_of(epsilon, delta, n, quiet=quiet)
    if output.form == "table" and output.path is None:
        click.echo(f"{advice.mechanism}\n{advice.why}\n\nIn Python:\n")
        click.echo("\n".join(f"    {line}" for line in advice.code.splitlines()))
        if task == "histogram":
            click.echo(f"\nHere: simplexdp release FILE --mechanism {advice.mechanism} ...")
        return
    emit(Result(details=advice.to_dict()), output, quiet=quiet)


def _sizes(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise click.UsageError(f"--levels must be numbers of groups such as 5,100, got {text!r}") from None
