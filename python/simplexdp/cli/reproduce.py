"""``simplexdp reproduce``: the papers' figures, run again."""

from __future__ import annotations

import shutil
from dataclasses import asdict
from pathlib import Path

import click

from simplexdp.cli.files import Command
from simplexdp.cli.progress import Progress
from simplexdp.cli.writing import Output, Result, emit, warn

__all__ = ["reproduce"]


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  simplexdp reproduce --list
  simplexdp reproduce dm-figure-1 --fast --out figures
  simplexdp reproduce --fast --out figures
  simplexdp reproduce --data uci --out figures
""",
)
@click.argument("figures", nargs=-1, metavar="[FIGURE]...")
@click.option("--list", "only_list", is_flag=True, help="List the figures and end.")
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="The UCI data sets; without it a bundled one stands in.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default="figures",
    show_default=True,
    metavar="DIR",
    help="Where plots, numbers and their index go.",
)
@click.option("--fast", is_flag=True, help="Fewer seeds, sizes and grid points.")
@click.option("--seed", type=click.IntRange(0, 2**63), default=2026, show_default=True, help="Of the simulations.")
@click.option("--json", "as_json", is_flag=True, help="The findings as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="No names of figures on standard error.")
def reproduce(
    figures: tuple[str, ...],
    only_list: bool,
    data: Path | None,
    out: Path,
    fast: bool,
    seed: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Run the papers' figures again: plots as PNG and SVG, numbers as CSV, and what was found.

    Without a FIGURE all of them. Figures are simulations on public data with seeded randomness: nothing in them is a
    private release.
    """
    from simplexdp.reproduce.catalogue import NAMES

    output = Output(None, "json" if as_json else "table")
    unknown = [name for name in figures if name not in NAMES]
    if unknown:
        raise click.UsageError(f"no figure {unknown[0]!r}; there are {', '.join(NAMES)}")
    if only_list:
        emit(Result({"figure": list(NAMES)}), output)
        return
    from simplexdp.reproduce.figure import Settings
    from simplexdp.reproduce.run import reproduce as run

    chosen = figures or NAMES
    with Progress(chosen[0]) as bar:

        def started(name: str) -> None:
            label = f"{name} ({chosen.index(name) + 1} of {len(chosen)})"
            bar.start(label)
            if not quiet:
                warn(label)

        outcomes = run(chosen, out, Settings(fast=fast, data=data, seed=seed, progress=bar), started=started)
    if as_json:
        emit(Result(details={"out": str(out), "figures": [asdict(each) for each in outcomes]}), output)
        return
    width = min(shutil.get_terminal_size().columns, 120)
    for each in outcomes:
        click.echo(f"{each.name}  {each.source}: {each.title} ({each.seconds:.1f} s)")
        for text in (f"The paper: {each.paper}", f"Here: {each.finding}"):
            click.echo(click.wrap_text(text, width, "  ", "  "))
        click.echo()
    click.echo(f"Wrote {out / 'index.md'} and {sum(len(each.files) for each in outcomes)} files beside it.")
