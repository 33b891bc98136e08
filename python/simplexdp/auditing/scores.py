"""Scores learnt from outputs: large where the first data set is the likelier one.

Any score is honest, since the draws that it was learnt from are not those that are counted; a good one has power.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Score = Callable[[Floats], Floats]

MOST_COORDINATES = 64
"""How many single coordinates are tried, those whose means differ most."""
RIDGE = 1e-6
"""Share of the mean variance that is added to each, so that linear relations between coordinates do no harm."""


def learnt(first: Floats, second: Floats) -> Iterator[tuple[str, Score]]:
    """Yield scores by name, for outputs of shape (draws, coordinates) under the two data sets."""
    yield from _coordinates(first, second)
    views: list[tuple[str, Callable[[Floats], Floats]]] = [("", lambda x: x)]
    if min(first.min(), second.min()) >= 0 and max(first.max(), second.max()) > 0:
        positive = np.concatenate([first[first > 0], second[second > 0]])
        views.append((" of logarithms", _logarithms(float(positive.min()) / 2)))
    for name, view in views:
        linear = _linear(view(first), view(second))
        if linear is not None:
            yield f"linear{name}", _after(view, linear)
            yield f"quadratic{name}", _after(view, _quadratic(view(first), view(second)))
    table = _repeated(first, second)
    if table is not None:
        yield "frequencies", table


def _after(view: Callable[[Floats], Floats], score: Score) -> Score:
    return lambda x: score(view(x))


def _logarithms(least: float) -> Callable[[Floats], Floats]:
    """Return a logarithm that stops at half of the least output that was seen: a zero is not a world apart."""
    return lambda x: np.log(np.maximum(x, max(least, 1e-300)))


def _coordinates(first: Floats, second: Floats) -> Iterator[tuple[str, Score]]:
    change = first.mean(axis=0) - second.mean(axis=0)
    spread = np.sqrt(first.var(axis=0) + second.var(axis=0))
    order = np.argsort(-np.abs(change) / np.maximum(spread, 1e-300), kind="stable")[:MOST_COORDINATES]
    for at in order.tolist():
        for sign in (1.0, -1.0):
            yield f"{'-' if sign < 0 else '+'}coordinate {at}", _coordinate(at, sign)


def _coordinate(at: int, sign: float) -> Score:
    return lambda x: sign * x[:, at]


def _precision(x: Floats) -> tuple[Floats, Floats, float] | None:
    """Return mean, inverse covariance and the logarithm of its determinant."""
    covariance: Floats = np.atleast_2d(np.cov(x, rowvar=False)).astype(np.float64)
    covariance += RIDGE * max(float(np.trace(covariance)) / len(covariance), 1e-300) * np.eye(len(covariance))
    try:
        inverse = np.linalg.inv(covariance)
    except np.linalg.LinAlgError:
        return None
    return x.mean(axis=0), inverse.astype(np.float64), float(np.linalg.slogdet(inverse)[1])


def _linear(first: Floats, second: Floats) -> Score | None:
    """Fisher's discriminant: the likelihood ratio of two normal laws with one covariance."""
    size = min(len(first), len(second))
    pooled = _precision(np.concatenate([first[:size] - first.mean(axis=0), second[:size] - second.mean(axis=0)]))
    if pooled is None:
        return None
    weights = pooled[1] @ (first.mean(axis=0) - second.mean(axis=0))
    return lambda x: x @ weights


def _quadratic(first: Floats, second: Floats) -> Score:
    """Return the likelihood ratio of two normal laws, each with its covariance: it sees noise that follows the data."""
    laws = [law for law in (_precision(first), _precision(second)) if law is not None]
    if len(laws) < 2:
        return lambda x: np.zeros(len(x))

    def score(x: Floats) -> Floats:
        logs: list[Floats] = [
            0.5 * log_det - 0.5 * np.einsum("ij,jk,ik->i", x - mean, inverse, x - mean, optimize=True)
            for mean, inverse, log_det in laws
        ]
        return logs[0] - logs[1]

    return score


def _repeated(first: Floats, second: Floats) -> Score | None:
    """Return the ratio of frequencies of whole outputs, where outputs repeat: laws on few values."""
    both = np.concatenate([first, second])
    values, codes = np.unique(both, axis=0, return_inverse=True)
    if len(values) > len(both) // 8:
        return None
    codes = codes.reshape(-1)
    counts = [np.bincount(part, minlength=len(values)) for part in (codes[: len(first)], codes[len(first) :])]
    ratio = np.log((counts[0] + 0.5) / (counts[1] + 0.5))
    places = {value.tobytes(): at for at, value in enumerate(np.ascontiguousarray(values))}

    def score(x: Floats) -> Floats:
        seen, back = np.unique(x, axis=0, return_inverse=True)
        found = [places.get(value.tobytes()) for value in np.ascontiguousarray(seen)]
        return np.array([0.0 if at is None else ratio[at] for at in found])[back.reshape(-1)]

    return score
