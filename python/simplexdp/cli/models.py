"""``simplexdp fit-nb`` and ``fit-bn``: private models of a file, written as JSON that holds what was released."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import click
import numpy as np

from simplexdp.cli import options
from simplexdp.cli.release import guarantee_of
from simplexdp.cli.writing import Output, Result, emit, warn

if TYPE_CHECKING:
    from simplexdp.accounting import PrivacyCurve
    from simplexdp.cli.counting import Levels

__all__ = ["NAIVE_BAYES", "fit_bn", "fit_nb"]

NAIVE_BAYES = "simplexdp.naive-bayes/1"
MECHANISMS = ("dirichlet", "gaussian", "laplace", "discrete_laplace", "discrete_gaussian")

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
    click.option("--epsilon", type=float, required=True, help="Budget of the whole model."),
    click.option("--delta", type=float, required=True, help="Budget of the whole model."),
    click.option("--mechanism", type=click.Choice(MECHANISMS), default="dirichlet", show_default=True),
    options.adjacency_option,
    options.ledger_options,
    options.seed_option,
    options.input_options,
    click.option(
        "--score",
        type=click.Path(exists=True, dir_okay=False),
        metavar="FILE",
        help="Also score the model on these records. The score of private records is NOT PRIVATE.",
    ),
    click.option("--out", type=click.Path(dir_okay=False), metavar="FILE.json", help="The model; else it is printed."),
    click.option("--json", "as_json", is_flag=True, help="With --out: the summary as JSON."),
    click.option("-q", "--quiet", is_flag=True, help="No notes on standard error."),
)


@click.command(
    "fit-nb",
    epilog="""\b
Examples:
  simplexdp fit-nb people.csv --target job --domains domains.json \\
      --epsilon 1 --delta 1e-6 --out model.json
  simplexdp fit-nb train.csv --target job --domains domains.json \\
      --epsilon 1 --delta 1e-6 --score public-test.csv --out model.json
""",
)
@options.file_argument
@click.option("--target", required=True, metavar="COLUMN", help="The class; every other domain is of a feature.")
@_fit_options
def fit_nb(
    file: str,
    target: str,
    domains_file: str,
    other: str | None,
    null: str | None,
    epsilon: float,
    delta: float,
    mechanism: str,
    adjacency: str,
    ledger: str | None,
    name: str,
    seed: int | None,
    input_format: str | None,
    encoding: str,
    no_header: bool,
    score: str | None,
    out: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Fit a private naive Bayes classifier to the records of FILE and write its released tables as JSON.

    The columns are those that --domains lists. Together all tables are (epsilon, delta)-differentially private. With
    --adjacency replace the number of records is public.
    """
    from simplexdp.cli.counting import codes, stated_domains

    domains = stated_domains(domains_file, other, null)
    if target not in domains:
        raise click.UsageError(f"--domains must state the classes of --target {target!r}")
    features = [column for column in domains if column != target]
    if not features:
        raise click.UsageError("--domains must state at least one feature")
    accountant, rng, output = _prepared(ledger, name, file, seed, out, as_json)
    records = codes(options.source(file, input_format, encoding, no_header), domains)
    from simplexdp.models import PrivateCategoricalNB

    model = PrivateCategoricalNB(
        epsilon,
        delta,
        mechanism=mechanism,
        categories=[len(domains[column].all) for column in features],
        classes=list(range(len(domains[target].all))),
        adjacency=adjacency,
        accountant=accountant,
        random_state=rng,
    )
    _refuse_empty(records[target])
    model.fit(_matrix(records, features), records[target].astype(np.int64))
    guarantee = guarantee_of(cast("PrivacyCurve", model.privacy_), epsilon, delta)
    content = {
        "format": NAIVE_BAYES,
        "private": seed is None,
        "privacy": {**guarantee, "mechanism": mechanism},
        "class": {
            "name": target,
            "values": domains[target].all,
            "table": _rows(np.exp(model.class_log_prior_)),
        },
        "features": [
            {"name": column, "values": domains[column].all, "table": _rows(np.exp(table))}
            for column, table in zip(features, model.feature_log_prob_, strict=True)
        ],
    }
    scored = None
    if score is not None:
        test = codes(options.source(score, None, encoding, no_header), domains)
        _refuse_empty(test[target])
        scored = {"accuracy": float(model.score(_matrix(test, features), test[target].astype(np.int64)))}
    _write(json.dumps(content, indent=1, ensure_ascii=False), guarantee, content, scored, out, output, quiet)


@click.command(
    "fit-bn",
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
def fit_bn(
    file: str,
    edges: tuple[str, ...],
    domains_file: str,
    other: str | None,
    null: str | None,
    epsilon: float,
    delta: float,
    mechanism: str,
    adjacency: str,
    ledger: str | None,
    name: str,
    seed: int | None,
    input_format: str | None,
    encoding: str,
    no_header: bool,
    score: str | None,
    out: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Fit a private Bayesian network to the records of FILE and write its released tables as JSON.

    The columns are those that --domains lists; those without an edge are independent. The JSON is what
    PrivateBayesianNetwork.load reads. With --adjacency replace the number of records is public.
    """
    from simplexdp.cli.counting import codes, stated_domains

    domains = stated_domains(domains_file, other, null)
    pairs = [_edge(edge, domains) for edge in edges]
    accountant, rng, output = _prepared(ledger, name, file, seed, out, as_json)
    records = codes(options.source(file, input_format, encoding, no_header), domains)
    from simplexdp.frames import Domain
    from simplexdp.models import PrivateBayesianNetwork

    _refuse_empty(next(iter(records.values())))
    model = PrivateBayesianNetwork(
        pairs,
        {column: len(levels.all) for column, levels in domains.items()},
        epsilon=epsilon,
        delta=delta,
        mechanism=mechanism,
        adjacency=adjacency,
        accountant=accountant,
        random_state=rng,
    ).fit(records)
    guarantee = guarantee_of(cast("PrivacyCurve", model.privacy_), epsilon, delta)
    scored = None
    if score is not None:
        test = codes(options.source(score, None, encoding, no_header), domains)
        scored = {"mean_log_likelihood": float(model.score(test))}
    # It was fitted on codes; what is written has the values.
    model.domains_ = {column: Domain(levels.all) for column, levels in domains.items()}
    text = model.to_json()
    _write(text, guarantee, {"nodes": list(domains), "private": seed is None}, scored, out, output, quiet)


def _edge(text: str, domains: Mapping[str, Levels]) -> tuple[str, str]:
    # A column's name may hold the sign itself.
    for cut, sign in enumerate(text):
        if sign == ">" and text[:cut].strip() in domains and text[cut + 1 :].strip() in domains:
            return text[:cut].strip(), text[cut + 1 :].strip()
    raise click.UsageError(f"--edge must be 'A>B' for two columns that --domains lists, got {text!r}")


class _Named:
    """An accountant that notes the user's name and file, not the model's own label."""

    def __init__(self, accountant: Any, name: str, file: str) -> None:
        self._accountant, self._name, self._file = accountant, name, file

    def spend(self, curve: Any, *, label: str = "") -> Any:
        """Debit the cost of the model."""
        return self._accountant.spend(curve, label=self._name or label, on=self._file)


def _prepared(
    ledger: str | None, name: str, file: str, seed: int | None, out: str | None, as_json: bool
) -> tuple[Any, Any, Output]:
    """Check everything that can be checked before anything is read or spent."""
    if ledger is not None and seed is not None:
        raise click.UsageError("--seed and --ledger exclude each other: a seeded release is not private")
    output = Output.chosen(out, "json" if out is not None else None, False)
    accountant = None
    if ledger is not None:
        from simplexdp.cli.ledger import opened

        accountant = _Named(opened(ledger), name, file)
    return accountant, options.seeded(seed), Output(output.path, "json" if as_json else "table")


def _refuse_empty(column: Any) -> None:
    from simplexdp.exceptions import InvalidDataError

    if len(column) == 0:
        raise InvalidDataError("the file has no records")


def _matrix(records: Mapping[str, Any], features: list[str]) -> Any:
    return np.stack([records[column].astype(np.int32) for column in features], axis=1)


def _rows(table: Any) -> Any:
    """Return rows that sum to one as closely as doubles do: logarithms were taken in between."""
    return (table / table.sum(axis=-1, keepdims=True)).tolist()


def _write(
    text: str,
    guarantee: Mapping[str, Any],
    content: Mapping[str, Any],
    scored: Mapping[str, float] | None,
    out: str | None,
    output: Output,
    quiet: bool,
) -> None:
    """Write the model, and say what it cost; a score goes to standard error or the summary, never into the model."""
    notes = [
        f"Guarantee: exactly what is asked or less, epsilon = {guarantee['spent_epsilon']:.6g} at delta = "
        f"{guarantee['delta']:g}, for all tables together."
    ]
    if not content["private"]:
        notes.append("NOT PRIVATE: made with --seed.")
    if scored is not None:
        notes.append("The score is NOT PRIVATE when the records that it was computed from are private.")
    if out is None:
        click.echo(text)
        if not quiet:
            for note in notes:
                warn(note)
        for name, value in (scored or {}).items():
            warn(f"{name.replace('_', ' ')}: {value:.6g}")
        return
    with open(out, "w", encoding="utf-8") as file:
        file.write(text + "\n")
    summary = Result(details={"model": out, **guarantee, **(scored or {})}, notes=() if quiet else notes)
    emit(summary, Output(None, output.form))
