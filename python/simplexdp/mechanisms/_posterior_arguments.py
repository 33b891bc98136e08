"""Arguments of the mechanisms that release posteriors."""

from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp import _arguments
from simplexdp.exceptions import InvalidDataError, InvalidParameterError, NotAffordableError

__all__ = ["checked_counts", "checked_number", "checked_prior", "counts_of_sum", "refuse_projected"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def checked_counts(counts: ArrayLike, categories: int) -> Integers:
    """Check for private counts of shape (m,); the core checks their sum."""
    array = _arguments.counts("counts", counts, categories)
    if array.ndim != 1:
        raise InvalidDataError(f"counts must have shape ({categories},), got shape {array.shape}")
    return array.astype(np.int64)


def checked_prior(prior: ArrayLike) -> Floats:
    """Check for the parameters of a Dirichlet prior, shape (m,), and return a read-only copy."""
    parameters: Floats = _arguments.numbers("prior", prior).copy()
    if parameters.ndim != 1:
        raise InvalidParameterError(f"prior must have shape (m,), got shape {parameters.shape}")
    if parameters.size < 2:
        raise InvalidParameterError(f"prior must have at least 2 entries, got {parameters.size}")
    outside = parameters[(parameters < 1e-12) | (parameters > 1e12)]
    if outside.size:
        raise InvalidParameterError(f"prior must have entries in [1e-12, 1e12], got {outside[0]}")
    parameters.setflags(write=False)
    return parameters


def checked_number(n: int) -> int:
    """Check for a public number of observations."""
    n = _arguments.integer("n", n, 0)
    if n > 2**43:
        raise InvalidParameterError(f"n must be at most 2^43, got {n}")
    return n


def counts_of_sum(counts: ArrayLike, categories: int, n: int) -> Integers:
    """Check for private counts of shape (m,) and sum n."""
    x = checked_counts(counts, categories)
    if int(x.sum()) != n:
        raise InvalidDataError("counts must sum to n (the offending value is not shown)")
    return x


def refuse_projected() -> NoReturn:
    """Say what to infer from instead of counts that were projected."""
    raise NotAffordableError(
        "infer needs what was released before it was made consistent: the law of projected counts is a sum over all "
        "noise that ends in them. Release with the noise itself, such as SumPreservingLaplaceMechanism.for_counts, at "
        "the same cost, and call its infer"
    )
