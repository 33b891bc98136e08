"""Handles of a ledger file and its lock, which no fork can lose, double or keep.

A forked child inherits the open file, and with it the lock; it lets go of it at once, so that a parent that dies does
not leave its lock with a child.
"""

import os
import time

from simplexdp.accounting.ledger.system import system
from simplexdp.exceptions import LedgerError

__all__ = ["PATIENCE", "check_own", "close", "lock", "open_file", "unlock"]

PATIENCE = 120.0
"""Seconds to wait for another process that holds the file."""

_SHORTEST_WAIT, _LONGEST_WAIT = 2e-5, 1e-3

_open: dict[int, int] = {}
"""Handles in use, and the process that opened each."""


def open_file(path: str, *, write: bool) -> int:
    """Open a file for this process alone, until `close`."""
    _let_go()
    owner = os.getpid()
    file: int = system.open_file(path, write=write)
    # A child that was forked in between has a handle that is its parent's, and says so.
    _open[file] = owner
    check_own(file, path)
    return file


def close(file: int) -> None:
    """Close a handle."""
    _open.pop(file, None)
    os.close(file)


def lock(file: int, path: str, *, alone: bool) -> None:
    """Wait for the lock of an open file: alone, or together with others that only read."""
    if system.try_lock(file, alone=alone):
        return
    wait, until = _SHORTEST_WAIT, time.monotonic() + PATIENCE
    while True:
        time.sleep(wait)
        if system.try_lock(file, alone=alone):
            return
        if time.monotonic() > until:
            raise LedgerError(f"the ledger {path} is held by another process since {PATIENCE:g} s")
        wait = min(2 * wait, _LONGEST_WAIT)


def unlock(file: int) -> None:
    """Give the lock back, unless this is a forked child: then it is the parent's."""
    if _open.get(file) == os.getpid():
        system.unlock(file)


def check_own(file: int, path: str) -> None:
    """Refuse a file that this process did not open: it is a child that was forked meanwhile."""
    if _open.get(file) != os.getpid():
        raise LedgerError(
            f"this process was forked in the middle of a debit of {path}: the debit is the parent's, and here nothing "
            "may be released"
        )


def _let_go() -> None:
    """Turn handles that a parent had in use at the fork into ones that lead nowhere.

    They keep their numbers: were they closed, code of the parent that still runs in the child could write to whatever
    is opened next.
    """
    foreign = [file for file, owner in list(_open.items()) if owner != os.getpid()]
    if foreign:
        nowhere = os.open(os.devnull, os.O_RDONLY)
        for file in foreign:
            os.dup2(nowhere, file, inheritable=False)
            _open.pop(file, None)
        os.close(nowhere)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)
