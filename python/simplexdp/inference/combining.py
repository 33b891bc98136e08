"""Analyses of several tables that were drawn from a posterior, combined into one estimate with an honest variance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp import _arguments as check
from simplexdp.exceptions import InvalidParameterError
from simplexdp.inference.posterior import HistogramPosterior
from simplexdp.special import betainc_inverse

if TYPE_CHECKING:
    from simplexdp.testing import SeededRng

__all__ = ["Combined", "Kind", "SyntheticTables", "combine", "synthetic_tables"]

Floats = NDArray[np.float64]
Kind = Literal["data", "synthetic"]

MOST_DEGREES = 1e9
"""Beyond, Student's law is the normal one to all digits of a double."""


@dataclass(frozen=True)
class Combined:
    """One estimate from the analyses of several tables.

    Attributes
    ----------
    estimate, variance : ndarray
        Of the quantity in the population; shapes are those of one table's estimates.
    within, between : ndarray
        The mean of the tables' own variances, and the variance of their estimates.
    degrees : ndarray
        Degrees of freedom of Student's law in `interval`.
    adjusted : ndarray of bool
        Where the variance would not have been positive, and a larger one stands in for it: draw more tables.
    """

    estimate: Floats
    variance: Floats
    within: Floats
    between: Floats
    degrees: Floats
    adjusted: NDArray[np.bool_]

    @property
    def sd(self) -> Floats:
        """The standard errors."""
        return np.asarray(np.sqrt(self.variance))

    def interval(self, level: float = 0.95) -> Floats:
        """Return confidence intervals by Student's law, shape (..., 2).

        Parameters
        ----------
        level : float, default 0.95
            Strictly between 0 and 1.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> sdp.inference.combine([0.31, 0.29, 0.33], [0.001, 0.001, 0.001], kind="data").interval(0.95).round(3)
        array([0.227, 0.393])
        """
        alpha = 1 - check.open_unit("level", level)
        half = self.degrees / 2
        # P(abs(T) > t) = I_x(degrees / 2, 1 / 2) with x = degrees / (degrees + t^2).
        x = np.asarray(betainc_inverse(half, np.full_like(half, 0.5), np.full_like(half, alpha)))
        reach = np.sqrt(self.degrees * (1 - x) / x) * self.sd
        return np.stack([self.estimate - reach, self.estimate + reach], axis=-1)


@dataclass(frozen=True)
class SyntheticTables:
    """Tables drawn from the posterior of a histogram, and how to put together what is found in each.

    Attributes
    ----------
    counts : ndarray of int64, shape (m, d)
    kind : {"data", "synthetic"}
        Whether they are draws of the data themselves, or of records that such data might go on with.
    """

    counts: NDArray[np.int64]
    kind: Kind

    def __len__(self) -> int:
        return len(self.counts)

    def combine(self, estimates: ArrayLike, variances: ArrayLike) -> Combined:
        """Combine the analyses of the tables by the rules of their kind, see `combine`.

        Parameters
        ----------
        estimates, variances : array_like, shape (m, ...)
            What the analysis of each table gave, in order.

        Examples
        --------
        >>> import numpy as np
        >>> import simplexdp as sdp
        >>> mechanism = sdp.SumPreservingLaplaceMechanism.calibrated(epsilon=1.0, dimension=3)
        >>> tables = sdp.inference.synthetic_tables(mechanism.infer([60, 30, 10]), 50, rng=1)
        >>> shares = tables.counts / 100
        >>> tables.combine(shares, shares * (1 - shares) / 100).estimate.round(1).tolist()
        [0.6, 0.3, 0.1]
        """
        if len(np.atleast_1d(np.asarray(estimates, dtype=object))) != len(self):
            raise InvalidParameterError(f"estimates must have one entry for each of the {len(self)} tables")
        return combine(estimates, variances, kind=self.kind)


def synthetic_tables(
    posterior: HistogramPosterior, m: int, records: int | None = None, rng: SeededRng | int | None = None
) -> SyntheticTables:
    """Draw tables that an analyst can treat as data, each by itself, and combine afterwards.

    Parameters
    ----------
    posterior : HistogramPosterior
        Of ``mechanism.infer``.
    m : int
        How many tables, two or more; twenty are few, a hundred cost nothing.
    records : int, optional
        The size of each table: new records, drawn with the shares of one draw. Left out, each table is a draw of the
        data's own counts.
    rng : SeededRng or int, optional
        To repeat a run: post-processing needs no secret.

    Returns
    -------
    SyntheticTables

    Examples
    --------
    >>> import simplexdp as sdp
    >>> posterior = sdp.SumPreservingLaplaceMechanism.calibrated(epsilon=1.0, dimension=3).infer([60, 30, 10])
    >>> sdp.inference.synthetic_tables(posterior, 5, records=1000, rng=1).counts.sum(axis=1).tolist()
    [1000, 1000, 1000, 1000, 1000]
    """
    m = check.integer("m", m, 2)
    if not isinstance(posterior, HistogramPosterior):
        raise InvalidParameterError(f"posterior must be one of mechanism.infer, got one {type(posterior).__name__}")
    if records is None:
        return SyntheticTables(posterior.counts.sample(m, rng), "data")
    return SyntheticTables(np.asarray(posterior.predict(check.integer("records", records, 1), m, rng)), "synthetic")


def combine(estimates: ArrayLike, variances: ArrayLike, *, kind: Kind) -> Combined:
    """Combine the analyses of m tables that were drawn from a posterior.

    With b the variance of the m estimates and u the mean of their variances, the variance of their mean is

    - "data", each table a draw of the data: u + (1 + 1/m) b (Rubin 1987), with (m - 1) (1 + u / ((1 + 1/m) b))^2
      degrees of freedom;
    - "synthetic", each table new records: (1 + 1/m) b - u, with (m - 1) (1 - u / ((1 + 1/m) b))^2 degrees of freedom
      (Raghunathan, Reiter and Rubin 2003; Reiter 2002). With few tables it may come out below u / m, which it is at
      least: then b stands in, which is too large, and `Combined.adjusted` says so.

    The noise of the release is in b, since the draws know of it: no rule needs the mechanism.

    Parameters
    ----------
    estimates, variances : array_like, shape (m, ...)
        What the analysis of each table gave as if it were data: an estimate and its squared standard error, zero where
        only the data themselves are asked for.
    kind : {"data", "synthetic"}
        What the tables are: see `synthetic_tables`.

    Returns
    -------
    Combined

    Examples
    --------
    >>> import simplexdp as sdp
    >>> found = sdp.inference.combine([0.31, 0.29, 0.33], [0.001, 0.001, 0.001], kind="data")
    >>> round(float(found.estimate), 3), round(float(found.variance), 6)
    (0.31, 0.001533)
    """
    check.choice("kind", kind, get_args(Kind))
    q, u = check.numbers("estimates", estimates), check.numbers("variances", variances)
    if q.ndim == 0 or len(q) < 2:
        raise InvalidParameterError(f"estimates must be those of two tables or more, got shape {q.shape}")
    if u.shape != q.shape:
        raise InvalidParameterError(f"variances must have the shape {q.shape} of estimates, got {u.shape}")
    if np.any(u < 0):
        raise InvalidParameterError("variances must not be negative")
    m = len(q)
    within, between = u.mean(axis=0), q.var(axis=0, ddof=1)
    spread = (1 + 1 / m) * between
    if kind == "data":
        variance, adjusted = within + spread, np.zeros(np.shape(within), dtype=bool)
        ratio = within / np.maximum(spread, np.finfo(float).tiny)
        degrees = (m - 1) * (1 + np.minimum(ratio, MOST_DEGREES)) ** 2
    else:
        variance = spread - within
        adjusted = variance < within / m
        variance = np.where(adjusted, np.maximum(between, within / m), variance)
        degrees = (m - 1) * (1 - np.minimum(within / np.maximum(spread, np.finfo(float).tiny), 1.0)) ** 2
        # What stands in rests on no difference.
        degrees = np.where(adjusted, m - 1, np.maximum(degrees, 1.0))
    degrees = np.minimum(degrees, MOST_DEGREES)
    return Combined(*(np.asarray(x) for x in (q.mean(axis=0), variance, within, between, degrees, adjusted)))
