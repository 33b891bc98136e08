"""The Dirichlet mechanism: a probability vector, or a posterior sample, drawn instead of computed."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp import _arguments as check
from simplexdp import _core, _dirichlet, _intervals, _polya
from simplexdp._algorithm_one import algorithm_one_scale
from simplexdp.accounting import PrivacyCurve, dirichlet_bound_curve, dirichlet_curve
from simplexdp.exceptions import InvalidDataError, InvalidParameterError

__all__ = ["DirichletMechanism"]

ADJACENCIES = ("replace", "add_remove")
LOSSES = ("kl", "l1", "l2", "linf")

PRIOR_RANGE = (1e-6, 1e11)
SCALE_RANGE = (1e-8, 1e11)
"""Where the sampler is exact and the curve accurate."""

SENSITIVITY_RANGE = (1e-100, 1e100)
"""Of l2, so that its square is a normal double."""

MAX_DIMENSION = 10**6
"""Up to here the sampler's error bound holds."""


@dataclass(frozen=True, init=False, repr=False)
class DirichletMechanism:
    """Release a probability vector y ~ Dirichlet(scale * counts + prior).

    The draw is exact: the law of a row is the ideal one rounded to a public grid, up to a total variation error of
    2^-256. The privacy curve includes it, once for each row that a record can touch: two under "replace", else one.

    **Guarantee.** `privacy` holds for one release of counts in which every record adds one to one category, for every
    pair of neighbouring data sets whose counts are at least `floor`:

    - ``adjacency="replace"``: one record is replaced by another. The number of records is the same for neighbours,
      so that it is treated as public.
    - ``adjacency="add_remove"``: one record is added or removed.

    With `l2` and `linf` the counts may be any real statistic whose neighbours differ by at most that much in
    Euclidean and in largest difference. Then `privacy` is the Renyi bound of the paper, which is weaker than the exact
    curve of counts, and rows are released one at a time.

    With `total` every release has this public number of records; counts with another sum are refused. Two categories
    then cost less, up to a fifth of epsilon: the number fixes both counts, so that they cannot both be small.

    **Several rows.** Rows of one table, each record counted in one of them, cost what `table_privacy` says: the
    same as one row, unless `adjacency` is "replace" and the two smallest priors differ.

    Parameters
    ----------
    scale : float
        Factor of the counts: small hides more. From 1e-8 to 1e11.
    prior : float or array_like of shape (d,)
        Added to the scaled counts: large hides more. From 1e-6 to 1e11.
    dimension : int, optional
        Number of categories, at least 2; needed when `prior` is a number.
    adjacency : {"replace", "add_remove"}
        Which data sets are neighbours.
    floor : float
        Public lower bound of every count. A release refuses counts below it.
    l2, linf : float, optional
        Sensitivities of a real statistic; both or none.
    total : int, optional
        Public number of records, under "replace"; rows are released one at a time then.

    Examples
    --------
    >>> import numpy as np
    >>> import simplexdp as sdp
    >>> mechanism = sdp.DirichletMechanism(scale=1.0, prior=1.5, dimension=3)
    >>> y = mechanism.release(np.array([12, 7, 0]))
    >>> y.shape, float(y.sum())
    ((3,), 1.0)
    >>> round(float(mechanism.privacy.epsilon(1e-5)), 4)
    7.8789
    """

    scale: float
    _prior: float | tuple[float, ...]
    dimension: int
    adjacency: Literal["replace", "add_remove"]
    floor: float
    l2: float | None
    linf: float | None
    total: int | None

    def __init__(
        self,
        *,
        scale: float,
        prior: ArrayLike,
        dimension: int | None = None,
        adjacency: str = "replace",
        floor: float = 0.0,
        l2: float | None = None,
        linf: float | None = None,
        total: int | None = None,
    ) -> None:
        prior, size = _check_prior(prior, dimension)
        if (l2 is None) != (linf is None):
            raise InvalidParameterError("l2 and linf must be given together, or neither of them")
        floor = check.non_negative("floor", floor)
        if floor > check.LARGEST_COUNT:
            raise InvalidParameterError(f"floor must be at most 1e15, got {floor}")
        if total is not None:
            total = _check_total(total, size, floor, adjacency)
            if l2 is not None:
                raise InvalidParameterError("total must be None for a real statistic, which has none")
        values = {
            "scale": _between("scale", scale, SCALE_RANGE),
            "_prior": prior,
            "dimension": size,
            "adjacency": check.choice("adjacency", adjacency, ADJACENCIES),
            "floor": floor,
            "l2": None if l2 is None else _between("l2", l2, SENSITIVITY_RANGE),
            "linf": None if linf is None else check.positive("linf", linf),
            "total": total,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    # Ways to build one ---------------------------------------------------------------------------------------

    @classmethod
    def posterior(
        cls,
        prior: ArrayLike,
        dimension: int | None = None,
        *,
        adjacency: str = "replace",
        floor: float = 0.0,
        total: int | None = None,
    ) -> "DirichletMechanism":
        """Draw from the posterior of a multinomial model under a Dirichlet prior: scale 1.

        Parameters
        ----------
        prior : float or array_like of shape (d,)
            Concentration of the prior distribution.
        dimension : int, optional
            Number of categories; needed when `prior` is a number.
        adjacency : {"replace", "add_remove"}
            Which data sets are neighbours.
        floor : float
            Public lower bound of every count.
        total : int, optional
            Public number of records that every release has; it makes a proportion cheaper.

        Returns
        -------
        DirichletMechanism

        Examples
        --------
        >>> import simplexdp as sdp
        >>> sdp.DirichletMechanism.posterior([1, 2, 3]).scale
        1.0
        >>> proportion = sdp.DirichletMechanism.posterior([20, 20], total=1000)
        >>> round(float(proportion.privacy.epsilon(1e-6)), 4)
        1.1348
        """
        return cls(scale=1.0, prior=prior, dimension=dimension, adjacency=adjacency, floor=floor, total=total)

    @classmethod
    def from_rdp(
        cls,
        order: float,
        epsilon: float,
        dimension: int,
        *,
        l2: float | None = None,
        linf: float | None = None,
        floor: float = 0.0,
        slack: float = 3.0,
        adjacency: str = "replace",
    ) -> "DirichletMechanism":
        """Find scale and prior for a Renyi guarantee: Algorithm 1 of [DM], with Remark 1 and Remark 2.

        Solves epsilon = (order/2) scale^2 l2^2 psi'(1 + floor scale + g) with g = slack (order - 1) scale linf, and
        takes the prior 1 + g + (order - 1) scale linf.

        Parameters
        ----------
        order : float
            Renyi order, above 1.
        epsilon : float
            Renyi divergence allowed at that order.
        dimension : int
            Number of categories.
        l2, linf : float, optional
            Sensitivities of a real statistic, for which `privacy` is then the paper's bound. Without them the data are
            counts of records: the sensitivities are those of the adjacency, and `privacy` is the exact curve,
            which at `order` is below `epsilon`.
        floor : float
            Public lower bound of the statistic.
        slack : float
            3 is Algorithm 1; 0 has a closed form.
        adjacency : {"replace", "add_remove"}
            Which data sets are neighbours.

        Returns
        -------
        DirichletMechanism

        Examples
        --------
        >>> import simplexdp as sdp
        >>> mechanism = sdp.DirichletMechanism.from_rdp(order=5, epsilon=0.1, dimension=6, l2=2**0.5, linf=1.0)
        >>> round(mechanism.scale, 5), round(float(mechanism.prior), 5)
        (0.27757, 5.44108)
        """
        if (l2 is None) != (linf is None):
            raise InvalidParameterError("l2 and linf must be given together, or neither of them")
        check.choice("adjacency", adjacency, ADJACENCIES)
        if l2 is None or linf is None:
            l2_squared, largest = _squared_sensitivity(adjacency), 1.0
        else:
            # Rounded up: the square of a rounded root such as 2**0.5 may fall short of the number that was meant.
            l2_squared = math.nextafter(_between("l2", l2, SENSITIVITY_RANGE) ** 2, math.inf)
            largest = check.positive("linf", linf)
        order, slack = check.number("order", order), check.non_negative("slack", slack)
        # Less than asked by more than the curve rounds up, so that the reported divergence is not above epsilon.
        target = check.positive("epsilon", epsilon) * (1 - 4e-11)
        scale = float(algorithm_one_scale(order, target, l2_squared, largest, floor, slack))
        # The prior is rounded up, towards privacy.
        prior = math.nextafter(1.0 + (slack + 1.0) * (order - 1.0) * scale * largest, math.inf)
        return cls(scale=scale, prior=prior, dimension=dimension, adjacency=adjacency, floor=floor, l2=l2, linf=linf)

    @classmethod
    def calibrated(
        cls,
        epsilon: float | None = None,
        delta: float | None = None,
        dimension: int | None = None,
        *,
        total: float | None = None,
        loss: str = "kl",
        prior: ArrayLike | None = None,
        scale: float | None = None,
        adjacency: str = "replace",
        floor: float = 0.0,
        reference: ArrayLike | None = None,
        fixed_total: bool = False,
    ) -> "DirichletMechanism":
        """Find the parameters that spend an (epsilon, delta) budget best. Nothing here looks at data.

        - Neither `prior` nor `scale`: the prior, one for all categories, whose expected loss is smallest when each
          prior gets the largest scale within the budget.
        - `prior` given: the largest scale. `scale` given: the smallest prior.
        - Both given: checked against the budget. Without `epsilon` they are taken as they are; ask
          ``privacy.epsilon(delta)`` for what they cost.

        Parameters
        ----------
        epsilon, delta : float
            The budget, met by the exact curve, sampler included: ``privacy.epsilon(delta)`` is between 0.999 epsilon
            and epsilon. An epsilon above ln(delta) + 175 is met with room, because of the sampler's error.
        dimension : int, optional
            Number of categories; needed unless `prior` has one entry for each.
        total : float, optional
            Number of records: public under "replace", a public guess under "add_remove". Needed to choose the prior.
        loss : {"kl", "l1", "l2", "linf"}
            What to make small on average: KL(p || y), or a distance of y from the histogram p. "l2" is the root of the
            mean square; "linf" a bound of the mean.
        prior, scale : float, optional
            Parameters that are already decided; `prior` may have one entry for each category.
        adjacency : {"replace", "add_remove"}
            Which data sets are neighbours.
        floor : float
            Public lower bound of every count.
        reference : array_like of shape (d,) or (k, d), optional
            Public histograms, as probabilities, over which the loss is averaged. By default the worst case over
            histograms that are spread evenly over 1, 2, 4, ... and all categories.
        fixed_total : bool, default False
            Whether every release has exactly `total` records, and other counts are refused. Two categories then get
            about a tenth less error under "replace".

        Returns
        -------
        DirichletMechanism

        Raises
        ------
        InvalidParameterError
            When nothing meets the budget, or parameters contradict each other.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> mechanism = sdp.DirichletMechanism.calibrated(epsilon=1.0, delta=1e-6, dimension=6, total=1000, loss="l2")
        >>> 0.999 <= mechanism.privacy.epsilon(1e-6) <= 1.0
        True
        """
        if prior is not None:
            prior, dimension = _check_prior(prior, dimension)
        elif dimension is None:
            raise InvalidParameterError("dimension must be given unless prior has one entry for each category")
        dimension = _check_dimension(dimension)
        check.choice("loss", loss, LOSSES)
        floor = check.non_negative("floor", floor)
        fixed = None
        if check.flag("fixed_total", fixed_total):
            if total is None:
                raise InvalidParameterError("total must be given when it is fixed")
            fixed = _check_total(total, dimension, floor, adjacency)

        def build(prior: ArrayLike, scale: float) -> "DirichletMechanism":
            return cls(prior=prior, scale=scale, dimension=dimension, adjacency=adjacency, floor=floor, total=fixed)

        if epsilon is None:
            if prior is None or scale is None:
                raise InvalidParameterError("epsilon must be given unless prior and scale are")
            return build(prior, scale)
        delta = check.open_unit("delta", delta)
        budget = _core.DirichletBudget(
            check.positive("epsilon", epsilon),
            delta,
            _sampling_error(adjacency),
            check.choice("adjacency", adjacency, ADJACENCIES),
            floor,
            fixed if dimension == 2 else None,
        )
        if prior is not None:
            a, b = _two_smallest(prior)
            if scale is None:
                return build(prior, budget.largest_scale(a, b))
            mechanism = build(prior, scale)
            if not budget.admits(a, b, mechanism.scale):
                least = mechanism.privacy.epsilon(delta)
                raise InvalidParameterError(f"epsilon must be at least {least} for this prior and scale, got {epsilon}")
            return mechanism
        if scale is not None:
            scale = _between("scale", scale, SCALE_RANGE)
            return build(budget.smallest_prior(scale), scale)
        if total is None:
            raise InvalidParameterError("total must be given to choose a prior; or give prior or scale")
        rows = None
        if reference is not None:
            rows = check.probabilities("reference", reference, dimension).ravel()
            if rows.size == 0:
                raise InvalidParameterError("reference must have at least one row")
        best, scale = budget.best_prior(loss, dimension, check.positive("total", total), rows)
        return build(best, scale)

    # What it is -----------------------------------------------------------------------------------------------

    @property
    def prior(self) -> float | NDArray[np.float64]:
        """The prior: a number when all categories share it, else a read-only array."""
        if isinstance(self._prior, float):
            return self._prior
        array = np.array(self._prior)
        array.flags.writeable = False
        return array

    @cached_property
    def privacy(self) -> PrivacyCurve:
        """What one release of one row costs; see the class for what it covers.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> mechanism = sdp.DirichletMechanism(scale=0.5, prior=2.0, dimension=6)
        >>> mechanism.privacy.adjacency
        'replace'
        """
        scalar = isinstance(self._prior, float)
        return self._curve(self._prior, self.dimension if scalar else None)

    @cached_property
    def table_privacy(self) -> PrivacyCurve:
        """What a release of several rows of one table costs, where each record is counted in one row.

        A record may move from row to row, so that under "replace" two rows may see their smallest prior.
        """
        smallest, _ = _two_smallest(self._prior)
        return self.privacy if self._rows_cost_no_more else self._curve(smallest, self.dimension)

    def tcdp(self, gamma: float) -> tuple[float, float]:
        """Return the truncated concentrated guarantee (rho, omega) of [DPS] Theorem 1.

        For 1 < order < omega the Renyi divergence of the ideal draw is at most rho * order. Weaker than `privacy` for
        counts; composes by adding rho and taking the smaller omega.

        Parameters
        ----------
        gamma : float
            Part of the smallest prior (plus scale times floor) that is spent on omega = 1 + gamma / (scale linf).

        Returns
        -------
        rho, omega : float

        Examples
        --------
        >>> import simplexdp as sdp
        >>> rho, omega = sdp.DirichletMechanism.posterior([3.0, 5.0, 4.0]).tcdp(gamma=2.0)
        >>> round(rho, 6), round(omega, 6)
        (1.644934, 3.0)
        """
        smallest = _core.dirichlet_floor_parameter(_two_smallest(self._prior)[0], self.scale, self.floor)
        l2_squared, linf = self._sensitivities
        return _core.dirichlet_tcdp(smallest, self.scale, check.positive("gamma", gamma), l2_squared, linf)

    # What it does ---------------------------------------------------------------------------------------------

    def release(
        self,
        counts: ArrayLike,
        *,
        rng: _core.SeededRng | None = None,
        resolution: float = 2.0**-32,
        rows: str | None = None,
    ) -> NDArray[np.float64]:
        """Draw a probability vector for each row of counts.

        Parameters
        ----------
        counts : array_like, shape (..., d)
            Private counts, integers from 0 to 1e15 (real numbers if the mechanism has sensitivities), none below
            the floor.
        rng : sdp.testing.SeededRng, optional
            For tests. By default the operating system's entropy.
        resolution : float
            Step of the grid, a power of two from 2**-52 to 2**-8.
        rows : {"table"}, optional
            Confirms that several rows are accounted for with `table_privacy`, where that is more than `privacy`.

        Returns
        -------
        ndarray, shape (..., d)
            Multiples of `resolution`, none below one step; rows sum to one.

        Raises
        ------
        InvalidDataError
            When the counts break a rule; nothing is drawn and no count is quoted. Whether counts are below the floor or
            fractional is then known to whoever sees the error.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> mechanism = sdp.DirichletMechanism(scale=0.5, prior=2.0, dimension=3)
        >>> mechanism.release([[10, 20, 30], [5, 0, 1]]).sum(axis=-1)
        array([1., 1.])
        """
        array = self._checked(counts, rows)
        return _dirichlet.release(array, self.scale, self._weights, resolution=resolution, rng=rng)

    def release_counts(
        self,
        counts: ArrayLike,
        size: int,
        *,
        rng: _core.SeededRng | None = None,
        rows: str | None = None,
    ) -> NDArray[np.int64]:
        """Draw synthetic counts: `size` records from a probability vector y that is drawn like a release and not shown.

        The counts are Dirichlet-multinomial, drawn exactly by Polya's urn: post-processing of the ideal y, so that
        `privacy` holds for any `size`. Several calls are several draws of y and compose.

        Parameters
        ----------
        counts : array_like, shape (..., d)
            As for `release`.
        size : int
            Number of synthetic records in each row, at most 2**30.
        rng, rows
            As for `release`.

        Returns
        -------
        ndarray of int64, shape (..., d)
            Rows sum to `size`.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> mechanism = sdp.DirichletMechanism(scale=0.5, prior=2.0, dimension=3)
        >>> int(mechanism.release_counts([10, 20, 30], size=100).sum())
        100
        """
        size = check.integer("size", size, 0)
        if size > 2**30:
            raise InvalidParameterError(f"size must be at most 2**30, got {size}")
        array = self._checked(counts, rows)
        return _polya.release_counts(array, self.scale, self._weights, size, rng)

    def expected(self, counts: ArrayLike) -> NDArray[np.float64]:
        """Mean of a release: (scale * counts + prior) / sum. As private as the counts.

        Parameters
        ----------
        counts : array_like, shape (..., d)
            As for `release`.

        Returns
        -------
        ndarray, shape (..., d)

        Examples
        --------
        >>> import simplexdp as sdp
        >>> sdp.DirichletMechanism(scale=0.5, prior=1.0, dimension=2).expected([6, 2])
        array([0.66666667, 0.33333333])
        """
        parameters = self.scale * self._checked(counts, "table") + self._weights
        mean: NDArray[np.float64] = parameters / parameters.sum(axis=-1, keepdims=True)
        return mean

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
        shape = _broadcast(p.shape[:-1], weights.shape)
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
        return _nearest_on_simplex(estimate) if check.flag("project", project) else estimate

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
            _broadcast(p.shape[:-1], weight.shape)
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
        shape = _broadcast(released.shape[:-1], weight.shape)
        released = np.broadcast_to(released, (*shape, self.dimension))
        totals = np.broadcast_to(totals, shape)[..., None]
        lower, upper = _intervals.dirichlet_counts(
            released,
            totals,
            scale=self.scale,
            prior=self._weights,
            floor=self.floor,
            alpha=_intervals.alpha_each(level, simultaneous, self.dimension),
            resolution=resolution,
            whole=whole,
        )
        ends: NDArray[np.float64] = np.stack([lower, upper], axis=-1) / totals[..., None]
        return ends

    # Helpers --------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        prior = self._prior if isinstance(self._prior, float) else np.array2string(np.array(self._prior), threshold=6)
        rest = "" if self.l2 is None else f", l2={self.l2!r}, linf={self.linf!r}"
        rest += "" if self.total is None else f", total={self.total}"
        return (
            f"DirichletMechanism(scale={self.scale!r}, prior={prior}, dimension={self.dimension}, "
            f"adjacency={self.adjacency!r}, floor={self.floor!r}{rest})"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        names = ("scale", "dimension", "adjacency", "floor", "l2", "linf", "total")
        return _rebuild, ({"prior": self._prior, **{name: getattr(self, name) for name in names}},)

    @cached_property
    def _weights(self) -> NDArray[np.float64]:
        """The prior, one entry for each category."""
        return np.full(self.dimension, self._prior) if isinstance(self._prior, float) else np.array(self._prior)

    @property
    def _sensitivities(self) -> tuple[float, float]:
        """Squared l2-sensitivity, rounded up, and linf."""
        if self.l2 is None or self.linf is None:
            return _squared_sensitivity(self.adjacency), 1.0
        return math.nextafter(self.l2**2, math.inf), self.linf

    @property
    def _rows_cost_no_more(self) -> bool:
        a, b = _two_smallest(self._prior)
        return self.adjacency == "add_remove" or a == b

    def _curve(self, prior: ArrayLike, dimension: int | None) -> PrivacyCurve:
        """Theory B1, or the paper's bound for a real statistic, with the sampler's error."""
        if self.l2 is not None and self.linf is not None:
            curve = dirichlet_bound_curve(
                scale=self.scale,
                l2=self.l2,
                linf=self.linf,
                prior=_two_smallest(self._prior)[0],
                floor=self.floor,
                adjacency=self.adjacency,
            )
        else:
            curve = dirichlet_curve(
                scale=self.scale,
                prior=prior,
                dimension=dimension,
                adjacency=self.adjacency,
                floor=self.floor,
                total=self.total,
            )
        return curve.with_sampling_error(_sampling_error(self.adjacency))

    def _checked(self, counts: ArrayLike, rows: str | None) -> NDArray[np.float64]:
        array = check.counts("counts", counts, self.dimension, whole=self.l2 is None)
        if np.any(array < self.floor):
            raise InvalidDataError("counts must be at least the floor (the offending value is not shown)")
        if array.size > self.dimension and self.l2 is not None:
            raise InvalidParameterError("counts of a real statistic must be released one row at a time")
        if self.total is not None:
            if array.size > self.dimension:
                raise InvalidParameterError("counts with a fixed total must be released one row at a time")
            if array.size and array.sum() != self.total:
                raise InvalidDataError(f"counts must sum to the public total of {self.total} (their sum is not shown)")
        if rows is not None:
            check.choice("rows", rows, ("table",))
        elif array.size > self.dimension and not self._rows_cost_no_more:
            raise InvalidParameterError(
                "prior must have equal smallest entries to release several rows under adjacency 'replace', where a "
                "record may move between rows; pass rows='table' and account for table_privacy, or release one by one"
            )
        return array

    def _weight(self, total: ArrayLike) -> NDArray[np.float64]:
        totals = check.numbers("total", total)
        if np.any(totals <= 0):
            raise InvalidParameterError("total must be positive")
        weight: NDArray[np.float64] = self.scale * totals
        return weight


def _rebuild(parameters: dict[str, Any]) -> DirichletMechanism:
    return DirichletMechanism(**parameters)


def _squared_sensitivity(adjacency: str) -> float:
    """Squared Euclidean distance of the counts of neighbours."""
    return 2.0 if adjacency == "replace" else 1.0


def _sampling_error(adjacency: str) -> float:
    """Sum the error of the rows that one record can touch: a replaced one may leave a row and enter another."""
    return (2 if adjacency == "replace" else 1) * _dirichlet.TOTAL_VARIATION_BOUND


def _two_smallest(prior: float | tuple[float, ...]) -> tuple[float, float]:
    if isinstance(prior, float):
        return prior, prior
    a, b = np.partition(np.array(prior), 1)[:2]
    return float(a), float(b)


def _check_prior(prior: ArrayLike, dimension: int | None) -> tuple[float | tuple[float, ...], int]:
    """Return the prior as a float or a tuple, and the dimension that goes with it."""
    array = check.numbers("prior", prior)
    if array.ndim > 1 or array.shape == (0,):
        raise InvalidParameterError(f"prior must be a number or have shape (d,), got shape {array.shape}")
    low, high = PRIOR_RANGE
    if np.any(array < low) or np.any(array > high):
        raise InvalidParameterError(f"prior must lie between {low:g} and {high:g}, got {prior!r}")
    if dimension is None:
        if array.ndim == 0:
            raise InvalidParameterError("dimension must be given when prior is a number")
        dimension = array.size
    dimension = _check_dimension(dimension)
    if array.ndim == 1 and array.size != dimension:
        raise InvalidParameterError(f"prior must have {dimension} entries, one for each category, got {array.size}")
    return (float(array) if array.ndim == 0 else tuple(array.tolist())), dimension


def _check_dimension(dimension: Any) -> int:
    result = check.integer("dimension", dimension, 2)
    if result > MAX_DIMENSION:
        raise InvalidParameterError(f"dimension must be at most {MAX_DIMENSION}, got {result}")
    return result


def _check_total(total: Any, dimension: int, floor: float, adjacency: str) -> int:
    if check.choice("adjacency", adjacency, ADJACENCIES) == "add_remove":
        raise InvalidParameterError("total must not be fixed under 'add_remove', where neighbours differ in it")
    # Two neighbours need a record that moves beside what the floors hold.
    least = 1 + dimension * math.ceil(floor)
    result = check.integer("total", total, least)
    if result > check.LARGEST_COUNT:
        raise InvalidParameterError(f"total must be at most 1e15, got {total!r}")
    return result


def _between(name: str, value: Any, bounds: tuple[float, float]) -> float:
    result = check.number(name, value)
    low, high = bounds
    if not low <= result <= high:
        raise InvalidParameterError(f"{name} must lie between {low:g} and {high:g}, got {result}")
    return result


def _broadcast(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(first, second)
    except ValueError:
        raise InvalidParameterError(f"total must broadcast with the leading axes {first}, got shape {second}") from None


def _nearest_on_simplex(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Project rows on the probability simplex: max(x - t, 0) with t such that the entries sum to one."""
    falling = -np.sort(-points, axis=-1)
    excess = (np.cumsum(falling, axis=-1) - 1) / np.arange(1, points.shape[-1] + 1)
    n_kept = np.count_nonzero(falling > excess, axis=-1)[..., None]
    threshold = np.take_along_axis(excess, n_kept - 1, axis=-1)
    return np.maximum(points - threshold, 0.0)
