"""Releases as bytes and back: numbers, texts, arrays, posteriors and lists of them; nothing that could run code."""

import io
import json
import math
from tokenize import TokenError
from typing import Any

import numpy as np

from simplexdp.exceptions import InvalidParameterError, LedgerError
from simplexdp.posterior import Posterior

__all__ = ["MOST_BYTES", "from_bytes", "to_bytes"]

MOST_BYTES = 1 << 24
"""Of one stored release: 16 MiB. A book is no place for data sets."""

MOST_BITS = 4096
"""Of an integer: Python reads longer decimals only when it is told to."""

_LENGTH = 8


def to_bytes(release: Any) -> bytes:
    """Return a release as bytes: the tree as JSON, then its arrays in NumPy's own format, without pickle."""
    arrays: list[bytes] = []
    try:
        tree = json.dumps(_encode(release, arrays), separators=(",", ":")).encode()
    except RecursionError:
        raise InvalidParameterError("a release that is stored must not be nested deeply, got one that is") from None
    found = b"".join([len(tree).to_bytes(_LENGTH, "little"), tree, *arrays])
    if len(found) > MOST_BYTES:
        raise InvalidParameterError(f"a release that is stored must have at most {MOST_BYTES} bytes, got {len(found)}")
    return found


def from_bytes(text: bytes) -> Any:
    """Return the release that `to_bytes` wrote."""
    try:
        start = _LENGTH + int.from_bytes(text[:_LENGTH], "little")
        tree = json.loads(text[_LENGTH:start])
        return _decode(tree, io.BytesIO(text[start:]))
    # NumPy reads the head of an array as Python: a damaged one is no syntax.
    except (KeyError, TypeError, ValueError, OverflowError, EOFError, RecursionError, SyntaxError, TokenError) as error:
        raise LedgerError(f"a release in the ledger cannot be read: {type(error).__name__}") from None


def _encode(value: Any, arrays: list[bytes]) -> Any:
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        raise InvalidParameterError(f"an integer that is stored must have at most {MOST_BITS} bits")
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return {"float": value.hex() if math.isfinite(value) else repr(value)}
    if isinstance(value, Posterior):
        return {"posterior": _encode(np.asarray(value.alpha), arrays)}
    if isinstance(value, np.ndarray | np.generic):
        if value.dtype.kind not in "biuf":
            raise InvalidParameterError(f"an array that is stored must hold numbers, got {value.dtype}")
        file = io.BytesIO()
        np.lib.format.write_array(file, np.asarray(value), allow_pickle=False)
        arrays.append(file.getvalue())
        return {"scalar" if isinstance(value, np.generic) else "array": len(arrays) - 1}
    if isinstance(value, list | tuple):
        return {"tuple" if isinstance(value, tuple) else "list": [_encode(item, arrays) for item in value]}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": [[key, _encode(item, arrays)] for key, item in value.items()]}
    raise InvalidParameterError(
        f"a release that is stored must be made of numbers, texts, arrays or posteriors, got {type(value).__name__}"
    )


def _decode(tree: Any, arrays: io.BytesIO) -> Any:
    if not isinstance(tree, dict):
        return tree
    ((kind, content),) = tree.items()
    if kind == "float":
        return float.fromhex(content)
    if kind in ("array", "scalar"):
        # They stand in the order in which the tree names them.
        found = np.lib.format.read_array(arrays, allow_pickle=False)
        return found[()] if kind == "scalar" else found
    if kind == "posterior":
        return Posterior(_decode(content, arrays))
    if kind == "dict":
        return {key: _decode(item, arrays) for key, item in content}
    items = [_decode(item, arrays) for item in content]
    return tuple(items) if kind == "tuple" else items
