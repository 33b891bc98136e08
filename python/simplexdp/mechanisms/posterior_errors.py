"""The law of the error of a released posterior."""

import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp import _arguments
from simplexdp.mechanisms._posterior_arguments import checked_counts
from simplexdp.testing import SeededRng

__all__ = ["ErrorDistribution", "Metric", "errors_of", "posterior_errors", "simulated_errors"]

Floats = NDArray[np.float64]
Metric = Literal["hellinger", "l1"]


class ErrorDistribution(NamedTuple):
    """The law of the error of a release at one data set."""

    values: Floats
    """The values that the error takes, increasing."""
    probabilities: Floats
    """Their probabilities."""
    band: float
    """0 for an exact law. In a simulated one the probabilities of all [0, v] are within this, but with chance 1e-6; in
    one that leaves out tails of the noise, always."""

    @property
    def mean(self) -> float:
        """The expected error."""
        return float(self.values @ self.probabilities)

    def quantile(self, level: float) -> float:
        """Return the least value that the error exceeds with probability at most ``1 - level``."""
        level = _arguments.open_unit("level", level)
        reached = np.cumsum(self.probabilities) >= level * (1 - 1e-12)
        return float(self.values[min(int(np.argmax(reached)), len(self.values) - 1)])


def simulated_errors(prior: Floats, counts: NDArray[Any], drawn: NDArray[Any], metric: Metric) -> ErrorDistribution:
    """Return the empirical law of the error of draws, with its Dvoretzky-Kiefer-Wolfowitz-Massart band at 1e-6."""
    values, repeats = np.unique(errors_of(prior, counts, drawn, metric), return_counts=True)
    return ErrorDistribution(values, repeats / len(drawn), math.sqrt(math.log(2 / 1e-6) / (2 * len(drawn))))


def errors_of(prior: Floats, counts: NDArray[Any], released: NDArray[Any], metric: Metric) -> Floats:
    """Return the error of each row of released counts."""
    from simplexdp import divergence

    if metric == "l1":
        return np.asarray(np.abs(released - counts).sum(axis=1, dtype=np.float64))
    return np.asarray(divergence.hellinger_dirichlet(prior + released, prior + counts))


def posterior_errors(
    simulate: Callable[[ArrayLike, int, SeededRng | None], NDArray[Any]],
    prior: Floats,
    counts: ArrayLike,
    metric: Metric,
    samples: int,
    rng: SeededRng | None,
) -> ErrorDistribution:
    """Return the law of the error of a mechanism at the data, from draws of it."""
    _arguments.choice("metric", metric, get_args(Metric))
    drawn = simulate(counts, _arguments.integer("samples", samples, 1), rng)
    return simulated_errors(prior, checked_counts(counts, prior.size), drawn, metric)
