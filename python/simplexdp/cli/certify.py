"""``simplexdp certify``: the exact guarantee of a Hellinger mechanism, by exhaustion."""

from __future__ import annotations

from typing import Any

import click

from simplexdp.cli import options
from simplexdp.cli.files import KeepingCommand, whole
from simplexdp.cli.guarantee import warn_of
from simplexdp.cli.posterior import progress_of, stated_prior
from simplexdp.cli.progress import Progress
from simplexdp.cli.writing import Output, Result, emit, wrote

__all__ = ["certify"]


@click.command(
    cls=KeepingCommand,
    epilog="""\b
Examples:
  simplexdp certify --prior 1,1 --n 60 --epsilon 0.8 --delta 1e-8
  simplexdp certify --prior 1,1 --n 40 --epsilon 0.8 --delta 1e-8 --sensitivity smooth --json
  simplexdp certify --prior 1,1,1 --n 12 --epsilon 1 --certificate certificate.json
""",
)
@click.option("--prior", required=True, metavar="A,B,...", help="Dirichlet prior, one number for each category.")
@click.option("--n", type=click.IntRange(0), required=True, help="Number of records, public.")
@click.option("--epsilon", type=float, required=True, help="What is wanted.")
@click.option("--delta", type=float, help="What is wanted; without it, pure differential privacy.")
@click.option(
    "--sensitivity",
    type=click.Choice(["adaptive", "global", "smooth", "local"]),
    default="adaptive",
    show_default=True,
    help="What the exponent follows.",
)
@click.option(
    "--certificate", type=click.Path(dir_okay=False), metavar="FILE", help="Store it, so that it need not run again."
)
@options.output_options
def certify(
    prior: str,
    n: int,
    epsilon: float,
    delta: float | None,
    sensitivity: Any,
    certificate: str | None,
    out: str | None,
    form: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Find the best Hellinger mechanism for a budget and compute its exact guarantee over all neighbouring data sets.

    No data are read: everything here is public. What is too large is refused, with the limit and what to use instead.
    """
    output = Output.chosen(out, form, as_json, default=None if out else "table")
    parameters = stated_prior(prior, None)
    if len(parameters) < 2:
        raise click.UsageError("--prior must have one number for each category, for example 1,1")
    from simplexdp import HellingerMechanism

    with Progress("certifying") as bar:
        mechanism = HellingerMechanism(
            parameters,
            n,
            epsilon,
            delta,
            sensitivity=sensitivity,
            calibration="certified",
            progress=progress_of(bar),
        )
    spent = float(mechanism.privacy.epsilon(delta or 0.0))
    details = {
        "prior": parameters,
        "n": n,
        "sensitivity": sensitivity,
        "epsilon": epsilon,
        "delta": delta or 0.0,
        "exact_epsilon": spent,
        "exact_delta": float(mechanism.privacy.delta(epsilon)),
        "basis": mechanism.basis,
        "mean_hellinger_error": mechanism.mean_error,
    }
    if certificate is not None:
        with whole(certificate) as draft:
            mechanism.save_certificate(draft)
        wrote(certificate)
    emit(Result(details=details), output, quiet=quiet)
    warn_of(epsilon, delta, n, quiet=quiet)
