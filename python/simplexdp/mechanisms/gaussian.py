"""Real numbers with Gaussian noise, on a public grid."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp import _arguments as check
from simplexdp import _core
from simplexdp.accounting import Adjacency
from simplexdp.mechanisms._exact import Number, as_fraction, as_ratio, check_noise
from simplexdp.mechanisms._grid import (
    changed_values,
    check_grid,
    grid_of,
    resolution_exponent,
)
from simplexdp.mechanisms._least_scale import gaussian_budget
from simplexdp.mechanisms._noise import NoiseMechanism
from simplexdp.mechanisms._values import release_reals
from simplexdp.sensitivity import of_counts

__all__ = ["GaussianMechanism"]


@dataclass(frozen=True, kw_only=True)
class GaussianMechanism(NoiseMechanism):
    """Release real numbers with Gaussian noise on a public grid.

    Values are rounded to multiples of `resolution`, then discrete Gaussian noise in steps of it is added, exactly: no
    bit of a value can leak through the floating-point format. **Guarantee:** for all values of one release together,
    the curve of real Gaussian noise at sensitivity ``widened = sensitivity + sqrt(changed) * resolution``, which
    bounds the distance after rounding, and what the steps of the grid add: ``changed / 5 * (resolution / sigma)**4``
    as a sampling error, below 1e-24 per changed value on the default grid. Also rho-zCDP with
    rho = (widened / sigma)**2 / 2, which alone is reported where sigma is below 16 steps, and beside the curve where
    losses are so large that the steps would count.

    Parameters
    ----------
    sigma : int, float or Fraction
        Of the noise; counts as the exact rational that it is.
    sensitivity : int, float or Fraction
        Largest Euclidean distance between the values of neighbours; for counts see `for_counts`.
    changed : int, optional
        In how many values neighbours can differ; left out, values are released one at a time.
    resolution : float, optional
        Step of the grid, a power of two; by default at most ``sigma / 2**20`` and ``sensitivity / 2**20``, not below
        ``sigma / 2**45``.
    adjacency : {"replace", "add_remove"}, default "replace"
        Which data sets `sensitivity` calls neighbours.
    unit : str, optional
        Whose records change together between neighbours: the column that tells persons. By default single records.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> mechanism = sdp.GaussianMechanism(sigma=4.0, sensitivity=1, changed=3)
    >>> round(mechanism.rho, 6)
    0.03125
    >>> mechanism.release([0.1, 0.2, 0.3]).shape
    (3,)
    """

    sigma: Number
    sensitivity: Number
    changed: int | None = None
    resolution: float | None = None
    adjacency: Adjacency = "replace"
    unit: str | None = None

    def __post_init__(self) -> None:
        check_noise(self, "sigma")
        check_grid(self, self.sigma)
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
        changed: int | None = None,
        adjacency: Adjacency = "replace",
    ) -> "GaussianMechanism":
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
            Largest Euclidean distance between the values of neighbours.
        changed : int, optional
            In how many values neighbours can differ; left out, values are released one at a time.
        adjacency : {"replace", "add_remove"}, default "replace"
            Which data sets are neighbours.

        Returns
        -------
        GaussianMechanism
            On the default grid of the least sigma.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> sdp.GaussianMechanism.calibrated(rho=0.5, sensitivity=1).rho <= 0.5
        True
        """
        budget = gaussian_budget(rho, epsilon, delta, advantage)
        size = as_fraction("sensitivity", sensitivity).as_integer_ratio()
        check.choice("adjacency", adjacency, get_args(Adjacency))
        sigma, log_step = _core.least_noise_on_grid(adjacency, size, changed_values(changed), **budget)
        return cls(
            sigma=sigma,
            sensitivity=sensitivity,
            changed=changed,
            resolution=math.ldexp(1.0, log_step),
            adjacency=adjacency,
        )

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
    ) -> "GaussianMechanism":
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
        GaussianMechanism

        Examples
        --------
        >>> import simplexdp as sdp
        >>> mechanism = sdp.GaussianMechanism.for_counts(1.0, 1e-6)
        >>> round(float(mechanism.sigma), 3), bool(mechanism.privacy.epsilon(1e-6) <= 1)
        (5.975, True)
        """
        change = of_counts(adjacency=adjacency, max_rows=max_rows)
        made = cls.calibrated(
            rho=rho,
            epsilon=epsilon,
            delta=delta,
            advantage=advantage,
            sensitivity=change.l2,
            changed=change.cells,
            adjacency=adjacency,
        )
        return made._for_persons(unit, max_rows)

    @cached_property
    def _noise(self) -> _core.DiscreteNoise:
        return _core.DiscreteNoise.gaussian(as_ratio(as_fraction("sigma", self.sigma) / grid_of(self)))

    @property
    def rho(self) -> float:
        """The parameter of zero-concentrated DP, rounding to the grid included, rounded up."""
        return self.exact_parameters.rho()

    @property
    def exact_parameters(self) -> _core.NoiseMechanism:
        """The parameters that the guarantee is formed from."""
        grid = (self._log_resolution, changed_values(self.changed))
        return _core.NoiseMechanism("gaussian", as_ratio(self.sigma), as_ratio(self.sensitivity), grid)

    @cached_property
    def _log_resolution(self) -> int:
        return resolution_exponent(self.resolution)

    def release(self, values: ArrayLike, rng: _core.SeededRng | None = None) -> NDArray[np.float64] | float:
        """Return the rounded values plus independent noise.

        Parameters
        ----------
        values : array_like of float
            Any shape; beyond +-2**51 steps of the grid they are clamped.
        rng : SeededRng, optional
            For tests only; by default the operating system's entropy.

        Returns
        -------
        ndarray of float64 or float
            Multiples of `resolution`, same shape as `values`.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> isinstance(sdp.GaussianMechanism(sigma=1.0, sensitivity=1).release(0.5), float)
        True
        """
        return release_reals(self._noise, values, self._log_resolution, rng, self.changed)
