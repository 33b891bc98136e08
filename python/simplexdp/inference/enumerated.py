"""Posteriors given a release of the Hellinger mechanism: over all data sets, one by one."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp import _arguments as check
from simplexdp import _core
from simplexdp.exceptions import InvalidParameterError
from simplexdp.inference.posterior import HistogramPosterior
from simplexdp.inference.prior import Prior, make_prior
from simplexdp.inference.problem import Problem

__all__ = ["infer_enumerated"]


class EnumeratedPosterior(HistogramPosterior):
    """A posterior that was made from a list of all data sets."""

    def __init__(self, posterior: _core.CountPosterior, prior: Prior, total: int) -> None:
        super().__init__(Problem((), (), 0), 0, prior, ("known", float(total), 0.0, None))
        # In place of what the base class would compute.
        self.__dict__["_core"] = posterior

    def update(self, mechanism: Any, release: ArrayLike, **options: Any) -> HistogramPosterior:
        """Refuse: the law of the Hellinger mechanism is no product over cells."""
        raise InvalidParameterError("update must be called on a posterior from noisy counts or a Dirichlet draw")


def infer_enumerated(
    family: _core.HellingerFamily,
    exponent: tuple[str, float, float],
    own_prior: NDArray[np.float64],
    n: int,
    release: Any,
    prior: ArrayLike | None,
) -> HistogramPosterior:
    """Return the posterior for a mechanism of this family, with these names of its exponent."""
    alpha = check.numbers("release", getattr(release, "alpha", release))
    if alpha.shape != own_prior.shape:
        raise InvalidParameterError(f"release must have {own_prior.size} parameters, got shape {alpha.shape}")
    counts = np.rint(alpha - own_prior)
    if (
        np.any(np.abs(alpha - own_prior - counts) > 1e-6 * np.maximum(alpha, 1))
        or counts.sum() != n
        or counts.min() < 0
    ):
        raise InvalidParameterError(f"release must be the prior plus counts of sum {n}, as released")
    stated = make_prior(own_prior if prior is None else prior, own_prior.size)
    if len(stated.log_weights) > 1:
        raise InvalidParameterError("prior must be numbers for the Hellinger mechanism")
    found = family.infer(counts.astype(np.int64), *exponent, np.ascontiguousarray(stated.parameters[0]))
    return EnumeratedPosterior(found, stated, n)
