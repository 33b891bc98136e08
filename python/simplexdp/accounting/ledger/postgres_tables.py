"""The tables of ledgers in a PostgreSQL database, and who may do what with them."""

__all__ = ["HOME", "setup"]

SCHEMA = "simplexdp"
SPENDER, READER = "simplexdp_spender", "simplexdp_reader"

HOME = f"""
    (SELECT system_identifier FROM pg_control_system())
    || '/' || (SELECT oid FROM pg_database WHERE datname = current_database())
    || '/' || '{SCHEMA}.book'::regclass::oid
    || '/' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)
"""
"""What tells a database from its copies: cluster, database and table; and the timeline, which a failover, or a recovery
to an earlier point in time, moves on: commits may be missing then."""


def setup(spender: str = SPENDER, reader: str = READER) -> str:
    """Return the SQL that makes the tables and two roles, to be run once by an owner of the database.

    A spender adds debits and moves the state of a book; it cannot change or remove a debit, make a book or change its
    budget. The owner makes books.
    """
    return f"""\
-- Ledgers of simplexdp. Run once, as the owner of the database; then grant the roles:
--   GRANT {spender} TO somebody;
BEGIN;
CREATE SCHEMA {SCHEMA};
CREATE TABLE {SCHEMA}.book (
    name text PRIMARY KEY, identity text NOT NULL, home text NOT NULL, settings text NOT NULL, state text NOT NULL,
    debits bigint NOT NULL, closed text NOT NULL, chain text NOT NULL, checksum text NOT NULL
);
CREATE TABLE {SCHEMA}.debit (
    book text NOT NULL, id bigint NOT NULL, token text NOT NULL, body text NOT NULL,
    chain text NOT NULL, PRIMARY KEY (book, id)
);
CREATE TABLE {SCHEMA}.curve (
    book text NOT NULL, digest text NOT NULL, recipe text NOT NULL, PRIMARY KEY (book, digest)
);
CREATE TABLE {SCHEMA}.release (
    book text NOT NULL, key text NOT NULL, debit bigint NOT NULL, payload bytea NOT NULL, PRIMARY KEY (book, key)
);
CREATE TABLE {SCHEMA}.mark (book text NOT NULL, debit bigint NOT NULL, PRIMARY KEY (book, debit));
-- One row of a book is rewritten at every debit: room for that beside it.
ALTER TABLE {SCHEMA}.book SET (fillfactor = 20);
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{spender}') THEN CREATE ROLE {spender} NOLOGIN; END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{reader}') THEN CREATE ROLE {reader} NOLOGIN; END IF;
END $$;
REVOKE ALL ON SCHEMA {SCHEMA} FROM PUBLIC;
GRANT USAGE ON SCHEMA {SCHEMA} TO {spender}, {reader};
GRANT SELECT ON ALL TABLES IN SCHEMA {SCHEMA} TO {spender}, {reader};
GRANT INSERT ON {SCHEMA}.debit, {SCHEMA}.curve, {SCHEMA}.release, {SCHEMA}.mark TO {spender};
GRANT UPDATE (state, debits, chain, checksum) ON {SCHEMA}.book TO {spender};
COMMIT;
"""
