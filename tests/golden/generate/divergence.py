"""Divergences between Dirichlet distributions at 200 digits, from the beta functions of [DM] eq. 11 and [DPS] eq. 20.

Run from the root of the tree: python tests/golden/generate/divergence.py
Columns: kind, order, u and v (entries joined by spaces, doubles in hexadecimal), value (25 digits).
"""

import csv
import random
from pathlib import Path

import mpmath as mp

mp.mp.dps = 200
OUT = Path(__file__).parents[1] / "data" / "divergence.csv"


def log_beta(a):
    return sum(map(mp.loggamma, a)) - mp.loggamma(mp.fsum(a))


def renyi(u, v, order):
    w = [a + (order - 1) * (a - b) for a, b in zip(u, v, strict=True)]
    if min(w) <= 0:
        return mp.inf
    return ((order - 1) * log_beta(v) + log_beta(w) - order * log_beta(u)) / (order - 1)


def kl(u, v):
    mean = [mp.digamma(a) - mp.digamma(mp.fsum(u)) for a in u]
    return log_beta(v) - log_beta(u) + mp.fsum((a - b) * m for a, b, m in zip(u, v, mean, strict=True))


def hellinger(u, v):
    return mp.sqrt(
        -mp.expm1(log_beta([(a + b) / 2 for a, b in zip(u, v, strict=True)]) - (log_beta(u) + log_beta(v)) / 2)
    )


def pairs():
    """Parameters that are close, huge, tiny, proportional, far apart."""
    draw = random.Random(20261118)
    for scale in [1e-3, 0.5, 1.0, 3.0, 23.5, 1e2, 1e4, 1e6, 1e9, 1e12]:
        yield [scale + 1, scale], [scale, scale + 1]
        yield [scale + 1, scale], [scale, scale]
        yield [scale, 2 * scale, 5 * scale], [scale, 2 * scale + 1, 5 * scale]
        yield [1e12, scale], [1e12 + 1, scale]
        yield [1e12, scale, 1e-5], [1e12 - 1, scale, 1e-5]
        yield [scale, 3 * scale, 7 * scale], [x * (1 + 2.0**-30) for x in (scale, 3 * scale, 7 * scale)]
        yield [scale, 1.0], [scale * (1 + 2.0**-40), 1.0]
        yield [scale, scale], [scale * 1.5, scale * 0.75]
        yield [scale, 0.01, 2.0], [scale * 3, 0.02, 1.5]
    for _ in range(60):
        d = draw.randint(2, 6)
        u = [10 ** draw.uniform(-3, 12) for _ in range(d)]
        step = [draw.choice([-1, 0, 1]) * 10 ** draw.uniform(-12, -0.5) for _ in range(d)]
        yield u, [a * (1 + t) for a, t in zip(u, step, strict=True)]


def main():
    with OUT.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["kind", "order", "u", "v", "value"])
        for u, v in pairs():
            exact = [[mp.mpf(x) for x in side] for side in (u, v)]
            values = [("kl", 1.0, kl(*exact)), ("hellinger", 0.5, hellinger(*exact))]
            values += [("renyi", order, renyi(*exact, mp.mpf(order))) for order in (1 + 2.0**-30, 1.5, 2.0, 5.0, 64.0)]
            text = [" ".join(x.hex() for x in side) for side in (u, v)]
            for kind, order, value in values:
                table.writerow([kind, repr(order), *text, mp.nstr(value, 25)])


if __name__ == "__main__":
    main()
