"""Boxes of the error at one data set, what [HN] Figures 2 to 4 share.

The captions give prior, size and epsilon, but not the counts: they are balanced here. Boxes run from quartile to
quartile, whiskers from 5 to 95 %, markers are means. The fast mode takes a third of the records of three categories,
because to certify them takes most of the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simplexdp.mechanisms.posterior_errors import Metric
from simplexdp.reproduce.figure import Settings, Table
from simplexdp.reproduce.posteriors import QUANTILES, hellinger, law, summary

__all__ = ["DELTA", "balanced", "costs", "errors", "lookup"]

DELTA = 1e-8
COLUMNS = ("n", "metric", "mechanism", "mean", "standard_error", *QUANTILES)


def balanced(n: int, m: int) -> list[int]:
    """Return n records as evenly as possible, the larger counts last."""
    return [(n + place) // m for place in range(m)]


def errors(
    prior: Sequence[float],
    runs: Sequence[tuple[int, Metric]],
    keys: Sequence[str],
    epsilon: float,
    settings: Settings,
) -> Table:
    """Return means and quantiles of the error of every contender at balanced data of each size."""
    samples = 5_000 if settings.fast else 100_000
    rows: list[list[Any]] = []
    for step, (n, metric) in enumerate(runs):
        x = balanced(n, len(prior))
        for place, key in enumerate(keys):
            found = law(key, prior, x, epsilon, DELTA, metric=metric, samples=samples, seed=settings.seed)
            rows.append([n, metric, key, *summary(found)])
            settings.progress(0.9 * (step + (place + 1) / len(keys)) / len(runs))
    return Table.from_rows(COLUMNS, rows)


def costs(prior: Sequence[float], sizes: Sequence[int], epsilon: float) -> Table:
    """Return sensitivities at balanced data, and the exact epsilon of the papers' versions at `DELTA`."""
    rows = []
    for n in sizes:
        x = balanced(n, len(prior))
        for key in ("global", "local", "smooth"):
            mechanism = hellinger(key, tuple(map(float, prior)), n, epsilon, DELTA)
            exact = mechanism.certify().privacy.epsilon(DELTA)
            rows.append((n, key, mechanism.sensitivity_at(x), epsilon, DELTA, exact))
    return Table.from_rows(("n", "mechanism", "sensitivity", "nominal_epsilon", "delta", "exact_epsilon"), rows)


def lookup(table: Table, column: str, **equal: Any) -> dict[str, float]:
    """Return a column by mechanism, in the rows where the others have the given values."""
    rows = table.where(**equal)
    return dict(zip(rows["mechanism"], rows[column], strict=True))
