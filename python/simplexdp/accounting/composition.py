"""Several releases together: composition on the same records, and on disjoint groups of records.

Profiles of pairs compose through their privacy loss distributions, bounds from Renyi divergences through the sum of
the divergences, and where both kinds meet the better of two ways is taken at each epsilon. See docs/composition.md.
"""

import math
from collections.abc import Iterable, Sequence
from typing import get_args

from simplexdp import _core
from simplexdp._arguments import choice, integer
from simplexdp.accounting.curve import Adjacency, PrivacyCurve
from simplexdp.exceptions import InvalidParameterError

Parts = list[tuple[_core.Profile, int]]

MOST_GROUPS = 8
"""Up to so many different groups every pair of them is composed; beyond, their maxima are."""


def compose(curves: Iterable[PrivacyCurve], counts: Sequence[int] | None = None) -> PrivacyCurve:
    """Return the curve of several releases from the same records, each fixed in advance or chosen adaptively.

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
    times = [1] * len(curves) if counts is None else [integer("counts", count, 0) for count in counts]
    if len(times) != len(curves) or not any(times):
        raise InvalidParameterError(f"counts must be one number for each curve, not all zero, got {counts!r}")
    kept = [(curve, count) for curve, count in zip(curves, times, strict=True) if count]
    adjacency = kept[0][0].adjacency
    if any(curve.adjacency != adjacency for curve in curves):
        raise InvalidParameterError("curves must all be of the same adjacency, got 'replace' and 'add_remove'")
    positions = range(len(kept[0][0].profiles))
    profiles = [_compose_profiles([(curve.profiles[i], count) for curve, count in kept]) for i in positions]
    error = math.fsum(curve.sampling_error * count for curve, count in kept)
    single = len(kept) == 1 and kept[0][1] == 1
    return PrivacyCurve(
        profiles,
        adjacency=adjacency,
        # Products of dominating pairs dominate; whether neighbours attain all of them at once is not known here.
        exact=kept[0][0].exact if single else False,
        sampling_error=error * (1 + 1e-15),
        label=kept[0][0].label if single else f"composition of {sum(count for _, count in kept)} releases",
    )


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
    if any(curve.adjacency != "add_remove" for curve in curves):
        raise InvalidParameterError(
            "curves of disjoint groups must be under 'add_remove': records enter and leave a group, got 'replace'"
        )
    removed = _distinct(curve.profiles[0] for curve in curves)
    added = _distinct(curve.profiles[1] for curve in curves)
    errors = sorted((curve.sampling_error for curve in curves), reverse=True)
    label = f"{len(curves)} disjoint groups"
    if adjacency == "add_remove":
        return PrivacyCurve(
            [_maximum(removed), _maximum(added)], adjacency=adjacency, sampling_error=errors[0], label=label
        )
    if len(removed) * len(added) > MOST_GROUPS**2:
        removed, added = [_maximum(removed)], [_maximum(added)]
    pairs = [_compose_profiles([(out, 1), (into, 1)]) for out in removed for into in added]
    error = math.fsum(errors[:2]) * (1 + 1e-15)
    return PrivacyCurve([_maximum(pairs)], adjacency=adjacency, sampling_error=error, label=label)


def _checked(curves: Iterable[PrivacyCurve]) -> list[PrivacyCurve]:
    """Return the curves as a list, at least one."""
    curves = list(curves)
    if not curves:
        raise InvalidParameterError("curves must hold at least one curve, got none")
    for curve in curves:
        if not isinstance(curve, PrivacyCurve):
            raise InvalidParameterError(f"curves must be privacy curves, got {type(curve).__name__}")
    return curves


def _compose_profiles(parts: Parts) -> _core.Profile:
    """Return one profile for all parts, in the tightest way that their kinds allow."""
    parts = _merged(parts)
    if len(parts) == 1 and parts[0][1] == 1:
        return parts[0][0]
    pairs = [part for part in parts if part[0].is_pair]
    others = [part for part in parts if not part[0].is_pair]
    if not others:
        return _core.compose_profiles(*_columns(parts))
    by_divergence = _renyi_sum(parts)
    if not pairs:
        return by_divergence
    # A bound of delta at every real epsilon is as good as its convex minorant, which is a profile.
    bound = others[0][0] if len(others) == 1 and others[0][1] == 1 else _renyi_sum(others)
    return _core.minimum_profile(by_divergence, _core.compose_profiles(*_columns([*pairs, (bound, 1)])))


def _merged(parts: Parts) -> Parts:
    """Return the parts of the parts, equal ones counted together."""
    merged: dict[str, tuple[_core.Profile, int]] = {}
    for profile, count in parts:
        for part, times in profile.parts:
            # The name of a profile is the call that makes it, to the last digit.
            key = repr(part)
            known = merged.get(key, (part, 0))
            merged[key] = (known[0], known[1] + count * times)
    return list(merged.values())


def _columns(parts: Parts) -> tuple[list[_core.Profile], list[int]]:
    return [profile for profile, _ in parts], [count for _, count in parts]


def _renyi_sum(parts: Parts) -> _core.Profile:
    profiles, counts = _columns(parts)
    return _core.renyi_sum_profile(tuple(profiles), [float(count) for count in counts], True)


def _distinct(profiles: Iterable[_core.Profile]) -> list[_core.Profile]:
    return list({repr(profile): profile for profile in profiles}.values())


def _maximum(profiles: Sequence[_core.Profile]) -> _core.Profile:
    return profiles[0] if len(profiles) == 1 else _core.maximum_profile(*profiles)
