"""Measured errors against the exact ones, where noise and data sets can be enumerated or integrated.

A mean over S independent errors is off by more than 5 standard errors with probability about 6e-7.
"""

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import binom

import simplexdp as sdp
from simplexdp.comparison import POSTPROCESSING, compare, shares_of
from simplexdp.comparison.metrics import errors

DEVIATIONS = 5
VERTEX = [[1.0, 0.0]]  # every data set of the population is (n, 0)


def noise_weights(mechanism, parameters, reach):
    """All noise vectors of two counts, and their probabilities by the definition of the law."""
    z = np.array(list(itertools.product(range(-reach, reach + 1), repeat=2)), dtype=float)
    if mechanism == "sum_preserving_laplace":
        z = z[z.sum(axis=1) == 0]
    if mechanism == "discrete_gaussian":
        weights = np.exp(-np.sum(z**2, axis=1) / (2 * parameters["sigma"] ** 2))
    else:
        weights = np.exp(-np.sum(np.abs(z), axis=1) / parameters["scale"])
    return z, weights / weights.sum()


@pytest.mark.parametrize("mechanism", ["discrete_laplace", "discrete_gaussian", "sum_preserving_laplace"])
@pytest.mark.parametrize(
    ("metric", "rule"), [("l1", "project"), ("linf", "clip"), ("hellinger", "floor"), ("kl", "project+smooth")]
)
def test_integer_noise_by_enumeration(mechanism, metric, rule):
    n = 7
    table = compare(n, 2, 1.5, 1e-4, metric, [mechanism], postprocessing=[rule], population=VERTEX, samples=20_000)
    row = table.rows[0]
    assert row.postprocessing == rule
    z, weights = noise_weights(mechanism, row.parameters, reach=40)  # tails below e^-30
    total = n if rule.startswith("project") else None
    released = shares_of(np.array([n, 0]) + z, rule, strength=row.strength, total=total)
    exact = float(weights @ errors(metric, np.broadcast_to(VERTEX, z.shape), released))
    assert abs(row.error - exact) < DEVIATIONS * row.standard_error


@pytest.mark.parametrize("metric", ["kl", "l1"])
@pytest.mark.parametrize("mechanism", ["dirichlet", "posterior_draw"])
def test_dirichlet_draws_by_their_closed_form(mechanism, metric):
    n, share = 6, 0.3
    table = compare(
        n, 2, 2.0, 1e-4, metric, [mechanism], postprocessing=["raw"], population=[[share, 1 - share]], samples=20_000
    )
    row = table.rows[0]
    law = sdp.DirichletMechanism(**row.parameters, dimension=2)
    counts = np.arange(n + 1)
    weights = binom(n, counts) * share**counts * (1 - share) ** (n - counts)
    exact = weights @ law.expected_loss(np.stack([counts, n - counts], axis=1) / n, n, metric)
    assert abs(row.error - exact) < DEVIATIONS * row.standard_error


def test_gaussian_noise_by_integration():
    # Projected, the second share is (z2 - z1) / 2 clipped to [0, n], over n; the l1 error is twice that.
    n = 20
    row = compare(n, 2, 1.0, 1e-5, "l1", ["gaussian"], postprocessing=["project"], population=VERTEX).rows[0]
    half = stats.norm(scale=row.parameters["sigma"] / math.sqrt(2))
    inside, _ = integrate.quad(lambda w: w * half.pdf(w), 0, n, epsabs=1e-12)
    exact = 2 / n * (inside + n * half.sf(n))
    assert abs(row.error - exact) < DEVIATIONS * row.standard_error


def test_real_laplace_noise_by_integration():
    n = 20
    row = compare(n, 2, 1.0, 1e-5, "linf", ["laplace"], postprocessing=["project"], population=VERTEX).rows[0]
    b = row.parameters["scale"]

    def density(w):
        # Half the difference of two Laplace variables of scale b.
        t = 2 * abs(w) / b
        return (1 + t) * math.exp(-t) / (2 * b)

    inside, _ = integrate.quad(lambda w: w * density(w), 0, n, epsabs=1e-12)
    beyond, _ = integrate.quad(density, n, n + 100 * b, epsabs=1e-14)
    assert abs(row.error - (inside + n * beyond) / n) < DEVIATIONS * row.standard_error


def test_the_hellinger_mechanism_by_its_candidates():
    n = 12
    row = compare(n, 2, 2.0, 1e-5, "l1", ["hellinger"], postprocessing=["raw"], population=VERTEX).rows[0]
    mechanism = sdp.HellingerMechanism([1, 1], n, 2.0)
    released = mechanism.candidates() / n
    exact = float(mechanism.probabilities([n, 0]) @ np.abs(released - VERTEX).sum(axis=1))
    assert row.error > 0
    assert abs(row.error - exact) < DEVIATIONS * row.standard_error


def test_the_exact_winner_is_the_measured_one():
    """Enumerated, zero-sum noise has less error than independent noise; the table says so too."""
    n = 30
    names = ["discrete_laplace", "sum_preserving_laplace"]
    table = compare(n, 2, 1.0, 1e-6, "l1", names, postprocessing=["project"], population=[[0.5, 0.5]])
    assert table.winner == "sum_preserving_laplace"
    assert table.ties == ()


def test_errors_are_the_textbook_ones():
    generator = np.random.default_rng(1)
    p, q = generator.dirichlet(np.ones(5), 20), generator.dirichlet(np.ones(5), 20)
    p[0] = [1, 0, 0, 0, 0]
    np.testing.assert_allclose(errors("kl", p, q), stats.entropy(p, q, axis=1), rtol=1e-12)
    np.testing.assert_allclose(errors("hellinger", p, q), np.sqrt(1 - np.sqrt(p * q).sum(axis=1)), rtol=1e-9)
    np.testing.assert_allclose(errors("l1", p, q), np.linalg.norm(p - q, ord=1, axis=1), rtol=1e-12)
    np.testing.assert_allclose(errors("linf", p, q), np.linalg.norm(p - q, ord=np.inf, axis=1), rtol=1e-12)
    assert errors("kl", np.array([[0.5, 0.5]]), np.array([[1.0, 0.0]]))[0] == np.inf
    assert errors("kl", np.array([[1.0, 0.0]]), np.array([[1.0, 0.0]]))[0] == 0.0


def test_a_debiased_draw_with_a_large_prior_is_as_good_as_gaussian_noise():
    """Both by their exact curves; the claim of docs/comparison.md, to 2 % and five standard errors."""
    rules = POSTPROCESSING[:-1]
    table = compare(1000, 5, 1.0, 1e-6, "l1", ["dirichlet", "gaussian"], samples=20_000, postprocessing=rules)
    draw, noise = table.row("dirichlet"), table.row("gaussian")
    assert draw.parameters["prior"] >= 1e4
    assert draw.postprocessing.startswith("debias")
    spread = math.hypot(draw.standard_error, noise.standard_error)
    assert abs(draw.error - noise.error) < 0.02 * noise.error + DEVIATIONS * spread
