"""The lock of a ledger file, which no fork can lose, double or keep.

`flock` belongs to the open file, not to the process: closing another handle of the file never drops it, threads exclude
each other, and it ends with the process that holds it. (POSIX locks, which SQLite takes, end when *any* handle of the
file is closed, and SQLite remembers in memory, which a fork copies, what it believes to hold.) A forked child
inherits the open file; it lets go of it at once, so that a parent that dies does not leave its lock with a child.
"""

import contextlib
import os
import time
from collections.abc import Iterator

from simplexdp.exceptions import LedgerError

__all__ = ["PATIENCE", "check_own", "fcntl", "locked", "opened"]

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

PATIENCE = 120.0
"""Seconds to wait for another process that holds the file."""

_SHORTEST_WAIT, _LONGEST_WAIT = 2e-5, 5e-3

_open: dict[int, int] = {}
"""Handles in use, and the process that opened each."""


@contextlib.contextmanager
def opened(path: str, *, write: bool) -> Iterator[int]:
    """Open a file for the length of a block, for this process alone."""
    if fcntl is None:
        raise LedgerError("a ledger file needs the file locks of a POSIX system; on this one use postgresql://")
    _let_go()
    owner = os.getpid()
    file = os.open(path, (os.O_RDWR if write else os.O_RDONLY) | os.O_CLOEXEC)
    _open[file] = owner
    try:
        check_own(file, path)
        yield file
    finally:
        _open.pop(file, None)
        os.close(file)


@contextlib.contextmanager
def locked(file: int, path: str, *, write: bool) -> Iterator[None]:
    """Hold the lock of an open file: alone, or together with others that only read."""
    kind = (fcntl.LOCK_EX if write else fcntl.LOCK_SH) | fcntl.LOCK_NB
    wait, until = _SHORTEST_WAIT, time.monotonic() + PATIENCE
    while True:
        try:
            fcntl.flock(file, kind)
            break
        except BlockingIOError:
            if time.monotonic() > until:
                raise LedgerError(f"the ledger {path} is held by another process since {PATIENCE:g} s") from None
            time.sleep(wait)
            wait = min(2 * wait, _LONGEST_WAIT)
    try:
        yield
    finally:
        # In a child that was forked inside the block the lock is the parent's.
        if _open.get(file) == os.getpid():
            fcntl.flock(file, fcntl.LOCK_UN)


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
        nowhere = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        for file in foreign:
            os.dup2(nowhere, file, inheritable=False)
            _open.pop(file, None)
        os.close(nowhere)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)
