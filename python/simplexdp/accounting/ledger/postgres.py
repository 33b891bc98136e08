"""A ledger in a PostgreSQL database: one budget for programs on many hosts.

A debit locks the one row of its book, so that debits of all hosts follow each other; checks it, moves its state, adds
a row, and returns when the server has confirmed the commit. A connection that breaks in the middle leaves open whether
the debit was committed: the next attempt asks for the token of the debit under the lock of the book, so that it counts
once. If no attempt succeeds in time it may count, and nothing is released.
"""

import contextlib
import hashlib
import json
import os
import random
import secrets
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote, urlsplit, urlunsplit

from simplexdp.accounting.ledger.entry import Advance, Draw, Entry, Status, Stored
from simplexdp.accounting.ledger.locking import PATIENCE
from simplexdp.accounting.ledger.postgres_tables import HOME
from simplexdp.accounting.ledger.records import START, chained
from simplexdp.accounting.ledger.turns import Turns
from simplexdp.exceptions import BudgetExceededError, InvalidParameterError, LedgerError

if TYPE_CHECKING:
    import psycopg

__all__ = ["PostgresLedger", "is_address"]

Found = TypeVar("Found")

DEFAULT_BOOK = "default"
CONNECT_SECONDS = 10
IDLE_SECONDS = 600
"""A program that was stopped while it held the book loses it after so long; a draw may take as long."""
FIRST_WAIT, LONGEST_WAIT = 0.02, 2.0

COLUMNS = "identity, home, settings, state, debits, closed, chain, checksum"
LOCK = f"SELECT {COLUMNS} FROM simplexdp.book WHERE name = %s FOR UPDATE"
LOOK = f"SELECT {COLUMNS} FROM simplexdp.book WHERE name = %s"
ADD = "INSERT INTO simplexdp.debit (book, id, token, body, chain) VALUES (%s, %s, %s, %s, %s)"
MOVE = "UPDATE simplexdp.book SET state = %s, debits = %s, chain = %s, checksum = %s WHERE name = %s"
ADD_AND_MOVE = f"WITH added AS ({ADD}) {MOVE}"
ADD_CURVE = "INSERT INTO simplexdp.curve (book, digest, recipe) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING"
ADD_RELEASE = "INSERT INTO simplexdp.release (book, key, debit, payload) VALUES (%s, %s, %s, %s)"

TO_DISK = "SELECT pg_logical_emit_message(true, 'simplexdp', '')"
"""A commit that waits until the disk of the server, and its stand-bys, have all that was committed before.

Stand-bys count where the server is told to wait for them. The debit itself does not wait: the next one need not wait
for the disk while the row is locked, and what it writes stands behind this one.
"""

# Errors after which another attempt may succeed: no connection, shutdown and start, conflicts, lock and idle time-outs.
PASSING = ("08", "40", "57P0", "55P03", "25P03", "53300")


@dataclass(frozen=True)
class _Book:
    """The row of a book."""

    name: str
    identity: str
    home: str
    settings: str
    state: str
    debits: int
    closed: str
    chain: str
    checksum: str = ""

    def summed(self) -> "_Book":
        """Return the book with its checksum."""
        fields = (self.name, self.identity, self.home, self.settings, self.state, self.debits, self.closed, self.chain)
        return replace(self, checksum=hashlib.blake2b(json.dumps(fields).encode(), digest_size=16).hexdigest())


def is_address(place: object) -> bool:
    """Return whether a place is an address of a database, not a path."""
    return isinstance(place, str) and place.startswith(("postgresql://", "postgres://"))


class PostgresLedger:
    """A handle of a book: a connection for each process that uses it, opened when it is first needed."""

    def __init__(self, address: str, identity: str, *, durable: bool) -> None:
        try:
            parts = urlsplit(address)
        except ValueError as error:
            # The address may hold a password.
            raise InvalidParameterError(f"path must be an address of a database: {error}") from None
        self.identity = identity
        self.durable = durable
        self._address = address
        self._conninfo = urlunsplit(parts._replace(fragment=""))
        self._name = unquote(parts.fragment) or DEFAULT_BOOK
        host = parts.netloc.rpartition("@")[2]
        user = parts.netloc.rpartition("@")[0].partition(":")[0]
        netloc = f"{user}@{host}" if user else host
        self.place = urlunsplit(parts._replace(netloc=netloc, query="", fragment=parts.fragment))
        self._held = _Held()
        weakref.finalize(self, self._held.close)
        # Curves that a debit of this process has added; what was committed stays.
        self._recipes: dict[str, str] = {}
        self._turns = Turns()

    def __getstate__(self) -> dict[str, Any]:
        return {"address": self._address, "identity": self.identity, "durable": self.durable}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["address"], state["identity"], durable=state["durable"])  # type: ignore[misc]

    @classmethod
    def create(cls, address: str, settings: Mapping[str, str], *, durable: bool) -> "PostgresLedger":
        """Make the book, unless there is one of the name; return a handle of it."""
        ledger = cls(address, "", durable=durable)

        def make(connection: "psycopg.Connection[Any]") -> None:
            if connection.execute(LOOK, (ledger._name,)).fetchone() is not None:
                return
            (home,) = connection.execute(f"SELECT {HOME}").fetchone() or ("",)
            text, identity = json.dumps(dict(settings)), secrets.token_hex(16)
            book = _Book(ledger._name, identity, home, text, "", 0, "", START.hex()).summed()
            values = (book.name, identity, home, text, "", 0, "", book.chain, book.checksum)
            connection.execute(
                f"INSERT INTO simplexdp.book (name, {COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s) "
                "ON CONFLICT DO NOTHING",
                values,
            )

        ledger._with_connection(make)
        return cls.at(address, durable=durable)

    @classmethod
    def at(cls, address: str, *, durable: bool) -> "PostgresLedger":
        """Return a handle of the book at an address."""
        ledger = cls(address, "", durable=durable)
        ledger.identity = ledger._look().identity
        return ledger

    @property
    def settings(self) -> Mapping[str, str]:
        """What it was made with."""
        settings: Mapping[str, str] = json.loads(self._look().settings)
        return settings

    def status(self) -> Status:
        """Return where the book stands."""
        book = self._look()
        return Status(book.state, book.debits, book.closed)

    def debit(self, advance: Advance, costs: Sequence[tuple[str, int]], label: str, target: str) -> int:
        """Write a debit if `advance` does not object, and return its number. All or nothing."""
        attempt = _Attempt(costs, label, target, self._recipes)

        def work(connection: "psycopg.Connection[Any]", book: _Book) -> tuple[int, list[_Statement]]:
            known = attempt.committed(connection, book)
            if known is not None:
                return known, []
            return book.debits + 1, attempt.statements(book, _advanced(book, advance))

        return self._transact(work)

    def once(
        self, key: str, draw: Draw, advance: Advance, costs: Sequence[tuple[str, int]], label: str, target: str
    ) -> Stored:
        """Return the release under `key`; if there is none, debit, draw and store it in one transaction."""
        attempt = _Attempt(costs, label, target, self._recipes)

        def work(connection: "psycopg.Connection[Any]", book: _Book) -> tuple[Stored, list[_Statement]]:
            found = _stored(connection, book, key)
            if found is not None:
                return found, []
            state = _advanced(book, advance)
            payload = draw()
            beside = {"key": key, "release": _digest(payload)}
            add = (ADD_RELEASE, (book.name, key, book.debits + 1, payload))
            stored = Stored(book.debits + 1, tuple(costs), payload, True)
            return stored, [*attempt.statements(book, state, beside), add]

        return self._transact(work)

    def mark_released(self, number: int) -> None:
        """Note that the release of this debit was delivered."""

        def mark(connection: "psycopg.Connection[Any]") -> None:
            connection.execute(
                "INSERT INTO simplexdp.mark (book, debit) VALUES (%s, %s) ON CONFLICT DO NOTHING", (self._name, number)
            )

        self._with_connection(mark)

    def entries(self) -> list[Entry]:
        """Return all debits in order, after their checksums were verified."""

        def read(connection: "psycopg.Connection[Any]") -> tuple[_Book, list[Any], dict[str, str], set[int]]:
            with connection.transaction():
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
                book = self._verified(connection.execute(LOOK, (self._name,)).fetchone())
                rows = connection.execute(
                    "SELECT id, body, chain FROM simplexdp.debit WHERE book = %s ORDER BY id", (self._name,)
                ).fetchall()
                marks = connection.execute("SELECT debit FROM simplexdp.mark WHERE book = %s", (self._name,)).fetchall()
                return book, rows, _curves(connection, self._name), {number for (number,) in marks}

        book, rows, curves, released = self._with_connection(read)
        chain, entries = START, []
        for position, (number, body, stated) in enumerate(rows, 1):
            chain = chained(chain, b"D", body.encode())
            if number != position or chain.hex() != stated:
                raise LedgerError(f"the ledger {self.place} is damaged at debit {position}")
            entries.append(_entry(json.loads(body), curves, released))
        if chain.hex() != book.chain or len(rows) != book.debits:
            raise LedgerError(f"the ledger {self.place} is damaged: debits are missing")
        return entries

    def adopt(self, charge: Callable[[Mapping[str, str], str, bool], Any]) -> None:
        """Take a book that was copied, restored or failed over into use, with what may have been spent since."""

        def work(connection: "psycopg.Connection[Any]", book: _Book) -> tuple[None, list[_Statement]]:
            (home,) = connection.execute(f"SELECT {HOME}").fetchone() or ("",)
            charged = charge(json.loads(book.settings), book.state, True)
            after = replace(book, home=home, identity=secrets.token_hex(16))
            statements: list[_Statement] = []
            if charged is not None and charged.closed:
                after = replace(after, closed=charged.closed)
            elif charged is not None:
                attempt = _Attempt(charged.costs, "restored", "what may have been spent since the copy was made")
                statements = attempt.statements(book, charged.state)
                after = replace(after, state=charged.state, debits=book.debits + 1, chain=attempt.chain)
            after = after.summed()
            change = (
                "UPDATE simplexdp.book SET identity = %s, home = %s, state = %s, debits = %s, closed = %s, chain = %s, "
                "checksum = %s WHERE name = %s",
                (after.identity, home, after.state, after.debits, after.closed, after.chain, after.checksum, book.name),
            )
            return None, [*statements, change]

        self._transact(work, at_home=False)

    def close_connection(self) -> None:
        """Close the connection of this process; the next use opens another."""
        self._held.close()

    def _look(self) -> _Book:
        return self._with_connection(
            lambda connection: self._verified(connection.execute(LOOK, (self._name,)).fetchone())
        )

    def _with_connection(self, work: "Callable[[psycopg.Connection[Any]], Found]") -> Found:
        """Do something that may be done twice."""
        return self._attempted(lambda: work(self._connection(at_home=True)))

    def _transact(
        self,
        work: "Callable[[psycopg.Connection[Any], _Book], tuple[Found, list[_Statement]]]",
        *,
        at_home: bool = True,
    ) -> Found:
        """Lock the book, let `work` decide on statements, and commit them."""

        def attempt() -> Found:
            process = os.getpid()
            connection = self._connection(at_home=at_home)
            with connection.pipeline():
                connection.execute("BEGIN")
                connection.execute("SET LOCAL synchronous_commit = off")
                row = connection.execute(LOCK, (self._name,), prepare=True)
            book = self._verified(row.fetchone())
            result, statements = work(connection, book)
            self._check_process(process)
            with connection.pipeline():
                for text, values in statements:
                    connection.execute(text, values, prepare=True)
                connection.execute("COMMIT")
                if self.durable:
                    connection.execute(TO_DISK)
            self._check_process(process)
            for text, values in statements:
                if text is ADD_CURVE:
                    self._recipes[values[1]] = values[2]
            return result

        return self._attempted(attempt)

    def _attempted(self, attempt: Callable[[], Found]) -> Found:
        """Return what an attempt returns, after others if the connection breaks or others are in the way."""
        import psycopg

        wait, until = FIRST_WAIT, time.monotonic() + PATIENCE
        process, known = os.getpid(), self._held.session is not None
        with self._turns.next(self.place, PATIENCE):
            self._turns.begin()
            try:
                while True:
                    try:
                        return attempt()
                    except psycopg.Error as error:
                        self._check_process(process)
                        self.close_connection()
                        # Who never had a connection is told at once why there is none.
                        if not known or not _passes(error) or time.monotonic() > until:
                            raise self._failure(error) from None
                    except BudgetExceededError:
                        self._roll_back(process)
                        raise
                    except BaseException:
                        # Whatever else happens in a transaction: the server forgets it with the connection.
                        if os.getpid() == process:
                            self.close_connection()
                        raise
                    time.sleep(wait * random.uniform(0.5, 1.0))
                    wait = min(2 * wait, LONGEST_WAIT)
            finally:
                self._turns.end()

    def _roll_back(self, process: int) -> None:
        import psycopg

        if self._held.session is not None and self._held.session[0] == process == os.getpid():
            try:
                self._held.session[1].execute("ROLLBACK")
            except psycopg.Error:
                self.close_connection()

    def _connection(self, *, at_home: bool) -> "psycopg.Connection[Any]":
        """Return the connection of this process; that of a parent is left alone, and closed by no one here."""
        session = self._held.session
        if session is None or session[0] != os.getpid() or session[1].closed:
            self._held.close()
            connection = self._connected()
            self._held.session = session = (os.getpid(), connection)
            if at_home:
                self._check_home(connection)
        found: psycopg.Connection[Any] = session[1]
        return found

    def _connected(self) -> "psycopg.Connection[Any]":
        import psycopg

        connection = psycopg.connect(
            self._conninfo,
            autocommit=True,
            connect_timeout=CONNECT_SECONDS,
            fallback_application_name="simplexdp",
            keepalives_idle=30,
            keepalives_interval=10,
            keepalives_count=3,
            tcp_user_timeout=60_000,
        )
        (fsync, commit) = connection.execute(
            "SELECT current_setting('fsync'), current_setting('synchronous_commit')"
        ).fetchone() or ("off", "off")
        if self.durable and fsync != "on":
            connection.close()
            raise LedgerError(f"the server of {self.place} does not wait for its disk (fsync is {fsync})")
        weak = commit in ("off", "local")
        if weak or not self.durable:
            connection.execute(f"SET synchronous_commit = {'on' if self.durable else 'off'}")
        _CONNECTIONS.add(connection)
        connection.execute(f"SET lock_timeout = '{PATIENCE:g}s'")
        connection.execute(f"SET idle_in_transaction_session_timeout = '{IDLE_SECONDS}s'")
        return connection

    def _check_home(self, connection: "psycopg.Connection[Any]") -> None:
        row = connection.execute(LOOK, (self._name,)).fetchone()
        if row is None:
            return
        book = self._verified(row)
        (home,) = connection.execute(f"SELECT {HOME}").fetchone() or ("",)
        if home != book.home:
            connection.close()
            raise LedgerError(
                f"{self.place} is in a copy of its database, or in one that was restored or failed over since: debits "
                "may be missing; count them, and take it into use, with: simplexdp ledger restore"
            )
        last = connection.execute(
            "SELECT id, chain FROM simplexdp.debit WHERE book = %s ORDER BY id DESC LIMIT 1", (self._name,)
        ).fetchone()
        # Another debit may have been made between the two questions, never fewer.
        if (last or (0, START.hex()))[0] < book.debits:
            raise LedgerError(f"the ledger {self.place} is damaged: debits are missing")

    def _verified(self, row: Any) -> _Book:
        if row is None:
            raise LedgerError(f"there is no ledger {self.place}")
        book = _Book(self._name, *row)
        if book.summed() != book:
            raise LedgerError(f"the ledger {self.place} is damaged: its checksum is wrong")
        if self.identity not in ("", book.identity):
            raise LedgerError(f"{self.place} is another ledger than the one that this accountant was made with")
        return book

    def _check_process(self, process: int) -> None:
        if os.getpid() != process:
            raise LedgerError(
                f"this process was forked in the middle of a debit of {self.place}: the debit is the parent's, and "
                "here nothing may be released"
            )

    def _failure(self, error: "psycopg.Error") -> LedgerError:
        """Return the error of the ledger for one of the server: its message quotes no values."""
        if error.sqlstate in ("42P01", "3F000"):
            what = "its database has no ledgers; the SQL that makes the tables is printed by: simplexdp ledger init"
        elif error.sqlstate == "42501":
            what = f"this user may not do that ({error.diag.message_primary})"
        else:
            what = error.diag.message_primary or str(error).strip().partition("\n")[0]
        return LedgerError(f"the ledger {self.place} cannot be used: {what}; a debit may count, nothing was released")


class _Held:
    """The connection of a handle, and the process that opened it."""

    def __init__(self) -> None:
        self.session: tuple[int, Any] | None = None

    def close(self) -> None:
        """Close it, unless it is that of a parent."""
        session, self.session = self.session, None
        if session is None:
            return
        if session[0] != os.getpid():
            _INHERITED.append(session[1])
            return
        _CONNECTIONS.discard(session[1])
        with contextlib.suppress(Exception):
            session[1].close()


_Statement = tuple[str, tuple[Any, ...]]
_INHERITED: list[Any] = []
"""Connections of parents, kept so that nothing ever closes them here: that would end the parent's session."""
_CONNECTIONS: "weakref.WeakSet[Any]" = weakref.WeakSet()


def _let_go() -> None:
    """Let the sockets that a forked child inherited lead nowhere: not a byte of it may reach the parent's session."""
    for connection in list(_CONNECTIONS):
        _INHERITED.append(connection)
        with contextlib.suppress(Exception):
            nowhere = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
            os.dup2(nowhere, connection.pgconn.socket, inheritable=False)
            os.close(nowhere)
    _CONNECTIONS.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)


class _Attempt:
    """One debit, which several attempts may be made for."""

    def __init__(
        self, costs: Sequence[tuple[str, int]], label: str, target: str, known: "dict[str, str] | None" = None
    ) -> None:
        self.token = secrets.token_hex(16)
        self.costs, self.label, self.target = costs, label, target
        self._known = {} if known is None else known
        self._seen: int | None = None
        self.chain = ""

    def committed(self, connection: "psycopg.Connection[Any]", book: _Book) -> int | None:
        """Return the number of the debit if an attempt before, whose connection broke, was committed after all."""
        if self._seen is None:
            self._seen = book.debits
            return None
        found = connection.execute(
            "SELECT id FROM simplexdp.debit WHERE book = %s AND id > %s AND token = %s",
            (book.name, self._seen, self.token),
        ).fetchone()
        return None if found is None else int(found[0])

    def statements(self, book: _Book, state: str, beside: Mapping[str, Any] | None = None) -> list[_Statement]:
        """Return what adds the debit and moves the book."""
        costs = [(_digest(recipe.encode()), count) for recipe, count in self.costs]
        body = json.dumps(
            {
                **(beside or {}),
                "n": book.debits + 1,
                "time": round(time.time(), 6),
                "process": os.getpid(),
                "label": self.label,
                "on": self.target,
                "costs": costs,
                "state": state,
            },
            separators=(",", ":"),
        )
        self.chain = chained(bytes.fromhex(book.chain), b"D", body.encode()).hex()
        after = replace(book, state=state, debits=book.debits + 1, chain=self.chain).summed()
        recipes = {digest: recipe for (digest, _), (recipe, _) in zip(costs, self.costs, strict=True)}
        added = (book.name, after.debits, self.token, body, self.chain)
        new = {digest: recipe for digest, recipe in recipes.items() if digest not in self._known}
        return [
            *((ADD_CURVE, (book.name, digest, recipe)) for digest, recipe in new.items()),
            (ADD_AND_MOVE, (*added, state, after.debits, self.chain, after.checksum, book.name)),
        ]


def _advanced(book: _Book, advance: Advance) -> str:
    if book.closed:
        raise BudgetExceededError(f"the budget is closed: {book.closed}")
    return advance(book.state)


def _stored(connection: "psycopg.Connection[Any]", book: _Book, key: str) -> Stored | None:
    found = connection.execute(
        "SELECT d.body, r.payload FROM simplexdp.release r "
        "JOIN simplexdp.debit d ON d.book = r.book AND d.id = r.debit WHERE r.book = %s AND r.key = %s",
        (book.name, key),
    ).fetchone()
    if found is None:
        return None
    body = json.loads(found[0])
    if _digest(found[1]) != body.get("release") or body.get("key") != key:
        raise LedgerError(f"a release in the ledger {book.name} is damaged")
    curves = _curves(connection, book.name)
    return Stored(body["n"], tuple((curves[digest], count) for digest, count in body["costs"]), bytes(found[1]), False)


def _curves(connection: "psycopg.Connection[Any]", name: str) -> dict[str, str]:
    found = connection.execute("SELECT digest, recipe FROM simplexdp.curve WHERE book = %s", (name,)).fetchall()
    for digest, recipe in found:
        if _digest(recipe.encode()) != digest:
            raise LedgerError(f"a curve in the ledger {name} is damaged")
    return dict(found)


def _entry(body: Mapping[str, Any], curves: Mapping[str, str], released: set[int]) -> Entry:
    costs = tuple((curves[digest], count) for digest, count in body["costs"])
    mark = "released" if body["n"] in released else "reserved"
    return Entry(body["n"], costs, body["label"], body["on"], mark, body["time"], body["process"], body["state"])  # type: ignore[arg-type]


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _passes(error: "psycopg.Error") -> bool:
    import psycopg

    if error.sqlstate is None:
        return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
    return str(error.sqlstate).startswith(PASSING)
