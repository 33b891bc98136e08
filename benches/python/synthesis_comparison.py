"""The table of docs/synthesis.md that compares synthesizers: ours, independent columns, and what peers drew.

    python -m benches.python.synthesis_comparison DATA_FOLDER RESULTS_FOLDER [--data NAME ...] [--seeds N] [--write]

RESULTS_FOLDER is what `synthesis_peers` wrote; a peer has one run, ours and independent columns are means of N seeds.
Distances are those of as many synthetic records as there are real ones, for add_remove and delta = 1e-6. Seconds are
processor time of one core for everything, from codes to records. What was computed before is kept beside the results,
so that the work can be done in pieces. `--write` puts the tables into docs/synthesis.md, and docs/synthesis.csv.
"""

import argparse
import csv
import io
import json
import os
import time
import warnings
from itertools import combinations
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from benches.python.synthesis_data import COMPARED, coded
from benches.python.synthesis_peers import PEERS, place
from benches.python.synthesis_quality import quality

from simplexdp.models import PrivateSynthesizer
from simplexdp.testing import SeededRng

COLUMNS = ("pairs", "largest", "one-way", "three-way", "five-way", "correlations", "accuracy", "AUC", "seconds")
OURS = {"simplexdp": None, "independent columns": ()}
"""Workloads: all pairs, or none."""

TOLD = "simplexdp, told the pairs"
"""Of few records: pairs with the class, and of columns of numbers, alone."""

FEW = 5000

WEIGHED = "simplexdp, class weighed"
"""Of not too many records: all pairs, those with the class with this weight."""

CLASS_WEIGHT = 20.0
NOT_MANY = 20_000

DOCS = Path(__file__).parents[2] / "docs"
BEGIN, END = "<!-- begin: python -m benches.python.synthesis_comparison -->\n", "<!-- end -->\n"


def ours(records, sizes, numeric, epsilon, workload, seed):
    """Return a row of one seed."""
    begin = time.process_time()
    model = PrivateSynthesizer(
        epsilon, 1e-6, domains=dict(enumerate(sizes)), workload=workload, random_state=SeededRng(seed)
    ).fit(records)
    synthetic = model.sample(len(records), random_state=SeededRng(seed + 1000))
    seconds = time.process_time() - begin
    return [*quality(records, synthetic, sizes, numeric), seconds]


def kept(path, compute):
    """Return what a file says, or compute and write it."""
    if not path.exists():
        path.write_text(json.dumps([float(value) for value in compute()]))
    return json.loads(path.read_text())


def rows(given, data):
    """Yield the rows of a data set: epsilon, synthesizer, number of runs, and numbers or why there are none."""
    records, sizes, numeric = coded(given.folder, data)
    resampled = records[np.random.default_rng(0).integers(len(records), size=len(records))]
    path = given.results / f"{data}-truth.row"
    truth = kept(path, lambda: quality(records, resampled, sizes, numeric, classifier=False))
    yield "", "real records, resampled", 1, truth
    for epsilon in given.epsilon:
        named = dict(OURS)
        last = len(sizes) - 1
        if len(records) < NOT_MANY:
            pairs = combinations(range(len(sizes)), 2)
            named[WEIGHED] = {pair: CLASS_WEIGHT if last in pair else 1.0 for pair in pairs}
        if len(records) < FEW:
            named[TOLD] = [*((column, last) for column in range(last)), *combinations(numeric, 2)]
        for name, workload in named.items():
            runs = [
                kept(
                    place(given.results, data, epsilon, f"{name} {seed}", ".row"),
                    lambda: ours(records, sizes, numeric, epsilon, workload, seed),  # noqa: B023
                )
                for seed in range(given.seeds)
            ]
            yield epsilon, name, given.seeds, np.mean(runs, axis=0).tolist()
        for name in PEERS:
            drawn, reason, known = (
                place(given.results, data, epsilon, name, suffix) for suffix in (".npz", ".json", ".row")
            )
            if drawn.exists() or known.exists():

                def of_peer(found=drawn):
                    with np.load(found) as run:
                        return [*quality(records, run["records"], sizes, numeric), run["seconds"]]

                yield epsilon, name, 1, kept(known, of_peer)
            elif reason.exists():
                yield epsilon, name, 1, json.loads(reason.read_text())


def line(epsilon, name, values):
    """Return a line of the table."""
    name = f"{epsilon:g}: {name}" if epsilon else name
    if isinstance(values, str):
        return f"| {name} | {values} |" + " |" * (len(COLUMNS) - 1) + "\n"
    seconds = "" if len(values) < len(COLUMNS) else f"{values[8]:.2f}" if values[8] < 10 else f"{values[8]:.0f}"
    cells = [*(f"{value:.4f}" for value in values[:3]), *(f"{value:.3f}" for value in values[3:8]), seconds]
    return "| " + " | ".join([name, *cells]) + " |\n"


def main():
    """Print one table for each data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--data", nargs="+", default=list(COMPARED))
    parser.add_argument("--epsilon", nargs="+", type=float, default=[0.1, 1.0, 3.0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    tables, listed = [], io.StringIO()
    writer = csv.writer(listed, lineterminator="\n")
    writer.writerow(["data", "epsilon", "synthesizer", "runs", *COLUMNS, "remark"])
    for data in given.data:
        table = f"| {data} | {' | '.join(COLUMNS)} |\n|{' --- |' * (len(COLUMNS) + 1)}\n"
        for epsilon, name, runs, values in rows(given, data):
            table += line(epsilon, name, values)
            numbers = [""] * len(COLUMNS) if isinstance(values, str) else [f"{value:.5g}" for value in values]
            numbers += [""] * (len(COLUMNS) - len(numbers))
            writer.writerow([data, epsilon, name, runs, *numbers, values if isinstance(values, str) else ""])
        print(table, flush=True)
        tables.append(table)
    if given.write:
        page = DOCS / "synthesis.md"
        before, rest = page.read_text().split(BEGIN)
        page.write_text(before + BEGIN + "\n" + "\n".join(tables) + "\n" + END + rest.split(END, 1)[1])
        (DOCS / "synthesis.csv").write_text(listed.getvalue())


if __name__ == "__main__":
    main()
