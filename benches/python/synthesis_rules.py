"""Rules that everyone knows, kept by how a table is given: what they do to the tables of Adult's synthetic records.

    python -m benches.python.synthesis_rules DATA_FOLDER [--seeds N]

Education determines its number, and of marital status and relationship not every combination is possible. (Which are
is read off the data here; who releases takes it from the codebook.) Four ways: the records as they are drawn; three
times as many, of which those against a rule are dropped; the determined column left out, and put back afterwards;
beside that one column of the possible combinations, split afterwards. All 105 pairs of Adult are looked at either way.
"""

import argparse
import csv
import gzip
import os
import warnings
from functools import partial
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from benches.python.synthesis_data import coded
from benches.python.synthesis_quality import distances

from simplexdp.models import PrivateSynthesizer
from simplexdp.testing import SeededRng


class Rules:
    """Adult, and which combinations of two pairs of its columns are possible."""

    def __init__(self, folder):
        self.records, self.sizes, _ = coded(folder, "adult")
        with gzip.open(folder / "adult.csv.gz", "rt", encoding="utf-8") as file:
            names = next(csv.reader(file))
        self.determines, self.number, *self.two = map(
            names.index, ("education", "education-num", "marital-status", "relationship")
        )
        numbers = self._possible(self.determines, self.number)
        assert np.all(numbers.sum(axis=1) == 1)
        self.number_of = numbers.argmax(axis=1)
        self.combinations = np.argwhere(self._possible(*self.two))

    def _possible(self, first, second):
        table = np.zeros((self.sizes[first], self.sizes[second]), dtype=bool)
        table[self.records[:, first], self.records[:, second]] = True
        return table

    def kept_by(self, records):
        """Return which records keep both rules."""
        of_two = {tuple(pair) for pair in self.combinations.tolist()}
        possible = [pair in of_two for pair in map(tuple, records[:, self.two].tolist())]
        return np.array(possible) & (self.number_of[records[:, self.determines]] == records[:, self.number])

    def drawn(self, epsilon, seed, records=None, sizes=None, times=1):
        """Return synthetic records of a table."""
        records, sizes = (self.records, self.sizes) if records is None else (records, sizes)
        model = PrivateSynthesizer(epsilon, 1e-6, domains=dict(enumerate(sizes)), random_state=SeededRng(seed))
        return model.fit(records).sample(times * len(records), random_state=SeededRng(seed + 1000))

    def dropped(self, epsilon, seed):
        """Return as many records that keep the rules, of three times as many."""
        drawn = self.drawn(epsilon, seed, times=3)
        return drawn[self.kept_by(drawn)][: len(self.records)]

    def without(self, epsilon, seed, *, as_one):
        """Return records of the other columns, with the number put back; two columns as one of combinations if so."""
        gone = [self.number, *(self.two if as_one else ())]
        rest = [column for column in range(len(self.sizes)) if column not in gone]
        given, sizes = self.records[:, rest], [self.sizes[column] for column in rest]
        if as_one:
            code = {tuple(pair): at for at, pair in enumerate(self.combinations.tolist())}
            both = [code[pair] for pair in map(tuple, self.records[:, self.two].tolist())]
            given, sizes = np.column_stack([given, both]), [*sizes, len(code)]
        drawn = self.drawn(epsilon, seed, given, sizes)
        found = np.empty((len(drawn), len(self.sizes)), dtype=int)
        found[:, rest] = drawn[:, : len(rest)]
        if as_one:
            found[:, self.two] = self.combinations[drawn[:, -1]]
        found[:, self.number] = self.number_of[found[:, self.determines]]
        return found


def main():
    """Print one row for each epsilon and way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    rules = Rules(given.folder)
    ways = {
        "as they are": rules.drawn,
        "those against a rule dropped": rules.dropped,
        "the determined column left out": partial(rules.without, as_one=False),
        "and two columns as one": partial(rules.without, as_one=True),
    }
    print("| epsilon | records | against a rule | pairs | largest | one-way | three-way |\n|" + " --- |" * 7)
    for epsilon in (0.1, 1.0, 3.0):
        for name, way in ways.items():
            found = []
            for seed in range(given.seeds):
                drawn = way(epsilon, seed)
                one, two, three = (distances(rules.records, drawn, rules.sizes, order) for order in (1, 2, 3))
                against = 1 - rules.kept_by(drawn).mean()
                found.append([100 * against, two.mean(), two.max(), one.mean(), three.mean()])
            against, *rest = np.mean(found, axis=0)
            cells = [f"{epsilon:g}", name, f"{against:.1f} %", *(f"{value:.4f}" for value in rest)]
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
