"""Contingency tables of a frame, whatever engine holds it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplexdp._arguments import flag
from simplexdp.exceptions import InvalidParameterError
from simplexdp.frames.coded import count_codes, shape_of
from simplexdp.frames.domain import Domain, DomainLike, as_domains
from simplexdp.frames.encoding import encode_columns
from simplexdp.frames.persons import bounded, checked_bound
from simplexdp.frames.persons_counted import counted_in_bounds
from simplexdp.frames.sharing import SHARING, beside_sharing, in_units
from simplexdp.frames.source import as_frame, checked_columns, is_lazy
from simplexdp.sensitivity import weight_units

__all__ = ["count_shared", "count_table", "count_tables"]


def count_table(
    frame: Any,
    columns: Sequence[Any],
    domains: Mapping[Any, DomainLike],
    *,
    unit: Any = None,
    max_rows: int | None = None,
    first_by: Any = None,
    weighted: bool = False,
    seed: int | None = None,
) -> NDArray[np.int64]:
    """Count how often each combination of values of some columns occurs.

    Parameters
    ----------
    frame : data frame, two-dimensional array or mapping of one-dimensional arrays
        Anything that narwhals understands (pandas, Polars, PyArrow, DuckDB, Dask, PySpark; a lazy frame stays lazy
        until the counts are collected), or NumPy.
    columns : sequence
        The columns to count, in the order of the axes of the result.
    domains : mapping
        The domain of each column: a list of values, a cardinality or a `Domain`.
    unit : column, optional
        Names the person of each row: then at most `max_rows` rows of each person count, as `bound_rows` keeps them. A
        mechanism with the same ``max_rows`` guarantees something for persons, not for rows.
    max_rows : int, optional
        How many rows of a person count; needed with `unit`.
    first_by : column, optional
        Which of them: those with its smallest values. By default rows are drawn at random.
    weighted : bool, default False
        Count a person as one, however many rows: each of n rows that are kept has the weight 1/n. The table is in units
        of ``1 / simplexdp.sensitivity.weight_units(max_rows)`` then, whole numbers for which a mechanism has as many
        ``max_rows``; `max_rows` is at most 16.
    seed : int, optional
        Draws the same rows again, on every engine.

    Returns
    -------
    ndarray of int64, shape (levels of the first column, levels of the second, ...)
        Cells that do not occur are zero.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> answers = {"group": ["a", "b", "a"], "answer": ["no", "yes", "no"]}
    >>> sdp.frames.count_table(answers, ["group", "answer"], {"group": ["a", "b"], "answer": ["yes", "no"]})
    array([[0, 2],
           [1, 0]])

    A person with many rows moves the table by no more than a person with two:

    >>> visits = {"patient": [7, 7, 7, 7, 8], "ward": ["a", "a", "a", "a", "b"]}
    >>> sdp.frames.count_table(visits, ["ward"], {"ward": ["a", "b"]}, unit="patient", max_rows=2)
    array([2, 1])
    """
    return count_tables(
        frame, [columns], domains, unit=unit, max_rows=max_rows, first_by=first_by, weighted=weighted, seed=seed
    )[0]


def count_tables(
    frame: Any,
    tables: Sequence[Sequence[Any]],
    domains: Mapping[Any, DomainLike],
    *,
    unit: Any = None,
    max_rows: int | None = None,
    first_by: Any = None,
    weighted: bool = False,
    seed: int | None = None,
) -> list[NDArray[np.int64]]:
    """Count several tables of one frame, in one pass over the data where the engine allows that.

    Parameters
    ----------
    frame : data frame, two-dimensional array or mapping of one-dimensional arrays
        As for `count_table`.
    tables : sequence of sequences
        The columns of each table.
    domains : mapping
        The domain of each column: a list of values, a cardinality or a `Domain`.
    unit, max_rows, first_by, weighted, seed : optional
        As for `count_table`; each row that is kept counts in every table.

    Returns
    -------
    list of ndarray of int64
        One table each, in the order given.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> answers = {"group": ["a", "b", "a"], "answer": ["no", "yes", "no"]}
    >>> domains = {"group": ["a", "b"], "answer": ["yes", "no"]}
    >>> sdp.frames.count_tables(answers, [["group"], ["answer"]], domains)
    [array([2, 1]), array([1, 2])]
    """
    if isinstance(tables, (str, bytes)) or not isinstance(tables, Sequence):
        raise InvalidParameterError(f"tables must be a list of lists of column names, got {tables!r}")
    checked = [checked_columns(columns) for columns in tables]
    used = list(dict.fromkeys(column for columns in checked for column in columns))
    resolved = as_domains(used, domains)
    bound = checked_bound(unit, max_rows, first_by, seed)
    frame = as_frame(frame)
    if flag("weighted", weighted):
        if bound is None:
            raise InvalidParameterError("weighted must be False unless unit names the column of persons")
        weight_units(bound.max_rows)  # of few enough rows
    elif bound is None:
        return _counted(frame, checked, resolved)
    found = counted_in_bounds(frame, checked, resolved, bound, weighted)
    if found is not None:
        return found
    frame = bounded(frame, bound, used, sharing=SHARING if weighted else None)
    return _shared(frame, checked, resolved, bound.max_rows) if weighted else _counted(frame, checked, resolved)


def count_shared(
    frame: Any, tables: Sequence[Sequence[Any]], domains: Mapping[Any, DomainLike], max_rows: int
) -> list[NDArray[np.int64]]:
    """Count tables of a frame whose rows share a person's total of one: by how many they are, as `SHARING` says."""
    checked = [checked_columns(columns) for columns in tables]
    resolved = as_domains(list(dict.fromkeys(column for columns in checked for column in columns)), domains)
    return _shared(as_frame(frame), checked, resolved, max_rows)


def _shared(frame: Any, tables: list[list[Any]], domains: dict[Any, Domain], max_rows: int) -> list[NDArray[np.int64]]:
    return in_units(_counted(frame, *beside_sharing(tables, domains, max_rows)), max_rows)


def _counted(frame: Any, checked: list[list[Any]], resolved: dict[Any, Domain]) -> list[NDArray[np.int64]]:
    used = list(resolved)
    if is_lazy(frame):
        return _count_lazy(frame, checked, resolved)
    if _are_texts_of_polars(frame, checked):
        # Polars groups texts in the time that it would take to number them, and then they are counted.
        return _count_lazy(frame.lazy(), checked, resolved)
    codes = encode_columns(frame, resolved, used)
    return [
        count_codes(columns, [codes[column] for column in columns], [resolved[column] for column in columns])
        for columns in checked
    ]


def _are_texts_of_polars(frame: Any, tables: list[list[Any]]) -> bool:
    """Whether a frame of Polars is asked for tables of one column each, all of texts."""
    if isinstance(frame, (np.ndarray, Mapping)) or not frame.implementation.is_polars():
        return False
    import narwhals as nw

    return all(len(columns) == 1 and frame.schema.get(columns[0]) == nw.String for columns in tables)


def _count_lazy(frame: Any, tables: list[list[Any]], domains: dict[Any, Domain]) -> list[NDArray[np.int64]]:
    from simplexdp.frames.lazy import grouped_counts

    missing = [column for column in domains if column not in frame.collect_schema().names()]
    if missing:
        raise InvalidParameterError(f"columns must exist in the frame, got {missing!r}")
    shapes = [shape_of(domains[column] for column in columns) for columns in tables]
    results = []
    for columns, shape, groups in zip(tables, shapes, grouped_counts(frame, tables), strict=True):
        table = np.zeros(shape, dtype=np.int64)
        for values, count in groups:
            cell = tuple(domains[column].code(value, column) for column, value in zip(columns, values, strict=True))
            table[cell] += count
        results.append(table)
    return results
