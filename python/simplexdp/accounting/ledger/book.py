"""What a process knows of a ledger file: all of it up to some byte, checked."""

import json
from typing import Any, NamedTuple

from simplexdp.accounting.ledger.records import MAGIC, START, Damaged, Record, pack, scan, stated_chain
from simplexdp.exceptions import LedgerError

__all__ = ["CLOSED", "CURVE", "DEBIT", "MARK", "RESTORE", "SETTINGS", "Book", "damaged"]

# Kinds of lines.
SETTINGS, CURVE, DEBIT, MARK, CLOSED = "S", "C", "D", "R", "X"

RESTORE = "count what may have been spent, and take it into use, with: simplexdp ledger restore"


class Standing(NamedTuple):
    """Where a book stands after the line between the bytes `last` and `end`."""

    last: int = 0
    end: int = len(MAGIC)
    chain: bytes = START
    state: str = ""
    debits: int = 0
    curves: int = 0
    closed: str = ""


class Book:
    """The lines of a file, as far as they were read.

    `at` is replaced as a whole when lines were taken in, and what else there is only grows by what these lines say: a
    child that is forked in the middle, by whatever thread, has the book as it was before or after, and may read on.
    """

    def __init__(self) -> None:
        self.at = Standing()
        self.head: dict[str, Any] = {}
        self.first_lines, self.home = b"", ""
        self.recipes: dict[int, str] = {}
        self.numbers: dict[str, int] = {}
        self.keys: dict[str, tuple[int, int]] = {}

    def is_in(self, file: int) -> bool:
        """Return whether the file has the last line that was taken in, whose checksum runs over all before it."""
        return stated_chain(file, self.at.last) == self.at.chain

    def read_on(self, file: int, size: int, path: str) -> None:
        """Take in the lines that are new in a file of this size."""
        at, last = self.at, b""
        try:
            for record in scan(file, at.end, at.chain, size):
                at = self._after(at, record)
                if record.kind == DEBIT:
                    last = record.body
        except Damaged as error:
            raise damaged(path, error) from None
        self.at = at._replace(state=json.loads(last)["state"]) if last else at

    def take(self, lines: list[Record], state: str | None) -> None:
        """Take in lines that this process has just written, the last debit of which led to `state`."""
        at = self.at
        for record in lines:
            at = self._after(at, record)
        self.at = at if state is None else at._replace(state=state)

    def _after(self, at: Standing, record: Record) -> Standing:
        kind, body, start, end, chain = record
        _, _, _, state, debits, curves, closed = at
        if kind == DEBIT:
            debits += 1
            # Keys stand first, and JSON escapes quotes: this is all that has to be looked at.
            if body.startswith(b'{"key":'):
                self.keys[json.loads(body)["key"]] = (start, end)
        elif kind == CURVE:
            recipe = json.loads(body)["recipe"]
            self.recipes[curves] = recipe
            self.numbers[recipe] = curves
            curves += 1
        elif kind == SETTINGS:
            self.head = json.loads(body)
            self.first_lines = MAGIC + pack(SETTINGS, body, len(MAGIC), START)[0]
        elif kind == CLOSED:
            closed = json.loads(body)["why"]
        return Standing(start, end, chain, state, debits, curves, closed)


def damaged(path: str, error: Damaged) -> LedgerError:
    """Return the error for a line that is not what was written."""
    return LedgerError(f"the ledger {path} is damaged {error}; {RESTORE}")
