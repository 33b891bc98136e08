"""What a release says of the data: exact posteriors of counts and shares, at no cost of privacy.

`docs/inference.md` has the idea, the formulas and measured coverage.
"""

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from simplexdp import _arguments as check
from simplexdp.exceptions import InvalidParameterError
from simplexdp.inference.apart import COARSE, MOST_IN_ALL, Seen, checked_apart, prior_apart, standing_out
from simplexdp.inference.combining import Combined, SyntheticTables, combine, synthetic_tables
from simplexdp.inference.laws import CountLaws
from simplexdp.inference.margins import TableMargins
from simplexdp.inference.posterior import Counts, HistogramPosterior, Shares
from simplexdp.inference.prior import Prior, make_prior
from simplexdp.inference.problem import state
from simplexdp.inference.table import TableCounts, TablePosterior
from simplexdp.inference.total import Total

__all__ = [
    "Combined",
    "CountLaws",
    "Counts",
    "HistogramPosterior",
    "Shares",
    "SyntheticTables",
    "TableCounts",
    "TableMargins",
    "TablePosterior",
    "Total",
    "combine",
    "infer",
    "synthetic_tables",
]


def infer(
    mechanism: Any,
    release: ArrayLike,
    *,
    prior: Any = 1.0,
    total: Any = None,
    centre: ArrayLike | None = None,
    apart: Sequence[int] = (),
    share_prior: bool = True,
    units: int = 1,
    **options: Any,
) -> HistogramPosterior | TablePosterior:
    """Return the exact posterior of counts and shares given a release: ``mechanism.infer`` of every mechanism.

    Parameters
    ----------
    mechanism
        What it was released with; its law is part of the posterior.
    release : array_like, shape (d,) or (..., d)
        What was released: one histogram, or many.
    prior : float, array_like of shape (d,) or "empirical", default 1.0
        Parameters of the Dirichlet prior of the shares. ``"empirical"`` integrates over its concentration, by the
        evidence of the release; many histograms share it. Where one or two cells of a single histogram have nearly all
        records, it is that of the others, as for cells `apart`.
    total : int, array_like, Total or pair, optional
        The public number of records, of all histograms or of each; a prior of a private one; or a pair of a noise
        mechanism and the noisy number that it released. Left out, it is what the release implies (zero-sum noise, a
        mechanism with a fixed total), and for other noisy counts it is unknown.
    centre : array_like of shape (d,), optional
        The mean of the empirical prior, by default equal shares. It must not come from the release of the same
        histogram: that would count it twice.
    apart : sequence of int, default ()
        At most two cells, such as those of "other" and "missing", whose shares need not be like the rest: under the
        empirical prior their shares have laws of their own. A rare one is pulled up to the others otherwise.
    share_prior : bool, default True
        Whether many histograms share the concentration of the empirical prior; otherwise each has its own.
    units : int, default 1
        Of how many units of the release a person is, where persons were weighted
        (`simplexdp.sensitivity.weight_units`): the posterior is that of numbers of persons, whole ones, and so are
        `total` and what is inferred.
    **options
        ``resolution`` of a Dirichlet release, as it was given to ``release``.

    Returns
    -------
    HistogramPosterior or TablePosterior

    Examples
    --------
    >>> import simplexdp as sdp
    >>> mechanism = sdp.DiscreteGaussianMechanism.calibrated(rho=0.1, sensitivity=2**0.5)
    >>> posterior = sdp.inference.infer(mechanism, [31, 12, -2], total=40, prior="empirical")
    >>> posterior.counts.interval(0.95).shape
    (3, 2)
    """
    units = check.integer("units", units, 1)
    if units > 1:
        # The mechanisms import this package in their methods.
        from simplexdp.inference.of_persons import in_persons, law_of_persons

        release = in_persons(mechanism, check.numbers("release", release), units)
        mechanism = law_of_persons(mechanism, units)
    problem, stated = state(mechanism, release, total, options)
    shape = problem.releases[0].shape
    seen = problem.releases[0].seen(None if isinstance(stated, Total) else stated)
    shared = check.flag("share_prior", share_prior)
    made = _prior(prior, shape, centre, apart, seen, shared=shared)
    if len(shape) == 1:
        spec = stated.spec if isinstance(stated, Total) else ("known", float(stated[()]), 0.0, None)
        return HistogramPosterior(problem, 0, made, spec)
    return TablePosterior(problem, made, stated, shared)


def _prior(
    prior: Any,
    shape: tuple[int, ...],
    centre: ArrayLike | None,
    apart: Sequence[int],
    seen: Seen | None,
    *,
    shared: bool,
) -> Prior:
    dimension = shape[-1]
    stated = make_prior(prior, dimension, centre)
    places = checked_apart(apart, dimension)
    if not isinstance(prior, str) or centre is not None:
        if places:
            raise InvalidParameterError('apart must be left out unless prior is "empirical" and there is no centre')
        return stated
    large = [place for place in standing_out(seen) if place not in places] if len(shape) == 1 else []
    if large and len(places) + len(large) <= min(MOST_IN_ALL, dimension - 1):
        return prior_apart(dimension, (*places, *large), seen, shared=False, step=None if places else COARSE)
    return prior_apart(dimension, places, seen, shared=shared) if places else stated
