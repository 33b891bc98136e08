"""Calibration by the exact curve, against its time budget and the same computation written with scipy."""

import numpy as np
from benches.python.timing import Comparison, compare, report, seconds
from scipy.optimize import brentq, minimize_scalar
from scipy.special import betainc, betaincc, psi

from simplexdp import DirichletMechanism

EPSILON, DELTA, DIMENSION, TOTAL = 1.0, 1e-6, 6, 1000
REQUIRED_SECONDS = 2e-3


def peer_delta(prior: float, scale: float) -> float:
    """delta of the worst pair under replace, as a difference of two tails."""
    s = 1 / (1 + np.exp(-EPSILON / scale))
    return betaincc(prior + scale, prior, s) - np.exp(EPSILON) * (1 - betainc(prior, prior + scale, s))


def peer_scale(prior: float) -> float:
    """Largest scale at a prior."""
    return brentq(lambda r: peer_delta(prior, r) / DELTA - 1, 1e-4 * prior, 1e2, rtol=1e-9)


def peer_loss(prior: float, scale: float) -> float:
    """Worst expected KL divergence over histograms spread evenly over 1, 2, 4 and 6 of the categories."""
    total = scale * TOTAL + DIMENSION * prior
    return max(psi(total) - np.log(k) - psi(scale * TOTAL / k + prior) for k in (1, 2, 4, DIMENSION))


def peer_calibrated() -> tuple[float, float]:
    best = minimize_scalar(
        lambda log_prior: peer_loss(np.exp(log_prior), peer_scale(np.exp(log_prior))),
        bounds=(np.log(0.05), np.log(1e3)),
        method="bounded",
        options={"xatol": 0.02},
    )
    prior = float(np.exp(best.x))
    return prior, peer_scale(prior)


def run() -> int:
    missed = 0
    for adjacency in ("replace", "add_remove"):
        for loss in ("kl", "l1", "l2", "linf"):

            def ours(adjacency: str = adjacency, loss: str = loss) -> DirichletMechanism:
                return DirichletMechanism.calibrated(
                    EPSILON, DELTA, DIMENSION, total=TOTAL, loss=loss, adjacency=adjacency
                )

            best = min(seconds(ours) for _ in range(50))
            comparison = Comparison(best, REQUIRED_SECONDS)
            missed += report(f"calibrated, {adjacency}, {loss}", comparison, peer="budget", required=1)
    mine, (prior, scale) = DirichletMechanism.calibrated(EPSILON, DELTA, DIMENSION, total=TOTAL), peer_calibrated()
    here, there = peer_loss(float(mine.prior), mine.scale), peer_loss(prior, scale)
    print(f"  expected loss {here:.6f}, the peer's {there:.6f}")
    comparison = compare(
        lambda: DirichletMechanism.calibrated(EPSILON, DELTA, DIMENSION, total=TOTAL), peer_calibrated, rounds=20
    )
    missed += report("prior and scale for a budget", comparison, peer="scipy")
    comparison = compare(
        lambda: DirichletMechanism.calibrated(EPSILON, DELTA, DIMENSION, prior=2.0), lambda: peer_scale(2.0), rounds=50
    )
    return missed + report("scale for a budget and a prior", comparison, peer="scipy")
