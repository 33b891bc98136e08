"""Contingency tables against numpy.bincount, time per row."""

import numpy as np
from benches.python.timing import compare, report

from simplexdp import _core

ROWS = 2 * 10**6


def run() -> int:
    rng = np.random.default_rng(1)
    shape = (10, 7, 2)
    columns = [rng.integers(0, size, ROWS, dtype=np.int8) for size in shape]
    ravelled = np.ravel_multi_index([column.astype(np.int64) for column in columns], shape)
    cells = int(np.prod(shape))

    def ravel_and_bincount():
        return np.bincount(np.ravel_multi_index(columns, shape), minlength=cells)

    cases = [
        ("three int8 columns", columns, shape, lambda: np.bincount(ravelled, minlength=cells), "ravelled", 1),
        ("three int8 columns", columns, shape, ravel_and_bincount, "ravel and bincount", 1),
        ("one int64 column", [ravelled], (cells,), lambda: np.bincount(ravelled, minlength=cells), "bincount", 1),
        ("one int8 column", columns[:1], shape[:1], lambda: np.bincount(columns[0], minlength=10), "bincount", 1),
    ]
    missed = 0
    for label, ours, sizes, peer, name, required in cases:
        comparison = compare(
            lambda c=ours, s=sizes: _core.count_table(c, s), peer, our_work=ROWS, peer_work=ROWS, rounds=15
        )
        missed += report(label, comparison, peer=name, required=required)
    return missed
