"""The book that an accountant keeps: every debit is one transaction, made before anything is released.

`file` keeps it in one file on a local disk, `postgres` in a PostgreSQL database that many hosts share. Both are told
how a debit moves the state of the book and know nothing of privacy; what they promise, and under which faults, is in
docs/operations.md.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from simplexdp.accounting.ledger.entry import Advance, Draw, Entry, Ledger, Stored
from simplexdp.accounting.ledger.file import FileLedger
from simplexdp.exceptions import LedgerError

__all__ = ["Advance", "Draw", "Entry", "FileLedger", "Ledger", "Stored", "absolute", "create_ledger", "open_ledger"]


def create_ledger(place: str | os.PathLike[str], settings: Mapping[str, str], *, durable: bool, mode: int) -> Ledger:
    """Open the ledger at a path or address; make it if there is none, and else compare the settings."""
    ledger = FileLedger.create(absolute(place), settings, durable=durable, mode=mode)
    found = ledger.settings
    for name, value in settings.items():
        if found.get(name) != value:
            raise LedgerError(f"the ledger {ledger.place} was made with {name} {found.get(name)}, not {value}")
    return ledger


def open_ledger(place: str | os.PathLike[str], *, durable: bool) -> Ledger:
    """Open an existing ledger."""
    return FileLedger.at(absolute(place), durable=durable)


def absolute(path: str | os.PathLike[str]) -> str:
    """Return the path that other processes can use too."""
    return str(Path(os.fspath(path)).expanduser().absolute())
