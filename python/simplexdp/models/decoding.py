"""Codes back as values, in a frame of the user's kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplexdp import _arguments
from simplexdp.frames import Domain

__all__ = ["decode", "frame_kind"]

KINDS = ("dict", "pandas", "polars", "pyarrow")


def frame_kind(frame: Any) -> str:
    """Return which of the kinds of frame that `decode` makes is the nearest to this one."""
    if isinstance(frame, (np.ndarray, Mapping)):
        return "dict"
    import narwhals as nw

    implementation = nw.from_native(frame).implementation
    kinds = {"polars": implementation.is_polars(), "pyarrow": implementation.is_pyarrow()}
    kinds["pandas"] = implementation.is_pandas_like() or implementation.is_dask()
    return next((kind for kind, matches in kinds.items() if matches), "dict")


def decode(columns: Mapping[Any, NDArray[np.integer[Any]]], domains: Mapping[Any, Domain], kind: str) -> Any:
    """Return columns of codes as a frame of values."""
    _arguments.choice("kind", kind, KINDS)
    values = {name: _values(codes, domains[name]) for name, codes in columns.items()}
    if kind == "dict":
        return values
    if kind == "pandas":
        import pandas as pd

        return pd.DataFrame(values)
    if kind == "polars":
        import polars as pl

        return pl.DataFrame(
            {name: array.tolist() if array.dtype == object else array for name, array in values.items()}
        )
    import pyarrow as pa

    return pa.table({name: pa.array(array, from_pandas=False) for name, array in values.items()})


def _values(codes: NDArray[np.integer[Any]], domain: Domain) -> NDArray[Any]:
    if domain.is_range and not domain.other:
        return codes.astype(np.int64)
    levels = domain.levels
    kinds = {type(level) for level in levels}
    table = np.empty(len(levels), dtype=object)
    table[:] = levels
    if len(kinds) == 1 and kinds <= {int, float, bool}:
        table = table.astype(kinds.pop())
    values: NDArray[Any] = table[codes]
    return values
