"""What a ledger file asks of Windows, under the names of `posix`.

`msvcrt.locking` locks bytes of an open file for one handle, always alone, and other handles cannot even read them. So
the byte that stands for the lock is one that no ledger has. There is no fork, and nothing in the inode to
remember by: an older state that is copied into the file is noticed by processes that used it, and by no others.
"""

import contextlib
import msvcrt
import os

from simplexdp.accounting.ledger.errors import regular

MODES_COUNT = False
"""Whether the mode of a file says who may use it: here that is up to the permissions of its folder."""

_LOCK_AT = 0x7FFF_FFFE
"""Behind every ledger, and before where 32 bits end, in which the run-time library once counted."""
_FLAGS = os.O_BINARY | os.O_NOINHERIT  # type: ignore[attr-defined,unused-ignore]


def open_file(path: str, *, write: bool) -> int:
    """Open a file that is there; programs that this process starts do not get it."""
    return regular(os.open(path, (os.O_RDWR if write else os.O_RDONLY) | _FLAGS), path)


def new_file(path: str) -> int:
    """Make a file where nothing is."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _FLAGS, 0o600)


def read_at(file: int, length: int, start: int) -> bytes:
    """Return up to so many bytes from a place on. The handle is used by one thread."""
    os.lseek(file, start, os.SEEK_SET)
    return os.read(file, length)


def write_at(file: int, text: bytes, start: int) -> int:
    """Write at a place, and return how many bytes were written."""
    os.lseek(file, start, os.SEEK_SET)
    return os.write(file, text)


def try_lock(file: int, *, alone: bool) -> bool:
    """Take the lock of an open file unless somebody holds it."""
    os.lseek(file, _LOCK_AT, os.SEEK_SET)
    try:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    except PermissionError:
        return False
    except OSError as error:
        # wine says that somebody holds it by an error without a number.
        if error.errno != 0:
            raise
        return False
    return True


def unlock(file: int) -> None:
    """Give the lock back."""
    os.lseek(file, _LOCK_AT, os.SEEK_SET)
    msvcrt.locking(file, msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined,unused-ignore]


def found_at(path: str) -> os.stat_result:
    """Return what is at a path, in the terms of an open file: those of a path differ between versions of Python."""
    file = open_file(path, write=False)
    try:
        return os.fstat(file)
    finally:
        os.close(file)


def generation(file: int) -> int:
    """Return 0: the number of a file is not given to another one soon."""
    return 0


def take_place(file: int, draft: str, path: str, mode: int) -> None:
    """Give a complete file its name, unless another one has it already, and close it: an open one keeps its name."""
    try:
        os.fsync(file)
    finally:
        os.close(file)
    try:
        os.rename(draft, path)
    except FileExistsError:
        # Another process was faster: its ledger counts.
        with contextlib.suppress(FileNotFoundError):
            os.unlink(draft)


def to_disk(file: int) -> None:
    """Wait until all that was written is on the disk."""
    os.fsync(file)


def remember(file: int, debits: int) -> None:
    """There is no place for it."""


def remembered(file: int) -> int:
    """Return 0: nothing is remembered."""
    return 0
