"""ChaCha20 from its definition, as an oracle for the seeded streams."""

import struct

MASK = 0xFFFFFFFF


def quarter_round(s: list[int], a: int, b: int, c: int, d: int) -> None:
    for x, y, z, turn in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        s[x] = (s[x] + s[y]) & MASK
        s[z] ^= s[x]
        s[z] = ((s[z] << turn) | (s[z] >> (32 - turn))) & MASK


def block(key: bytes, counter: int, nonce: int) -> bytes:
    """64 bytes: 20 rounds, 64-bit counter and 64-bit nonce, as in Bernstein's paper."""
    start = [*struct.unpack("<4I", b"expand 32-byte k"), *struct.unpack("<8I", key)]
    start += [*struct.unpack("<4I", struct.pack("<QQ", counter, nonce))]
    s = list(start)
    for _ in range(10):
        for column in range(4):
            quarter_round(s, column, column + 4, column + 8, column + 12)
        for i in range(4):
            quarter_round(s, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return struct.pack("<16I", *((x + y) & MASK for x, y in zip(s, start, strict=True)))


def words(key: bytes, nonce: int, size: int) -> list[int]:
    """The first 64-bit words of a stream."""
    data = b"".join(block(key, counter, nonce) for counter in range(-(-size // 8)))
    return list(struct.unpack(f"<{size}Q", data[: 8 * size]))


def child_key(seed: int, call: int) -> bytes:
    return block(seed.to_bytes(32, "little"), 0, call)[:32]
