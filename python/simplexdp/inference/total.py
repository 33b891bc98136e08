"""What is known of the number of records of a histogram that was released."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp import _arguments as check
from simplexdp._arrays import as_floats
from simplexdp.exceptions import InvalidParameterError

__all__ = ["Total"]

LARGEST_TOTAL = 2**53
"""Doubles hold every integer up to here."""

Spec = tuple[str, float, float, NDArray[np.float64] | None]
"""What the core takes: a kind, two numbers, logarithms of weights."""


@dataclass(frozen=True, eq=False)
class Total:
    """A prior of the number of records, for histograms where it is not public.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> sdp.inference.Total.between(50, 500)
    Total.between(50, 500)
    """

    _kind: str
    _first: float = 0.0
    _second: float = 0.0
    _weights: NDArray[np.float64] | None = None

    def __repr__(self) -> str:
        numbers = {"flat": "", "weights": f"{self._first:.0f}, ..."}
        between = f"{self._first:.15g}, {self._second:.15g}"
        return f"Total.{self._kind}({numbers.get(self._kind, between)})"

    @classmethod
    def flat(cls) -> "Total":
        """Every number is as likely as any other: for noisy counts, which say what the number is.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> sdp.inference.Total.flat()
        Total.flat()
        """
        return cls("flat")

    @classmethod
    def between(cls, low: int, high: int) -> "Total":
        """Every number from `low` to `high` is as likely as any other.

        Parameters
        ----------
        low, high : int
            Public bounds.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> mechanism = sdp.DirichletMechanism(scale=0.5, prior=2.0, dimension=2, adjacency="add_remove")
        >>> posterior = mechanism.infer([0.25, 0.75], total=sdp.inference.Total.between(50, 60))
        >>> 50 <= posterior.total_mean <= 60
        True
        """
        low, high = check.integer("low", low, 0), check.integer("high", high, 0)
        if not low <= high <= LARGEST_TOTAL:
            raise InvalidParameterError(f"high must be from low to 2^53, got {low} and {high}")
        return cls("between", low, high)

    @classmethod
    def negative_binomial(cls, mean: float, size: float) -> "Total":
        """Law of a Poisson number whose rate is a gamma variable of shape `size`: variance mean + mean^2 / size.

        Parameters
        ----------
        mean, size : float
            Above zero.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> sdp.inference.Total.negative_binomial(100, 5)
        Total.negative_binomial(100, 5)
        """
        return cls("negative_binomial", check.positive("mean", mean), check.positive("size", size))

    @classmethod
    def weights(cls, low: int, log_weights: ArrayLike) -> "Total":
        """Give the logarithm of a weight to each number from `low` on.

        Parameters
        ----------
        low : int
            The number of the first weight.
        log_weights : array_like of float, shape (k,)
            May be minus infinity, not everywhere.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> sdp.inference.Total.weights(99, [-1.0, 0.0, -1.0])
        Total.weights(99, ...)
        """
        values = np.array(as_floats("log_weights", log_weights))
        if values.ndim != 1 or not values.size:
            raise InvalidParameterError(f"log_weights must have shape (k,) with k >= 1, got shape {values.shape}")
        values.setflags(write=False)
        return cls("weights", check.integer("low", low, 0), 0.0, values)

    @property
    def spec(self) -> Spec:
        """What the core takes: the kind, two numbers, and the logarithms of weights where there are any."""
        return self._kind, float(self._first), float(self._second), self._weights


def known_totals(total: Any, rows: tuple[int, ...]) -> NDArray[np.int64]:
    """Check for public numbers of records, one for all rows or one for each."""
    try:
        array = np.asarray(total)
        if array.dtype.kind == "f" and np.all(np.isfinite(array) & (array == np.floor(array))):
            array = np.clip(array, -1, 2.0 * LARGEST_TOTAL)
            array = array.astype(np.int64)
        if array.dtype.kind not in "iu":
            raise TypeError
        array = np.broadcast_to(array.astype(np.int64), rows)
    except (TypeError, ValueError, OverflowError):
        raise InvalidParameterError(
            f"total must be an integer, an array of one for each row, or a simplexdp.inference.Total, got {total!r}"
        ) from None
    if np.any(array < 0) or np.any(array > LARGEST_TOTAL):
        raise InvalidParameterError(f"total must be from 0 to 2^53, got {total!r}")
    return array
