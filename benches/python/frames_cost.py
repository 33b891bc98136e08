"""What frames of many rows cost: counted, with persons bounded, and categories discovered, one process for each line.

    python -m benches.python.frames_cost FOLDER [--rows N] [--engines polars,duckdb,dask,spark] [--what 12,discover]

The file has N rows of 0.3 N persons, 1000 wards and 12 months; the one for discovery has 10^6 names once each and 200
five thousand times. 12 and 3 are how many rows of a person count: the first touches 0.2 % of the rows, the second two
thirds; w12 counts a person as one. Processor time and the most memory that was held beyond what was held before; of
Spark those of Java too.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

from benches.python.synthesis_cost import memory, most, of_java, processor

WARDS, MONTHS = [f"ward {code}" for code in range(1000)], [f"{code:02d}" for code in range(12)]
BLOCK = 10**6


def write(path, rows):
    """Write a file block by block; as many rows as 0 mean the file of names."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(1)
    if not rows:
        names = pa.array([f"name {code}" for code in range(200 + BLOCK)])
        codes = np.concatenate([np.repeat(np.arange(200), 5000), np.arange(200, 200 + BLOCK)])
        rng.shuffle(codes)
        pq.write_table(pa.table({"name": names.take(pa.array(codes))}), path, compression="none")
        return
    schema = pa.schema([("person", pa.int64()), ("ward", pa.string()), ("month", pa.string())])
    with pq.ParquetWriter(path, schema, compression="none") as writer:
        for start in range(0, rows, BLOCK):
            size = min(BLOCK, rows - start)
            texts = [pa.array(levels).take(pa.array(rng.integers(0, len(levels), size))) for levels in (WARDS, MONTHS)]
            writer.write_table(pa.table([pa.array(rng.integers(0, rows * 3 // 10, size)), *texts], schema=schema))


def opened(engine, path):
    """Return the file as a frame of an engine, and the process of Java where there is one."""
    if engine == "polars":
        import polars as pl

        return pl.scan_parquet(path), None
    if engine == "duckdb":
        import duckdb

        return duckdb.read_parquet(path), None
    if engine == "dask":
        import dask
        import dask.dataframe as dd

        dask.config.set(scheduler="synchronous")
        return dd.read_parquet(path, split_row_groups=1), None
    from pyspark.sql import SparkSession

    # Workers of any other Python count by a query of Spark's, which is another thing to measure.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = session.config("spark.driver.memory", "3g").config("spark.sql.shuffle.partitions", "8").getOrCreate()
    gateway = session._sc._gateway.proc.pid
    java = subprocess.run(["pgrep", "-P", str(gateway)], capture_output=True, text=True, check=False).stdout.split()
    return session.read.parquet(path), int((java or [gateway])[0])


def measured(engine, path, what):
    """Do it, and return processor seconds, seconds and MB."""
    from simplexdp.frames import Domain, count_table

    frame, java = opened(engine, path)
    held, begin = memory(), time.time()
    spent = processor() + (of_java(java) if java else 0.0)
    if what == "discover":
        assert len(Domain.discover(frame, "name", epsilon=1.0, delta=1e-6).levels) == 201
    else:
        rows = what.removeprefix("w")
        bound = {} if what == "count" else {"unit": "person", "max_rows": int(rows), "weighted": rows != what}
        count_table(frame, ["ward", "month"], {"ward": WARDS, "month": MONTHS}, **bound)
    seconds = processor() + (of_java(java) if java else 0.0) - spent
    return seconds, time.time() - begin, most() - held + (most(java) if java else 0.0)


def main():
    """Print one line for each engine and task."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--rows", type=int, default=20 * 10**6)
    parser.add_argument("--engines", default="polars,duckdb,spark")
    parser.add_argument("--what", default="count,12,3,discover")
    parser.add_argument("--here", action="store_true", help="in this process")
    given = parser.parse_args()
    for what in given.what.split(","):
        path = Path(given.folder) / ("names.parquet" if what == "discover" else f"visits-{given.rows}.parquet")
        if not path.exists():
            draft = path.with_suffix(".draft")
            write(str(draft), 0 if what == "discover" else given.rows)
            draft.rename(path)
        for engine in given.engines.split(","):
            if given.here:
                seconds, clock, megabytes = measured(engine, str(path), what)
                print(f"| {what} | {engine} | {seconds:.1f} | {clock:.1f} | {megabytes:.0f} |", flush=True)
                continue
            options = [given.folder, "--rows", str(given.rows), "--engines", engine, "--what", what, "--here"]
            subprocess.run([sys.executable, "-m", "benches.python.frames_cost", *options], check=False)


if __name__ == "__main__":
    main()
