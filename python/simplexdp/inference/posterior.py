"""The posterior of one histogram given its releases."""

from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp import _arguments as check
from simplexdp import _core
from simplexdp._notebook import largest, table
from simplexdp.exceptions import InvalidParameterError
from simplexdp.inference.prior import Prior
from simplexdp.inference.total import Spec
from simplexdp.testing import SeededRng

if TYPE_CHECKING:
    from simplexdp.inference.problem import Problem

__all__ = ["Counts", "HistogramPosterior", "Shares"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Kind = Literal["central", "shortest"]

MOST_VALUES = 2**28
"""Of one sample: 2 GiB."""


class HistogramPosterior:
    """What releases of one histogram say of its counts and of the probabilities behind them: exact, by Bayes' rule.

    The model: probabilities from a Dirichlet prior, records drawn independently from them, releases drawn from their
    mechanisms' laws. `counts` are those of the data, `shares` the probabilities that the records were drawn with; the
    methods of the posterior itself speak of the shares. Everything here is post-processing of releases: it costs no
    privacy.

    Made by ``mechanism.infer(release)``; immutable.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> mechanism = sdp.SumPreservingLaplaceMechanism.calibrated(epsilon=1.0, dimension=3)
    >>> posterior = mechanism.infer([12, 9, -1])
    >>> posterior.mean.round(3).tolist()
    [0.525, 0.395, 0.079]
    >>> posterior.counts.interval(0.9).tolist()
    [[8, 14], [5, 11], [0, 3]]
    """

    def __init__(self, problem: "Problem", row: int, prior: Prior, total: Spec) -> None:
        self._problem, self._row, self._prior, self._total = problem, row, prior, total

    @cached_property
    def _core(self) -> _core.CountPosterior:
        problem = self._problem
        parameters = np.ascontiguousarray(self._prior.parameters).ravel()
        return _core.CountPosterior(
            [release.observation for release in problem.releases] + list(problem.totals),
            self._row,
            parameters,
            np.ascontiguousarray(self._prior.log_weights),
            self._total,
            problem.least,
        )

    def __repr__(self) -> str:
        mean = np.array2string(self.mean, precision=4, separator=", ", threshold=8)
        return f"HistogramPosterior(mean={mean}, total={self.total_mean:.6g})"

    def _repr_html_(self) -> str:
        shares, counts = self.interval(), self.counts.interval()
        shown, others = largest(self.mean.tolist())
        rows = [
            [
                k,
                f"{100 * self.mean[k]:.2f} %",
                f"{100 * shares[k, 0]:.2f} % to {100 * shares[k, 1]:.2f} %",
                f"{self.counts.mean[k]:.1f}",
                f"{counts[k, 0]} to {counts[k, 1]}",
            ]
            for k in shown
        ]
        return table(["", "share", "95 %", "count", "95 %"], rows, notes=[others] if others else [])

    @property
    def dimension(self) -> int:
        """The number of cells."""
        return int(self._prior.parameters.shape[1])

    @cached_property
    def counts(self) -> "Counts":
        """The counts of the data."""
        return Counts(self)

    @cached_property
    def shares(self) -> "Shares":
        """The probabilities that the records were drawn with."""
        return Shares(self)

    @property
    def mean(self) -> Floats:
        """The expected shares."""
        return self.shares.mean

    @property
    def sd(self) -> Floats:
        """The standard deviations of the shares."""
        return self.shares.sd

    def interval(self, level: float = 0.95, *, kind: Kind = "central") -> Floats:
        """Return credible intervals of the shares.

        Each holds its share with probability `level`, given the releases, under the prior: on average over data from
        the prior it covers as often. For fixed data it may cover more or less often; ``mechanism.interval`` has
        intervals that cover whatever the data.

        Parameters
        ----------
        level : float, default 0.95
            Strictly between 0 and 1.
        kind : {"central", "shortest"}, default "central"
            As much probability on either side, or the shortest one.

        Returns
        -------
        ndarray of float, shape (d, 2)

        Examples
        --------
        >>> import simplexdp as sdp
        >>> posterior = sdp.SumPreservingLaplaceMechanism(scale=2, dimension=2).infer([12, 8])
        >>> posterior.interval(0.9).shape
        (2, 2)
        """
        return self.shares.interval(level, kind=kind)

    @property
    def log_evidence(self) -> float:
        """Logarithm of p(releases | prior): masses of what lies on integers or grids, densities of Dirichlet draws.

        Differences tell how much better one prior explains the releases than another.
        """
        return self._core.log_evidence()

    @property
    def error(self) -> float:
        """Bound of the relative error of reported probabilities: what windows left out, and what transforms add."""
        return self._core.error()

    @property
    def concentrations(self) -> tuple[Floats, Floats]:
        """The sums of the priors that matter, and their posterior weights: more than one for the empirical prior."""
        parts = self._core.parts()
        return np.array([prior.sum() for _, prior in parts]), np.array([weight for weight, _ in parts])

    @cached_property
    def total(self) -> tuple[Integers, Floats]:
        """The numbers of records that are possible, and their probabilities."""
        start, masses = self._core.total()
        return np.arange(start, start + masses.size), masses

    @property
    def total_mean(self) -> float:
        """The expected number of records."""
        numbers, masses = self.total
        return float(numbers @ masses / masses.sum())

    def sample(self, size: int, rng: SeededRng | int | None = None) -> Floats:
        """Draw shares; `counts` has draws of counts.

        Parameters
        ----------
        size : int
            The number of draws.
        rng : SeededRng or int, optional
            To repeat a run: post-processing needs no secret.

        Returns
        -------
        ndarray of float, shape (size, d)

        Examples
        --------
        >>> import simplexdp as sdp
        >>> posterior = sdp.SumPreservingLaplaceMechanism(scale=2, dimension=2).infer([12, 8])
        >>> posterior.sample(5, rng=1).shape
        (5, 2)
        """
        return self._sample("shares", size, rng)

    def predict(
        self, records: int | None = None, size: int | None = None, rng: SeededRng | int | None = None
    ) -> Floats | Integers:
        """Predict records that are still to come.

        Parameters
        ----------
        records : int, optional
            How many; left out, the probabilities of the next record are returned.
        size : int, optional
            The number of draws; one without an axis for it when left out.
        rng : SeededRng or int, optional
            To repeat a run.

        Returns
        -------
        ndarray
            Probabilities of shape (d,), or counts of shape (d,) or (size, d) that sum to `records`.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> posterior = sdp.SumPreservingLaplaceMechanism(scale=2, dimension=2).infer([12, 8])
        >>> int(posterior.predict(100, rng=1).sum()), float(posterior.predict().sum().round(9))
        (100, 1.0)
        """
        if records is None:
            return self.mean
        records = check.integer("records", records, 0)
        draws = self._sample("future", 1 if size is None else size, rng, records).astype(np.int64)
        return draws[0] if size is None else draws

    def update(self, mechanism: Any, release: ArrayLike, **options: Any) -> "HistogramPosterior":
        """Add another release of the same data, also by another mechanism: likelihoods multiply.

        Parameters
        ----------
        mechanism
            What it was released with.
        release : array_like, shape (d,)
            What was released.
        **options
            As for ``infer``, without prior and total.

        Returns
        -------
        HistogramPosterior

        Examples
        --------
        >>> import simplexdp as sdp
        >>> mechanism = sdp.DiscreteLaplaceMechanism.calibrated(epsilon=0.5, sensitivity=2)
        >>> one = mechanism.infer([12, 8], total=20)
        >>> bool((one.update(mechanism, [14, 9]).sd < one.sd).all())
        True
        """
        problem, row, total = self._problem.updated(mechanism, release, self._row, self._total, options)
        return HistogramPosterior(problem, row, self._prior, total)

    def to_arviz(self, size: int = 4000, rng: SeededRng | int | None = None) -> Any:
        """Return draws as an ``arviz.InferenceData`` with the variables ``shares`` and ``counts``; needs arviz.

        Independent draws from the exact posterior: one chain, and every draw counts.
        """
        try:
            import arviz
        except ImportError:
            raise ImportError("to_arviz needs arviz: pip install simplexdp[arviz]") from None
        draws = {"shares": self.sample(size, rng)[None], "counts": self.counts.sample(size, rng)[None]}
        return arviz.from_dict(posterior=draws, dims={name: ["cell"] for name in draws})

    def plot(self, level: float = 0.95, ax: Any = None) -> Any:
        """Draw the shares with their intervals; needs matplotlib. Returns the axes."""
        import matplotlib.pyplot as plt

        axes = plt.subplots()[1] if ax is None else ax
        ends, mean = self.interval(level), self.mean
        axes.errorbar(np.arange(mean.size), mean, [mean - ends[:, 0], ends[:, 1] - mean], fmt="o", capsize=3)
        axes.set(xlabel="cell", ylabel="share", title=f"{100 * level:g} % credible intervals")
        return axes

    def _sample(self, wanted: str, size: int, rng: SeededRng | int | None, records: int = 0) -> Floats:
        size = check.integer("size", size, 0)
        if size * self.dimension > MOST_VALUES:
            raise InvalidParameterError(f"size must come to at most {MOST_VALUES} values, got {size}")
        if rng is not None and not isinstance(rng, SeededRng):
            rng = SeededRng(check.integer("rng", rng, 0))
        draws: Floats = self._core.sample(wanted, size, records, rng)
        return draws.reshape(size, self.dimension)


class Counts:
    """The counts of the data, given the releases."""

    def __init__(self, posterior: HistogramPosterior) -> None:
        self._posterior = posterior

    def __repr__(self) -> str:
        return f"Counts(mean={np.array2string(self.mean, precision=1, separator=', ', threshold=8)})"

    def _repr_html_(self) -> str:
        ends, shares = self.interval(), (self.mean / max(float(self.mean.sum()), 1.0)).tolist()
        shown, others = largest(shares)
        rows = [[k, f"{self.mean[k]:.1f}", f"{ends[k, 0]} to {ends[k, 1]}"] for k in shown]
        return table(["", "count", "95 %"], rows, notes=[others] if others else [])

    @cached_property
    def _laws(self) -> list[tuple[int, Floats]]:
        return self._posterior._core.marginals()

    @cached_property
    def _moments(self) -> Floats:
        moments = []
        for start, masses in self._laws:
            values = np.arange(masses.size)
            mean = values @ masses / masses.sum()
            moments.append((start + mean, (values - mean) ** 2 @ masses / masses.sum()))
        return np.array(moments)

    @property
    def mean(self) -> Floats:
        """The expected counts."""
        means: Floats = self._moments[:, 0].copy()
        return means

    @property
    def sd(self) -> Floats:
        """The standard deviations of the counts."""
        deviations: Floats = np.sqrt(self._moments[:, 1])
        return deviations

    @cached_property
    def covariance(self) -> Floats:
        """The covariance matrix, shape (d, d)."""
        d = self._posterior.dimension
        return self._posterior._core.covariance().reshape(d, d)

    def pmf(self, cell: int) -> tuple[Integers, Floats]:
        """Return the possible counts of a cell and their probabilities.

        Parameters
        ----------
        cell : int
            From zero on.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> values, masses = sdp.SumPreservingLaplaceMechanism(scale=2, dimension=2).infer([1, 2]).counts.pmf(0)
        >>> values.tolist(), masses.round(3).tolist()
        ([0, 1, 2, 3], [0.197, 0.534, 0.197, 0.072])
        """
        cell = check.integer("cell", cell, 0)
        if cell >= len(self._laws):
            raise InvalidParameterError(f"cell must be one of the {len(self._laws)} cells, got {cell}")
        start, masses = self._laws[cell]
        return np.arange(start, start + masses.size), masses

    def interval(self, level: float = 0.95, *, kind: Kind = "central") -> Integers:
        """Return credible intervals of the counts: integers that hold at least `level`, both ends included.

        Parameters
        ----------
        level : float, default 0.95
            Strictly between 0 and 1.
        kind : {"central", "shortest"}, default "central"
            At most (1 - level) / 2 on either side, or the shortest one.

        Returns
        -------
        ndarray of int64, shape (d, 2)

        Examples
        --------
        >>> import simplexdp as sdp
        >>> sdp.SumPreservingLaplaceMechanism(scale=2, dimension=2).infer([12, 8]).counts.interval(0.5).tolist()
        [[11, 13], [7, 9]]
        """
        level = check.open_unit("level", level)
        ends: Integers = self._posterior._core.count_intervals(level, is_shortest(kind))
        return ends.reshape(-1, 2)

    def sample(self, size: int, rng: SeededRng | int | None = None) -> Integers:
        """Draw counts jointly; rows sum to the total.

        Parameters
        ----------
        size : int
            The number of draws.
        rng : SeededRng or int, optional
            To repeat a run.

        Returns
        -------
        ndarray of int64, shape (size, d)

        Examples
        --------
        >>> import simplexdp as sdp
        >>> sdp.SumPreservingLaplaceMechanism(scale=2, dimension=2).infer([12, 8]).counts.sample(3).sum(axis=1).tolist()
        [20, 20, 20]
        """
        return self._posterior._sample("counts", size, rng).astype(np.int64)


class Shares:
    """The probabilities that the records were drawn with, given the releases."""

    def __init__(self, posterior: HistogramPosterior) -> None:
        self._posterior = posterior

    def __repr__(self) -> str:
        return f"Shares(mean={np.array2string(self.mean, precision=4, separator=', ', threshold=8)})"

    def _repr_html_(self) -> str:
        ends = self.interval()
        shown, others = largest(self.mean.tolist())
        rows = [
            [k, f"{100 * self.mean[k]:.2f} %", f"{100 * ends[k, 0]:.2f} % to {100 * ends[k, 1]:.2f} %"] for k in shown
        ]
        return table(["", "share", "95 %"], rows, notes=[others] if others else [])

    @cached_property
    def _moments(self) -> Floats:
        return self._posterior._core.share_moments().reshape(-1, 2)

    @property
    def mean(self) -> Floats:
        """The expected shares."""
        means: Floats = self._moments[:, 0].copy()
        return means

    @property
    def sd(self) -> Floats:
        """The standard deviations of the shares."""
        deviations: Floats = np.sqrt(self._moments[:, 1])
        return deviations

    def interval(self, level: float = 0.95, *, kind: Kind = "central") -> Floats:
        """Return credible intervals of the shares, as `HistogramPosterior.interval`.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> shares = sdp.SumPreservingLaplaceMechanism(scale=2, dimension=2).infer([12, 8]).shares
        >>> shares.interval(0.9, kind="shortest").shape
        (2, 2)
        """
        level = check.open_unit("level", level)
        ends: Floats = self._posterior._core.share_intervals(level, is_shortest(kind))
        return ends.reshape(-1, 2)

    def cdf(self, cell: int, values: ArrayLike) -> Floats:
        """Return the probability that a share is at most a value.

        Parameters
        ----------
        cell : int
            From zero on.
        values : array_like of float
            Any shape.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> shares = sdp.SumPreservingLaplaceMechanism(scale=2, dimension=2).infer([12, 8]).shares
        >>> shares.cdf(0, [0.0, 1.0]).tolist()
        [0.0, 1.0]
        """
        array = check.numbers("values", values)
        flat = np.ascontiguousarray(array).ravel()
        found: Floats = self._posterior._core.share_cdf(check.integer("cell", cell, 0), flat)
        return found.reshape(array.shape)

    def sample(self, size: int, rng: SeededRng | int | None = None) -> Floats:
        """Draw shares, as `HistogramPosterior.sample`.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> sdp.SumPreservingLaplaceMechanism(scale=2, dimension=2).infer([12, 8]).shares.sample(3).shape
        (3, 2)
        """
        return self._posterior._sample("shares", size, rng)


def is_shortest(kind: str) -> bool:
    """Check the kind of an interval."""
    return check.choice("kind", kind, ("central", "shortest")) == "shortest"
