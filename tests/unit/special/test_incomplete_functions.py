"""Incomplete gamma and beta functions in ball arithmetic, at random points of every method."""

import numpy as np
import pytest
from flint import arb, ctx

from simplexdp import special

N_POINTS = 300
TOLERANCE = 4e-15
"""Of 1 + |ln p|: a factor exp(l) is known to the rounding of l. Seen: 6e-16 for gamma, 2.8e-15 for beta."""


@pytest.fixture(autouse=True)
def precision():
    before, ctx.prec = ctx.prec, 300
    yield
    ctx.prec = before


def compare(got: float, true: arb) -> bool:
    """Return whether there was something to compare: what 300 bits do not tell, or no double holds, is left out."""
    if not (true.rad() < abs(true.mid()) * arb("1e-25") and true > arb("1e-290")):
        return False
    wrong = abs((arb(got) - true) / true)
    assert wrong < TOLERANCE * (1 + abs(true.log())), (got, true)
    return True


def test_gamma_near_the_mean_and_in_both_tails():
    rng = np.random.default_rng(1)
    a = np.concatenate([rng.uniform(0.1, 40, N_POINTS // 2), 10.0 ** rng.uniform(1.4, 5, N_POINTS // 2)])
    # Around the mean, at the edges of its expansion, and far out.
    spread = rng.choice([0.0, 1.0, 4.0, 15.0], a.size) / np.sqrt(a)
    x = np.where(rng.random(a.size) < 0.3, a * rng.choice([0.5999, 0.6001, 1.5499, 1.5501], a.size), a)
    x *= np.exp(spread * rng.normal(size=a.size))
    compared = 0
    for shape, point, lower, upper in zip(a, x, special.gammainc(a, x), special.gammaincc(a, x), strict=True):
        true = arb(float(point)).gamma_upper(arb(float(shape)), regularized=1)
        compared += compare(float(upper), true) + compare(float(lower), 1 - true)
    assert compared > N_POINTS


def test_beta_below_and_above_the_mean_for_small_and_large_shapes():
    rng = np.random.default_rng(2)
    a, b = 10.0 ** rng.uniform(-1, 5, N_POINTS), 10.0 ** rng.uniform(-1, 3.5, N_POINTS)
    turned = rng.random(N_POINTS) < 0.5
    a, b = np.where(turned, b, a), np.where(turned, a, b)
    spread = rng.choice([0.3, 1.0, 4.0, 15.0], N_POINTS) * np.sqrt(1 / a + 1 / b)
    x = 1 / (1 + np.exp(-np.log(a / b) - spread * rng.normal(size=N_POINTS)))
    inside = (x > 0) & (x < 1)
    a, b, x = a[inside], b[inside], x[inside]
    compared = 0
    for p, q, point, lower, upper in zip(a, b, x, special.betainc(a, b, x), special.betaincc(a, b, x), strict=True):
        p, q, point = arb(float(p)), arb(float(q)), arb(float(point))
        compared += compare(float(lower), point.beta_lower(p, q, regularized=1))
        compared += compare(float(upper), (1 - point).beta_lower(q, p, regularized=1))
    assert compared > N_POINTS


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("law", ["gamma", "beta"])
def test_a_quantile_has_the_probability_that_was_asked_for(law, upper):
    rng = np.random.default_rng(3)
    shapes = 10.0 ** rng.uniform(-2, 3, (2 if law == "beta" else 1, N_POINTS // 2))
    p = np.where(rng.random(shapes.shape[1]) < 0.5, rng.random(shapes.shape[1]), 10.0 ** rng.uniform(-60, -1))
    found = getattr(special, f"{law}inc{'c' if upper else ''}_inverse")(*shapes, p)

    def tail(shape: list[float], x: float) -> arb:
        a, x, *b = (arb(float(v)) for v in (shape[0], x, *shape[1:]))
        if b:
            return (1 - x).beta_lower(b[0], a, regularized=1) if upper else x.beta_lower(a, b[0], regularized=1)
        # The ball of the lower function is wide for large shapes.
        q = x.gamma_upper(a, regularized=1)
        return q if upper else 1 - q

    ctx.prec = 600
    compared = 0
    for shape, x, wanted in zip(shapes.T.tolist(), found.tolist(), p.tolist(), strict=True):
        if x < 1e-290 or (law == "beta" and x > 1 - 1e-9):
            continue
        # What the functions themselves may be off, and two units in the last place of x.
        noise = TOLERANCE * (1 + abs(np.log(wanted))) * wanted
        reach = abs(tail(shape, x * (1 + 4.5e-16)) - tail(shape, x * (1 - 4.5e-16)))
        assert abs(tail(shape, x) - wanted) < noise + reach, (shape, wanted, x)
        compared += 1
    assert compared > N_POINTS // 4
