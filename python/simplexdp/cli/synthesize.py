"""``simplexdp synthesize``: records drawn from what was released, which costs nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from simplexdp.cli import options
from simplexdp.cli.files import Command
from simplexdp.cli.guarantee import account
from simplexdp.cli.progress import Progress
from simplexdp.cli.reading import text_of
from simplexdp.cli.records import FORMATS, Levels, fits_integers, marked, with_mark, writer
from simplexdp.cli.synthesizer import fitted_table, notes_of, report_option, table_options, write_report
from simplexdp.cli.writing import warn
from simplexdp.exceptions import InvalidParameterError

__all__ = ["synthesize"]

_CHUNK = 1 << 17


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  # from a network, from a classifier, from a histogram
  simplexdp synthesize network.json --size 1000 --out synthetic.csv
  simplexdp synthesize model.json --size 1000 --out synthetic.parquet
  simplexdp synthesize shares.json --size 1000 | head -3
  # of a table, in one step
  simplexdp synthesize people.csv --domains domains.json --epsilon 1 --delta 1e-6 \\
      --out synthetic.csv --report quality.html
""",
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False), metavar="MODEL.json|TABLE")
@click.option("--size", type=click.IntRange(0), metavar="N", help="Number of records; of a table, by default its own.")
@table_options
@report_option
@click.option("--out", type=click.Path(dir_okay=False), metavar="FILE", help="CSV or Parquet; else CSV is printed.")
@click.option("--format", "form", type=click.Choice(FORMATS), help="By default what the suffix of --out says.")
@click.option("--json", "as_json", is_flag=True, help="With --out: the summary as JSON. Else: the records, one a line.")
@options.seed_option
@click.option("-q", "--quiet", is_flag=True, help="No notes on standard error.")
def synthesize(
    file: str,
    size: int | None,
    report: str | None,
    out: str | None,
    form: str | None,
    as_json: bool,
    seed: int | None,
    quiet: bool,
    **table: Any,
) -> None:
    """Draw synthetic records from MODEL.json: what fit-synth, fit-bn, fit-nb or 'release --json' wrote.

    Post-processing: the records are as private as the model, however many there are. With --epsilon the file is a TABLE
    of records: what fit-synth does, and then the records, in one step.
    """
    write = writer(out, form, as_json)
    rng = options.seeded(seed)
    comparison = None
    if table["epsilon"] is not None:
        network, comparison = fitted_table(file=file, seed=seed, **table)
        for line in [] if quiet else notes_of(network, comparison, seed=seed, **table):
            warn(line)
    else:
        if size is None:
            raise click.UsageError("give --size N for a model, or --epsilon, --delta and --domains for a table")
        stated = ("domains_file", "ledger", "compare", "unit", "max_rows", "first_by", "date_format", "map_file")
        if table["weighted"] or table["clean"] or any(table[name] is not None for name in stated):
            raise click.UsageError(
                "--domains, --clean, --map, --compare, --unit and --ledger are for a table, which needs --epsilon too"
            )
        network = _model(file)
    if report is not None and not _is_synthesizer(network):
        raise click.UsageError("--report is for a table, or for what fit-synth wrote")
    if _is_synthesizer(network):
        ledger = table.get("ledger")
        write_report(network, report, file, comparison, ledger, account(ledger, seed))
        size = max(round(network.n_records_), 0) if size is None else size
    assert size is not None  # a table has its own
    names = list(network.domains_) if _is_synthesizer(network) else network.nodes_in_user_order()
    levels: Levels = {name: _levels(network, name) for name in names}
    if network.seeded_:
        if table["epsilon"] is None:
            warn(f"WARNING: {file} was made with --seed: it is NOT PRIVATE, and neither is what is drawn from it.")
        levels = with_mark(levels)
    with Progress("drawing") as bar:
        chunks = _chunks(network, size, rng, bar)
        write(marked(chunks) if network.seeded_ else chunks, levels, out)
    if out is not None:
        if as_json:
            marks = {"private": seed is None and not network.seeded_, "seeded": seed is not None or network.seeded_}
            click.echo(json.dumps({"out": out, "size": size, "columns": [*levels], **marks}))
        elif not quiet:
            warn(f"wrote {size} records to {out}")


def _is_synthesizer(network: Any) -> bool:
    from simplexdp.models import PrivateSynthesizer

    return isinstance(network, PrivateSynthesizer)


def _model(path: str) -> Any:
    """Return what was released: a synthesizer, or anything else as a network."""
    from simplexdp.models import PrivateSynthesizer
    from simplexdp.models.synthesizer import FORMAT

    text = _text(path)
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        content = None
    if isinstance(content, dict) and content.get("format") == FORMAT:
        return PrivateSynthesizer.from_json(text)
    return _network(path)


def _text(path: str) -> str:
    from simplexdp.models.saved import text_of as read_text

    try:
        return read_text(path)
    except InvalidParameterError:
        raise InvalidParameterError(f"{path} must be text in UTF-8") from None


def _levels(network: Any, name: str) -> list[Any]:
    """Return the values that are drawn in a column; integers for which 64 bits are too few become text."""
    if _is_synthesizer(network) and name in network.numeric_columns_:
        return [0] if network.numeric_columns_[name].whole else [0.5]
    if not _is_synthesizer(network) and name in network.centres_:
        levels: list[Any] = network.centres_[name].tolist()
        return levels
    levels = network.domains_[name].levels
    if not fits_integers(levels):
        from simplexdp.frames import Domain

        levels = [level if level is None else text_of(level) for level in levels]
        network.domains_[name] = Domain(levels)
    return levels


def _chunks(network: Any, size: int, rng: Any, bar: Progress) -> Any:
    """Yield columns of records, so that memory does not grow with their number."""
    done = 0
    while True:
        part = min(_CHUNK, size - done)
        drawn = network.sample(part, random_state=rng, kind="dict")
        yield {name: _with_none(values) for name, values in drawn.items()}
        done += part
        bar(done / size if size else 1.0)
        if done >= size:
            return


def _with_none(values: NDArray[Any]) -> NDArray[Any]:
    """Return a column with None for doubles that are missing: they are empty fields, and no NaN."""
    from simplexdp.models.framing import with_none

    missing = np.isnan(values) if values.dtype.kind == "f" else np.zeros(0, dtype=bool)
    return with_none(values, missing) if missing.any() else values


def _network(path: str) -> Any:
    """Return what was released as a network: a classifier is one whose arrows go from the class to the features."""
    from simplexdp.cli.models import NAIVE_BAYES
    from simplexdp.models import PrivateBayesianNetwork

    text = _text(path)
    try:
        content = json.loads(text)
        if not isinstance(content, dict):
            raise TypeError
        if content.get("format") == NAIVE_BAYES:
            text = _as_network(content, content["privacy"], _nodes_of_classifier(content))
        elif "format" not in content and "rows" in content:
            text = _as_network(content, content["guarantee"], [_node_of_release(content)], content["mechanism"])
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        if isinstance(error, InvalidParameterError):
            raise
        raise InvalidParameterError(f"{path} must be what fit-bn, fit-nb or 'release --json' wrote") from None
    return PrivateBayesianNetwork.from_json(text)


def _nodes_of_classifier(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    target = content["class"]
    top = {"name": target["name"], "parents": [], "values": target["values"], "table": [target["table"]]}
    if target["name"] is None:
        raise InvalidParameterError("the classes must have a name: fit the classifier on a frame and a column of it")
    if any("edges" in each for each in content["features"]):
        raise InvalidParameterError("a classifier with binned columns does not say where in a bin its records were")
    below = [
        {
            "name": each["name"],
            "parents": [target["name"]],
            "values": each["values"],
            "other": each.get("other", False),
            "table": each["table"],
        }
        for each in content["features"]
    ]
    return [top, *below]


def _node_of_release(content: Mapping[str, Any]) -> dict[str, Any]:
    if content.get("by") is not None:
        raise InvalidParameterError("a release by groups does not say how large the groups are; fit a network instead")
    column = content["column"]
    measure = {"counts": "count", "shares": "share", "posterior": "mean"}[content["kind"]]
    weights = [float(row[measure]) for row in content["rows"]]
    total = sum(weights)
    table = [[weight / total for weight in weights]]
    return {"name": column, "parents": [], "values": [row[column] for row in content["rows"]], "table": table}


def _as_network(
    content: Mapping[str, Any], privacy: Mapping[str, Any], nodes: list[dict[str, Any]], mechanism: str | None = None
) -> str:
    """Return the JSON of a network, as PrivateBayesianNetwork writes it."""
    from simplexdp.models.saved import was_seeded

    stated = {name: privacy[name] for name in ("epsilon", "delta", "adjacency")}
    stated |= {name: privacy[name] for name in ("unit", "max_rows", "weighted") if name in privacy}
    if was_seeded(content, privacy):
        stated["seeded"] = True
    return json.dumps(
        {
            "format": "simplexdp.bayesian-network/1",
            "privacy": {**stated, "mechanism": mechanism or privacy["mechanism"]},
            "nodes": [{"other": False, **node} for node in nodes],
        }
    )
