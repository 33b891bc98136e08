"""Writes data/special.csv: log-gamma and its relatives on hard grids, from mpmath with 60 digits.

A row holds the function, its arguments as exact doubles and the value to 25 digits.
"""

import csv
import math
import random
from pathlib import Path

import mpmath as mp

DATA = Path(__file__).parents[1] / "data" / "special.csv"
DIGAMMA_ZERO = 1.4616321449683622


def neighbours(x: float) -> list[float]:
    return [math.nextafter(x, 0.0), x, math.nextafter(x, math.inf)]


def positive_grid(rng: random.Random) -> list[float]:
    """From 1e-300 to 1e300, dense where methods change and around the zeros."""
    grid = [10.0 ** rng.uniform(k, k + 6) for k in range(-300, 295, 6)]
    grid += [10.0 ** rng.uniform(-3, 3) for _ in range(150)] + [rng.uniform(0, 8) for _ in range(150)]
    for centre in (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 100.0):
        grid += neighbours(centre)
    for centre in (1.0, 2.0, DIGAMMA_ZERO):
        grid += [centre + sign * 10.0**-k for k in range(1, 16) for sign in (-1, 1)]
    return [*grid, 1e-300, 1e300, DIGAMMA_ZERO]


def polygamma(order: int, x: mp.mpf) -> mp.mpf:
    if order == 0:
        return mp.digamma(x)
    if x > 1e8:
        # n! zeta(n+1, x) by Euler and Maclaurin; six terms leave x^-14.
        u = 1 / x
        terms = [mp.factorial(order - 1) * u**order, mp.factorial(order) * u ** (order + 1) / 2]
        terms += [
            mp.bernoulli(2 * k) * mp.factorial(2 * k + order - 1) / mp.factorial(2 * k) * u ** (2 * k + order)
            for k in range(1, 7)
        ]
        return (-1) ** (order + 1) * mp.fsum(terms)
    # mpmath's zeta has its digits after the point, so those that x^-n takes are added.
    with mp.workdps(70 + max(0, int((order + 1) * mp.log10(x)))):
        return (-1) ** (order + 1) * mp.factorial(order) * mp.zeta(order + 1, x)


def log_gamma_ratio(a: mp.mpf, r: mp.mpf) -> mp.mpf:
    with mp.workdps(100):
        return mp.loggamma(a + r) - mp.loggamma(a)


def log_beta(*a: mp.mpf) -> mp.mpf:
    with mp.workdps(100):
        return mp.fsum(mp.loggamma(x) for x in a) - mp.loggamma(mp.fsum(a))


def cases(rng: random.Random) -> list[tuple[str, tuple[float, ...], mp.mpf]]:
    rows = []

    def add(name, function, *arguments):
        rows.append((name, arguments, function(*(mp.mpf(x) for x in arguments))))

    grid = positive_grid(rng)
    for x in grid:
        add("log_gamma", mp.loggamma, x)
        add("digamma", mp.digamma, x)
        add("trigamma", lambda x: polygamma(1, x), x)
    for x in [-rng.uniform(0, 30) for _ in range(60)] + [-(10.0 ** rng.uniform(-300, 0)) for _ in range(20)]:
        add("log_gamma", lambda x: mp.log(abs(mp.gamma(x))), x)
        add("digamma", mp.digamma, x)
        add("trigamma", lambda x: mp.psi(1, x), x)
    for order in range(21):
        points = [10.0 ** rng.uniform(-3, 4) for _ in range(22)] + [rng.uniform(0.5, 40) for _ in range(12)]
        points += [10.0 ** rng.uniform(-300 / (order + 1), 0), 10.0 ** rng.uniform(0, 300 / (order + 1)), 1e9]
        for x in points:
            rows.append(("polygamma", (order, x), polygamma(order, mp.mpf(x))))
    for i in range(19):
        for j in range(19):
            add(
                "log_gamma_ratio", log_gamma_ratio, 10.0 ** (-12 + 1.5 * i) * rng.uniform(1, 3), 10.0 ** (-12 + 1.5 * j)
            )
    for _ in range(60):
        add("log_gamma_ratio", log_gamma_ratio, rng.uniform(0.2, 1.55), rng.uniform(0.01, 2.9))
    for _ in range(150):
        add("log_gamma_ratio", log_gamma_ratio, rng.uniform(0.01, 30), 10.0 ** rng.uniform(-8, 1.5))
        add("log_beta", log_beta, *(10.0 ** rng.uniform(-3, 9) for _ in range(rng.randint(2, 6))))
    return rows


def main() -> None:
    mp.mp.dps = 60
    with DATA.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["function", "arguments", "value"])
        for name, arguments, value in cases(random.Random(2)):
            if value == 0 or 1e-290 < abs(value) < 1e300:
                writer.writerow([name, " ".join(map(repr, arguments)), mp.nstr(value, 25)])


if __name__ == "__main__":
    main()
