"""The closed-form curves lie above the divergence of every pair of neighbours, and the worst pair attains them.

The divergence of the actual Dirichlet laws is integrated numerically over the simplex in log-ratio coordinates, with
none of the reductions that the curves rest on; the Renyi divergence is the closed form for the actual parameters.
"""

import math

import numpy as np
import pytest
from scipy.special import gammaln

import simplexdp as sdp
from simplexdp.accounting import dirichlet_curve

# The trapezoidal rule in these coordinates errs by about h^2 at the kink of the integrand.
NODES = {2: np.linspace(-9.0, 9.0, 200001), 3: np.linspace(-6.5, 6.5, 1801)}
ERROR = {2: 1e-6, 3: 2e-4}


def hockey_stick(u, v, epsilons):
    """delta(epsilon) of Dirichlet(u) against Dirichlet(v), d = 2 or 3, by the trapezoidal rule on log-ratios."""
    d = len(u)
    t = NODES[d]
    middle = (u + v) / 2
    axes, logs = [], 0.0
    for k in range(d - 1):
        spread = math.sqrt(1 / middle[k] + 1 / middle[-1])
        shape = [1] * (d - 1)
        shape[k] = -1
        axes.append((math.log(middle[k] / middle[-1]) + spread * np.sinh(t)).reshape(shape))
        logs = logs + np.log(spread * np.cosh(t) * (t[1] - t[0])).reshape(shape)
    total = np.logaddexp.reduce(np.broadcast_arrays(*axes, 0.0), axis=0)

    def log_density(a):
        power = sum(a[k] * axes[k] for k in range(d - 1)) - a.sum() * total
        return power + gammaln(a.sum()) - gammaln(a).sum() + logs

    log_p, log_q = log_density(u), log_density(v)
    p = np.exp(log_p)
    assert abs(p.sum() - 1) < 1e-8
    return np.array([np.sum(p * np.maximum(-np.expm1(np.minimum(e + log_q - log_p, 1)), 0)) for e in epsilons])


def random_case(rng, d, adjacency, least):
    """Parameters, a curve, and the parameters of two neighbours, in a random direction."""
    prior = np.full(d, 10 ** rng.uniform(least, 1.5)) if rng.random() < 0.5 else 10 ** rng.uniform(least, 1.5, d)
    scale = 10 ** rng.uniform(-1.5, 0.7)
    floor = int(rng.integers(0, 3)) if rng.random() < 0.3 else 0
    counts = floor + (rng.integers(0, 4, d) if rng.random() < 0.7 else rng.integers(0, 200, d))
    i, j = rng.permutation(d)[:2]
    x, y = counts.astype(float), counts.astype(float)
    x[i] += 1
    if adjacency == "replace":
        y[j] += 1
    if rng.random() < 0.5:
        x, y = y, x
    total = int(x.sum()) if adjacency == "replace" and rng.random() < 0.5 else None
    curve = dirichlet_curve(scale=scale, prior=prior, adjacency=adjacency, floor=floor, total=total)
    return curve, scale * x + prior, scale * y + prior


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize(("d", "least", "n_short", "n_full"), [(2, -1.5, 40, 2000), (3, -0.3, 5, 150)])
def test_the_curve_dominates_random_neighbours(adjacency, d, least, n_short, n_full, full):
    rng = np.random.default_rng(20261118 + d)
    for _ in range(n_full if full else n_short):
        curve, u, v = random_case(rng, d, adjacency, least)
        end = curve.epsilon(1e-6)
        epsilons = np.array([-0.5 * end, -0.05 * end, 0.0, 0.1 * end, 0.4 * end, 0.7 * end])
        actual = hockey_stick(u, v, epsilons)
        assert np.all(curve.delta(epsilons) >= actual * (1 - ERROR[d]) - 1e-9), (curve, u, v, actual)


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_the_renyi_curve_dominates_random_neighbours_of_any_dimension(adjacency, full):
    rng = np.random.default_rng(7)
    for _ in range(20000 if full else 1500):
        curve, u, v = random_case(rng, int(rng.integers(2, 9)), adjacency, -2)
        order = 1 + 10 ** rng.uniform(-2, 1.5)
        actual = sdp.divergence.renyi_dirichlet(u, v, order)
        assert curve.renyi(order) >= actual * (1 - 1e-11), (curve, u, v, order)


@pytest.mark.parametrize("prior", [0.5, 1.5, 20.0, [0.7, 2.0, 1.1]])
def test_one_record_attains_the_replace_curve(prior):
    curve = dirichlet_curve(scale=0.8, prior=prior, dimension=3 if np.ndim(prior) == 0 else None)
    priors = np.broadcast_to(np.asarray(prior, float), 3)
    i, j = np.argsort(priors, kind="stable")[:2]
    record = 0.8 * np.eye(3)
    epsilons = np.array([-0.3, 0.0, 0.2, 0.8]) * curve.epsilon(1e-3)
    both = [hockey_stick(priors + record[a], priors + record[b], epsilons) for a, b in ((i, j), (j, i))]
    assert curve.exact
    np.testing.assert_allclose(curve.delta(epsilons), np.maximum(*both), rtol=ERROR[3])


@pytest.mark.parametrize("removed", [True, False])
def test_large_totals_approach_the_add_remove_curve(removed):
    profile = dirichlet_curve(scale=1.0, prior=1.5, dimension=2, adjacency="add_remove").profiles[0 if removed else 1]
    epsilons = np.array([-0.5, 0.0, 0.5, 1.0])
    with_record, without = np.array([2.5, 4e4]), np.array([1.5, 4e4])
    u, v = (with_record, without) if removed else (without, with_record)
    actual = hockey_stick(u, v, epsilons)
    assert np.all(actual <= profile.delta(epsilons))
    np.testing.assert_allclose(actual, profile.delta(epsilons), rtol=1e-3)


def test_two_categories_with_a_public_total_are_the_worst_of_their_pairs(full):
    rng = np.random.default_rng(5)
    for _ in range(200 if full else 8):
        a, b = 10 ** rng.uniform(-1, 1.5, 2)
        r, n = 10 ** rng.uniform(-1.5, 0.7), int(rng.integers(1, 25))
        curve = dirichlet_curve(scale=r, prior=[a, b], total=n)
        epsilons = np.array([-0.2, 0.0, 0.3, 0.7]) * curve.epsilon(1e-4)
        actual = np.zeros(4)
        for k in range(1, n + 1):
            u, v = np.array([a + r * k, b + r * (n - k)]), np.array([a + r * (k - 1), b + r * (n - k + 1)])
            actual = np.maximum(actual, np.maximum(hockey_stick(u, v, epsilons), hockey_stick(v, u, epsilons)))
        np.testing.assert_allclose(curve.delta(epsilons), actual, rtol=1e-5)


PROFILES = [
    (("beta_profile", 1.5, 1.5, 1.0), ("beta_profile", 1.5, 1.5, 1.0)),
    (("beta_profile", 0.01, 0.01, 2.0), ("beta_profile", 0.01, 0.01, 2.0)),
    (("beta_profile", 2.0, 30.0, 0.5), ("beta_profile", 30.0, 2.0, 0.5)),
    (("gamma_profile", 0.3, 2.0, False), ("gamma_profile", 0.3, 2.0, True)),
    (("gamma_profile", 50.0, 1.0, False), ("gamma_profile", 50.0, 1.0, True)),
    (("gaussian_profile", 0.7), ("gaussian_profile", 0.7)),
    (("laplace_profile", 0.7), ("laplace_profile", 0.7)),
    (("budget_profile", 0.7, 1e-3), ("budget_profile", 0.7, 1e-3)),
    (("two_categories_profile", 1.0, 2.0, 1.0, 5, 0), ("two_categories_profile", 1.0, 2.0, 1.0, 5, 0)),
]


@pytest.mark.parametrize(("forward", "backward"), PROFILES, ids=lambda recipe: str(recipe))
def test_the_reversed_pair_has_the_reflected_profile(forward, backward):
    # delta_{Q||P}(eps) = e^eps delta_{P||Q}(-eps) + 1 - e^eps, up to the relative margins of 1e-11 on both sides.
    margin = 2e-11 * np.exp(3)
    p, q = (getattr(sdp._core, name)(*args) for name, *args in (forward, backward))
    epsilons = np.linspace(-3, 3, 61)
    reflected = np.exp(epsilons) * p.delta(-epsilons) - np.expm1(epsilons)
    np.testing.assert_allclose(q.delta(epsilons), reflected, rtol=1e-9, atol=margin)


@pytest.mark.parametrize(("forward", "backward"), PROFILES, ids=lambda recipe: str(recipe))
def test_profiles_are_convex_and_bounded(forward, backward):
    profile = getattr(sdp._core, forward[0])(*forward[1:])
    weights = np.linspace(0.05, 8, 400)
    epsilons = np.log(weights)
    upper, lower = profile.delta(epsilons), profile.delta_lower(epsilons)
    assert np.all(lower <= upper)
    assert np.all(upper <= 1)
    assert np.all(upper >= np.maximum(0, 1 - weights))
    assert np.all(np.diff(upper) <= 1e-11)
    assert np.all(np.diff(upper, 2) >= -1e-10)
