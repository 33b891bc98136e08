"""Coefficients p_J of the power series of exp(-c sqrt(1-z)) at 50 digits.

Run from the root of the tree: python tests/golden/generate/stable_series.py
Columns: c (double), J, ln p_J (25 digits). Two methods that share nothing: for J <= 4000 the finite sum of the Bessel
function of half-integer order; above, J | S ~ Poisson(S) with S = c^2/(2 N^2), N standard normal, integrated over ln S
by the trapezoidal rule, which converges faster than any power of the step here.
"""

import csv
from pathlib import Path

import mpmath as mp

mp.mp.dps = 50
OUT = Path(__file__).parents[1] / "data" / "stable_series.csv"


def log_p_by_sum(j, c):
    if j == 0:
        return -c
    # K_{n+1/2}(c) = sqrt(pi/(2c)) exp(-c) sum_i (n+i)! / (i! (n-i)! (2c)^i), n = j - 1
    n, term, total = j - 1, mp.mpf(1), mp.mpf(1)
    for i in range(1, n + 1):
        term *= (n + i) * mp.mpf(n - i + 1) / (i * 2 * c)
        total += term
    return j * mp.log(c / 2) - mp.loggamma(j + 1) - c + mp.log(total)


def log_p_by_integral(j, c):
    def exponent(y):
        # ln of Poisson(j; s) times the density of ln S, s = exp(y)
        s = mp.exp(y)
        return j * y - s - c * c / (4 * s) - y / 2

    nu = j - mp.mpf(1) / 2
    peak = mp.log((nu + mp.sqrt(nu * nu + c * c)) / 2)
    width = (nu * nu + c * c) ** (-mp.mpf(1) / 4)
    step, top = width / 8, exponent(peak)
    total = mp.fsum(mp.exp(exponent(peak + i * step) - top) for i in range(-160, 161)) * step
    return top + mp.log(total) + mp.log(c / (2 * mp.sqrt(mp.pi))) - mp.loggamma(j + 1)


def main():
    rows = []
    for c in (1e-6, 0.1, 1.0, 7.5, 60.0, 800.0, 2e4, 3e6, 1e9):
        exact = mp.mpf(c)
        for j in (0, 1, 2, 3, 10, 17, 100, 500, 2047, 2048, 2049, 3000, 10**4, 10**6, 123456789, 10**12, 2**52):
            log_p = log_p_by_sum(j, exact) if j <= 4000 else log_p_by_integral(j, exact)
            rows.append([repr(c), j, mp.nstr(log_p, 25)])
    for j in (10, 100):
        assert abs(log_p_by_sum(j, mp.mpf(60)) - log_p_by_integral(j, mp.mpf(60))) < mp.mpf(10) ** -25
    with OUT.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["c", "j", "log_p"])
        writer.writerows(rows)


if __name__ == "__main__":
    main()
