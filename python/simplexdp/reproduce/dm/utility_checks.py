"""Statements of [DM] on utility: theorem 2 and appendix E."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simplexdp.reproduce.dm.checking import Check, bound, identity, log_integral, log_sigmoid
from simplexdp.special import betainc, betaincc, digamma, log_gamma

__all__ = ["kl_tail_probability", "utility_checks"]

Floats = NDArray[np.float64]


def utility_checks(n: int, rng: np.random.Generator) -> list[Check]:
    """Evaluate every statement on n random cases."""
    eta = np.exp(rng.uniform(np.log(0.05), np.log(3.0), n))
    p = rng.uniform(0.01, 0.99, n)
    alpha = np.exp(rng.uniform(np.log(0.5), np.log(20.0), n))
    alpha[: n // 4] = 0.5
    beta = 2 * alpha / np.expm1(eta / 2) * np.exp(rng.uniform(0, 3, n))
    x = np.geomspace(0.51, 1e4, n)
    psi = np.exp(np.asarray(digamma(x)))
    return [
        bound(
            "theorem 2",
            "tail of KL, α ≥ 1/2, against the exact law (d = 2)",
            kl_tail_probability(p, beta, alpha, eta),
            _stated_tail(beta, eta),
        ),
        _theorem_2_at_a_small_prior(rng),
        bound("eq. 13", "log(x - 1/2) < ψ(x) < log x", np.concatenate([(x - 0.5) / psi, psi / x]), 1.0),
        *_chernoff(n, rng),
        *_minimum(eta, alpha, beta),
        _lambert(n),
    ]


def _stated_tail(beta: Floats, eta: Floats) -> Floats:
    tail: Floats = np.exp(-beta * eta**2 / (2 * (2 + eta) * (4 + 3 * eta)))
    return tail


def kl_tail_probability(p: Floats, beta: Floats, alpha: Floats, eta: Floats) -> Floats:
    """Return the exact P[KL(p || q) > eta] for two categories, q ~ Dirichlet(beta (p, 1-p) + alpha).

    KL is convex in q with minimum 0 at p: the event is the two outer intervals, whose ends are found by bisection.
    """
    middle = np.log(p) - np.log1p(-p)
    ends = []
    for far in (middle - 2000.0, middle + 2000.0):
        inside, outside = middle.copy(), far.copy()
        for _ in range(80):
            t = (inside + outside) / 2
            loss = p * (np.log(p) - log_sigmoid(t)) + (1 - p) * (np.log1p(-p) - log_sigmoid(-t))
            inside, outside = np.where(loss <= eta, t, inside), np.where(loss <= eta, outside, t)
        ends.append(inside)
    a, b = beta * p + alpha, beta * (1 - p) + alpha
    low, high = np.exp(log_sigmoid(ends[0])), np.exp(log_sigmoid(ends[1]))
    probability: Floats = np.asarray(betainc(a, b, low)) + np.asarray(betaincc(a, b, high))
    return probability


def _theorem_2_at_a_small_prior(rng: np.random.Generator) -> Check:
    d, alpha, beta, eta, draws = 1000, 0.1, 1000.0, 0.2, 500
    gammas = rng.standard_gamma(beta / d + alpha, (draws, d))
    log_q = np.log(gammas) - np.log(gammas.sum(axis=1, keepdims=True))
    share = float(np.mean(-np.log(d) - log_q.mean(axis=1) > eta))
    limit = float(_stated_tail(np.array(beta), np.array(eta)))
    return bound(
        "theorem 2",
        f"the same for α = 0.1 (d = 1000, uniform p, β = 1000, η = 0.2, {draws} draws)",
        share,
        limit,
        remark="below α = 1/2 it is false; the library asks for that much",
    )


def _chernoff(n: int, rng: np.random.Generator) -> list[Check]:
    m = min(n, 200)
    p, alpha = rng.uniform(0.05, 0.95, m), np.exp(rng.uniform(np.log(0.5), np.log(10.0), m))
    beta = np.exp(rng.uniform(np.log(2.0), np.log(200.0), m))
    t = beta * rng.uniform(0.05, 0.95, m)

    def stated(alpha: Floats) -> Floats:
        whole = np.asarray(log_gamma(beta + 2 * alpha)) - np.asarray(log_gamma(beta - t + 2 * alpha))
        for q in (p, 1 - p):
            up, down = np.asarray(log_gamma((beta - t) * q + alpha)), np.asarray(log_gamma(beta * q + alpha))
            whole = whole + t * q * np.log(q) + up - down
        return np.asarray(whole)

    entropy = t * (p * np.log(p) + (1 - p) * np.log1p(-p))
    integral = entropy + log_integral((beta - t) * p + alpha, (beta - t) * (1 - p) + alpha)
    integral -= log_integral(beta * p + alpha, beta * (1 - p) + alpha)
    limit = t * np.log((beta + 2 * alpha) / (beta - t))
    small = np.full(m, 0.01)
    return [
        identity("eq. 14", "E exp(t KL), against integration", np.exp(stated(alpha)), np.exp(integral), tolerance=1e-7),
        bound("eq. 15", "E exp(t KL) ≤ ((β + dα)/(β - t))ᵗ, α ≥ 1/2", np.exp(stated(alpha) - limit), 1.0),
        bound(
            "eq. 15",
            "the same for α = 0.01",
            np.exp(stated(small) - t * np.log((beta + 2 * small) / (beta - t))),
            1.0,
            remark="its proof drops α - 1/2 as non-negative",
        ),
    ]


def _lambert_w(z: Floats) -> Floats:
    """Principal branch for z >= 1, by Newton's method on w + log(w) = log(z)."""
    w = np.maximum(np.log(z), 0.5)
    for _ in range(40):
        w = np.maximum(w - (w + np.log(w) - np.log(z)) * w / (1 + w), 1e-3)
    return w


def _minimum(eta: Floats, alpha: Floats, beta: Floats) -> list[Check]:
    w = _lambert_w(beta * np.exp(1 + eta) / (beta + 2 * alpha))
    best = beta * (1 - 1 / w)

    def exponent(t: Floats) -> Floats:
        value: Floats = -t * eta + t * np.log((beta + 2 * alpha) / (beta - t))
        return value

    least = exponent(best)
    stated = -beta * (1 - 1 / w) * (w - 1)
    grid = np.stack([exponent(beta * share) for share in np.linspace(0.01, 0.99, 99)]).min(axis=0)
    final = beta * eta**2 / (2 * (2 + eta) * (4 + 3 * eta))
    return [
        identity("eq. 16", "the exponent at its minimiser t*", least, stated),
        bound("eq. 16", "t* minimises the exponent", -grid, -stated),
        bound("app. E", "the exponent is at most -βη²/(2(2+η)(4+3η))", final, -stated),
    ]


def _lambert(n: int) -> Check:
    x = np.geomspace(np.e * 1.0001, 1e6, n)
    log = np.log(x)
    return bound(
        "app. E",
        "W(x) ≥ log x - log log x + log log x / (2 log x), x ≥ e",
        log - np.log(log) + np.log(log) / (2 * log),
        _lambert_w(x),
    )
