"""Scores of the Hellinger mechanism at 120 digits, from their definition by log-gammas (docs/hellinger.md, section 1).

Run from the root of the tree: python tests/golden/generate/hellinger_scores.py
Columns: prior, x, k, g(prior + x, prior + k) (25 digits), h(prior + x) (25 digits). Doubles are printed exactly.
"""

import csv
import random
from pathlib import Path

import mpmath as mp

mp.mp.dps = 120
OUT = Path(__file__).parents[1] / "data" / "hellinger_scores.csv"


def g(a, b):
    return mp.loggamma((a + b) / 2) - (mp.loggamma(a) + mp.loggamma(b)) / 2


def cases():
    """Priors of every size with counts that are equal but for little, far apart, zero and huge."""
    chance = random.Random(5)
    edges = [0, 1, 2, 9, 10, 11, 10**3, 10**6, 10**9, 10**12]
    for prior in [1e-12, 1e-3, 0.5, 1.0, 7.25, 50.0, 1e6, 1e12]:
        for x in edges:
            yield prior, x, x + 1
            yield prior, x, x // 2
            yield prior, x, chance.choice(edges)
    for _ in range(160):
        prior = 10 ** chance.uniform(-12, 12)
        x = int(10 ** chance.uniform(0, 12))
        spread = max(1, int(x ** chance.uniform(0, 1)))
        yield prior, x, max(0, x + chance.randint(-spread, spread))


with OUT.open("w", newline="", encoding="utf-8") as file:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["prior", "x", "k", "g", "h"])
    for prior, x, k in cases():
        a = mp.mpf(prior)
        row = g(a + x, a + k), g(a + x, a + x + 1)
        writer.writerow([repr(prior), x, k, *(mp.nstr(value, 25) for value in row)])
