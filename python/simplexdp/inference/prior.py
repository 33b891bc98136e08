"""Priors of the probabilities that the records were drawn with."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp import _arguments as check
from simplexdp.exceptions import InvalidParameterError

__all__ = ["Prior", "log_weights_of_concentrations", "make_prior"]

CONCENTRATIONS = 10.0 ** np.arange(-1.0, 5.01, 0.5)
"""The sums of the prior that ``prior="empirical"`` integrates over."""

EVEN = 10.0
"""Beyond so much for a cell shares are nearly those of the centre. Such sums are the less likely before the release, as
one over their root: were all as likely, a third of the prior would say that shares are even, and intervals of others,
after a release that says little, would be too short."""


class Prior(NamedTuple):
    """Dirichlet priors, one of which is the right one with the given weights."""

    parameters: NDArray[np.float64]
    """Shape (parts, d)."""
    log_weights: NDArray[np.float64]
    """Shape (parts,)."""


def log_weights_of_concentrations(dimension: float) -> NDArray[np.float64]:
    """Return ln of the weights that `CONCENTRATIONS` have before a release of so many cells that are alike."""
    weights = (1 + CONCENTRATIONS / (EVEN * dimension)) ** -0.5
    return np.asarray(np.log(weights / weights.sum()))


def make_prior(prior: Any, dimension: int, centre: ArrayLike | None = None) -> Prior:
    """Build a prior of a number for all cells, one for each, or the word "empirical".

    The empirical prior has shares `centre` on average, by default equal ones, and integrates over how far shares are
    from it: over `CONCENTRATIONS`, each weighed by the evidence of the release.
    """
    if isinstance(prior, Prior):
        return prior
    if isinstance(prior, str):
        check.choice("prior", prior, ("empirical",))
        if centre is None:
            shares = np.full(dimension, 1 / dimension)
        else:
            shares = check.probabilities("centre", centre, dimension)
            if shares.ndim != 1 or np.any(shares <= 0):
                raise InvalidParameterError(f"centre must have shape ({dimension},) and positive entries")
        return Prior(CONCENTRATIONS[:, None] * shares, log_weights_of_concentrations(dimension))
    if centre is not None:
        raise InvalidParameterError('centre must be left out unless prior is "empirical"')
    values = check.numbers("prior", prior)
    if values.shape not in ((), (dimension,)) or np.any(values < 1e-12) or np.any(values > 1e12):
        raise InvalidParameterError(
            f'prior must be "empirical", or a number or {dimension} numbers in [1e-12, 1e12], got {prior!r}'
        )
    return Prior(np.broadcast_to(values, (1, dimension)).copy(), np.zeros(1))
