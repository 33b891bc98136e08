"""Curves inside dp_accounting (extra ``accounting``): as loss distributions, as events, and back.

Import this module only where dp_accounting is installed.
"""

from typing import Any

import attr
import numpy as np
from dp_accounting import dp_event, privacy_accountant
from dp_accounting.pld import pld_pmf, pld_privacy_accountant
from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

from simplexdp import _core
from simplexdp._arguments import choice, positive
from simplexdp.accounting import recipes
from simplexdp.accounting.curve import Adjacency, PrivacyCurve
from simplexdp.exceptions import InvalidParameterError, NotAffordableError

__all__ = ["CurveAccountant", "CurveEvent", "from_pld", "to_pld"]

LEFT_OUT = 1e-16
"""delta beyond the last loss of the grid, which becomes mass at infinity."""
MOST_POINTS = 2**21
LARGEST_INTERVAL = 10.0


def to_pld(curve: PrivacyCurve, interval: float = 1e-4) -> PrivacyLossDistribution:
    """Return a pessimistic loss distribution of dp_accounting; see `PrivacyCurve.to_dp_accounting`."""
    interval = positive("value_discretization_interval", interval)
    if interval > LARGEST_INTERVAL:
        raise InvalidParameterError(
            f"value_discretization_interval must be at most {LARGEST_INTERVAL:g}, got {interval:g}"
        )
    if curve.sampling_error:
        # The error is a bound for each epsilon; it is not the mass at infinity of a pair.
        raise InvalidParameterError(
            "curve must have no sampling error to be exported, got "
            f"{curve.sampling_error}; export the ideal curve and add (1 + exp(epsilon)) times the error to delta"
        )
    pmfs = [_pmf(profile, interval) for profile in curve.profiles]
    return PrivacyLossDistribution(*pmfs)


def from_pld(pld: PrivacyLossDistribution, adjacency: Adjacency) -> PrivacyCurve:
    """Return the curve of a pessimistic loss distribution; see `PrivacyCurve.from_dp_accounting`."""
    choice("adjacency", adjacency, ("replace", "add_remove"))
    if not isinstance(pld, PrivacyLossDistribution):
        raise InvalidParameterError(f"pld must be a privacy loss distribution, got {type(pld).__name__}")
    profiles = [_profile(pmf) for pmf in (pld._pmf_remove, pld._pmf_add)]
    if adjacency == "replace":
        profiles = [profiles[0] if pld._symmetric else _core.maximum_profile(*profiles)]
    return PrivacyCurve(profiles, adjacency=adjacency, label="from dp_accounting")


@attr.s(frozen=True, slots=True, auto_attribs=True)
class CurveEvent(dp_event.DpEvent):
    """The release of something with a privacy curve, as an event of dp_accounting.

    Attributes
    ----------
    recipe : str
        The curve as text; make events with `of`.
    """

    recipe: str

    @classmethod
    def of(cls, curve: PrivacyCurve) -> "CurveEvent":
        """Return the event of a release with this curve."""
        return cls(recipes.to_text(curve))

    @property
    def curve(self) -> PrivacyCurve:
        """The curve of the release."""
        return recipes.from_text(self.recipe)


NeighborRel = privacy_accountant.NeighboringRelation
ADJACENCY = {NeighborRel.ADD_OR_REMOVE_ONE: "add_remove", NeighborRel.REPLACE_ONE: "replace"}


class CurveAccountant(pld_privacy_accountant.PLDAccountant):
    """The loss-distribution accountant of dp_accounting, which also takes `CurveEvent`, alone or composed.

    It adds up as dp_accounting does: without a bound on rounding. For one, convert and use `sdp.compose`.
    """

    def _maybe_compose(self, event: Any, count: int, do_compose: bool) -> Any:
        if not isinstance(event, CurveEvent):
            return super()._maybe_compose(event, count, do_compose)
        expected = ADJACENCY.get(self.neighboring_relation)
        if event.curve.adjacency != expected:
            details = privacy_accountant.PrivacyAccountant.CompositionErrorDetails
            message = f"the curve is under {event.curve.adjacency!r}, the accountant under {self.neighboring_relation}"
            return details(invalid_event=event, error_message=message)
        if do_compose:
            # Many of a kind are composed by us, with a bound on rounding, before they are handed over.
            curve = event.curve if count == 1 else count * event.curve
            self._pld = self._pld.compose(to_pld(curve, self._value_discretization_interval))
        return None


def _pmf(profile: _core.Profile, interval: float) -> Any:
    """Return the pessimistic masses of one direction on the multiples of the interval."""
    floor = float(profile.delta(np.array([np.inf]))[0])
    high = _reach(lambda eps: float(profile.delta(np.array([eps]))[0]) - floor <= LEFT_OUT)
    low = _reach(lambda eps: float(profile.delta(np.array([-eps]))[0]) + np.expm1(-eps) <= 4e-16)
    first, last = -int(np.ceil(low / interval)), int(np.ceil(high / interval))
    if last - first > MOST_POINTS:
        raise NotAffordableError(
            f"a grid of {last - first} losses is more than the limit of {MOST_POINTS}; use a larger interval"
        )
    deltas = profile.delta(np.arange(first, last + 1) * interval)
    return pld_pmf.create_pmf_pessimistic_connect_dots_fixed_gap(
        interval, first, last, np.clip(np.minimum.accumulate(deltas), 0.0, 1.0)
    )


def _reach(enough: Any) -> float:
    """Return about the smallest positive value at which `enough` holds."""
    at = 1.0
    while at > 1e-9 and enough(at / 2):
        at /= 2
    while at < 1e6 and not enough(at):
        at *= 2
    return at


def _profile(pmf: Any) -> _core.Profile:
    """Return the profile of the masses of one direction."""
    if not pmf._pessimistic_estimate:
        raise InvalidParameterError("pld must be a pessimistic estimate, got an optimistic one")
    dense = pmf.to_dense_pmf()
    masses = np.maximum(np.asarray(dense._probs, dtype=np.float64), 0.0)
    losses = (dense._lower_loss + np.arange(masses.size)) * float(dense._discretization)
    kept = masses > 0
    return _core.loss_table_profile(losses[kept].tolist(), masses[kept].tolist(), float(dense._infinity_mass))
