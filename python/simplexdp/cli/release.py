"""``simplexdp release``: private histograms and synthetic counts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from simplexdp.cli import options
from simplexdp.cli.writing import Output, Result, emit, warn
from simplexdp.exceptions import InvalidDataError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from simplexdp.accounting import PrivacyCurve

__all__ = ["release"]

MECHANISMS = ("dirichlet", "gaussian", "laplace", "discrete_laplace", "discrete_gaussian", "sum_preserving_laplace")
PURE = ("laplace", "discrete_laplace", "sum_preserving_laplace")


@dataclass(frozen=True)
class Request:
    """The options that decide what is released."""

    epsilon: float | None
    delta: float | None
    mechanism: str
    adjacency: str
    prior: float | None
    scale: float | None
    loss: str
    by: str | None
    n_groups: int
    dimension: int
    total: int | None

    @property
    def expected_total(self) -> float | None:
        """Records in one histogram: public, or a public guess."""
        return None if self.total is None else max(self.total / self.n_groups, 1.0)


@click.command(
    epilog="""\b
Examples:
  # a private histogram of a column, as a table on a terminal and as CSV in a pipe
  simplexdp release people.csv --column job --domain clerk,nurse,smith --epsilon 1 --delta 1e-6
\b
  # one for each group, for the price of one
  simplexdp release people.csv --column job --domain clerk,nurse,smith \\
      --by region --groups north,south --epsilon 1 --delta 1e-6
\b
  # from a pipe to JSON; missing values and whatever else occurs get levels
  cat people.csv | simplexdp release --column job --domain clerk,nurse \\
      --other other --null unknown --epsilon 1 --delta 1e-6 --json
\b
  # unbiased, and written to a file
  simplexdp release people.csv --column job --domain clerk,nurse,smith \\
      --epsilon 1 --delta 1e-6 --debias --out shares.parquet
\b
  # 500 synthetic records as counts; or counts with noise, pure epsilon
  simplexdp release people.csv --column job --domain clerk,nurse,smith --epsilon 1 --delta 1e-6 --counts 500
  simplexdp release people.csv --column job --domain clerk,nurse,smith --epsilon 1 \\
      --mechanism sum_preserving_laplace
\b
  # on a budget: refused when it does not fit
  simplexdp ledger budget.db --create 2 1e-6
  simplexdp release people.csv --column job --domain clerk,nurse,smith --epsilon 1 --delta 1e-6 \\
      --ledger budget.db --name jobs
"""
)
@options.file_argument
@click.option("--column", required=True, help="The column whose distribution is released.")
@options.domain_options
@options.level_options
@click.option("--by", metavar="COLUMN", help="A histogram for each value of this column.")
@click.option("--groups", metavar="A,B,C", help="Public values of --by.")
@click.option("--groups-file", type=click.Path(exists=True, dir_okay=False), help="The same from a file.")
@options.budget_options
@click.option("--mechanism", type=click.Choice(MECHANISMS), default="dirichlet", show_default=True)
@options.adjacency_option
@click.option(
    "--total",
    type=click.IntRange(1),
    metavar="N",
    help="Number of records. With 'replace' it is public: checked if given, else counted and shown. With 'add_remove' "
    "it is a public guess: nothing is checked.",
)
@click.option("--prior", type=float, help="Fix the prior of the Dirichlet mechanism.")
@click.option("--scale", type=float, help="Fix the scale of the Dirichlet mechanism.")
@click.option(
    "--loss",
    type=click.Choice(["kl", "l1", "l2", "linf"]),
    default="kl",
    show_default=True,
    help="What the prior makes small.",
)
@click.option("--counts", "size", type=click.IntRange(0), metavar="SIZE", help="Synthetic counts instead of shares.")
@click.option("--debias", is_flag=True, help="Undo the pull towards the prior (post-processing, free).")
@click.option("--interval", type=float, metavar="LEVEL", help="Confidence intervals of the true shares, e.g. 0.95.")
@click.option("--plot", type=click.Path(dir_okay=False), metavar="FILE", help="A plot, PNG or SVG.")
@click.option("--report", type=click.Path(dir_okay=False), metavar="FILE", help="A page with everything, HTML.")
@options.ledger_options
@click.option("--show-truth", is_flag=True, help="Also show the true counts. They are NOT PRIVATE.")
@options.seed_option
@options.input_options
@options.output_options
def release(**given: Any) -> None:
    """Release a private histogram of a column of FILE.

    FILE is CSV, TSV, Parquet or JSON lines; without it, or with -, standard input is read, in memory that does not grow
    with the file. The values of the column are public: state them with --domain. A value that is not listed, or a
    missing one, stops the release before anything is drawn, unless --other or --null gives it a level; that it was
    stopped tells that there is one.

    What is public: the domain, the groups, the parameters and, with --adjacency replace (the default), the number of
    records in all, which is then counted and shown. With --adjacency add_remove the number of records is private: give
    --total as a public guess, or --prior. With --by, the sizes of the groups are private in any case.
    """
    _release(**given)


def _release(
    *,
    file: str,
    column: str,
    domain: str | None,
    domain_file: str | None,
    other: str | None,
    null: str | None,
    by: str | None,
    groups: str | None,
    groups_file: str | None,
    epsilon: float | None,
    delta: float | None,
    mechanism: str,
    adjacency: str,
    total: int | None,
    prior: float | None,
    scale: float | None,
    loss: str,
    size: int | None,
    debias: bool,
    interval: float | None,
    plot: str | None,
    report: str | None,
    ledger: str | None,
    name: str,
    show_truth: bool,
    seed: int | None,
    input_format: str | None,
    encoding: str,
    no_header: bool,
    out: str | None,
    form: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    _check_usage(mechanism, epsilon, delta, adjacency, prior, scale, by, size, debias, interval, plot, report, total)
    if ledger is not None and seed is not None:
        raise click.UsageError("--seed and --ledger exclude each other: a seeded release is not private")
    if (groups is not None or groups_file is not None) and by is None:
        raise click.UsageError("--groups needs --by COLUMN")
    output = Output.chosen(out, form, as_json)
    _check_writable(plot, report)

    from simplexdp.cli.counting import Levels, count, stated_domain

    columns = {column: Levels(stated_domain(domain, domain_file), other, null)}
    if by is not None:
        if by == column:
            raise click.UsageError("--by must be another column than --column")
        columns = {by: Levels(stated_domain(groups, groups_file, "--groups"), option="--groups"), **columns}
    levels = columns[column].all
    if not no_header and column in map(str, levels):
        warn(f"Warning: {column!r} is the name of the column and one of its values: does the file have a header?")
    counts = count(options.source(file, input_format, encoding, no_header), columns)
    n_records = int(counts.sum())
    if adjacency == "replace":
        if total is not None and total != n_records:
            raise InvalidDataError("--total is not the number of records in the file (the number is not shown)")
        if n_records == 0:
            raise InvalidDataError("the file has no records")
        total = n_records
    request = Request(
        epsilon,
        delta,
        mechanism,
        adjacency,
        prior,
        scale,
        loss,
        by,
        1 if by is None else len(columns[by].all),
        len(levels),
        total,
    )
    built = _build(request)
    curve = built.table_privacy if mechanism == "dirichlet" and by is not None else built.privacy
    rng = options.seeded(seed)
    with _debited(ledger, curve, name, f"{file}:{column}"):
        released = _draw(built, request, counts, size, rng)

    result = _described(request, built, curve, columns, counts, released, size, debias, interval, show_truth, seed)
    emit(result, output, quiet=quiet)
    if plot is not None or report is not None:
        _illustrate(result, curve, plot, report, interval)


def _check_usage(
    mechanism: str,
    epsilon: float | None,
    delta: float | None,
    adjacency: str,
    prior: float | None,
    scale: float | None,
    by: str | None,
    size: int | None,
    debias: bool,
    interval: float | None,
    plot: str | None,
    report: str | None,
    total: int | None,
) -> None:
    """Refuse combinations that mean nothing, before the file is read."""
    dirichlet = mechanism == "dirichlet"
    if epsilon is None and not (dirichlet and prior is not None and scale is not None):
        raise click.UsageError("give --epsilon (or both --prior and --scale, to be told what they cost)")
    if mechanism in PURE:
        if delta is not None:
            raise click.UsageError(f"--mechanism {mechanism} is pure: leave --delta out")
    elif delta is None:
        raise click.UsageError(f"--mechanism {mechanism} needs --delta, for example 1e-6")
    if mechanism == "sum_preserving_laplace" and adjacency != "replace":
        raise click.UsageError("--mechanism sum_preserving_laplace keeps the total, which needs --adjacency replace")
    if not dirichlet:
        for option, value in (("--prior", prior), ("--scale", scale), ("--counts", size), ("--interval", interval)):
            if value is not None:
                raise click.UsageError(f"{option} needs --mechanism dirichlet")
        if debias:
            raise click.UsageError("--debias needs --mechanism dirichlet; counts with noise are unbiased as they are")
    if size is not None and (debias or interval is not None or plot or report):
        raise click.UsageError("--counts gives counts: it excludes --debias, --interval, --plot and --report")
    if by is not None and (debias or interval is not None or plot or report):
        raise click.UsageError(
            "--debias, --interval, --plot and --report need one histogram: the sizes of groups are private"
        )
    if adjacency == "add_remove" and dirichlet and total is None:
        if prior is None and scale is None:
            raise click.UsageError(
                "with --adjacency add_remove the number of records is private: give --total as a public guess, or "
                "--prior or --scale"
            )
        if debias or interval is not None or plot or report:
            raise click.UsageError("--debias, --interval, --plot and --report need --total, a public guess")


def _check_writable(plot: str | None, report: str | None) -> None:
    """Find out what cannot be written before anything is spent."""
    import os

    for option, path, suffixes in (("--plot", plot, (".png", ".svg")), ("--report", report, (".html", ".htm"))):
        if path is None:
            continue
        if not path.lower().endswith(suffixes):
            raise click.UsageError(f"{option} must end in {' or '.join(suffixes)}, got {path}")
        if not os.path.isdir(os.path.dirname(path) or "."):
            raise click.UsageError(f"the directory of {option} {path} does not exist")
    if plot is not None or report is not None:
        import matplotlib  # noqa: F401


def _build(request: Request) -> Any:
    """Return the mechanism for the budget, from public quantities only."""
    import simplexdp as sdp

    if request.mechanism == "dirichlet":
        return sdp.DirichletMechanism.calibrated(
            epsilon=request.epsilon,
            delta=request.delta,
            dimension=request.dimension,
            total=request.expected_total,
            loss=request.loss,
            prior=request.prior,
            scale=request.scale,
            adjacency=request.adjacency,
        )
    epsilon = request.epsilon
    if request.mechanism == "sum_preserving_laplace":
        return sdp.SumPreservingLaplaceMechanism.calibrated(
            epsilon=epsilon or 0.0, dimension=request.dimension * request.n_groups
        )
    # A replaced record leaves one cell and enters another, wherever they are.
    changed = 2 if request.adjacency == "replace" else 1
    wide: dict[str, Any] = {"adjacency": request.adjacency, "epsilon": epsilon}
    if request.mechanism == "discrete_laplace":
        return sdp.DiscreteLaplaceMechanism.calibrated(sensitivity=changed, **wide)
    if request.mechanism == "laplace":
        return sdp.LaplaceMechanism.calibrated(sensitivity=changed, changed=changed, **wide)
    euclidean = math.nextafter(math.sqrt(changed), math.inf)
    if request.mechanism == "discrete_gaussian":
        return sdp.DiscreteGaussianMechanism.calibrated(sensitivity=euclidean, delta=request.delta, **wide)
    return sdp.GaussianMechanism.calibrated(sensitivity=euclidean, changed=changed, delta=request.delta, **wide)


def _debited(ledger: str | None, curve: PrivacyCurve, name: str, target: str) -> Any:
    """Debit the ledger, or do nothing without one; a context for the release."""
    from contextlib import nullcontext

    if ledger is None:
        return nullcontext()
    from simplexdp.cli.ledger import opened

    return opened(ledger).spend(curve, label=name, on=target)


def _draw(built: Any, request: Request, counts: NDArray[np.int64], size: int | None, rng: Any) -> Any:
    if request.mechanism == "dirichlet":
        if size is not None:
            return built.release_counts(counts, size, rng=rng, rows="table")
        return built.release(counts, rng=rng, rows="table")
    if request.mechanism == "sum_preserving_laplace":
        return built.release(counts.ravel(), rng=rng).reshape(counts.shape)
    return built.release(counts, rng=rng)


def _described(
    request: Request,
    built: Any,
    curve: PrivacyCurve,
    columns: Mapping[str, Any],
    counts: NDArray[np.int64],
    released: Any,
    size: int | None,
    debias: bool,
    interval: float | None,
    show_truth: bool,
    seed: int | None,
) -> Result:
    """Put the release into a table with its guarantee."""
    import numpy as np

    *above, column = columns
    rows: dict[str, list[Any]] = {}
    for axis, by in enumerate(above):
        rows[by] = np.repeat(np.array(columns[by].all, dtype=object), released[axis].size).tolist()
    rows[column] = columns[column].all * request.n_groups
    bar: str | None = "share"
    if size is not None:
        rows["count"], bar = released.ravel().tolist(), None
    elif request.mechanism == "dirichlet":
        rows["share"] = released.ravel().tolist()
    else:
        rows["noisy_count"] = released.ravel().tolist()
        rows["share"] = _shares(np.asarray(released, dtype=np.float64)).ravel().tolist()
    if debias:
        rows["debiased"], bar = built.debias(released, request.total, project=True).tolist(), "debiased"
    if interval is not None:
        lower, upper = np.asarray(built.interval(released, request.total, level=interval)).T
        rows["lower"], rows["upper"] = lower.tolist(), upper.tolist()
    if show_truth:
        rows["true_count"] = counts.ravel().tolist()

    guarantee = guarantee_of(curve, request.epsilon, request.delta)
    notes = [_sentence(request, curve, guarantee), _public(request)]
    if debias or interval is not None:
        notes += _assumptions(request)
    if show_truth:
        notes.append("true_count is NOT PRIVATE: it was asked for with --show-truth.")
    if seed is not None:
        notes.append("NOT PRIVATE: made with --seed.")
    details: dict[str, Any] = {
        "private": seed is None and not show_truth,
        "column": column,
        "by": request.by,
        "mechanism": request.mechanism,
        "parameters": parameters_of(built),
        "guarantee": guarantee,
        "total": request.total if request.adjacency == "replace" else None,
        "kind": "counts" if size is not None else "shares",
    }
    if interval is not None:
        details["level"] = interval
    return Result(rows, details, notes, bar)


def guarantee_of(curve: PrivacyCurve, epsilon: float | None, delta: float | None) -> dict[str, Any]:
    """Return the budget that was asked for and what the curve says of it."""
    spent = float(curve.epsilon(delta or 0.0))
    return {
        "epsilon": epsilon if epsilon is not None else spent,
        "delta": delta or 0.0,
        "spent_epsilon": spent,
        "exact": curve.exact,
        "adjacency": curve.adjacency,
    }


def parameters_of(built: Any) -> dict[str, Any]:
    """Return the public parameters of a mechanism."""
    found = {}
    for name in ("scale", "sigma", "prior", "dimension", "sensitivity", "resolution", "rho"):
        value = getattr(built, name, None)
        if value is not None:
            found[name] = value if isinstance(value, (int, str)) else _number(value)
    return found


def _number(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else float(value)


def _sentence(request: Request, curve: PrivacyCurve, guarantee: Mapping[str, Any]) -> str:
    change = "one record is replaced" if request.adjacency == "replace" else "one record is added or removed"
    at = f" at delta = {request.delta:g}" if request.delta else ""
    how = "exactly" if curve.exact else "at most"
    what = f"({guarantee['epsilon']:g}, {request.delta:g})" if request.delta else f"{guarantee['epsilon']:g}"
    return (
        f"Guarantee: {what}-differential privacy when {change}; {how} epsilon = {guarantee['spent_epsilon']:.6g}{at}."
    )


def _public(request: Request) -> str:
    names = "the domain" if request.by is None else "the domain, the groups"
    if request.adjacency == "replace":
        return f"Public: {names}, the parameters and the number of records, {request.total}. Nothing else."
    return f"Public: {names} and the parameters. The number of records is private."


def _assumptions(request: Request) -> list[str]:
    if request.adjacency == "replace":
        return []
    return [f"debiased and interval take the public guess of {request.total} records for true."]


def _shares(noisy: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return counts with noise as shares: negative ones are zero, a row of zeros is uniform."""
    import numpy as np

    counts = np.maximum(noisy, 0.0)
    sums = counts.sum(axis=-1, keepdims=True)
    uniform = np.full(counts.shape, 1 / counts.shape[-1])
    shares: NDArray[np.float64] = np.divide(counts, sums, out=uniform, where=sums > 0)
    return shares


def _illustrate(result: Result, curve: PrivacyCurve, plot: str | None, report: str | None, level: float | None) -> None:
    raise click.UsageError("--plot and --report are not available yet")
