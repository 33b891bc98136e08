"""What a release says of the data, as columns: expected shares and counts with credible intervals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from simplexdp.cli.mechanism import Request
from simplexdp.cli.progress import Progress
from simplexdp.exceptions import NotAffordableError, NumericalError

if TYPE_CHECKING:
    from simplexdp.inference import HistogramPosterior, TableMargins, TablePosterior

__all__ = ["APART", "COLUMNS", "Inferred", "infer"]

COLUMNS = ("share", "lower", "upper", "count", "count_lower", "count_upper")
"""Of every posterior: the expected share of a category and an interval, and the same of its count in the data."""

MOST_NOISE = 20_000.0
"""Cells times the scale of the noise: so much is inferred together within a few seconds."""

APART = ", in which levels for other and missing values have shares of their own"

SHARES_PER_ONE = 1e9
"""Ends of intervals of shares are told in such parts."""

GUESS_SHAPE = 4.0
"""A public guess of a private number of records stands for a negative binomial law with a standard deviation of half of
it."""


@dataclass(frozen=True)
class Inferred:
    """Means and intervals, shape (..., d) and (..., d, 2), and what they suppose of the number of records."""

    share: NDArray[np.float64]
    share_ends: NDArray[np.float64]
    count: NDArray[np.float64]
    count_ends: NDArray[np.int64]
    level: float
    total: str
    prior: str = "a Dirichlet prior whose strength is integrated over"
    margins: TableMargins | None = None
    """Of a table of groups, where its counts are inferred together."""

    @classmethod
    def of(cls, posterior: HistogramPosterior | TablePosterior, level: float, total: str) -> Inferred:
        """Summarise a posterior."""
        # Intervals first: what they need is then there for the means.
        ends, count_ends = posterior.interval(level), posterior.counts.interval(level)
        return cls(posterior.mean, ends, posterior.counts.mean, count_ends, level, total)

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns, row after row."""
        lower, upper = self.share_ends.reshape(-1, 2).T
        # Of counts as many digits as they are known to: 663, and not 663.000000000034.
        count = self.count.ravel().round(10)
        values = (self.share.ravel(), *_widened(lower, upper), count, *self.count_ends.reshape(-1, 2).T)
        return {name: column.tolist() for name, column in zip(COLUMNS, values, strict=True)}

    @property
    def note(self) -> str:
        """What the intervals are."""
        return (
            "count: in these data; share: that with which such records come. count_lower to count_upper and lower to "
            f"upper hold them with probability {self.level:g} each, given the release: credible intervals that know of "
            f"the noise, under {self.prior}{self.total}."
        )

    @property
    def note_of_page(self) -> str:
        """The same without the names of columns, which a page has not."""
        return (
            f"Intervals are credible ones, given the release: they know of the noise, under {self.prior}{self.total}."
        )


def infer(
    built: Any,
    released: NDArray[Any],
    request: Request,
    level: float,
    *,
    margins: bool = False,
    apart: tuple[int, ...] = (),
) -> Inferred | str:
    """Return what a release says, or why that cannot be told.

    Parameters
    ----------
    built
        The mechanism.
    released : ndarray, shape (d,) or (groups, d)
    request : Request
        With the public number of records, or a public guess of it.
    level : float
        Of the intervals.
    margins : bool
        Whether the margins of a table of groups are wanted.
    apart : tuple of int
        Positions of "other" and "missing", whose shares need not be like the rest.
    """
    from simplexdp.inference import Total

    grouped = released.ndim > 1
    if grouped and request.mechanism == "sum_preserving_laplace":
        return "noise that keeps the sum of all groups ties them together: --mechanism discrete_laplace has intervals"
    total: Any
    said = ""
    if request.total_is_public and not grouped:
        total = request.total
    elif request.mechanism != "dirichlet":
        total = Total.flat()
        said = ", and any number of records" + (" in a group" if grouped else "")
    elif request.total_is_public:
        total = Total.between(0, request.total or 0)
        said = ", and any number of records in a group"
    elif request.total is not None:
        total = Total.negative_binomial(max(request.total / request.n_groups, 1.0), GUESS_SHAPE)
        said = ", and a number of records that the public guess may be far from"
    else:
        return "a draw of shares does not tell how many records there are: give --total, a public guess"
    try:
        with Progress("inferring"):
            posterior = built.infer(released, prior="empirical", total=total, apart=apart)
            found = Inferred.of(posterior, level, said)
            found = replace(found, prior=found.prior + APART) if apart else found
            return _together(found, posterior, request, level, wanted=margins) if grouped else found
    except NotAffordableError as error:
        return str(error)


def _together(found: Inferred, posterior: Any, request: Request, level: float, *, wanted: bool) -> Inferred:
    """Infer the counts of all groups together: for margins, or where they add up to a public number of records."""
    size = float(np.prod(found.count.shape)) * _noise(posterior)
    if request.mechanism == "dirichlet" or not (wanted or (request.total_is_public and size <= MOST_NOISE)):
        return found
    try:
        together = posterior.margins(total=request.total if request.total_is_public else None)
    except (NotAffordableError, NumericalError):
        return found
    said = f"{found.total}, {request.total} in all" if request.total_is_public else found.total
    cells = together.cells
    return replace(found, count=cells.mean, count_ends=cells.interval(level), total=said, margins=together)


def _widened(lower: NDArray[np.float64], upper: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return ends on the grid of `SHARES_PER_ONE`, outward: 1e-17 is no share that anybody means."""
    low = np.minimum(np.floor(lower * SHARES_PER_ONE) / SHARES_PER_ONE, lower)
    high = np.maximum(np.ceil(upper * SHARES_PER_ONE) / SHARES_PER_ONE, upper)
    return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)


def _noise(posterior: Any) -> float:
    """Return roughly how far the noise of a count goes."""
    noise = posterior.noise
    return 0.0 if noise is None else float(getattr(noise, "sigma", getattr(noise, "scale", 0.0)))
