"""``simplexdp release``: private histograms and synthetic counts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from simplexdp.cli import options
from simplexdp.cli.columns import Stated
from simplexdp.cli.discovery import Discovery
from simplexdp.cli.dropped import DROPPED, with_dropped, without_others
from simplexdp.cli.files import Command
from simplexdp.cli.grouping import Grouping, group_options, name_of, names_of, other_group_option, repeated
from simplexdp.cli.guarantee import account, debited, guarantee_of, parameters_of, public_total, sentence, warnings_of
from simplexdp.cli.hierarchy import Places
from simplexdp.cli.inferred import COLUMNS, Inferred, infer
from simplexdp.cli.margins import PIVOTS, margin_rows, margin_shares, pivot_columns, pivoted, total_name
from simplexdp.cli.mechanism import AUTOMATIC, MECHANISMS, Request
from simplexdp.cli.neighbours import adjacency_of
from simplexdp.cli.pages import facts_of, write_pages
from simplexdp.cli.pictures import check_page, check_picture, save_plot
from simplexdp.cli.progress import Progress
from simplexdp.cli.writing import SEEDED, Output, Result, check_printable, emit, warn, wrote

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from simplexdp.accounting import PrivacyCurve
    from simplexdp.cli.counting import Levels
    from simplexdp.report import Facts

__all__ = ["release"]


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  # a private histogram of a column, as a table on a terminal and as CSV in a pipe
  simplexdp release people.csv --column job --domain clerk,nurse,smith --epsilon 1 --delta 1e-6

\b
  # one for each group, for the price of one
  simplexdp release people.csv --column job --domain clerk,nurse,smith \\
      --by region --groups north,south --epsilon 1 --delta 1e-6

\b
  # for each combination of two columns, for the price of one
  simplexdp release people.csv --column job --domain clerk,nurse,smith \\
      --by region --groups north,south --by age --groups 1..5 --epsilon 1

\b
  # in bins of a numeric column with about as many records each: the edges are drawn too, within one budget
  simplexdp release people.csv --column age --quantiles age=3:0:10 --epsilon 1

\b
  # from a pipe to JSON; missing values and whatever else occurs get levels
  cat people.csv | simplexdp release --column job --domain clerk,nurse \\
      --other other --null unknown --epsilon 1 --delta 1e-6 --json

\b
  # a draw of positive shares that sum to one, written to a file
  simplexdp release people.csv --column job --domain clerk,nurse,smith \\
      --epsilon 1 --delta 1e-6 --mechanism dirichlet --out shares.parquet

\b
  # 500 synthetic records as counts
  simplexdp release people.csv --column job --domain clerk,nurse,smith --epsilon 1 --delta 1e-6 --counts 500

\b
  # patients with several visits, each of them counted as one
  simplexdp release visits.csv --column ward --domain eye,ear --epsilon 1 \\
      --unit patient --max-rows 4 --weighted

\b
  # intervals of another level, and a page that explains them
  simplexdp release people.csv --column job --domain clerk,nurse,smith --epsilon 1 \\
      --interval 0.99 --report jobs.html

\b
  # on a budget: refused when it does not fit
  simplexdp ledger budget.db --create 2 1e-6
  simplexdp release people.csv --column job --domain clerk,nurse,smith --epsilon 1 --delta 1e-6 \\
      --ledger budget.db --name jobs
""",
)
@options.file_argument
@click.option("--column", required=True, help="The column whose distribution is released.")
@options.domain_options
@options.level_options
@options.column_options
@options.record_options
@options.weighted_option
@group_options
@other_group_option
@click.option(
    "--drop-others",
    is_flag=True,
    help="With --by: leave records of no listed group out, and release a noisy count of them, at no further cost.",
)
@options.budget_options
@click.option(
    "--mechanism",
    type=click.Choice((AUTOMATIC, *MECHANISMS)),
    default=AUTOMATIC,
    show_default=True,
    help="'auto' is the one with the least noise at the budget, or Dirichlet where an option needs it; it is told.",
)
@adjacency_of("replace", paid=True)
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
@click.option(
    "--counts", "size", type=click.IntRange(0, 2**30), metavar="SIZE", help="Synthetic counts instead of shares."
)
@click.option("--debias", is_flag=True, help="Undo the pull towards the prior (post-processing, free).")
@click.option(
    "--interval",
    type=float,
    default=0.95,
    show_default=True,
    metavar="LEVEL",
    help="Of the credible intervals, which know of the noise.",
)
@click.option(
    "--hierarchy",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help='With --by from coarse to fine: which lies in which, {"north": ["n1", "n2"]} in JSON, or public CSV.',
)
@click.option("--level-shares", metavar="A,B", help="Of the budget, for each --by; the default follows the hierarchy.")
@click.option("--margins", is_flag=True, help="With --by: also the sums over groups, over values and over all.")
@click.option(
    "--pivot",
    type=click.Choice(PIVOTS),
    help="With --by: a row for each group, a column for each value, and their sums.",
)
@click.option("--plot", type=click.Path(dir_okay=False), metavar="FILE", help="A plot, PNG or SVG.")
@click.option("--plot-sorted", is_flag=True, help="With --plot: the largest bars first, every one with its label.")
@click.option(
    "--report",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="A page with everything, HTML, and beside it FILE.json for programs.",
)
@options.ledger_options
@click.option("--show-truth", is_flag=True, help="Also show the true counts. They are NOT PRIVATE.")
@options.seed_option
@options.input_options
@options.output_options
def release(
    file: str,
    column: str,
    domain: str | None,
    domain_file: str | None,
    other: str | None,
    null: str | None,
    by: tuple[str, ...],
    groups: tuple[str, ...],
    groups_file: tuple[str, ...],
    other_group: tuple[str, ...],
    drop_others: bool,
    ledger: str | None,
    name: str,
    seed: int | None,
    input_format: str | None,
    encoding: str,
    no_header: bool,
    delimiter: str | None,
    out: str | None,
    form: str | None,
    as_json: bool,
    quiet: bool,
    size: int | None,
    debias: bool,
    interval: float,
    hierarchy: str | None,
    level_shares: str | None,
    margins: bool,
    pivot: str | None,
    plot: str | None,
    plot_sorted: bool,
    report: str | None,
    show_truth: bool,
    **mechanism: Any,
) -> None:
    """Release a private histogram of a column of FILE, with what it says of the data.

    Beside what was released, noisy_count or a draw, stand the expected share and count of each value and their credible
    intervals, all computed from the release and public numbers: exact Bayesian inference, which costs no privacy.

    FILE is CSV, TSV, Parquet or JSON lines; without it, or with -, standard input is read, in memory that does not grow
    with the file. The values of the column are public: state them with --domain. A value that is not listed, or a
    missing one, stops the release before anything is drawn, unless --other or --null gives it a level; that it was
    stopped tells that there is one.

    What is public: the domain, the groups, the parameters and, with --adjacency replace, the number of records in all,
    which is then counted and shown. With --adjacency add_remove the number of records is private. With --by, the sizes
    of the groups are private in any case.
    """
    stated = Stated.taken_from(mechanism)
    selection = stated.selection(seed)
    extras = Extras(size, debias, interval, plot, report, show_truth, seed, margins, pivot, plot_sorted)
    if plot_sorted and plot is None:
        raise click.UsageError("--plot-sorted needs --plot FILE")
    source = options.source(file, input_format, encoding, no_header, delimiter)
    if stated.weighted and (stated.discover or stated.quantiles or hierarchy is not None):
        raise click.UsageError("--weighted is for counts: leave --discover, --quantiles and --hierarchy out")
    if stated.discover:
        if by or domain is not None or domain_file is not None or stated.scaled:
            raise click.UsageError(
                "--discover is for one column of text: leave --by, --domain, --bins, --quantiles and --dates out"
            )
        extras.check_none()
        asked, beyond = Request(**mechanism), other or "other"
        values = Discovery(column, beyond, null, stated.spelling().of(column), selection, asked, seed, interval)
        values.run(source, Output.chosen(out, form, as_json), account(ledger, seed), name, quiet=quiet)
        return
    hiding = selection.hiding_total + (("--drop-others",) if drop_others else ())
    request = Request(**mechanism, max_rows=selection.max_rows, weighted=selection.weighted, hiding_total=hiding)
    drawn_bins = stated.drawn_bins(request)
    if drop_others and (not by or other_group or hierarchy is not None):
        raise click.UsageError("--drop-others needs --by COLUMN, and excludes --other-group and --hierarchy")
    if hierarchy is not None:
        replace(extras, plot=None, report=None).check_none("--hierarchy")
        if drawn_bins is not None or plot_sorted:
            other_option = "--plot-sorted" if plot_sorted else "--quantiles"
            raise click.UsageError(f"--hierarchy and {other_option} exclude each other")
        if domain is None and domain_file is None and not stated.scaled:
            raise click.UsageError("give --domain: the values of the column are public")
        if groups or groups_file or len(other_group) > 1:
            raise click.UsageError("--hierarchy lists the groups: leave --groups out; --other-group is for all levels")
        rest = stated.columns(column, Grouping(()), domain=(domain, domain_file), other=other, null=null)
        if not by:
            raise click.UsageError("--hierarchy needs --by COLUMN for each level, from coarse to fine")
        clean = stated.spelling().of(by[-1])
        places = Places.stated(hierarchy, by, level_shares, other_group, interval, seed, plot, report, clean)
        places.release(
            source, rest, selection, request, stated.unit, Output.chosen(out, form, as_json),
            account(ledger, seed), name, quiet=quiet, ledger=ledger,
        )  # fmt: skip
        return
    if level_shares is not None:
        raise click.UsageError("--level-shares needs --hierarchy FILE")
    left = request if drawn_bins is None else replace(request, epsilon=drawn_bins.rest)
    asked = left.decided(extras.named("--counts", "--debias"), rows=bool(by) or drawn_bins is not None)
    asked.check()
    if drawn_bins is not None:
        drawn_bins.check(asked, column, pivoted=pivot is not None)
    extras.check(asked, by)
    if drop_others and asked.mechanism == "dirichlet":
        raise click.UsageError(
            "--drop-others needs independent noise on every count: --mechanism discrete_laplace has it"
        )
    grouping = Grouping(by, groups, groups_file, (DROPPED,) if drop_others else other_group)
    grouping.check(column)
    accountant = account(ledger, seed)
    output = Output.chosen(out, form, as_json)

    import numpy as np

    from simplexdp.cli.counting import check_column, count
    from simplexdp.inference.of_persons import in_persons, law_of_persons
    from simplexdp.plots.heat import fits_map

    for each in (column, *by):
        check_column(each, extras.own_columns(asked))
    columns = stated.columns(column, grouping, domain=(domain, domain_file), other=other, null=null)
    if not no_header and column in map(str, columns[column].all):
        warn(f"Warning: {column!r} is the name of the column and one of its values: does the file have a header?")
    if drawn_bins is not None:
        drawn_bins.check_size(columns)
    counts = count(source, columns, selection)
    left_out = None
    if drop_others:
        columns, counts, left_out = without_others(columns, counts)
    shape = counts.shape if drawn_bins is None else drawn_bins.shape(columns)
    request = asked.given(
        total=public_total(counts, asked.total) if asked.total_is_public else asked.total,
        dimension=shape[-1],
        n_groups=math.prod(shape[:-1]),
    )
    with Progress("calibrating"):
        drawing = request.build()
    # What is told is in persons, where these are counted in units.
    built, units = law_of_persons(drawing, request.units), request.units
    curve = drawing.table_privacy if request.mechanism == "dirichlet" and by else drawing.privacy
    if drawn_bins is not None:
        curve = drawn_bins.together(curve, request.delta)
        request = replace(request, epsilon=drawn_bins.epsilon)
    curve = curve.for_unit(stated.unit)
    rng = options.seeded(seed)
    if plot is not None and by and not fits_map(math.prod(shape[:-1]), shape[-1]):
        raise click.UsageError("--plot has room for 200 groups and 60 values: leave it out, or merge some")
    if pivot is not None:
        pivot_columns(columns, [] if seed is None else [SEEDED])
    check_printable([*columns, *(level for levels in columns.values() for level in levels.all)], output)
    # The release is noted as made when it was delivered.
    with debited(accountant, curve, name, f"{file}:{column}"):
        with Progress("drawing"):
            if drawn_bins is not None:
                columns, counts = drawn_bins.draw(columns, counts, rng)
                request = replace(request, dimension=counts.shape[-1], n_groups=math.prod(counts.shape[:-1]))
            if left_out is None:
                released = in_persons(drawing, _draw(drawing, request, counts, size, rng), units)
            else:
                # One more cell of the same histogram: a record is in one of them, or in this one.
                noisy = drawing.release(np.append(counts.ravel(), left_out), rng=rng)
                noisy = in_persons(drawing, noisy, units)
                released, left_out = noisy[:-1].reshape(counts.shape), noisy[-1]
        wanted = extras.margins or extras.pivot is not None
        found = (
            None
            if size is not None
            else infer(built, released, request, interval, margins=wanted, apart=columns[column].apart)
        )
        result = _described(request, extras, (drawing, built), curve, columns, counts, released, found, stated.unit)
        result = _with_margins(result, extras, columns, released, found, output)
        result = result if left_out is None else with_dropped(result, built, left_out, interval)
        result = result if drawn_bins is None else drawn_bins.told(result, columns)
        emit(result, output, quiet=quiet)
    names, labels = list(columns), [levels.all for levels in columns.values()]
    facts = partial(facts_of, file, ledger, accountant)
    _illustrate(request, extras, built, curve, names, labels, released, found, result, facts)


@dataclass(frozen=True)
class Extras:
    """What is wanted beside the shares."""

    size: int | None
    debias: bool
    interval: float
    plot: str | None
    report: str | None
    show_truth: bool
    seed: int | None
    margins: bool = False
    pivot: str | None = None
    plot_sorted: bool = False

    def named(self, *options: str) -> list[str]:
        """Return those of the options that were given."""
        given = {
            "--counts": self.size is not None,
            "--debias": self.debias,
            "--plot": self.plot is not None,
            "--report": self.report is not None,
            "--margins": self.margins,
            "--pivot": self.pivot is not None,
        }
        return [option for option in options if given[option]]

    def check_none(self, instead: str = "--discover") -> None:
        """Refuse all of it, where something else is released."""
        for option in self.named("--counts", "--debias", "--plot", "--report", "--margins", "--pivot"):
            raise click.UsageError(f"{instead} and {option} exclude each other")
        if self.show_truth:
            raise click.UsageError(f"{instead} and --show-truth exclude each other")

    def own_columns(self, request: Request) -> list[str]:
        """Return the columns of the result beside those of the file."""
        found = [*COLUMNS, _raw(request)] if self.size is None else ["count"]
        found += ["debiased"] if self.debias else []
        found += [] if self.seed is None else [SEEDED]
        return [*found, "true_count"] if self.show_truth else found

    def check(self, request: Request, by: Sequence[str]) -> None:
        """Refuse what does not go together, and what cannot be drawn or written, before anything is spent."""
        for option in self.named("--margins", "--pivot"):
            if not by:
                raise click.UsageError(f"{option} needs --by COLUMN")
            if request.mechanism in ("dirichlet", "sum_preserving_laplace"):
                raise click.UsageError(
                    f"{option} needs independent noise on every count: --mechanism discrete_laplace has it"
                )
        if self.pivot is not None and (self.margins or self.show_truth):
            raise click.UsageError("--pivot has margins of its own, and excludes --margins and --show-truth")
        if request.mechanism != "dirichlet":
            for option in self.named("--counts", "--debias"):
                raise click.UsageError(f"{option} needs --mechanism dirichlet")
        for option in self.named("--debias", "--plot", "--report"):
            if self.size is not None:
                raise click.UsageError(f"--counts and {option} exclude each other")
            if by and (option == "--debias" or request.mechanism in ("dirichlet", "sum_preserving_laplace")):
                raise click.UsageError(
                    f"{option} needs one histogram, or with --by noise that intervals are known of: the sizes of the "
                    "groups are private; --mechanism discrete_laplace has them"
                )
            if not request.total_is_public and request.total is None and request.mechanism == "dirichlet":
                raise click.UsageError(f"{option} needs --total, a public guess: the number of records is private")
        if not request.total_is_public and request.needs_total and request.total is None:
            raise click.UsageError(
                f"with {' and '.join(request.private_by)} the number of records is private: give --total as a public "
                "guess, or --prior or --scale"
            )
        if not 0 < self.interval < 1:
            raise click.UsageError(f"--interval must lie strictly between 0 and 1, got {self.interval}")
        if self.plot is not None:
            check_picture("--plot", self.plot)
        if self.report is not None:
            check_page("--report", self.report)


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
    extras: Extras,
    mechanisms: tuple[Any, Any],
    curve: PrivacyCurve,
    columns: Mapping[str, Levels],
    counts: NDArray[np.int64],
    released: Any,
    found: Inferred | str | None,
    unit: str | None,
) -> Result:
    """Put the release into a table with its guarantee; mechanisms are what drew, and its law in what is told."""
    drawing, built = mechanisms
    *by, column = columns
    rows = repeated(columns)
    bar: str | None = "share"
    if extras.size is not None:
        rows["count"], bar = released.ravel().tolist(), None
    else:
        rows |= found.columns() if isinstance(found, Inferred) else {"share": _plain_shares(released, request)}
        rows[_raw(request)] = released.ravel().tolist()
    if extras.debias:
        rows["debiased"] = built.debias(released, request.total, project=True).tolist()
    if extras.show_truth:
        rows["true_count"] = (counts if request.units == 1 else counts / request.units).ravel().tolist()

    guarantee = guarantee_of(
        curve, request.epsilon, request.delta, unit=unit, max_rows=request.max_rows, weighted=request.weighted
    )
    notes = [sentence(guarantee), _public(request, columns)]
    if request.weighted:
        notes.append(
            "Each person counts as one: a record of n that are kept has the weight 1/n. Counts are of persons, and "
            f"intervals of counts end at whole ones; noise is drawn in whole units, {request.units} to a person."
        )
    if request.why:
        notes.append(f"Mechanism: {request.mechanism}, by 'auto': {request.why}.")
    if isinstance(found, Inferred):
        notes.append(found.note)
    elif found is not None:
        notes.append(f"No intervals, and shares as they were released: {found}.")
    if not request.total_is_public and extras.debias:
        notes.append(f"Debiased shares take the public guess of {request.total} records for true.")
    notes += warnings_of(
        guarantee,
        show_truth=extras.show_truth,
        seed=extras.seed,
        total=request.total if request.adjacency == "replace" else None,
    )
    details: dict[str, Any] = {
        "private": extras.seed is None and not extras.show_truth,
        "seeded": extras.seed is not None,
        "column": column,
        "by": name_of(by),
        "mechanism": request.mechanism,
        "parameters": parameters_of(drawing) | ({} if request.units == 1 else {"units": request.units}),
        "guarantee": guarantee,
        "total": request.total if request.total_is_public else None,
        "kind": "counts" if extras.size is not None else "shares",
    }
    if isinstance(found, Inferred):
        details["level"] = found.level
    return Result(rows, details, notes, bar)


def _pivoted(result: Result, columns: Mapping[str, Levels], kind: str, cells: Any) -> Result:
    """Return a table with a column for each value; what is no share adds up."""
    groups = tuple(range(len(columns) - 1))
    wide = pivoted(columns, kind, cells, cells.sum(axis=-1), cells.sum(axis=groups), cells.sum().item())
    return replace(result, columns=wide, bar=None, details={**result.details, "pivot": kind})


def _with_margins(
    result: Result, extras: Extras, columns: Mapping[str, Levels], released: Any, found: Any, output: Output
) -> Result:
    """Add the margins, as rows or in JSON by themselves; or make a table with a column for each value."""
    margins = found.margins if isinstance(found, Inferred) else None
    if not (extras.margins or extras.pivot):
        return result
    kind = extras.pivot
    if margins is None:
        # What is paid for is delivered, in the shape that was asked for.
        if kind != "noisy_count":
            instead = "" if kind is None else " The table shows noisy counts."
            note = f"No margins: the noise is too large to infer all counts together.{instead}"
            result = replace(result, notes=[*result.notes, note])
        return result if kind is None else _pivoted(result, columns, "noisy_count", released)
    if kind is not None:
        return _pivoted(result, columns, kind, released if kind == "noisy_count" else margins.cells.mean)
    rows = margin_rows(columns, margins, released, extras.interval)
    notes = [*result.notes, MARGINS.format(total_name(columns))]
    if output.form == "json":
        listed = [dict(zip(rows, row, strict=True)) for row in zip(*rows.values(), strict=True)]
        return replace(result, details={**result.details, "margins": listed}, notes=notes)
    number = len(rows["share"])
    longer = {name: [*values, *rows.get(name, [None] * number)] for name, values in result.columns.items()}
    return replace(result, columns=longer, notes=notes)


MARGINS = (
    "Rows with {!r} are sums over that column: the sums of the counts above them, at no further cost; share is of the "
    "records of such a group. Intervals of sums over groups take the counts as independent."
)


def _public(request: Request, columns: Mapping[str, Levels]) -> str:
    stated = [not getattr(levels, "drawn", False) for levels in columns.values()]
    names = ", ".join((["the domain"] if stated[-1] else []) + (["the groups"] if any(stated[:-1]) else []))
    names += (", " if names else "") + "the bounds of the quantiles" if not all(stated) else ""
    if request.total_is_public:
        return f"Public: {names}, the parameters and the number of records, {request.total}. Nothing else."
    return f"Public: {names} and the parameters. The number of records is private."


def _raw(request: Request) -> str:
    """Return the name of the column with what the mechanism released."""
    return "draw" if request.mechanism == "dirichlet" else "noisy_count"


def _plain_shares(released: Any, request: Request) -> list[float]:
    """Return shares without inference: a draw as it is, noisy counts projected to what the total allows."""
    from simplexdp.comparison import shares_of

    if request.mechanism == "dirichlet":
        drawn: list[float] = released.ravel().tolist()
        return drawn
    known = request.total_is_public and request.n_groups == 1
    shares: list[float] = shares_of(released, "project", total=request.total if known else None).ravel().tolist()
    return shares


def _illustrate(
    request: Request,
    extras: Extras,
    built: Any,
    curve: PrivacyCurve,
    names: list[str],
    labels: list[list[Any]],
    released: Any,
    found: Inferred | str | None,
    result: Result,
    facts: Callable[[], Facts],
) -> None:
    """Draw a release with its intervals: from what was released and public parameters, nothing else."""
    if extras.plot is None and extras.report is None:
        return
    import numpy as np

    *above, own = labels
    texts = [str(label) for label in own]
    groups = names_of(above)
    if above:
        texts = [f"{group}: {label}" for group in groups for label in texts]
    level = extras.interval
    if isinstance(found, Inferred):
        # Of the cells: the columns of the result may have rows of margins, or be those of a pivot table.
        kind, values, (lower, upper) = "credible", found.share.ravel().tolist(), found.share_ends.reshape(-1, 2).T
        if request.total_is_public and not above:
            # Of these very data, as the counts that a page shows beside them.
            records = max(request.total or 0, 1)
            values, (lower, upper) = (found.count / records).tolist(), found.count_ends.T / records
    elif above:
        warn(f"no plot and no report of the groups: {found}")
        return
    else:
        kind, values = "confidence", list(result.columns["share"])
        if request.mechanism == "dirichlet":
            ends = np.asarray(built.interval(released, request.total, level=level))
        else:
            # Nothing makes counts shares where the number of records is private.
            public = request.total if request.total_is_public else None
            counts = built.interval(np.ravel(released), level)
            ends = np.clip(counts / public, 0.0, 1.0) if public else np.array([[0.0, 1.0]] * len(counts))
        lower, upper = ends.T
    if extras.plot is not None:
        seeded = extras.seed is not None

        from simplexdp.plots.groups import fits_panels

        def draw(plots: Any) -> Any:
            if not above or not isinstance(found, Inferred):
                return plots.release(values, lower, upper, texts, level=level, sort=extras.plot_sorted)
            cells = (len(groups), len(own))
            if not fits_panels(*cells):
                # Too many for a panel each: the counts alone.
                return plots.heat_map(found.count.reshape(cells), names=groups, labels=own, sort=extras.plot_sorted)
            ends = [found.count_ends[..., end].reshape(cells) for end in (0, 1)]
            return plots.groups(
                found.count.reshape(cells), *ends, names=groups, labels=own, level=level, shown="expected",
                sort=extras.plot_sorted,
            )  # fmt: skip

        save_plot(draw, extras.plot, seeded=seeded)
        wrote(extras.plot)
    if extras.report is not None:
        told: dict[str, Any] = {
            "labels": [str(label) for _ in groups for label in own] if above else texts,
            "by": [group for group in groups for _ in own] if above else None,
            "counts": _counts(found) if above and isinstance(found, Inferred) else None,
            "values": values,
            "lower": lower,
            "upper": upper,
            "level": level,
            "kind": kind,
            "curve": curve,
            "guarantee": result.details["guarantee"],
            "parameters": {"mechanism": request.mechanism, **result.details["parameters"]},
            "title": _title(names),
            # The truth that --show-truth shows is not on the page, whatever is printed.
            "notes": [_on_page(note, found) for note in result.notes if not note.startswith("true_count")],
            "total": request.total if not above and (request.total_is_public or kind == "confidence") else None,
            "facts": facts(),
        }
        if extras.margins and isinstance(found, Inferred) and found.margins is not None:
            told["margins"] = margin_shares(names, labels, found.margins, level)
        write_pages(extras.report, "release", **told)


def _on_page(note: str, found: Inferred | str | None) -> str:
    """Return what a page says in place of a note about columns."""
    return found.note_of_page if isinstance(found, Inferred) and note == found.note else note


def _title(names: Sequence[str]) -> str:
    """Return what a page is about, of the columns of groups and the one that is counted."""
    *above, own = names
    return f"Private histograms of {own} by {' and '.join(above)}" if above else f"Private histogram of {own}"


def _counts(found: Inferred) -> tuple[Any, Any, Any]:
    lower, upper = found.count_ends.reshape(-1, 2).T
    return found.count.ravel(), lower, upper
