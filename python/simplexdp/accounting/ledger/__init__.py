"""The book that an accountant keeps: every debit is one transaction, made before anything is released.

`file` keeps it in one file on a local disk, `postgres` in a PostgreSQL database that many hosts share. Both are told
how a debit moves the state of the book and know nothing of privacy; what they promise, and under which faults, is in
docs/operations.md.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from simplexdp.accounting.ledger.entry import Entry, Ledger
from simplexdp.accounting.ledger.file import FileLedger
from simplexdp.accounting.ledger.postgres import PostgresLedger, is_address
from simplexdp.exceptions import InvalidParameterError

__all__ = [
    "Entry",
    "FileLedger",
    "Ledger",
    "PostgresLedger",
    "absolute",
    "create_ledger",
    "is_address",
    "open_ledger",
]


def create_ledger(place: str | os.PathLike[str], settings: Mapping[str, str], *, durable: bool, mode: int) -> Ledger:
    """Open the ledger at a path or address; make it with these settings if there is none."""
    if is_address(place):
        return PostgresLedger.create(str(place), settings, durable=durable)
    return FileLedger.create(absolute(place), settings, durable=durable, mode=mode)


def open_ledger(place: str | os.PathLike[str], *, durable: bool) -> Ledger:
    """Open an existing ledger."""
    if is_address(place):
        return PostgresLedger.at(str(place), durable=durable)
    return FileLedger.at(absolute(place), durable=durable)


def absolute(path: str | os.PathLike[str], name: str = "path") -> str:
    """Return the path that other processes can use too."""
    try:
        found = os.fsdecode(path)
    except TypeError:
        raise InvalidParameterError(f"{name} must be a path, got {type(path).__name__}") from None
    if found.startswith(("postgresql:/", "postgres:/")):  # With one slash from a `Path`. It may hold a password.
        raise InvalidParameterError(f"{name} must be that of a file, got the address of a database")
    if not found or "\0" in found:
        raise InvalidParameterError(f"{name} must be a path, got {found!r}")
    try:
        os.fsencode(found)  # Half a pair of surrogates names no file.
        return str(Path(found).expanduser().absolute())
    except (UnicodeEncodeError, RuntimeError):  # And a home of nobody ("~nobody") is no place.
        raise InvalidParameterError(f"{name} must be a path, got {found!r}") from None
