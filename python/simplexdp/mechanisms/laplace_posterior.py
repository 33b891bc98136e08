"""Posteriors from counts with Laplace noise: the papers' baseline of the Hellinger mechanism."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp import _arguments, _core
from simplexdp.accounting import PrivacyCurve
from simplexdp.exceptions import InvalidParameterError
from simplexdp.mechanisms._posterior_arguments import checked_number, checked_prior, counts_of_sum, refuse_projected
from simplexdp.mechanisms._values import LOG_LARGEST_STEPS
from simplexdp.mechanisms.laplace import LaplaceMechanism
from simplexdp.mechanisms.posterior_errors import ErrorDistribution, Metric, posterior_errors
from simplexdp.posterior import Posterior
from simplexdp.testing import SeededRng

__all__ = ["LaplacePosteriorMechanism"]

Floats = NDArray[np.float64]


class LaplacePosteriorMechanism:
    """Posterior with Laplace noise of scale sensitivity / epsilon on its parameters: the papers' baseline [HA, HN].

    **Guarantee:** pure epsilon-DP when one of the n records is replaced. The noise lies on a public grid of a power of
    two, at most 1, so nothing leaks through the floating-point format. It has 2^20 steps to the scale or more where n
    is at most 2^31 scales; a larger n takes a coarser one, on which doubles still hold every sum.

    With two categories one noise is drawn and the other count is closed to n. Then sensitivity 1 is enough; the papers
    take 2. With more categories every parameter gets its own noise and the sensitivity is 2.

    Parameters
    ----------
    prior : array_like of float, shape (m,)
        The prior's parameters, m >= 2, each in [1e-12, 1e12].
    n : int
        The public number of observations, at most 2**43.
    epsilon : float
        Above zero.
    sensitivity : {1, 2}, default 2
        1 is allowed for two categories only.
    consistent : bool, default True
        Whether the noisy counts are projected to non-negative numbers of sum n. Without, parameters may be negative
        and there is no posterior: use `release_parameters`.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> mechanism = sdp.LaplacePosteriorMechanism([1, 1, 1], 60, 1.0)
    >>> round(float(mechanism.release([10, 20, 30]).alpha.sum()), 6), mechanism.privacy.epsilon(0.0)
    (63.0, 1.0)
    """

    def __init__(
        self, prior: ArrayLike, n: int, epsilon: float, *, sensitivity: int = 2, consistent: bool = True
    ) -> None:
        self._prior, self._n = checked_prior(prior), checked_number(n)
        self._epsilon = _arguments.positive("epsilon", epsilon)
        if sensitivity not in (1, 2):
            raise InvalidParameterError(f"sensitivity must be 1 or 2, got {sensitivity!r}")
        if sensitivity == 1 and self._prior.size > 2:
            raise InvalidParameterError(f"sensitivity must be 2 for more than two categories, got {sensitivity!r}")
        self._sensitivity, self._consistent = int(sensitivity), bool(consistent)
        # Counts are multiples of a grid of at most 1, so that rounding adds nothing to the sensitivity, however many of
        # them change. All that n observations can count must lie within the steps beyond which a release clamps.
        # The quotient can be beyond the doubles; the mechanism refuses such a scale.
        fine = math.floor(min(math.log2(self._sensitivity / self._epsilon), 1024.0)) - 20
        reach = self._n.bit_length() - LOG_LARGEST_STEPS
        self._noise = LaplaceMechanism.calibrated(
            epsilon=self._epsilon,
            sensitivity=self._sensitivity,
            changed=1,
            resolution=2.0 ** min(max(fine, reach), 0),
        )

    def __repr__(self) -> str:
        return (
            f"LaplacePosteriorMechanism(prior={self._prior.tolist()}, n={self._n}, epsilon={self._epsilon:g}, "
            f"sensitivity={self._sensitivity}, consistent={self._consistent})"
        )

    @property
    def scale(self) -> float:
        """The scale of the noise, sensitivity / epsilon."""
        return float(self._noise.scale)

    @property
    def prior(self) -> Floats:
        """The prior's parameters."""
        return self._prior

    @property
    def n(self) -> int:
        """The public number of observations."""
        return self._n

    @property
    def privacy(self) -> PrivacyCurve:
        """What one release costs."""
        return self._noise.privacy

    def release(self, counts: ArrayLike, rng: SeededRng | None = None) -> Posterior:
        """Release a posterior; one call spends the whole guarantee.

        Parameters
        ----------
        counts : array_like of int, shape (m,)
            The private counts, of sum n.
        rng : simplexdp.testing.SeededRng, optional
            For tests.

        Returns
        -------
        Posterior

        Raises
        ------
        InvalidParameterError
            Without `consistent`.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> sdp.LaplacePosteriorMechanism([1, 1], 60, 1.0, sensitivity=1).release([10, 50]).alpha.shape
        (2,)
        """
        if not self._consistent:
            raise InvalidParameterError(
                "consistent must be True for a posterior: parameters may be negative; see release_parameters"
            )
        return Posterior(self.release_parameters(counts, rng))

    def release_parameters(self, counts: ArrayLike, rng: SeededRng | None = None) -> Floats:
        """Release the parameters; one call spends the whole guarantee.

        Parameters
        ----------
        counts : array_like of int, shape (m,)
            The private counts, of sum n.
        rng : simplexdp.testing.SeededRng, optional
            For tests.

        Returns
        -------
        ndarray of float, shape (m,)
            Positive only with `consistent`.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> sdp.LaplacePosteriorMechanism([1, 1], 60, 1.0, consistent=False).release_parameters([10, 50]).shape
        (2,)
        """
        return np.asarray(self._prior + self.simulate(counts, 1, rng)[0])

    def infer(self, release: ArrayLike, *, prior: Any = None) -> Any:
        """Return the exact posterior of counts and shares given released parameters that were not projected.

        Parameters
        ----------
        release : array_like of float, shape (m,)
            Of `release_parameters`, without `consistent`, of three categories or more.
        prior : float, array_like of shape (m,) or "empirical", optional
            Of the shares; by default the mechanism's own.

        Returns
        -------
        simplexdp.inference.HistogramPosterior

        Raises
        ------
        NotAffordableError
            For parameters that were projected: what was cut off is not known.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> mechanism = sdp.LaplacePosteriorMechanism([1, 1, 1], 60, 1.0, consistent=False)
        >>> mechanism.infer(mechanism.release_parameters([10, 20, 30])).interval(0.95).shape
        (3, 2)
        """
        if self._consistent or self._prior.size == 2:
            refuse_projected()
        noisy = _arguments.numbers("release", release)
        if noisy.shape[-1:] != self._prior.shape:
            raise InvalidParameterError(f"release must have shape (..., {self._prior.size}), got shape {noisy.shape}")
        noisy = noisy - self._prior
        step = float(self._noise.resolution or 1.0)
        # The prior was added in doubles, which may round.
        noisy = np.round(noisy / step) * step
        return self._noise.infer(noisy, prior=self._prior if prior is None else prior, total=self._n)

    def simulate(self, counts: ArrayLike, size: int, rng: SeededRng | None = None) -> Floats:
        """Draw many times the numbers that a release adds to the prior, to study the mechanism.

        To publish the result costs the guarantee `size` times over.

        Parameters
        ----------
        counts : array_like of int, shape (m,)
            The private counts, of sum n.
        size : int
            The number of draws.
        rng : simplexdp.testing.SeededRng, optional
            For tests.

        Returns
        -------
        ndarray of float, shape (size, m)

        Examples
        --------
        >>> import simplexdp as sdp
        >>> sdp.LaplacePosteriorMechanism([1, 1, 1], 60, 1.0).simulate([10, 20, 30], 5).shape
        (5, 3)
        """
        size = _arguments.integer("size", size, 0)
        x = counts_of_sum(counts, self._prior.size, self._n).astype(np.float64)
        if self._prior.size > 2:
            noisy = np.asarray(self._noise.release(np.tile(x, (size, 1)), rng))
        else:
            first = np.asarray(self._noise.release(np.full(size, x[0]), rng))
            noisy = np.stack([first, self._n - first], axis=-1)
        if not self._consistent:
            return noisy
        return _core.project_real(noisy.ravel(), self._prior.size, float(self._n)).reshape(noisy.shape)

    def error_distribution(
        self, counts: ArrayLike, metric: Metric = "hellinger", *, samples: int = 10_000, rng: SeededRng | None = None
    ) -> ErrorDistribution:
        """Return the law of the error at the data, simulated; the Hellinger distance needs `consistent`.

        Parameters
        ----------
        counts : array_like of int, shape (m,)
            Of sum n.
        metric : {"hellinger", "l1"}, default "hellinger"
            Hellinger distance of the released posterior from the data's own, or l1 distance of their parameters.
        samples : int, default 10000
            The number of draws; the ``band`` of the result is for this number.
        rng : simplexdp.testing.SeededRng, optional
            For tests.

        Returns
        -------
        ErrorDistribution

        Examples
        --------
        >>> import simplexdp as sdp
        >>> law = sdp.LaplacePosteriorMechanism([1, 1], 60, 1.0).error_distribution([10, 50], samples=1000)
        >>> 0 < law.mean < 1
        True
        """
        if metric == "hellinger" and not self._consistent:
            raise InvalidParameterError("consistent must be True for the Hellinger distance")
        return posterior_errors(self.simulate, self._prior, counts, metric, samples, rng)

    def l1_bound(self, beta: float) -> float:
        """Return the l1 error of the noisy parameters that is exceeded with probability at most `beta` [HN 3.1].

        With k independent noises (one for two categories, which counts twice) it is ``k log(k / beta)`` scales.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> round(sdp.LaplacePosteriorMechanism([1, 1, 1], 60, 1.0).l1_bound(0.05), 4)
        24.5661
        """
        beta = _arguments.open_unit("beta", beta)
        if self._prior.size == 2:
            return 2 * self.scale * math.log(1 / beta)
        return self._prior.size * self.scale * math.log(self._prior.size / beta)

    def l1_tail(self, error: ArrayLike) -> float | Floats:
        """Return the probability that the l1 error of the noisy parameters, before projection, exceeds `error`.

        The sum of k independent exponential variables is a gamma variable: this is exact up to the grid.

        Parameters
        ----------
        error : array_like of float
            Zero or above.

        Returns
        -------
        float or ndarray

        Examples
        --------
        >>> import simplexdp as sdp
        >>> mechanism = sdp.LaplacePosteriorMechanism([1, 1, 1], 60, 1.0)
        >>> mechanism.l1_tail(mechanism.l1_bound(0.05)) < 0.05
        True
        """
        from simplexdp import special

        values = _arguments.numbers("error", error)
        if np.any(values < 0):
            raise InvalidParameterError("error must be non-negative")
        k = 1 if self._prior.size == 2 else self._prior.size
        return special.gammaincc(k, values / (self.scale * (2 if k == 1 else 1)))
