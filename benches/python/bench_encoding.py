"""Codes of columns against what their libraries have for it, time per row of 10^6 rows with eight values."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from benches.python.timing import compare, report

from simplexdp.frames import count_table, encode

ROWS = 10**6
LEVELS = ["Private", "Self-emp-not-inc", "Self-emp-inc", "Federal-gov", "Local-gov", "State-gov", "Without-pay", "None"]


def run() -> int:
    rng = np.random.default_rng(1)
    numbers = rng.integers(1, 1 + len(LEVELS), ROWS)
    texts = np.array(LEVELS)[numbers - 1]
    objects = np.array(LEVELS, dtype=object)[numbers - 1]
    missed = 0
    arrays = [
        ("int64 array", numbers, list(range(1, 1 + len(LEVELS)))),
        ("text array", texts, LEVELS),
        ("array of objects", objects, LEVELS),
    ]
    for label, column, levels in arrays:
        comparison = compare(
            lambda column=column, levels=levels: encode({"a": column}, ["a"], {"a": levels}),
            lambda column=column: np.unique(column, return_inverse=True),
            our_work=ROWS,
            peer_work=ROWS,
            rounds=5,
        )
        missed += report(label, comparison, peer="numpy.unique", required=5)
    frames = [
        ("pandas, text", pd.DataFrame({"a": pd.array(texts, dtype="str")}), "pandas"),
        ("pandas, categories", pd.DataFrame({"a": pd.Categorical(texts)}), "pandas"),
        ("Polars, text", pl.DataFrame({"a": texts}), "Polars"),
        ("Polars, categories", pl.DataFrame({"a": pl.Series(texts, dtype=pl.Categorical)}), "Polars"),
        ("PyArrow, text", pa.table({"a": objects}), "PyArrow"),
    ]
    for label, frame, library in frames:
        comparison = compare(
            lambda frame=frame: count_table(frame, ["a"], {"a": LEVELS}),
            lambda frame=frame: frame["a"].value_counts(),
            our_work=ROWS,
            peer_work=ROWS,
        )
        missed += report(f"table of a column, {label}", comparison, peer=f"value_counts of {library}")
    return missed
