"""Naive Bayes under a Renyi budget, [DM 5.1]: test cross-entropy and accuracy of each mechanism."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simplexdp import _core
from simplexdp.reproduce.data import Categorical
from simplexdp.reproduce.simulated_tables import simulated_tables

__all__ = ["Result", "naive_bayes"]


@dataclass(frozen=True)
class Result:
    """One fitted model on one split."""

    data: str
    mechanism: str
    count_floor: float
    epsilon: float
    seed: int
    cross_entropy: float
    accuracy: float


def naive_bayes(
    data: Categorical,
    epsilons: Sequence[float],
    seeds: Sequence[int],
    mechanisms: Sequence[tuple[str, float]],
) -> Iterator[Result]:
    """Fit and score every mechanism, given with its count floor or smoothing, at every epsilon on every split."""
    features = [column for column in data.columns if column != "class"]
    n_classes = data.cardinalities["class"]
    for seed in seeds:
        train, test = data.split(seed)
        rng = np.random.default_rng((seed, 1))
        classes = data.columns["class"][train]
        counts: list[NDArray[np.int64]] = [_core.count_table([classes], [n_classes]).reshape(1, -1)]
        for column in features:
            shape = [n_classes, data.cardinalities[column]]
            counts.append(_core.count_table([classes, data.columns[column][train]], shape).reshape(shape))
        held_out = [data.columns[column][test] for column in features]
        for epsilon in epsilons:
            for mechanism, floor in mechanisms:
                tables = simulated_tables(counts, mechanism, floor, epsilon, rng)
                loss, accuracy = _score(tables, held_out, data.columns["class"][test])
                yield Result(data.name, mechanism, floor, epsilon, seed, loss, accuracy)


def _score(
    tables: list[NDArray[np.float64]], features: list[NDArray[np.int16]], classes: NDArray[np.int16]
) -> tuple[float, float]:
    with np.errstate(divide="ignore"):
        logs = [np.log(table) for table in tables]
    joint = np.tile(logs[0][0], (len(classes), 1))
    for codes, table in zip(features, logs[1:], strict=True):
        joint += table.T[codes]
    # Where every class is impossible the model knows nothing.
    joint[~np.isfinite(joint).any(axis=1)] = 0.0
    largest = joint.max(axis=1, keepdims=True)
    log_posterior = joint - largest - np.log(np.exp(joint - largest).sum(axis=1, keepdims=True))
    rows = np.arange(len(classes))
    return float(-log_posterior[rows, classes].mean()), float(np.mean(joint.argmax(axis=1) == classes))
