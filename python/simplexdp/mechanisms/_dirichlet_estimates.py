"""What a Dirichlet release says of the histogram, from public parameters alone: errors, estimates, intervals."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp import _arguments as check
from simplexdp import _core, _dirichlet
from simplexdp._simplex import nearest_on_simplex
from simplexdp.exceptions import InvalidParameterError
from simplexdp.mechanisms.dirichlet_parameters import LOSSES

__all__ = ["DirichletEstimates"]


class DirichletEstimates:
    """The part of `DirichletMechanism` that looks at releases and not at data."""

    dimension: int
    scale: float
    floor: float
    l2: float | None

    @property
    def _weights(self) -> NDArray[np.float64]:
        """The prior, one entry for each category."""
        raise NotImplementedError

    def expected_loss(
        self, probabilities: ArrayLike, total: ArrayLike, loss: str = "kl"
    ) -> NDArray[np.float64] | np.float64:
        """Return the expected loss of a release about a histogram.

        Parameters
        ----------
        probabilities : array_like, shape (..., d)
            Histograms p, the counts divided by their total.
        total : array_like, shape (...)
            Number of records.
        loss : {"kl", "l1", "l2", "linf"}
            E KL(p || y), E |y - p|_1, the root of E |y - p|_2^2, all exact; or a bound of E |y - p|_inf.

        Returns
        -------
        ndarray or float, shape (...)

        Examples
        --------
        >>> import simplexdp as sdp
        >>> mechanism = sdp.DirichletMechanism(scale=1.0, prior=1.0, dimension=3)
        >>> round(float(mechanism.expected_loss([0.5, 0.3, 0.2], 100)), 6)
        0.009783
        """
        p = check.probabilities("probabilities", probabilities, self.dimension)
        check.choice("loss", loss, LOSSES)
        weights = self._weight(total)
        shape = broadcast(p.shape[:-1], weights.shape)
        rows = np.broadcast_to(p, (*shape, self.dimension)).ravel()
        spread = np.broadcast_to(weights, shape).ravel()
        return _core.dirichlet_expected_loss(loss, rows, self._weights, spread).reshape(shape)[()]

    def debias(self, y: ArrayLike, total: ArrayLike, *, project: bool = False) -> NDArray[np.float64]:
        """Remove the pull towards the prior from a release: an unbiased estimate of the histogram.

        Post-processing: costs no privacy, provided that `total` is public.

        Parameters
        ----------
        y : array_like, shape (..., d)
            What was released.
        total : array_like, shape (...)
            Number of records.
        project : bool
            Whether to move the estimate to the nearest probability vector. It may have entries below 0 or above 1
            otherwise; the projection is closer to the histogram, and no longer unbiased.

        Returns
        -------
        ndarray, shape (..., d)
            Rows sum to one.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> mechanism = sdp.DirichletMechanism(scale=0.5, prior=1.0, dimension=2)
        >>> mechanism.debias(mechanism.expected([6, 2]), 8)
        array([0.75, 0.25])
        """
        released = check.probabilities("y", y, self.dimension)
        weight = self._weight(total)[..., None]
        estimate: NDArray[np.float64] = released + (released * self._weights.sum() - self._weights) / weight
        return nearest_on_simplex(estimate) if check.flag("project", project) else estimate

    def debias_error(
        self, total: ArrayLike, probabilities: ArrayLike | None = None
    ) -> NDArray[np.float64] | np.float64:
        """Root of the mean squared Euclidean error of `debias` without projection; a bound for it with projection.

        Parameters
        ----------
        total : array_like, shape (...)
            Number of records.
        probabilities : array_like, shape (..., d), optional
            Histograms p; without them the largest error over all histograms, or slightly more.

        Returns
        -------
        ndarray or float, shape (...)

        Examples
        --------
        >>> import simplexdp as sdp
        >>> round(float(sdp.DirichletMechanism(scale=0.5, prior=1.0, dimension=2).debias_error(100)), 6)
        0.101014
        """
        weight = self._weight(total)
        mass = weight + self._weights.sum()
        if probabilities is None:
            spread = np.asarray(1 - 1 / self.dimension)
        else:
            p = check.probabilities("probabilities", probabilities, self.dimension)
            broadcast(p.shape[:-1], weight.shape)
            mean = (weight[..., None] * p + self._weights) / mass[..., None]
            spread = np.sum(mean * (1 - mean), axis=-1)
        error: NDArray[np.float64] = mass / weight * np.sqrt(spread / (mass + 1))
        return error[()]

    def interval(
        self,
        y: ArrayLike,
        total: ArrayLike,
        level: float = 0.95,
        *,
        simultaneous: bool = False,
        resolution: float = 2.0**-32,
    ) -> NDArray[np.float64]:
        """Return confidence intervals of the true shares, from a release and public parameters alone.

        An interval holds the counts that a test of the released entry does not reject, divided by the total. It covers
        the true share with a probability of at least `level`, whatever the data; the grid of the release and every
        rounding are on the safe side. Post-processing: costs no privacy, provided that `total` is public.

        Parameters
        ----------
        y : array_like, shape (..., d)
            What was released, not rounded any further.
        total : array_like, shape (...)
            Number of records of each row: an integer, unless the mechanism has sensitivities. Where it is private and
            only guessed, the coverage holds if the guess is right.
        level : float, default 0.95
            Probability of covering, strictly between 0 and 1.
        simultaneous : bool, default False
            Whether all intervals of a row hold together with probability `level`; otherwise each of them does.
        resolution : float
            Grid of the release, as it was given to `release`.

        Returns
        -------
        ndarray, shape (..., d, 2)
            Lower and upper ends.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> mechanism = sdp.DirichletMechanism(scale=0.5, prior=2.0, dimension=3)
        >>> mechanism.interval([0.25, 0.5, 0.25], total=100).tolist()
        [[0.13, 0.37], [0.38, 0.66], [0.13, 0.37]]
        """
        released = check.probabilities("y", y, self.dimension)
        weight = self._weight(total)
        totals = np.asarray(total, dtype=np.float64)
        whole = self.l2 is None
        if whole and np.any((totals != np.floor(totals)) | (totals > check.LARGEST_COUNT)):
            raise InvalidParameterError(f"total must be an integer of at most 1e15, got {total!r}")
        shape = broadcast(released.shape[:-1], weight.shape)
        released = np.broadcast_to(released, (*shape, self.dimension))
        totals = np.broadcast_to(totals, shape)
        together = check.flag("simultaneous", simultaneous)
        counts = _core.dirichlet_counts(
            np.ascontiguousarray(released).ravel(),
            np.ascontiguousarray(totals).ravel(),
            scale=self.scale,
            prior=self._weights,
            floor=self.floor,
            alpha=_core.test_size(check.open_unit("level", level), self.dimension if together else 1),
            step=2.0 ** -_dirichlet.resolution_bits(resolution),
            whole=whole,
        )
        ends: NDArray[np.float64] = counts.reshape(*shape, self.dimension, 2) / totals[..., None, None]
        return ends

    def _weight(self, total: ArrayLike) -> NDArray[np.float64]:
        totals = check.numbers("total", total)
        if np.any(totals <= 0):
            raise InvalidParameterError("total must be positive")
        weight: NDArray[np.float64] = self.scale * totals
        return weight


def broadcast(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(first, second)
    except ValueError:
        raise InvalidParameterError(f"total must broadcast with the leading axes {first}, got shape {second}") from None
