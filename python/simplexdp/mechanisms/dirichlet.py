"""The Dirichlet mechanism: a probability vector, or a posterior sample, drawn instead of computed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp import _arguments as check
from simplexdp import _core, _dirichlet, _polya
from simplexdp._cautions import caution
from simplexdp.accounting import PrivacyCurve, dirichlet_bound_curve, dirichlet_curve
from simplexdp.accounting.unit import unit_of_rows
from simplexdp.exceptions import InvalidDataError, InvalidParameterError
from simplexdp.mechanisms._dirichlet_calibration import DirichletGoal
from simplexdp.mechanisms._dirichlet_estimates import DirichletEstimates
from simplexdp.mechanisms.dirichlet_parameters import (
    ADJACENCIES,
    LOSSES,
    SCALE_RANGE,
    SENSITIVITY_RANGE,
    between,
    checked_dimension,
    checked_prior,
    checked_total,
    two_smallest,
)
from simplexdp.sensitivity import of_counts

__all__ = ["DirichletMechanism"]

_Counts = TypeVar("_Counts", bound=NDArray[Any])


@dataclass(frozen=True, init=False, repr=False)
class DirichletMechanism(DirichletEstimates):
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

    **Persons.** With `max_rows` the neighbours are persons with at most so many records, which all change together and
    may fall into different categories and rows. The number of records is private then, under "replace" too.

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
    max_rows : int, default 1
        How many records a person has at most, `simplexdp.frames.bound_rows` sees to that. Above 3 the prior, with the
        scaled floor, must be at least 1/2.
    unit : str, optional
        The column that tells persons; by default "person" where `max_rows` is above 1.

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
    max_rows: int
    unit: str | None

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
        max_rows: int = 1,
        unit: str | None = None,
    ) -> None:
        prior, size = checked_prior(prior, dimension)
        if (l2 is None) != (linf is None):
            raise InvalidParameterError("l2 and linf must be given together, or neither of them")
        rows = of_counts(adjacency=adjacency, max_rows=max_rows).linf  # type: ignore[arg-type]
        if rows > 1 and (l2 is not None or total is not None):
            raise InvalidParameterError(
                "max_rows must be 1 with l2 and linf, which speak of persons already, and with total: the number of "
                "records of persons is private"
            )
        floor = check.non_negative("floor", floor)
        if floor > check.LARGEST_COUNT:
            raise InvalidParameterError(f"floor must be at most 1e15, got {floor}")
        if total is not None:
            total = checked_total(total, size, floor, adjacency)
            if l2 is not None:
                raise InvalidParameterError("total must be None for a real statistic, which has none")
        values = {
            "scale": between("scale", scale, SCALE_RANGE),
            "_prior": prior,
            "dimension": size,
            "adjacency": check.choice("adjacency", adjacency, ADJACENCIES),
            "floor": floor,
            "l2": None if l2 is None else between("l2", l2, SENSITIVITY_RANGE),
            "linf": None if linf is None else check.positive("linf", linf),
            "total": total,
            "max_rows": rows,
            "unit": unit_of_rows(unit, rows),
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
            l2_squared, largest = float(of_counts(adjacency=adjacency).l2_squared), 1.0  # type: ignore[arg-type]
        else:
            l2_squared = _core.squared_l2(between("l2", l2, SENSITIVITY_RANGE))
            largest = check.positive("linf", linf)
        scale, prior = _core.algorithm_one_mechanism(
            check.number("order", order),
            check.positive("epsilon", epsilon),
            l2_squared,
            largest,
            check.non_negative("floor", floor),
            check.non_negative("slack", slack),
        )
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
        advantage: float | None = None,
        max_rows: int = 1,
        unit: str | None = None,
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
        advantage : float, optional
            In place of `epsilon` and `delta`, strictly between 0 and 1: by how much an attacker's true positive rate
            may exceed the false positive rate.
        max_rows : int, default 1
            How many records a person has at most. The prior is at least 1/2 then, where all of them in one category are
            the worst there is.
        unit : str, optional
            The column that tells persons; by default "person" where `max_rows` is above 1.

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
            prior, dimension = checked_prior(prior, dimension)
        elif dimension is None:
            raise InvalidParameterError("dimension must be given unless prior has one entry for each category")
        dimension = checked_dimension(dimension)
        check.choice("loss", loss, LOSSES)
        floor = check.non_negative("floor", floor)
        per_person = of_counts(adjacency=adjacency, max_rows=max_rows).linf  # type: ignore[arg-type]
        fixed = None
        if check.flag("fixed_total", fixed_total):
            if per_person > 1:
                raise InvalidParameterError(
                    "fixed_total must be False where max_rows is above 1: the number of records is private"
                )
            if total is None:
                raise InvalidParameterError("total must be given when it is fixed")
            fixed = checked_total(total, dimension, floor, adjacency)

        if advantage is not None:
            if epsilon is not None or delta is not None:
                raise InvalidParameterError("a budget must be epsilon with delta, or advantage, and not both")
            epsilon, delta = _core.pair_within(check.open_unit("advantage", advantage))
        rest: dict[str, Any] = {
            "dimension": dimension,
            "adjacency": adjacency,
            "floor": floor,
            "total": fixed,
            "max_rows": per_person,
            "unit": unit,
        }
        if epsilon is None:
            if prior is None or scale is None:
                raise InvalidParameterError("epsilon must be given unless prior and scale are")
            return cls(prior=prior, scale=scale, **rest)
        epsilon, delta = check.positive("epsilon", epsilon), check.open_unit("delta", delta)
        # Records of one person each are the number of persons; else there are at least so many of them.
        caution(epsilon=epsilon, delta=delta, n=None if total is None else check.positive("total", total) / per_person)
        pair_total = fixed if dimension == 2 else None
        budget = _core.DirichletBudget(epsilon, delta, adjacency, per_person, floor, pair_total)
        best, factor = DirichletGoal(loss, dimension, total, reference).parameters(budget, prior, scale)
        mechanism = cls(prior=best, scale=factor, **rest)
        # The curve is what counts, and it is not what was searched on. Where epsilon is so large that at it the
        # sampler's error would eat delta, a smaller one was met.
        if mechanism.privacy.delta(epsilon) > delta and not (least := mechanism.privacy.epsilon(delta)) <= epsilon:
            raise InvalidParameterError(f"epsilon must be at least {least} for this prior and scale, got {epsilon}")
        return mechanism

    @classmethod
    def for_counts(
        cls,
        epsilon: float | None = None,
        delta: float | None = None,
        *,
        dimension: int,
        total: float,
        advantage: float | None = None,
        loss: str = "kl",
        adjacency: str = "replace",
        max_rows: int = 1,
        unit: str | None = None,
    ) -> "DirichletMechanism":
        """Return the mechanism for the shares of a histogram, or of the rows of a table, released in one call.

        As `calibrated`, with one prior for all categories, so that the rows of a table cost as much as one. Every
        record is counted in one cell.

        Parameters
        ----------
        epsilon, delta, advantage : float, optional
            The budget, as for `calibrated`.
        dimension : int
            Number of categories.
        total : float
            Number of records in a row: public under "replace", a public guess otherwise.
        loss : {"kl", "l1", "l2", "linf"}
            What to make small on average.
        adjacency : {"replace", "add_remove"}
            Which data sets are neighbours.
        max_rows : int, default 1
            How many records a person has at most.
        unit : str, optional
            The column that tells persons; by default "person" where `max_rows` is above 1.

        Returns
        -------
        DirichletMechanism

        Examples
        --------
        >>> import simplexdp as sdp
        >>> mechanism = sdp.DirichletMechanism.for_counts(1.0, 1e-6, dimension=3, total=100)
        >>> bool(mechanism.table_privacy.epsilon(1e-6) <= 1)
        True
        """
        return cls.calibrated(
            epsilon,
            delta,
            dimension,
            total=total,
            advantage=advantage,
            loss=loss,
            adjacency=adjacency,
            max_rows=max_rows,
            unit=unit,
        )

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
        smallest, _ = two_smallest(self._prior)
        return self.privacy if self._rows_cost_no_more else self._curve(smallest, self.dimension)

    def cost_of(self, counts: ArrayLike, *, rows: str | None = None, **options: Any) -> PrivacyCurve:
        """Return what ``release`` with these arguments costs: `table_privacy` for rows of one table, else `privacy`.

        Parameters
        ----------
        counts, rows, **options
            As for `release`; the counts are not looked at.

        Returns
        -------
        PrivacyCurve

        Examples
        --------
        >>> import simplexdp as sdp
        >>> mechanism = sdp.DirichletMechanism.posterior([20.0, 1e6, 1e6])
        >>> row, table = mechanism.cost_of([5, 3, 2]), mechanism.cost_of([[5, 3, 2]] * 2, rows="table")
        >>> round(row.epsilon(1e-6), 4), round(table.epsilon(1e-6), 4)
        (1.1275, 1.4222)
        """
        if rows is None:
            return self.privacy
        check.choice("rows", rows, ("table",))
        return self.table_privacy

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
        smallest = _core.dirichlet_floor_parameter(two_smallest(self._prior)[0], self.scale, self.floor)
        l2_squared, linf = self._sensitivities
        return _core.dirichlet_tcdp(smallest, self.scale, check.positive("gamma", gamma), l2_squared, linf)

    # What it does ---------------------------------------------------------------------------------------------

    def release(
        self,
        counts: ArrayLike,
        *,
        rng: _core.SeededRng | None = None,
        resolution: float = _dirichlet.RESOLUTION,
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
            Step of the grid, a power of two from 2^-52 to 2^-8.
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
        if resolution is _dirichlet.RESOLUTION and rows is None and self._row is not None:
            row = self._row.release(counts, rng)
            if row is not None:
                return row
        array = self._checked(counts, rows, check.counts_in_place)
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
        array = self._checked(counts, rows, check.counts)
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
        parameters = self.scale * self._checked(counts, "table", check.counts) + self._weights
        mean: NDArray[np.float64] = parameters / parameters.sum(axis=-1, keepdims=True)
        return mean

    def infer(
        self,
        release: ArrayLike,
        *,
        prior: Any = 1.0,
        total: Any = None,
        centre: ArrayLike | None = None,
        apart: Sequence[int] = (),
        resolution: float = 2.0**-32,
    ) -> Any:
        """Return the exact posterior of counts and shares given a release, as `simplexdp.inference.infer`.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> sdp.DirichletMechanism(scale=0.5, prior=2.0, dimension=3).infer([0.25, 0.5, 0.25], total=100).mean.shape
        (3,)
        """
        from simplexdp.inference import infer

        return infer(self, release, prior=prior, total=total, centre=centre, apart=apart, resolution=resolution)

    # Helpers --------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        prior = self._prior if isinstance(self._prior, float) else np.array2string(np.array(self._prior), threshold=6)
        rest = "" if self.l2 is None else f", l2={self.l2!r}, linf={self.linf!r}"
        rest += "" if self.total is None else f", total={self.total}"
        rest += "" if self.max_rows == 1 else f", max_rows={self.max_rows}"
        rest += "" if self.unit is None else f", unit={self.unit!r}"
        return (
            f"DirichletMechanism(scale={self.scale!r}, prior={prior}, dimension={self.dimension}, "
            f"adjacency={self.adjacency!r}, floor={self.floor!r}{rest})"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        names = ("scale", "dimension", "adjacency", "floor", "l2", "linf", "total", "max_rows", "unit")
        return _rebuild, ({"prior": self._prior, **{name: getattr(self, name) for name in names}},)

    @cached_property
    def _row(self) -> _core.DirichletRow | None:
        """What releases one row of integers without coercion, for counts of records."""
        if self.l2 is not None:
            return None
        bits = _dirichlet.resolution_bits(_dirichlet.RESOLUTION)
        return _core.DirichletRow(self.scale, self._weights, bits, self.floor, check.LARGEST_COUNT, self.total)

    @cached_property
    def _weights(self) -> NDArray[np.float64]:
        """The prior, one entry for each category."""
        return np.full(self.dimension, self._prior) if isinstance(self._prior, float) else np.array(self._prior)

    @property
    def _sensitivities(self) -> tuple[float, float]:
        """Squared l2-sensitivity, rounded up, and linf."""
        if self.l2 is None or self.linf is None:
            change = of_counts(adjacency=self.adjacency, max_rows=self.max_rows)
            return float(change.l2_squared), float(change.linf)
        return _core.squared_l2(self.l2), self.linf

    @property
    def _rows_cost_no_more(self) -> bool:
        a, b = two_smallest(self._prior)
        # The curve of persons takes the smallest prior for all.
        return self.adjacency == "add_remove" or a == b or self.max_rows > 1

    def _curve(self, prior: ArrayLike, dimension: int | None) -> PrivacyCurve:
        """Theory B1, or the paper's bound for a real statistic, with the sampler's error."""
        if self.l2 is not None and self.linf is not None:
            curve = dirichlet_bound_curve(
                scale=self.scale,
                l2=self.l2,
                linf=self.linf,
                prior=two_smallest(self._prior)[0],
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
                max_rows=self.max_rows,
            )
        error = _core.dirichlet_sampling_error(self.adjacency, self.max_rows, 1)
        return curve.with_sampling_error(error).for_unit(self.unit)

    def _checked(self, counts: ArrayLike, rows: str | None, form: Callable[..., _Counts]) -> _Counts:
        array = form("counts", counts, self.dimension, whole=self.l2 is None)
        if self.floor > 0 and np.any(array < self.floor):
            raise InvalidDataError("counts must be at least the floor (the offending value is not shown)")
        if array.size > self.dimension and self.l2 is not None:
            raise InvalidParameterError("counts of a real statistic must be released one row at a time")
        if self.total is not None:
            if array.size > self.dimension:
                raise InvalidParameterError("counts with a fixed total must be released one row at a time")
            # 10^6 counts of 1e15 are beyond 64 bits, and no total is beyond doubles.
            if array.size and array.sum(dtype=np.float64) != self.total:
                raise InvalidDataError(f"counts must sum to the public total of {self.total} (their sum is not shown)")
        if rows is not None:
            check.choice("rows", rows, ("table",))
        elif array.size > self.dimension and not self._rows_cost_no_more:
            raise InvalidParameterError(
                "prior must have equal smallest entries to release several rows under adjacency 'replace', where a "
                "record may move between rows; pass rows='table' and account for table_privacy, or release one by one"
            )
        return array


def _rebuild(parameters: dict[str, Any]) -> DirichletMechanism:
    return DirichletMechanism(**parameters)
