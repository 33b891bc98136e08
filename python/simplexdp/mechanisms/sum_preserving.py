"""Counts with Laplace noise that keeps their sum."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp import _arguments as check
from simplexdp import _core
from simplexdp._parallel import threads_for
from simplexdp.accounting import Adjacency
from simplexdp.exceptions import InvalidDataError, InvalidParameterError
from simplexdp.mechanisms._exact import Number, as_fraction, as_ratio
from simplexdp.mechanisms._least_scale import pure_integer_scale
from simplexdp.mechanisms._noise import NoiseMechanism
from simplexdp.mechanisms._values import LARGEST_VALUE, VALUES_PER_THREAD, as_integers
from simplexdp.sensitivity import of_counts

__all__ = ["SumPreservingLaplaceMechanism"]

Rows = Literal["one", "independent"]


@dataclass(frozen=True, kw_only=True)
class SumPreservingLaplaceMechanism(NoiseMechanism):
    """Add Laplace noise that sums to zero to integer counts whose total is public.

    P(z) is proportional to exp(-l1(z) / scale) among the integer vectors with sum zero; the draw is exact.
    **Guarantee:** pure epsilon-DP with epsilon = sensitivity / scale, provided that neighbours have the same total, as
    under replacement of one record.

    **Several rows.** Every row keeps its sum. Where a record can move from one row to another the sums change with it,
    and nothing hides that: release the cells of the whole table as one row, ``table.ravel()``. Rows whose records stay
    in theirs, such as groups that are public, take ``rows="independent"``; a record then touches one row, and all rows
    cost as much as one.

    Parameters
    ----------
    scale : int, float or Fraction
        Of the noise, at most 2**50; counts as the exact rational that it is.
    dimension : int
        Number of counts.
    sensitivity : int, float or Fraction, default 2
        Largest l1 distance between the counts of neighbours; a record that moves changes two counts by one.
    rows : {"one", "independent"}, default "one"
        Whether a release has one row, or several whose records never move from one to another.
    unit : str, optional
        Whose records change together between neighbours: the column that tells persons. By default single records.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> mechanism = sdp.SumPreservingLaplaceMechanism.calibrated(epsilon=1.0, dimension=3)
    >>> int(mechanism.release([10, 20, 30]).sum())
    60
    """

    scale: Number
    dimension: int
    sensitivity: Number = 2
    rows: Rows = "one"
    unit: str | None = None

    def __post_init__(self) -> None:
        self._set(dimension=check.integer("dimension", self.dimension, 1))
        if self.dimension > 2**31:
            raise InvalidParameterError(f"dimension must be at most 2^31, got {self.dimension}")
        check.choice("rows", self.rows, get_args(Rows))
        as_fraction("scale", self.scale)
        as_fraction("sensitivity", self.sensitivity)
        _ = self._noise

    @classmethod
    def calibrated(
        cls,
        *,
        epsilon: Number | None = None,
        advantage: float | None = None,
        dimension: int,
        sensitivity: Number = 2,
        rows: Rows = "one",
    ) -> "SumPreservingLaplaceMechanism":
        """Return the mechanism with the least noise that is epsilon-DP.

        Parameters
        ----------
        epsilon : int, float or Fraction, optional
            Above zero; or the following.
        advantage : float, optional
            Strictly between 0 and 1: by how much an attacker's true positive rate may exceed the false positive rate.
        dimension : int
            Number of counts.
        sensitivity : int, float or Fraction, default 2
            Largest l1 distance between the counts of neighbours.
        rows : {"one", "independent"}, default "one"
            As for the class.

        Returns
        -------
        SumPreservingLaplaceMechanism
            Its scale is the Fraction sensitivity / epsilon.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> sdp.SumPreservingLaplaceMechanism.calibrated(epsilon=0.5, dimension=4).scale
        Fraction(4, 1)
        """
        scale = pure_integer_scale(epsilon, advantage, as_fraction("sensitivity", sensitivity), "replace")
        return cls(scale=scale, dimension=dimension, sensitivity=sensitivity, rows=rows)

    @classmethod
    def for_counts(
        cls,
        epsilon: Number | None = None,
        *,
        advantage: float | None = None,
        dimension: int,
        max_rows: int = 1,
        unit: str | None = None,
        rows: Rows = "one",
    ) -> "SumPreservingLaplaceMechanism":
        """Return the mechanism for the counts of a histogram; for a table with rows, those of all its cells in one row.

        Parameters
        ----------
        epsilon, advantage : optional
            As for `calibrated`.
        dimension : int
            Number of counts in a row.
        max_rows : int, default 1
            How many rows of data a person has at most; each is counted in one cell, and neighbours have as many.
        rows : {"one", "independent"}, default "one"
            As for the class.
        unit : str, optional
            The column that tells persons; by default "person" where `max_rows` is above 1.

        Returns
        -------
        SumPreservingLaplaceMechanism

        Examples
        --------
        >>> import simplexdp as sdp
        >>> table = [[3, 1, 4], [1, 5, 9]]
        >>> mechanism = sdp.SumPreservingLaplaceMechanism.for_counts(1.0, dimension=6)
        >>> int(mechanism.release(sum(table, [])).sum())
        23
        """
        change = of_counts(max_rows=max_rows)
        made = cls.calibrated(
            epsilon=epsilon, advantage=advantage, dimension=dimension, sensitivity=change.l1, rows=rows
        )
        return made._for_persons(unit, max_rows)

    @property
    def adjacency(self) -> Adjacency:  # type: ignore[override]
        """Always ``"replace"``: neighbours must have the same total."""
        return "replace"

    def noise(self, rows: int, rng: _core.SeededRng) -> NDArray[np.int64]:
        """Return rows of noise alone, each of sum zero, for experiments from a seed: nothing of it protects data.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> from simplexdp.testing import SeededRng
        >>> mechanism = sdp.SumPreservingLaplaceMechanism.for_counts(1.0, dimension=4)
        >>> mechanism.noise(3, SeededRng(1)).sum(axis=1).tolist()
        [0, 0, 0]
        """
        return self._noise.draws(check.integer("rows", rows, 1), 1, rng).reshape(rows, self.dimension)

    @cached_property
    def _noise(self) -> _core.SumPreservingNoise:
        return _core.SumPreservingNoise(as_ratio(self.scale), self.dimension)

    @property
    def exact_parameters(self) -> _core.NoiseMechanism:
        """The parameters that the guarantee is formed from."""
        # Given the sum, the ratio of two likelihoods is that of free noise: the normaliser is the same for both. And
        # the density of one entry is that of free noise times a symmetric log-concave function (the density of the sum
        # of the others), which falls with abs(z): abs(z) is stochastically smaller than free; its radius holds too.
        return _core.NoiseMechanism("laplace", as_ratio(self.scale), as_ratio(self.sensitivity))

    def release(self, values: ArrayLike, rng: _core.SeededRng | None = None) -> NDArray[np.int64]:
        """Return the counts plus noise; each row keeps its sum.

        Parameters
        ----------
        values : array_like of int, shape (dimension,); (..., dimension) with ``rows="independent"``
            None beyond +-2**61, where noise could not keep the sum.
        rng : SeededRng, optional
            For tests only; by default the operating system's entropy.

        Returns
        -------
        ndarray of int64
            Same shape as `values`. Entries may be negative.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> mechanism = sdp.SumPreservingLaplaceMechanism(scale=1.0, dimension=2, rows="independent")
        >>> mechanism.release([[1, 2], [5, 5]]).sum(axis=1)
        array([ 3, 10])
        """
        ready = self._noise.release_ready(values, rng)
        if ready is not None:
            return ready
        array = as_integers(values)
        if array.ndim == 0 or array.shape[-1] != self.dimension:
            raise InvalidDataError(f"values must have shape (..., {self.dimension}), got shape {array.shape}")
        if array.size > self.dimension and self.rows == "one":
            raise InvalidParameterError(
                "rows must be 'independent' to release several rows, each of which keeps its sum: a record that moved "
                "from row to row would show; or release all cells as one row"
            )
        if array.size and (array.max() >= LARGEST_VALUE or array.min() <= -LARGEST_VALUE):
            raise InvalidDataError("values must lie within +-2^61 (the offending value is not shown)")
        threads = threads_for(array.size, VALUES_PER_THREAD)
        return self._noise.release(array.ravel(), threads, rng).reshape(array.shape)
