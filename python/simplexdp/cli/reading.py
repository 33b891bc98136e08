"""Records of a file or a pipe, batch by batch, so that memory does not grow with the file.

Nothing that these functions raise quotes the file: not its values, not its header, which may be data when the file has
no header.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import MAX_PREC, Context, Decimal
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from simplexdp.cli.compression import COMPRESSIONS, Unpacked
from simplexdp.cli.csv_blocks import LONGEST_RECORD, Quotes, blocks
from simplexdp.cli.progress import Progress
from simplexdp.exceptions import InvalidDataError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["FORMATS", "Source", "text_of"]

FORMATS = ("csv", "tsv", "parquet", "jsonl")

_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
_BLOCK = 1 << 20
_ROWS = 1 << 16
_LONGEST_LINE = 1 << 24


@dataclass(frozen=True)
class Source:
    """Where records come from and how they are written.

    Parameters
    ----------
    path : str
        ``-`` is standard input.
    kind : str, optional
        One of `FORMATS`; by default what the suffix says, CSV for standard input.
    encoding : str
        Of CSV, TSV and JSON lines.
    header : bool
        Whether the first line of CSV and TSV names the columns; without, they are called 1, 2, ...
    delimiter : str, optional
        Of CSV; by default a comma.
    """

    path: str
    kind: str | None = None
    encoding: str = "utf-8"
    header: bool = True
    delimiter: str | None = None

    def batches(self, columns: Sequence[str]) -> Iterator[list[pa.Array]]:
        """Yield the columns of the next records."""
        kind = self._kind()
        if self.delimiter is not None and kind != "csv":
            raise click.UsageError(f"--delimiter is for CSV: leave it out for {kind}")
        read = {"csv": self._csv, "tsv": self._csv, "parquet": _parquet, "jsonl": self._json_lines}[kind]
        with _opened(self.path) as stream, Progress(f"reading {os.path.basename(self.path)}") as progress:
            for batch in _quiet(read(stream, columns), kind):
                progress(stream.share)
                yield batch

    def _kind(self) -> str:
        if self.kind is not None:
            return self.kind
        if self.path == "-":
            return "csv"
        stem, suffix = os.path.splitext(self.path.lower())
        if suffix in COMPRESSIONS:
            suffix = os.path.splitext(stem)[1]
        if suffix not in _SUFFIXES:
            raise click.UsageError(f"cannot tell the format of {self.path}; give --input-format {'|'.join(FORMATS)}")
        return _SUFFIXES[suffix]

    def _csv(self, stream: _Stream, columns: Sequence[str]) -> Iterator[list[pa.Array]]:
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        stream.recode(self.encoding)
        delimiter = "\t" if self._kind() == "tsv" else self.delimiter or ","
        names = self._names(stream, delimiter)
        chosen = _checked_columns(names, columns, "; --delimiter says what separates them" if len(names) == 1 else "")
        parse = arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
        convert = arrow_csv.ConvertOptions(
            column_types={position: pa.string() for position in chosen},
            include_columns=chosen,
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        )
        for block in blocks(stream, delimiter):
            table = arrow_csv.read_csv(
                pa.BufferReader(block),
                read_options=arrow_csv.ReadOptions(
                    block_size=len(block) + 1,
                    # Positions as names: no header can collide with them.
                    column_names=[str(position) for position in range(len(names))],
                    use_threads=False,
                ),
                parse_options=parse,
                convert_options=convert,
                # Gives memory back, where the default pool keeps it: eight million rows need no more than one million.
                memory_pool=pa.system_memory_pool(),
            )
            for batch in table.to_batches():
                yield batch.columns

    def _names(self, stream: _Stream, delimiter: str) -> list[str]:
        """Read the first record: the names, or, left in place, as many positions as it has fields."""
        first = stream.ahead(Quotes(delimiter).first_end, LONGEST_RECORD)
        text = first.decode().removeprefix("\ufeff")
        # Python 3.10 reads no record with a zero byte; no column that can be asked for has one in its name.
        readable = text.replace("\0", "\ufffd")
        fields = next(csv.reader(io.StringIO(readable, newline=""), delimiter=delimiter), [])
        if not fields:
            raise InvalidDataError("the file is empty")
        if not self.header:
            return [str(position) for position in range(1, len(fields) + 1)]
        stream.read(len(first))
        return fields

    def _json_lines(self, stream: _Stream, columns: Sequence[str]) -> Iterator[list[pa.Array]]:
        import pyarrow as pa

        known: set[str] = set()
        rows: list[list[Any]] = [[] for _ in columns]
        lines = io.TextIOWrapper(io.BufferedReader(stream, _BLOCK), encoding=self.encoding)
        for number, line in enumerate(self._lines(lines), 1):
            if not line.strip():
                continue
            record = self._object(line.removeprefix("\ufeff") if number == 1 else line, number)
            known.update(column for column in columns if column in record)
            for values, column in zip(rows, columns, strict=True):
                value = record.get(column)
                if isinstance(value, (list, dict)):
                    raise InvalidDataError(f"column {column!r} must hold text, numbers or true and false")
                values.append(None if value is None or value != value else text_of(value))
            if len(rows[0]) == _ROWS:
                yield [pa.array(values, pa.string()) for values in rows]
                rows = [[] for _ in columns]
        if rows[0]:
            yield [pa.array(values, pa.string()) for values in rows]
        if rows[0] or known:
            _checked_columns(list(known), columns)

    def _lines(self, lines: io.TextIOWrapper) -> Iterator[str]:
        """Yield lines that are not too long to hold."""
        number = 0
        while line := lines.readline(_LONGEST_LINE):
            number += 1
            if len(line) == _LONGEST_LINE and not line.endswith("\n"):
                raise InvalidDataError(
                    f"{self._name}, line {number}: no line may be longer than 16 MB (the line is not shown)"
                )
            yield line

    @property
    def _name(self) -> str:
        return "standard input" if self.path == "-" else self.path

    def _object(self, line: str, number: int) -> dict[str, Any]:
        """Return the object of one line; a refusal says which line, and nothing that is in it."""
        rule = "every line must be a JSON object"
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            record = None
        except ValueError:
            record, rule = None, f"an integer must have at most {sys.get_int_max_str_digits()} digits"
        except RecursionError:
            record, rule = None, "lists and objects must not be nested that deeply"
        if not isinstance(record, dict):
            raise InvalidDataError(f"{self._name}, line {number}: {rule} (the line is not shown)")
        return record


def text_of(value: Any) -> str:
    """Return a value as the text that stands for it in a domain: 1 and 1.0 as "1", true as "true"."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        # As the number would be written that it is: 0.50 as "0.5".
        if value == value.to_integral_value():
            return str(int(value))
        near = repr(float(value))
        return near if Decimal(near) == value else f"{value.normalize(Context(prec=MAX_PREC)):f}"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _parquet(stream: _Stream, columns: Sequence[str]) -> Iterator[list[pa.Array]]:
    import pyarrow.parquet as pq

    # A Parquet file is read from its end, which a pipe does not have.
    file = pq.ParquetFile(stream.raw if stream.raw.seekable() else io.BytesIO(stream.raw.read()))
    _checked_columns(file.schema_arrow.names, columns)
    for batch in file.iter_batches(batch_size=_ROWS, columns=list(columns)):
        yield [batch.column(column) for column in columns]


def _checked_columns(names: Sequence[str], columns: Sequence[str], hint: str = "") -> list[str]:
    """Return the positions of the columns; the names of the others are not shown."""
    for column in columns:
        if names.count(column) != 1:
            how = "no column" if column not in names else "more than one column"
            raise click.UsageError(
                f"the file has {how} {column!r} among its {len(names)} (its header is not shown: without one it would "
                f"be data; --no-header calls the columns 1, 2, ...{hint})"
            )
    return [str(names.index(column)) for column in columns]


class _Stream(io.RawIOBase):
    """A binary stream that knows which share of it was read and can look ahead."""

    def __init__(self, raw: BinaryIO | Unpacked | _Recoded, file: BinaryIO | None = None) -> None:
        super().__init__()
        self.raw, self._file = raw, file
        self._size = os.fstat(file.fileno()).st_size if file is not None else 0
        self._done = 0
        self._pending = b""

    @property
    def share(self) -> float | None:
        """The share of the file that was read, if its size is known."""
        return self._file.tell() / self._size if self._file is not None and self._size else None

    def recode(self, encoding: str) -> None:
        """Go on in UTF-8: the bytes of other encodings, such as UTF-16, may look like line ends and quotes."""
        if codecs.lookup(encoding).name != "utf-8":
            self.raw = _Recoded(self.raw, encoding)

    def ahead(self, end: Callable[[bytes], int | None], most: int) -> bytes:
        """Return the bytes before the end that a function finds, without consuming them; skip line ends before them."""
        while (found := end(self._pending)) is None:
            if len(self._pending) > most:
                raise InvalidDataError("the first line is longer than 1 MB")
            more = self.raw.read(1 << 16)
            if not more:
                return self._pending
            self._pending += more
            mark = self._pending.startswith(codecs.BOM_UTF8)
            self._pending = self._pending[3 * mark :].lstrip(b"\r\n")
        return self._pending[:found]

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if self._pending:
            cut = len(self._pending) if size < 0 else size
            first, self._pending = self._pending[:cut], self._pending[cut:]
            return first if size >= 0 else first + self.raw.read()
        return self.raw.read(size)

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


class _Recoded(io.RawIOBase):
    """Text of any encoding as UTF-8; it can only be read onwards."""

    def __init__(self, raw: Any, encoding: str) -> None:
        super().__init__()
        # Refuses what is no encoding of text.
        io.TextIOWrapper(io.BytesIO(), encoding=encoding)
        self._raw, self._decoder = raw, codecs.getincrementaldecoder(encoding)()
        self._ready, self._ended = bytearray(), False

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        while not self._ended and (size < 0 or len(self._ready) < size):
            data = self._raw.read(1 << 16)
            self._ended = not data
            self._ready += self._decoder.decode(data, final=self._ended).encode()
        cut = len(self._ready) if size < 0 else size
        first = bytes(self._ready[:cut])
        del self._ready[:cut]
        return first


@contextmanager
def _opened(path: str) -> Iterator[_Stream]:
    if path == "-":
        if sys.stdin.isatty():
            raise click.UsageError("give a FILE, or pipe the records in")
        yield _Stream(sys.stdin.buffer)
        return
    suffix = os.path.splitext(path)[1].lower()
    with open(path, "rb") as file:
        yield _Stream(Unpacked(file, suffix) if suffix in COMPRESSIONS else file, file if file.seekable() else None)


def _quiet(batches: Iterator[list[pa.Array]], kind: str) -> Iterator[list[pa.Array]]:
    """Replace the errors of the readers, which quote the file, by ones that do not."""
    import pyarrow as pa

    while True:
        try:
            batch = next(batches)
        except StopIteration:
            return
        except (UnicodeError, LookupError):
            raise InvalidDataError(_encoding_hint()) from None
        except csv.Error:
            raise InvalidDataError("the first line is not a header") from None
        except OSError as error:
            # Of the system, which says what is wrong, or of Arrow, which found the file damaged and quotes it.
            if error.errno is not None:
                raise
            raise InvalidDataError(f"the file is not {_RULES[kind]} (the place is not shown)") from None
        except pa.ArrowException as error:
            if "UTF8" in str(error):
                raise InvalidDataError(_encoding_hint()) from None
            raise InvalidDataError(f"the file is not {_RULES[kind]} (the place is not shown)") from None
        yield batch


def _encoding_hint() -> str:
    return "the file is not in the stated encoding; --encoding says which, for example latin-1"


_RULES = {
    "csv": "CSV with as many fields in every row as in the first, none longer than 1 MB, separated by commas or what "
    "--delimiter says",
    "tsv": "tab-separated values with as many fields in every row as in the first, none longer than 1 MB",
    "parquet": "a Parquet file that can be read",
    "jsonl": "JSON lines",
}
