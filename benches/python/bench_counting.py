"""Contingency tables against numpy.bincount, time per row."""

import numpy as np
from benches.python.timing import compare, report

from simplexdp.frames import count_table

ROWS = 2 * 10**6
CACHED_ROWS = 50_000
TYPES = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64)


def counted(columns, shape):
    """Count as users do."""
    names = "abc"[: len(shape)]
    return count_table(dict(zip(names, columns, strict=True)), list(names), dict(zip(names, shape, strict=True)))


def run() -> int:
    rng = np.random.default_rng(1)
    shape = (10, 7, 2)
    columns = [rng.integers(0, size, ROWS, dtype=np.int8) for size in shape]
    ravelled = np.ravel_multi_index([column.astype(np.int64) for column in columns], shape)
    cells = int(np.prod(shape))

    def bincount():
        return np.bincount(ravelled, minlength=cells)

    def ravel_and_bincount():
        return np.bincount(np.ravel_multi_index(columns, shape), minlength=cells)

    cases = [
        ("three int8 columns", lambda: counted(columns, shape), bincount, "ravelled"),
        ("three int8 columns", lambda: counted(columns, shape), ravel_and_bincount, "ravel, bincount"),
    ]
    cases += [case for kind in (np.int32, np.int64) for case in wide_columns(columns, shape, kind)]
    for kind in TYPES:
        for levels in (10, 127, 10**5):
            if levels > np.iinfo(kind).max:
                continue
            codes = rng.integers(0, levels, ROWS, dtype=kind)
            # Peer: bincount of what it takes without a conversion.
            wide = codes.astype(np.int64)
            cases.append(
                (
                    f"one {kind.__name__} column, {levels} levels",
                    lambda c=codes, k=levels: counted([c], [k]),
                    lambda c=wide, k=levels: np.bincount(c, minlength=k),
                    "bincount of int64",
                )
            )
    skewed = np.where(rng.random(ROWS) < 0.99, 0, ravelled)
    runs = np.sort(ravelled)
    for label, codes in (("mostly zeros", skewed), ("sorted", runs)):
        cases.append(
            (
                f"one int64 column, {label}",
                lambda c=codes: counted([c], [cells]),
                lambda c=codes: np.bincount(c, minlength=cells),
                "bincount",
            )
        )
    missed = 0
    for label, ours, peer, name in cases:
        comparison = compare(ours, peer, our_work=ROWS, peer_work=ROWS, rounds=40)
        # Three columns of eight bytes bring three times the bytes from memory that bincount reads: this bounds them.
        from_memory = label == "three int64 columns" and name == "ravelled"
        missed += report(label, comparison, peer=name, required=None if from_memory else 1)
    return missed


def wide_columns(columns, shape, kind):
    """Cases for columns of this type, from memory and, as many rows as Adult has, from the cache."""
    cells = int(np.prod(shape))
    for rows, where in ((ROWS, ""), (CACHED_ROWS, f", {CACHED_ROWS:,} rows")):
        repeats = ROWS // rows
        wide = [column[:rows].astype(kind) for column in columns]
        ravelled = np.ravel_multi_index([column.astype(np.int64) for column in wide], shape)
        label = f"three {kind.__name__} columns{where}"

        def ours(wide=wide, repeats=repeats):
            for _ in range(repeats):
                counted(wide, shape)

        def bincount(ravelled=ravelled, repeats=repeats):
            for _ in range(repeats):
                np.bincount(ravelled, minlength=cells)

        def ravel_and_bincount(wide=wide, repeats=repeats):
            for _ in range(repeats):
                np.bincount(np.ravel_multi_index(wide, shape), minlength=cells)

        yield label, ours, bincount, "ravelled"
        yield label, ours, ravel_and_bincount, "ravel, bincount"
