"""Whether a path still leads to the file that a ledger was made in.

The file says which inode it lives in: a copy has another one, and is refused. An older state that was copied *into*
the file (``cp backup ledger``) keeps the inode, but an extended attribute of the inode remembers how far the book had
come. Both are stamps against accidents; whoever may write the file can forge them.
"""

import contextlib
import errno
import os
import stat

from simplexdp.accounting.ledger.locking import fcntl
from simplexdp.exceptions import LedgerError

_GET_GENERATION = 0x80087601
"""FS_IOC_GETVERSION: a random number of the inode, on file systems that have one."""
_ATTRIBUTE = "user.simplexdp.debits"

RESTORE = "count what may have been spent, and take it into use, with: simplexdp ledger restore"


def home_of(file: int) -> str:
    """Return what tells the file from every copy of it: its inode, and the generation of that where there is one."""
    generation = 0
    with contextlib.suppress(OSError):
        generation = int.from_bytes(fcntl.ioctl(file, _GET_GENERATION, bytes(8))[:4], "little")
    return f"{os.fstat(file).st_ino}:{generation}"


def is_home(file: int, stated: str) -> bool:
    """Return whether the file is the one that says `stated` of itself."""
    inode, generation = home_of(file).split(":")
    stated_inode, _, stated_generation = stated.partition(":")
    # Through another mount the same file may not tell its generation.
    return inode == stated_inode and ("0" in (generation, stated_generation) or generation == stated_generation)


def check_path(file: int, path: str) -> None:
    """Refuse a file that the path does not lead to any more, or that has a second path."""
    here = os.fstat(file)
    if not stat.S_ISREG(here.st_mode):
        raise LedgerError(f"{path} is not a ledger: it is no regular file")
    try:
        there = os.stat(path)
    except FileNotFoundError:
        raise missing(path) from None
    if (here.st_dev, here.st_ino) != (there.st_dev, there.st_ino):
        raise LedgerError(f"the ledger {path} was replaced by another file while it was used; nothing was spent")
    if here.st_nlink > 1 and _without_draft(file, path) > 1:
        raise LedgerError(f"the ledger {path} has a second name (a hard link): remove one; nothing was spent")


def missing(path: str) -> LedgerError:
    """Return the error for a ledger that is gone."""
    return LedgerError(f"the ledger {path} does not exist any more: what was spent cannot be known")


def remember(file: int, debits: int) -> None:
    """Note in the inode how many debits there are, where the file system can."""
    with contextlib.suppress(OSError, AttributeError):
        os.setxattr(file, _ATTRIBUTE, b"%d" % debits)


def remembered(file: int) -> int:
    """Return how many debits the inode has seen; some of the latest may be missing."""
    try:
        return int(os.getxattr(file, _ATTRIBUTE))
    except AttributeError:
        return 0
    except OSError as error:
        if error.errno in (errno.ENODATA, errno.ENOTSUP, errno.EPERM, errno.EACCES):
            return 0
        raise


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
