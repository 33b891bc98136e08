"""Ledgers of both kinds."""

import itertools
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import postgres_server


@pytest.fixture(scope="session")
def server():
    """A PostgreSQL server with the tables that `simplexdp ledger init` prints."""
    pytest.importorskip("psycopg")
    if why := postgres_server.missing():
        pytest.skip(why)
    from simplexdp.accounting.ledger.postgres_tables import setup

    started = postgres_server.Server()
    started.sql(setup())
    yield started
    started.remove()


_books = itertools.count()


@pytest.fixture(params=["file", "postgres"])
def address(request, tmp_path):
    """Where a new ledger may be made, in a file and in a database."""
    if request.param == "file":
        return str(tmp_path / "ledger.db")
    return request.getfixturevalue("server").address(f"book {next(_books)}")
