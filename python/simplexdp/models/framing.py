"""Columns of synthetic values as a frame of the kind that came in, local or on an engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplexdp.frames import Domain
from simplexdp.models.decoding import decode

__all__ = ["KINDS", "framed", "kind_of", "with_none"]

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


def _unmasked(values: Any) -> Any:
    """Return a column as NumPy holds it by itself: NaN for a missing double, None for a missing integer."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    if values.dtype.kind == "f":
        return values.filled(np.nan)
    return with_none(values.data, np.ma.getmaskarray(values))


def with_none(values: NDArray[Any], missing: NDArray[np.bool_]) -> NDArray[Any]:
    """Return a column of Python's numbers, with None where one is missing."""
    found = values.astype(object)
    found[missing] = None
    return found


def framed(values: Mapping[Any, Any], coded: Mapping[Any, Any], domains: Mapping[Any, Domain], kind: str) -> Any:
    """Return columns as a frame of a kind; `coded` are those that are codes of a domain."""
    return _FRAMES[kind](values, coded, domains)


def _numpy(values: Mapping[Any, Any], coded: Mapping[Any, Any], domains: Mapping[Any, Domain]) -> Any:
    # One type for all columns: a missing number is NaN.
    masked = (column.astype(np.float64) if np.ma.isMaskedArray(column) else column for column in values.values())
    return np.column_stack([_unmasked(column) for column in masked])


def _dict(values: Mapping[Any, Any], coded: Mapping[Any, Any], domains: Mapping[Any, Domain]) -> Any:
    return {name: _unmasked(column) for name, column in values.items()}


def _pandas(values: Mapping[Any, Any], coded: Mapping[Any, Any], domains: Mapping[Any, Domain]) -> Any:
    import pandas as pd

    columns = {name: _of_pandas(column) for name, column in values.items()}
    for name, codes in coded.items():
        levels = decode({name: np.arange(len(domains[name]))}, domains, "dict")[name]
        if all(isinstance(level, str) for level in levels):
            # Each text is made once, and not once for each record.
            columns[name] = pd.Series(levels).array.take(codes)
    return pd.DataFrame(columns)


def _of_pandas(values: Any) -> Any:
    if not isinstance(values, np.ma.MaskedArray) or values.dtype.kind == "f":
        return _unmasked(values)
    import pandas as pd

    return pd.arrays.IntegerArray(values.data, np.ma.getmaskarray(values))


def _of_polars(name: Any, values: Any) -> Any:
    import polars as pl

    if not isinstance(values, np.ma.MaskedArray):
        return pl.Series(name, values)
    missing, found = pl.Series(np.ma.getmaskarray(values)), pl.Series(name, values.data)
    return found.zip_with(~missing, pl.Series([], dtype=found.dtype).extend_constant(None, len(found)))


def _polars(values: Mapping[Any, Any], coded: Mapping[Any, Any], domains: Mapping[Any, Domain]) -> Any:
    import polars as pl

    # Columns of one type, as `decode` finds it; those of numbers have one.
    found = decode(coded, domains, "polars")
    series = {name: found.get_column(name) if name in coded else _of_polars(name, values[name]) for name in values}
    if found.is_empty():
        # No value tells the type of a column: all of its levels do.
        series |= {name: _all_levels(name, domains, "polars").get_column(name).head(0) for name in coded}
    return pl.DataFrame(series)


def _all_levels(name: Any, domains: Mapping[Any, Domain], kind: str) -> Any:
    return decode({name: np.arange(len(domains[name]))}, domains, kind)


def _pyarrow(values: Mapping[Any, Any], coded: Mapping[Any, Any], domains: Mapping[Any, Domain]) -> Any:
    import pyarrow as pa

    found = decode(coded, domains, "pyarrow")
    columns = {name: found.column(name) if name in coded else _of_pyarrow(values[name]) for name in values}
    if found.num_rows == 0:
        columns |= {name: _all_levels(name, domains, "pyarrow").column(name).slice(0, 0) for name in coded}
    return pa.table(columns)


def _of_pyarrow(values: Any) -> Any:
    import pyarrow as pa

    if not isinstance(values, np.ma.MaskedArray):
        return pa.array(values)
    return pa.array(values.data, mask=np.ma.getmaskarray(values))


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
