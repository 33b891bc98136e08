"""How close synthetic records are to real ones: mean total variation distances, beside independent columns.

    python -m benches.python.synthesis_table DIR [SEEDS]

DIR holds the data sets as gzip-compressed CSV with a header; see `synthesis_data` for their bins. Every number is a
mean over seeds, for add_remove, delta = 1e-6; time is that of one core for fit and records, counting included.
"""

import itertools
import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from benches.python.synthesis_data import NAMES, coded

from simplexdp.models import PrivateSynthesizer
from simplexdp.testing import SeededRng


def tables(records, sizes, order):
    """Return the shares of every combination of so many columns."""
    for group in itertools.combinations(range(len(sizes)), order):
        shape = [sizes[column] for column in group]
        cells = np.ravel_multi_index([records[:, column] for column in group], shape)
        yield np.bincount(cells, minlength=int(np.prod(shape))) / len(records)


def distances(true, records, sizes, order):
    """Return the total variation distance of each table."""
    return np.array([0.5 * np.abs(p - q).sum() for p, q in zip(true, tables(records, sizes, order), strict=True)])


def measured(records, sizes, true, epsilon, seed, workload):
    """Return mean and largest distance of pairs, mean of one-way tables, and seconds."""
    begin = time.process_time()
    model = PrivateSynthesizer(
        epsilon, 1e-6, domains=dict(enumerate(sizes)), workload=workload, random_state=SeededRng(seed)
    ).fit(records)
    synthetic = model.sample(len(records), random_state=SeededRng(seed + 1000))
    seconds = time.process_time() - begin
    pairs = distances(true[2], synthetic, sizes, 2)
    return pairs.mean(), pairs.max(), distances(true[1], synthetic, sizes, 1).mean(), seconds


def main(folder, seeds):
    """Print one row for each data set and epsilon."""
    warnings.simplefilter("ignore")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    print("| data | epsilon | pairs | largest pair | one-way | seconds | independent: pairs | one-way |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in NAMES:
        path = Path(folder) / f"{name}.csv.gz"
        if not path.exists():
            continue
        records, sizes, _ = coded(Path(folder), name)
        true = {order: list(tables(records, sizes, order)) for order in (1, 2)}
        for epsilon in (0.1, 1.0, 3.0):
            runs = [measured(records, sizes, true, epsilon, seed, None) for seed in range(seeds)]
            alone = [measured(records, sizes, true, epsilon, seed, ()) for seed in range(seeds)]
            pairs, largest, one_way, seconds = np.mean(runs, axis=0)
            beside = np.mean(alone, axis=0)
            print(
                f"| {name} | {epsilon:g} | {pairs:.4f} | {largest:.4f} | {one_way:.4f} | {seconds:.2f} "
                f"| {beside[0]:.4f} | {beside[2]:.4f} |",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5)
