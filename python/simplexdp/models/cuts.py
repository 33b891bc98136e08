"""How a numeric column becomes categories: the edges between its bins, and a level for what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplexdp.exceptions import InvalidParameterError
from simplexdp.frames import Domain
from simplexdp.frames.duckdb_names import quoted
from simplexdp.frames.source import as_frame, column_of, is_lazy
from simplexdp.models.number_columns import Floats, not_numeric, numbers_or_nan

__all__ = ["Cut", "with_codes"]


@dataclass(frozen=True, eq=False)
class Cut:
    """The inner edges of a column, increasing, and whether missing values have a level, which is the last."""

    edges: Floats
    null: bool = False

    @property
    def domain(self) -> Domain:
        """The codes: of the bins, and of missing values."""
        return Domain(len(self.edges) + 1 + self.null)

    def codes(self, values: Any, column: Any) -> NDArray[np.int64]:
        """Return the codes of a column's values: how many edges are at or below each."""
        numbers = numbers_or_nan(values, column, null=self.null)
        codes: NDArray[np.int64] = np.searchsorted(self.edges, numbers, side="right")
        if self.null:
            codes[np.isnan(numbers)] = len(self.edges) + 1
        return codes

    def expression(self, name: str, dtype: Any, column: Any) -> Any:
        """Return the same codes as an expression of a lazy engine, of the column that the engine calls `name`."""
        import narwhals as nw

        if not dtype.is_numeric():
            raise not_numeric(column)
        value = nw.col(name).cast(nw.Float64)
        missing = nw.col(name).is_null()
        if dtype.is_float():
            missing = missing | value.is_nan()
        code = reduce(add, ((value >= float(edge)).cast(nw.Int64) for edge in self.edges), nw.lit(0, dtype=nw.Int64))
        if self.null:
            last = nw.lit(len(self.edges) + 1, dtype=nw.Int64)
            return nw.when(~missing).then(code).otherwise(last).alias(name)
        # A missing value stays one, and is refused where the codes are counted.
        return nw.when(~missing).then(code).alias(name)

    def record(self) -> dict[str, Any]:
        """Return what a saved model says of it."""
        edges: dict[str, Any] = {"edges": self.edges.tolist()}
        return {**edges, "null": True} if self.null else edges


def with_codes(frame: Any, cuts: Mapping[Any, Cut]) -> Any:
    """Return the frame with numeric columns replaced by the codes of their bins.

    Missing values are refused in columns that have no level for them.
    """
    if not cuts:
        return frame
    frame = as_frame(frame)
    if isinstance(frame, np.ndarray):
        frame = {index: frame[:, index] for index in range(frame.shape[1])}
    if is_lazy(frame):
        return _with_expressions(frame, cuts)
    codes = {column: cut.codes(column_of(frame, column), column) for column, cut in cuts.items()}
    if isinstance(frame, Mapping):
        return {**frame, **codes}
    import narwhals as nw

    if frame.implementation.is_pandas_like():
        # Series meet by position, whatever the index of the frame.
        native = nw.to_native(frame).copy(deep=False)
        for name, array in codes.items():
            native[name] = array
        return nw.from_native(native)
    return frame.with_columns(
        *(nw.new_series(name, array, backend=frame.implementation) for name, array in codes.items())
    )


def _with_expressions(frame: Any, cuts: Mapping[Any, Cut]) -> Any:
    """Return a lazy frame with the bins of its numeric columns as expressions of its engine."""
    import narwhals as nw

    schema = frame.collect_schema()
    unknown = [column for column in cuts if column not in schema.names()]
    if unknown:
        raise InvalidParameterError(f"columns must exist in the frame, got {unknown[0]!r}")
    names = {name: f"c{position}" for position, name in enumerate(schema.names())}
    engine = frame.implementation
    if engine.is_polars():
        # It takes some names for patterns, and would read another column: "^b$" is b.
        frame = nw.from_native(frame.to_native().rename(names))
    elif engine.is_duckdb():
        named = ", ".join(f"{quoted(name)} as {new}" for name, new in names.items())
        frame = nw.from_native(frame.to_native().project(named))
    else:
        names = {name: name for name in names}
    frame = frame.with_columns(*(cut.expression(names[column], schema[column], column) for column, cut in cuts.items()))
    back = {new: name for name, new in names.items()}
    if engine.is_polars():
        return nw.from_native(frame.to_native().rename(back))
    return frame.rename(back) if engine.is_duckdb() else frame
