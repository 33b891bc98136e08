"""Writes data/incomplete.csv: both tails of Gamma and Beta distributions down to 1e-300, shapes 1e-3 to 1e9.

The lower tail is a series of positive terms (DLMF 8.7.1, 8.17.8), summed in exact integer arithmetic with 30 digits
more than the smaller tail needs; the upper tail is its complement. A row holds the shapes and the point as exact
doubles, both tails, their logarithms, and x times the density, to 22 digits.
"""

import csv
import math
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import mpmath as mp

DATA = Path(__file__).parents[1] / "data" / "incomplete.csv"
# -ln of the tails aimed at, on either side of the mean.
DEPTHS = [0.02, 0.7, 3.0, 12.0, 60.0, 250.0, 685.0]
# Where a tail takes millions of terms.
FEW_DEPTHS = [0.7, 60.0, 685.0]
SHAPES = [1e-3, 0.02, 0.3, 0.999, 1.0, 2.5, 10.0, 24.5, 25.5, 100.0, 1e3, 1e4, 1e6]
LARGE_SHAPES = [3e7, 1e9]
MAX_TERMS = 4_000_000


def positive_series(numerator: int, step_numerator: int, denominator: int, step: int, bits: int) -> mp.mpf | None:
    """Sum the products of (numerator + k step_numerator)/(denominator + k step) over k, from the empty product."""
    term = total = 1 << bits
    for _ in range(MAX_TERMS):
        term = term * numerator // denominator
        total += term
        numerator += step_numerator
        denominator += step
        if numerator < denominator and (term << 4) < (total >> bits):
            return mp.mpf(total) / (1 << bits)
    return None


def log_weight(a: float, b: float | None, x: float) -> float:
    """Estimate ln of the density in ln x, to choose the precision."""
    if b is None:
        return a * math.log(x) - x - math.lgamma(a)
    log_power = a * math.log(x) + b * math.log1p(-x)
    return log_power + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)


def gamma_tails(a: float, x: float) -> tuple[mp.mpf, mp.mpf, mp.mpf] | None:
    bits = int((30 - min(0.0, log_weight(a, None, x)) / math.log(10)) * 3.33)
    mp.mp.prec = bits + 80
    shape, point = Fraction(a), Fraction(x)
    common = shape.denominator * point.denominator
    total = positive_series(int(point * common), 0, int((shape + 1) * common), common, bits)
    if total is None:
        return None
    a, x = mp.mpf(a), mp.mpf(x)
    weight = mp.exp(a * mp.log(x) - x - mp.loggamma(a))
    return weight * total / a, 1 - weight * total / a, weight


def beta_tails(a: float, b: float, x: float) -> tuple[mp.mpf, mp.mpf, mp.mpf] | None:
    point = Fraction(x)
    if 2 * point > 1:
        mirrored = beta_small(b, a, 1 - point)
        # x f(x) from y f(y).
        return mirrored and (mirrored[1], mirrored[0], mirrored[2] * mp.mpf(x) / (1 - mp.mpf(x)))
    return beta_small(a, b, point)


def beta_small(a: float, b: float, point: Fraction) -> tuple[mp.mpf, mp.mpf, mp.mpf] | None:
    bits = int((30 - min(0.0, log_weight(a, b, float(point))) / math.log(10)) * 3.33)
    mp.mp.prec = bits + 80
    total, shape = Fraction(a) + Fraction(b), Fraction(a) + 1
    common = total.denominator * shape.denominator
    p, q = point.numerator, point.denominator
    series = positive_series(int(total * common) * p, common * p, int(shape * common) * q, common * q, bits)
    if series is None:
        return None
    a, b, x = mp.mpf(a), mp.mpf(b), mp.mpf(p) / q
    log_beta = mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)
    weight = mp.exp(a * mp.log(x) + b * mp.log(1 - x) - log_beta)
    return weight * series / a, 1 - weight * series / a, weight / (1 - x)


def solve(exponent: Callable[[float], float], low: float, high: float, depth: float) -> float:
    """Bisect for a point where the exponent, falling from 0 at one end, is about -depth."""
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if exponent(middle) > -depth else (low, middle)
    return low


def gamma_points(a: float) -> list[float]:
    points = [a, math.nextafter(a, 0), a * (1 + 1e-9)]
    for depth in DEPTHS if a < 1e7 else FEW_DEPTHS:
        for sign in (-1, 1):

            def exponent(t: float, sign: int = sign) -> float:
                return a * (sign * t) - a * math.expm1(sign * t)

            points.append(a * math.exp(sign * solve(exponent, 0.0, 690.0, depth)))
    return [x for x in points if x > 1e-300]


def beta_points(a: float, b: float) -> list[float]:
    """Points by logit from the mean."""
    mean, points = a / (a + b), [a / (a + b), 0.5]
    for depth in DEPTHS if max(a, b) < 1e5 else FEW_DEPTHS:
        for sign in (-1, 1):

            def exponent(t: float, sign: int = sign) -> float:
                return a * sign * t - (a + b) * math.log1p(mean * math.expm1(sign * t)) if t < 690 else -1e9

            t = sign * solve(exponent, 0.0, 690.0, depth)
            points.append(1 / (1 + b / a * math.exp(-t)))
    return [x for x in points if 1e-300 < x < 1 and log_weight(a, b, x) > -720]


def rows(rng: random.Random):
    for a in SHAPES + LARGE_SHAPES:
        for x in gamma_points(a):
            yield "gamma", a, "", x, gamma_tails(a, x)
        if a < 1:
            for x in (1e-300, 1e-30, 1e-3, 0.56, 0.99, 1.0, 1.01, 30.0, 690.0):
                yield "gamma", a, "", x, gamma_tails(a, x)
    pairs = [(1e-3, 1e-3), (1e-3, 1e6), (1e6, 1e-3), (0.5, 0.5), (24.5, 25.5), (1.0, 1e6), (1e6, 1e6), (0.3, 1e9)]
    pairs += [(3e7, 2e7), (1e9, 100.0)] + [tuple(rng.choices(SHAPES, k=2)) for _ in range(40)] + [(1e9, 1e9)]
    for a, b in pairs:
        for x in beta_points(a, b):
            yield "beta", a, b, x, beta_tails(a, b, x)


def main() -> None:
    with DATA.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["law", "a", "b", "x", "lower", "upper", "log_lower", "log_upper", "weight"])
        for law, a, b, x, tails in rows(random.Random(3)):
            if tails is None or min(tails[:2]) <= 0:
                continue
            values = [*tails[:2], mp.log(tails[0]), mp.log(tails[1]), tails[2]]
            writer.writerow([law, repr(a), repr(b) if b else "", repr(x), *(mp.nstr(v, 22) for v in values)])
            file.flush()


if __name__ == "__main__":
    main()
