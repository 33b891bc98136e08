"""Names of columns, as DuckDB reads them letter for letter."""

from __future__ import annotations

__all__ = ["quoted"]


def quoted(name: str) -> str:
    """Return a name in quotes: bare, it reads a dot, a star or a word of SQL as more than a name."""
    return '"' + name.replace('"', '""') + '"'
