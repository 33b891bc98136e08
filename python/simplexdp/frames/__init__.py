"""Contingency tables from any data frame, on one machine or a cluster.

The domain of every column is stated by the caller, as a list of values or as a cardinality: a domain that is read off
private data would reveal which values occur. Cells that nobody occupies are zeros.

Eager frames (pandas, Polars, PyArrow, NumPy) are encoded once and counted by the compiled core. Lazy frames (Polars,
DuckDB, Dask, PySpark) stay lazy until the counts are collected, and all tables of one call share one pass over the
data where the engine can do that. With a column of persons, `unit`, at most so many rows of each person count.
"""

from simplexdp.frames.cleaning import Cleaning
from simplexdp.frames.counting import count_table, count_tables
from simplexdp.frames.domain import Domain
from simplexdp.frames.encoding import encode
from simplexdp.frames.persons import bound_rows

__all__ = ["Cleaning", "Domain", "bound_rows", "count_table", "count_tables", "encode"]
