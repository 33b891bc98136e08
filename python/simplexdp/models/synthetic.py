"""Synthetic records from released counts, and how close their marginals are to those of the real ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp import _arguments
from simplexdp.exceptions import InvalidDataError, InvalidParameterError
from simplexdp.frames import count_tables
from simplexdp.frames.domain import DomainLike, as_domains
from simplexdp.models.decoding import decode, frame_kind

__all__ = ["Marginal", "MarginalComparison", "compare_marginals", "records_from_counts"]


@dataclass(frozen=True)
class Marginal:
    """How far one marginal distribution of synthetic records is from the real one.

    Attributes
    ----------
    columns : tuple
    total_variation : float
        Half the sum of the absolute differences: 0 for equal shares, 1 where nothing is shared.
    """

    columns: tuple[Any, ...]
    total_variation: float


@dataclass(frozen=True)
class MarginalComparison:
    """Marginals of real and synthetic records side by side.

    Attributes
    ----------
    rows : tuple of Marginal
        The worst first.
    n_real, n_synthetic : int
        Numbers of records.
    """

    rows: tuple[Marginal, ...]
    n_real: int
    n_synthetic: int

    def of_order(self, order: int) -> tuple[Marginal, ...]:
        """Return the marginals of so many columns."""
        return tuple(row for row in self.rows if len(row.columns) == order)

    def mean(self, order: int) -> float:
        """Return the mean total variation distance of the marginals of so many columns."""
        return float(np.mean([row.total_variation for row in self._some(order)]))

    def largest(self, order: int) -> float:
        """Return the largest total variation distance of the marginals of so many columns."""
        return max(row.total_variation for row in self._some(order))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        rows = [{**asdict(row), "columns": list(row.columns)} for row in self.rows]
        return {"n_real": self.n_real, "n_synthetic": self.n_synthetic, "rows": rows}

    def __str__(self) -> str:
        lines = [f"{self.n_synthetic} synthetic records against {self.n_real} real ones: total variation distance"]
        for order in sorted({len(row.columns) for row in self.rows}):
            worst = self.of_order(order)[0]
            names = ", ".join(map(str, worst.columns))
            lines.append(
                f"  {len(self.of_order(order))} of order {order}: mean {self.mean(order):.4f}, "
                f"largest {worst.total_variation:.4f} ({names})"
            )
        return "\n".join(lines)

    def _some(self, order: int) -> tuple[Marginal, ...]:
        rows = self.of_order(order)
        if not rows:
            raise InvalidParameterError(f"order must be one that was compared, got {order!r}")
        return rows


def compare_marginals(
    real: Any,
    synthetic: Any,
    domains: Mapping[Any, DomainLike],
    *,
    order: int | Iterable[int] = (1, 2),
    columns: Sequence[Any] | None = None,
) -> MarginalComparison:
    """Compare the marginal distributions of real and synthetic records.

    The result looks at the real records without any noise: it is **not private**. It is for whoever may see the real
    records and wants to know what synthetic ones are worth.

    Parameters
    ----------
    real, synthetic : data frame, two-dimensional array or mapping of one-dimensional arrays
        Of any kind that `simplexdp.frames.count_table` takes, and not both of the same; all marginals of a lazy frame
        share one query where its engine can do that.
    domains : mapping
        The domain of each column: a list of values, a cardinality or a `simplexdp.frames.Domain`.
    order : int or iterable of int, default (1, 2)
        Numbers of columns of a marginal: 1 for each column, 2 for each pair.
    columns : sequence, optional
        Which columns to compare; by default all of `domains`.

    Returns
    -------
    MarginalComparison

    Examples
    --------
    >>> from simplexdp.models import compare_marginals
    >>> real = {"a": [0, 0, 1, 1], "b": [0, 0, 1, 1]}
    >>> synthetic = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]}
    >>> print(compare_marginals(real, synthetic, {"a": 2, "b": 2}))
    4 synthetic records against 4 real ones: total variation distance
      2 of order 1: mean 0.0000, largest 0.0000 (a)
      1 of order 2: mean 0.5000, largest 0.5000 (a, b)
    """
    if not isinstance(domains, Mapping):
        raise InvalidParameterError(
            f"domains must map each column to its values or its cardinality, got {type(domains).__name__}"
        )
    names = list(domains) if columns is None else list(columns)
    orders = [order] if isinstance(order, int) else list(order)
    orders = sorted({_arguments.integer("order", value, least=1) for value in orders})
    groups = [list(group) for value in orders for group in combinations(names, value)]
    if not groups:
        raise InvalidParameterError(f"order must fit {len(names)} columns, got {order!r}")
    tables = [count_tables(frame, groups, domains) for frame in (real, synthetic)]
    sizes = [int(counted[0].sum()) for counted in tables]
    for name, size in zip(("real", "synthetic"), sizes, strict=True):
        if size == 0:
            raise InvalidDataError(f"{name} must hold at least one record")
    rows = [
        Marginal(tuple(group), 0.5 * float(np.abs(ours / sizes[0] - theirs / sizes[1]).sum()))
        for group, ours, theirs in zip(groups, *tables, strict=True)
    ]
    return MarginalComparison(tuple(sorted(rows, key=lambda row: -row.total_variation)), *sizes)


def records_from_counts(
    counts: ArrayLike, domains: Mapping[Any, DomainLike], *, kind: str | None = None, like: Any = None
) -> Any:
    """Return one record for each count of a contingency table, such as `DirichletMechanism.release_counts` draws.

    Of released counts this is post-processing and costs nothing; of exact ones it is the data themselves.

    Parameters
    ----------
    counts : array_like of int
        How often each combination of values occurs: one axis for each column, or all cells in a row.
    domains : mapping
        The domain of each column, in the order of the axes.
    kind : {"dict", "pandas", "polars", "pyarrow"}, optional
        What to return; by default a dict of arrays.
    like : data frame, optional
        Return what is nearest to the kind of this frame instead.

    Returns
    -------
    data frame or dict of ndarray
        In the order of the cells.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> from simplexdp.models import records_from_counts
    >>> domains = {"sex": ["f", "m"], "answer": ["no", "yes"]}
    >>> mechanism = sdp.DirichletMechanism(scale=0.5, prior=2.0, dimension=4)
    >>> synthetic = records_from_counts(mechanism.release_counts([30, 20, 10, 40], size=200), domains)
    >>> sorted(synthetic), len(synthetic["answer"])
    (['answer', 'sex'], 200)
    """
    if not isinstance(domains, Mapping) or not domains:
        raise InvalidParameterError(f"domains must map at least one column to its domain, got {domains!r}")
    resolved = as_domains(list(domains), domains)
    shape = tuple(len(domain) for domain in resolved.values())
    table = _whole(counts)
    if table.shape not in (shape, (int(np.prod(shape, dtype=object)),)):
        raise InvalidParameterError(f"counts must have shape {shape}, or all cells in a row, got {table.shape}")
    if kind is None:
        kind = "dict" if like is None else frame_kind(like)
    flat = table.ravel()
    _arguments.fitting("counts", (sum(flat.tolist()),), 2 * len(shape))
    cells = np.repeat(np.arange(flat.size), flat)
    return decode(dict(zip(resolved, np.unravel_index(cells, shape), strict=True)), resolved, kind)


def _whole(counts: ArrayLike) -> NDArray[np.int64]:
    try:
        table = np.asarray(counts)
    except ValueError:
        table = np.empty(0, dtype=object)  # rows of different lengths
    if table.dtype.kind not in "iu" or (table.size and not 0 <= int(table.min()) <= int(table.max()) < 2**62):
        raise InvalidDataError("counts must be an array of non-negative integers")
    return table.astype(np.int64)
