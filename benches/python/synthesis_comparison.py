"""The table of docs/synthesis.md that compares synthesizers: ours, independent columns, and what peers drew.

    python -m benches.python.synthesis_comparison DATA_FOLDER RESULTS_FOLDER [--data NAME ...] [--seeds N] [--write]
        [--again]

RESULTS_FOLDER is what `synthesis_peers` wrote; a peer has one run, ours and independent columns are means of N seeds.
Distances are those of as many synthetic records as there are real ones, for add_remove and delta = 1e-6. Seconds are
processor time of one core for everything, from codes to records. What was computed before is kept beside the results,
so that the work can be done in pieces; and a row of docs/synthesis.csv that RESULTS_FOLDER says nothing of stays as it
is, with the day on which it was computed, unless `--again` is given. `--write` puts the tables of these data sets into
docs/synthesis.md and docs/synthesis.csv, and leaves those of others alone.
"""

import argparse
import csv
import datetime
import json
import os
import time
import warnings
from functools import partial
from itertools import combinations
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from benches.python.synthesis_data import COMPARED, WIDEST, coded
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


def day_of(path):
    """Return the day on which a file was written."""
    return datetime.date.fromtimestamp(path.stat().st_mtime).isoformat()


def known_rows():
    """Return what docs/synthesis.csv says, by data set, epsilon and synthesizer."""
    found = {}
    with (DOCS / "synthesis.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            epsilon = float(row["epsilon"]) if row["epsilon"] else ""
            values = row["remark"] or [float(row[name]) for name in COLUMNS if row[name]]
            found[row["data"], epsilon, row["synthesizer"]] = int(row["runs"]), values, row["day"]
    return found


def workloads(sizes, numeric, n_records):
    """Return the workload of each row of ours."""
    named, last = dict(OURS), len(sizes) - 1
    if n_records < NOT_MANY:
        named[WEIGHED] = {pair: CLASS_WEIGHT if last in pair else 1.0 for pair in combinations(range(len(sizes)), 2)}
    if n_records < FEW:
        named[TOLD] = [*((column, last) for column in range(last)), *combinations(numeric, 2)]
    return named


def rows(given, data, known):
    """Yield the rows of a data set: epsilon, synthesizer, runs, numbers or why there are none, and the day."""
    records, sizes, numeric = coded(given.folder, data)

    def of(epsilon, name, runs):
        """Return the mean over runs, each a path and what it is computed by, or what is known where none was begun."""
        if (data, epsilon, name) in known and not any(path.exists() for path in runs):
            return epsilon, name, *known[data, epsilon, name]
        values = [kept(path, compute) for path, compute in runs.items()]
        return epsilon, name, len(runs), np.mean(values, axis=0).tolist(), max(map(day_of, runs))

    def resampled():
        picked = records[np.random.default_rng(0).integers(len(records), size=len(records))]
        return quality(records, picked, sizes, numeric, classifier=False)

    yield of("", "real records, resampled", {given.results / f"{data}-truth.row": resampled})
    for epsilon in given.epsilon:
        for name, workload in workloads(sizes, numeric, len(records)).items():
            runs = {
                place(given.results, data, epsilon, f"{name} {seed}", ".row"): partial(
                    ours, records, sizes, numeric, epsilon, workload, seed
                )
                for seed in range(given.seeds)
            }
            yield of(epsilon, name, runs)
        for name in PEERS:
            drawn, reason, path = (
                place(given.results, data, epsilon, name, suffix) for suffix in (".npz", ".json", ".row")
            )

            def of_peer(drawn=drawn):
                with np.load(drawn) as run:
                    return [*quality(records, run["records"], sizes, numeric), run["seconds"]]

            if reason.exists():
                yield epsilon, name, 1, json.loads(reason.read_text()), day_of(reason)
                continue
            if drawn.exists():
                kept(path, of_peer)
            if path.exists() or (data, epsilon, name) in known:
                yield of(epsilon, name, {path: of_peer})


def line(epsilon, name, values):
    """Return a line of the table."""
    name = f"{epsilon:g}: {name}" if epsilon else name
    if isinstance(values, str):
        return f"| {name} | {values} |" + " |" * (len(COLUMNS) - 1) + "\n"
    seconds = "" if len(values) < len(COLUMNS) else f"{values[8]:.2f}" if values[8] < 10 else f"{values[8]:.0f}"
    cells = [*(f"{value:.4f}" for value in values[:3]), *(f"{value:.3f}" for value in values[3:8]), seconds]
    return "| " + " | ".join([name, *cells]) + " |\n"


def write(tables, lines):
    """Put the tables of some data sets, and their lines as fields, in place of those in the docs or after them."""
    page, listed = DOCS / "synthesis.md", DOCS / "synthesis.csv"
    before, rest = page.read_text().split(BEGIN)
    there, after = rest.split(END, 1)
    blocks = [block.strip() + "\n" for block in there.split("\n\n") if block.strip()]
    every = {block.split(" | ", 1)[0].removeprefix("| "): block for block in blocks} | tables
    with listed.open(newline="") as file:
        header, *others = csv.reader(file)
    lines = [*(fields for fields in others if fields[0] not in tables), *lines]
    lines.sort(key=lambda fields: list(every).index(fields[0]))
    page.write_text(before + BEGIN + "\n" + "\n".join(every.values()) + "\n" + END + after)
    with listed.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *lines])


def main():
    """Print one table for each data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--data", nargs="+", default=[*COMPARED, *WIDEST])
    parser.add_argument("--epsilon", nargs="+", type=float, default=[0.1, 1.0, 3.0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--again", action="store_true", help="compute ours again, and forget peers that are not there")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    tables, lines = {}, []
    known = {} if given.again else known_rows()
    for data in given.data:
        table = f"| {data} | {' | '.join(COLUMNS)} |\n|{' --- |' * (len(COLUMNS) + 1)}\n"
        for epsilon, name, runs, values, day in rows(given, data, known):
            table += line(epsilon, name, values)
            reason = isinstance(values, str)
            numbers = [] if reason else [f"{value:.5g}" for value in values]
            numbers += [""] * (len(COLUMNS) - len(numbers))
            lines.append([data, epsilon, name, runs, *numbers, values if reason else "", day])
        print(table, flush=True)
        tables[data] = table
    if given.write:
        write(tables, lines)


if __name__ == "__main__":
    main()
