"""``simplexdp fit-nb`` and ``fit-bn``: private models of a file, written as JSON that holds what was released."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import click
import numpy as np

from simplexdp._catalogue import names
from simplexdp.cli import options
from simplexdp.cli.card import card_option, write_card
from simplexdp.cli.files import KeepingCommand
from simplexdp.cli.guarantee import account, debited, guarantee_of, sentence, warnings_of
from simplexdp.cli.neighbours import adjacency_of
from simplexdp.cli.numeric import Bins, stated_columns
from simplexdp.cli.progress import Progress
from simplexdp.cli.selection import EVERYTHING, Selection
from simplexdp.cli.spelling import Spelling
from simplexdp.cli.writing import Output, Result, check_printable, emit, warn, write_or_print
from simplexdp.exceptions import InvalidDataError, SimplexDpError

if TYPE_CHECKING:
    from simplexdp.accounting import PrivacyCurve
    from simplexdp.cli.counting import Levels

__all__ = ["NAIVE_BAYES", "fit_bn", "fit_nb"]

NAIVE_BAYES = "simplexdp.naive-bayes/1"
MECHANISMS = names(lambda entry: entry.tables)

_fit_options = options._stacked(
    click.option(
        "--domains",
        "domains_file",
        type=click.Path(exists=True, dir_okay=False),
        required=True,
        metavar="FILE.json",
        help='Public domains: {"column": ["a", "b"], "code": 10}; 10 stands for 0 to 9.',
    ),
    options.level_options,
    options.spelling_options,
    click.option("--epsilon", type=float, required=True, help="Budget of the whole model."),
    click.option("--delta", type=float, required=True, help="Budget of the whole model."),
    click.option(
        "--mechanism",
        type=click.Choice(("auto", *MECHANISMS)),
        default="auto",
        show_default=True,
        help="auto: the noise with the least error in this budget.",
    ),
    click.option(
        "--smoothing",
        type=click.Choice(("posterior", "floor")),
        default="posterior",
        show_default=True,
        help="posterior: probabilities given all that was released; floor: tables as they were drawn.",
    ),
    adjacency_of("replace", paid=True),
    options.person_options,
    options.weighted_option,
    options.ledger_options,
    options.seed_option,
    options.input_options,
    click.option(
        "--score",
        type=click.Path(exists=True, dir_okay=False),
        metavar="FILE",
        help="Also score the model on these records. The score of private records is NOT PRIVATE.",
    ),
    card_option,
    click.option("--out", type=click.Path(dir_okay=False), metavar="FILE.json", help="The model; else it is printed."),
    click.option("--json", "as_json", is_flag=True, help="With --out: the summary as JSON."),
    click.option("-q", "--quiet", is_flag=True, help="No notes on standard error."),
)


@click.command(
    "fit-nb",
    cls=KeepingCommand,
    epilog="""\b
Examples:
  simplexdp fit-nb people.csv --target job --domains domains.json \\
      --epsilon 1 --delta 1e-6 --out model.json
  simplexdp predict model.json new.csv --out predicted.csv
  simplexdp fit-nb train.csv --target job --domains domains.json \\
      --epsilon 1 --delta 1e-6 --score public-test.csv --out scored.json
""",
)
@options.file_argument
@click.option("--target", required=True, metavar="COLUMN", help="The class; every other domain is of a feature.")
@_fit_options
def fit_nb(target: str, **given: Any) -> None:
    """Fit a private naive Bayes classifier to the records of FILE and write its released tables as JSON.

    The columns are those that --domains lists; numbers may have bins there, {"bins": 10, "bounds": [0, 100]} or
    {"edges": [0, 18, 65, 100]}, "null": true among them for missing ones. Together all tables are (epsilon,
    delta)-differentially private. With --adjacency replace the number of records is public. The JSON is what
    'simplexdp predict' and PrivateCategoricalNB.load read.
    """
    fit = Fit(**given)
    domains = fit.columns()
    classes = domains.get(target)
    if classes is None:
        raise click.UsageError(f"--domains must state the classes of --target {target!r}")
    if isinstance(classes, Bins) or None in classes.all:
        raise click.UsageError(
            f"--domains must list the classes of --target {target!r}: they are no bins, and not null"
        )
    features = [column for column in domains if column != target]
    if not features:
        raise click.UsageError("--domains must state at least one feature")
    shared, output = fit.prepared(domains)
    (records, persons), test = fit.records(domains), fit.test_records(domains)
    from simplexdp.models import PrivateCategoricalNB

    model = PrivateCategoricalNB(
        fit.epsilon,
        fit.delta,
        categories=[len(domains[column].all) for column in features],
        classes=list(range(len(domains[target].all))),
        **shared,
    )
    with Progress("fitting"):
        model.fit(_matrix(records, features), records[target].astype(np.int64), persons=persons)
    guarantee = fit.guarantee(model)
    written = json.loads(model.to_json())
    content = {
        "format": NAIVE_BAYES,
        "privacy": {**guarantee, "mechanism": model.mechanism_, **({} if fit.seed is None else {"seeded": True})},
        "smoothing": written["smoothing"],
        "total": written["total"],
        "calibration": written.get("calibration"),
        # Which of the values collect those without a level of their own.
        "levels": {"other": fit.other, "null": fit.null},
        # It was fitted on codes; what is written has the names and values that they stand for.
        "class": {**written["class"], "name": target, **_stated(classes)},
        "features": [
            {
                "name": column,
                **_stated(domains[column]),
                "table": feature["table"],
                "released": feature["released"],
            }
            for column, feature in zip(features, written["features"], strict=True)
        ],
    }
    fit.keep(content, output)
    scored = None
    if test is not None:
        scored = {"accuracy": float(model.score(_matrix(test, features), test[target].astype(np.int64)))}
    fit.tell(guarantee, model.mechanism_, scored, output, written["total"])


@click.command(
    "fit-bn",
    cls=KeepingCommand,
    epilog="""\b
Examples:
  simplexdp fit-bn people.csv --edge 'region>job' --edge 'job>age' --domains domains.json \\
      --epsilon 1 --delta 1e-6 --out network.json
  simplexdp synthesize network.json --size 1000 --out synthetic.csv
""",
)
@options.file_argument
@click.option("--edge", "edges", multiple=True, metavar="'A>B'", help="An arrow of the network; repeat it. Public.")
@_fit_options
def fit_bn(edges: tuple[str, ...], **given: Any) -> None:
    """Fit a private Bayesian network to the records of FILE and write its released tables as JSON.

    The columns are those that --domains lists; those without an edge are independent. The JSON is what
    PrivateBayesianNetwork.load reads. With --adjacency replace the number of records is public.
    """
    fit = Fit(**given)
    domains = fit.domains()
    pairs = [_edge(edge, domains) for edge in edges]
    shared, output = fit.prepared(domains)
    (records, persons), test = fit.records(domains), fit.test_records(domains)
    from simplexdp.frames import Domain
    from simplexdp.models import PrivateBayesianNetwork

    sizes = {column: len(levels.all) for column, levels in domains.items()}
    named = {column: Domain(levels.all, clean=levels.clean) for column, levels in domains.items()}
    model = PrivateBayesianNetwork(pairs, sizes, epsilon=fit.epsilon, delta=fit.delta, **shared)
    with Progress("fitting"):
        model.fit(records, persons=persons)
    guarantee = fit.guarantee(model)
    # It was fitted on codes, and is scored on codes; what is written has the values.
    written = copy(model)
    written.domains_ = named
    content = json.loads(written.to_json())
    fit.keep(content, output)
    scored = None if test is None else {"mean_log_likelihood": float(model.score(test))}
    fit.tell(guarantee, model.mechanism_, scored, output, content["total"])


def _stated(levels: Levels | Bins) -> dict[str, Any]:
    """Return the values of a column and the rules for their spellings, or its bins, as a model's file holds them."""
    if isinstance(levels, Bins):
        return {"values": len(levels.all), "edges": list(levels.edges), **({"null": True} if levels.null else {})}
    return {"values": levels.all, **({} if levels.clean is None else {"clean": levels.clean.to_json()})}


@dataclass(frozen=True)
class Fit:
    """The options that both commands share, and what is done with them."""

    file: str
    domains_file: str
    other: str | None
    null: str | None
    clean: tuple[str, ...]
    map_file: str | None
    epsilon: float
    delta: float
    mechanism: str
    smoothing: str
    adjacency: str
    unit: str | None
    max_rows: int | None
    first_by: str | None
    date_format: str | None
    weighted: bool
    ledger: str | None
    name: str
    seed: int | None
    input_format: str | None
    encoding: str
    no_header: bool
    delimiter: str | None
    score: str | None
    card: str | None
    out: str | None
    as_json: bool
    quiet: bool
    _debits: list[Any] = field(default_factory=list, init=False)
    """Noted as released when the model was written."""

    def domains(self) -> dict[str, Levels]:
        """Return the public domains."""
        from simplexdp.cli.counting import stated_domains

        return stated_domains(self.domains_file, self.other, self.null, self._spelling())

    def columns(self) -> dict[str, Levels | Bins]:
        """Return the public domains, and the public bins of columns of numbers."""
        return stated_columns(self.domains_file, self.other, self.null, self._spelling())

    def _spelling(self) -> Spelling:
        return Spelling.stated(self.clean, self.map_file)

    def prepared(self, stated: Mapping[str, Levels | Bins]) -> tuple[dict[str, Any], Output]:
        """Check everything that can be checked before anything is read; return what both estimators are told."""
        output = Output.chosen(self.out, None if self.out is None else "json", False)
        check_printable([text for name, levels in stated.items() for text in (name, *levels.all)], output)
        self._selection()
        found = self._accountant()
        shared = {
            "mechanism": self.mechanism,
            "smoothing": self.smoothing,
            "adjacency": self.adjacency,
            "unit": self.unit,
            "max_rows": self.max_rows,
            "weighted": self.weighted,
            "accountant": None if found is None else _Named(found, self.name, self.file, self._debits),
            "random_state": options.seeded(self.seed),
        }
        return shared, Output(output.path, "json" if self.as_json else "table")

    def _accountant(self) -> Any:
        return account(self.ledger, self.seed)

    def guarantee(self, model: Any) -> dict[str, Any]:
        """Return the budget that was asked for, what the model spent of it, and of whom."""
        curve = cast("PrivacyCurve", model.privacy_)
        return guarantee_of(
            curve, self.epsilon, self.delta, unit=self.unit, max_rows=self.max_rows or 1, weighted=self.weighted
        )

    def records(self, domains: Mapping[str, Levels | Bins]) -> tuple[dict[str, Any], Any]:
        """Return the codes of the records, so many of each person, and their persons."""
        # Where the number of records is private, no records are as good as one.
        least = 1 if self.adjacency == "replace" else 0
        return self._codes(self.file, self.input_format, domains, least, self._selection())

    def _selection(self) -> Selection:
        return Selection.stated(
            self._spelling(),
            self.unit,
            self.max_rows,
            self.first_by,
            self.date_format,
            self.seed,
            weighted=self.weighted,
        )

    def test_records(self, domains: Mapping[str, Levels | Bins]) -> dict[str, Any] | None:
        """Return the codes of the records to score on: read before anything is paid for, as they may be refused."""
        if self.score is None:
            return None
        try:
            kind = self.input_format if self.score == self.file else None
            return self._codes(self.score, kind, domains, 1, EVERYTHING)[0]
        except SimplexDpError as error:
            raise InvalidDataError(f"--score {self.score}: {error}") from None
        except click.UsageError as error:
            raise click.UsageError(f"--score {self.score}: {error.message}") from None

    def _codes(
        self, path: str, kind: str | None, domains: Mapping[str, Levels | Bins], least: int, selection: Selection
    ) -> tuple[dict[str, Any], Any]:
        from simplexdp.cli.counting import codes_of_persons

        source = options.source(path, kind, self.encoding, self.no_header, self.delimiter)
        # Bins encode records as levels do.
        columns = cast("Mapping[str, Levels]", domains)
        found, persons = codes_of_persons(source, columns, selection)
        if len(next(iter(found.values()))) < least:
            raise InvalidDataError("the file has no records")
        return found, persons

    def keep(self, content: Mapping[str, Any], output: Output) -> None:
        """Write the model, first of all that is done with it: it is paid for."""
        marks = {"private": self.seed is None, "seeded": self.seed is not None}
        text = json.dumps({**content, **marks}, indent=1, ensure_ascii=False) + "\n"
        write_or_print(text, output.path)
        for debit in self._debits:
            debit.released()
        write_card(self.card, text, self.file, self.ledger, self._accountant())

    def tell(
        self,
        guarantee: Mapping[str, Any],
        mechanism: str,
        scored: Mapping[str, float] | None,
        output: Output,
        total: int | None,
    ) -> None:
        """Say what the model cost and how it was released; a score is shown and never written into the model."""
        notes = [sentence(guarantee, " of all tables together")]
        notes += warnings_of(guarantee, show_truth=False, seed=self.seed, total=total)
        if scored is not None:
            notes.append("The score is NOT PRIVATE when the records that it was computed from are private.")
        if output.path is None:
            shown = [f"{name.replace('_', ' ')}: {value:.6g}" for name, value in (scored or {}).items()]
            for line in [] if self.quiet else [*notes, *shown]:
                warn(line)
            return
        marks = {"private": self.seed is None and scored is None, "seeded": self.seed is not None}
        details = {"model": output.path, "mechanism": mechanism, **marks, **guarantee, **(scored or {})}
        emit(Result(details=details, notes=() if self.quiet else notes), Output(None, output.form))


def _edge(text: str, domains: Mapping[str, Levels | Bins]) -> tuple[str, str]:
    # A column's name may hold the sign itself.
    for cut, sign in enumerate(text):
        if sign == ">" and text[:cut].strip() in domains and text[cut + 1 :].strip() in domains:
            return text[:cut].strip(), text[cut + 1 :].strip()
    raise click.UsageError(f"--edge must be 'A>B' for two columns that --domains lists, got {text!r}")


class _Named:
    """An accountant that notes the user's name and file, not the model's own label."""

    def __init__(self, accountant: Any, name: str, file: str, debits: list[Any]) -> None:
        self._accountant, self._name, self._file, self._debits = accountant, name, file, debits

    def spend(self, curve: Any, *, label: str = "") -> Any:
        """Debit the cost of the model, which is delivered later."""
        self._debits.append(debited(self._accountant, curve, self._name or label, self._file))
        return nullcontext()


def _matrix(records: Mapping[str, Any], features: list[str]) -> Any:
    return np.stack([records[column].astype(np.int32) for column in features], axis=1)
