"""Integers with discrete Laplace noise."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp import _core
from simplexdp.accounting import Adjacency
from simplexdp.mechanisms._exact import Number, as_fraction, as_ratio, check_noise
from simplexdp.mechanisms._least_scale import pure_integer_scale
from simplexdp.mechanisms._noise import NoiseMechanism
from simplexdp.mechanisms._values import release_integers
from simplexdp.sensitivity import of_counts

__all__ = ["DiscreteLaplaceMechanism"]


@dataclass(frozen=True, kw_only=True)
class DiscreteLaplaceMechanism(NoiseMechanism):
    """Add discrete Laplace noise to integers: P(z) proportional to exp(-abs(z) / scale).

    The draw is exact. **Guarantee:** pure epsilon-DP with epsilon = sensitivity / scale, for all values of one release
    together.

    Parameters
    ----------
    scale : int, float or Fraction
        Of the noise, at most 2**50; counts as the exact rational that it is.
    sensitivity : int, float or Fraction
        Largest l1 distance between the integers of neighbours: 2 for a histogram under "replace"; see `for_counts`.
    adjacency : {"replace", "add_remove"}, default "replace"
        Which data sets `sensitivity` calls neighbours.
    unit : str, optional
        Whose records change together between neighbours: the column that tells persons. By default single records.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> mechanism = sdp.DiscreteLaplaceMechanism(scale=2, sensitivity=2)
    >>> mechanism.privacy.epsilon(0.0)
    1.0
    >>> mechanism.release([3, 1, 4]).shape
    (3,)
    """

    scale: Number
    sensitivity: Number
    adjacency: Adjacency = "replace"
    unit: str | None = None

    def __post_init__(self) -> None:
        check_noise(self, "scale")
        _ = self._noise

    @classmethod
    def calibrated(
        cls,
        *,
        epsilon: Number | None = None,
        advantage: float | None = None,
        sensitivity: Number,
        adjacency: Adjacency = "replace",
    ) -> "DiscreteLaplaceMechanism":
        """Return the mechanism with the least noise that is epsilon-DP.

        Parameters
        ----------
        epsilon : int, float or Fraction, optional
            Above zero; or the following.
        advantage : float, optional
            Strictly between 0 and 1: by how much an attacker's true positive rate may exceed the false positive rate.
        sensitivity : int, float or Fraction
            Largest l1 distance between the integers of neighbours.
        adjacency : {"replace", "add_remove"}, default "replace"
            Which data sets are neighbours.

        Returns
        -------
        DiscreteLaplaceMechanism
            Its scale is the Fraction sensitivity / epsilon.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> sdp.DiscreteLaplaceMechanism.calibrated(epsilon=0.5, sensitivity=2).scale
        Fraction(4, 1)
        """
        scale = pure_integer_scale(epsilon, advantage, as_fraction("sensitivity", sensitivity), adjacency)
        return cls(scale=scale, sensitivity=sensitivity, adjacency=adjacency)

    @classmethod
    def for_counts(
        cls,
        epsilon: Number | None = None,
        *,
        advantage: float | None = None,
        adjacency: Adjacency = "replace",
        max_rows: int = 1,
        unit: str | None = None,
    ) -> "DiscreteLaplaceMechanism":
        """Return the mechanism for the counts of a histogram, or of a table with rows, released in one call.

        Parameters
        ----------
        epsilon, advantage : optional
            As for `calibrated`.
        adjacency : {"replace", "add_remove"}, default "replace"
            Which data sets are neighbours.
        max_rows : int, default 1
            How many rows of data a person has at most; each is counted in at most one cell.
        unit : str, optional
            The column that tells persons; by default "person" where `max_rows` is above 1.

        Returns
        -------
        DiscreteLaplaceMechanism

        Examples
        --------
        >>> import simplexdp as sdp
        >>> sdp.DiscreteLaplaceMechanism.for_counts(0.5).scale
        Fraction(4, 1)
        """
        change = of_counts(adjacency=adjacency, max_rows=max_rows)
        made = cls.calibrated(epsilon=epsilon, advantage=advantage, sensitivity=change.l1, adjacency=adjacency)
        return made._for_persons(unit, max_rows)

    @cached_property
    def _noise(self) -> _core.DiscreteNoise:
        return _core.DiscreteNoise.laplace(as_ratio(self.scale))

    @property
    def exact_parameters(self) -> _core.NoiseMechanism:
        """The parameters that the guarantee is formed from."""
        return _core.NoiseMechanism("laplace", as_ratio(self.scale), as_ratio(self.sensitivity))

    def release(self, values: ArrayLike, rng: _core.SeededRng | None = None) -> NDArray[np.int64] | int:
        """Return the values plus independent noise.

        Parameters
        ----------
        values : array_like of int
            Any shape; beyond +-2**61 they are clamped.
        rng : SeededRng, optional
            For tests only; by default the operating system's entropy.

        Returns
        -------
        ndarray of int64 or int
            Same shape as `values`.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> abs(sdp.DiscreteLaplaceMechanism(scale=0.001, sensitivity=1).release(5) - 5)
        0
        """
        return release_integers(self._noise, values, rng)
