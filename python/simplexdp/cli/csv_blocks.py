"""CSV cut into blocks of whole records, so that the reader of a block needs nothing but its memory.

A reader that fetched blocks itself would do so ahead, on threads of its own: they would call Python after a broken row
has ended the command, and take the interpreter with them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Protocol

from simplexdp.exceptions import InvalidDataError

__all__ = ["LONGEST_RECORD", "Quotes", "blocks"]

LONGEST_RECORD = 1 << 20
_BLOCK = 1 << 20


class Readable(Protocol):
    """A stream of bytes."""

    def read(self, size: int = -1, /) -> bytes:
        """Return the next bytes, at most so many."""


class Quotes:
    """Where quoted fields are: a quote opens one at the beginning of a field only, and two in a row are one of them.

    Parameters
    ----------
    delimiter : str
        What separates the fields.
    """

    def __init__(self, delimiter: str) -> None:
        border = re.escape(delimiter.encode())
        self._quoted = re.compile(rb'(?<![^\r\n%b])"[^"]*(?:""[^"]*)*("?)' % border)

    def first_end(self, data: bytes) -> int | None:
        """Return where the first record ends, line end included; None where that cannot be told yet."""
        start = 0
        for field in self._quoted.finditer(data):
            end = _first_line_end(data, start, field.start())
            if end is not None:
                return end
            if not field[1]:
                return None
            start = field.end()
        return _first_line_end(data, start, len(data))

    def last_end(self, data: bytes) -> int:
        """Return where the last whole record ends; 0 where there is none."""
        last, start = 0, 0
        if b'"' in data:
            for field in self._quoted.finditer(data):
                last = max(last, _last_line_end(data, start, field.start()))
                start = field.end()
                if not field[1]:
                    return last
        return max(last, _last_line_end(data, start, len(data)))


def blocks(stream: Readable, delimiter: str) -> Iterator[bytes]:
    """Yield whole records, about a megabyte at a time, without blocks of nothing but line ends."""
    quotes, rest = Quotes(delimiter), b""
    while data := stream.read(_BLOCK):
        rest += data
        end = quotes.last_end(rest)
        if end == 0 and len(rest) > LONGEST_RECORD:
            raise InvalidDataError("the file has a record that is longer than 1 MB (it is not shown)")
        block, rest = rest[:end], rest[end:]
        if block.strip(b"\r\n"):
            yield block
    if rest.strip(b"\r\n"):
        yield rest


def _first_line_end(data: bytes, start: int, end: int) -> int | None:
    found = [at for at in (data.find(b"\n", start, end), data.find(b"\r", start, end)) if at >= 0]
    if not found:
        return None
    at = min(found)
    if data[at : at + 1] == b"\n":
        return at + 1
    # Whether a line feed follows cannot be told at the end.
    if at + 1 == len(data):
        return None
    return at + 2 if data[at + 1 : at + 2] == b"\n" else at + 1


def _last_line_end(data: bytes, start: int, end: int) -> int:
    line_feed = data.rfind(b"\n", start, end)
    carriage_return = data.rfind(b"\r", start, min(end, len(data) - 1))
    return max(line_feed, carriage_return) + 1
