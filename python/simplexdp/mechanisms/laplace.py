"""Real numbers with Laplace noise, on a public grid."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp import _core
from simplexdp.accounting import Adjacency
from simplexdp.mechanisms._exact import Number, as_fraction, as_ratio, check_noise
from simplexdp.mechanisms._grid import (
    changed_values,
    check_grid,
    check_steps,
    default_resolution,
    grid_of,
    resolution_exponent,
)
from simplexdp.mechanisms._least_scale import pure_scale
from simplexdp.mechanisms._noise import NoiseMechanism
from simplexdp.mechanisms._values import release_reals
from simplexdp.sensitivity import of_counts

__all__ = ["LaplaceMechanism"]


@dataclass(frozen=True, kw_only=True)
class LaplaceMechanism(NoiseMechanism):
    """Release real numbers with Laplace noise on a public grid.

    Values are rounded to multiples of `resolution`, then discrete Laplace noise in steps of it is added, exactly: no
    bit of a value can leak through the floating-point format. **Guarantee:** pure epsilon-DP for all values of one
    release together, with epsilon = steps * resolution / scale, where ``steps = ceil(sensitivity / resolution) +
    changed - 1`` is the sensitivity after rounding.

    Parameters
    ----------
    scale : int, float or Fraction
        Of the noise; counts as the exact rational that it is.
    sensitivity : int, float or Fraction
        Largest l1 distance between the values of neighbours; for counts see `for_counts`.
    changed : int, optional
        In how many values neighbours can differ; left out, values are released one at a time.
    resolution : float, optional
        Step of the grid, a power of two; by default at most ``scale / 2**20`` and ``sensitivity / 2**20``, not below
        ``scale / 2**45``.
    adjacency : {"replace", "add_remove"}, default "replace"
        Which data sets `sensitivity` calls neighbours.
    unit : str, optional
        Whose records change together between neighbours: the column that tells persons. By default single records.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> mechanism = sdp.LaplaceMechanism(scale=2.0, sensitivity=1)
    >>> mechanism.privacy.epsilon(0.0)
    0.5
    >>> mechanism.release(0.1) % mechanism.resolution
    0.0
    """

    scale: Number
    sensitivity: Number
    changed: int | None = None
    resolution: float | None = None
    adjacency: Adjacency = "replace"
    unit: str | None = None

    def __post_init__(self) -> None:
        check_noise(self, "scale")
        check_grid(self, self.scale)
        _ = self._noise

    @classmethod
    def calibrated(
        cls,
        *,
        epsilon: Number | None = None,
        advantage: float | None = None,
        sensitivity: Number,
        changed: int | None = None,
        resolution: float | None = None,
        adjacency: Adjacency = "replace",
    ) -> "LaplaceMechanism":
        """Return the mechanism with the least noise that is epsilon-DP.

        Parameters
        ----------
        epsilon : int, float or Fraction, optional
            Above zero; or the following.
        advantage : float, optional
            Strictly between 0 and 1: by how much an attacker's true positive rate may exceed the false positive rate.
        sensitivity : int, float or Fraction
            Largest l1 distance between the values of neighbours.
        changed : int, optional
            In how many values neighbours can differ; left out, values are released one at a time.
        resolution : float, optional
            Step of the grid, a power of two; by default that of the scale without rounding.
        adjacency : {"replace", "add_remove"}, default "replace"
            Which data sets are neighbours.

        Returns
        -------
        LaplaceMechanism

        Examples
        --------
        >>> import simplexdp as sdp
        >>> sdp.LaplaceMechanism.calibrated(epsilon=0.5, sensitivity=1).scale
        Fraction(2, 1)
        """
        size = as_fraction("sensitivity", sensitivity)
        plain = pure_scale(epsilon, advantage, size, adjacency)
        if resolution is None:
            resolution = default_resolution(Fraction(plain), size)
        grid = (resolution_exponent(resolution), changed_values(changed))
        widened = _core.NoiseMechanism("laplace", (1, 1), as_ratio(size), grid).widened()
        scale = pure_scale(epsilon, advantage, Fraction(*widened), adjacency, again=True)
        check_steps(epsilon, scale, resolution)
        return cls(
            scale=scale,
            sensitivity=sensitivity,
            changed=changed,
            resolution=resolution,
            adjacency=adjacency,
        )

    @classmethod
    def for_counts(
        cls,
        epsilon: Number | None = None,
        *,
        advantage: float | None = None,
        adjacency: Adjacency = "replace",
        max_rows: int = 1,
        unit: str | None = None,
    ) -> "LaplaceMechanism":
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
        LaplaceMechanism

        Examples
        --------
        >>> import simplexdp as sdp
        >>> sdp.LaplaceMechanism.for_counts(0.5).privacy.epsilon(0.0)
        0.5
        """
        change = of_counts(adjacency=adjacency, max_rows=max_rows)
        made = cls.calibrated(
            epsilon=epsilon, advantage=advantage, sensitivity=change.l1, changed=change.cells, adjacency=adjacency
        )
        return made._for_persons(unit, max_rows)

    @cached_property
    def _noise(self) -> _core.DiscreteNoise:
        return _core.DiscreteNoise.laplace(as_ratio(as_fraction("scale", self.scale) / grid_of(self)))

    @cached_property
    def _log_resolution(self) -> int:
        return resolution_exponent(self.resolution)

    @property
    def exact_parameters(self) -> _core.NoiseMechanism:
        """The parameters that the guarantee is formed from."""
        grid = (self._log_resolution, changed_values(self.changed))
        return _core.NoiseMechanism("laplace", as_ratio(self.scale), as_ratio(self.sensitivity), grid)

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
        >>> sdp.LaplaceMechanism(scale=1.0, sensitivity=1, changed=2).release([[0.5], [1.5]]).shape
        (2, 1)
        """
        return release_reals(self._noise, values, self._log_resolution, rng, self.changed)
