"""Conversions between guarantees, and composition through Renyi divergences."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from simplexdp import _core
from simplexdp._arguments import integer
from simplexdp._arrays import Floats, as_floats, map_broadcast
from simplexdp.accounting.curve import PrivacyCurve
from simplexdp.exceptions import InvalidParameterError


def rdp_epsilon(order: ArrayLike, epsilon: ArrayLike, delta: ArrayLike) -> float | Floats:
    """Return the epsilon of an (order, epsilon)-Renyi DP mechanism at delta, as the papers compute it.

    This is the conversion of Canonne, Kamath and Steinke at that one order. `PrivacyCurve.from_rdp` is sharper.

    Parameters
    ----------
    order, epsilon, delta : array_like of float
        Above 1; zero or above; strictly between 0 and 1. They broadcast.

    Returns
    -------
    float or ndarray
        Rounded up; zero where the formula is negative.

    Examples
    --------
    >>> from simplexdp.accounting import rdp_epsilon
    >>> round(rdp_epsilon(5.0, 1.0, 1e-5), 4)
    3.2527
    """
    arrays = {name: as_floats(name, x) for name, x in (("order", order), ("epsilon", epsilon), ("delta", delta))}
    rules = [("order", "above 1 and finite", (arrays["order"] > 1) & (arrays["order"] < np.inf))]
    rules += [("epsilon", "non-negative", arrays["epsilon"] >= 0)]
    rules += [("delta", "strictly between 0 and 1", (arrays["delta"] > 0) & (arrays["delta"] < 1))]
    for name, rule, holds in rules:
        if not np.all(holds):
            raise InvalidParameterError(f"{name} must be {rule}, got {arrays[name].tolist()!r}")
    result = map_broadcast(_core.rdp_epsilon, **arrays)
    return max(result, 0.0) if isinstance(result, float) else np.maximum(result, 0.0)


def renyi_composition(curves: Sequence[PrivacyCurve], times: Sequence[int] | None = None) -> PrivacyCurve:
    """Return the curve of independent releases through the sum of their Renyi divergences.

    Parameters
    ----------
    curves : sequence of PrivacyCurve
        With the same adjacency. The choice of each may depend on what the earlier ones released.
    times : sequence of int, optional
        How often each is released; once by default.

    Returns
    -------
    PrivacyCurve
        Looser than composing privacy loss distributions, but all that curves known by their Renyi divergences allow.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> from simplexdp.accounting import renyi_composition
    >>> curve = renyi_composition([sdp.PrivacyCurve.from_zcdp(0.1)], times=[3])
    >>> round(curve.tcdp(10.0), 9)
    0.3
    """
    curves = list(curves) if isinstance(curves, Iterable) else []
    if not curves or not all(isinstance(curve, PrivacyCurve) for curve in curves):
        raise InvalidParameterError("curves must be a sequence of at least one PrivacyCurve")
    counts = [1] * len(curves) if times is None else [integer("times", n, 0) for n in times]
    if len(counts) != len(curves):
        raise InvalidParameterError(f"times must have one entry for each curve, got {len(counts)} for {len(curves)}")
    guarantee = _core.Guarantee.compose_renyi([curve.guarantee for curve in curves], counts)
    return PrivacyCurve.from_guarantee(guarantee, f"renyi_composition(of {sum(counts)})")
