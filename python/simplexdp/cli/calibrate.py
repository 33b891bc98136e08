"""``simplexdp calibrate``: parameters for a budget, without data."""

from __future__ import annotations

import click
import numpy as np

from simplexdp.cli import options
from simplexdp.cli.files import Command
from simplexdp.cli.guarantee import guarantee_of, parameters_of, warn_of
from simplexdp.cli.mechanism import MECHANISMS, Request
from simplexdp.cli.neighbours import adjacency_of
from simplexdp.cli.progress import Progress
from simplexdp.cli.writing import Output, Result, emit

__all__ = ["calibrate"]

_LOSSES = ("kl", "l1", "l2", "linf")


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  simplexdp calibrate --epsilon 1 --delta 1e-6 --dimension 6 --total 1000
  simplexdp calibrate --epsilon 1 --delta 1e-6 --dimension 6 --prior 2 --json
  simplexdp calibrate --scale 0.5 --prior 2 --dimension 6 --delta 1e-6
  simplexdp calibrate --epsilon 1 --dimension 6 --mechanism sum_preserving_laplace
""",
)
@options.budget_options
@click.option("--dimension", type=click.IntRange(2), required=True, metavar="D", help="Number of categories.")
@click.option("--total", type=click.IntRange(1), metavar="N", help="Number of records, or a public guess.")
@click.option("--mechanism", type=click.Choice(MECHANISMS), default="dirichlet", show_default=True)
@click.option("--prior", type=float, help="Fix the prior of the Dirichlet mechanism.")
@click.option("--scale", type=float, help="Fix the scale of the Dirichlet mechanism.")
@click.option("--loss", type=click.Choice(_LOSSES), default="kl", show_default=True)
@adjacency_of("replace")
@options.output_options
def calibrate(
    epsilon: float | None,
    delta: float | None,
    dimension: int,
    total: int | None,
    mechanism: str,
    prior: float | None,
    scale: float | None,
    loss: str,
    adjacency: str,
    out: str | None,
    form: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Say which parameters meet a budget, what they cost exactly, and what error to expect. No data are read.

    The expected error of the Dirichlet mechanism is the worst over histograms that are spread evenly over 1, 2, 4, ...
    and all categories: of KL(p || y) and of the distances of y from p; l2 is the root of a mean square, linf a bound.
    """
    request = Request(epsilon, delta, mechanism, adjacency, prior, scale, loss, total, dimension)
    request.check()
    if request.needs_total and total is None:
        raise click.UsageError("give --total to choose a prior; or --prior or --scale")
    output = Output.chosen(out, form, as_json, default=None if out else "table")
    with Progress("calibrating"):
        built = request.build()
    curve = built.privacy
    guarantee = guarantee_of(curve, epsilon, delta)
    details = {"mechanism": mechanism, **parameters_of(built), **guarantee}
    if delta and epsilon is not None:
        details["exact_delta"] = float(curve.delta(epsilon))
    if mechanism == "dirichlet" and total is not None:
        even = _even(dimension)
        details["total"] = total
        details |= {f"expected_{name}": float(np.max(built.expected_loss(even, total, name))) for name in _LOSSES}
        details["expected_l2_debiased"] = float(built.debias_error(total))
    elif mechanism != "dirichlet":
        details["noise_scale"] = float(built.sigma if hasattr(built, "sigma") else built.scale)
    emit(Result(details=details), output, quiet=quiet)
    warn_of(epsilon, delta, total, quiet=quiet)


def _even(dimension: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return the histograms that are even on 1, 2, 4, ... and all categories."""
    sizes = sorted({*(1 << k for k in range(dimension.bit_length()) if 1 << k <= dimension), dimension})
    rows = np.zeros((len(sizes), dimension))
    for row, size in zip(rows, sizes, strict=True):
        row[:size] = 1 / size
    return rows
