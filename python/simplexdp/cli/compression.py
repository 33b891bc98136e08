"""Compressed records, unpacked while they are read."""

from __future__ import annotations

import io
import zlib
from functools import partial
from importlib import import_module
from typing import Any, BinaryIO

from simplexdp.exceptions import InvalidDataError

__all__ = ["COMPRESSIONS", "Unpacked"]

try:
    from lzma import LZMAError
except ImportError:  # a Python that was built without it, as many are that were built by hand
    LZMAError = EOFError  # type: ignore[misc, assignment]


def _opened(module: str, packed: BinaryIO) -> Any:
    try:
        return import_module(module).open(packed)
    except ImportError:
        raise InvalidDataError(f"this Python was built without {module}, so unpack the file first") from None


COMPRESSIONS = {
    suffix: partial(_opened, module) for suffix, module in ((".gz", "gzip"), (".bz2", "bz2"), (".xz", "lzma"))
}
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
        except (OSError, EOFError, zlib.error, LZMAError):
            raise InvalidDataError(f"the file is damaged, cut off, or no {self._suffix} file") from None
        return data
