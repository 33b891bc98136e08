"""A few records of a data frame as Python values: what a service asks of a model, one record at a time.

Engines take longer to hand out one column than a model needs for its answer. What is not plain here (other types, other
columns, more rows) takes the way of all frames, which checks it and says what is wrong.
"""

from __future__ import annotations

from typing import Any

__all__ = ["few_rows"]

MOST_ROWS = 16
PLAIN = {str, int, float, bool, type(None)}


def few_rows(X: Any, columns: list[Any]) -> list[Any] | None:
    """Return the records of a small frame of pandas or Polars that has these columns in this order, None of others."""
    kind = type(X)
    library = kind.__module__.partition(".")[0]
    if kind.__name__ != "DataFrame" or library not in ("pandas", "polars") or not 0 < len(X) <= MOST_ROWS:
        return None
    if list(X.columns) != columns:
        return None
    rows: list[Any] = X.to_numpy(dtype=object).tolist() if library == "pandas" else X.rows()
    return rows if all(type(value) in PLAIN for row in rows for value in row) else None
