"""Records written chunk by chunk, so that memory does not grow with their number."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

import click
import numpy as np

from simplexdp.cli.files import whole
from simplexdp.cli.harmless import cell, cells, visible
from simplexdp.cli.reading import text_of
from simplexdp.cli.writing import SEEDED, is_terminal

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["FORMATS", "Writer", "fits_integers", "marked", "with_mark", "writer"]

FORMATS = ("csv", "parquet")

Levels = Mapping[str, Sequence[Any]]
"""By the names of the columns, the values that may occur in each: all of them, or one of each type."""

Writer = Callable[[Iterable[Mapping[str, Any]], Levels, str | None], None]
"""Takes chunks of columns, their levels, and a file or standard output."""


def writer(out: str | None, form: str | None, as_json: bool) -> Writer:
    """Return what writes records where and how the options say; it is checked before anything is read."""
    form = form or (_format_of(out) if out is not None else "csv")
    if form == "parquet" and out is None:
        raise click.UsageError("--format parquet needs --out FILE")
    if out is None and as_json:
        return _write_lines
    return {"csv": _write_csv, "parquet": _write_parquet}[form]


def with_mark(levels: Levels) -> Levels:
    """Return the columns of records that say that they were made with a seed."""
    name = SEEDED
    while name in levels:
        name += "_"
    return {**levels, name: [True]}


def marked(chunks: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield records that say that they were made with a seed."""
    for columns in chunks:
        name = [*with_mark(dict.fromkeys(columns, ()))][-1]
        yield {**columns, name: np.full(len(next(iter(columns.values()))), True)}


def _format_of(path: str) -> str:
    suffix = os.path.splitext(path)[1].lower()
    if suffix in (".parquet", ".pq"):
        return "parquet"
    if suffix == ".csv":
        return "csv"
    raise click.UsageError(f"cannot tell the format of --out {path}; give --format csv|parquet")


def _write_csv(chunks: Iterable[Mapping[str, Any]], levels: Levels, out: str | None) -> None:
    if out is None:
        _write_lines_of_csv(_Terminal() if is_terminal() else sys.stdout, chunks, levels)
        sys.stdout.flush()
        return
    with whole(out) as path, open(path, "w", encoding="utf-8", newline="") as file:
        _write_lines_of_csv(file, chunks, levels)


class _Terminal(io.StringIO):
    """Standard output that is read by a person."""

    def write(self, text: str) -> int:
        return sys.stdout.write(visible(text))


def _write_lines_of_csv(file: TextIO, chunks: Iterable[Mapping[str, Any]], levels: Levels) -> None:
    lines = csv.writer(file, lineterminator="\n")
    lines.writerow(cells(levels))
    # Most columns have no level that a spreadsheet would compute; their values need no look.
    harmful = [any(cell(level) is not level for level in values) for values in levels.values()]
    for columns in chunks:
        parts = [columns[name].tolist() for name in levels]
        parts = [cells(part) if look else part for part, look in zip(parts, harmful, strict=True)]
        lines.writerows(zip(*parts, strict=True))


def _write_lines(chunks: Iterable[Mapping[str, Any]], levels: Levels, out: str | None) -> None:
    target = _Terminal() if is_terminal() else sys.stdout
    for columns in chunks:
        for record in zip(*(columns[name].tolist() for name in levels), strict=True):
            target.write(json.dumps(dict(zip(levels, record, strict=True)), ensure_ascii=False, default=str) + "\n")
    sys.stdout.flush()


def _write_parquet(chunks: Iterable[Mapping[str, Any]], levels: Levels, out: str | None) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    assert out is not None  # asked by `writer`
    # From the levels, not from the records: these need not hold all types, and there may be none.
    schema = pa.schema([(str(name), _type_of(values)) for name, values in levels.items()])
    with whole(out) as path, pq.ParquetWriter(path, schema) as target:
        for columns in chunks:
            arrays = [_array(columns[name].tolist(), kind) for name, kind in zip(levels, schema.types, strict=True)]
            target.write_table(pa.table(arrays, schema=schema))


def _type_of(levels: Sequence[Any]) -> pa.DataType:
    """Return the type of a column; what is no number and no truth value throughout is text."""
    import pyarrow as pa

    kinds = {type(level) for level in levels if level is not None}
    if kinds == {bool}:
        return pa.bool_()
    if kinds == {int} and fits_integers(levels):
        return pa.int64()
    if kinds == {dt.date}:
        return pa.date32()
    if kinds == {dt.datetime}:
        return pa.timestamp("us")
    return pa.float64() if float in kinds and kinds <= {int, float} else pa.string()


def fits_integers(levels: Sequence[Any]) -> bool:
    """Whether all integers among the levels have a place in 64 bits."""
    return all(-(1 << 63) <= level < 1 << 63 for level in levels if isinstance(level, int))


def _array(values: list[Any], kind: pa.DataType) -> pa.Array:
    import pyarrow as pa

    if kind == pa.string():
        values = [None if value is None else text_of(value) for value in values]
    elif kind == pa.float64():
        values = [None if value is None else float(value) for value in values]
    return pa.array(values, kind)
