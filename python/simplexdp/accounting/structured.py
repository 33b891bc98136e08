"""Models released as several Dirichlet tables: one curve for all of them, and the largest scale that a budget allows.

One record is counted once in every table of a model. Changed, it moves between two rows of a table, or within one, or
leaves it; one Beta pair for each table covers every such change, and one Gamma pair covers adding or removing the
record (docs/composition.md). A structure therefore comes down to how many tables it has and how they share the budget.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from simplexdp import _core
from simplexdp._arguments import integer, non_negative, number, numbers, open_unit, positive
from simplexdp.accounting.composition import compose
from simplexdp.accounting.curve import Adjacency, PrivacyCurve
from simplexdp.accounting.dirichlet import dirichlet_curve
from simplexdp.accounting.search import largest_within
from simplexdp.exceptions import InvalidParameterError
from simplexdp.special import trigamma

PriorRule = float | Callable[[float], float]
"""A prior for all scales, or the prior that goes with a scale."""

MOST_TABLES = 10**5
"""Of one model; curves can be multiplied by larger counts."""


@dataclass(frozen=True)
class TableRelease:
    """Scales and priors for the tables of a model, and what releasing all of them costs.

    Attributes
    ----------
    scales, priors : tuple of float
        For each table: rows are drawn from Dirichlet(scale * counts + prior).
    privacy : PrivacyCurve
        Of all tables together.
    """

    scales: tuple[float, ...]
    priors: tuple[float, ...]
    privacy: PrivacyCurve


@dataclass(frozen=True)
class Structure:
    """How often one record is counted, and which share of the budget each count gets.

    Parameters
    ----------
    shares : tuple of float
        One positive number for each table, in any unit: the cost of a table grows with the square of its scale, and
        the scales are proportional to the square roots of the shares.

    Examples
    --------
    >>> from simplexdp.accounting import Structure
    >>> release = Structure.naive_bayes(20).calibrated(epsilon=1.0, delta=1e-6, prior=1.0)
    >>> len(release.scales), release.privacy.epsilon(1e-6) <= 1.0
    (21, True)
    """

    shares: tuple[float, ...]

    def __post_init__(self) -> None:
        shares = numbers("shares", self.shares)
        if shares.ndim != 1 or not shares.size or not np.all(shares > 0):
            raise InvalidParameterError(f"shares must be positive numbers, one for each table, got {self.shares!r}")
        object.__setattr__(self, "shares", tuple(shares.tolist()))

    @classmethod
    def naive_bayes(cls, attributes: int, *, shares: Sequence[float] | None = None) -> "Structure":
        """Return the structure of multinomial naive Bayes: the classes, and one table for each attribute.

        Parameters
        ----------
        attributes : int
            Number of attributes K; there are K + 1 tables.
        shares : sequence of float, optional
            For the K + 1 tables, the classes first; equal by default.

        Returns
        -------
        Structure

        Examples
        --------
        >>> len(Structure.naive_bayes(3).shares)
        4
        """
        return cls._of("attributes", integer("attributes", attributes, 1) + 1, shares)

    @classmethod
    def bayesian_network(cls, nodes: int, *, shares: Sequence[float] | None = None) -> "Structure":
        """Return the structure of a Bayesian network: one conditional table for each node.

        Parameters
        ----------
        nodes : int
            Number of nodes.
        shares : sequence of float, optional
            For the nodes; equal by default.

        Returns
        -------
        Structure

        Examples
        --------
        >>> len(Structure.bayesian_network(5).shares)
        5
        """
        return cls._of("nodes", integer("nodes", nodes, 1), shares)

    @classmethod
    def posterior_draws(cls, draws: int) -> "Structure":
        """Return the structure of several draws from one posterior.

        Parameters
        ----------
        draws : int
            Number of draws.

        Returns
        -------
        Structure

        Examples
        --------
        >>> len(Structure.posterior_draws(100).shares)
        100
        """
        return cls._of("draws", integer("draws", draws, 1), None)

    @classmethod
    def group_by(cls, histograms: int = 1, *, shares: Sequence[float] | None = None) -> "Structure":
        """Return the structure of histograms within groups that the records belong to, one group each.

        However many groups there are, they are rows of one table. Two histograms, by different groups or of
        different columns, are two tables.

        Parameters
        ----------
        histograms : int, default 1
            Number of grouped histograms.
        shares : sequence of float, optional
            For the histograms; equal by default.

        Returns
        -------
        Structure

        Examples
        --------
        >>> len(Structure.group_by().shares)
        1
        """
        return cls._of("histograms", integer("histograms", histograms, 1), shares)

    @classmethod
    def _of(cls, name: str, tables: int, shares: Sequence[float] | None) -> "Structure":
        if tables > MOST_TABLES:
            raise InvalidParameterError(f"{name} must come to at most {MOST_TABLES} tables, got {tables}")
        if shares is None:
            return cls((1.0,) * tables)
        values = numbers("shares", shares)
        if values.shape != (tables,):
            raise InvalidParameterError(f"shares must have length {tables} for these {name}, got shape {values.shape}")
        return cls(tuple(values.tolist()))

    def release(
        self,
        scales: float | Sequence[float],
        priors: float | Sequence[float],
        *,
        adjacency: Adjacency = "replace",
        floor: float = 0.0,
        max_rows: int = 1,
        sampling_error: float = 0.0,
        beside: PrivacyCurve | None = None,
    ) -> TableRelease:
        """Return the release with given scales and priors, and its curve.

        Parameters
        ----------
        scales : float or sequence of float
            For all tables, or one for each.
        priors : float or sequence of float
            The smallest prior of any row, for all tables or for each.
        adjacency : {"replace", "add_remove"}, default "replace"
            Which data sets are neighbours.
        floor : float, default 0
            A public lower bound of every count in every row.
        max_rows : int, default 1
            How many records a person has at most, who is hidden with all of them (`dirichlet_curve`).
        sampling_error : float, default 0
            Total variation error of the sampler, summed over all rows of all tables.
        beside : PrivacyCurve, optional
            Of what else is released from the same records; `privacy` is of that and the tables together.

        Returns
        -------
        TableRelease

        Examples
        --------
        >>> draws = Structure.posterior_draws(10).release(1.0, 50.0)
        >>> 1 < draws.privacy.epsilon(1e-6) < 5
        True
        """
        scale, prior = self._each("scales", scales), self._each("priors", priors)
        tables = Counter(zip(scale, prior, strict=True))
        curves = [
            # Three categories stand for any number; two with a public total are no worse.
            dirichlet_curve(scale=r, prior=a, dimension=3, adjacency=adjacency, floor=floor, max_rows=max_rows)
            for r, a in tables
        ]
        counts = list(tables.values())
        if beside is not None:
            curves, counts = [*curves, beside], [*counts, 1]
        curve = compose(curves, counts)
        error = non_negative("sampling_error", sampling_error)
        return TableRelease(scale, prior, curve.with_sampling_error(error) if error else curve)

    def from_rdp(
        self,
        *,
        order: float,
        epsilon: float,
        adjacency: Adjacency = "replace",
        l2: float = math.sqrt(2.0),
        max_rows: int = 1,
    ) -> TableRelease:
        """Return scales and priors by [DM] Algorithm 1, each table with its share of a Renyi budget.

        Parameters
        ----------
        order : float
            Above 1.
        epsilon : float
            The Renyi divergence of this order for all tables together.
        adjacency : {"replace", "add_remove"}, default "replace"
            Which data sets are neighbours.
        l2 : float, default sqrt(2)
            Euclidean sensitivity of the counts of one table.
        max_rows : int, default 1
            How many records a person has at most, which `l2` must count with (`simplexdp.sensitivity.of_counts`).

        Returns
        -------
        TableRelease
            Its curve is tight, far below what the conversion of the single order gives.

        Examples
        --------
        >>> release = Structure.naive_bayes(20).from_rdp(order=5, epsilon=1.0)
        >>> 2.27 < release.privacy.epsilon(1e-5) < 2.2785
        True
        """
        order, epsilon = number("order", order), positive("epsilon", epsilon)
        max_rows = integer("max_rows", max_rows, 1)
        # A stated root such as sqrt(2) may have been rounded down: its square is rounded up.
        square = _core.squared_l2(positive("l2", l2))
        parts = _core.parts_of(epsilon, list(self.shares))
        both = [_core.algorithm_one_mechanism(order, part, square, float(max_rows), 0.0, 3.0) for part in parts]
        scales, priors = [scale for scale, _ in both], [prior for _, prior in both]
        return self.release(scales, priors, adjacency=adjacency, max_rows=max_rows)

    def calibrated(
        self,
        *,
        epsilon: float,
        delta: float,
        prior: PriorRule,
        adjacency: Adjacency = "replace",
        floor: float = 0.0,
        max_rows: int = 1,
        sampling_error: float = 0.0,
        beside: PrivacyCurve | None = None,
    ) -> TableRelease:
        """Return the release with the largest scales such that all tables together are (epsilon, delta)-DP.

        Parameters
        ----------
        epsilon, delta : float
            The budget of the whole model.
        prior : float or callable
            The prior of every table, or the prior that goes with a scale, non-decreasing.
        adjacency : {"replace", "add_remove"}, default "replace"
            Which data sets are neighbours.
        floor : float, default 0
            A public lower bound of every count in every row.
        max_rows : int, default 1
            How many records a person has at most, who is hidden with all of them (`dirichlet_curve`).
        sampling_error : float, default 0
            Total variation error of the sampler, summed over all rows of all tables.
        beside : PrivacyCurve, optional
            Of what else is released from the same records; `privacy` is of that and the tables together.

        Returns
        -------
        TableRelease
            Its epsilon at `delta` is at most `epsilon`, and within a relative 1e-5 of it.

        Examples
        --------
        >>> release = Structure.bayesian_network(8).calibrated(epsilon=1.0, delta=1e-6, prior=lambda r: 1 + 10 * r)
        >>> 0.9999 < release.privacy.epsilon(1e-6) <= 1
        True
        """
        epsilon, delta = positive("epsilon", epsilon), open_unit("delta", delta)
        max_rows, sampling_error = integer("max_rows", max_rows, 1), non_negative("sampling_error", sampling_error)
        if sampling_error > 0:
            # (1 + exp(epsilon)) sampling_error must leave most of delta: no larger epsilon can be proved.
            largest = math.log(delta / sampling_error) - 1
            if not largest > 0.01:
                raise InvalidParameterError(
                    f"delta must be well above the sampling error {sampling_error:.3g} of all tables, got {delta}"
                )
            if epsilon > 0.97 * largest:
                # Not quite to the end: a search that sees only infinity above its goal has no slope to follow.
                epsilon = min(epsilon, max(largest - 11, 0.9 * largest))
        mean = math.fsum(self.shares) / len(self.shares)
        relative = [math.sqrt(share / mean) for share in self.shares]

        def attempt(log_scale: float) -> tuple[TableRelease, float]:
            scales = [math.exp(log_scale) * factor for factor in relative]
            priors = [positive("prior", prior(r) if callable(prior) else prior) for r in scales]
            release = self.release(
                scales,
                priors,
                adjacency=adjacency,
                floor=floor,
                max_rows=max_rows,
                sampling_error=sampling_error,
                beside=beside,
            )
            return release, float(release.privacy.epsilon(delta)) / epsilon

        return largest_within(attempt, self._start(epsilon, delta, prior) - math.log(max_rows))

    def _start(self, epsilon: float, delta: float, prior: PriorRule) -> float:
        """Return the logarithm of a scale near the one that the budget allows."""
        # The loss is nearly normal with variance 2 T r^2 psi'(a) for T tables.
        rough = epsilon / (5 * math.sqrt(len(self.shares)))
        at = positive("prior", prior(rough) if callable(prior) else prior)
        spread = math.sqrt(2 * len(self.shares) * float(trigamma(at)))
        scale = _core.gaussian_mu(epsilon, delta) / spread
        return math.log(scale if 0 < scale < math.inf else rough)

    def _each(self, name: str, value: float | Sequence[float]) -> tuple[float, ...]:
        values = numbers(name, value)
        if values.shape not in ((), (len(self.shares),)) or not np.all(values > 0):
            raise InvalidParameterError(
                f"{name} must be one positive number, or one for each of {len(self.shares)} tables, got {value!r}"
            )
        return tuple(np.broadcast_to(values, len(self.shares)).tolist())


def shares_by_cardinality(cells: Sequence[int]) -> tuple[float, ...]:
    """Return the shares of the budget that make the total error of the tables smallest.

    The error of a table grows with its number of cells over its scale, its cost with the square of the scale: the best
    scales are proportional to the cube roots of the numbers of cells.

    Parameters
    ----------
    cells : sequence of int
        Public number of cells of each table.

    Returns
    -------
    tuple of float

    Examples
    --------
    >>> from simplexdp.accounting import shares_by_cardinality
    >>> [round(share, 3) for share in shares_by_cardinality([1, 8, 27])]
    [1.0, 4.0, 9.0]
    """
    counts = numbers("cells", cells)
    if counts.ndim != 1 or not np.all(counts >= 1):
        raise InvalidParameterError(f"cells must be counts of at least 1, one for each table, got {cells!r}")
    return tuple((counts ** (2 / 3)).tolist())
