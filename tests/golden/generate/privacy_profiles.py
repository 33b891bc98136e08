"""Hockey-stick divergences as differences of tails at 90 digits, from continued fractions and series.

Run from the root of the tree: python tests/golden/generate/privacy_profiles.py (some minutes)
Columns: kind, epsilon, a, b, r (doubles in hexadecimal), delta (25 digits). Kinds: "beta", Beta(a+r, b) against
Beta(a, b+r); "remove", Gamma(a+r) against Gamma(a); "add", the other way round; "gaussian", N(r, 1) against N(0, 1).
The epsilons lie where the density of P has fallen from its peak by a factor exp(-depth), on either side of it.
"""

import csv
import itertools
import random
from pathlib import Path

import mpmath as mp

mp.mp.dps = 90
OUT = Path(__file__).parents[1] / "data" / "privacy_profiles.csv"
TINY = mp.mpf(10) ** -300


def lentz(terms):
    """The continued fraction a1/(b1 + a2/(b2 + ...)), by the modified Lentz method."""
    f = c = TINY
    d = mp.mpf(0)
    for a, b in itertools.islice(terms, 10**6):
        d = 1 / (b + a * d or TINY)
        c = b + a / c or TINY
        f *= c * d
        if abs(c * d - 1) < mp.mpf(10) ** (5 - mp.mp.dps):
            return f
    raise ArithmeticError("the continued fraction did not converge")


def beta_tail(p, q, y, log_y, log_z):
    """I_y(p, q) for y below the mean, z = 1 - y."""

    def terms():
        yield mp.mpf(1), mp.mpf(1)
        for m in itertools.count():
            if m:
                yield m * (q - m) * y / ((p + 2 * m - 1) * (p + 2 * m)), mp.mpf(1)
            yield -(p + m) * (p + q + m) * y / ((p + 2 * m) * (p + 2 * m + 1)), mp.mpf(1)

    log_beta = mp.loggamma(p) + mp.loggamma(q) - mp.loggamma(p + q)
    return mp.exp(p * log_y + q * log_z - log_beta) / p * lentz(terms())


def beta_above(p, q, w):
    """P[logit Y > w], Y ~ Beta(p, q)."""
    log_y, log_z = -mp.log1p(mp.exp(-w)), -mp.log1p(mp.exp(w))
    y, z = mp.exp(log_y), mp.exp(log_z)
    if z < (q + 1) / (p + q + 2):
        return beta_tail(q, p, z, log_z, log_y)
    return 1 - beta_tail(p, q, y, log_y, log_z)


def gamma_tails(a, t):
    """Lower and upper tail of Gamma(a) at t."""
    front = mp.exp(a * mp.log(t) - t - mp.loggamma(a))
    if t < a + 1:
        term = total = 1 / a
        for n in itertools.count(1):
            term *= t / (a + n)
            total += term
            if term < total * mp.mpf(10) ** -mp.mp.dps:
                return total * front, 1 - total * front

    def terms():
        yield mp.mpf(1), t + 1 - a
        for n in itertools.count(1):
            yield -n * (n - a), t + 2 * n + 1 - a

    above = front * lentz(terms())
    return 1 - above, above


def delta(kind, epsilon, a, b, r):
    epsilon, a, b, r = map(mp.mpf, (epsilon, a, b, r))
    weight = mp.exp(epsilon)
    if kind == "beta":
        c = mp.loggamma(a + r) + mp.loggamma(b) - mp.loggamma(a) - mp.loggamma(b + r)
        w = (epsilon + c) / r
        return beta_above(a + r, b, w) - weight * beta_above(a, b + r, w)
    c = mp.loggamma(a + r) - mp.loggamma(a)
    if kind == "remove":
        t = mp.exp((epsilon + c) / r)
        return gamma_tails(a + r, t)[1] - weight * gamma_tails(a, t)[1]
    if kind == "add":
        t = mp.exp((c - epsilon) / r)
        return gamma_tails(a, t)[0] - weight * gamma_tails(a + r, t)[0]
    return mp.ncdf(r / 2 - epsilon / r) - weight * mp.ncdf(-r / 2 - epsilon / r)


def fall(kind, a, b, r, x):
    """How far ln(density of P) lies below its maximum at distance x from the mode."""
    if kind == "beta":
        p = a + r
        return (p + b) * mp.log((b + p * mp.exp(x)) / (p + b)) - p * x
    if kind == "gaussian":
        return x * x / 2
    return (a + r) * (mp.expm1(x) - x) if kind == "remove" else a * (mp.expm1(-x) + x)


def loss(kind, a, b, r, x):
    """The privacy loss there."""
    if kind == "gaussian":
        return r * (r / 2 + x)
    c = mp.loggamma(a + r) - mp.loggamma(a)
    if kind == "beta":
        return r * (mp.log((a + r) / b) + x) - c + mp.loggamma(b + r) - mp.loggamma(b)
    return r * (mp.log(a + r) + x) - c if kind == "remove" else c - r * (mp.log(a) - x)


def depth_to_epsilon(kind, a, b, r, depth, side):
    """The epsilon at which ln(density of P) is `depth` below its maximum, on one side of the mode."""
    a, b, r = map(mp.mpf, (a, b, r))
    low, high = mp.mpf(0), mp.mpf(1)
    while fall(kind, a, b, r, side * high) < depth:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if fall(kind, a, b, r, side * middle) < depth else (low, middle)
    return float(loss(kind, a, b, r, side * high))


def settings(draw):
    """Random parameters over the whole range; shapes above 1e7 are rare because their fractions are long."""
    while True:
        kind = draw.choice(["beta", "beta", "unequal", "remove", "add", "gaussian"])
        a, r = 10 ** draw.uniform(-3, 9), 10 ** draw.uniform(-3, 9)
        if draw.random() < 0.3:
            a = round(a, 3) or 0.001
        b = 10 ** draw.uniform(-3, 9) if kind == "unequal" else a
        if kind == "gaussian":
            r = 10 ** draw.uniform(-3, 3)
        if max(a, b, r) > 1e7 and draw.random() < 0.8:
            continue
        depth, side = draw.choice([0, 0.5, 3, 10, 35, 100, 300, 650]), draw.choice([1, 1, -1])
        depth = depth if side > 0 else min(depth, 35)
        kind = "beta" if kind == "unequal" else kind
        mp.mp.dps = 30
        epsilon = depth_to_epsilon(kind, a, b, r, depth, side)
        mp.mp.dps = 90
        if draw.random() < 0.1:
            epsilon = 0.0
        if draw.random() < 0.05:
            epsilon = -draw.expovariate(1)
        yield kind, epsilon, a, b, r


def main():
    rows = 0
    with OUT.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["kind", "epsilon", "a", "b", "r", "delta"])
        for kind, epsilon, a, b, r in settings(random.Random(1)):
            value = delta(kind, epsilon, a, b, r)
            if value > mp.mpf(10) ** -300:
                writer.writerow([kind, *(x.hex() for x in (epsilon, a, b, r)), mp.nstr(value, 25)])
                rows += 1
            if rows == 400:
                break


if __name__ == "__main__":
    main()
