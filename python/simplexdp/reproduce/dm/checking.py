"""A statement of the paper, evaluated: identities by their largest error, bounds by their smallest margin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp.special import log_gamma

__all__ = ["Check", "bound", "identity", "log_beta_rows", "log_integral", "log_sigmoid"]

ROUNDING = 1e-10
"""What rounding may cost a bound that is attained."""


@dataclass(frozen=True)
class Check:
    """The outcome for one statement.

    Attributes
    ----------
    where : str
        Equation, lemma or section of the paper.
    statement : str
    kind : {"identity", "bound"}
    cases : int
    worst : float
        Identity: the largest relative difference. Bound: the smallest margin, 1 - value / limit; negative if violated.
    holds : bool
    remark : str
        What follows, where the statement fails.
    """

    where: str
    statement: str
    kind: str
    cases: int
    worst: float
    holds: bool
    remark: str


def identity(
    where: str, statement: str, left: ArrayLike, right: ArrayLike, *, tolerance: float = 1e-8, remark: str = ""
) -> Check:
    """Compare both sides."""
    first, second = np.broadcast_arrays(np.asarray(left, dtype=float), np.asarray(right, dtype=float))
    worst = float(np.max(np.abs(first - second) / np.maximum(np.abs(second), 1e-300)))
    return Check(where, statement, "identity", first.size, worst, worst <= tolerance, remark)


def bound(where: str, statement: str, value: ArrayLike, limit: ArrayLike, *, remark: str = "") -> Check:
    """Compare values with positive limits that they must not exceed."""
    first, second = np.broadcast_arrays(np.asarray(value, dtype=float), np.asarray(limit, dtype=float))
    worst = float(np.min(1 - first / second))
    return Check(where, statement, "bound", first.size, worst, worst >= -ROUNDING, remark)


def log_sigmoid(t: ArrayLike) -> NDArray[np.float64]:
    """Logarithm of 1 / (1 + exp(-t))."""
    value: NDArray[np.float64] = -np.logaddexp(0.0, -np.asarray(t, dtype=float))
    return value


def log_beta_rows(a: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithm of the multivariate beta function of every row."""
    value: NDArray[np.float64] = np.asarray(log_gamma(a)).sum(axis=-1) - np.asarray(log_gamma(a.sum(axis=-1)))
    return value


def log_integral(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithm of the integral of y^(a-1) (1-y)^(b-1) over (0, 1), by the trapezoidal rule in logit(y).

    The integrand is analytic and falls off exponentially there, so the rule converges exponentially: a route to the
    beta function that needs no gamma function.
    """
    t = np.linspace(-90.0, 90.0, 9001)
    logs = a[:, None] * log_sigmoid(t) + b[:, None] * log_sigmoid(-t)
    top = logs.max(axis=1, keepdims=True)
    value: NDArray[np.float64] = top[:, 0] + np.log(np.exp(logs - top).sum(axis=1) * (t[1] - t[0]))
    return value
