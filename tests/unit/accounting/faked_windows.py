"""A process that finds nothing that Windows lacks: run a program in it, to see that the ledger asks for nothing else.

    python faked_windows.py PROGRAM [ARGUMENT...]

There is no fcntl, no fork, no pread and no fdatasync; `msvcrt.locking` locks bytes for one handle; a file that is open
keeps its name, and a folder cannot be opened. What it cannot show is how Windows itself behaves.
"""

import errno
import fcntl
import os
import sys
import types

import numpy as np  # noqa: F401  what these load may ask for more than Windows has

BINARY = 1 << 30
ABSENT = """pread pwrite fdatasync fchmod fork forkpty register_at_fork setxattr getxattr geteuid getuid
O_CLOEXEC O_NOFOLLOW O_DIRECTORY"""

_open, _unlink, _rename, _no_inherit = os.open, os.unlink, os.rename, os.O_CLOEXEC


def locking(file: int, mode: int, length: int) -> None:
    assert length == 1
    assert os.lseek(file, 0, os.SEEK_CUR) > os.fstat(file).st_size, "others could not read a locked byte"
    try:
        fcntl.flock(file, fcntl.LOCK_UN if mode == 0 else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise PermissionError(errno.EACCES, "Permission denied") from None


def open_binary(path, flags, mode=0o777):
    assert flags & BINARY, f"{path} would be opened as text"
    if os.path.isdir(path):
        raise PermissionError(errno.EACCES, "Permission denied", path)
    return _open(path, flags & ~BINARY, mode)


def refuse_open(path) -> None:
    here = os.lstat(path)
    for name in os.listdir("/proc/self/fd"):
        try:
            there = os.stat(f"/proc/self/fd/{name}")
        except FileNotFoundError:
            continue
        if (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino):
            raise PermissionError(errno.EACCES, "it is being used by another process", path)


def unlink(path):
    refuse_open(path)
    _unlink(path)


def rename(source, target):
    refuse_open(source)
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, "File exists", source)
    _rename(source, target)


def main() -> None:
    program, *arguments = sys.argv[1:]
    msvcrt = types.ModuleType("msvcrt")
    msvcrt.LK_UNLCK, msvcrt.LK_NBLCK, msvcrt.locking = 0, 2, locking
    sys.modules["msvcrt"], sys.modules["fcntl"] = msvcrt, None
    for name in ABSENT.split():
        if hasattr(os, name):  # not every Python has all of them: musl's headers name no extended attributes
            delattr(os, name)
    os.O_BINARY, os.O_NOINHERIT = BINARY, _no_inherit
    os.open, os.unlink, os.rename = open_binary, unlink, rename
    sys.argv = ["program", *arguments]
    exec(compile(program, "program", "exec"), {"__name__": "__main__"})


if __name__ == "__main__":
    main()
