"""What an error of the operating system means for a ledger file, and which files can be none."""

import contextlib
import os
import stat
from collections.abc import Iterator

from simplexdp.exceptions import LedgerError

__all__ = ["as_ledger_errors", "regular"]


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


def regular(file: int, path: str) -> int:
    """Return a file that was just opened, or close and refuse it: a pipe or a device has no place to append to."""
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise LedgerError(f"{path} is not a ledger: it is no regular file")
    return file
