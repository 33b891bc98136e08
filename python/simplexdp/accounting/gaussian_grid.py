"""The curve of integer Gaussian noise whose steps are small: that of real Gaussian noise, and what the steps add.

Let p be the discrete Gaussian of parameter s on the integers, and q the law of a normal variable of variance
``t**2 = s**2 - 1/12``, rounded. For s >= 16 their total variation distance is below ``1 / (5 s**4)``; the proof is in
docs/randomness.md. Rounding a shifted normal variable is post-processing where shifts are integers, so in place of the
discrete mechanism one may account for the normal one with standard deviation t, each law off by that distance for
every value in which neighbours differ.
"""

import math
from fractions import Fraction

from simplexdp.accounting.curve import Adjacency, PrivacyCurve

__all__ = ["gaussian_grid_curve"]

LEAST_STEPS = 16
"""The proof needs so many steps in one standard deviation."""

LEAST_MU, MOST_MU = Fraction(1, 10**9), Fraction(10**12)
"""Sensitivities in standard deviations that the curve of the normal laws covers; a smaller one costs no more."""


def gaussian_grid_curve(
    sigma: Fraction, sensitivity: Fraction, changed: int, resolution: Fraction, adjacency: Adjacency
) -> PrivacyCurve:
    """Return the curve of discrete Gaussian noise of `sigma` on a grid, to values that are on it.

    Parameters
    ----------
    sigma : Fraction
        Of the noise; below `LEAST_STEPS` steps the curve is that of zCDP.
    sensitivity : Fraction
        Largest Euclidean distance between the values of neighbours, on the grid.
    changed : int
        In how many values neighbours can differ.
    resolution : Fraction
        Step of the grid.
    adjacency : {"replace", "add_remove"}
        Which data sets are neighbours.

    Returns
    -------
    PrivacyCurve

    Examples
    --------
    >>> from fractions import Fraction
    >>> curve = gaussian_grid_curve(Fraction(4), Fraction(1), 1, Fraction(1, 2**20), "replace")
    >>> round(curve.epsilon(1e-6), 4), curve.sampling_error < 1e-27
    (1.0607, True)
    """
    steps, mu = sigma / resolution, sensitivity / sigma
    if steps < LEAST_STEPS or mu > MOST_MU / 2:
        return PrivacyCurve.from_zcdp(_up(mu * mu / 2), adjacency=adjacency)
    # sqrt(1 - 1/(12 s^2)) is at least 1 - 1/(12 s^2): a smaller deviation is the safe side.
    mu = max(mu / (1 - 1 / (12 * steps * steps)), LEAST_MU)
    curve = PrivacyCurve.gaussian(sigma=1.0, sensitivity=_up(mu), adjacency=adjacency)
    return curve.with_sampling_error(_up(changed / (5 * steps**4)))


def _up(value: Fraction) -> float:
    """Return a double that is at least the value."""
    nearest = float(value)
    return nearest if nearest >= value else math.nextafter(nearest, math.inf)
