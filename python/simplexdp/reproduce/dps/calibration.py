"""Prior and noise for one rho, as [DPS] sets them, and what each of the two mechanisms really guarantees."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from simplexdp.accounting import PrivacyCurve, dirichlet_curve
from simplexdp.reproduce.figure import Table
from simplexdp.special import trigamma

__all__ = ["DELTA", "N_INPUTS", "RHOS", "posterior_prior", "privacy_table", "sizes"]

RHOS = (0.01, 0.1, 1.0)
N_INPUTS = 200
DELTA = 1e-6


def posterior_prior(rho: float, gamma: float) -> float:
    """Return the prior at which a posterior draw is (rho, 1 + gamma)-tCDP by [DPS] Theorem 1.

    With squared l2-sensitivity 2 and l-infinity-sensitivity 1: trigamma(prior - gamma) = rho.
    """
    # 1/x < trigamma(x) < 1/x + 1/x^2: the root lies between 1/rho and 1/rho + 1.
    low, high = 1 / rho, 1 / rho + 1
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if trigamma(middle) > rho else (low, middle)
    return high + gamma


def privacy_table(gamma: float) -> Table:
    """Return prior, noise and exact epsilon of both mechanisms for every rho; neighbours replace a record."""
    rows = []
    for rho in RHOS:
        prior, sigma = posterior_prior(rho, gamma), math.sqrt(1 / rho)
        draw = dirichlet_curve(scale=1.0, prior=prior, dimension=10).epsilon(DELTA)
        noise = PrivacyCurve.gaussian(sigma=sigma, sensitivity=math.sqrt(2.0)).epsilon(DELTA)
        rows.append((rho, prior, sigma, DELTA, float(draw), float(noise)))
    names = ("rho", "prior", "sigma_of_counts", "delta", "epsilon_dirichlet_exact", "epsilon_gaussian_exact")
    return Table.from_rows(names, rows)


def privacy_clause(table: Table) -> str:
    """Say what the same rho means for both mechanisms."""
    pairs = [
        f"{a:.2f} against {b:.2f} at rho {rho:g}"
        for rho, a, b in zip(
            table["rho"], table["epsilon_dirichlet_exact"], table["epsilon_gaussian_exact"], strict=True
        )
    ]
    return f"exact epsilons at delta {DELTA:g} are {', '.join(pairs)} (Dirichlet against Gaussian)"


def sizes(few: int, many: int, *, fast: bool) -> Sequence[int]:
    """Return sample sizes on a logarithmic grid."""
    return [int(n) for n in np.unique(np.round(np.geomspace(few, many, 5 if fast else 13)))]
