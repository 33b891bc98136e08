"""Hits and misses of a naive Bayes model, counted where the records are.

The score of a record is a sum of table entries, one for each of its values, and so is an expression of the engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplexdp.frames import Domain
from simplexdp.frames.domain import is_null
from simplexdp.frames.lazy import grouped_counts, selected_columns
from simplexdp.models.calibration import BINS, EDGES, calibration_shape

__all__ = ["MOST_LAZY_LEVELS", "lazy_hits_and_misses"]

MOST_LAZY_LEVELS = 2000
"""Of all features together: expressions of the engine have no place for more."""

FAR = -60.0
"""Differences of logarithms below this are nothing, and some engines refuse to take their exponentials."""

CELL = "cell"


def lazy_hits_and_misses(
    frame: Any,
    columns: Sequence[str],
    target: str,
    domains: Mapping[str, Domain],
    log_shares: NDArray[np.float64],
    log_tables: Sequence[NDArray[np.float64]],
) -> NDArray[np.int64]:
    """Return what `hits_and_misses` counts, from a lazy frame with the classes in a column.

    Parameters
    ----------
    frame : narwhals LazyFrame
    columns : sequence of str
        The features.
    target : str
        The column of the classes.
    domains : mapping
        Of the features and of the target.
    log_shares : ndarray, shape (n_classes,)
    log_tables : sequence of ndarray, each of shape (n_classes, n_levels)
    """
    import narwhals as nw

    all_columns = [*columns, target]
    # Which value has which code is asked of the domain, by the values that occur.
    seen = grouped_counts(frame, [[column] for column in all_columns])
    codes = [
        {values[0]: domains[column].code(values[0], column) for values, _ in groups}
        for column, groups in zip(all_columns, seen, strict=True)
    ]
    names = [f"v{position}" for position in range(len(all_columns))]
    n_classes = len(log_shares)
    scores = [
        nw.sum_horizontal(
            *(
                _looked_up(name, {value: float(table[label, code]) for value, code in found.items()})
                for name, found, table in zip(names[:-1], codes[:-1], log_tables, strict=True)
            )
        )
        + float(log_shares[label])
        for label in range(n_classes)
    ]
    of_class = [f"z{label}" for label in range(n_classes)]
    scored = selected_columns(frame, all_columns, names).select(
        *(score.alias(name) for score, name in zip(scores, of_class, strict=True)),
        _looked_up(names[-1], {value: float(code) for value, code in codes[-1].items()}).alias("y"),
    )
    scored = scored.with_columns(nw.max_horizontal(*of_class).alias("top"))
    against = reduce(
        lambda sum_, name: sum_ + nw.max_horizontal(nw.col(name) - nw.col("top"), nw.lit(FAR)).exp(),
        of_class[1:],
        nw.max_horizontal(nw.col(of_class[0]) - nw.col("top"), nw.lit(FAR)).exp(),
    )
    # The first of the largest ones, as NumPy has it.
    predicted = reduce(
        lambda rest, label: (
            nw.when(nw.col(of_class[label]) >= nw.col("top")).then(nw.lit(float(label))).otherwise(rest)
        ),
        range(n_classes - 2, -1, -1),
        nw.lit(float(n_classes - 1)),
    )
    scored = scored.select(predicted.alias("p"), (against - 1.0).alias("r"), nw.col("y"))
    place = reduce(lambda sum_, edge: sum_ + _indicator(nw.col("r") <= float(np.exp(-edge))), EDGES, nw.lit(0.0))
    cell = (nw.col("p") * BINS + place) * 2 + _indicator(nw.col("p") != nw.col("y"))
    counted = grouped_counts(scored.select(cell.alias(CELL)), [[CELL]])[0]
    rows, outcomes = calibration_shape(n_classes)
    table = np.zeros(rows * outcomes, dtype=np.int64)
    for (code,), count in counted:
        table[int(code)] += count
    return table.reshape(rows, outcomes)


def _looked_up(name: str, numbers: Mapping[Any, float]) -> Any:
    """Return an expression for the number of each value of a column."""
    import narwhals as nw

    terms = [nw.lit(0.0)]
    for value, number in numbers.items():
        is_it = nw.col(name).is_null() if is_null(value) else (nw.col(name) == value)
        terms.append(nw.when(is_it).then(nw.lit(number)).otherwise(nw.lit(0.0)))
    return nw.sum_horizontal(*terms)


def _indicator(condition: Any) -> Any:
    import narwhals as nw

    return nw.when(condition).then(nw.lit(1.0)).otherwise(nw.lit(0.0))
