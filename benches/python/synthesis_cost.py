"""What a synthesizer costs: seconds and memory of large and of wide tables, each row in a process of its own.

    python -m benches.python.synthesis_cost [ROW ...] [--scale FRACTION]

Rows are those of `ROWS`; all of them without an argument. Seconds are processor time of the process and its children,
from the frame as it is on disk or in memory to the end of what the row says; memory is the most that the process held
beyond what it held before; of Spark what its Java process holds at most is added. `--scale` takes a part of the rows.
"""

import argparse
import contextlib
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

LONG, COLUMNS = 10_000_000, 15
ROWS = {
    "polars": f"{LONG:,} rows x {COLUMNS} columns, counted from Polars",
    "polars-lazy": f"{LONG:,} rows x {COLUMNS} columns, counted from a Parquet file by Polars",
    "duckdb": f"{LONG:,} rows x {COLUMNS} columns, counted from a Parquet file by DuckDB",
    "spark": f"{LONG:,} rows x {COLUMNS} columns, counted from a Parquet file by Spark local",
    "50": "50 columns x 100,000 rows, fit and as many records",
    "200": "200 columns x 10,000 rows, fit and as many records",
    "million": "1,000,000 records of 15 columns drawn",
}


def codes(n, columns, levels=10):
    """Return columns that hang together, as codes."""
    rng = np.random.default_rng(1)
    hidden = rng.integers(0, levels, n, dtype=np.int8)
    return {f"c{at}": (hidden * (at % 7 + 1) + rng.integers(0, 4, n, dtype=np.int8)) % levels for at in range(columns)}


def memory(pid="self"):
    """Return what a process holds, and forget the most that it held until now, in MB."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")
    return most(pid, "VmRSS")


def most(pid="self", name="VmHWM"):
    """Return the most that a process held, in MB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1]) / 1024


def processor():
    """Return the processor time of this process and of those that it waited for."""
    every = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in every)


def of_java(pid):
    """Return the processor time of a process that still runs, and of all that it started: Python's workers too."""
    stated = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it ended meanwhile
            stated[int(folder.name)] = (folder / "stat").read_text().rsplit(")", 1)[1].split()
    family = {pid}
    for _ in range(5):
        family |= {number for number, fields in stated.items() if int(fields[1]) in family}
    return sum(int(stated[number][at]) for number in family if number in stated for at in (11, 12, 13, 14)) / 100


def counted(row, n):
    """Count all one-way and two-way tables of a frame."""
    from itertools import combinations

    from simplexdp.frames import Domain
    from simplexdp.models.marginal_release import count

    domains = {f"c{at}": Domain(10) for at in range(COLUMNS)}
    pairs = list(combinations(range(COLUMNS), 2))
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "table.parquet")
        if row != "polars":
            # In a process of its own, so that the memory is not ours.
            write = (
                "import sys, polars as pl; from benches.python.synthesis_cost import codes; "
                "pl.DataFrame(codes(int(sys.argv[1]), 15)).write_parquet(sys.argv[2])"
            )
            subprocess.run([sys.executable, "-c", write, str(n), path], check=True)
        java = None
        if row.startswith("polars"):
            import polars as pl

            frame = pl.DataFrame(codes(n, COLUMNS)) if row == "polars" else pl.scan_parquet(path)
        elif row == "duckdb":
            import duckdb

            frame = duckdb.read_parquet(path)
        else:
            from pyspark.sql import SparkSession

            # Workers that have the package, as on any cluster that releases.
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
            session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
            frame = session.read.parquet(path)
            java = subprocess.run(["pgrep", "-P", str(session._sc._gateway.proc.pid)], capture_output=True, text=True)
            java = int((java.stdout.split() or [session._sc._gateway.proc.pid])[0])
        held, spent, begin = memory(), processor(), time.time()
        spent += of_java(java) if java else 0.0
        table = count(frame, domains, pairs)
        seconds = processor() - spent + (of_java(java) if java else 0.0)
        assert table[:10].sum() == n
        return seconds, time.time() - begin, most() - held + (most(java) if java else 0.0)


def fitted(n, columns):
    """Fit a table of codes, and draw as many records."""
    from simplexdp.models import PrivateSynthesizer

    frame = np.stack(list(codes(n, columns).values()), axis=1)
    held, spent, begin = memory(), processor(), time.time()
    model = PrivateSynthesizer(1.0, 1e-6, domains=dict.fromkeys(range(columns), 10)).fit(frame)
    model.sample(n)
    return processor() - spent, time.time() - begin, most() - held


def drawn(n):
    """Draw records of a model that is there."""
    from simplexdp.models import PrivateSynthesizer

    frame = np.stack(list(codes(50_000, COLUMNS).values()), axis=1)
    model = PrivateSynthesizer(1.0, 1e-6, domains=dict.fromkeys(range(COLUMNS), 10)).fit(frame)
    held, spent, begin = memory(), processor(), time.time()
    model.sample(n, kind="dict")
    return processor() - spent, time.time() - begin, most() - held


def main():
    """Print one line for each row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="*", default=list(ROWS))
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--here", action="store_true", help="in this process")
    given = parser.parse_args()
    if not given.here:
        print("| what | processor seconds | seconds | MB |\n| --- | --- | --- | --- |", flush=True)
        for row in given.rows:
            subprocess.run(
                [sys.executable, "-m", "benches.python.synthesis_cost", "--here", "--scale", str(given.scale), row],
                check=False,
            )
        return
    (row,) = given.rows
    ways = {"50": lambda: fitted(100_000, 50), "200": lambda: fitted(10_000, 200), "million": lambda: drawn(1_000_000)}
    processed, seconds, megabytes = ways.get(row, lambda: counted(row, int(LONG * given.scale)))()
    print(f"| {ROWS[row]} | {processed:.1f} | {seconds:.1f} | {megabytes:.0f} |", flush=True)


if __name__ == "__main__":
    main()
