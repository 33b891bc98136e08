"""Whether a path still leads to the file that a ledger was made in.

The file says which inode it lives in: a copy has another one, and is refused. An older state that was copied *into*
the file (``cp backup ledger``) keeps the inode, but an extended attribute of the inode remembers how far the book had
come. Both are stamps against accidents; whoever may write the file can forge them.
"""

import contextlib
import os

from simplexdp.accounting.ledger.system import system
from simplexdp.exceptions import LedgerError


def home_of(file: int) -> str:
    """Return what tells the file from every copy of it: its inode, and the generation of that where there is one."""
    return f"{os.fstat(file).st_ino}:{system.generation(file)}"


def is_home(file: int, stated: str) -> bool:
    """Return whether the file is the one that says `stated` of itself."""
    inode, generation = home_of(file).split(":")
    stated_inode, _, stated_generation = stated.partition(":")
    # Through another mount the same file may not tell its generation.
    return inode == stated_inode and ("0" in (generation, stated_generation) or generation == stated_generation)


def check_path(file: int, path: str) -> os.stat_result:
    """Refuse a file that the path does not lead to any more, or that has a second path; return what it is."""
    here = os.fstat(file)
    there = system.found_at(path)
    if (here.st_dev, here.st_ino) != (there.st_dev, there.st_ino):
        raise LedgerError(f"the ledger {path} was replaced by another file while it was used; nothing was spent")
    if here.st_nlink > 1 and _without_draft(file, path) > 1:
        raise LedgerError(f"the ledger {path} has a second name (a hard link): remove one; nothing was spent")
    return here


def draft_of(path: str, token: str) -> str:
    """Return where a ledger is written before it takes its place."""
    return f"{path}.{token}.new"


def _without_draft(file: int, path: str) -> int:
    """Remove the draft that a killed process left behind, and return how many names the file then has."""
    here = os.fstat(file)
    folder, name = os.path.split(path)
    for other in os.listdir(folder):
        if other.startswith(f"{name}.") and other.endswith(".new"):
            draft = os.path.join(folder, other)
            with contextlib.suppress(FileNotFoundError):
                if os.lstat(draft).st_ino == here.st_ino:
                    os.unlink(draft)
    return os.fstat(file).st_nlink
