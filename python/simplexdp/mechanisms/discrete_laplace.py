"""Integers with discrete Laplace noise."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp import _core, _intervals
from simplexdp.accounting import Adjacency, PrivacyCurve
from simplexdp.mechanisms._exact import Number, as_fraction, as_ratio, check_noise, pure_curve
from simplexdp.mechanisms._noise import NoiseMechanism
from simplexdp.mechanisms._values import release_integers

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
    sensitivity : int, float or Fraction, default 1
        Largest l1 distance between the integers of neighbours.
    adjacency : {"replace", "add_remove"}, default "replace"
        Which data sets `sensitivity` calls neighbours.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> mechanism = sdp.DiscreteLaplaceMechanism(scale=2)
    >>> mechanism.privacy.epsilon(0.0)
    0.5
    >>> mechanism.release([3, 1, 4]).shape
    (3,)
    """

    scale: Number
    sensitivity: Number = 1
    adjacency: Adjacency = "replace"

    def __post_init__(self) -> None:
        check_noise(self, "scale")
        _ = self._noise

    @classmethod
    def calibrated(
        cls, *, epsilon: Number, sensitivity: Number = 1, adjacency: Adjacency = "replace"
    ) -> "DiscreteLaplaceMechanism":
        """Return the mechanism with the least noise that is epsilon-DP.

        Parameters
        ----------
        epsilon : int, float or Fraction
            Above zero.
        sensitivity : int, float or Fraction, default 1
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
        >>> sdp.DiscreteLaplaceMechanism.calibrated(epsilon=0.5).scale
        Fraction(2, 1)
        """
        scale = as_fraction("sensitivity", sensitivity) / as_fraction("epsilon", epsilon)
        return cls(scale=scale, sensitivity=sensitivity, adjacency=adjacency)

    @cached_property
    def _noise(self) -> _core.DiscreteNoise:
        return _core.DiscreteNoise.laplace(as_ratio(self.scale))

    def _noise_radius(self, alpha: float) -> int:
        return _intervals.laplace_radius(as_fraction("scale", self.scale), alpha)

    @cached_property
    def privacy(self) -> PrivacyCurve:
        """What one release costs."""
        return pure_curve(
            as_fraction("sensitivity", self.sensitivity) / as_fraction("scale", self.scale), self.adjacency
        )

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
        >>> abs(sdp.DiscreteLaplaceMechanism(scale=0.001).release(5) - 5)
        0
        """
        return release_integers(self._noise, values, rng)
