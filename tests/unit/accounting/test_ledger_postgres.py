"""Ledgers in a PostgreSQL server: its restarts, broken connections, copies of its database, and who may do what."""

import itertools
import pickle
import threading
import time

import pytest
from ledger_programs import UNIT, Constant

import simplexdp as sdp

psycopg = pytest.importorskip("psycopg")

from simplexdp.accounting.ledger import postgres  # noqa: E402

_books = itertools.count()


@pytest.fixture
def address(server):
    return server.address(f"own {next(_books)}")


@pytest.fixture
def accountant(address):
    made = sdp.Accountant(1.0, 0.0, path=address)
    made.spend(UNIT)
    return made


def name_of(accountant):
    return accountant._ledger._name


def test_a_restart_of_the_server_is_waited_for(accountant, server):
    server.stop()
    with pytest.raises(sdp.LedgerError, match="cannot be used"):
        sdp.Accountant.open(accountant._ledger._address)
    threading.Timer(0.5, server.start).start()
    accountant.spend(UNIT)
    assert accountant.debits == 2


class Breaking:
    """A connection that breaks around its first commit."""

    def __init__(self, connection, server, when):
        self._connection, self._server, self._when = connection, server, when

    def execute(self, text, *args, **kwargs):
        if text == "COMMIT" and self._when:
            when, self._when = self._when, ""
            pid = self._connection.info.backend_pid
            if when == "after":
                # The server commits, and the answer is lost.
                self._connection.execute("COMMIT")
                self._connection.pgconn.pipeline_sync()
                time.sleep(0.2)
            self._server.sql(f"SELECT pg_terminate_backend({pid}); SELECT pg_sleep(0.2)")
            raise psycopg.OperationalError("the connection is lost")
        return self._connection.execute(text, *args, **kwargs)

    def __getattr__(self, name):
        return getattr(self._connection, name)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("kind", ["debit", "once"])
def test_a_connection_that_breaks_in_a_commit_counts_once(accountant, server, when, kind):
    ledger = accountant._ledger
    process, connection = ledger._held.session
    ledger._held.session = (process, Breaking(connection, server, when))
    mechanism = Constant()
    if kind == "debit":
        assert accountant.spend(UNIT).id == 2
    else:
        assert accountant.release_once("key", mechanism) == 1.5
        assert mechanism.drawn == (2 if when == "before" else 1)
    assert accountant.debits == len(accountant.spends()) == 2
    assert accountant.spent_epsilon() == 2 * 2.0**-10


def test_when_no_attempt_succeeds_in_time_it_is_an_error(accountant, server, monkeypatch):
    monkeypatch.setattr(postgres, "PATIENCE", 0.3)
    server.stop()
    try:
        start = time.monotonic()
        with pytest.raises(sdp.LedgerError, match="a debit may count, nothing was released"):
            accountant.spend(UNIT)
        # Without what is set here it would be two minutes.
        assert time.monotonic() - start < 60
    finally:
        server.start()
    accountant.spend(UNIT)
    assert accountant.debits == 2


def test_a_book_that_someone_holds_is_waited_for_and_then_refused(accountant, address, server, monkeypatch):
    with psycopg.connect(accountant._ledger._conninfo) as other:
        other.execute("SELECT 1 FROM simplexdp.book WHERE name = %s FOR UPDATE", (name_of(accountant),))
        monkeypatch.setattr(postgres, "PATIENCE", 0.3)
        with pytest.raises(sdp.LedgerError, match="lock timeout"):
            sdp.Accountant.open(address).spend(UNIT)
    accountant.spend(UNIT)


DAMAGES = {
    "UPDATE simplexdp.book SET state = '' WHERE name = ": "checksum is wrong",
    "UPDATE simplexdp.book SET debits = 0 WHERE name = ": "checksum is wrong",
    "UPDATE simplexdp.book SET settings = replace(settings, 'p', 'q') WHERE name = ": "checksum is wrong",
    "DELETE FROM simplexdp.debit WHERE id = 2 AND book = ": "debits are missing",
    "DELETE FROM simplexdp.book WHERE name = ": "there is no ledger",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_noticed_by_who_opens_the_book(accountant, address, server, damage):
    accountant.spend(UNIT)
    server.sql(f"{damage} '{name_of(accountant)}'")
    with pytest.raises(sdp.LedgerError, match=DAMAGES[damage]):
        sdp.Accountant.open(address)


@pytest.mark.parametrize(
    "damage",
    [
        'UPDATE simplexdp.debit SET body = replace(body, \'"label":""\', \'"label":"x"\') WHERE book = ',
        "UPDATE simplexdp.debit SET chain = reverse(chain) WHERE book = ",
        "DELETE FROM simplexdp.debit WHERE id = 1 AND book = ",
        "UPDATE simplexdp.curve SET recipe = replace(recipe, '(', '(1') WHERE book = ",
    ],
)
def test_damage_is_noticed_by_who_reads_the_debits(accountant, server, damage):
    accountant.spend(UNIT)
    server.sql(f"{damage} '{name_of(accountant)}'")
    with pytest.raises(sdp.LedgerError, match="damaged"):
        accountant.spends()


def test_a_stored_release_that_was_altered_is_not_returned(accountant, server):
    accountant.release_once("key", Constant())
    server.sql(f"UPDATE simplexdp.release SET payload = '\\x00' WHERE book = '{name_of(accountant)}'")
    with pytest.raises(sdp.LedgerError, match="damaged"):
        accountant.release_once("key", Constant())


def test_a_copy_of_the_database_is_refused_until_it_is_restored(accountant, server):
    name = name_of(accountant)
    accountant._ledger.close_connection()
    server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'simplexdp'")
    server.sql("CREATE DATABASE copied TEMPLATE postgres")
    try:
        copied = server.address(name, database="copied")
        with pytest.raises(sdp.LedgerError, match="in a copy of its database"):
            sdp.Accountant.open(copied)
        accountant.spend(UNIT)
        restored = sdp.Accountant.restore(copied, since=(0.25, 0.0))
        assert restored.spent_epsilon() == 2.0**-10 + 0.25
        restored.spend(UNIT)
        assert [row["label"] for row in restored.spends()] == ["", "restored", ""]
        closed = sdp.Accountant.restore(copied)
        with pytest.raises(sdp.BudgetExceededError, match="is closed"):
            closed.spend(UNIT)
        with pytest.raises(sdp.LedgerError, match="another ledger"):
            restored.spend(UNIT)
        restored._ledger.close_connection()
        closed._ledger.close_connection()
    finally:
        server.sql("DROP DATABASE copied WITH (FORCE)")


def test_a_failover_is_noticed(accountant, server, monkeypatch):
    # A recovery to an earlier point in time, or the promotion of a stand-by, starts another timeline.
    monkeypatch.setattr(postgres, "HOME", postgres.HOME.replace("pg_walfile_name(pg_current_wal_lsn())", "'00000002'"))
    accountant._ledger.close_connection()
    with pytest.raises(sdp.LedgerError, match="failed over"):
        accountant.spend(UNIT)


def test_a_spender_may_spend_and_nothing_else(accountant, address, server):
    server.sql("CREATE ROLE somebody LOGIN; GRANT simplexdp_spender TO somebody")
    server.sql("CREATE ROLE auditor LOGIN; GRANT simplexdp_reader TO auditor; CREATE ROLE stranger LOGIN")
    name = name_of(accountant)
    spender = sdp.Accountant.open(server.address(name, user="somebody"))
    with spender.spend(UNIT):
        spender.release_once("key", Constant())
    assert spender.release_once("key", Constant("x")) == 1.5
    assert accountant.debits == len(spender.spends()) == 3
    reader = sdp.Accountant.open(server.address(name, user="auditor"))
    assert reader.debits == 3
    for refused in (
        lambda: reader.spend(UNIT),
        lambda: sdp.Accountant.open(server.address(name, user="stranger")),
        lambda: sdp.Accountant(1.0, 0.0, path=server.address("new", user="somebody")),
        lambda: sdp.Accountant.restore(server.address(name, user="somebody"), since=(0.0, 0.0)),
    ):
        with pytest.raises(sdp.LedgerError, match="may not do that"):
            refused()
    with psycopg.connect(spender._ledger._conninfo, autocommit=True) as connection:
        for statement in (
            "DELETE FROM simplexdp.debit",
            "UPDATE simplexdp.debit SET chain = ''",
            "UPDATE simplexdp.book SET settings = ''",
            "UPDATE simplexdp.release SET payload = ''",
            "DELETE FROM simplexdp.book",
            "TRUNCATE simplexdp.debit",
            "DROP TABLE simplexdp.mark",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)
    assert accountant.debits == 3


def test_errors_say_what_is_missing_and_never_the_password(server):
    with pytest.raises(sdp.LedgerError, match=r"no ledgers; the SQL .* ledger init"):
        sdp.Accountant.open(server.address(database="template1"))
    with pytest.raises(sdp.LedgerError, match="there is no ledger"):
        sdp.Accountant.open(server.address("nothing of that name"))
    start = time.monotonic()
    for address in (
        "postgresql://me:hunter2@127.0.0.1:1/db",
        f"postgresql://me:hunter2@/db?host={server.folder}",
        "postgresql://me:hunter2@/db?nonsense=1",
    ):
        with pytest.raises(sdp.LedgerError) as caught:
            sdp.Accountant.open(address)
        assert "hunter2" not in str(caught.value)
    # Whoever waited for one of them would wait for two minutes.
    assert time.monotonic() - start < 60


def test_a_server_that_does_not_wait_for_its_disk_is_refused(accountant, address, server):
    def reloaded(fsync):
        server.sql("SELECT pg_reload_conf()")
        limit = time.monotonic() + 300
        while server.sql("SHOW fsync") != fsync:
            assert time.monotonic() < limit, "the server does not read its settings again"
            time.sleep(0.01)

    server.sql("ALTER SYSTEM SET fsync = off")
    try:
        reloaded("off")
        with pytest.raises(sdp.LedgerError, match="does not wait for its disk"):
            sdp.Accountant.open(address)
        assert sdp.Accountant.open(address, durable=False).debits == 1
    finally:
        server.sql("ALTER SYSTEM RESET fsync")
        reloaded("on")


def test_a_pickled_handle_connects_anew(accountant):
    other = pickle.loads(pickle.dumps(accountant))
    assert other._ledger._held.session is None
    other.spend(UNIT)
    assert other._ledger._held.session[1] is not accountant._ledger._held.session[1]
    assert accountant.debits == 2
