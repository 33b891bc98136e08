"""``simplexdp fit-synth``: a synthesizer of a file, and what ``synthesize`` shares with it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import click
import numpy as np

from simplexdp.cli import options
from simplexdp.cli.card import card_option, write_card
from simplexdp.cli.files import KeepingCommand
from simplexdp.cli.guarantee import account, debited, guarantee_of, sentence, warnings_of
from simplexdp.cli.neighbours import adjacency_of
from simplexdp.cli.pages import facts_of, write_pages
from simplexdp.cli.progress import Progress
from simplexdp.cli.selection import Selection
from simplexdp.cli.spelling import Spelling
from simplexdp.cli.writing import Output, Result, emit, warn, write_or_print
from simplexdp.exceptions import BudgetExceededError

if TYPE_CHECKING:
    from simplexdp.models import PaidComparison, PrivateSynthesizer

__all__ = ["fit_synth", "fitted_table", "notes_of", "report_option", "table_options", "write_report"]

LEAST_PRICE = 1e-9
"""Of a comparison: below it the noise would have no bound that a release can state."""

table_options = options._stacked(
    click.option(
        "--domains",
        "domains_file",
        type=click.Path(exists=True, dir_okay=False),
        metavar="FILE.json",
        help='Public domains: {"job": ["a", "b"], "code": 10, "age": {"bins": 10, "bounds": [18, 90], "null": true}}; '
        "null is a level for missing values.",
    ),
    options.level_options,
    options.spelling_options,
    click.option("--epsilon", type=float, help="Budget of everything."),
    click.option("--delta", type=float, help="Budget of everything."),
    adjacency_of("add_remove", paid=True),
    click.option(
        "--compare",
        type=float,
        metavar="EPSILON",
        help="Look at the records once more and say how far the model's tables are from theirs, with noise. This costs "
        "EPSILON (pure) on top of --epsilon.",
    ),
    options.person_options,
    options.weighted_option,
    options.ledger_options,
    options.input_options,
)

report_option = click.option(
    "--report",
    type=click.Path(dir_okay=False),
    metavar="FILE.html",
    help="A page about the quality of the records: every one-way table, a map of all pairs, valid error bars; and JSON "
    "beside it. Free.",
)


@click.command(
    "fit-synth",
    cls=KeepingCommand,
    epilog="""\b
Examples:
  simplexdp fit-synth people.csv --domains domains.json --epsilon 1 --delta 1e-6 --out model.json
  simplexdp synthesize model.json --size 1000 --out synthetic.csv
""",
)
@options.file_argument
@table_options
@report_option
@card_option
@options.seed_option
@click.option("--out", type=click.Path(dir_okay=False), metavar="FILE.json", help="The model; else it is printed.")
@click.option("--json", "as_json", is_flag=True, help="With --out: the summary as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="No notes on standard error.")
def fit_synth(report: str | None, card: str | None, out: str | None, as_json: bool, quiet: bool, **given: Any) -> None:
    """Fit a synthesizer to the records of FILE and write what was released as JSON.

    The columns are those that --domains lists. The JSON is what 'simplexdp synthesize' and PrivateSynthesizer.load
    read.
    """
    output = Output.chosen(out, None if out is None else "json", False)
    model, comparison = fitted_table(**given)
    # First of all that is done with it: it is paid for.
    content = {**json.loads(model.to_json()), "private": given["seed"] is None, "seeded": given["seed"] is not None}
    text = json.dumps(content, ensure_ascii=False) + "\n"
    write_or_print(text, output.path)
    accountant = account(given["ledger"], given["seed"])
    write_report(model, report, given["file"], comparison, given["ledger"], accountant)
    write_card(card, text, given["file"], given["ledger"], accountant)
    guarantee = guarantee_of(
        model.privacy_,
        given["epsilon"],
        given["delta"],
        unit=given["unit"],
        max_rows=given["max_rows"] or 1,
        weighted=given["weighted"],
    )
    notes = notes_of(model, comparison, **given)
    if output.path is None:
        for line in [] if quiet else notes:
            warn(line)
        return
    details = {"model": output.path, **guarantee}
    emit(Result(details=details, notes=() if quiet else notes), Output(None, "json" if as_json else "table"))


def fitted_table(
    *,
    file: str,
    domains_file: str | None,
    other: str | None,
    null: str | None,
    clean: tuple[str, ...],
    map_file: str | None,
    epsilon: float | None,
    delta: float | None,
    adjacency: str,
    unit: str | None,
    max_rows: int | None,
    first_by: str | None,
    date_format: str | None,
    weighted: bool,
    ledger: str | None,
    name: str,
    seed: int | None,
    compare: float | None,
    **given: Any,
) -> tuple[PrivateSynthesizer, PaidComparison | None]:
    """Return a synthesizer of the records of a file, with the values of --domains, and what --compare buys."""
    from simplexdp.cli.counting import codes_of_persons
    from simplexdp.cli.numeric import Bins, stated_columns
    from simplexdp.frames import Domain
    from simplexdp.models import PrivateSynthesizer
    from simplexdp.models.cuts import Cut
    from simplexdp.models.filling import NumericColumn

    if domains_file is None:
        raise click.UsageError(
            'give --domains FILE.json: the values of columns are public and not read off the data, such as {"job": '
            '["clerk", "smith"], "age": {"bins": 10, "bounds": [18, 90]}}'
        )
    if epsilon is None or delta is None:
        raise click.UsageError("give --epsilon and --delta: the budget of everything")
    if compare is not None and not LEAST_PRICE <= compare < math.inf:
        raise click.UsageError(f"--compare must be a number from {LEAST_PRICE} on, the price, got {compare}")
    spelling = Spelling.stated(clean, map_file)
    selection = Selection.stated(spelling, unit, max_rows, first_by, date_format, seed, weighted=weighted)
    stated = stated_columns(domains_file, other, null, spelling)
    found = account(ledger, seed)
    rng = options.seeded(seed)
    records, persons = codes_of_persons(options.source(file, **given), cast("Mapping[str, Any]", stated), selection)
    noting = None if found is None else _Noting(found, name, file)
    with Progress("fitting") as bar:
        model = PrivateSynthesizer(
            epsilon,
            delta,
            domains={column: len(levels.all) for column, levels in stated.items()},
            adjacency=adjacency,
            unit=unit,
            max_rows=max_rows,
            weighted=weighted,
            accountant=noting,
            progress=bar,
            random_state=rng,
        ).fit(records, persons=persons)
    comparison = None
    if compare is not None:
        try:
            comparison = model.compare(records, epsilon=compare, persons=persons, accountant=noting, random_state=rng)
        except BudgetExceededError:
            # The tables are paid for: they must not be lost.
            warn("no comparison: the ledger has not enough left for it")
    # It was fitted on codes; what is written has the values.
    binned = {column: levels for column, levels in stated.items() if isinstance(levels, Bins)}
    domains = {
        column: Domain(len(levels.all)) if isinstance(levels, Bins) else Domain(levels.all, clean=levels.clean)
        for column, levels in stated.items()
    }
    numeric = {
        column: NumericColumn(Cut(np.array(bins.edges), bins.null), bins.bounds, bins.whole)
        for column, bins in binned.items()
    }
    return model.with_values(domains, numeric), comparison


def notes_of(
    model: PrivateSynthesizer,
    comparison: PaidComparison | None,
    *,
    epsilon: float,
    delta: float,
    seed: int | None,
    unit: str | None = None,
    max_rows: int | None = None,
    weighted: bool = False,
    **_: Any,
) -> list[str]:
    """Return what is said of the guarantee, and of a comparison that was paid for."""
    guarantee = guarantee_of(model.privacy_, epsilon, delta, unit=unit, max_rows=max_rows or 1, weighted=weighted)
    notes = [sentence(guarantee, " of everything" if comparison is None else " of the records")]
    if comparison is not None:
        from simplexdp.report.quality import comparison_sentence

        notes.append(comparison_sentence(comparison))
    released = max(round(model.n_records_), 0)
    return [*notes, *warnings_of(guarantee, show_truth=False, seed=seed, total=released)]


class _Noting:
    """An accountant that notes the user's name and file, not the model's own label."""

    def __init__(self, accountant: Any, name: str, file: str) -> None:
        self._accountant, self._name, self._file = accountant, name, file

    def spend(self, curve: Any, *, label: str = "") -> Any:
        """Debit the cost of the tables, in the context in which they are drawn."""
        return debited(self._accountant, curve, self._name or label, self._file)


def write_report(
    model: PrivateSynthesizer,
    path: str | None,
    source: str,
    comparison: PaidComparison | None = None,
    ledger: str | None = None,
    accountant: Any = None,
) -> None:
    """Write the page about a model, if one is asked for, with what is left in the ledger that paid for it."""
    if path is not None:
        told = {"title": f"Synthetic records of {source}", "comparison": comparison}
        write_pages(path, "quality", model, **told, facts=facts_of(source, ledger, accountant))
