"""The lines of a ledger file: each carries its length, a check of that length, and the chain of checksums up to it.

    D 000000a7 5c1e0a92 0f6c...9b {"n":7,"t":...}

are the kind, the length of the body, a CRC of both with the place in the file, the BLAKE2b checksum of this body and
the checksum before, and the body, JSON without line ends. A file that is cut off inside its last line, by a crash or a
full disk, is told from one that was damaged: only what is shorter than its own checked length counts as cut off, and
no single flipped bit can make a line so.
"""

import hashlib
import re
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from simplexdp.accounting.ledger.system import system

MAGIC = b"simplexdp ledger 2\n"
START = bytes(16)
"""The checksum before the first line."""

_PREFIX = re.compile(rb"([A-Z]) ([0-9a-f]{8}) ([0-9a-f]{8}) ([0-9a-f]{32}) ")
_PREFIX_LENGTH = 2 + 9 + 9 + 33
_WINDOW = 1 << 20


class Damaged(Exception):  # noqa: N818
    """A line is not what was written."""


class Record(NamedTuple):
    """One line, checked."""

    kind: str
    body: bytes
    start: int
    end: int
    chain: bytes


def pack(kind: str, body: bytes, start: int, chain: bytes) -> tuple[bytes, bytes]:
    """Return the line that goes to the byte `start` after one of the checksum `chain`, and its own checksum."""
    length = b"%08x" % len(body)
    after = chained(chain, kind.encode(), body)
    check = _length_check(kind.encode(), length, start)
    return b"%s %s %s %s %s\n" % (kind.encode(), length, check, after.hex().encode(), body), after


def scan(file: int, start: int, chain: bytes, size: int) -> Iterator[Record]:
    """Yield the whole lines between the bytes `start` and `size`; what is cut off at the end is left out.

    Raises
    ------
    Damaged
        If a line is not what was written.
    """
    window, base = b"", start
    while size - start >= _PREFIX_LENGTH:
        if start - base + _PREFIX_LENGTH > len(window):
            window, base = _read(file, start, min(_WINDOW, size - start)), start
        prefix = _PREFIX.fullmatch(window, start - base, start - base + _PREFIX_LENGTH)
        if prefix is None:
            raise Damaged(f"at byte {start}")
        kind, length, check, stated = prefix.groups()
        if check != _length_check(kind, length, start):
            raise Damaged(f"at byte {start}")
        end = start + _PREFIX_LENGTH + int(length, 16) + 1
        if end > size:
            return
        if end - base > len(window):
            window, base = _read(file, start, max(min(_WINDOW, size - start), end - start)), start
        body = window[start - base + _PREFIX_LENGTH : end - base - 1]
        chain = chained(chain, kind, body)
        if chain.hex().encode() != stated or window[end - base - 1] != ord("\n"):
            raise Damaged(f"at byte {start}")
        yield Record(kind.decode(), body, start, end, chain)
        start = end


def stated_chain(file: int, start: int) -> bytes:
    """Return the checksum that the line at a byte states; nothing where there is no line."""
    prefix = _PREFIX.fullmatch(system.read_at(file, _PREFIX_LENGTH, start))
    return b"" if prefix is None else bytes.fromhex(prefix[4].decode())


def read_one(file: int, start: int, end: int) -> bytes:
    """Return the body of the line between two bytes, which was checked before."""
    return _read(file, start, end - start)[_PREFIX_LENGTH:-1]


def chained(chain: bytes, kind: bytes, body: bytes) -> bytes:
    """Return the checksum of a line after one of the checksum `chain`."""
    return hashlib.blake2b(chain + kind + body, digest_size=16).digest()


def _length_check(kind: bytes, length: bytes, start: int) -> bytes:
    return b"%08x" % zlib.crc32(kind + length + b"%d" % start)


def _read(file: int, start: int, length: int) -> bytes:
    parts = []
    while length > 0:
        part = system.read_at(file, length, start)
        if not part:
            raise Damaged(f"at byte {start}: the file ends early")
        parts.append(part)
        start, length = start + len(part), length - len(part)
    return b"".join(parts)
