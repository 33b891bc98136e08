"""Records written chunk by chunk, so that memory does not grow with their number."""

from __future__ import annotations

import csv
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, TextIO

import click

from simplexdp.cli.writing import check_writable

__all__ = ["FORMATS", "Writer", "writer"]

FORMATS = ("csv", "parquet")

Writer = Callable[[Iterable[Mapping[str, Any]], list[str], str | None], None]
"""Takes chunks of columns, their names, and a file or standard output."""


def writer(out: str | None, form: str | None, as_json: bool) -> Writer:
    """Return what writes records where and how the options say; it is checked before anything is read."""
    form = form or (_format_of(out) if out is not None else "csv")
    if form == "parquet" and out is None:
        raise click.UsageError("--format parquet needs --out FILE")
    if out is not None:
        check_writable("--out", out)
    if out is None and as_json:
        return _write_lines
    return {"csv": _write_csv, "parquet": _write_parquet}[form]


def _format_of(path: str) -> str:
    suffix = os.path.splitext(path)[1].lower()
    if suffix in (".parquet", ".pq"):
        return "parquet"
    if suffix == ".csv":
        return "csv"
    raise click.UsageError(f"cannot tell the format of --out {path}; give --format csv|parquet")


@contextmanager
def _whole(out: str) -> Iterator[str]:
    """Give the path of a file that becomes `out` once it is complete."""
    unfinished = f"{out}.part"
    try:
        yield unfinished
        os.replace(unfinished, out)
    finally:
        if os.path.exists(unfinished):
            os.remove(unfinished)


def _write_csv(chunks: Iterable[Mapping[str, Any]], names: list[str], out: str | None) -> None:
    if out is None:
        _write_lines_of_csv(sys.stdout, chunks, names)
        sys.stdout.flush()
        return
    with _whole(out) as path, open(path, "w", encoding="utf-8", newline="") as file:
        _write_lines_of_csv(file, chunks, names)


def _write_lines_of_csv(file: TextIO, chunks: Iterable[Mapping[str, Any]], names: list[str]) -> None:
    lines = csv.writer(file, lineterminator="\n")
    lines.writerow(names)
    for columns in chunks:
        lines.writerows(zip(*(columns[name].tolist() for name in names), strict=True))


def _write_lines(chunks: Iterable[Mapping[str, Any]], names: list[str], out: str | None) -> None:
    for columns in chunks:
        for row in zip(*(columns[name].tolist() for name in names), strict=True):
            sys.stdout.write(json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) + "\n")
    sys.stdout.flush()


def _write_parquet(chunks: Iterable[Mapping[str, Any]], names: list[str], out: str | None) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    assert out is not None  # asked by `writer`
    with _whole(out) as path, ExitStack() as stack:
        target = None
        for columns in chunks:
            table = pa.table({name: pa.array(columns[name].tolist()) for name in names})
            target = target or stack.enter_context(pq.ParquetWriter(path, table.schema))
            target.write_table(table)
