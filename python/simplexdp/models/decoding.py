"""Codes back as values, in a frame of the user's kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplexdp import _arguments
from simplexdp.frames import Domain
from simplexdp.frames.source import as_frame

__all__ = ["decode", "frame_kind"]

KINDS = ("dict", "pandas", "polars", "pyarrow")


def frame_kind(frame: Any) -> str:
    """Return which of the kinds of frame that `decode` makes is the nearest to this one."""
    if isinstance(frame, (np.ndarray, Mapping)):
        return "dict"
    implementation = as_frame(frame).implementation
    kinds = {"polars": implementation.is_polars(), "pyarrow": implementation.is_pyarrow()}
    kinds["pandas"] = implementation.is_pandas_like() or implementation.is_dask()
    return next((kind for kind, matches in kinds.items() if matches), "dict")


def decode(columns: Mapping[Any, NDArray[np.integer[Any]]], domains: Mapping[Any, Domain], kind: str) -> Any:
    """Return columns of codes as a frame of values."""
    _arguments.choice("kind", kind, KINDS)
    one_type = kind in ("polars", "pyarrow")
    values = {name: _values(codes, domains[name], one_type=one_type) for name, codes in columns.items()}
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


def _values(codes: NDArray[np.integer[Any]], domain: Domain, *, one_type: bool) -> NDArray[Any]:
    if domain.is_range and not domain.other:
        return codes.astype(np.int64)
    levels = _of_one_type(domain) if one_type else domain.levels
    kinds = {type(level) for level in levels}
    table = np.empty(len(levels), dtype=object)
    table[:] = levels
    if len(kinds) == 1 and kinds <= {int, float, bool}:
        table = table.astype(kinds.pop())
    values: NDArray[Any] = table[codes]
    return values


def _of_one_type(domain: Domain) -> list[Any]:
    """Return the levels for an engine whose columns have one type.

    Where values are no text, what is none of them is missing: a missing value belongs to the level for others, unless
    it has one of its own. What is left of mixed types becomes text.
    """
    levels = domain.levels
    stated = levels[: len(levels) - domain.other]
    kinds = {type(level) for level in stated if level is not None}
    if domain.other and kinds != {str} and None not in stated:
        levels = [*stated, None]
        kinds = {type(level) for level in stated}
    elif domain.other:
        kinds |= {str}
    if len(kinds) > 1 and not kinds <= {int, float}:
        return [None if level is None else str(level) for level in levels]
    return levels
