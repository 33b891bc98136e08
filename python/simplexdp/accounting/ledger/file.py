"""A ledger in one file, to which every debit appends a line.

Why not a database: the whole book is this one file, and nothing of it lives in the memory of a process. There is no
log beside it that a second path to the file (a hard link, a bind mount) would not lead to, or that a process which
closes its handle could remove under others; there is no library that remembers across a fork which locks it holds.
A handle opens the file for each debit, takes its lock, checks that it is the file that it ought to be, reads the lines
that are new, appends one, and closes it. The disk is waited for after the lock was given back: who debits next waits
for the same disk, and what it writes stands behind what it read. How fast that is beside SQLite depends on the disk
and on what else the machine does: docs/operations.md.

Why the file is not made longer than the book, so that a debit would overwrite and not append: the disk would confirm it
a third sooner, but for the note in the inode of how many debits there are (`posix.remember`), which the disk has to
take in either way. With the note there is nothing to gain, and without it an older state could be copied in.
"""

import contextlib
import json
import os
import secrets
import time
from base64 import b85decode, b85encode
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from simplexdp.accounting.ledger import locking, place
from simplexdp.accounting.ledger.book import CURVE, DEBIT, MARK, RESTORE, Book, damaged
from simplexdp.accounting.ledger.entry import Advance, Draw, Entry, Mark, Status, Stored
from simplexdp.accounting.ledger.errors import as_ledger_errors
from simplexdp.accounting.ledger.making import make, to_json, write
from simplexdp.accounting.ledger.records import MAGIC, START, Damaged, Record, pack, read_one, scan
from simplexdp.accounting.ledger.system import system
from simplexdp.accounting.ledger.turns import Turns
from simplexdp.exceptions import BudgetExceededError, LedgerError

__all__ = ["FileLedger"]

Found = TypeVar("Found")


class FileLedger:
    """A handle of the file: opened anew for every use, in whatever process and thread it is used."""

    def __init__(self, path: str, identity: str, *, durable: bool) -> None:
        self.place = path
        self.identity = identity
        self.durable = durable
        self._book: Book | None = None
        self._turns = Turns()

    def __getstate__(self) -> dict[str, Any]:
        return {"place": self.place, "identity": self.identity, "durable": self.durable}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["place"], state["identity"], durable=state["durable"])  # type: ignore[misc]

    @classmethod
    def create(cls, path: str, settings: Mapping[str, str], *, durable: bool, mode: int = 0o600) -> "FileLedger":
        """Make the ledger, unless there is something at the path already; return a handle of what is there."""
        if not os.path.lexists(path):
            make(path, settings, mode)
        return cls.at(path, durable=durable)

    @classmethod
    def at(cls, path: str, *, durable: bool) -> "FileLedger":
        """Return a handle of the ledger at `path`."""
        ledger = cls(path, "", durable=durable)
        ledger.identity = ledger._using(lambda file, book: book.head["identity"], alone=False)
        return ledger

    @property
    def settings(self) -> Mapping[str, str]:
        """What it was made with."""
        settings: Mapping[str, str] = self._using(lambda file, book: book.head["settings"], alone=False)
        return settings

    def status(self) -> Status:
        """Return where the book stands."""
        at = self._using(lambda file, book: book.at, alone=False)
        return Status(at.state, at.debits, at.closed)

    def debit(self, advance: Advance, costs: Sequence[tuple[str, int]], label: str, target: str) -> int:
        """Write a debit if `advance` does not object, and return its number. All or nothing."""

        def work(file: int, book: Book) -> int:
            return self._append_debit(file, book, _advanced(book, advance), costs, label, target)

        return self._using(work, alone=True, durable=self.durable)

    def once(
        self, key: str, draw: Draw, advance: Advance, costs: Sequence[tuple[str, int]], label: str, target: str
    ) -> Stored:
        """Return the release under `key`; if there is none, debit, draw and store it in one transaction.

        Others wait while it is drawn. A process that dies before the line is written leaves nothing, and nothing was
        released; afterwards the next call finds the release.
        """

        def work(file: int, book: Book) -> Stored:
            if key in book.keys:
                # Whoever wrote it may still wait for the disk; what is returned here must be on it too.
                found = json.loads(read_one(file, *book.keys[key]))
                paid = tuple((book.recipes[number], count) for number, count in found["costs"])
                return Stored(found["n"], paid, b85decode(found["release"]), False)
            state = _advanced(book, advance)
            payload = draw()
            beside = {"key": key, "release": b85encode(payload).decode()}
            number = self._append_debit(file, book, state, costs, label, target, beside)
            return Stored(number, tuple(costs), payload, True)

        return self._using(work, alone=True, durable=self.durable)

    def mark_released(self, number: int) -> None:
        """Note that the release of this debit was delivered; no one needs to wait for the disk for that."""
        self._using(lambda file, book: self._append(file, book, [(MARK, {"n": number})]), alone=True)

    def entries(self) -> list[Entry]:
        """Return all debits in order."""

        def work(file: int, book: Book) -> tuple[list[Record], dict[int, str]]:
            try:
                lines = scan(file, len(MAGIC), START, book.at.end)
                return [line for line in lines if line.kind in (DEBIT, MARK)], dict(book.recipes)
            except Damaged as error:
                raise damaged(self.place, error) from None

        lines, recipes = self._using(work, alone=False)
        released = {json.loads(line.body)["n"] for line in lines if line.kind == MARK}
        return [_entry(line, recipes, released) for line in lines if line.kind == DEBIT]

    def copy_to(self, path: str) -> int:
        """Write a sound copy, from which no one can spend: only `restore` takes it into use. Return its debits."""
        if os.path.lexists(path):
            raise LedgerError(f"{path} exists already: nothing was copied")

        def work(file: int, book: Book) -> int:
            with as_ledger_errors(path, known=False):
                _copy(file, book.at.end, path)
            return book.at.debits

        return self._using(work, alone=False)

    def _append_debit(
        self,
        file: int,
        book: Book,
        state: str,
        costs: Sequence[tuple[str, int]],
        label: str,
        target: str,
        beside: Mapping[str, Any] | None = None,
    ) -> int:
        number, curves = book.at.debits + 1, book.at.curves
        new = [recipe for recipe in dict.fromkeys(recipe for recipe, _ in costs) if recipe not in book.numbers]
        numbers = {recipe: curves + i for i, recipe in enumerate(new)}
        body = {
            **(beside or {}),
            "n": number,
            "time": round(time.time(), 6),
            "process": os.getpid(),
            "label": label,
            "on": target,
            "costs": [[numbers[name] if name in numbers else book.numbers[name], count] for name, count in costs],
            "state": state,
        }
        self._append(file, book, [*((CURVE, {"recipe": recipe}) for recipe in new), (DEBIT, body)], state)
        return number

    def _append(
        self, file: int, book: Book, lines: Sequence[tuple[str, Mapping[str, Any]]], state: str | None = None
    ) -> None:
        text, start, chain, records = b"", book.at.end, book.at.chain, []
        for kind, content in lines:
            body = to_json(content)
            line, chain = pack(kind, body, start, chain)
            text, end = text + line, start + len(line)
            records.append(Record(kind, body, start, end, chain))
            start = end
        locking.check_own(file, self.place)
        with as_ledger_errors(self.place):
            try:
                # What a process left of a line when it was killed must not show behind a shorter one.
                if os.fstat(file).st_size > book.at.end:
                    os.ftruncate(file, book.at.end)
                write(file, text, book.at.end)
            except OSError:
                # A full disk, for example: half a line is taken back, or else by whoever writes next.
                with contextlib.suppress(OSError):
                    os.ftruncate(file, book.at.end)
                raise
        book.take(records, state)

    def _using(self, work: Callable[[int, Book], Found], *, alone: bool, durable: bool = False) -> Found:
        """Return what `work` returns of the file, open and locked, and of all that is in it.

        The disk is waited for when the lock was given back.
        """
        file = None
        try:
            # Threads of a process take turns, which is cheaper than waiting for the file. A child that was forked in
            # the block gives back the parent's turn, of which it has a copy.
            with self._turns.next(self.place, locking.PATIENCE):
                self._turns.begin()
                locked = False
                try:
                    with as_ledger_errors(self.place, known=self.identity != ""):
                        file = locking.open_file(self.place, write=alone)
                        locking.lock(file, self.place, alone=alone)
                        locked = True
                        book = self._checked(file)
                    found = work(file, book)
                    debits = book.at.debits
                finally:
                    # Also where a debit was refused: a forked child, whose code told no one, may have it open too.
                    if locked and file is not None:
                        locking.unlock(file)
                    self._turns.end()
            if durable:
                _to_disk(file, self.place)
                system.remember(file, debits)
            locking.check_own(file, self.place)
            return found
        except LedgerError:
            # A forked child, whose file leads nowhere, fails in many ways: this is why.
            if file is not None:
                locking.check_own(file, self.place)
            raise
        finally:
            if file is not None:
                locking.close(file)

    def _checked(self, file: int) -> Book:
        """Return what is known of the file, which is locked, and which must be the one that it ought to be."""
        size = place.check_path(file, self.place).st_size
        book = self._book
        # A copy has the first line, and another ledger may have the inode of one that was deleted.
        start = b"" if book is None else system.read_at(file, len(book.first_lines), 0)
        if book is None or start != book.first_lines or place.home_of(file) != book.home:
            self._book = book = self._first_look(file, size)
            return book
        if size < book.at.end or not book.is_in(file):
            raise LedgerError(f"the ledger {self.place} is not what it was: an older state was put in its place")
        if size > book.at.end:
            book.read_on(file, size, self.place)
        return book

    def _first_look(self, file: int, size: int) -> Book:
        start = system.read_at(file, 16 + len(MAGIC), 0)
        if not start.startswith(MAGIC):
            raise LedgerError(f"{self.place} is not a ledger{_instead(start)}")
        book = Book()
        book.read_on(file, size, self.place)
        if not book.head:
            raise LedgerError(f"{self.place} is not a ledger: it ends before its first line does")
        if self.identity not in ("", book.head["identity"]):
            raise LedgerError(f"{self.place} is another ledger than the one that this accountant was made with")
        if not place.is_home(file, book.head["home"]):
            raise LedgerError(f"{self.place} is a copy of a ledger, not the ledger itself; {RESTORE}")
        book.home = place.home_of(file)
        if book.at.debits < system.remembered(file):
            raise LedgerError(f"an older state was copied into the ledger {self.place}; {RESTORE}")
        return book


def _advanced(book: Book, advance: Advance) -> str:
    if book.at.closed:
        raise BudgetExceededError(f"the budget is closed: {book.at.closed}")
    return advance(book.at.state)


def _entry(record: Record, recipes: Mapping[int, str], released: set[int]) -> Entry:
    body = json.loads(record.body)
    costs = tuple((recipes[number], count) for number, count in body["costs"])
    mark: Mark = "released" if body["n"] in released else "reserved"
    return Entry(body["n"], costs, body["label"], body["on"], mark, body["time"], body["process"], body["state"])


def _copy(file: int, size: int, path: str) -> None:
    """Write the first bytes of a file where nothing is. Half a copy would be one of a ledger with fewer debits."""
    os.close(system.new_file(path))  # The name is taken, and what has it is no copy until all of it is.
    draft = place.draft_of(path, secrets.token_hex(8))
    try:
        copy = system.new_file(draft)
        try:
            done = 0
            while done < size:
                part = system.read_at(file, min(1 << 20, size - done), done)
                write(copy, part, done)
                done += len(part)
            os.fsync(copy)
        finally:
            os.close(copy)
        os.replace(draft, path)
    except BaseException:
        for left in (draft, path):
            with contextlib.suppress(OSError):
                os.unlink(left)
        raise


def _to_disk(file: int, path: str) -> None:
    try:
        system.to_disk(file)
    except OSError as error:
        raise LedgerError(
            f"the disk does not confirm a debit of the ledger {path} ({error.strerror}): it may count, and nothing was "
            "released"
        ) from error


def _instead(start: bytes) -> str:
    if start.startswith(b"SQLite format 3\0"):
        return ": it is an SQLite file"
    return "" if start else ": it is empty"
