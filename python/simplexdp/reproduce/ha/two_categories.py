"""Growing data of two categories, what the parts (a) and (b) of [HA] Figure 1 share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from simplexdp.reproduce.figure import Settings, Table
from simplexdp.reproduce.posteriors import law

__all__ = ["DELTA", "EPSILON", "KEYS", "PRIOR", "errors", "relative"]

PRIOR, EPSILON, DELTA, SHARE = (1.0, 1.0), 0.8, 1e-8, 0.1
KEYS = ("global", "local", "smooth", "smooth_l1", "adaptive", "laplace", "laplace_1", "sum_preserving")


def errors(sizes: Iterable[int], keys: Sequence[str], settings: Settings, done: tuple[float, float]) -> Table:
    """Return the exact mean error of every contender at a tenth of ones; progress runs over the given interval."""
    chosen = list(sizes)
    rows = []
    for step, n in enumerate(chosen):
        ones = round(SHARE * n)
        rows += [(n, ones, key, law(key, PRIOR, (ones, n - ones), EPSILON, DELTA).mean) for key in keys]
        settings.progress(done[0] + (done[1] - done[0]) * (step + 1) / len(chosen))
    return Table.from_rows(("n", "ones", "mechanism", "mean_error"), rows)


def relative(table: Table, key: str) -> tuple[list[int], list[float]]:
    """Return the sizes and the mean error of a contender over that of the papers' Laplace baseline."""
    mine, base = table.where(mechanism=key), table.where(mechanism="laplace")
    return mine["n"], [a / b for a, b in zip(mine["mean_error"], base["mean_error"], strict=True)]
