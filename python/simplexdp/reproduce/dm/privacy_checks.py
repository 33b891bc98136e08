"""Statements of [DM] on privacy: sections 2 and 3, appendices A to D."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simplexdp._algorithm_one import algorithm_one_scale
from simplexdp.accounting import dirichlet_curve, rdp_epsilon
from simplexdp.divergence import renyi_dirichlet
from simplexdp.reproduce.dm.checking import Check, bound, identity, log_beta_rows, log_integral
from simplexdp.special import log_gamma, polygamma, trigamma

__all__ = ["privacy_checks"]

Floats = NDArray[np.float64]
DIMENSION = 6


def privacy_checks(n: int, rng: np.random.Generator) -> list[Check]:
    """Evaluate every statement on n random cases, or on a grid."""
    return [
        _exponential_mechanism(n, rng),
        _bias(n, rng),
        *_trigamma(n),
        *_scale(),
        _theorem_1(n, rng),
        _remark_2(n, rng),
        *_two_rows(n, rng),
        _proposition_3(n, rng),
        *_conversion(),
        *_divergence(n, rng),
        *_taylor(n, rng),
    ]


def _orders(n: int, rng: np.random.Generator) -> Floats:
    return 1 + np.exp(rng.uniform(np.log(0.05), np.log(200.0), n))


def _budgets(n: int, rng: np.random.Generator) -> Floats:
    return np.exp(rng.uniform(np.log(1e-3), np.log(10.0), n))


def _counts(n: int, rng: np.random.Generator) -> Floats:
    """Histograms with many empty cells."""
    counts: Floats = rng.poisson(3.0, (n, DIMENSION)) * (rng.random((n, DIMENSION)) < 0.5).astype(float)
    return counts


def _moved(x: Floats) -> tuple[Floats, Floats]:
    """Neighbours: one record in the first or in the second category."""
    first, second = x.copy(), x.copy()
    first[:, 0] += 1
    second[:, 1] += 1
    return first, second


def _exponential_mechanism(n: int, rng: np.random.Generator) -> Check:
    f, r, alpha = rng.gamma(2.0, 5.0, (n, DIMENSION)), rng.uniform(0.1, 3, n), rng.uniform(0.2, 9, n)
    y, other = rng.dirichlet(np.ones(DIMENSION), n), rng.dirichlet(np.ones(DIMENSION), n)
    total = f.sum(axis=1)
    p = f / total[:, None]

    def log_weight(q: Floats) -> Floats:
        loss = np.sum(p * np.log(p / q), axis=1)
        weight: Floats = -r * total * loss + (alpha - 1) * np.log(q).sum(axis=1)
        return weight

    log_density = np.sum((r[:, None] * f + alpha[:, None] - 1) * np.log(y / other), axis=1)
    statement = "the exponential mechanism with KL loss draws from Dirichlet(r f(x) + α)"
    return identity("eq. 2", statement, log_weight(y) - log_weight(other), log_density)


def _bias(n: int, rng: np.random.Generator) -> Check:
    f, r, alpha, d = rng.uniform(0, 40, n), rng.uniform(0.1, 3, n), rng.uniform(0.5, 9, n), 5
    total = f + rng.uniform(1, 100, n)
    a, rest = r * f + alpha, r * (total - f) + (d - 1) * alpha
    mean = np.exp(log_integral(a + 1, rest) - log_integral(a, rest))
    stated = alpha * np.abs(total - d * f) / (total * (r * total + d * alpha))
    return identity("eq. 3", "bias of a coordinate", np.abs(mean - f / total) + 1, stated + 1)


def _trigamma(n: int) -> list[Check]:
    x = np.geomspace(1e-3, 1e4, n)
    value, second = np.asarray(trigamma(x)), np.asarray(polygamma(2, x))
    upper = np.asarray(trigamma(x[:-1]))
    return [
        bound(
            "eq. 4",
            "1/x + 1/(2x²) < ψ'(x) < 1/x + 1/x²",
            np.concatenate([1 / x + 1 / (2 * x * x), value]),
            np.concatenate([value, 1 / x + 1 / (x * x)]),
        ),
        bound("app. C", "ψ'(x)² + ψ''(x) > 0", -second, value**2),
        bound(
            "app. D",
            "ψ' is increasing",
            upper,
            value[1:],
            remark="it decreases; the proof uses its bound in the right direction",
        ),
    ]


def _scale() -> list[Check]:
    x = np.geomspace(1e-6, 1e6, 2000)
    value = x * x * np.asarray(trigamma(1 + x))
    order, epsilon = (grid.ravel() for grid in np.meshgrid([1.1, 2, 5, 50, 200], np.geomspace(1e-3, 10, 40)))
    r = np.asarray(algorithm_one_scale(order, epsilon, 2.0, 1.0))
    cubic = np.geomspace(1e-3, 1e3, 4000)
    reached = float(np.max(5 * cubic**2 * np.asarray(trigamma(1 + cubic**3))))
    at_least_2 = order >= 2
    large, small = at_least_2 & (epsilon >= 1), at_least_2 & (epsilon < 1)
    return [
        bound("lemma 2", "r² ψ'(1 + 3(λ-1)r) increases, so r is unique", value[:-1], value[1:]),
        identity(
            "eq. 5", "Algorithm 1's r solves it", order * r**2 * np.asarray(trigamma(1 + 3 * (order - 1) * r)), epsilon
        ),
        bound(
            "remark 1",
            "every g ≥ 0 has an r for every ε (here g = r³, λ = 5, ε = 10)",
            10.0,
            reached,
            remark="r² ψ'(1 + g(r)) has to grow without bound",
        ),
        bound("sec. 4", "λ ≥ 2 and ε ≥ 1 imply r > 1", 1.0, r[large]),
        bound(
            "sec. 4",
            "λ ≥ 2 and ε < 1 imply r ≤ 1",
            r[small],
            1.0,
            remark=f"r is 1 at ε = {2 * trigamma(4.0):.2f} for λ = 2 already; the rates stand",
        ),
    ]


def _theorem_1(n: int, rng: np.random.Generator) -> Check:
    order, epsilon = _orders(n, rng), _budgets(n, rng)
    x = _counts(n, rng)
    x[: n // 4] = 0.0
    first, second = _moved(x)
    first[n // 2 :], r = x[n // 2 :], np.asarray(algorithm_one_scale(order, epsilon, 2.0, 1.0))
    # In the second half one record is added: other totals, squared sensitivity 1.
    r[n // 2 :] = algorithm_one_scale(order[n // 2 :], epsilon[n // 2 :], 1.0, 1.0)
    alpha = 1 + 4 * (order - 1) * r
    u, v = r[:, None] * first + alpha[:, None], r[:, None] * second + alpha[:, None]
    value = np.maximum(renyi_dirichlet(u, v, order), renyi_dirichlet(v, u, order))
    return bound("theorem 1", "Algorithm 1 is (λ, ε)-Rényi private", value, epsilon)


def _remark_2(n: int, rng: np.random.Generator) -> Check:
    order, epsilon, floor = _orders(n, rng), _budgets(n, rng), rng.choice([0.5, 1.0, 10.0], n)
    first, second = _moved(_counts(n, rng) * (rng.random((n, 1)) < 0.5) + floor[:, None])
    r = np.asarray(algorithm_one_scale(order, epsilon, 2.0, 1.0, floor))
    alpha = 1 + 4 * (order - 1) * r
    u, v = r[:, None] * first + alpha[:, None], r[:, None] * second + alpha[:, None]
    return bound("remark 2", "the same with counts above a known b", renyi_dirichlet(u, v, order), epsilon)


def _two_rows(n: int, rng: np.random.Generator) -> list[Check]:
    """One record leaves one row of a table and enters another."""
    order, epsilon = _orders(n, rng), _budgets(n, rng)
    left, right = _counts(n, rng), _counts(n, rng)
    left[: n // 4], right[: n // 4] = 0.0, 0.0

    def cost(l2_squared: float) -> Floats:
        r = np.asarray(algorithm_one_scale(order, epsilon, l2_squared, 1.0))[:, None]
        alpha = 1 + 4 * (order[:, None] - 1) * r
        one = np.zeros(DIMENSION)
        one[0] = 1.0
        leaves = renyi_dirichlet(r * (left + one) + alpha, r * left + alpha, order)
        enters = renyi_dirichlet(r * right + alpha, r * (right + one) + alpha, order)
        return np.asarray(leaves + enters)

    return [
        bound("sec. 5", "a table at Δ² = 2 costs ε, also when a record changes its row", cost(2.0), epsilon),
        bound(
            "sec. 5",
            "parallel composition: rows at Δ² = 1 cost ε together",
            cost(1.0),
            epsilon,
            remark="a replaced record leaves one row and enters another; Δ² = 2, as in the experiments, pays for both",
        ),
    ]


def _proposition_3(n: int, rng: np.random.Generator) -> Check:
    alpha, r = rng.uniform(0.5, 5, n), np.where(np.arange(n) % 2 == 0, 1.0, rng.uniform(0.2, 0.8, n))
    y = rng.dirichlet(np.ones(DIMENSION), n)
    u = np.tile(alpha[:, None], DIMENSION)
    v = u.copy()
    v[:, 0] += r
    log_ratio = np.sum((u - v) * np.log(y), axis=1) - log_beta_rows(u) + log_beta_rows(v)
    stated = log_beta_rows(v) - log_beta_rows(u) - np.log(y[:, 0])
    return identity(
        "prop. 3",
        "the densities' ratio is B'/B · 1/y₁",
        stated,
        log_ratio,
        remark="for r other than 1 it is y₁ to the power -r; unbounded all the same",
    )


def _conversion() -> list[Check]:
    order, r = (grid.ravel() for grid in np.meshgrid([2.0, 10.0, 50.0, 200.0], np.geomspace(1e-2, 10, 12)))
    delta = 1e-5
    epsilon = order * r**2 * np.asarray(trigamma(1 + 3 * (order - 1) * r))
    stated = epsilon + np.log(order - 1) - (np.log(delta) + order * np.log(order)) / (order - 1)
    lemma = np.exp((order - 1) * (epsilon - stated)) / (order - 1) * (1 - 1 / order) ** order
    prior = 1 + 4 * (order - 1) * r
    exact = [
        float(dirichlet_curve(scale=scale, prior=alpha, dimension=3).delta(max(eps, 0.0)))
        for scale, alpha, eps in zip(r, prior, stated, strict=True)
    ]
    positive = stated > 0
    return [
        identity("eq. 10", "it inverts lemma 3", lemma, np.full(lemma.shape, delta)),
        identity(
            "eq. 10",
            "it is the conversion at one order",
            np.asarray(rdp_epsilon(order, epsilon, delta))[positive],
            stated[positive],
        ),
        bound("lemma 3", "the mechanism is (ε̂, δ)-private", exact, delta),
    ]


def _divergence(n: int, rng: np.random.Generator) -> list[Check]:
    # By numerical integration in two dimensions; the parameters stay where the divergence is finite.
    m = min(n, 200)
    order = 1 + np.exp(rng.uniform(np.log(0.05), np.log(20.0), m))
    v = rng.uniform(0.5, 5, (m, 2)) + 2 * order[:, None]
    u = v + rng.uniform(-1, 1, (m, 2))
    moment = log_integral(*(order[:, None] * u - (order[:, None] - 1) * v).T)
    moment += (order - 1) * log_integral(*v.T) - order * log_integral(*u.T)
    shape = (n, DIMENSION)
    order_12 = _orders(n, rng)[:, None]
    w = rng.uniform(0.5, 5, shape) + order_12
    z = w + rng.uniform(-1, 1, shape)
    coordinates = _g(z, w, order_12) + _h(z, w, order_12)
    whole, other = z.sum(axis=1, keepdims=True), w.sum(axis=1, keepdims=True)
    total = coordinates.sum(axis=1) - (_g(whole, other, order_12) + _h(whole, other, order_12))[:, 0]
    order_12 = order_12[:, 0]
    return [
        identity("eq. 11", "Rényi moment, against integration", renyi_dirichlet(u, v, order), moment / (order - 1)),
        identity("eq. 12", "sum of G and H", total / (order_12 - 1), renyi_dirichlet(z, w, order_12), tolerance=1e-6),
    ]


def _g(u: Floats, v: Floats, order: Floats) -> Floats:
    value: Floats = (order - 1) * (np.asarray(log_gamma(v)) - np.asarray(log_gamma(u)))
    return value


def _h(u: Floats, v: Floats, order: Floats) -> Floats:
    value: Floats = np.asarray(log_gamma(u + (order - 1) * (u - v))) - np.asarray(log_gamma(u))
    return value


def _taylor(n: int, rng: np.random.Generator) -> list[Check]:
    """Check each step of the proof of theorem 1 for one coordinate and for the total."""
    order = _orders(n, rng)
    r = np.exp(rng.uniform(np.log(1e-2), np.log(10.0), n))
    slack = (order - 1) * r
    alpha = 1 + slack * rng.uniform(1, 4, n)
    x, shift = rng.poisson(1.0, n).astype(float), np.where(rng.random(n) < 0.5, 0.0, 1.0)
    u, v = r * (x + shift) + alpha, r * (x + 1 - shift) + alpha
    both = _g(u, v, order) + _h(u, v, order)
    limit = 0.5 * order * (order - 1) * r**2 * np.asarray(trigamma(alpha - slack))
    return [
        bound("app. D", "G + H ≤ ½ λ(λ-1) r² ψ'(α - (λ-1)r) for a coordinate", both, limit),
        bound("app. D", "G + H ≥ 0 for the total", 1 - both / limit, 1.0),
    ]
