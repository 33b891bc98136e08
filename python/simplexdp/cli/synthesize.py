"""``simplexdp synthesize``: records drawn from what was released, which costs nothing."""

from __future__ import annotations

import csv
import json
import os
import sys
from collections.abc import Mapping
from typing import Any

import click

from simplexdp.cli import options
from simplexdp.cli.progress import Progress
from simplexdp.cli.writing import check_writable, warn
from simplexdp.exceptions import InvalidParameterError

__all__ = ["synthesize"]

_CHUNK = 1 << 17
_FORMATS = ("csv", "parquet")


@click.command(
    epilog="""\b
Examples:
  # from a network, from a classifier, from a histogram
  simplexdp synthesize network.json --size 1000 --out synthetic.csv
  simplexdp synthesize model.json --size 1000 --out synthetic.parquet
  simplexdp synthesize shares.json --size 1000 | head -3
"""
)
@click.argument("model", type=click.Path(exists=True, dir_okay=False), metavar="MODEL.json")
@click.option("--size", type=click.IntRange(0), required=True, metavar="N", help="Number of records.")
@click.option("--out", type=click.Path(dir_okay=False), metavar="FILE", help="CSV or Parquet; else CSV is printed.")
@click.option("--format", "form", type=click.Choice(_FORMATS), help="By default what the suffix of --out says.")
@click.option("--json", "as_json", is_flag=True, help="With --out: the summary as JSON. Else: the records, one a line.")
@options.seed_option
@click.option("-q", "--quiet", is_flag=True, help="No notes on standard error.")
def synthesize(
    model: str, size: int, out: str | None, form: str | None, as_json: bool, seed: int | None, quiet: bool
) -> None:
    """Draw synthetic records from MODEL.json: what fit-bn, fit-nb or 'release --json' wrote.

    Post-processing: the records are as private as the model, however many there are.
    """
    form = form or (_format_of(out) if out is not None else "csv")
    if form == "parquet" and out is None:
        raise click.UsageError("--format parquet needs --out FILE")
    if out is not None:
        check_writable("--out", out)
    network = _network(model)
    rng = options.seeded(seed)
    names = network._nodes_in_user_order()
    with Progress("drawing") as bar:
        write = {"csv": _write_csv, "parquet": _write_parquet}[form]
        if out is None and as_json:
            write = _write_lines
        write(_chunks(network, size, rng, bar), names, out)
    if out is not None:
        if as_json:
            click.echo(json.dumps({"out": out, "size": size, "columns": names, "private": seed is None}))
        elif not quiet:
            warn(f"wrote {size} records to {out}")


def _format_of(path: str) -> str:
    suffix = os.path.splitext(path)[1].lower()
    if suffix in (".parquet", ".pq"):
        return "parquet"
    if suffix == ".csv":
        return "csv"
    raise click.UsageError(f"cannot tell the format of --out {path}; give --format csv|parquet")


def _chunks(network: Any, size: int, rng: Any, bar: Progress) -> Any:
    """Yield columns of records, so that memory does not grow with their number."""
    done = 0
    while True:
        part = min(_CHUNK, size - done)
        yield network.sample(part, random_state=rng, kind="dict")
        done += part
        bar(done / size if size else 1.0)
        if done >= size:
            return


def _write_csv(chunks: Any, names: list[str], out: str | None) -> None:
    file = sys.stdout if out is None else open(out, "w", encoding="utf-8", newline="")  # noqa: SIM115
    try:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        for columns in chunks:
            writer.writerows(zip(*(columns[name].tolist() for name in names), strict=True))
        file.flush()
    finally:
        if out is not None:
            file.close()


def _write_lines(chunks: Any, names: list[str], out: str | None) -> None:
    for columns in chunks:
        for row in zip(*(columns[name].tolist() for name in names), strict=True):
            sys.stdout.write(json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) + "\n")
    sys.stdout.flush()


def _write_parquet(chunks: Any, names: list[str], out: str | None) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer = None
    try:
        for columns in chunks:
            table = pa.table({name: pa.array(columns[name].tolist()) for name in names})
            if writer is None:
                writer = pq.ParquetWriter(out, table.schema)
            writer.write_table(table)
    finally:
        if writer is not None:
            writer.close()


def _network(path: str) -> Any:
    """Return what was released as a network: a classifier is one whose arrows go from the class to the features."""
    from simplexdp.cli.models import NAIVE_BAYES
    from simplexdp.models import PrivateBayesianNetwork

    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        content = json.loads(text)
        if not isinstance(content, dict):
            raise TypeError
        if content.get("format") == NAIVE_BAYES:
            text = _as_network(content["privacy"], _nodes_of_classifier(content))
        elif "format" not in content and "rows" in content:
            text = _as_network(content["guarantee"], [_node_of_release(content)], content["mechanism"])
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, InvalidParameterError):
            raise
        raise InvalidParameterError(f"{path} must be what fit-bn, fit-nb or 'release --json' wrote") from None
    return PrivateBayesianNetwork.from_json(text)


def _nodes_of_classifier(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    target = content["class"]
    top = {"name": target["name"], "parents": [], "values": target["values"], "table": [target["table"]]}
    below = [
        {"name": each["name"], "parents": [target["name"]], "values": each["values"], "table": each["table"]}
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


def _as_network(privacy: Mapping[str, Any], nodes: list[dict[str, Any]], mechanism: str | None = None) -> str:
    """Return the JSON of a network, as PrivateBayesianNetwork writes it."""
    stated = {name: privacy[name] for name in ("epsilon", "delta", "adjacency")}
    return json.dumps(
        {
            "format": "simplexdp.bayesian-network/1",
            "privacy": {**stated, "mechanism": mechanism or privacy["mechanism"]},
            "nodes": [{"other": False, **node} for node in nodes],
        }
    )
