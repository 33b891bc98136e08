"""The posteriors of many histograms at once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from simplexdp import _arguments as check
from simplexdp import _core
from simplexdp._parallel import threads_for
from simplexdp.exceptions import InvalidParameterError
from simplexdp.inference.posterior import Floats, HistogramPosterior, Integers, Kind, is_shortest
from simplexdp.inference.prior import Prior
from simplexdp.inference.problem import Problem
from simplexdp.inference.total import Total

if TYPE_CHECKING:
    from simplexdp.inference.margins import TableMargins

__all__ = ["TableCounts", "TablePosterior"]

_ROWS_PER_THREAD = 8

MOST_SHOWN = (20, 12)
"""Rows and cells of a table in a notebook."""


class TablePosterior:
    """What a release of many histograms says of each of them; shapes are those of the release.

    Every histogram has its own total. With the empirical prior all of them share how concentrated their shares are: the
    weights of the concentrations are found from all releases together. Each histogram is looked at by itself otherwise.

    Made by ``mechanism.infer(release)`` for releases with rows; ``posterior[i]`` is the `HistogramPosterior` of one.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> mechanism = sdp.DiscreteLaplaceMechanism.calibrated(epsilon=1.0, sensitivity=2)
    >>> posterior = mechanism.infer([[12, 9, -1], [3, 2, 4]], total=[20, 10])
    >>> posterior.mean.shape, posterior.counts.interval().shape
    ((2, 3), (2, 3, 2))
    """

    def __init__(self, problem: Problem, prior: Prior, total: Total | NDArray[np.int64], shared: bool) -> None:
        if not isinstance(problem, Problem):
            raise InvalidParameterError("problem must come from mechanism.infer, which makes posteriors of tables")
        self._problem, self._total = problem, total
        self._shape = problem.releases[0].shape
        self._rows = int(np.prod(self._shape[:-1]))
        self._shared = shared and prior.log_weights.size > 1
        self._prior = prior
        self._summaries: dict[tuple[float, bool, bool] | None, Any] = {}

    def __repr__(self) -> str:
        return f"TablePosterior(shape={self._shape})"

    def _repr_html_(self) -> str:
        mean = self.mean.reshape(self._rows, -1)[: MOST_SHOWN[0], : MOST_SHOWN[1]]
        cells = "".join(
            f"<tr><th>{row}</th>{''.join(f'<td>{100 * value:.2f} %</td>' for value in values)}</tr>"
            for row, values in enumerate(mean)
        )
        shown = "" if mean.size == np.prod(self._shape) else f", the first {mean.shape[0]} x {mean.shape[1]} of them"
        return f"<table><caption>Expected shares, shape {self._shape}{shown}</caption><tbody>{cells}</tbody></table>"

    def __len__(self) -> int:
        return self._shape[0]

    def __getitem__(self, index: int | tuple[int, ...]) -> HistogramPosterior:
        row = int(np.ravel_multi_index(np.atleast_1d(index).astype(int), self._shape[:-1]))
        if isinstance(self._total, Total):
            spec = self._total.spec
        else:
            spec = ("known", float(self._total.ravel()[row]), 0.0, None)
        if not self._shared:
            return HistogramPosterior(self._problem, row, self._prior, spec)
        weights = self._summary()[6]
        parts = [Prior(self._prior.parameters[i : i + 1], np.zeros(1)) for i in np.flatnonzero(weights)]
        own = np.array([HistogramPosterior(self._problem, row, part, spec).log_evidence for part in parts])
        # The row's own evidence is in the weights already: it is taken out, since the row puts it in again.
        logs = np.log(weights[weights > 0]) - own
        return HistogramPosterior(self._problem, row, Prior(self._prior.parameters[weights > 0], logs), spec)

    @property
    def mean(self) -> Floats:
        """The expected shares, shape (..., d)."""
        return np.asarray(self._pair(3)[..., 0])

    @property
    def sd(self) -> Floats:
        """The standard deviations of the shares, shape (..., d)."""
        return self._pair(3)[..., 1]

    @property
    def total_mean(self) -> Floats:
        """The expected numbers of records, shape (...)."""
        return np.asarray(self._summary()[1].reshape(*self._shape[:-1], 2)[..., 0])

    @cached_property
    def counts(self) -> TableCounts:
        """The counts of the data."""
        return TableCounts(self)

    @property
    def log_evidence(self) -> Floats:
        """Logarithms of p(release of a row | prior), shape (...)."""
        return np.asarray(self._summary()[0].reshape(self._shape[:-1]))

    @property
    def concentrations(self) -> tuple[Floats, Floats]:
        """The sums of the priors that all rows share, and their posterior weights."""
        weights = self._summary()[6] if self._shared else np.exp(self._prior.log_weights)
        return self._prior.parameters.sum(axis=1), weights

    def interval(self, level: float = 0.95, *, kind: Kind = "central") -> Floats:
        """Return credible intervals of the shares, as `HistogramPosterior.interval`.

        Parameters
        ----------
        level : float, default 0.95
            Strictly between 0 and 1.
        kind : {"central", "shortest"}, default "central"
            As much probability on either side, or the shortest one.

        Returns
        -------
        ndarray of float, shape (..., d, 2)

        Examples
        --------
        >>> import simplexdp as sdp
        >>> posterior = sdp.DiscreteLaplaceMechanism(scale=2, sensitivity=2).infer([[12, 9], [3, 2]], total=[20, 5])
        >>> posterior.interval(0.9).shape
        (2, 2, 2)
        """
        ends = self._summary((check.open_unit("level", level), is_shortest(kind), True))[5]
        return np.asarray(ends.reshape(*self._shape, 2))

    @property
    def noise(self) -> Any:
        """The mechanism whose independent noise every count has, None for other releases."""
        noise = self._problem.releases[0].noise
        return None if noise is None else noise[1]

    def margins(self, total: int | None = None) -> TableMargins:
        """Return the counts of cells, rows and all records together, which add up; for noise on every count.

        Parameters
        ----------
        total : int, optional
            The public number of records in all histograms; left out, it is private.

        Returns
        -------
        TableMargins

        Examples
        --------
        >>> import simplexdp as sdp
        >>> mechanism = sdp.DiscreteLaplaceMechanism(scale=2, sensitivity=2)
        >>> posterior = mechanism.infer([[12, 9], [3, 2]], prior="empirical")
        >>> posterior.margins(total=26).rows.mean.sum().round(6).item()
        26.0
        """
        from simplexdp.inference.margins import table_margins
        from simplexdp.models.released import Law

        noise, public = self._problem.releases[0].noise, self._total
        if noise is None or len(self._problem.releases) > 1 or self._problem.totals:
            raise InvalidParameterError("margins must be of one release with independent noise on every count")
        if not isinstance(public, Total) or public.spec[0] != "flat":
            raise InvalidParameterError("margins must be of histograms whose totals are unknown: infer without total")
        if total is not None:
            total = check.integer("total", total, 0)
        return table_margins(noise[0], Law.of_noise(noise[1]), self._prior, total)

    def _pair(self, which: int) -> Floats:
        values: Floats = self._summary()[which].reshape(*self._shape, 2)
        return values

    def _summary(self, interval: tuple[float, bool, bool] | None = None) -> Any:
        """Return moments, and intervals of a level; whether the shortest, and of shares too, which takes longer."""
        if interval is None and self._summaries:
            return next(iter(self._summaries.values()))
        if interval is not None and (interval[0], interval[1], True) in self._summaries:
            interval = (interval[0], interval[1], True)
        if interval not in self._summaries:
            totals = (
                (self._total.spec, None)
                if isinstance(self._total, Total)
                else (Total.flat().spec, np.ascontiguousarray(self._total).ravel())
            )
            problem = self._problem
            before = next(iter(self._summaries.values()), None)
            self._summaries[interval] = _core.infer_rows(
                [release.observation for release in problem.releases] + list(problem.totals),
                self._rows,
                np.ascontiguousarray(self._prior.parameters).ravel(),
                np.ascontiguousarray(self._prior.log_weights),
                totals,
                problem.least,
                self._shared,
                interval,
                threads_for(self._rows, _ROWS_PER_THREAD),
                before[6] if self._shared and before is not None else None,
            )
        return self._summaries[interval]


class TableCounts:
    """The counts of many histograms, given their releases."""

    def __init__(self, posterior: TablePosterior) -> None:
        self._posterior = posterior

    @property
    def mean(self) -> Floats:
        """The expected counts, shape (..., d)."""
        return self._posterior._pair(2)[..., 0]

    @property
    def sd(self) -> Floats:
        """The standard deviations of the counts, shape (..., d)."""
        return self._posterior._pair(2)[..., 1]

    def interval(self, level: float = 0.95, *, kind: Kind = "central") -> Integers:
        """Return credible intervals of the counts, both ends included.

        Parameters
        ----------
        level : float, default 0.95
            Strictly between 0 and 1.
        kind : {"central", "shortest"}, default "central"
            At most (1 - level) / 2 on either side, or the shortest one.

        Returns
        -------
        ndarray of int64, shape (..., d, 2)

        Examples
        --------
        >>> import simplexdp as sdp
        >>> posterior = sdp.DiscreteLaplaceMechanism(scale=2, sensitivity=2).infer([[12, 9], [3, 2]], total=[20, 5])
        >>> posterior.counts.interval(0.9).shape
        (2, 2, 2)
        """
        ends: Integers = self._posterior._summary((check.open_unit("level", level), is_shortest(kind), False))[4]
        return ends.reshape(*self._posterior._shape, 2)
