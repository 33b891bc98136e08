"""Numeric columns of the command line: public bins, stated beside the domains of the others."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from numpy.typing import NDArray

from simplexdp.cli.conditions import number_in
from simplexdp.cli.counting import Levels, check_text, level_values
from simplexdp.exceptions import InvalidDataError

if TYPE_CHECKING:
    import pyarrow as pa

    from simplexdp.cli.spelling import Spelling

__all__ = ["Bins", "bin_codes", "stated_columns"]

_MOST_BINS = 1000


@dataclass(frozen=True)
class Bins:
    """The public bins of a numeric column; they encode records as `Levels` do.

    Parameters
    ----------
    edges : tuple of float
        The inner edges, increasing.
    bounds : (float, float)
        Of the outer bins.
    whole : bool
        Whether the numbers are integers.
    null : bool
        Whether missing values have a level, the last.
    """

    edges: tuple[float, ...]
    bounds: tuple[float, float]
    whole: bool
    null: bool = False

    @property
    def all(self) -> list[Any]:
        """Every bin, by its number."""
        return list(range(len(self.edges) + 1 + self.null))

    def encode(self, column: str, values: pa.Array) -> NDArray[np.int32]:
        """Return the codes of a batch of values."""
        remedy = f'--null NAME, or "null": true beside the bins of {column!r} in --domains, gives them a level'
        return bin_codes(column, values, np.array(self.edges), null=self.null, remedy=remedy)


def bin_codes(
    column: str,
    values: pa.Array,
    edges: NDArray[np.float64],
    *,
    null: bool,
    remedy: str = "the model has no level for them",
) -> NDArray[np.int32]:
    """Return the codes of the bins of a batch of values; with `null` the last is that of missing ones."""
    import pyarrow as pa

    try:
        numbers = values.cast(pa.string()).cast(pa.float64()) if _is_text(values) else values.cast(pa.float64())
        found = numbers.to_numpy(zero_copy_only=False)
    except (pa.ArrowException, ValueError):
        if not _is_text(values):
            raise InvalidDataError(f"column {column!r} must hold numbers (none is shown)") from None
        found = _numbers_in(values)
        # Text that is no number is a number that is missing, where these have a level.
        if not null and np.isnan(found).any():
            raise InvalidDataError(
                f"column {column!r} has missing values, or text that is no number (none is shown); {remedy}"
            ) from None
    missing = np.isnan(found)
    if not null and missing.any():
        raise InvalidDataError(f"column {column!r} has missing values (none is shown); {remedy}")
    codes: NDArray[np.int32] = np.searchsorted(edges, found, side="right").astype(np.int32)
    codes[missing] = len(edges) + 1
    return codes


def _numbers_in(values: Any) -> NDArray[np.float64]:
    """Return the numbers that texts are, NaN for those that are none."""
    encoded = values if hasattr(values, "dictionary") else values.dictionary_encode()
    read = [None if text is None else number_in(text) for text in encoded.dictionary.to_pylist()]
    table = np.array([*read, None], dtype=np.float64)  # the last one for missing values, whose index is -1
    found: NDArray[np.float64] = table[encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)]
    return found


def _is_text(values: Any) -> bool:
    return "string" in str(values.type)


def stated_columns(
    path: str, other: str | None, null: str | None, spelling: Spelling | None = None
) -> dict[str, Levels | Bins]:
    """Read the public domains of a table.

    ``{"job": ["clerk", "smith"], "code": 10, "age": {"bins": 10, "bounds": [18, 90]}, "pay": {"edges": [0, 1, 2]}}``:
    values, a cardinality k for 0 to k - 1, bins of equal width, or bins between edges, whose first and last are bounds.
    Missing values have a level where ``null`` is given, where a list holds null, and where bins have ``"null": true``.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError):
        raise click.UsageError(f"{path} is not JSON") from None
    if not isinstance(content, Mapping) or not content:
        raise click.UsageError(f'{path} must hold a JSON object such as {{"column": ["a", "b"], "code": 10}}')
    found: dict[str, Levels | Bins] = {}
    for name, stated in content.items():
        check_text(name, f"{path}: the name of a column")
        if isinstance(stated, Mapping):
            found[name] = _bins(path, name, stated, null is not None)
        else:
            clean = None if spelling is None else spelling.of(name)
            found[name] = Levels(level_values(path, name, stated, null=True), other, null, "--domains", clean)
    return found


def _bins(path: str, name: str, stated: Mapping[str, Any], null: bool) -> Bins:
    if not isinstance(stated.get("null", False), bool):
        raise click.UsageError(
            f'{path}: "null" of {name!r} must be true or false: missing numbers are drawn as missing, and have no name'
        )
    null = stated.get("null", null)
    keys = set(stated) - {"null"}
    if keys == {"bins", "bounds"}:
        ends, n_bins = stated["bounds"], stated["bins"]
        valid = isinstance(n_bins, int) and not isinstance(n_bins, bool) and 1 <= n_bins <= _MOST_BINS
        if valid and _increasing(ends, 2) and len(ends) == 2:
            edges = np.linspace(float(ends[0]), float(ends[1]), n_bins + 1)[1:-1]
            return Bins(tuple(edges.tolist()), (float(ends[0]), float(ends[1])), _whole(ends), null)
    if keys == {"edges"} and _increasing(stated["edges"], 2) and len(stated["edges"]) <= _MOST_BINS:
        ends = stated["edges"]
        return Bins(tuple(map(float, ends[1:-1])), (float(ends[0]), float(ends[-1])), _whole(ends), null)
    raise click.UsageError(
        f'{path}: a numeric column such as {name!r} must be {{"bins": 10, "bounds": [0, 100]}} or '
        '{"edges": [0, 18, 65, 100]}, and may have "null": true, a level for missing values'
    )


def _increasing(ends: Any, least: int) -> bool:
    if not isinstance(ends, list) or len(ends) < least:
        return False
    if any(isinstance(end, bool) or not isinstance(end, (int, float)) for end in ends):
        return False
    try:
        numbers = [float(end) for end in ends]
    except OverflowError:
        return False
    return all(map(math.isfinite, numbers)) and all(low < high for low, high in pairwise(numbers))


def _whole(ends: list[Any]) -> bool:
    # Beyond 2^53 a double is no longer every integer.
    return all(isinstance(end, int) and abs(end) <= 2**53 for end in ends)
