"""Baselines of the Hellinger mechanism: posteriors from counts with added noise."""

import math
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp import _arguments, _core
from simplexdp.accounting import PrivacyCurve
from simplexdp.exceptions import InvalidDataError, InvalidParameterError
from simplexdp.mechanisms._posterior_arguments import checked_counts, checked_prior
from simplexdp.mechanisms.discrete_gaussian import DiscreteGaussianMechanism
from simplexdp.mechanisms.discrete_laplace import DiscreteLaplaceMechanism
from simplexdp.mechanisms.laplace import LaplaceMechanism
from simplexdp.mechanisms.posterior_errors import ErrorDistribution, Metric, errors_of, simulated_errors
from simplexdp.mechanisms.sum_preserving import SumPreservingLaplaceMechanism
from simplexdp.posterior import Posterior
from simplexdp.testing import SeededRng

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
ENUMERATION_LIMIT = 1_000_000
"""Noise vectors up to which the law of the error is enumerated."""

_TAIL = 1e-14
"""Noise is enumerated up to where each tail of a coordinate holds about this."""

CountNoise = DiscreteLaplaceMechanism | DiscreteGaussianMechanism | SumPreservingLaplaceMechanism


class NoisyPosteriorMechanism:
    """Posterior of counts with integer noise, projected to what n observations can be.

    The noisy counts become the nearest non-negative integers of sum n, which is post-processing: the guarantee is that
    of the noise. Neighbours replace one of the n records, which changes two counts by one each: l1-sensitivity 2,
    Euclidean sensitivity sqrt(2).

    Parameters
    ----------
    prior : array_like of float, shape (m,)
        The prior's parameters, m >= 2, each in [1e-12, 1e12].
    n : int
        The public number of observations, at most 2**43.
    noise : DiscreteLaplaceMechanism, DiscreteGaussianMechanism or SumPreservingLaplaceMechanism
        Made for neighbours that replace a record, with the sensitivity above at least. The last one draws noise that
        sums to zero, which costs the same epsilon with less error.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> noise = sdp.SumPreservingLaplaceMechanism.calibrated(epsilon=1.0, dimension=3)
    >>> mechanism = sdp.NoisyPosteriorMechanism([1, 1, 1], 60, noise)
    >>> float(mechanism.release([10, 20, 30]).alpha.sum()), mechanism.privacy.epsilon(0.0)
    (63.0, 1.0)
    """

    def __init__(self, prior: ArrayLike, n: int, noise: CountNoise) -> None:
        self._prior, self._n = checked_prior(prior), _count(n)
        needed: dict[type, float] = {
            DiscreteLaplaceMechanism: 2.0,
            SumPreservingLaplaceMechanism: 2.0,
            DiscreteGaussianMechanism: math.sqrt(2),
        }
        if type(noise) not in needed:
            names = ", ".join(sorted(kind.__name__ for kind in needed))
            raise InvalidParameterError(f"noise must be one of {names}, got {type(noise).__name__}")
        if noise.adjacency != "replace":
            raise InvalidParameterError(f'noise must be made for adjacency="replace", got {noise.adjacency!r}')
        least = needed[type(noise)]
        if noise.sensitivity < least * (1 - 1e-15):
            raise InvalidParameterError(f"noise must have a sensitivity of at least {least}, got {noise.sensitivity}")
        if isinstance(noise, SumPreservingLaplaceMechanism) and noise.dimension != self._prior.size:
            raise InvalidParameterError(f"noise must have dimension {self._prior.size}, got {noise.dimension}")
        self._noise = noise

    def __repr__(self) -> str:
        return f"NoisyPosteriorMechanism(prior={self._prior.tolist()}, n={self._n}, noise={self._noise!r})"

    @property
    def privacy(self) -> PrivacyCurve:
        """What one release costs: the curve of the noise."""
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

        Examples
        --------
        >>> import simplexdp as sdp
        >>> noise = sdp.DiscreteGaussianMechanism(sigma=2, sensitivity=2**0.5)
        >>> sdp.NoisyPosteriorMechanism([1, 1], 60, noise).release([10, 50]).alpha.shape
        (2,)
        """
        return Posterior(self._prior + self.simulate(counts, 1, rng)[0])

    def simulate(self, counts: ArrayLike, size: int, rng: SeededRng | None = None) -> Integers:
        """Draw many times the counts that a release adds to the prior, to study the mechanism.

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
        ndarray of int, shape (size, m)

        Examples
        --------
        >>> import simplexdp as sdp
        >>> noise = sdp.DiscreteLaplaceMechanism(scale=2, sensitivity=2)
        >>> sdp.NoisyPosteriorMechanism([1, 1], 60, noise).simulate([10, 50], 3).sum(axis=1).tolist()
        [60, 60, 60]
        """
        size = _arguments.integer("size", size, 0)
        x = _counts_of_sum(counts, self._prior.size, self._n)
        noisy = np.asarray(self._noise.release(np.tile(x, (size, 1)), rng), dtype=np.int64)
        return _core.project_counts(noisy.ravel(), self._prior.size, self._n).reshape(size, -1)

    def error_distribution(
        self, counts: ArrayLike, metric: Metric = "hellinger", *, samples: int = 10_000, rng: SeededRng | None = None
    ) -> ErrorDistribution:
        """Return the law of the error at the data: by enumeration of the noise where that is quick, else simulated.

        Parameters
        ----------
        counts : array_like of int, shape (m,)
            Of sum n.
        metric : {"hellinger", "l1"}, default "hellinger"
            Hellinger distance of the released posterior from the data's own, or l1 distance of their parameters.
        samples : int, default 10000
            The number of draws where it is simulated; the ``band`` of the result is for this number.
        rng : simplexdp.testing.SeededRng, optional
            For tests.

        Returns
        -------
        ErrorDistribution
            Its ``band`` is 1e-12 where the noise was enumerated.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> noise = sdp.DiscreteLaplaceMechanism(scale=2, sensitivity=2)
        >>> law = sdp.NoisyPosteriorMechanism([1, 1], 60, noise).error_distribution([10, 50])
        >>> 0 < law.mean < 1, law.band
        (True, 1e-12)
        """
        _arguments.choice("metric", metric, get_args(Metric))
        x = _counts_of_sum(counts, self._prior.size, self._n)
        noise = self._enumerated_noise()
        if noise is None:
            return _errors(self, self._prior, counts, metric, samples, rng)
        vectors, weights = noise
        released = _core.project_counts((x + vectors).ravel(), self._prior.size, self._n).reshape(vectors.shape)
        rows, inverse = np.unique(released, axis=0, return_inverse=True)
        masses = np.bincount(inverse.ravel(), weights)
        values, groups = np.unique(np.round(errors_of(self._prior, x, rows, metric), 12), return_inverse=True)
        masses = np.bincount(groups.ravel(), masses)
        return ErrorDistribution(values, masses / masses.sum(), 1e-12)

    def _enumerated_noise(self) -> tuple[Integers, Floats] | None:
        """Return noise vectors and their weights up to negligible tails, or nothing when there are too many."""
        gaussian = isinstance(self._noise, DiscreteGaussianMechanism)
        width = float(self._noise.sigma if isinstance(self._noise, DiscreteGaussianMechanism) else self._noise.scale)
        reach = math.ceil(width * (math.sqrt(-2 * math.log(_TAIL)) if gaussian else -math.log(_TAIL)))
        closed = isinstance(self._noise, SumPreservingLaplaceMechanism)
        free = self._prior.size - closed
        if (2 * reach + 1) ** free > ENUMERATION_LIMIT:
            return None
        axes = np.meshgrid(*[np.arange(-reach, reach + 1)] * free, indexing="ij")
        vectors = np.stack([axis.ravel() for axis in axes], axis=-1).astype(np.int64)
        if closed:
            vectors = np.column_stack([vectors, -vectors.sum(axis=1)])
        exponents = (vectors / width) ** 2 / 2 if gaussian else np.abs(vectors) / width
        return vectors, np.exp(-exponents.sum(axis=1))


class LaplacePosteriorMechanism:
    """Posterior with Laplace noise of scale sensitivity / epsilon on its parameters: the papers' baseline [HA, HN].

    **Guarantee:** pure epsilon-DP when one of the n records is replaced. The noise lies on a public grid of 2^20 steps
    to the scale or more, so nothing leaks through the floating-point format.

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
        self._prior, self._n = checked_prior(prior), _count(n)
        self._epsilon = _arguments.positive("epsilon", epsilon)
        if sensitivity not in (1, 2):
            raise InvalidParameterError(f"sensitivity must be 1 or 2, got {sensitivity!r}")
        if sensitivity == 1 and self._prior.size > 2:
            raise InvalidParameterError(f"sensitivity must be 2 for more than two categories, got {sensitivity!r}")
        self._sensitivity, self._consistent = int(sensitivity), bool(consistent)
        # Counts are multiples of the grid, so that rounding to it adds nothing to the sensitivity.
        steps = math.floor(math.log2(self._sensitivity / self._epsilon)) - 20
        self._noise = LaplaceMechanism.calibrated(
            epsilon=self._epsilon, sensitivity=self._sensitivity, resolution=2.0 ** min(steps, 0)
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
        x = _counts_of_sum(counts, self._prior.size, self._n).astype(np.float64)
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
        return _errors(self, self._prior, counts, metric, samples, rng)

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


def _errors(
    mechanism: NoisyPosteriorMechanism | LaplacePosteriorMechanism,
    prior: Floats,
    counts: ArrayLike,
    metric: Metric,
    samples: int,
    rng: SeededRng | None,
) -> ErrorDistribution:
    _arguments.choice("metric", metric, get_args(Metric))
    drawn = mechanism.simulate(counts, _arguments.integer("samples", samples, 1), rng)
    return simulated_errors(prior, checked_counts(counts, prior.size), drawn, metric)


def _count(n: int) -> int:
    n = _arguments.integer("n", n, 0)
    if n > 2**43:
        raise InvalidParameterError(f"n must be at most 2^43, got {n}")
    return n


def _counts_of_sum(counts: ArrayLike, categories: int, n: int) -> Integers:
    x = checked_counts(counts, categories)
    if int(x.sum()) != n:
        raise InvalidDataError("counts must sum to n (the offending value is not shown)")
    return x
