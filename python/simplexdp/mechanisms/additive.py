"""Mechanisms that add noise: discrete on integers, on a public grid for real numbers, never a double to a double."""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp import _arguments as check
from simplexdp import _core, _intervals
from simplexdp._parallel import threads_for
from simplexdp.accounting import Adjacency, PrivacyCurve
from simplexdp.accounting.gaussian_grid import gaussian_grid_curve
from simplexdp.accounting.integer_gaussian import integer_gaussian_curve
from simplexdp.exceptions import InvalidDataError, InvalidParameterError

__all__ = [
    "DiscreteGaussianMechanism",
    "DiscreteLaplaceMechanism",
    "GaussianMechanism",
    "LaplaceMechanism",
    "SumPreservingLaplaceMechanism",
]

Number = int | float | Fraction
"""What counts as the exact rational that it is."""

LARGEST_VALUE = 2**61
"""Integers beyond are clamped, so that no sum with noise can overflow."""

_VALUES_PER_THREAD = 1 << 17
_STEPS_PER_SCALE = 20
"""The default grid has 2^20 to 2^21 steps to the scale of the noise."""

_MOST_STEPS = 44
"""Grids are at most so fine, as a logarithm: values are clamped beyond 2^51 steps."""

_SIGMA_BITS = 40
"""Calibrated Gaussian scales have this many significant bits."""


class _Additive:
    """What the mechanisms of this module share; the fields of the subclasses are their whole state."""

    adjacency: Adjacency

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __getstate__(self) -> dict[str, Any]:
        # The table of the noise is made again where it is needed.
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def interval(self, y: ArrayLike, level: float = 0.95, *, simultaneous: bool = False) -> NDArray[Any]:
        """Return confidence intervals of the true values, from a release and public parameters alone.

        Each covers its true value with a probability of at least `level`, whatever the data: noise is symmetric, so
        the interval is the released value plus and minus a quantile of the noise, and half a step of the grid where the
        mechanism rounds. Post-processing: costs no privacy.

        Parameters
        ----------
        y : array_like
            What was released: integers, or multiples of the resolution.
        level : float, default 0.95
            Probability of covering, strictly between 0 and 1.
        simultaneous : bool, default False
            Whether all intervals along the last axis hold together with probability `level`.

        Returns
        -------
        ndarray of int64 or float64, shape (*y.shape, 2)
            Lower and upper ends.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> sdp.DiscreteLaplaceMechanism(scale=2).interval([10, 20]).tolist()
        [[4, 16], [14, 26]]
        """
        values = np.asarray(check.numbers("y", y))
        entries = values.shape[-1] if values.ndim else 1
        alpha = _intervals.alpha_each(level, simultaneous, max(entries, 1))
        radius = self._noise_radius(alpha)
        if isinstance(radius, int):
            if np.any(values != np.floor(values)) or np.any(np.abs(values) > 2.0**62):
                raise InvalidParameterError("y must be integers, as released")
            values = np.asarray(y, dtype=np.int64)
        return np.stack([values - radius, values + radius], axis=-1)

    def _noise_radius(self, alpha: float) -> int | float:
        """Return what the error of a value exceeds with a probability of at most `alpha`: an int for integers."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class DiscreteLaplaceMechanism(_Additive):
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
        _check_noise(self, "scale")
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
        scale = _exact("sensitivity", sensitivity) / _exact("epsilon", epsilon)
        return cls(scale=scale, sensitivity=sensitivity, adjacency=adjacency)

    @cached_property
    def _noise(self) -> _core.DiscreteNoise:
        return _core.DiscreteNoise.laplace(_ratio(self.scale))

    def _noise_radius(self, alpha: float) -> int:
        return _intervals.laplace_radius(_exact("scale", self.scale), alpha)

    @cached_property
    def privacy(self) -> PrivacyCurve:
        """What one release costs."""
        return _pure(_exact("sensitivity", self.sensitivity) / _exact("scale", self.scale), self.adjacency)

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
        return _release_integers(self._noise, values, rng)


@dataclass(frozen=True, kw_only=True)
class DiscreteGaussianMechanism(_Additive):
    """Add discrete Gaussian noise to integers: P(z) proportional to exp(-z**2 / (2 sigma**2)).

    The draw is exact. **Guarantee:** rho-zCDP with rho = (sensitivity / sigma)**2 / 2, for all values of one release
    together (Canonne, Kamath and Steinke 2020, theorems 4 and 14). Where the squared sensitivity is below 3, so that at
    most two integers change, by one each, and sigma is at most 5000, the curve is the exact one.

    Parameters
    ----------
    sigma : int, float or Fraction
        Of the noise, at most 2**50; counts as the exact rational that it is. The standard deviation is at most that.
    sensitivity : int, float or Fraction, default 1
        Largest Euclidean distance between the integers of neighbours.
    adjacency : {"replace", "add_remove"}, default "replace"
        Which data sets `sensitivity` calls neighbours.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> mechanism = sdp.DiscreteGaussianMechanism(sigma=10)
    >>> mechanism.rho
    0.005
    >>> mechanism.release([[3, 1], [4, 1]]).shape
    (2, 2)
    """

    sigma: Number
    sensitivity: Number = 1
    adjacency: Adjacency = "replace"

    def __post_init__(self) -> None:
        _check_noise(self, "sigma")
        _ = self._noise

    @classmethod
    def calibrated(
        cls,
        *,
        rho: Number | None = None,
        epsilon: float | None = None,
        delta: float | None = None,
        sensitivity: Number = 1,
        adjacency: Adjacency = "replace",
    ) -> "DiscreteGaussianMechanism":
        """Return the mechanism with the least noise that is rho-zCDP, or that the curve shows (epsilon, delta)-DP.

        Parameters
        ----------
        rho : int, float or Fraction, optional
            Above zero; or both of the following.
        epsilon, delta : float, optional
            Above zero, delta below one.
        sensitivity : int, float or Fraction, default 1
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
        >>> sdp.DiscreteGaussianMechanism.calibrated(rho=0.5).sigma
        1.0
        >>> bool(sdp.DiscreteGaussianMechanism.calibrated(epsilon=1.0, delta=1e-6).privacy.epsilon(1e-6) <= 1)
        True
        """

        def spent(sigma: Fraction, size: Fraction) -> PrivacyCurve:
            return integer_gaussian_curve(sigma, size, adjacency)

        sigma = _calibrated_sigma(rho, epsilon, delta, _exact("sensitivity", sensitivity), spent)
        return cls(sigma=sigma, sensitivity=sensitivity, adjacency=adjacency)

    @cached_property
    def _noise(self) -> _core.DiscreteNoise:
        return _core.DiscreteNoise.gaussian(_ratio(self.sigma))

    @property
    def rho(self) -> float:
        """The parameter of zero-concentrated DP, rounded up."""
        return _float_up((_exact("sensitivity", self.sensitivity) / _exact("sigma", self.sigma)) ** 2 / 2)

    def _noise_radius(self, alpha: float) -> int:
        return _intervals.gaussian_radius(_exact("sigma", self.sigma), alpha)

    @cached_property
    def privacy(self) -> PrivacyCurve:
        """What one release costs: the exact curve where one or two integers change by one, else that of rho-zCDP."""
        sigma, size = _exact("sigma", self.sigma), _exact("sensitivity", self.sensitivity)
        return integer_gaussian_curve(sigma, size, self.adjacency)

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
        >>> sdp.DiscreteGaussianMechanism(sigma=0.01).release([1, 2])
        array([1, 2])
        """
        return _release_integers(self._noise, values, rng)


@dataclass(frozen=True, kw_only=True)
class SumPreservingLaplaceMechanism(_Additive):
    """Add Laplace noise that sums to zero to integer counts whose total is public.

    P(z) is proportional to exp(-l1(z) / scale) among the integer vectors with sum zero; the draw is exact.
    **Guarantee:** pure epsilon-DP with epsilon = sensitivity / scale, provided that neighbours have the same total, as
    under replacement of one record. For several rows the sensitivity counts all of them.

    Parameters
    ----------
    scale : int, float or Fraction
        Of the noise, at most 2**50; counts as the exact rational that it is.
    dimension : int
        Number of counts.
    sensitivity : int, float or Fraction, default 2
        Largest l1 distance between the counts of neighbours; a record that moves changes two counts by one.

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

    def __post_init__(self) -> None:
        self._set(dimension=check.integer("dimension", self.dimension, 1))
        if self.dimension > 2**31:
            raise InvalidParameterError(f"dimension must be at most 2^31, got {self.dimension}")
        _exact("scale", self.scale)
        _exact("sensitivity", self.sensitivity)
        _ = self._noise

    @classmethod
    def calibrated(cls, *, epsilon: Number, dimension: int, sensitivity: Number = 2) -> "SumPreservingLaplaceMechanism":
        """Return the mechanism with the least noise that is epsilon-DP.

        Parameters
        ----------
        epsilon : int, float or Fraction
            Above zero.
        dimension : int
            Number of counts.
        sensitivity : int, float or Fraction, default 2
            Largest l1 distance between the counts of neighbours.

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
        scale = _exact("sensitivity", sensitivity) / _exact("epsilon", epsilon)
        return cls(scale=scale, dimension=dimension, sensitivity=sensitivity)

    @property
    def adjacency(self) -> Adjacency:  # type: ignore[override]
        """Always ``"replace"``: neighbours must have the same total."""
        return "replace"

    @cached_property
    def _noise(self) -> _core.SumPreservingNoise:
        return _core.SumPreservingNoise(_ratio(self.scale), self.dimension)

    def _noise_radius(self, alpha: float) -> int:
        # Given the sum, the density of one entry is that of free noise times a symmetric log-concave function (the
        # density of the sum of the others), which falls with abs(z): abs(z) is stochastically smaller than free.
        return _intervals.laplace_radius(_exact("scale", self.scale), alpha)

    @cached_property
    def privacy(self) -> PrivacyCurve:
        """What one release costs."""
        return _pure(_exact("sensitivity", self.sensitivity) / _exact("scale", self.scale), "replace")

    def release(self, values: ArrayLike, rng: _core.SeededRng | None = None) -> NDArray[np.int64]:
        """Return the counts plus noise; each row keeps its sum.

        Parameters
        ----------
        values : array_like of int, shape (..., dimension)
            Beyond +-2**61 they are clamped.
        rng : SeededRng, optional
            For tests only; by default the operating system's entropy.

        Returns
        -------
        ndarray of int64
            Same shape as `values`. Entries may be negative.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> mechanism = sdp.SumPreservingLaplaceMechanism(scale=1.0, dimension=2)
        >>> mechanism.release([[1, 2], [5, 5]]).sum(axis=1)
        array([ 3, 10])
        """
        array = _integers(values)
        if array.ndim == 0 or array.shape[-1] != self.dimension:
            raise InvalidDataError(f"values must have shape (..., {self.dimension}), got shape {array.shape}")
        threads = threads_for(array.size, _VALUES_PER_THREAD)
        return self._noise.release(array.ravel(), threads, rng).reshape(array.shape)


@dataclass(frozen=True, kw_only=True)
class LaplaceMechanism(_Additive):
    """Release real numbers with Laplace noise on a public grid.

    Values are rounded to multiples of `resolution`, then discrete Laplace noise in steps of it is added, exactly: no
    bit of a value can leak through the floating-point format. **Guarantee:** pure epsilon-DP for all values of one
    release together, with epsilon = steps * resolution / scale, where ``steps = ceil(sensitivity / resolution) +
    changed - 1`` is the sensitivity after rounding.

    Parameters
    ----------
    scale : int, float or Fraction
        Of the noise; counts as the exact rational that it is.
    sensitivity : int, float or Fraction, default 1
        Largest l1 distance between the values of neighbours.
    changed : int, default 1
        In how many values neighbours can differ.
    resolution : float, optional
        Step of the grid, a power of two; by default the largest below scale / 2**20.
    adjacency : {"replace", "add_remove"}, default "replace"
        Which data sets `sensitivity` calls neighbours.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> mechanism = sdp.LaplaceMechanism(scale=2.0)
    >>> mechanism.privacy.epsilon(0.0)
    0.5
    >>> y = mechanism.release([0.1, 0.2])
    >>> bool((y % mechanism.resolution == 0).all())
    True
    """

    scale: Number
    sensitivity: Number = 1
    changed: int = 1
    resolution: float | None = None
    adjacency: Adjacency = "replace"

    def __post_init__(self) -> None:
        _check_noise(self, "scale")
        _check_grid(self, self.scale)
        _ = self._noise

    @classmethod
    def calibrated(
        cls,
        *,
        epsilon: Number,
        sensitivity: Number = 1,
        changed: int = 1,
        resolution: float | None = None,
        adjacency: Adjacency = "replace",
    ) -> "LaplaceMechanism":
        """Return the mechanism with the least noise that is epsilon-DP.

        Parameters
        ----------
        epsilon : int, float or Fraction
            Above zero.
        sensitivity : int, float or Fraction, default 1
            Largest l1 distance between the values of neighbours.
        changed : int, default 1
            In how many values neighbours can differ.
        resolution : float, optional
            Step of the grid, a power of two; by default the largest below sensitivity / epsilon / 2**20.
        adjacency : {"replace", "add_remove"}, default "replace"
            Which data sets are neighbours.

        Returns
        -------
        LaplaceMechanism

        Examples
        --------
        >>> import simplexdp as sdp
        >>> sdp.LaplaceMechanism.calibrated(epsilon=0.5).scale
        Fraction(2, 1)
        """
        size = _exact("sensitivity", sensitivity)
        epsilon = _exact("epsilon", epsilon)
        if resolution is None:
            resolution = _default_resolution(size / epsilon)
        steps = _l1_steps(size, check.integer("changed", changed, 1), _log_resolution(resolution))
        return cls(
            scale=steps * Fraction(resolution) / epsilon,
            sensitivity=sensitivity,
            changed=changed,
            resolution=resolution,
            adjacency=adjacency,
        )

    @cached_property
    def _noise(self) -> _core.DiscreteNoise:
        return _core.DiscreteNoise.laplace(_ratio(_exact("scale", self.scale) / _grid(self)))

    def _noise_radius(self, alpha: float) -> float:
        return (_intervals.laplace_radius(_exact("scale", self.scale) / _grid(self), alpha) + 0.5) * _step(self)

    @cached_property
    def privacy(self) -> PrivacyCurve:
        """What one release costs, rounding to the grid included."""
        steps = _l1_steps(_exact("sensitivity", self.sensitivity), self.changed, _log_resolution(self.resolution))
        return _pure(steps * _grid(self) / _exact("scale", self.scale), self.adjacency)

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
        >>> sdp.LaplaceMechanism(scale=1.0).release([[0.5], [1.5]]).shape
        (2, 1)
        """
        return _release_reals(self._noise, values, _log_resolution(self.resolution), rng)


@dataclass(frozen=True, kw_only=True)
class GaussianMechanism(_Additive):
    """Release real numbers with Gaussian noise on a public grid.

    Values are rounded to multiples of `resolution`, then discrete Gaussian noise in steps of it is added, exactly: no
    bit of a value can leak through the floating-point format. **Guarantee:** for all values of one release together,
    the curve of real Gaussian noise at sensitivity ``widened = sensitivity + sqrt(changed) * resolution``, which
    bounds the distance after rounding, and what the steps of the grid add: ``changed / 5 * (resolution / sigma)**4``
    as a sampling error, below 1e-24 per changed value on the default grid. Also rho-zCDP with
    rho = (widened / sigma)**2 / 2, which alone is reported where sigma is below 16 steps.

    Parameters
    ----------
    sigma : int, float or Fraction
        Of the noise; counts as the exact rational that it is.
    sensitivity : int, float or Fraction, default 1
        Largest Euclidean distance between the values of neighbours.
    changed : int, default 1
        In how many values neighbours can differ.
    resolution : float, optional
        Step of the grid, a power of two; by default the largest below sigma / 2**20.
    adjacency : {"replace", "add_remove"}, default "replace"
        Which data sets `sensitivity` calls neighbours.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> mechanism = sdp.GaussianMechanism(sigma=4.0, changed=3)
    >>> round(mechanism.rho, 6)
    0.03125
    >>> mechanism.release([0.1, 0.2, 0.3]).shape
    (3,)
    """

    sigma: Number
    sensitivity: Number = 1
    changed: int = 1
    resolution: float | None = None
    adjacency: Adjacency = "replace"

    def __post_init__(self) -> None:
        _check_noise(self, "sigma")
        _check_grid(self, self.sigma)
        _ = self._noise

    @classmethod
    def calibrated(
        cls,
        *,
        rho: Number | None = None,
        epsilon: float | None = None,
        delta: float | None = None,
        sensitivity: Number = 1,
        changed: int = 1,
        adjacency: Adjacency = "replace",
    ) -> "GaussianMechanism":
        """Return the mechanism with the least noise that is rho-zCDP, or that the curve shows (epsilon, delta)-DP.

        Parameters
        ----------
        rho : int, float or Fraction, optional
            Above zero; or both of the following.
        epsilon, delta : float, optional
            Above zero, delta below one.
        sensitivity : int, float or Fraction, default 1
            Largest Euclidean distance between the values of neighbours.
        changed : int, default 1
            In how many values neighbours can differ.
        adjacency : {"replace", "add_remove"}, default "replace"
            Which data sets are neighbours.

        Returns
        -------
        GaussianMechanism
            On the default grid of the least sigma.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> sdp.GaussianMechanism.calibrated(rho=0.5).rho <= 0.5
        True
        """
        size, changed = _exact("sensitivity", sensitivity), check.integer("changed", changed, 1)
        steps = _STEPS_PER_SCALE if epsilon is None or delta is None else _steps_per_sigma(epsilon, delta, changed)

        def spent(sigma: Fraction, size: Fraction) -> PrivacyCurve:
            # The coarsest grid that the default can mean for this sigma.
            return gaussian_grid_curve(sigma, size, changed, sigma / 2**steps, adjacency)

        resolution = _default_resolution(Fraction(_calibrated_sigma(rho, epsilon, delta, size, spent)), steps)
        widened = _l2_widened(size, changed, Fraction(resolution))
        return cls(
            sigma=_calibrated_sigma(rho, epsilon, delta, widened, spent),
            sensitivity=sensitivity,
            changed=changed,
            resolution=resolution,
            adjacency=adjacency,
        )

    @cached_property
    def _noise(self) -> _core.DiscreteNoise:
        return _core.DiscreteNoise.gaussian(_ratio(_exact("sigma", self.sigma) / _grid(self)))

    @property
    def rho(self) -> float:
        """The parameter of zero-concentrated DP, rounding to the grid included, rounded up."""
        widened = _l2_widened(_exact("sensitivity", self.sensitivity), self.changed, _grid(self))
        return _float_up((widened / _exact("sigma", self.sigma)) ** 2 / 2)

    def _noise_radius(self, alpha: float) -> float:
        return (_intervals.gaussian_radius(_exact("sigma", self.sigma) / _grid(self), alpha) + 0.5) * _step(self)

    @cached_property
    def privacy(self) -> PrivacyCurve:
        """What one release costs."""
        sigma, grid = _exact("sigma", self.sigma), _grid(self)
        widened = _l2_widened(_exact("sensitivity", self.sensitivity), self.changed, grid)
        return gaussian_grid_curve(sigma, widened, self.changed, grid, self.adjacency)

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
        >>> isinstance(sdp.GaussianMechanism(sigma=1.0).release(0.5), float)
        True
        """
        return _release_reals(self._noise, values, _log_resolution(self.resolution), rng)


def _exact(name: str, value: Any) -> Fraction:
    """Check for a positive finite number and return it exactly."""
    try:
        exact = Fraction(value.item() if isinstance(value, np.generic) else value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidParameterError(f"{name} must be a finite number, got {value!r}") from None
    if isinstance(value, str) or not exact > 0:
        raise InvalidParameterError(f"{name} must be positive and a number, got {value!r}")
    return exact


def _ratio(value: Number) -> tuple[int, int]:
    return _exact("scale", value).as_integer_ratio()


def _check_noise(mechanism: Any, name: str) -> None:
    _exact(name, getattr(mechanism, name))
    _exact("sensitivity", mechanism.sensitivity)
    check.choice("adjacency", mechanism.adjacency, get_args(Adjacency))


def _check_grid(mechanism: Any, size: Number) -> None:
    exact = _exact("scale", size)
    resolution = _default_resolution(exact) if mechanism.resolution is None else mechanism.resolution
    log_resolution = _log_resolution(resolution)
    if exact > Fraction(2) ** (log_resolution + 45):
        raise InvalidParameterError(f"resolution must be at least the noise's scale / 2^45, got {resolution!r}")
    changed = check.integer("changed", mechanism.changed, 1)
    mechanism._set(resolution=math.ldexp(1.0, log_resolution), changed=changed)


def _default_resolution(size: Fraction, steps: int = _STEPS_PER_SCALE) -> float:
    """Return the largest power of two of at most size / 2**steps."""
    log = size.numerator.bit_length() - size.denominator.bit_length()
    log -= size < Fraction(2) ** log
    return math.ldexp(1.0, min(max(log - steps, -1000), 900))


def _log_resolution(resolution: Any) -> int:
    try:
        mantissa, exponent = math.frexp(resolution)
    except TypeError:
        mantissa, exponent = math.nan, 0
    if mantissa != 0.5 or not -1000 <= exponent - 1 <= 900:
        raise InvalidParameterError(f"resolution must be a power of two from 2^-1000 to 2^900, got {resolution!r}")
    return exponent - 1


def _step(mechanism: Any) -> float:
    return float(mechanism.resolution)


def _grid(mechanism: Any) -> Fraction:
    return Fraction(mechanism.resolution)


def _l1_steps(sensitivity: Fraction, changed: int, log_resolution: int) -> int:
    """Bound the l1 distance of the rounded values, in steps.

    Two numbers at distance t steps are rounded to integers at distance ceil(t) at most; for k numbers with distances
    t_i that sum to T, the sum of ceil(t_i) is below T + k, and an integer.
    """
    return math.ceil(sensitivity / Fraction(2) ** log_resolution) + changed - 1


def _l2_widened(sensitivity: Fraction, changed: int, resolution: Fraction) -> Fraction:
    """Bound the Euclidean distance of the rounded values: each difference grows by less than one step."""
    root = Fraction(math.isqrt(changed << 60) + 1, 1 << 30)
    return sensitivity + root * resolution


def _pure(epsilon: Fraction, adjacency: Adjacency) -> PrivacyCurve:
    return PrivacyCurve.pure(_float_up(epsilon), adjacency=adjacency)


def _float_up(value: Fraction) -> float:
    """Return the least double of at least `value`."""
    try:
        nearest = float(value)
    except OverflowError:
        raise InvalidParameterError("the privacy loss must fit a double: the noise is too small") from None
    return nearest if nearest >= value else math.nextafter(nearest, math.inf)


def _steps_per_sigma(epsilon: Any, delta: Any, changed: int) -> int:
    """Return the logarithm of the steps to sigma at which the grid takes less than a thousandth of delta."""
    epsilon, delta = check.positive("epsilon", epsilon), check.open_unit("delta", delta)
    bits = (math.log2(changed) + epsilon / math.log(2) + 1 - math.log2(delta) + 10) / 4
    return int(min(max(math.ceil(bits), _STEPS_PER_SCALE), _MOST_STEPS))


def _calibrated_sigma(
    rho: Number | None,
    epsilon: float | None,
    delta: float | None,
    size: Fraction,
    spent: Callable[[Fraction, Fraction], PrivacyCurve],
) -> float:
    """Return the least sigma for a budget, rounded up to some bits; `spent` is the curve at a sigma and a distance."""
    if (rho is None) == (epsilon is None and delta is None) or (epsilon is None) != (delta is None):
        raise InvalidParameterError("a budget must be rho, or epsilon and delta, and not both")
    if rho is not None:
        target = _exact("rho", rho)
        square = size * size / (2 * target)
        return _smallest(lambda sigma: sigma * sigma >= square, size)
    target_epsilon, target_delta = check.positive("epsilon", epsilon), check.open_unit("delta", delta)
    return _smallest(lambda sigma: bool(spent(sigma, size).epsilon(target_delta) <= target_epsilon), size)


def _smallest(holds: Any, start: Fraction) -> float:
    """Return the least number of some bits for which a property holds that holds for all larger ones."""
    low = high = Fraction(math.ldexp(1.0, math.frexp(float(start))[1]))
    for _ in range(200):
        if holds(high):
            break
        high *= 2
    for _ in range(200):
        if not holds(low):
            break
        low /= 2
    # Now low fails and high holds; both are powers of two or the search gave up.
    if not holds(high) or holds(low):
        raise InvalidParameterError("the budget must allow a scale between 2^-200 and 2^200 times the sensitivity")
    while high > 2 * low:
        low, high = (low * 2, high) if not holds(low * 2) else (low, low * 2)
    for _ in range(_SIGMA_BITS):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return float(high)


def _integers(values: ArrayLike) -> NDArray[np.int64]:
    """Coerce private integers; no message tells anything of them but shape and type."""
    try:
        array = np.asarray(values)
        if array.dtype.kind == "O":
            # Integers beyond 64 bits; anything else is refused below.
            array = np.array([min(max(int(x.__index__()), -LARGEST_VALUE), LARGEST_VALUE) for x in array.ravel()])
            array = array.reshape(np.shape(values))
    except (TypeError, ValueError, AttributeError):
        raise InvalidDataError("values must be an array of integers (the offending value is not shown)") from None
    if array.dtype.kind not in "iu" and array.size:
        raise InvalidDataError(f"values must be integers, got dtype {array.dtype}")
    if array.dtype == np.uint64:
        array = np.minimum(array, np.uint64(LARGEST_VALUE))
    return array.astype(np.int64)


def _release_integers(
    noise: _core.DiscreteNoise, values: ArrayLike, rng: _core.SeededRng | None
) -> NDArray[np.int64] | int:
    array = _integers(values)
    noisy = noise.release(array.ravel(), threads_for(array.size, _VALUES_PER_THREAD), rng)
    return int(noisy[0]) if array.ndim == 0 else noisy.reshape(array.shape)


def _release_reals(
    noise: _core.DiscreteNoise, values: ArrayLike, log_resolution: int, rng: _core.SeededRng | None
) -> NDArray[np.float64] | float:
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "fiu" and array.size:
            raise TypeError
        array = array.astype(np.float64)
    except (TypeError, ValueError):
        raise InvalidDataError("values must be an array of numbers (the offending value is not shown)") from None
    noisy = noise.release_on_grid(array.ravel(), log_resolution, threads_for(array.size, _VALUES_PER_THREAD), rng)
    return float(noisy[0]) if array.ndim == 0 else noisy.reshape(array.shape)
