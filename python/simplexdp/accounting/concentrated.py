"""What concentrated privacy says of a budget."""

import math
from functools import lru_cache

from simplexdp import _core
from simplexdp.accounting.curve import PrivacyCurve
from simplexdp.accounting.search import largest_within

__all__ = ["zcdp_budget"]


@lru_cache(maxsize=256)
def zcdp_budget(epsilon: float, delta: float) -> float:
    """Return the largest rho, but for a part in 10^5, whose curve keeps (epsilon, delta).

    Examples
    --------
    >>> rho = zcdp_budget(1.0, 1e-6)
    >>> 0.9999 < PrivacyCurve.from_zcdp(rho).epsilon(1e-6) <= 1
    True
    """

    def attempt(log_scale: float) -> tuple[float, float]:
        rho = math.exp(2 * log_scale)
        return rho, float(PrivacyCurve.from_zcdp(rho).epsilon(delta)) / epsilon

    return largest_within(attempt, math.log(_core.gaussian_mu(epsilon, delta) / math.sqrt(2)))
