"""How the tables of a model are released, and what all of them together cost.

Every record is counted once in each table. Replacing it changes two cells of a table by one, adding or removing it one
cell; that is the sensitivity which additive noise needs. A person with k records moves k times as much: two cells by k
each are the worst for every kind of noise, in all tables at once. For the Dirichlet mechanism see
`simplexdp.accounting.Structure`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from simplexdp import _arguments, _core
from simplexdp._catalogue import names
from simplexdp._cautions import caution
from simplexdp.accounting import PrivacyCurve, Structure, compose
from simplexdp.accounting.concentrated import zcdp_budget
from simplexdp.accounting.search import largest_within
from simplexdp.exceptions import InvalidParameterError, NumericalError
from simplexdp.mechanisms import (
    DirichletMechanism,
    DiscreteGaussianMechanism,
    DiscreteLaplaceMechanism,
    GaussianMechanism,
    LaplaceMechanism,
)
from simplexdp.models.bins import spending_curve
from simplexdp.models.debit import debit
from simplexdp.models.prior import best_prior
from simplexdp.models.released import Law, ReleasedTable, normalised
from simplexdp.sensitivity import CountChange, of_counts

__all__ = ["MECHANISMS", "TableRelease"]

MECHANISMS = (*names(lambda entry: entry.tables), "none")
AUTO = ("discrete_gaussian", "discrete_laplace")
"""What "auto" chooses from: of all mechanisms of tables these leave the least error at any budget."""
ADJACENCIES = ("replace", "add_remove")
LEAST_EPSILON = 1e-50
"""Below it the searches for a scale leave the doubles, and noise hides everything long before."""

Counts: TypeAlias = NDArray[np.int64]
Adjacency: TypeAlias = Literal["replace", "add_remove"]


@dataclass(frozen=True)
class Budget:
    """What the user allows: (epsilon, delta), or a Renyi epsilon at an order, for all tables together."""

    epsilon: float
    delta: float
    order: float | None
    adjacency: Adjacency
    shares: tuple[float, ...]
    quantiles: tuple[float, int] = (0.0, 0)
    max_rows: int = 1

    @property
    def beside(self) -> PrivacyCurve | None:
        """What the bins of numeric columns take from the budget."""
        return spending_curve(self.quantiles, self.adjacency)

    @property
    def quantile_rho(self) -> float:
        """The same in zCDP: the loss of an exponential mechanism lies in an interval as long as its epsilon [CR21]."""
        cost, n_quantiles = self.quantiles
        return _core.choices_cost(cost, n_quantiles)[1]

    def tables_epsilon(self) -> float:
        """Return the Renyi epsilon that is left for the tables."""
        if self.beside is None or self.order is None:
            return self.epsilon
        return self.left(self.epsilon, self.epsilon - float(self.beside.renyi(self.order)))

    def left(self, whole: float, left: float) -> float:
        """Return what is left of the budget for the tables, or say that it is too little."""
        if not left > 1e-6 * whole:
            raise InvalidParameterError(
                f"epsilon must leave something for the tables beside the {self.quantiles[1]} private quantiles of the "
                f"binner, got {self.epsilon}"
            )
        return left

    def check(self, mechanism: str) -> None:
        """Refuse bins that take the whole budget."""
        if self.order is None and self.beside is not None and "gaussian" not in mechanism:
            self.left(self.epsilon, self.epsilon - float(self.beside.epsilon(self.delta)))

    @property
    def change(self) -> CountChange:
        """How far one person moves the cells of a table."""
        return of_counts(adjacency=self.adjacency, max_rows=self.max_rows)

    @property
    def ends(self) -> int:
        """In how many cells of a table a person may have all records: before and after, or one of both."""
        return self.change.l1 // self.max_rows


@dataclass(frozen=True)
class TableRelease:
    """One way of releasing each table, and the cost of all of them.

    Parameters
    ----------
    releasers : tuple of callables
        From counts, shape (rows, levels), and a generator to what is released of them. Fewer levels than planned are
        fine: neither scales nor costs depend on them.
    privacy : PrivacyCurve or None
        Of the tables and the private quantiles together; None when nothing is protected.
    mechanism : str
        Which one was chosen.
    laws : tuple of Law
        Of what is released, table by table.
    total : int or None
        The number of records, where it is public.
    units : int
        In how many a person is counted; what is released is told in persons.
    """

    releasers: tuple[Callable[[Counts, Any], ReleasedTable], ...]
    privacy: PrivacyCurve | None
    mechanism: str = "none"
    laws: tuple[Law, ...] = ()
    total: int | None = None
    units: int = 1

    @classmethod
    def plan(
        cls,
        shapes: Sequence[tuple[int, int]],
        *,
        mechanism: str,
        epsilon: float,
        delta: float,
        order: float | None,
        adjacency: str,
        weights: Sequence[float] | None = None,
        total: int | None = None,
        quantiles: tuple[float, int] = (0.0, 0),
        max_rows: int = 1,
        units: int = 1,
        named: Callable[[PrivacyCurve], PrivacyCurve] | None = None,
    ) -> TableRelease:
        """Decide on scales and noise from public quantities only.

        Parameters
        ----------
        shapes : sequence of (rows, levels)
            Of the tables.
        mechanism, epsilon, delta, order, adjacency
            As the models document them.
        weights : sequence of float, optional
            Shares of the budget, one for each table.
        total : int, optional
            Number of records, where it is public.
        quantiles : (float, int)
            What one private quantile of the bins costs, and how many there are: the same budget pays for them.
        max_rows : int
            How many records a person has at most.
        units : int
            In how many counts a person is one; `max_rows` is that number then.
        named : callable, optional
            Puts into words whom the curve protects.
        """
        _arguments.choice("mechanism", mechanism, ("auto", *MECHANISMS))
        if order is not None and not _arguments.number("order", order) > 1:
            raise InvalidParameterError(f"order must be above 1, got {order}")
        budget = Budget(
            _arguments.positive("epsilon", epsilon),
            _arguments.open_unit("delta", delta),
            order,
            cast(Adjacency, _arguments.choice("adjacency", adjacency, ADJACENCIES)),
            (1.0,) * len(shapes) if weights is None else tuple(weights),
            quantiles,
            max_rows,
        )
        if mechanism != "none":
            if budget.epsilon < LEAST_EPSILON:
                raise InvalidParameterError(f"epsilon must be at least {LEAST_EPSILON:g}, got {budget.epsilon}")
            budget.check(mechanism)
            caution(epsilon=budget.epsilon if order is None else None, delta=budget.delta, n=total)
        release = replace(_plan(tuple(shapes), mechanism, budget, total), units=units)
        if named is None or release.privacy is None:
            return release
        return replace(release, privacy=named(release.privacy))

    def charge(self, accountant: Any, label: str, rng: Any) -> AbstractContextManager[Any]:
        """Debit the cost, as `debit` does; what protects nothing has none."""
        if self.privacy is None:
            if accountant is not None:
                raise InvalidParameterError(
                    "accountant must be None for the mechanism 'none', which protects nothing and has no cost to debit"
                )
            return nullcontext()
        return debit(accountant, self.privacy, label, rng)

    def release(self, tables: Sequence[Counts], rng: Any, drawn: int = 0) -> list[ReleasedTable]:
        """Draw the next tables, all of them by default; `drawn` were drawn before."""
        releasers = self.releasers[drawn : drawn + len(tables)]
        drawn_now = [releaser(table, rng) for releaser, table in zip(releasers, tables, strict=True)]
        return [table.in_persons(self.units) for table in drawn_now]


@lru_cache(maxsize=128)
def _plan(shapes: tuple[tuple[int, int], ...], mechanism: str, budget: Budget, total: int | None) -> TableRelease:
    """Plan once for the same public quantities: the folds of a cross-validation ask again and again."""
    if mechanism == "auto":
        return _least_noise(shapes, budget, total)
    if total is not None and mechanism != "dirichlet":
        # Noise on counts is the same for any number of records.
        return replace(_plan(shapes, mechanism, budget, None), total=total)
    release = replace(_planned(shapes, mechanism, budget, total), mechanism=mechanism, total=total)
    if release.privacy is not None and budget.order is None:
        # The searches keep the budget; that they did so, grids and bins included, is looked at once more.
        spent = float(release.privacy.epsilon(budget.delta))
        if not spent <= budget.epsilon:
            raise NumericalError(
                f"epsilon {budget.epsilon} at delta {budget.delta:g} cannot be kept by mechanism {mechanism!r}"
            )
    return release


def _least_noise(shapes: tuple[tuple[int, int], ...], budget: Budget, total: int | None) -> TableRelease:
    """Return the plan with the least variance of a noisy count, averaged over the tables."""
    plans, failure = [], None
    # Under a Renyi budget both scales are closed forms, and Gaussian noise has half the variance.
    for mechanism in AUTO if budget.order is None else AUTO[:1]:
        try:
            plans.append(_plan(shapes, mechanism, budget, total))
        except (InvalidParameterError, NumericalError) as error:
            failure = failure or error
    if not plans:
        assert failure is not None
        raise failure
    return min(plans, key=lambda plan: sum(law.variance for law in plan.laws))


def _planned(shapes: tuple[tuple[int, int], ...], mechanism: str, budget: Budget, total: int | None) -> TableRelease:
    if mechanism == "none":
        exact = Law("none")
        return TableRelease((lambda counts, rng: ReleasedTable(normalised(counts), exact),) * len(shapes), None)
    if mechanism == "dirichlet":
        return _dirichlet_plan(shapes, budget, total)
    if mechanism in ("gaussian", "discrete_gaussian"):
        return _gaussian_plan(budget, integers=mechanism == "discrete_gaussian")
    return _laplace_plan(budget, integers=mechanism == "discrete_laplace")


def _dirichlet_plan(shapes: Sequence[tuple[int, int]], budget: Budget, total: int | None) -> TableRelease:
    structure = Structure(budget.shares)
    error = _core.dirichlet_sampling_error(budget.adjacency, budget.max_rows, len(shapes))
    if budget.order is not None:
        release = structure.from_rdp(
            order=budget.order,
            epsilon=budget.tables_epsilon(),
            adjacency=budget.adjacency,
            l2=budget.change.l2,
            max_rows=budget.max_rows,
        )
        curve = _together([release.privacy.with_sampling_error(error)], budget)
    else:
        release = _calibrated(
            structure,
            budget,
            epsilon=budget.epsilon,
            delta=budget.delta,
            prior=best_prior(shapes, budget.epsilon, budget.delta, total),
            adjacency=budget.adjacency,
            max_rows=budget.max_rows,
            sampling_error=error,
            beside=budget.beside,
        )
        curve = release.privacy
    laws = tuple(
        Law("dirichlet", float(scale), prior=float(prior))
        for scale, prior in zip(release.scales, release.priors, strict=True)
    )
    return TableRelease(tuple(_dirichlet_releaser(law, budget.adjacency) for law in laws), curve, laws=laws)


def _calibrated(structure: Structure, budget: Budget, **parameters: Any) -> Any:
    try:
        return structure.calibrated(**parameters)
    except NumericalError:
        if budget.beside is None:
            raise
        budget.left(budget.epsilon, 0.0)


def _dirichlet_releaser(law: Law, adjacency: Adjacency) -> Callable[[Counts, Any], ReleasedTable]:
    @lru_cache(maxsize=4)
    def mechanism(levels: int) -> DirichletMechanism:
        return DirichletMechanism(scale=law.size, prior=law.prior, dimension=levels, adjacency=adjacency)

    def release(counts: Counts, rng: Any) -> ReleasedTable:
        levels = counts.shape[-1]
        drawn = np.ones(counts.shape) if levels == 1 else mechanism(levels).release(counts, rng=rng)
        return ReleasedTable(drawn, law)

    return release


def _gaussian_plan(budget: Budget, *, integers: bool) -> TableRelease:
    if budget.order is not None:
        # [DM 5.1]: sigma^2 = order (K + 1) / epsilon for two changed cells, so rho = epsilon / order in all.
        rho = budget.epsilon / budget.order
        return _gaussian_release(budget, budget.left(rho, rho - budget.quantile_rho), integers=integers)
    if not integers and budget.beside is None:
        changed = budget.change.cells * len(budget.shares)
        rho = GaussianMechanism.calibrated(
            epsilon=budget.epsilon, delta=budget.delta, sensitivity=1, changed=changed
        ).rho
        release = _gaussian_release(budget, rho, integers=False)
        assert release.privacy is not None
        if release.privacy.epsilon(budget.delta) <= budget.epsilon:
            return release
        # Each table has a grid of its own: where delta is tiny, their errors together count.
        error = release.privacy.sampling_error
        if error * (1 + math.exp(min(budget.epsilon, 700.0))) >= budget.delta:
            raise InvalidParameterError(
                f"delta must exceed (1 + e^epsilon) times {error:.2g}, the error of the grids of "
                f"Gaussian noise, got {budget.delta}; discrete_gaussian has none"
            )
    # What concentrated privacy allows is a start from the safe side; the exact curve allows more.
    rho = zcdp_budget(budget.epsilon, budget.delta)
    rho = budget.left(rho, rho - budget.quantile_rho)

    def attempt(log_scale: float) -> tuple[TableRelease, float]:
        release = _gaussian_release(budget, math.exp(2 * log_scale), integers=integers)
        assert release.privacy is not None
        return release, float(release.privacy.epsilon(budget.delta)) / budget.epsilon

    return largest_within(attempt, math.log(rho) / 2)


def _gaussian_release(budget: Budget, total_rho: float, *, integers: bool) -> TableRelease:
    """Return the release whose tables cost this in zCDP, together, in the ratio of their shares."""
    kind = DiscreteGaussianMechanism if integers else GaussianMechanism
    mechanisms = [
        kind.calibrated(
            rho=part,
            sensitivity=budget.change.l2,
            adjacency=budget.adjacency,
            **({} if integers else {"changed": budget.change.cells}),
        )
        for part in _core.parts_of(total_rho, list(budget.shares))
    ]
    if budget.order is not None:
        rhos = [*(m.rho for m in mechanisms), budget.quantile_rho]
        curve = PrivacyCurve.from_guarantee(_core.concentrated(rhos, budget.adjacency), "tables")
    elif integers and all(mechanism.privacy.exact for mechanism in mechanisms):
        curve = _together([compose([m.privacy for m in mechanisms])], budget)
    else:
        guarantee = _core.gaussian_tables([m.exact_parameters for m in mechanisms], budget.adjacency)
        curve = _together([PrivacyCurve.from_guarantee(guarantee, "gaussian tables")], budget)
    return _additive(mechanisms, curve)


def _together(curves: Sequence[PrivacyCurve], budget: Budget) -> PrivacyCurve:
    """Return the composition of curves and the private quantiles."""
    beside = budget.beside
    if beside is None and len(curves) == 1:
        return curves[0]
    return compose(curves if beside is None else [*curves, beside])


def _laplace_plan(budget: Budget, *, integers: bool) -> TableRelease:
    total = math.fsum(budget.shares)
    if budget.order is not None:
        # [DM 5.1]: Laplace noise of scale b has Renyi divergence at most order (changed / b)^2 / 2.
        scales = [
            budget.change.l1 * math.sqrt(budget.order * total / (2 * budget.tables_epsilon() * share))
            for share in budget.shares
        ]
    else:
        scales = _laplace_scales(budget)
    kind = DiscreteLaplaceMechanism if integers else LaplaceMechanism
    # For the cost, each cell in which a person may have all records is a mechanism of its own: of all losses up to k
    # times that of a record those of one cell are spread the widest.
    alone: dict[str, Any] = {} if integers else {"changed": budget.max_rows}
    cells = [kind(scale=scale, sensitivity=budget.max_rows, adjacency=budget.adjacency, **alone) for scale in scales]
    curve = _together([compose([cell.privacy for cell in cells], [budget.ends] * len(cells))], budget)
    return _additive(cells, curve)


def _laplace_scales(budget: Budget) -> list[float]:
    """Return the least scales for (epsilon, delta) over all changed cells of all tables, in the ratio of the shares."""
    relative = [1 / math.sqrt(share * len(budget.shares) / math.fsum(budget.shares)) for share in budget.shares]

    def attempt(log_epsilon: float) -> tuple[list[float], float]:
        # Of a person whose records are all in one cell.
        epsilons = [math.exp(log_epsilon) / factor for factor in relative]
        # Noise on a grid costs a hair more than this.
        curves = [PrivacyCurve.pure(1.001 * epsilon, adjacency=budget.adjacency) for epsilon in epsilons]
        curve = _together([compose(curves, [budget.ends] * len(curves))], budget)
        scales = [budget.max_rows / epsilon for epsilon in epsilons]
        return scales, float(curve.epsilon(budget.delta)) / budget.epsilon

    # What basic composition allows is a start from the safe side.
    cells = len(budget.shares) * budget.ends
    return largest_within(attempt, math.log(budget.tables_epsilon() / cells))


def _additive(mechanisms: Sequence[Any], curve: PrivacyCurve) -> TableRelease:
    laws = tuple(Law.of_noise(mechanism) for mechanism in mechanisms)

    def releaser(mechanism: Any, law: Law) -> Callable[[Counts, Any], ReleasedTable]:
        return lambda counts, rng: ReleasedTable(np.asarray(mechanism.release(counts, rng=rng), dtype=np.float64), law)

    return TableRelease(tuple(map(releaser, mechanisms, laws)), curve, laws=laws)
