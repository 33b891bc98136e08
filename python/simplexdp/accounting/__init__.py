"""What a release costs: privacy curves, their conversions and their composition.

The contract of a curve
-----------------------
A `PrivacyCurve` speaks of one mechanism, or of several composed, under one adjacency:

``curve.adjacency``
    ``"replace"`` (one record changes, the total is public) or ``"add_remove"``. They never mix.
``curve.profiles``
    The loss of the *ideal* mechanism (real numbers, exact sampling), as compiled profiles: one for ``"replace"``, the
    profile of a pair that dominates every ordered pair of neighbours; two for ``"add_remove"``, first the pairs
    in which P has the record (it is removed), then those in which Q has it (it is added). Composition takes the
    profiles at the same position of each curve together, then the larger result.
``profile.is_pair``
    Whether the profile belongs to a pair of distributions, so that privacy loss distributions may be built
    from it. A bound that came from Renyi divergences does not; such curves compose through ``curve.renyi``.
``curve.renyi(order)``
    An upper bound of the Renyi divergence of the ideal mechanism, infinite where there is none. Adds up in composition.
``curve.sampling_error``
    A bound on the total variation distance between each ideal output law and what the sampler really draws. Adds
    up in composition; `delta` and `epsilon` already include it as ``(1 + exp(epsilon)) * sampling_error``.
``curve.exact``
    Whether `delta` is also attained by neighbours (up to numerical margins), or approached by them.

A profile has the methods ``delta``, ``delta_lower``, ``epsilon`` and ``renyi``, which map flat double arrays; it is
immutable and pickles.
"""

from simplexdp.accounting.accountant import Accountant
from simplexdp.accounting.composition import compose, compose_disjoint, compose_parts
from simplexdp.accounting.conversions import rdp_epsilon, renyi_composition
from simplexdp.accounting.curve import Adjacency, PrivacyCurve
from simplexdp.accounting.dirichlet import dirichlet_bound_curve, dirichlet_curve
from simplexdp.accounting.events import LedgerEvent, observe
from simplexdp.accounting.structured import Structure, TableRelease, shares_by_cardinality

__all__ = [
    "Accountant",
    "Adjacency",
    "LedgerEvent",
    "PrivacyCurve",
    "Structure",
    "TableRelease",
    "compose",
    "compose_disjoint",
    "compose_parts",
    "dirichlet_bound_curve",
    "dirichlet_curve",
    "observe",
    "rdp_epsilon",
    "renyi_composition",
    "shares_by_cardinality",
]
