"""The ideal draw of docs/exactness.md, in mpmath at 200 digits, from the same bits as a release.

Nothing is decided by doubles and nothing is squeezed: every uniform has 64 (or 32) bits of the main stream and 640
of its own stream, every acceptance is evaluated, and the grid comes last. Doubles appear only where the definition
names them.
"""

import importlib.util
import math
import sys
from pathlib import Path

import chacha20
import numpy as np
from mpmath import mp, mpf
from numpy.typing import NDArray

DIGITS = 200
TAIL_WORDS = 10
CHUNK_VALUES = 1 << 13
BATCH = 1 << 10


def normal_table():
    """The proposal's constants, computed by the script that prints the Rust table."""
    path = Path(__file__).parents[2] / "rust" / "core" / "tables" / "normal_proposal.py"
    spec = importlib.util.spec_from_file_location("normal_proposal", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["normal_proposal"] = module
    spec.loader.exec_module(module)
    return module.table()


def blocks(key: bytes, counter: NDArray[np.uint64], nonce: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """ChaCha20 blocks, eight words each, for arrays of counters and nonces: chacha20.block, one column a block."""
    half = np.uint64(0xFFFFFFFF)
    words = [np.full(len(nonce), w, np.uint32) for w in np.frombuffer(b"expand 32-byte k" + key, np.uint32)]
    words += [(x >> np.uint64(shift) & half).astype(np.uint32) for x in (counter, nonce) for shift in (0, 32)]
    state = [word.copy() for word in words]

    def turn(x, bits):
        return (x << np.uint32(bits)) | (x >> np.uint32(32 - bits))

    def quarter(a, b, c, d):
        for x, y, z, bits in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            state[x] += state[y]
            state[z] = turn(state[z] ^ state[x], bits)

    for _ in range(10):
        for i in range(4):
            quarter(i, i + 4, i + 8, i + 12)
        for i in range(4):
            quarter(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return (
        np.stack([x + y for x, y in zip(state, words, strict=True)], axis=1).reshape(-1).view(np.uint64).reshape(-1, 8)
    )


class Uniforms:
    """The bits of one chunk: a main stream, and a stream of later bits for each uniform."""

    def __init__(self, key: bytes, index: int) -> None:
        self.key, self.index = key, index
        self.main, self.tails = [], {}
        self.position, self.pending = 4, None
        self.tail_key = b"".join(self._word(i).to_bytes(8, "little") for i in range(4))

    def _word(self, i: int) -> int:
        while i >= len(self.main):
            counters = np.arange(BATCH, dtype=np.uint64) + np.uint64(len(self.main) // 8)
            self.main += blocks(self.key, counters, np.full(BATCH, self.index, np.uint64)).reshape(-1).tolist()
        return self.main[i]

    def _tail(self, number: int) -> int:
        batch = number // BATCH
        if batch not in self.tails:
            nonces = np.arange(BATCH, dtype=np.uint64) + np.uint64(batch * BATCH)
            first = blocks(self.tail_key, np.zeros(BATCH, np.uint64), nonces)
            second = blocks(self.tail_key, np.ones(BATCH, np.uint64), nonces)
            self.tails[batch] = np.concatenate([first, second], axis=1)[:, :TAIL_WORDS].tolist()
        value = 0
        for word in self.tails[batch][number % BATCH]:
            value = (value << 64) | word
        return value

    def _extended(self, first: int, number: int) -> mpf:
        """First + its later bits, as a real in [first, first + 1)."""
        return mpf(first) + mpf(self._tail(number)) / mpf(2) ** (64 * TAIL_WORDS)

    def word(self) -> tuple[int, int]:
        number = 2 * (self.position - 4)
        self.position += 1
        return self._word(self.position - 1), number

    def uniform(self) -> mpf:
        return self._extended(*self.word()) / mpf(2) ** 64

    def half(self) -> mpf:
        if self.pending is None:
            word, number = self.word()
            self.pending = (word >> 32, number + 1)
            first, number = word & 0xFFFFFFFF, number
        else:
            (first, number), self.pending = self.pending, None
        return self._extended(first, number) / mpf(2) ** 32


class Ideal:
    """Rows of Dirichlet(scale * counts + prior) on the grid 2^-bits."""

    def __init__(self) -> None:
        area, widths, self.inner, heights = normal_table()
        self.area, self.widths, self.heights = mpf(area), [mpf(w) for w in widths], []
        self.attempts = self.accepted = 0
        with mp.workdps(DIGITS):
            height = mpf(0)
            for width in self.widths:
                self.heights.append(height)
                height += self.area / width
        assert len(heights) == len(self.heights) + 1

    def normal(self, bits: Uniforms) -> mpf | None:
        word, number = bits.word()
        layer, signed = word & 255, word >> 8
        signed -= (signed >> 55) << 56
        if layer == 255:
            r = self.widths[0]
            u = bits.uniform()
            x = r - mp.log(u) / r
            if bits.uniform() * self.area * r * u < mp.exp(-x * x / 2):
                return -x if signed < 0 else x
            return None
        x = bits._extended(signed, number) * self.widths[layer] / mpf(2) ** 55
        if -self.inner[layer] <= signed < self.inner[layer]:
            return x
        y = self.heights[layer] + bits.uniform() * self.area / self.widths[layer]
        return x if y < mp.exp(-x * x / 2) else None

    def gamma(self, bits: Uniforms, scale: float, count: float, prior: float) -> tuple[mpf, mpf]:
        """The gamma draw, and the logarithm of the factor of a boosted one."""
        near = scale * count + prior
        exact = mpf(scale) * mpf(count) + mpf(prior)
        boost = near < 1
        delta = (near + 1.0 if boost else near) - 1.0 / 3.0
        c = mpf((1.0 + 2.0**-20) / 3.0 / math.sqrt(delta))
        delta = mpf(delta)
        exponent = 3 * (exact + 1 if boost else exact) - 1
        while True:
            self.attempts += 1
            x = self.normal(bits)
            if x is None:
                continue
            t = 1 + c * x
            if t <= 0:
                continue
            if mp.log(bits.half()) < x * x / 2 + exponent * mp.log(t) - delta * (t**3 - 1) - mpf(2) ** -30:
                break
        self.accepted += 1
        return delta * t**3, mp.log(bits.uniform()) / exact if boost else mpf(0)

    def row(self, bits: Uniforms, counts, scale: float, prior, resolution_bits: int) -> list[int]:
        d = len(counts)
        draws = [self.gamma(bits, scale, count, weight) for count, weight in zip(counts, prior, strict=True)]
        top = max(log for _, log in draws)
        values = [value * mp.exp(log - top) for value, log in draws]
        total = mp.fsum(values)
        shared = 2**resolution_bits - d
        floors = [int(mp.floor(shared * value / total)) for value in values]
        # A share is strictly below one, even where 200 digits round it up.
        floors = [min(floor, shared - 1) for floor in floors]
        missing = shared - sum(floors)
        return [1 + f + missing * (i + 1) // d - missing * i // d for i, f in enumerate(floors)]

    def gammas(self, bits: Uniforms, counts, scale: float, prior, resolution_bits: int) -> list[int]:
        draws = [self.gamma(bits, scale, count, weight) for count, weight in zip(counts, prior, strict=True)]
        values = [value * mp.exp(log) * mpf(2) ** resolution_bits for value, log in draws]
        return [1 + min(int(mp.floor(value)), 2**63 - 1) for value in values]

    def rows(
        self, seed: int, call: int, counts, scale: float, prior, resolution_bits: int, kind: str = "row"
    ) -> NDArray[np.uint64]:
        """What a release with `SeededRng(seed)`, as its call number `call`, must return."""
        n_rows, d = counts.shape
        per_chunk = max(CHUNK_VALUES // d, 1)
        key, result = chacha20.child_key(seed, call), []
        with mp.workdps(DIGITS):
            for start in range(0, n_rows, per_chunk):
                bits = Uniforms(key, start // per_chunk)
                for row in counts[start : start + per_chunk].tolist():
                    result.append(getattr(self, kind)(bits, row, scale, prior.tolist(), resolution_bits))
        return np.array(result, dtype=np.uint64)
