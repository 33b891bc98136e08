"""Posteriors from counts with integer noise: a baseline of the Hellinger mechanism."""

import math
from dataclasses import replace
from typing import Any, NoReturn, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp import _arguments, _core
from simplexdp.accounting import PrivacyCurve
from simplexdp.exceptions import InvalidParameterError
from simplexdp.mechanisms._posterior_arguments import checked_number, checked_prior, counts_of_sum, refuse_projected
from simplexdp.mechanisms.discrete_gaussian import DiscreteGaussianMechanism
from simplexdp.mechanisms.discrete_laplace import DiscreteLaplaceMechanism
from simplexdp.mechanisms.posterior_errors import ErrorDistribution, Metric, errors_of, posterior_errors
from simplexdp.mechanisms.sum_preserving import SumPreservingLaplaceMechanism
from simplexdp.posterior import Posterior
from simplexdp.sensitivity import of_counts
from simplexdp.testing import SeededRng

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
ENUMERATION_LIMIT = 1_000_000
"""Noise vectors up to which the law of the error is enumerated."""

_TAIL = 1e-14
"""Noise is enumerated up to where each tail of a coordinate holds about this."""

__all__ = ["NoisyPosteriorMechanism"]

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
    >>> noise = sdp.SumPreservingLaplaceMechanism.for_counts(1.0, dimension=3)
    >>> mechanism = sdp.NoisyPosteriorMechanism([1, 1, 1], 60, noise)
    >>> float(mechanism.release([10, 20, 30]).alpha.sum()), mechanism.privacy.epsilon(0.0)
    (63.0, 1.0)
    """

    def __init__(self, prior: ArrayLike, n: int, noise: CountNoise) -> None:
        self._prior, self._n = checked_prior(prior), checked_number(n)
        change = of_counts(adjacency="replace")
        needed: dict[type, float] = {
            DiscreteLaplaceMechanism: change.l1,
            SumPreservingLaplaceMechanism: change.l1,
            DiscreteGaussianMechanism: change.l2,
        }
        if type(noise) not in needed:
            names = ", ".join(sorted(kind.__name__ for kind in needed))
            raise InvalidParameterError(f"noise must be one of {names}, got {type(noise).__name__}")
        if noise.adjacency != "replace":
            raise InvalidParameterError(f'noise must be made for adjacency="replace", got {noise.adjacency!r}')
        least = needed[type(noise)]
        if noise.sensitivity < least:
            raise InvalidParameterError(f"noise must have a sensitivity of at least {least}, got {noise.sensitivity}")
        if isinstance(noise, SumPreservingLaplaceMechanism) and noise.dimension != self._prior.size:
            raise InvalidParameterError(f"noise must have dimension {self._prior.size}, got {noise.dimension}")
        self._noise = noise
        # Draws of a study are rows of their own.
        self._studied = noise
        if isinstance(noise, SumPreservingLaplaceMechanism):
            self._studied = replace(noise, rows="independent")

    def __repr__(self) -> str:
        return f"NoisyPosteriorMechanism(prior={self._prior.tolist()}, n={self._n}, noise={self._noise!r})"

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

    def infer(self, release: Posterior, **options: Any) -> NoReturn:
        """Refuse: many noisy counts are projected to the same release, and their sum is no product over cells.

        What was released before the projection says all that can be said: release with the noise itself and infer from
        that, at the same cost.

        Raises
        ------
        NotAffordableError
            Always.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> noise = sdp.SumPreservingLaplaceMechanism.for_counts(1.0, dimension=3)
        >>> noise.infer(noise.release([10, 20, 30]), prior=1.0).interval(0.95).shape
        (3, 2)
        """
        refuse_projected()

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
        x = counts_of_sum(counts, self._prior.size, self._n)
        noisy = np.asarray(self._studied.release(np.tile(x, (size, 1)), rng), dtype=np.int64)
        return _core.project_counts(noisy.ravel(), self._prior.size, self._n).reshape(size, self._prior.size)

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
        x = counts_of_sum(counts, self._prior.size, self._n)
        noise = self._enumerated_noise()
        if noise is None:
            return posterior_errors(self.simulate, self._prior, counts, metric, samples, rng)
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
