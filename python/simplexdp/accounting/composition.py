"""Several releases together: composition on the same records, and on disjoint groups of records."""

from collections.abc import Iterable, Sequence
from typing import get_args

from simplexdp import _core
from simplexdp._arguments import choice, integer
from simplexdp.accounting.curve import Adjacency, PrivacyCurve
from simplexdp.exceptions import InvalidParameterError


def compose(curves: Iterable[PrivacyCurve], counts: Sequence[int] | None = None) -> PrivacyCurve:
    """Return the curve of several releases from the same records.

    A later question may depend on earlier answers; its curve may not. For budgets whose costs depend on answers see
    `Accountant`.

    Parameters
    ----------
    curves : iterable of PrivacyCurve
        All of the same adjacency. Those made of (epsilon, delta) enter by their dominating pair, exactly; those made
        of Renyi divergences, zCDP or tCDP by the sum of divergences, or as a profile where that is better.
    counts : sequence of int, optional
        How often each curve counts; once by default.

    Returns
    -------
    PrivacyCurve
        Upper bounds that hold in floating point. ``epsilon(delta, tolerance=...)`` refines them.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> total = sdp.compose([sdp.PrivacyCurve.gaussian(sigma=20.0)], [1000])
    >>> round(total.epsilon(1e-6), 4)
    8.3062
    """
    curves = _checked(curves)
    times = [1] * len(curves) if counts is None else [_times(count) for count in counts]
    if len(times) != len(curves) or not any(times):
        raise InvalidParameterError(f"counts must be one number for each curve, not all zero, got {counts!r}")
    guarantee = _core.Guarantee.compose([curve.guarantee for curve in curves], times)
    kept = [(curve, count) for curve, count in zip(curves, times, strict=True) if count]
    single = len(kept) == 1 and kept[0][1] == 1
    label = kept[0][0].label if single else f"composition of {sum(times)} releases"
    return PrivacyCurve.from_guarantee(guarantee, label)


def compose_disjoint(curves: Iterable[PrivacyCurve], *, adjacency: Adjacency = "add_remove") -> PrivacyCurve:
    """Return the curve of releases from disjoint groups of the records (parallel composition).

    A record is in one group, told by the record itself. Adding or removing it touches that group only: the largest
    cost counts. Replacing it may take it from one group and put it into another: two costs count.

    Parameters
    ----------
    curves : iterable of PrivacyCurve
        One for each group, all under ``"add_remove"``: within a group, records come and go.
    adjacency : {"add_remove", "replace"}, default "add_remove"
        Which data sets are neighbours, over all groups.

    Returns
    -------
    PrivacyCurve

    Examples
    --------
    >>> import simplexdp as sdp
    >>> group = sdp.PrivacyCurve.pure(0.5, adjacency="add_remove")
    >>> sdp.compose_disjoint([group, group]).epsilon(0.0)
    0.5
    >>> sdp.compose_disjoint([group, group], adjacency="replace").epsilon(1e-9) > 0.9
    True
    """
    curves = _checked(curves)
    choice("adjacency", adjacency, get_args(Adjacency))
    guarantee = _core.Guarantee.compose_disjoint([curve.guarantee for curve in curves], adjacency)
    return PrivacyCurve.from_guarantee(guarantee, f"{len(curves)} disjoint groups")


def compose_parts(curves: Iterable[PrivacyCurve]) -> PrivacyCurve:
    """Return the curve of releases from parts of the records, where a record's place says which part it is in.

    Records that are replaced stay in their part, so the largest cost counts: it is what a split into training and
    holdout records costs, when the places were drawn without looking at the records. A release may use what was
    released from other parts before it.

    Parameters
    ----------
    curves : iterable of PrivacyCurve
        One for each part, all under ``"replace"``: a record that comes or goes would move the places of others.

    Returns
    -------
    PrivacyCurve

    Examples
    --------
    >>> import simplexdp as sdp
    >>> training, holdout = sdp.PrivacyCurve.gaussian(sigma=3.0), sdp.PrivacyCurve.pure(0.5)
    >>> both = sdp.accounting.compose_parts([training, holdout])
    >>> both.epsilon(1e-6) == training.epsilon(1e-6)
    True
    """
    curves = _checked(curves)
    guarantee = _core.Guarantee.compose_parts([curve.guarantee for curve in curves])
    return PrivacyCurve.from_guarantee(guarantee, f"{len(curves)} parts by place")


MOST_TIMES = 2**40


def _times(count: object) -> int:
    """Check how often a curve counts: the core composes up to 2^40 at once."""
    times = integer("counts", count, 0)
    if times > MOST_TIMES:
        raise InvalidParameterError(f"counts must be at most 2^40, got {times}")
    return times


def _checked(curves: Iterable[PrivacyCurve]) -> list[PrivacyCurve]:
    """Return the curves as a list, at least one."""
    if not isinstance(curves, Iterable):
        raise InvalidParameterError(f"curves must be a list of privacy curves, got {type(curves).__name__}")
    curves = list(curves)
    if not curves:
        raise InvalidParameterError("curves must hold at least one curve, got none")
    for curve in curves:
        if not isinstance(curve, PrivacyCurve):
            raise InvalidParameterError(f"curves must be privacy curves, got {type(curve).__name__}")
    return curves
