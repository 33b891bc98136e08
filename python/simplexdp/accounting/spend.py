"""A debit that was written, and the release that it is for."""

import os
from types import TracebackType

from simplexdp.accounting import events
from simplexdp.accounting.ledger import Ledger
from simplexdp.exceptions import LedgerError

__all__ = ["Spend", "note_released"]


class Spend:
    """A debit that was written; in a ``with`` block, notes at its end that the release was made."""

    def __init__(self, ledger: Ledger, number: int, process: int) -> None:
        self._ledger = ledger
        self._process = process
        self.id = number

    def released(self) -> None:
        """Note that the release was made. The debit counts with or without it.

        Raises
        ------
        LedgerError
            In a process that was forked since: what is released there is not paid for.
        """
        if os.getpid() != self._process:
            raise LedgerError(
                f"this process was forked between debit {self.id} and its release: the debit is the parent's, and what "
                "was released here is not paid for"
            )
        note_released(self._ledger, self.id)

    def __enter__(self) -> "Spend":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.released()


def note_released(ledger: Ledger, number: int) -> None:
    """Note that a release was made. It is paid for: that it cannot be noted must not keep it from who made it."""
    try:
        ledger.mark_released(number)
    except LedgerError:
        events.tell(events.LedgerEvent("failure", ledger.place, debit=number))
