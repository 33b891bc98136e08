"""``simplexdp posterior``: a private Bayesian posterior of the shares of a column."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

from simplexdp.cli import options
from simplexdp.cli.files import Command
from simplexdp.cli.grouping import Grouping, group_options
from simplexdp.cli.guarantee import account, debited, guarantee_of, parameters_of, public_total, sentence, warnings_of
from simplexdp.cli.posterior_groups import Groups, check_groups, release_groups
from simplexdp.cli.progress import Progress
from simplexdp.cli.selection import Selection
from simplexdp.cli.spelling import Spelling
from simplexdp.cli.writing import SEEDED, Output, Result, check_printable, emit

__all__ = ["posterior", "stated_prior"]


def stated_prior(text: str, dimension: int | None) -> list[float]:
    """Return the parameters of ``--prior 1`` or ``--prior 1,2,3``."""
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        raise click.UsageError(f"--prior must be a number, or one for each category, got {text!r}") from None
    if dimension is None or len(values) == dimension:
        return values
    if len(values) == 1:
        return values * dimension
    raise click.UsageError(f"--prior must have 1 or {dimension} numbers, got {len(values)}")


def progress_of(bar: Progress) -> Any:
    """Return what a certification reports to; how many passes there will be is not known."""

    def report(turn: int, share: float) -> None:
        bar.label = f"certifying, pass {turn + 1}"
        bar(share)

    return report


NO_INTERVALS = {
    "hellinger": "with so many records and categories they would take too long; noisy counts have them at any size",
    "laplace": "what was cut off to make the counts consistent is not known; see 'simplexdp release --interval'",
}
"""Why some releases have none."""


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  # the whole posterior, pure epsilon
  simplexdp posterior people.csv --column job --domain clerk,nurse,smith --prior 1 --epsilon 1

\b
  # one draw from it, at what it costs; with a budget, from a tempered posterior
  simplexdp posterior people.csv --column job --domain clerk,nurse,smith --prior 2 \\
      --mechanism dirichlet --delta 1e-6
  simplexdp posterior people.csv --column job --domain clerk,nurse,smith --prior 2 \\
      --mechanism dirichlet --epsilon 0.5 --delta 1e-6 --json

\b
  # many histograms at once, one for each group; their sizes private, or fixed and public
  simplexdp posterior people.csv --column job --domain clerk,nurse,smith --by region --groups north,south --epsilon 1
  simplexdp posterior people.csv --column job --domain clerk,nurse,smith --by region --groups north,south \\
      --sizes public --epsilon 1 --json

\b
  # the papers' baseline, consistent
  simplexdp posterior people.csv --column job --domain clerk,nurse,smith --epsilon 1 --mechanism laplace
""",
)
@options.file_argument
@click.option("--column", required=True, help="The column whose shares are learnt.")
@options.domain_options
@options.level_options
@options.spelling_options
@options.person_options
@group_options
@click.option(
    "--sizes",
    type=click.Choice(["private", "public"]),
    help="Of the groups. 'public' shows them, and protects a record among those of its group only.  [default: private]",
)
@click.option(
    "--prior",
    metavar="A[,B,...]",
    help="Dirichlet prior of the shares.  [default: 1; with --by one that the groups share]",
)
@click.option(
    "--mechanism",
    type=click.Choice(["hellinger", "dirichlet", "laplace"]),
    help="Without --by.  [default: hellinger]",
)
@options.budget_options
@click.option(
    "--sensitivity",
    type=click.Choice(["adaptive", "global", "smooth"]),
    default="adaptive",
    show_default=True,
    help="Of the Hellinger mechanism: what its exponent follows.",
)
@click.option(
    "--calibration",
    type=click.Choice(["auto", "certified", "proved"]),
    default="auto",
    show_default=True,
    help="Of the Hellinger mechanism: 'certified' errs least and takes long; 'auto' does it where it is quick.",
)
@click.option("--total", type=click.IntRange(1), metavar="N", help="Number of records, public; checked.")
@click.option("--level", type=float, default=0.95, show_default=True, help="Of the credible intervals.")
@options.ledger_options
@click.option("--show-truth", is_flag=True, help="Also show the true counts. They are NOT PRIVATE.")
@options.seed_option
@options.input_options
@options.output_options
def posterior(
    file: str,
    column: str,
    domain: str | None,
    domain_file: str | None,
    other: str | None,
    null: str | None,
    clean: tuple[str, ...],
    map_file: str | None,
    unit: str | None,
    max_rows: int | None,
    first_by: str | None,
    date_format: str | None,
    by: tuple[str, ...],
    groups: tuple[str, ...],
    groups_file: tuple[str, ...],
    sizes: str | None,
    prior: str | None,
    mechanism: str | None,
    epsilon: float | None,
    delta: float | None,
    sensitivity: Any,
    calibration: Any,
    total: int | None,
    level: float,
    ledger: str | None,
    name: str,
    show_truth: bool,
    seed: int | None,
    input_format: str | None,
    encoding: str,
    no_header: bool,
    delimiter: str | None,
    out: str | None,
    form: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Release a private Bayesian posterior of the shares of a column of FILE.

    'hellinger' releases the parameters of a whole posterior, near the true one in Hellinger distance. 'laplace' adds
    noise to the counts first. 'dirichlet' releases one draw from the posterior; with --epsilon, from one whose counts
    are scaled down (never up) to meet the budget.

    With --by, noisy counts of all groups are released, for the price of one histogram; expected shares and counts of
    each group and their intervals follow by exact inference, which knows of the noise.

    Neighbouring data sets differ in one record replaced: the number of records is public. So are the domain, the prior
    and all other parameters. With --unit COLUMN --max-rows K the guarantee is for persons; without --by, K is 1, since
    the number of records is private otherwise.
    """
    grouping = Grouping(by, groups, groups_file)
    check_groups(grouping, sizes, mechanism, column)
    mechanism = mechanism or "hellinger"
    if mechanism == "dirichlet" and delta is None:
        raise click.UsageError("--mechanism dirichlet needs --delta, for example 1e-6")
    if mechanism != "dirichlet" and epsilon is None:
        raise click.UsageError("give --epsilon")
    if mechanism == "laplace" and delta is not None:
        raise click.UsageError("--mechanism laplace is pure: leave --delta out")
    if not 0 < level < 1:
        raise click.UsageError(f"--level must lie strictly between 0 and 1, got {level}")
    spelling = Spelling.stated(clean, map_file)
    selection = Selection.stated(spelling, unit, max_rows, first_by, date_format, seed)
    if unit is not None and sizes == "public":
        raise click.UsageError("--sizes public is for records that stay in their group, and excludes --unit")
    if not selection.keeps_total:
        if not by:
            raise click.UsageError("--max-rows above 1 needs --by: the number of records is private")
        if total is not None:
            raise click.UsageError("--max-rows above 1 excludes --total: the number of records is private")
    accountant = account(ledger, seed)
    output = Output.chosen(out, form, as_json)

    from simplexdp.cli.counting import Levels, check_column, count, stated_domain

    if by:
        asked = Groups(
            column, by, prior, sizes == "public", epsilon or 0.0, delta, total, level, show_truth, seed, selection
        )
        columns = {
            **grouping.levels({}, spelling.of),
            column: Levels(stated_domain(domain, domain_file), other, null, clean=spelling.of(column)),
        }
        source = options.source(file, input_format, encoding, no_header, delimiter)
        target, rng = f"{file}:{column}", options.seeded(seed)
        release_groups(asked, source, columns, accountant, name, output, target, rng, quiet=quiet)
        return
    own = ["share"] if mechanism == "dirichlet" else ["alpha", "mean"]
    own += ["lower", "upper"] if mechanism == "hellinger" else []
    own += [] if seed is None else [SEEDED]
    check_column(column, [*own, "true_count"] if show_truth else own)
    levels = Levels(stated_domain(domain, domain_file), other, null, clean=spelling.of(column))
    parameters = stated_prior("1" if prior is None else prior, len(levels.all))
    counts = count(options.source(file, input_format, encoding, no_header, delimiter), {column: levels}, selection)
    n_records = public_total(counts, total)
    built = _build(mechanism, parameters, n_records, epsilon, delta, sensitivity, calibration)
    curve = built.privacy.for_unit(unit)
    rng = options.seeded(seed)
    check_printable([column, *levels.all], output)

    def described(released: Any) -> Result:
        rows: dict[str, Any] = {column: levels.all}
        if mechanism == "dirichlet":
            rows["share"] = released.tolist()
        else:
            rows["alpha"] = released.alpha.tolist()
            rows["mean"] = released.mean.tolist()
        inferred = _intervals(built, released, level) if mechanism == "hellinger" else None
        if inferred is not None:
            rows["lower"], rows["upper"] = inferred[:, 0].tolist(), inferred[:, 1].tolist()
        if show_truth:
            rows["true_count"] = counts.tolist()
        guarantee = guarantee_of(curve, epsilon, delta, unit=unit)
        notes = [
            sentence(guarantee),
            f"Public: the domain, the parameters and the number of records, {n_records}. Nothing else.",
        ]
        if mechanism == "dirichlet":
            notes.insert(0, f"One draw from Dirichlet({built.scale:.6g} * counts + prior).")
        else:
            notes.insert(0, "alpha and mean are of the released posterior, which does not know of the noise.")
            if inferred is not None:
                notes.insert(1, f"Credible intervals of level {level:g} of the shares, the noise included.")
            else:
                notes.insert(1, f"No credible intervals: {NO_INTERVALS[mechanism]}.")
        notes += warnings_of(guarantee, show_truth=show_truth, seed=seed)
        details = {
            "private": seed is None and not show_truth,
            "seeded": seed is not None,
            "column": column,
            "mechanism": mechanism,
            "parameters": {"prior": parameters, **_found(built)},
            "guarantee": guarantee,
            "total": n_records,
            "kind": "shares" if mechanism == "dirichlet" else "posterior",
        }
        bar = "share" if mechanism == "dirichlet" else "mean"
        return Result(rows, details, notes, bar)

    # The release is noted as made when it was delivered.
    with debited(accountant, curve, name, f"{file}:{column}"):
        with Progress("drawing"):
            released = built.release(counts, rng=rng)
        emit(described(released), output, quiet=quiet)


def _intervals(built: Any, released: Any, level: float) -> Any:
    """Return credible intervals of the shares given the release, or nothing where they would take too long."""
    from simplexdp.exceptions import NotAffordableError

    try:
        with Progress("inferring"):
            return built.infer(released).interval(level)
    except NotAffordableError:
        return None


def _build(
    mechanism: str,
    prior: list[float],
    n: int,
    epsilon: float | None,
    delta: float | None,
    sensitivity: Any,
    calibration: Any,
) -> Any:
    import simplexdp as sdp

    if mechanism == "hellinger":
        with Progress("certifying") as bar:
            return sdp.HellingerMechanism(
                prior,
                n,
                epsilon or 0.0,
                delta,
                sensitivity=sensitivity,
                calibration=calibration,
                progress=progress_of(bar),
            )
    if mechanism == "laplace":
        return sdp.LaplacePosteriorMechanism(prior, n, epsilon or 0.0)
    # Of two categories the public number of records fixes both counts: that costs less.
    total = n if len(prior) == 2 else None
    plain = sdp.DirichletMechanism.posterior(np.array(prior), total=total)
    if epsilon is None:
        return plain
    tempered = sdp.DirichletMechanism.calibrated(
        epsilon=epsilon, delta=delta, prior=np.array(prior), total=total, fixed_total=total is not None
    )
    # A scale above one would be surer than the posterior is.
    return tempered if tempered.scale < 1 else plain


def _found(built: Any) -> dict[str, Any]:
    found = {name: value for name, value in parameters_of(built).items() if name != "prior"}
    for name in ("sensitivity", "calibration", "basis"):
        value = getattr(built, name, None)
        if value is not None:
            found[name] = value
    return found
