"""Inputs that are nearly right: what a reader gets wrong lies close to what it accepts."""

from __future__ import annotations

import random

NUMBERS = b"nan inf -inf NaN Infinity 0 -0 -1 1e999 1e-999 5e-324 1.8e308 18446744073709551616 0x1p-1074".split()
SIGNS = [b"", b"[]", b"{}", b"[[", b"((((", b"))))", b"\x00", b"\xff", b"\n", b"\r\n", b",", b'"', b"\\", b"*", b" * "]
WORDS = [*NUMBERS, *SIGNS, b"null", b"true", b"\\ud800", b"9" * 400, b"compose(", b"maximum(", "\u00e9\uff10".encode()]
"""What numbers, texts and brackets can be replaced by."""
DEEP = [b"[" * 5000, b"(" * 5000, b"compose(" * 3000, b'{"a":' * 3000]


def mutated(choices: random.Random, seeds: list[bytes]) -> bytes:
    """Return one of the seeds, changed in a few places."""
    data = bytearray(choices.choice(seeds))
    for _ in range(choices.choice((1, 1, 1, 2, 3, 8))):
        at = choices.randrange(len(data) + 1)
        end = min(len(data), at + choices.choice((1, 1, 2, 4, 16, 64)))
        kind = choices.randrange(9)
        if kind == 0:
            del data[at:end]
        elif kind == 1:
            data[at:at] = choices.choice(WORDS)
        elif kind == 2:
            data[at:end] = choices.choice(WORDS)
        elif kind == 3 and data:
            place = choices.randrange(len(data))
            data[place] ^= 1 << choices.randrange(8)
        elif kind == 4:
            data[at:at] = data[at:end] * choices.choice((1, 2, 50))
        elif kind == 5:
            del data[at:]
        elif kind == 6:
            other = choices.choice(seeds)
            start = choices.randrange(len(other) + 1)
            data[at:end] = other[start : start + 64]
        elif kind == 7:
            data[at:end] = _another_number(choices)
        elif choices.random() < 0.05:
            data[at:at] = choices.choice(DEEP)
    return bytes(data)


def _another_number(choices: random.Random) -> bytes:
    exponent = choices.choice((0, 0, 1, 3, 15, 19, 300))
    return repr(choices.choice((-1, 1)) * choices.random() * 10**exponent).encode()
