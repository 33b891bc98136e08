"""A ledger for a budget that nobody keeps."""

import atexit
import os
import shutil
import tempfile

__all__ = ["temporary"]


def temporary() -> str:
    """Return a path for a ledger that lives as long as this process."""
    folder = tempfile.mkdtemp(prefix="simplexdp-ledger-")
    owner = os.getpid()

    def remove() -> None:
        # A forked child also runs this at its end; the ledger is its parent's.
        if os.getpid() == owner:
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return os.path.join(folder, "ledger.db")
