"""What a command prints or writes: a table for people, CSV, JSON or Parquet for programs."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import click

from simplexdp import __version__
from simplexdp.cli.files import whole
from simplexdp.cli.harmless import cells, visible

__all__ = ["SEEDED", "Output", "Result", "check_printable", "emit", "warn", "write_or_print", "wrote"]

FORMATS = ("table", "csv", "json", "parquet")
_SUFFIXES = {".json": "json", ".csv": "csv", ".parquet": "parquet", ".pq": "parquet", ".txt": "table"}
_BAR = 30
SEEDED = "seeded"
"""The column of a CSV file that says that it was made with a seed, and is not private."""


@dataclass(frozen=True)
class Output:
    """Where a result goes and in which form."""

    path: str | None
    form: str

    @classmethod
    def chosen(cls, path: str | None, form: str | None, as_json: bool, *, default: str | None = None) -> Output:
        """Take the form that was asked for, else what the suffix says, else a table on a terminal and CSV in a pipe."""
        if as_json and form not in (None, "json"):
            raise click.UsageError(f"--json and --format {form} exclude each other")
        if as_json:
            form = "json"
        if path == "-":
            path = None
        if path is not None:
            form = form or _SUFFIXES.get(os.path.splitext(path)[1].lower())
            if form is None:
                raise click.UsageError(f"cannot tell the format of --out {path}; give --format {'|'.join(FORMATS)}")
        elif form == "parquet":
            raise click.UsageError("--format parquet needs --out FILE")
        return cls(path, form or default or ("table" if is_terminal() else "csv"))


@dataclass
class Result:
    """What a command found.

    Parameters
    ----------
    columns : dict of str to sequence
        The records of the result, column by column.
    details : dict
        Everything else, for JSON and as lines below the table.
    notes : list of str
        Sentences for people; in JSON a list.
    bar : str, optional
        The column of shares that is also drawn as bars in a table.
    """

    columns: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    notes: Sequence[str] = ()
    bar: str | None = None


def check_printable(texts: Iterable[Any], output: Output) -> None:
    """Refuse names that the output cannot encode, before anything is spent on what would go there."""
    encoding = (sys.stdout.encoding or "utf-8") if output.path is None else "utf-8"
    try:
        "".join(map(str, texts)).encode(encoding, (sys.stdout.errors or "strict") if output.path is None else "strict")
    except UnicodeEncodeError:
        where = "standard output" if output.path is None else f"--out {output.path}"
        raise click.UsageError(
            f"{where} is {encoding}, which has no place for a name or a level that is stated"
        ) from None


def is_terminal() -> bool:
    """Whether standard output is read by a person."""
    return sys.stdout.isatty()


def warn(message: str) -> None:
    """Say something on standard error."""
    click.echo(visible(message), err=True)


def wrote(what: str) -> None:
    """Say what was written, unless the command was asked to be quiet."""
    context = click.get_current_context(silent=True)
    if context is None or not context.params.get("quiet"):
        warn(f"wrote {what}")


def emit(result: Result, output: Output, *, quiet: bool = False) -> None:
    """Write a result; a form without room for notes has them on standard error."""
    if output.form == "parquet":
        try:
            _write_parquet(result, output.path or "")
        except OSError as error:
            _print_instead(output.path, _json(result), error)
    else:
        write_or_print({"json": _json, "csv": _csv, "table": _table}[output.form](result), output.path)
    if output.form in ("csv", "parquet") and not quiet:
        for note in result.notes:
            warn(note)
    if output.path is not None and not quiet:
        wrote(output.path)


def write_or_print(text: str, path: str | None) -> None:
    """Write to a file, or without one to standard output, which also gets what the file does not take."""
    if path is None:
        sys.stdout.write(visible(text) if is_terminal() else text)
        sys.stdout.flush()
        return
    try:
        with whole(path) as draft, open(draft, "w", encoding="utf-8", newline="") as file:
            file.write(text)
    except OSError as error:
        _print_instead(path, text, error)


def _print_instead(path: str | None, text: str, error: OSError) -> NoReturn:
    """Print what could not be written: it may be a release, which is paid for."""
    sys.stdout.write(text)
    sys.stdout.flush()
    raise click.ClickException(f"--out {path}: {error.strerror or 'it cannot be written'}; printed instead") from None


def _json(result: Result) -> str:
    content: dict[str, Any] = {"simplexdp": __version__, **result.details}
    if result.columns:
        content["rows"] = [
            dict(zip(result.columns, row, strict=True)) for row in zip(*result.columns.values(), strict=True)
        ]
    if result.notes:
        content["notes"] = list(result.notes)
    return json.dumps(_plain(content), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    """Return a value that JSON has; infinity and NaN, which it has not, become null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _csv(result: Result) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if result.columns:
        columns = dict(result.columns)
        if result.details.get("seeded"):
            # The only place in this form for what may not be lost.
            columns[SEEDED] = ["true"] * len(next(iter(columns.values())))
        writer.writerow(cells(columns))
        writer.writerows(cells(map(_exact, values)) for values in zip(*columns.values(), strict=True))
    else:
        writer.writerow(("name", "value"))
        writer.writerows(cells((name, _exact(value))) for name, value in _flat(result.details))
    return text.getvalue()


def _exact(value: Any) -> Any:
    return repr(float(value)) if isinstance(value, float) else value


def _flat(details: Mapping[str, Any], above: str = "") -> list[tuple[str, Any]]:
    rows: list[tuple[str, Any]] = []
    for name, value in details.items():
        if isinstance(value, Mapping):
            rows += _flat(value, f"{above}{name}.")
        else:
            rows.append((above + name, json.dumps(_plain(value)) if isinstance(value, (list, tuple)) else value))
    return rows


def _table(result: Result) -> str:
    lines: list[str] = []
    if any(len(values) for values in result.columns.values()):
        lines += _aligned(result)
    if result.details and not result.columns:
        rows = [(name.replace("_", " "), _shown(value)) for name, value in _flat(result.details) if value is not None]
        width = max(len(name) for name, _ in rows)
        lines += [f"{name:<{width}}  {value}" for name, value in rows]
    if result.notes:
        lines += ["", *result.notes] if lines else list(result.notes)
    return "\n".join(lines) + "\n"


def _aligned(result: Result) -> list[str]:
    names = list(result.columns)
    names = [visible(name).replace("\n", "\\n") for name in names]
    shown = [[_shown(value) for value in values] for values in result.columns.values()]
    numeric = [
        all(value is None or isinstance(value, (int, float)) for value in values) for values in result.columns.values()
    ]
    widths = [max(map(len, [name, *column])) for name, column in zip(names, shown, strict=True)]
    lines = []
    for row in [names, *map(list, zip(*shown, strict=True))]:
        padded = (
            f"{cell:>{width}}" if right else f"{cell:<{width}}"
            for cell, width, right in zip(row, widths, numeric, strict=True)
        )
        lines.append("  ".join(padded))
    if result.bar is not None:
        shares = [min(max(float(share), 0.0), 1.0) for share in result.columns[result.bar]]
        bars = ["", *("#" * round(share * _BAR) for share in shares)]
        lines = [f"{line}  {bar}" for line, bar in zip(lines, bars, strict=True)]
    return [line.rstrip() for line in lines]


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    return visible(str(value)).replace("\n", "\\n")


def _write_parquet(result: Result, path: str) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = result.columns or {
        "name": [name for name, _ in _flat(result.details)],
        "value": [_shown(value) for _, value in _flat(result.details)],
    }
    table = pa.table({name: pa.array(list(values)) for name, values in columns.items()})
    about = json.dumps(_plain({"simplexdp": __version__, **result.details, "notes": list(result.notes)}))
    # Through memory: what pyarrow cannot write it removes, and that may be a device.
    written = pa.BufferOutputStream()
    pq.write_table(table.replace_schema_metadata({"simplexdp": about}), written)
    with whole(path) as draft, open(draft, "wb") as file:
        file.write(written.getvalue())
