"""The book that an accountant keeps: an SQLite file in which every debit is one transaction.

A debit is checked and written while the write lock of the file is held, so two processes can never spend the same
budget. The file is in write-ahead mode: a process that dies, at any instruction, leaves either the whole debit or
nothing of it.
"""

import contextlib
import os
import sqlite3
import stat
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from simplexdp.exceptions import LedgerError

State = Literal["reserved", "released"]

VERSION = "1"
PATIENCE = 120.0
"""Seconds to wait for another process that holds the file."""

SCHEMA = """
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE curves (id INTEGER PRIMARY KEY, recipe TEXT NOT NULL UNIQUE, label TEXT NOT NULL,
                     spent INTEGER NOT NULL DEFAULT 0, allowed INTEGER NOT NULL DEFAULT 0);
CREATE TABLE spends (id INTEGER PRIMARY KEY AUTOINCREMENT, curve INTEGER NOT NULL REFERENCES curves(id),
                     count INTEGER NOT NULL CHECK (count > 0), label TEXT NOT NULL, target TEXT NOT NULL,
                     state TEXT NOT NULL, time REAL NOT NULL, process INTEGER NOT NULL);
"""


@dataclass(frozen=True)
class Entry:
    """One line of the book."""

    id: int
    curve: int
    count: int
    label: str
    target: str
    state: State
    time: float
    process: int


@dataclass(frozen=True)
class Holding:
    """A kind of release, by the recipe of its curve: how often it was spent, and how often that is proved fine."""

    id: int
    recipe: str
    spent: int
    allowed: int


Check = Callable[[list[Holding], str, int], dict[str, int]]
"""Told what was spent, and a recipe with a count to be added: returns new allowances, or raises."""


class Ledger:
    """The file, opened anew in every process and thread that uses it."""

    def __init__(self, path: str, identity: str, *, durable: bool) -> None:
        self.path = path
        self.identity = identity
        self.durable = durable
        self._local = threading.local()

    @classmethod
    def create(cls, path: str, settings: dict[str, str], *, durable: bool) -> "Ledger":
        """Open the ledger at `path`; make it if there is none, and else compare the settings.

        The file is made beside its place and linked into it when complete, so that no one ever sees half a ledger.
        """
        if not os.path.exists(path):
            draft = f"{path}.{uuid.uuid4().hex}.new"
            with contextlib.closing(_connect(draft, durable=True)) as connection:
                os.chmod(draft, stat.S_IRUSR | stat.S_IWUSR)
                connection.executescript(SCHEMA)
                rows = {"version": VERSION, "identity": uuid.uuid4().hex, **settings}
                connection.executemany("INSERT INTO settings VALUES (?, ?)", rows.items())
            with contextlib.suppress(FileExistsError):
                # Another process may have been faster: then its ledger counts.
                os.link(draft, path)
            for leftover in (draft, f"{draft}-wal", f"{draft}-shm"):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(leftover)
        found = cls.read_settings(path)
        for name, value in settings.items():
            if found.get(name) != value:
                raise LedgerError(f"the ledger {path} was made with {name} {found.get(name)}, not {value}")
        return cls(path, found["identity"], durable=durable)

    @staticmethod
    def read_settings(path: str) -> dict[str, str]:
        """Return what the ledger at `path` was made with."""
        if not os.path.exists(path):
            raise LedgerError(f"the ledger {path} does not exist any more: what was spent cannot be known")
        try:
            with contextlib.closing(_connect(path, durable=False)) as connection:
                found = dict(connection.execute("SELECT name, value FROM settings").fetchall())
        except sqlite3.Error as error:
            raise LedgerError(f"{path} is not a ledger: {error}") from error
        if found.get("version") != VERSION:
            raise LedgerError(f"the ledger {path} is of version {found.get('version')}, not {VERSION}")
        return found

    def debit(self, recipe: str, name: str, count: int, label: str, target: str, check: Check) -> int:
        """Write a debit if `check` does not object, and return its number. All or nothing."""
        with self._transaction() as connection:
            row = connection.execute("SELECT id, spent, allowed FROM curves WHERE recipe = ?", (recipe,)).fetchone()
            if row is None or row[1] + count > row[2]:
                holdings = self._holdings(connection)
                allowances = check(holdings, recipe, count)
                if row is None:
                    cursor = connection.execute("INSERT INTO curves (recipe, label) VALUES (?, ?)", (recipe, name))
                    row = (cursor.lastrowid, 0, 0)
                # Allowances hold together, not one by one: all are replaced.
                connection.execute("UPDATE curves SET allowed = spent")
                pairs = [(allowed, key) for key, allowed in allowances.items()]
                connection.executemany("UPDATE curves SET allowed = ? WHERE recipe = ?", pairs)
            connection.execute("UPDATE curves SET spent = spent + ? WHERE id = ?", (count, row[0]))
            cursor = connection.execute(
                "INSERT INTO spends (curve, count, label, target, state, time, process) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (row[0], count, label, target, "reserved", time.time(), os.getpid()),
            )
            return int(cursor.lastrowid or 0)

    def mark_released(self, number: int) -> None:
        """Note that the release of this debit was made."""
        with self._transaction() as connection:
            connection.execute("UPDATE spends SET state = 'released' WHERE id = ?", (number,))

    def holdings(self) -> list[Holding]:
        """Return every kind of release with its count."""
        return self._holdings(self._connection())

    def entries(self) -> list[Entry]:
        """Return all debits in order."""
        query = "SELECT id, curve, count, label, target, state, time, process FROM spends ORDER BY id"
        return [Entry(*row) for row in self._connection().execute(query)]

    @staticmethod
    def _holdings(connection: sqlite3.Connection) -> list[Holding]:
        rows = connection.execute("SELECT id, recipe, spent, allowed FROM curves ORDER BY id")
        return [Holding(*row) for row in rows]

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        connection = self._connection()
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            raise LedgerError(f"the ledger {self.path} cannot be written: {error}") from error
        try:
            yield connection
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            self._roll_back(connection)
            raise LedgerError(f"the ledger {self.path} cannot be written: {error}") from error
        except BaseException:
            self._roll_back(connection)
            raise

    @staticmethod
    def _roll_back(connection: sqlite3.Connection) -> None:
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")

    def _connection(self) -> sqlite3.Connection:
        """Return the connection of this thread; one from before a fork must never be touched."""
        held: tuple[int, sqlite3.Connection] | None = getattr(self._local, "held", None)
        if held is not None and held[0] == os.getpid():
            return held[1]
        if held is not None:
            # Kept alive, unused: closing it here would release locks of the parent process.
            _INHERITED.append(held[1])
        settings = self.read_settings(self.path)
        if settings["identity"] != self.identity:
            raise LedgerError(f"{self.path} is another ledger than the one that this accountant was made with")
        connection = _connect(self.path, durable=self.durable)
        self._local.held = (os.getpid(), connection)
        return connection


_INHERITED: list[sqlite3.Connection] = []


def _connect(path: str, *, durable: bool) -> sqlite3.Connection:
    """Open a database in write-ahead mode; `durable` waits for the disk at each commit."""
    try:
        connection = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        connection.execute("PRAGMA foreign_keys = ON")
    except sqlite3.Error as error:
        raise LedgerError(f"{path} cannot be opened as a ledger: {error}") from error
    return connection


def absolute(path: str | os.PathLike[str]) -> str:
    """Return the path that other processes can use too."""
    return str(Path(os.fspath(path)).expanduser().absolute())


def settings_of(**values: Any) -> dict[str, str]:
    """Return settings as text that compares exactly."""
    return {name: value if isinstance(value, str) else float(value).hex() for name, value in values.items()}
