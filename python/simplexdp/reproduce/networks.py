"""Bayesian networks under a Renyi budget, [DM 5.2]: test log-likelihood of each mechanism."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simplexdp import _core
from simplexdp.models.graph import topological_parents
from simplexdp.reproduce.data import Categorical
from simplexdp.reproduce.simulated_tables import simulated_tables

__all__ = ["Likelihood", "bayesian_network"]


@dataclass(frozen=True)
class Likelihood:
    """Mean test log-likelihood of a record under one released network."""

    data: str
    mechanism: str
    count_floor: float
    epsilon: float
    seed: int
    log_likelihood: float


def bayesian_network(
    data: Categorical,
    structure: Mapping[str, Any],
    epsilons: Sequence[float],
    seeds: Sequence[int],
    mechanisms: Sequence[tuple[str, float]],
) -> Iterator[Likelihood]:
    """Fit and score every mechanism, given with its count floor or smoothing, at every epsilon on every split."""
    parents = topological_parents(structure["edges"], structure["nodes"])
    tables = [[*above, node] for node, above in parents.items()]
    domains = {node: data.cardinalities[node] for node in parents}
    shapes = [(int(np.prod([domains[p] for p in above], dtype=int)), domains[node]) for node, above in parents.items()]
    for seed in seeds:
        train, test = data.split(seed)
        rng = np.random.default_rng((seed, 2))
        counts = _counts(data, tables, domains, train, shapes)
        held_out = _counts(data, tables, domains, test, shapes)
        for epsilon in epsilons:
            for mechanism, floor in mechanisms:
                released = simulated_tables(counts, mechanism, floor, epsilon, rng)
                total = sum(_log_likelihood(n, table) for n, table in zip(held_out, released, strict=True))
                yield Likelihood(data.name, mechanism, floor, epsilon, seed, total / len(test))


def _counts(data: Categorical, tables: Any, domains: Any, rows: Any, shapes: Any) -> list[Any]:
    columns = {node: data.columns[node][rows] for node in domains}
    return [
        _core.count_table([columns[name] for name in table], [domains[name] for name in table]).reshape(shape)
        for table, shape in zip(tables, shapes, strict=True)
    ]


def _log_likelihood(counts: Any, table: Any) -> float:
    occupied = counts > 0
    with np.errstate(divide="ignore"):
        return float(np.sum(counts[occupied] * np.log(table[occupied])))
