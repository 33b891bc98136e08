"""What a ledger file asks of a POSIX system; `windows` has the same names.

`flock` belongs to the open file, not to the process: closing another handle of the file never drops it, threads exclude
each other, and it ends with the process that holds it. (POSIX locks, which SQLite takes, end when *any* handle of the
file is closed, and SQLite remembers in memory, which a fork copies, what it believes to hold.)
"""

import contextlib
import errno
import fcntl
import os

from simplexdp.accounting.ledger.errors import regular

MODES_COUNT = True
"""Whether the mode of a file says who may use it."""

_GET_GENERATION = 0x80087601
"""FS_IOC_GETVERSION: a random number of the inode, on file systems that have one."""
_ATTRIBUTE = "user.simplexdp.debits"

read_at = os.pread
write_at = os.pwrite


def open_file(path: str, *, write: bool) -> int:
    """Open a regular file that is there; programs that this process starts do not get it.

    The opening of a pipe waits for whoever holds its other end, perhaps for ever, and that of a device may do anything.
    `O_NONBLOCK` waits for nobody, and changes nothing for regular files.
    """
    file = os.open(path, (os.O_RDWR if write else os.O_RDONLY) | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    return regular(file, path)


def new_file(path: str) -> int:
    """Make a file for its owner alone, where nothing is: not even a link that leads elsewhere."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def try_lock(file: int, *, alone: bool) -> bool:
    """Take the lock of an open file, alone or with others that only read, unless somebody is in the way."""
    try:
        fcntl.flock(file, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def unlock(file: int) -> None:
    """Give the lock back."""
    fcntl.flock(file, fcntl.LOCK_UN)


def found_at(path: str) -> os.stat_result:
    """Return what is at a path."""
    return os.stat(path)


def generation(file: int) -> int:
    """Return a number that tells an inode from another one that had its place before; 0 where there is none."""
    try:
        return int.from_bytes(fcntl.ioctl(file, _GET_GENERATION, bytes(8))[:4], "little")
    except OSError:
        return 0


def take_place(file: int, draft: str, path: str, mode: int) -> None:
    """Give a complete file its name, unless another one has it already, and close it."""
    try:
        os.fchmod(file, mode)
        os.fsync(file)
        # Whoever opens the file while it has two names waits for this lock.
        fcntl.flock(file, fcntl.LOCK_EX)
        with contextlib.suppress(FileExistsError):
            # Another process may have been faster: then its ledger counts.
            os.link(draft, path)
        os.unlink(draft)
    finally:
        os.close(file)
    folder = os.open(os.path.dirname(path), os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def to_disk(file: int) -> None:
    """Wait until all that was written is on the disk."""
    if hasattr(fcntl, "F_FULLFSYNC"):  # macOS: fsync alone leaves it in the drive's memory
        fcntl.fcntl(file, fcntl.F_FULLFSYNC)
    else:
        os.fdatasync(file)


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
