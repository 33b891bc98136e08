"""Columns of synthetic values as a frame of the kind that came in, local or on an engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from simplexdp.frames import Domain
from simplexdp.models.decoding import decode

__all__ = ["KINDS", "framed", "kind_of"]

KINDS = ("numpy", "dict", "pandas", "polars", "pyarrow", "polars lazy", "dask", "duckdb", "spark")


def kind_of(frame: Any) -> str:
    """Return which of the kinds a frame is; pandas for what is none of them."""
    if isinstance(frame, np.ndarray):
        return "numpy"
    if isinstance(frame, Mapping):
        return "dict"
    import narwhals as nw

    native = nw.from_native(frame)
    engine = native.implementation
    if engine.is_polars():
        return "polars lazy" if isinstance(native, nw.LazyFrame) else "polars"
    engines = {"pyarrow": engine.is_pyarrow(), "duckdb": engine.is_duckdb(), "dask": engine.is_dask()}
    engines["spark"] = engine.is_pyspark()
    return next((kind for kind, matches in engines.items() if matches), "pandas")


def framed(values: Mapping[Any, Any], coded: Mapping[Any, Any], domains: Mapping[Any, Domain], kind: str) -> Any:
    """Return columns as a frame of a kind; `coded` are those that are codes of a domain."""
    return _FRAMES[kind](values, coded, domains)


def _numpy(values: Mapping[Any, Any], coded: Mapping[Any, Any], domains: Mapping[Any, Domain]) -> Any:
    return np.column_stack(list(values.values()))


def _dict(values: Mapping[Any, Any], coded: Mapping[Any, Any], domains: Mapping[Any, Domain]) -> Any:
    return dict(values)


def _pandas(values: Mapping[Any, Any], coded: Mapping[Any, Any], domains: Mapping[Any, Domain]) -> Any:
    import pandas as pd

    columns = dict(values)
    for name, codes in coded.items():
        levels = decode({name: np.arange(len(domains[name]))}, domains, "dict")[name]
        if all(isinstance(level, str) for level in levels):
            # Each text is made once, and not once for each record.
            columns[name] = pd.Series(levels).array.take(codes)
    return pd.DataFrame(columns)


def _polars(values: Mapping[Any, Any], coded: Mapping[Any, Any], domains: Mapping[Any, Domain]) -> Any:
    import polars as pl

    # Columns of one type, as `decode` finds it; those of numbers have one.
    found = decode(coded, domains, "polars")
    series = {name: found.get_column(name) if name in coded else pl.Series(name, values[name]) for name in values}
    if found.is_empty():
        # No value tells the type of a column: all of its levels do.
        series |= {name: _all_levels(name, domains, "polars").get_column(name).head(0) for name in coded}
    return pl.DataFrame(series)


def _all_levels(name: Any, domains: Mapping[Any, Domain], kind: str) -> Any:
    return decode({name: np.arange(len(domains[name]))}, domains, kind)


def _pyarrow(values: Mapping[Any, Any], coded: Mapping[Any, Any], domains: Mapping[Any, Domain]) -> Any:
    import pyarrow as pa

    found = decode(coded, domains, "pyarrow")
    columns = {name: found.column(name) if name in coded else pa.array(values[name]) for name in values}
    if found.num_rows == 0:
        columns |= {name: _all_levels(name, domains, "pyarrow").column(name).slice(0, 0) for name in coded}
    return pa.table(columns)


def _polars_lazy(values: Mapping[Any, Any], coded: Mapping[Any, Any], domains: Mapping[Any, Domain]) -> Any:
    return _polars(values, coded, domains).lazy()


def _dask(values: Mapping[Any, Any], coded: Mapping[Any, Any], domains: Mapping[Any, Domain]) -> Any:
    import dask.dataframe as dd
    import pandas as pd

    # Types of Arrow: Dask makes text of columns of Python objects.
    return dd.from_pandas(_pyarrow(values, coded, domains).to_pandas(types_mapper=pd.ArrowDtype), npartitions=1)


def _duckdb(values: Mapping[Any, Any], coded: Mapping[Any, Any], domains: Mapping[Any, Domain]) -> Any:
    import duckdb

    return duckdb.from_arrow(_pyarrow(values, coded, domains))


def _spark(values: Mapping[Any, Any], coded: Mapping[Any, Any], domains: Mapping[Any, Domain]) -> Any:
    from pyspark.sql import SparkSession

    # Columns of one type, with missing values that are no NaN: Spark takes rows of Python values.
    table = _pyarrow(values, coded, domains)
    rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    return SparkSession.builder.getOrCreate().createDataFrame(rows, schema=_spark_schema(table.schema))


def _spark_schema(schema: Any) -> Any:
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)


_FRAMES: dict[str, Callable[..., Any]] = {
    "numpy": _numpy,
    "dict": _dict,
    "pandas": _pandas,
    "polars": _polars,
    "pyarrow": _pyarrow,
    "polars lazy": _polars_lazy,
    "dask": _dask,
    "duckdb": _duckdb,
    "spark": _spark,
}
