"""Whether a share of the budget for tables of three columns would make synthetic records better.

    python -m benches.python.synthesis_triples DATA_FOLDER [NAME ...] [--epsilon E ...] [--seeds N]

The pairs get what is left of mu^2, a fit is made of them as always, and twice as many records as there are are drawn.
Those triples are chosen whose tables are further off than their noise, by the real records and for free, which no
private choice is. Their tables get Gaussian noise, are drawn towards those of the fit by how much of them is noise
[JS61], and the records are weighed by iterative proportional fitting of them and of all pairs of the fit. What is
printed are mean total variation distances of all pairs and of all triples, and of those chosen before and after.
"""

import argparse
import os
import warnings
from itertools import combinations
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from benches.python.synthesis_data import coded

from simplexdp import GaussianMechanism
from simplexdp.accounting import PrivacyCurve
from simplexdp.models import PrivateSynthesizer
from simplexdp.testing import SeededRng

DELTA = 1e-6
ROUNDS = 6


class Tables:
    """Tables of weighted records."""

    def __init__(self, sizes):
        """Remember the number of levels of each column."""
        self.sizes = sizes

    def places(self, records, group):
        """Return the cell of each record."""
        shape = [self.sizes[column] for column in group]
        return np.ravel_multi_index([records[:, column] for column in group], shape)

    def of(self, records, weights, group):
        """Return a table."""
        n_cells = int(np.prod([self.sizes[column] for column in group]))
        return np.bincount(self.places(records, group), weights=weights, minlength=n_cells)


def apart(real, tables, records, weights):
    """Return the distance of each table."""
    return {group: 0.5 * np.abs(tables.of(records, weights, group) - table).sum() for group, table in real.items()}


def mean(distances, order):
    """Return the mean distance of the tables of so many columns."""
    return np.mean([value for group, value in distances.items() if len(group) == order])


def run(records, sizes, mu, share, numbers, seed):
    """Return for each number of triples pairs, triples, those chosen before and after; first without any."""
    n, tables, rng = len(records), Tables(sizes), np.random.default_rng(seed)
    groups = [group for order in (2, 3) for group in combinations(range(len(sizes)), order)]
    real = {group: tables.of(records, np.full(n, 1 / n), group) for group in groups}
    epsilon = float(PrivacyCurve.gaussian(sigma=1.0, sensitivity=mu * np.sqrt(1 - share)).epsilon(DELTA))
    model = PrivateSynthesizer(epsilon, DELTA, domains=dict(enumerate(sizes)), random_state=SeededRng(seed))
    drawn = model.fit(records).sample(2 * n, random_state=SeededRng(seed + 1000)).astype(np.int64)
    alike = np.full(len(drawn), 1 / len(drawn))
    before = apart(real, tables, drawn, alike)
    found = {0: (mean(before, 2), mean(before, 3), np.nan, np.nan)}
    for number in numbers if share else ():
        sigma = np.sqrt(number / share) / mu / n
        gain = {g: before[g] - 0.5 * np.sqrt(2 / np.pi) * sigma * len(real[g]) for g in groups if len(g) == 3}
        chosen = sorted(gain, key=gain.get, reverse=True)[:number]
        goals = {}
        for group in chosen:
            fitted = tables.of(drawn, alike, group)
            off = real[group] + sigma * rng.standard_normal(len(fitted)) - fitted
            goal = np.maximum(fitted + max(0.0, 1 - len(off) * sigma**2 / (off @ off)) * off, 0)
            goals[group] = goal / goal.sum()
        goals |= {group: tables.of(drawn, alike, group) for group in groups if len(group) == 2}
        weights = alike.copy()
        for _ in range(ROUNDS):
            for group, goal in goals.items():
                now = tables.of(drawn, weights, group)
                weights *= np.divide(goal, now, out=np.ones_like(goal), where=now > 0)[tables.places(drawn, group)]
                weights /= weights.sum()
        after = apart(real, tables, drawn, weights)
        both = (np.mean([distances[group] for group in chosen]) for distances in (before, after))
        found[number] = (mean(after, 2), mean(after, 3), *both)
    return found


def main():
    """Print one row for each data set, epsilon, share and number of triples."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", default=["adult", "shopper"])
    parser.add_argument("--epsilon", nargs="+", type=float, default=[1.0, 3.0])
    parser.add_argument("--shares", nargs="+", type=float, default=[0.0, 0.1, 0.25])
    parser.add_argument("--triples", nargs="+", type=int, default=[10, 40])
    parser.add_argument("--seeds", type=int, default=2)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| data | epsilon | share | triples | pairs | three-way | chosen, before | after |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in given.names:
        records, sizes, _ = coded(given.folder, name)
        records = records.astype(np.int64)
        for epsilon in given.epsilon:
            mu = 1 / GaussianMechanism.calibrated(epsilon=epsilon, delta=DELTA, sensitivity=1.0).sigma
            for share in given.shares:
                runs = [run(records, sizes, mu, share, given.triples, seed) for seed in range(given.seeds)]
                for number in runs[0]:
                    if share == 0 or number:
                        values = np.mean([found[number] for found in runs], axis=0)
                        cells = "".join(f" {value:.4f} |" if value == value else " |" for value in values)
                        print(f"| {name} | {epsilon:g} | {share:g} | {number or 'none'} |{cells}", flush=True)


if __name__ == "__main__":
    main()
