"""The ideal draw of docs/exactness.md, in mpmath at 200 digits, from the same bits as a release.

Nothing is decided by doubles and nothing is squeezed: every uniform has 64 (or 32) bits of the main stream and 640
of its own stream, every acceptance is evaluated, and the grid comes last. Doubles appear only where the definition
names them.
"""

import importlib.util
import math
import sys
from fractions import Fraction
from pathlib import Path

import chacha20
import numpy as np
from mpmath import mp, mpf
from numpy.typing import NDArray

DIGITS = 200
TAIL_WORDS = 10
CHUNK_VALUES = 1 << 13
BATCH = 1 << 10


def proposal_tables():
    """The constants of the normal and the exponential, computed by the script that prints the Rust tables."""
    path = Path(__file__).parents[2] / "rust" / "core" / "tables" / "proposals.py"
    spec = importlib.util.spec_from_file_location("proposals", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["proposals"] = module
    spec.loader.exec_module(module)
    return module.table(module.NORMAL), module.table(module.EXPONENTIAL)


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

    def words(self, n: int) -> list[tuple[int, int]]:
        return [self.word() for _ in range(n)]

    def halves(self, n: int) -> list[tuple[int, int]]:
        """The halves of so many words, the lower one first."""
        words = self.words(n)
        return [half for word, number in words for half in ((word & 0xFFFFFFFF, number), (word >> 32, number + 1))]

    def uniform(self) -> mpf:
        return self.whole(*self.word())

    def whole(self, word: int, number: int) -> mpf:
        return self._extended(word, number) / mpf(2) ** 64

    def half(self) -> tuple[int, int]:
        if self.pending is None:
            now, self.pending = self.halves(1)
        else:
            now, self.pending = self.pending, None
        return now

    def of_half(self, half: int, number: int) -> mpf:
        return self._extended(half, number) / mpf(2) ** 32


class Proposal:
    """A stack of rectangles, with its heights as 200 digits."""

    def __init__(self, table) -> None:
        area, widths, self.inner, heights = table
        self.area, self.widths, self.heights = mpf(area), [mpf(w) for w in widths], []
        with mp.workdps(DIGITS):
            height = mpf(0)
            for width in self.widths:
                self.heights.append(height)
                height += self.area / width
        assert len(heights) == len(self.heights) + 1

    def height(self, layer: int, v: mpf) -> mpf:
        return self.heights[layer] + v * self.area / self.widths[layer]


class Ideal:
    """Rows of Dirichlet(scale * counts + prior) on the grid 2^-bits."""

    def __init__(self) -> None:
        self.normals, self.exponentials = (Proposal(table) for table in proposal_tables())
        self.attempts = self.accepted = 0

    def normal(self, bits: Uniforms, word: int, number: int) -> mpf | None:
        table = self.normals
        layer, signed = word & 255, (word >> 12) - 2**51
        if layer == 255:
            r = table.widths[0]
            u = bits.uniform()
            x = r - mp.log(u) / r
            if bits.uniform() * table.area * r * u < mp.exp(-x * x / 2):
                return -x if signed < 0 else x
            return None
        x = bits._extended(signed, number) * table.widths[layer] / mpf(2) ** 51
        if -table.inner[layer] <= signed < table.inner[layer]:
            return x
        return x if table.height(layer, bits.uniform()) < mp.exp(-x * x / 2) else None

    def exponential(self, bits: Uniforms, first: tuple[int, int]) -> mpf:
        table, beyond = self.exponentials, mpf(0)
        word, number = first
        while True:
            self.attempts += 1
            layer, place = word & 255, word >> 12
            position = bits._extended(place, number) / mpf(2) ** 52
            if layer == 255:
                beyond += table.widths[0] if position * table.area < mp.exp(-table.widths[0]) else 0
            else:
                x = position * table.widths[layer]
                if place < table.inner[layer] or table.height(layer, bits.uniform()) < mp.exp(-x):
                    self.accepted += 1
                    return beyond + x
            word, number = bits.word()

    def gamma(
        self, bits: Uniforms, scale: float, count: float, prior: float, first: tuple[int, int], half: tuple[int, int]
    ) -> mpf:
        """The gamma draw, before its power."""
        near = scale * count + prior
        exact = mpf(scale) * mpf(count) + mpf(prior)
        boost = near < 1
        delta = (near + 1.0 if boost else near) - 1.0 / 3.0
        c = mpf((1.0 + 2.0**-20) / 3.0 / math.sqrt(delta))
        delta = mpf(delta)
        exponent = 3 * (exact + 1 if boost else exact) - 1
        word, half_left = first, half
        while True:
            self.attempts += 1
            x = self.normal(bits, *word)
            if x is not None and (t := 1 + c * x) > 0:
                u, half_left = bits.of_half(*(half_left or bits.half())), None
                if mp.log(u) < x * x / 2 + exponent * mp.log(t) - delta * (t**3 - 1) - mpf(2) ** -30:
                    break
            word = bits.word()
        self.accepted += 1
        return delta * t**3

    def draws(self, bits: Uniforms, counts, scale: float, prior) -> list[tuple[mpf, mpf]]:
        """Each entry's variate, and the logarithm of the factor of a boosted one."""
        entries = list(zip(counts, prior, strict=True))
        n = len(entries)
        ones = [Fraction(scale) * Fraction(count) + Fraction(weight) == 1 for count, weight in entries]
        boosted = [scale * count + weight < 1 for count, weight in entries]
        words = bits.words(n)
        halves = [(0, 0)] * n if all(ones) else bits.halves(-(-n // 2))
        powers = bits.words(n) if any(boosted) else [(0, 0)] * n
        result = []
        for i, (count, weight) in enumerate(entries):
            if ones[i]:
                value = self.exponential(bits, words[i])
            else:
                value = self.gamma(bits, scale, count, weight, words[i], halves[i])
            exact = mpf(scale) * mpf(count) + mpf(weight)
            result.append((value, mp.log(bits.whole(*powers[i])) / exact if boosted[i] else mpf(0)))
        return result

    def row(self, bits: Uniforms, counts, scale: float, prior, resolution_bits: int) -> list[int]:
        d = len(counts)
        draws = self.draws(bits, counts, scale, prior)
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
        draws = self.draws(bits, counts, scale, prior)
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
