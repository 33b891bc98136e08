"""What discrete Gaussian noise on integers costs, and what concentrated privacy says of a budget."""

import math
from fractions import Fraction
from functools import lru_cache

from simplexdp.accounting.curve import Adjacency, PrivacyCurve
from simplexdp.accounting.structured import gaussian_sensitivity, largest_within

__all__ = ["integer_gaussian_curve", "zcdp_budget"]

EXACT_SIGMAS = (Fraction(1, 1000), Fraction(5000))
"""The curve is exact in this range; beyond, the tables of losses would be too large."""


@lru_cache(maxsize=8)
def integer_gaussian_curve(sigma: Fraction, sensitivity: Fraction, adjacency: Adjacency) -> PrivacyCurve:
    """Return the curve of discrete Gaussian noise on integers.

    Integer vectors of squared length below 3 are those with one or two entries of size one. Both signs cost the same,
    as the noise is symmetric, and two such entries cost more than one.

    Parameters
    ----------
    sigma : Fraction
        Of the noise.
    sensitivity : Fraction
        Largest Euclidean distance between the integers of neighbours.
    adjacency : {"replace", "add_remove"}
        Which data sets are neighbours.

    Returns
    -------
    PrivacyCurve
        That of rho-zCDP where the exact one is not known.

    Examples
    --------
    >>> from fractions import Fraction
    >>> integer_gaussian_curve(Fraction(4), Fraction(1), "add_remove").exact
    True
    """
    changed = math.floor(sensitivity * sensitivity)
    if changed in (1, 2) and EXACT_SIGMAS[0] <= sigma <= EXACT_SIGMAS[1]:
        return PrivacyCurve.discrete_gaussian(sigma=float(sigma), changed=changed, adjacency=adjacency)
    rho = (sensitivity / sigma) ** 2 / 2
    nearest = float(rho)
    return PrivacyCurve.from_zcdp(nearest if nearest >= rho else math.nextafter(nearest, math.inf), adjacency=adjacency)


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

    return largest_within(attempt, math.log(gaussian_sensitivity(epsilon, delta) / math.sqrt(2)))
