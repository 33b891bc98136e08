"""How close synthetic records are to real ones: mean total variation distances, beside independent columns.

    python -m benches.python.synthesis_table DATA_FOLDER [NAME ...] [--epsilon E ...] [--seeds N]

See `synthesis_data` for the data sets and their bins; by default those that no constant of the library was chosen with.
Every number is a mean over seeds, for add_remove, delta = 1e-6; time is that of one core for fit and records, counting
included.
"""

import argparse
import os
import time
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from benches.python.synthesis_data import UNSEEN, coded
from benches.python.synthesis_quality import distances

from simplexdp.models import PrivateSynthesizer
from simplexdp.testing import SeededRng


def measured(records, sizes, epsilon, seed, workload):
    """Return mean and largest distance of pairs, mean of one-way tables, and seconds."""
    begin = time.process_time()
    model = PrivateSynthesizer(
        epsilon, 1e-6, domains=dict(enumerate(sizes)), workload=workload, random_state=SeededRng(seed)
    ).fit(records)
    synthetic = model.sample(len(records), random_state=SeededRng(seed + 1000))
    seconds = time.process_time() - begin
    pairs = distances(records, synthetic, sizes, 2)
    return pairs.mean(), pairs.max(), distances(records, synthetic, sizes, 1).mean(), seconds


def main():
    """Print one row for each data set and epsilon."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", default=list(UNSEEN))
    parser.add_argument("--epsilon", nargs="+", type=float, default=[0.1, 0.3, 1.0, 3.0])
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| data | epsilon | pairs | largest pair | one-way | seconds | independent: pairs | one-way |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in given.names:
        records, sizes, _ = coded(given.folder, name)
        for epsilon in given.epsilon:
            ours, alone = (
                np.mean([measured(records, sizes, epsilon, seed, workload) for seed in range(given.seeds)], axis=0)
                for workload in (None, ())
            )
            print(
                f"| {name} | {epsilon:g} | {ours[0]:.4f} | {ours[1]:.4f} | {ours[2]:.4f} | {ours[3]:.2f} "
                f"| {alone[0]:.4f} | {alone[2]:.4f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
