"""Integers with discrete Gaussian noise."""

from dataclasses import dataclass
from functools import cached_property
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp import _arguments as check
from simplexdp import _core
from simplexdp.accounting import Adjacency
from simplexdp.mechanisms._exact import Number, as_fraction, as_ratio, check_noise
from simplexdp.mechanisms._least_scale import gaussian_budget
from simplexdp.mechanisms._noise import NoiseMechanism
from simplexdp.mechanisms._values import release_integers
from simplexdp.sensitivity import of_counts

__all__ = ["DiscreteGaussianMechanism"]


@dataclass(frozen=True, kw_only=True)
class DiscreteGaussianMechanism(NoiseMechanism):
    """Add discrete Gaussian noise to integers: P(z) proportional to exp(-z^2 / (2 sigma^2)).

    The draw is exact. **Guarantee:** rho-zCDP with rho = (sensitivity / sigma)^2 / 2, for all values of one release
    together (Canonne, Kamath and Steinke 2020, theorems 4 and 14). Where the squared sensitivity is below 3, so that at
    most two integers change, by one each, and sigma is at most 5000, the curve is the exact one; else, from a sigma of
    6 on, that of the normal law of variance sigma^2 - 3 (docs/privacy-curves.md).

    Parameters
    ----------
    sigma : int, float or Fraction
        Of the noise, at most 2**50; counts as the exact rational that it is. The standard deviation is at most that.
    sensitivity : int, float or Fraction
        Largest Euclidean distance between the integers of neighbours: the root of 2 for a histogram under "replace";
        see `for_counts`.
    adjacency : {"replace", "add_remove"}, default "replace"
        Which data sets `sensitivity` calls neighbours.
    unit : str, optional
        Whose records change together between neighbours: the column that tells persons. By default single records.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> mechanism = sdp.DiscreteGaussianMechanism(sigma=10, sensitivity=1)
    >>> mechanism.rho
    0.005
    >>> mechanism.release([[3, 1], [4, 1]]).shape
    (2, 2)
    """

    sigma: Number
    sensitivity: Number
    adjacency: Adjacency = "replace"
    unit: str | None = None

    def __post_init__(self) -> None:
        check_noise(self, "sigma")
        _ = self._noise

    @classmethod
    def calibrated(
        cls,
        *,
        rho: Number | None = None,
        epsilon: float | None = None,
        delta: float | None = None,
        advantage: float | None = None,
        sensitivity: Number,
        adjacency: Adjacency = "replace",
    ) -> "DiscreteGaussianMechanism":
        """Return the mechanism with the least noise that is rho-zCDP, or that the curve shows (epsilon, delta)-DP.

        Parameters
        ----------
        rho : int, float or Fraction, optional
            Above zero; or both of the following; or the one after them.
        epsilon, delta : float, optional
            Above zero, delta below one.
        advantage : float, optional
            Strictly between 0 and 1: by how much an attacker's true positive rate may exceed the false positive rate.
        sensitivity : int, float or Fraction
            Largest Euclidean distance between the integers of neighbours.
        adjacency : {"replace", "add_remove"}, default "replace"
            Which data sets are neighbours.

        Returns
        -------
        DiscreteGaussianMechanism
            Its sigma is rounded up to 40 significant bits.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> sdp.DiscreteGaussianMechanism.calibrated(rho=0.5, sensitivity=1).sigma
        1.0
        >>> mechanism = sdp.DiscreteGaussianMechanism.calibrated(epsilon=1.0, delta=1e-6, sensitivity=1)
        >>> bool(mechanism.privacy.epsilon(1e-6) <= 1)
        True
        """
        budget = gaussian_budget(rho, epsilon, delta, advantage)
        size = as_fraction("sensitivity", sensitivity).as_integer_ratio()
        check.choice("adjacency", adjacency, get_args(Adjacency))
        sigma = _core.least_noise(adjacency, "gaussian", size, **budget)
        return cls(sigma=sigma, sensitivity=sensitivity, adjacency=adjacency)

    @classmethod
    def for_counts(
        cls,
        epsilon: float | None = None,
        delta: float | None = None,
        *,
        rho: Number | None = None,
        advantage: float | None = None,
        adjacency: Adjacency = "replace",
        max_rows: int = 1,
        unit: str | None = None,
    ) -> "DiscreteGaussianMechanism":
        """Return the mechanism for the counts of a histogram, or of a table with rows, released in one call.

        Parameters
        ----------
        epsilon, delta, rho, advantage : optional
            As for `calibrated`.
        adjacency : {"replace", "add_remove"}, default "replace"
            Which data sets are neighbours.
        max_rows : int, default 1
            How many rows of data a person has at most; each is counted in at most one cell.
        unit : str, optional
            The column that tells persons; by default "person" where `max_rows` is above 1.

        Returns
        -------
        DiscreteGaussianMechanism

        Examples
        --------
        >>> import simplexdp as sdp
        >>> mechanism = sdp.DiscreteGaussianMechanism.for_counts(1.0, 1e-6)
        >>> round(float(mechanism.sigma), 3), bool(mechanism.privacy.epsilon(1e-6) <= 1)
        (5.977, True)
        """
        change = of_counts(adjacency=adjacency, max_rows=max_rows)
        made = cls.calibrated(
            rho=rho,
            epsilon=epsilon,
            delta=delta,
            advantage=advantage,
            sensitivity=change.l2,
            adjacency=adjacency,
        )
        return made._for_persons(unit, max_rows)

    @cached_property
    def _noise(self) -> _core.DiscreteNoise:
        return _core.DiscreteNoise.gaussian(as_ratio(self.sigma))

    @property
    def rho(self) -> float:
        """The parameter of zero-concentrated DP, rounded up."""
        return self.exact_parameters.rho()

    @property
    def exact_parameters(self) -> _core.NoiseMechanism:
        """The parameters that the guarantee is formed from."""
        return _core.NoiseMechanism("gaussian", as_ratio(self.sigma), as_ratio(self.sensitivity))

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
        >>> sdp.DiscreteGaussianMechanism(sigma=0.01, sensitivity=1).release([1, 2])
        array([1, 2])
        """
        return release_integers(self._noise, values, rng)
