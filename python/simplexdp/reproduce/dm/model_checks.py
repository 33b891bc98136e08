"""Statements of [DM] on models and on the noise that they are compared with: section 5."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simplexdp import _core
from simplexdp.models.graph import topological_parents
from simplexdp.reproduce.data import bundled, structures
from simplexdp.reproduce.dm.checking import Check, bound, identity

__all__ = ["model_checks"]

Floats = NDArray[np.float64]


def model_checks(n: int, rng: np.random.Generator) -> list[Check]:
    """Evaluate every statement, on the bundled data set where data are needed."""
    return [*_class_tables(n, rng), *_network(), *_noise(n, rng)]


def _class_tables(n: int, rng: np.random.Generator) -> list[Check]:
    data = bundled()
    n_classes = data.cardinalities["class"]
    tables = [
        _core.count_table([data.columns["class"], codes], [n_classes, data.cardinalities[name]])
        .reshape(n_classes, -1)
        .astype(float)
        for name, codes in data.columns.items()
        if name != "class"
    ]
    likelihood = [_log_likelihood(table, table / table.sum(axis=1, keepdims=True)) for table in tables]
    rivals = []
    for _ in range(max(n // 20, 5)):
        drawn = [rng.dirichlet(np.ones(table.shape[1]), n_classes) for table in tables]
        mixed = [
            0.95 * table / table.sum(axis=1, keepdims=True) + 0.05 * q for table, q in zip(tables, drawn, strict=True)
        ]
        rivals.append([_log_likelihood(table, q) for table, q in zip(tables, mixed, strict=True)])
    over_values = [
        (table / table.sum(axis=0, keepdims=True)).sum(axis=1) for table in tables if table.sum(axis=0).all()
    ]
    return [
        bound("eq. 7", "N_jc / N_j maximises the likelihood", -np.array(likelihood), -np.array(rivals)),
        identity(
            "sec. 5.1",
            "tables drawn over the classes are laws of the values",
            np.concatenate(over_values),
            1.0,
            remark="P(value | class) has to be normalised over the values, which is what is done here",
        ),
    ]


def _log_likelihood(counts: Floats, q: Floats) -> float:
    occupied = counts > 0
    return float(np.sum(counts[occupied] * np.log(q[occupied])))


def _network() -> list[Check]:
    data, structure = bundled(), structures()["germancredit"]
    by_table, by_record = 0.0, np.zeros(data.n_records)
    for node, above in topological_parents(structure["edges"], structure["nodes"]).items():
        columns = [data.columns[name] for name in (*above, node)]
        shape = [data.cardinalities[name] for name in (*above, node)]
        counts = _core.count_table(columns, shape).reshape(shape).astype(float)
        theta = np.divide(counts, counts.sum(axis=-1, keepdims=True), where=counts > 0, out=np.ones(shape))
        by_table += _log_likelihood(counts, theta)
        by_record += np.log(theta[tuple(columns)])
    return [identity("eq. 8", "log-likelihood by tables and by records", by_table, by_record.sum())]


def _noise(n: int, rng: np.random.Generator) -> list[Check]:
    order = 1 + np.exp(rng.uniform(np.log(0.05), np.log(200.0), n))
    epsilon = np.exp(rng.uniform(np.log(1e-4), np.log(1.0), n))
    sigma, width = np.sqrt(order / epsilon), np.sqrt(2 * order / epsilon)
    # The shift of the mean is sqrt(2), and one in each of two cells.
    gaussian = order * 2 / (2 * sigma**2)
    parts = np.stack([np.log(order) + (order - 1) / width, np.log(order - 1) - order / width])
    laplace = 2 * (np.logaddexp(*parts) - np.log(2 * order - 1)) / (order - 1)
    return [
        identity("sec. 5.1", "Gaussian noise of variance λ(K+1)/ε costs ε/(K+1)", gaussian, epsilon),
        bound("sec. 5.1", "Laplace noise of scale √(2λ(K+1)/ε) costs at most ε/(K+1)", laplace, epsilon),
    ]
