"""Privacy curves against the same computation written with SciPy: tails of beta and gamma laws, and a root search."""

import numpy as np
from benches.python.timing import compare, report, seconds
from scipy.optimize import brentq
from scipy.special import betaincc, gammainc, gammaincc, gammaln

from simplexdp.accounting import dirichlet_curve

SIZE = 10**5
ALPHA, SCALE, DELTA = 1.5, 1.0, 1e-5


def peer_beta(epsilon):
    """P[Y > s] - exp(eps) Q[Y > s] as a user of SciPy would write it; the tails cancel for small deltas."""
    s = 1 / (1 + np.exp(-epsilon / SCALE))
    return betaincc(ALPHA + SCALE, ALPHA, s) - np.exp(epsilon) * betaincc(ALPHA, ALPHA + SCALE, s)


def peer_gamma(epsilon):
    """Return the larger of both directions."""
    c = gammaln(ALPHA + SCALE) - gammaln(ALPHA)
    t, u = np.exp((epsilon + c) / SCALE), np.exp((c - epsilon) / SCALE)
    remove = gammaincc(ALPHA + SCALE, t) - np.exp(epsilon) * gammaincc(ALPHA, t)
    add = gammainc(ALPHA, u) - np.exp(epsilon) * gammainc(ALPHA + SCALE, u)
    return np.maximum(remove, add)


def peer_epsilon():
    return brentq(lambda epsilon: peer_beta(epsilon) - DELTA, 0.0, 50.0, xtol=1e-14, rtol=1e-14)


def our_epsilon():
    return dirichlet_curve(scale=SCALE, prior=ALPHA, dimension=3).epsilon(DELTA)


def run() -> int:
    epsilon = np.linspace(0.0, 12.0, SIZE)
    beta = dirichlet_curve(scale=SCALE, prior=ALPHA, dimension=3)
    both = np.linspace(0.0, 4.0, SIZE)
    gammas = dirichlet_curve(scale=SCALE, prior=ALPHA, dimension=3, adjacency="add_remove")
    print(f"  epsilon at delta {DELTA:g}: {our_epsilon():.10f}, peer {peer_epsilon():.10f}")
    worst = np.max(np.abs(peer_beta(epsilon) / beta.delta(epsilon) - 1))
    print(f"  largest relative difference of delta from the peer, whose tails cancel: {worst:.1e}")
    print(f"  delta at 10^5 epsilons: best of 5, {min(seconds(lambda: beta.delta(epsilon)) for _ in range(5)):.3f} s")
    missed = report(
        "delta at 10^5 epsilons, replace",
        compare(lambda: beta.delta(epsilon), lambda: peer_beta(epsilon), rounds=5),
        peer="scipy",
    )
    missed += report(
        "delta at 10^5 epsilons, add or remove",
        compare(lambda: gammas.delta(both), lambda: peer_gamma(both), rounds=5),
        peer="scipy",
    )
    loops = 100
    comparison = compare(
        lambda: [our_epsilon() for _ in range(loops)],
        lambda: [peer_epsilon() for _ in range(loops)],
        our_work=loops,
        peer_work=loops,
    )
    return missed + report("one epsilon from alpha, scale and delta", comparison, peer="brentq", required=2)
