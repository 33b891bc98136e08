"""Turns of the threads of one process at one ledger, of which no interruption can lose the end.

A lock that is taken by a call and given back by another one is held for ever where Ctrl-C comes in between. The `with`
statement of a lock has no such moment: so the lock is handed out, and whoever gets it says ``with`` at once.
"""

import os
import threading
import time

from simplexdp.exceptions import LedgerError

__all__ = ["Turns"]

_SHORTEST_WAIT, _LONGEST_WAIT = 2e-5, 1e-3


class Turns:
    """Whose turn it is, in every process that has a copy of this."""

    def __init__(self) -> None:
        # A lock for each process: one that another thread held at a fork is never given back in the child.
        self._locks: dict[int, threading.Lock] = {}
        self._holder: tuple[int, int] | None = None

    def next(self, place: str, patience: float) -> threading.Lock:
        """Return the lock of this process when it is free, for a ``with`` statement that begins with `begin`."""
        here = (os.getpid(), threading.get_ident())
        turn = self._locks.get(here[0])
        if turn is None:
            turn = self._locks.setdefault(here[0], threading.Lock())
        if not turn.locked():
            return turn
        wait, until = _SHORTEST_WAIT, time.monotonic() + patience
        while True:
            time.sleep(wait)
            if not turn.locked():
                return turn
            # Asked after a while only: what an interruption left here is written over by the next thread at once.
            if self._holder == here:
                raise LedgerError(f"the ledger {place} was asked for a debit in the middle of another")
            if time.monotonic() > until:
                raise LedgerError(f"the ledger {place} is held by another thread since {patience:g} s")
            wait = min(2 * wait, _LONGEST_WAIT)

    def begin(self) -> None:
        """Say that this thread has the turn."""
        self._holder = (os.getpid(), threading.get_ident())

    def end(self) -> None:
        """Say that nobody has it, before the lock is given back."""
        self._holder = None
