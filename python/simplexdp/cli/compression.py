"""Compressed records, unpacked while they are read."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable
from typing import Any, BinaryIO

from simplexdp.exceptions import InvalidDataError

__all__ = ["COMPRESSIONS", "Unpacked"]

COMPRESSIONS: dict[str, Callable[[BinaryIO], Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
"""By the last suffix of a file."""


class Unpacked(io.RawIOBase):
    """What a compressed file holds; it can only be read onwards.

    Parameters
    ----------
    packed : binary file
    suffix : str
        One of `COMPRESSIONS`.
    """

    def __init__(self, packed: BinaryIO, suffix: str) -> None:
        super().__init__()
        self._stream, self._suffix = COMPRESSIONS[suffix](packed), suffix

    def readable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, all that are left when no size is given."""
        try:
            data: bytes = self._stream.read(size)
        except (OSError, EOFError, zlib.error, lzma.LZMAError):
            raise InvalidDataError(f"the file is damaged, cut off, or no {self._suffix} file") from None
        return data
