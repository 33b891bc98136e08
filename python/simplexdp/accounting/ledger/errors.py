"""What an error of the operating system means for a ledger file."""

import contextlib
from collections.abc import Iterator

from simplexdp.exceptions import LedgerError

__all__ = ["as_ledger_errors"]


@contextlib.contextmanager
def as_ledger_errors(path: str, *, known: bool = True) -> Iterator[None]:
    """Turn errors of the operating system into errors of the ledger; the rest goes through.

    `known` says that there was a ledger at the path.
    """
    try:
        yield
    except FileNotFoundError:
        if known:
            raise LedgerError(f"the ledger {path} does not exist any more: what was spent cannot be known") from None
        raise LedgerError(f"there is no ledger {path}, and perhaps no such folder") from None
    except OSError as error:
        if error.errno is None:
            raise
        raise LedgerError(f"the ledger {path} cannot be used: {error.strerror}") from error
