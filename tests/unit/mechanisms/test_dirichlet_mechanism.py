"""The Dirichlet mechanism: how it is built, what it costs, what it refuses."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, special, stats

import simplexdp as sdp
from simplexdp import DirichletMechanism
from simplexdp.testing import SeededRng


def kl(p, y):
    return sum(special.rel_entr(p, y))


# What it costs --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "prior, epsilon", [(1.5, 7.8789), (3, 4.3563), (10, 1.8772), (50, 0.7335), (100, 0.4995), (1000, 0.1417)]
)
def test_a_posterior_draw_costs_what_the_exact_curve_says(prior, epsilon):
    mechanism = DirichletMechanism.posterior(prior, 3)
    assert mechanism.privacy.epsilon(1e-5) == pytest.approx(epsilon, abs=5e-5)
    assert mechanism.privacy.exact
    assert mechanism.privacy.sampling_error == 2.0**-255  # a replaced record may touch two rows
    assert DirichletMechanism.posterior(prior, 3, adjacency="add_remove").privacy.sampling_error == 2.0**-256


@pytest.mark.parametrize(
    "epsilon, scale, exact",
    [
        (0.001, 0.01216, 0.93708e-3),
        (0.01, 0.04773, 0.0085017),
        (0.1, 0.27757, 0.076368),
        (1, 2.44119, 0.73986),
        (10, 24.04162, 7.3701),
    ],
)
def test_algorithm_1_stays_below_its_renyi_target(epsilon, scale, exact):
    mechanism = DirichletMechanism.from_rdp(order=5, epsilon=epsilon, dimension=6)
    assert mechanism.scale == pytest.approx(scale, abs=5e-6)
    assert mechanism.prior == pytest.approx(1 + 16 * mechanism.scale, rel=1e-14)
    assert mechanism.privacy.renyi(5) == pytest.approx(exact, rel=1e-4)
    assert mechanism.privacy.renyi(5) < epsilon


def test_algorithm_1_follows_remarks_1_and_2():
    # g = 0 in closed form; a floor allows a larger scale.
    closed = DirichletMechanism.from_rdp(order=5, epsilon=0.1, dimension=6, slack=0)
    assert closed.scale == pytest.approx(np.sqrt(0.2 / (5 * 2 * np.pi**2 / 6)), rel=1e-10)
    assert closed.prior == pytest.approx(1 + 4 * closed.scale, rel=1e-14)
    plain, floored = (DirichletMechanism.from_rdp(5, 0.1, 6, floor=floor) for floor in (0, 20))
    assert floored.scale > plain.scale
    assert floored.privacy.renyi(5) < 0.1


def test_the_renyi_divergence_of_the_papers_two_histograms_is_below_the_curve():
    x, neighbour = np.array([11, 8, 65, 25, 38, 0]), np.array([11, 7, 65, 25, 38, 1])
    mechanism = DirichletMechanism.from_rdp(order=5, epsilon=0.1, dimension=6)
    u, v = (mechanism.scale * counts + mechanism.prior for counts in (x, neighbour))
    for a, b in ((u, v), (v, u)):
        assert sdp.divergence.renyi_dirichlet(a, b, 5.0) <= mechanism.privacy.renyi(5.0) <= 0.1


@given(
    st.lists(st.floats(0.05, 20), min_size=2, max_size=4),
    st.floats(0.05, 5),
    st.integers(0, 3),
    st.sampled_from(["replace", "add_remove"]),
    st.data(),
)
def test_the_curve_is_above_the_renyi_divergence_of_neighbours(prior, scale, floor, adjacency, data):
    d = len(prior)
    counts = np.array(data.draw(st.lists(st.integers(floor, floor + 5), min_size=d, max_size=d)))
    i = data.draw(st.integers(0, d - 1))
    neighbour = counts.copy()
    neighbour[i] += 1
    if adjacency == "replace":
        j = data.draw(st.integers(0, d - 1).filter(lambda j: j != i))
        counts[j] += 1
    mechanism = DirichletMechanism(scale=scale, prior=prior, adjacency=adjacency, floor=floor)
    u, v = (scale * x + np.array(prior) for x in (counts, neighbour))
    for order in (1.05, 1.5, 3.0):
        bound = mechanism.privacy.renyi(order) * (1 + 1e-9)
        assert sdp.divergence.renyi_dirichlet(u, v, order) <= bound
        assert sdp.divergence.renyi_dirichlet(v, u, order) <= bound


def test_rows_of_a_table_cost_more_only_for_unequal_priors_under_replace():
    uneven = DirichletMechanism(scale=1, prior=[1, 2, 3])
    assert uneven.table_privacy.epsilon(1e-5) > uneven.privacy.epsilon(1e-5)
    assert uneven.table_privacy.epsilon(1e-5) == DirichletMechanism.posterior(1.0, 3).privacy.epsilon(1e-5)
    for even in (
        DirichletMechanism(scale=1, prior=[1, 1, 3]),
        DirichletMechanism.posterior([1, 2], adjacency="add_remove"),
    ):
        assert even.table_privacy is even.privacy
    table = [[3, 4, 5], [0, 1, 2]]
    with pytest.raises(sdp.InvalidParameterError, match="rows"):
        uneven.release(table)
    assert uneven.release(table, rows="table").shape == (2, 3)
    assert uneven.release([[3, 4, 5]]).shape == (1, 3)


def test_the_truncated_guarantee_is_theorem_1():
    mechanism = DirichletMechanism(scale=0.5, prior=3.0, dimension=4, floor=2)
    rho, omega = mechanism.tcdp(gamma=2.0)
    assert rho == pytest.approx(0.25 * special.polygamma(1, 4.0 - 2.0), rel=1e-13)
    assert omega == pytest.approx(5.0, rel=1e-13)
    add = DirichletMechanism(scale=0.5, prior=3.0, dimension=4, adjacency="add_remove").tcdp(gamma=2.0)
    assert add[0] == pytest.approx(0.125 * special.polygamma(1, 1.0), rel=1e-13)
    for order in (1.5, 3.0, 4.9):
        assert mechanism.privacy.renyi(order) <= rho * order
    with pytest.raises(sdp.InvalidParameterError, match="gamma"):
        mechanism.tcdp(gamma=4.0)


@pytest.mark.parametrize("epsilon", [0.001, 0.01, 0.1, 1, 10])
@pytest.mark.parametrize("slack, floor", [(3, 0), (0, 0), (1, 2.5)])
def test_a_real_statistic_has_the_papers_guarantee_in_all_orders(epsilon, slack, floor):
    mechanism = DirichletMechanism.from_rdp(5, epsilon, 4, l2=0.7, linf=0.5, slack=slack, floor=floor)
    assert epsilon * (1 - 1e-9) <= mechanism.privacy.renyi(5) <= epsilon
    assert not mechanism.privacy.exact
    # Neighbours that move as far as they may, with totals that differ.
    rng = np.random.default_rng(1)
    for _ in range(50):
        step = rng.choice([-1, 1], 4) * rng.dirichlet(np.ones(4)) * 0.7
        step *= min(1, 0.5 / np.abs(step).max())
        x = floor + np.maximum(-step, 0) + rng.choice([0, 1], 4) * rng.exponential(3, 4)
        u, v = (mechanism.scale * f + mechanism.prior for f in (x, x + step))
        for order in (1.1, 2, 5):
            assert sdp.divergence.renyi_dirichlet(u, v, order) <= mechanism.privacy.renyi(order)
    real = [floor + 0.25, floor, floor + 1.5, floor]
    assert mechanism.release(real).shape == (4,)
    with pytest.raises(sdp.InvalidParameterError, match="one row at a time"):
        mechanism.release([real, real])


def test_counts_of_whole_records_are_cheaper_than_a_real_statistic():
    common = {"scale": 1.0, "prior": 20.0, "dimension": 3}
    exact = DirichletMechanism(**common).privacy.epsilon(1e-6)
    bound = DirichletMechanism(**common, l2=2**0.5, linf=1.0).privacy
    assert exact < bound.epsilon(1e-6)
    assert bound.sampling_error >= 2.0**-256


@pytest.mark.parametrize(
    "prior, scale, total, floor", [([1.5, 1.5], 1.0, 7, 0), ([0.5, 3], 0.4, 12, 0), ([2, 1], 2, 9, 2)]
)
def test_a_public_total_makes_a_proportion_cheaper(prior, scale, total, floor):
    common = {"scale": scale, "prior": prior, "floor": floor}
    mechanism, unknown = DirichletMechanism(**common, total=total), DirichletMechanism(**common)
    assert mechanism.privacy.exact
    assert mechanism.privacy.epsilon(1e-6) < unknown.privacy.epsilon(1e-6)

    for epsilon in (0.1, 0.5, 2.0):
        # All neighbours: the ratio of the two beta densities rises with y, so that delta is a difference of tails.
        worst = 0.0
        for k in range(floor + 1, total - floor + 1):
            (a, b), (c, d) = ([prior[0] + scale * x, prior[1] + scale * (total - x)] for x in (k, k - 1))
            shift = special.betaln(c, d) - special.betaln(a, b)
            up, down = special.expit((np.array([epsilon, -epsilon]) - shift) / scale)
            more = stats.beta.sf(up, a, b) - np.exp(epsilon) * stats.beta.sf(up, c, d)
            less = stats.beta.cdf(down, c, d) - np.exp(epsilon) * stats.beta.cdf(down, a, b)
            worst = max(worst, more, less)
        assert mechanism.privacy.delta(epsilon) == pytest.approx(worst, rel=1e-9)
    least = [total - floor, floor]
    assert mechanism.release(least).shape == mechanism.release([least])[0].shape == (2,)
    assert mechanism.release_counts(least, 5).sum() == 5
    for counts in ([total - floor, floor + 1], [floor, total - floor - 1]):
        for method in (mechanism.release, mechanism.expected, lambda c: mechanism.release_counts(c, 5)):
            with pytest.raises(sdp.InvalidDataError, match=f"public total of {total}"):
                method(counts)
    with pytest.raises(sdp.InvalidParameterError, match="one row at a time"):
        mechanism.release([least, least])


def test_a_public_total_of_many_categories_is_checked_and_costs_the_same():
    mechanism, unknown = (DirichletMechanism.posterior([1, 2, 3], total=total) for total in (10, None))
    assert mechanism.privacy.epsilon(1e-6) == unknown.privacy.epsilon(1e-6)
    assert mechanism.release([0, 3, 7]).shape == (3,)
    with pytest.raises(sdp.InvalidDataError, match="public total of 10"):
        mechanism.release([0, 3, 6])


# Calibration ----------------------------------------------------------------------------------------------------

BUDGETS = [(epsilon, delta) for epsilon in 10.0 ** np.arange(-5, 1.5) for delta in (1e-2, 1e-5, 1e-9)]


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_calibration_spends_the_budget_over_six_decades(adjacency):
    for epsilon, delta in BUDGETS:
        settings = {"adjacency": adjacency, "dimension": 5}
        for options in ({"total": 1000}, {"prior": 2.0}, {"prior": [1, 2, 1, 4, 5]}, {"prior": 0.5, "floor": 4}):
            mechanism = DirichletMechanism.calibrated(epsilon, delta, **settings, **options)
            assert 0.999 * epsilon <= mechanism.privacy.epsilon(delta) <= epsilon, (epsilon, delta, options)
        given_scale = DirichletMechanism.calibrated(epsilon, delta, **settings, scale=mechanism.scale)
        assert 0.999 * epsilon <= given_scale.privacy.epsilon(delta) <= epsilon


@pytest.mark.parametrize("epsilon", [1e-4, 0.1, 1.0, 20.0])
@pytest.mark.parametrize("total", [1, 50, 10**6, 10**15])
def test_calibration_of_a_proportion_with_a_public_total(epsilon, total):
    common = {"epsilon": epsilon, "delta": 1e-6, "dimension": 2, "total": total}
    for options in ({}, {"loss": "l2"}, {"prior": 2.0}, {"prior": [7.0, 0.5]}, {"scale": 0.3}):
        mechanism = DirichletMechanism.calibrated(**common, **options, fixed_total=True)
        assert mechanism.total == total
        assert 0.999 * epsilon <= mechanism.privacy.epsilon(1e-6) <= epsilon, options
        unknown = DirichletMechanism.calibrated(**common, **options)
        assert unknown.total is None
        if "scale" in options:
            assert mechanism.prior <= unknown.prior * (1 + 1e-8)
        elif "prior" in options:
            assert mechanism.scale >= unknown.scale * (1 - 1e-8)
        else:
            even = [[0.5, 0.5], [1.0, 0.0]]
            loss = options.get("loss", "kl")
            losses = [max(m.expected_loss(even, total, loss)) for m in (mechanism, unknown)]
            assert losses[0] <= losses[1] * (1 + 1e-6)


@pytest.mark.parametrize("loss", ["kl", "l1", "l2", "linf"])
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("epsilon, dimension, total", [(1.0, 6, 1000), (0.1, 50, 10**6), (5.0, 2, 30)])
def test_the_chosen_prior_is_the_best_one_for_the_stated_reference(loss, adjacency, epsilon, dimension, total):
    common = {"delta": 1e-6, "dimension": dimension, "adjacency": adjacency}
    spreads = [k for k in 2 ** np.arange(20) if k < dimension] + [dimension]
    reference = np.array([np.r_[np.full(k, 1 / k), np.zeros(dimension - k)] for k in spreads])
    chosen = DirichletMechanism.calibrated(epsilon, total=total, loss=loss, **common)
    best = max(chosen.expected_loss(reference, total, loss))
    for prior in chosen.prior * np.array([0.3, 0.7, 0.9, 1.1, 1.5, 3]):
        other = DirichletMechanism.calibrated(epsilon, prior=prior, **common)
        assert best <= max(other.expected_loss(reference, total, loss)) * 1.001


def test_a_reference_replaces_the_worst_case_by_an_average():
    reference = np.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]])
    common = {"epsilon": 0.5, "delta": 1e-6, "dimension": 3}
    chosen = DirichletMechanism.calibrated(**common, total=500, loss="l1", reference=reference)
    best = np.mean(chosen.expected_loss(reference, 500, "l1"))
    for prior in chosen.prior * np.array([0.5, 0.8, 1.2, 2]):
        other = DirichletMechanism.calibrated(**common, prior=prior)
        assert best <= np.mean(other.expected_loss(reference, 500, "l1")) * 1.001


def test_the_default_reference_is_nearly_the_worst_histogram():
    # 2000 random histograms of many shapes, none more than 5 % above the stated reference.
    rng = np.random.default_rng(1)
    for d, total in ((3, 100), (10, 1000), (10, 10**5)):
        mechanism = DirichletMechanism.calibrated(1.0, 1e-6, d, total=total)
        spreads = [1, 2, 4, 8, d]
        reference = np.array([np.r_[np.full(k, 1 / k), np.zeros(d - k)] for k in spreads if k <= d])
        shapes = np.concatenate([rng.dirichlet(np.full(d, a), 500) for a in (0.05, 0.3, 1, 5)])
        for loss in ("kl", "l2"):
            worst = max(mechanism.expected_loss(reference, total, loss))
            assert max(mechanism.expected_loss(shapes, total, loss)) <= 1.05 * worst


def test_given_both_parameters_the_budget_is_checked_or_left_open():
    free = DirichletMechanism.calibrated(prior=2.0, scale=0.5, dimension=3)
    assert free == DirichletMechanism(prior=2.0, scale=0.5, dimension=3)
    needed = free.privacy.epsilon(1e-6)
    assert DirichletMechanism.calibrated(needed * 1.01, 1e-6, 3, prior=2.0, scale=0.5) == free
    with pytest.raises(sdp.InvalidParameterError, match="epsilon must be at least"):
        DirichletMechanism.calibrated(needed * 0.99, 1e-6, 3, prior=2.0, scale=0.5)


def test_extreme_budgets_are_met_or_refused():
    # The sampler's (1 + e^epsilon) 2^-255 is part of delta, and too small to matter here.
    large = DirichletMechanism.calibrated(100.0, 1e-3, 3, total=100)
    assert 99.9 < large.privacy.epsilon(1e-3) <= 100
    tiny = DirichletMechanism.calibrated(1e-9, 1e-15, 3, prior=1e6)
    assert tiny.privacy.epsilon(1e-15) <= 1e-9
    for epsilon, delta in ((1.0, 1e-77), (1e-13, 1e-15)):
        with pytest.raises(sdp.InvalidParameterError):
            DirichletMechanism.calibrated(epsilon, delta, 3, prior=1.0)


# Expected losses ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale, prior, total", [(1.0, 1.0, 10), (0.3, [0.5, 2.0, 1.0], 200), (2.0, 0.01, 3)])
@pytest.mark.parametrize("p", [[1.0, 0.0, 0.0], [0.2, 0.3, 0.5], [0.9, 0.05, 0.05]])
def test_expected_losses_agree_with_integration(scale, prior, total, p):
    mechanism = DirichletMechanism(scale=scale, prior=prior, dimension=3)
    p, alpha = np.array(p), np.broadcast_to(prior, 3)
    c = scale * total * p + alpha
    marginals = [stats.beta(a, c.sum() - a) for a in c]
    digamma_form = sum(special.xlogy(p, p)) - p @ special.digamma(c) + special.digamma(c.sum())
    assert mechanism.expected_loss(p, total) == pytest.approx(digamma_form, rel=1e-10)

    def mean(marginal, f, point):
        # In quantile space the integrand is bounded, with a kink at the point.
        value, _ = integrate.quad(lambda u: f(marginal.ppf(u)), 0, 1, points=[marginal.cdf(point)], limit=500)
        return value

    absolute = sum(mean(m, lambda y, x=x: abs(y - x), x) for m, x in zip(marginals, p, strict=True))
    assert mechanism.expected_loss(p, total, "l1") == pytest.approx(absolute, rel=1e-6)
    square = sum(m.var() + (m.mean() - x) ** 2 for m, x in zip(marginals, p, strict=True))
    assert mechanism.expected_loss(p, total, "l2") == pytest.approx(np.sqrt(square), rel=1e-12)


def test_expected_losses_keep_their_digits_for_huge_totals():
    # E KL for p = (1/2, 1/2): psi(2c) - psi(c) - ln 2 = 1/(4c) + 1/(16 c^2) + O(c^-4).
    mechanism = DirichletMechanism(scale=1.0, prior=1.0, dimension=2)
    for total in (10**6, 10**10, 10**15):
        c = total / 2 + 1
        assert mechanism.expected_loss([0.5, 0.5], total) == pytest.approx(1 / (4 * c) + 1 / (16 * c * c), rel=1e-12)
        # Gaussian limit of the mean absolute deviation, variance 1/(8c): relative corrections of order 1/c.
        assert mechanism.expected_loss([0.5, 0.5], total, "l1") == pytest.approx(np.sqrt(1 / (np.pi * c)), rel=1e-5)


# What it does ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(4,), (1, 4), (5, 4), (2, 3, 4), (0, 4)])
def test_a_release_has_the_shape_of_the_counts_and_lies_on_the_grid(shape):
    counts = np.arange(np.prod(shape)).reshape(shape)
    y = DirichletMechanism(scale=0.3, prior=1.0, dimension=4).release(counts, resolution=2.0**-20)
    assert y.shape == shape
    assert np.all(y.sum(axis=-1) == 1)
    units = y * 2**20
    assert np.all(units == np.floor(units))
    assert np.all(units >= 1)


def test_integers_floats_and_lists_mean_the_same_counts():
    mechanism = DirichletMechanism(scale=0.3, prior=1.0, dimension=3)
    results = [
        mechanism.release(counts, rng=SeededRng(5))
        for counts in ([1, 2, 3], np.array([1, 2, 3], dtype=np.uint8), np.array([1.0, 2.0, 3.0]), [1, 2, np.int64(3)])
    ]
    assert all(np.array_equal(results[0], other) for other in results)


def test_counts_up_to_1e15_are_released():
    y = DirichletMechanism.posterior(1.0, 3).release([10**15, 1, 0])
    assert y[0] > 0.999
    y = DirichletMechanism(scale=1e-6, prior=1.0, dimension=2).release([10**15, 10**15])
    assert abs(y[0] - 0.5) < 1e-3


def test_the_mean_of_releases_is_the_expected_vector():
    # 20000 rows; the standard error is at most 0.25/sqrt(20000 * 8) = 6e-4, six of them allow 4e-3.
    mechanism, counts = DirichletMechanism(scale=0.5, prior=[1, 2, 0.5]), np.array([10, 0, 3])
    y = mechanism.release(np.tile(counts, (20_000, 1)), rng=SeededRng(3), rows="table")
    np.testing.assert_allclose(y.mean(axis=0), mechanism.expected(counts), atol=4e-3)


def test_synthetic_counts_are_dirichlet_multinomial():
    # Chi-square test of all 36 outcomes of size 7, d = 3, 20000 rows; false-alarm rate 1e-6.
    mechanism, counts, size = DirichletMechanism(scale=0.5, prior=[1, 2, 0.5]), [4, 0, 3], 7
    drawn = mechanism.release_counts(np.tile(counts, (20_000, 1)), size, rng=SeededRng(8), rows="table")
    alpha = 0.5 * np.array(counts) + [1, 2, 0.5]
    outcomes = [(i, j, size - i - j) for i in range(size + 1) for j in range(size + 1 - i)]
    law = stats.dirichlet_multinomial(alpha, size)
    expected = np.array([law.pmf(k) for k in outcomes]) * len(drawn)
    observed = np.array([np.sum(np.all(drawn == k, axis=1)) for k in outcomes])
    assert expected.min() > 5
    assert stats.chisquare(observed, expected).pvalue > 1e-6


@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 4, 3), (0, 3)])
def test_synthetic_counts_have_the_shape_of_the_counts(shape):
    mechanism = DirichletMechanism(scale=1.0, prior=1.0, dimension=3)
    drawn = mechanism.release_counts(np.ones(shape), 50)
    assert drawn.shape == shape
    assert drawn.dtype == np.int64
    assert np.all(drawn.sum(axis=-1) == 50)
    assert np.all(mechanism.release_counts(np.ones(shape), 0) == 0)
    for size in (-1, 2.5, 2**31, None):
        with pytest.raises(sdp.InvalidParameterError, match="size"):
            mechanism.release_counts(np.ones(shape), size)


def test_debiasing_is_unbiased_and_its_error_is_as_stated():
    # 20000 rows: relative standard error of a mean square about sqrt(2/20000) = 1 %.
    mechanism, counts = DirichletMechanism(scale=0.2, prior=4.0, dimension=4), np.array([60, 30, 10, 0])
    p = counts / 100
    np.testing.assert_allclose(mechanism.debias(mechanism.expected(counts), 100), p, atol=1e-14)
    estimates = mechanism.debias(mechanism.release(np.tile(counts, (20_000, 1)), rng=SeededRng(4)), 100)
    np.testing.assert_allclose(estimates.sum(axis=1), 1, rtol=1e-9)
    stated = mechanism.debias_error(100, p)
    error = np.sqrt(np.mean(np.sum((estimates - p) ** 2, axis=1)))
    assert error == pytest.approx(stated, rel=0.05)
    assert stated <= mechanism.debias_error(100)


def test_projection_gives_the_nearest_probability_vector():
    mechanism = DirichletMechanism(scale=0.1, prior=3.0, dimension=5)
    y = mechanism.release(np.tile([30, 5, 5, 0, 0], (300, 1)), rng=SeededRng(6))
    raw, projected = (mechanism.debias(y, 40, project=project) for project in (False, True))
    assert np.any(raw < 0)
    assert np.all(projected >= 0)
    np.testing.assert_allclose(projected.sum(axis=1), 1, rtol=1e-12)
    # Optimality: raw - projected is the same number wherever the projection is positive, and not larger elsewhere.
    gap = raw - projected
    for g, q in zip(gap, projected, strict=True):
        level = g[q > 0].mean()
        np.testing.assert_allclose(g[q > 0], level, atol=1e-12)
        assert np.all(g[q == 0] <= level + 1e-12)
    inside = np.array([[0.2, 0.2, 0.2, 0.2, 0.2]])
    np.testing.assert_allclose(mechanism.debias(inside, 40, project=True), mechanism.debias(inside, 40), atol=1e-15)


# What kind of object it is --------------------------------------------------------------------------------------


def test_mechanisms_are_immutable_comparable_and_pickle():
    mechanism = DirichletMechanism(scale=0.5, prior=[1, 2, 3], floor=1)
    mechanism.privacy.epsilon(1e-5)
    for name in ("scale", "prior", "dimension", "adjacency", "floor", "total", "anything"):
        with pytest.raises(AttributeError):
            setattr(mechanism, name, 1)
    with pytest.raises(ValueError, match="read-only"):
        mechanism.prior[0] = 5
    twin = DirichletMechanism(scale=0.5, prior=np.array([1, 2, 3]), dimension=3, floor=1.0)
    for other in (twin, copy.deepcopy(mechanism), pickle.loads(pickle.dumps(mechanism))):
        assert other == mechanism
        assert hash(other) == hash(mechanism)
        assert other.privacy.epsilon(1e-5) == mechanism.privacy.epsilon(1e-5)
    assert mechanism != DirichletMechanism(scale=0.5, prior=[1, 2, 3], floor=0)
    fixed = DirichletMechanism(scale=0.5, prior=[1, 2, 3], floor=1, total=10)
    assert fixed != mechanism
    assert pickle.loads(pickle.dumps(fixed)) == fixed
    assert repr(fixed).endswith("total=10)")
    assert "scale=0.5" in repr(mechanism)


GOOD = {"scale": 1.0, "prior": 1.0, "dimension": 3}


@pytest.mark.parametrize(
    "change, named",
    [
        ({"scale": 0}, "scale"),
        ({"scale": -1}, "scale"),
        ({"scale": float("nan")}, "scale"),
        ({"scale": 1e200}, "scale"),
        ({"scale": "one"}, "scale"),
        ({"prior": 0}, "prior"),
        ({"prior": -2.0}, "prior"),
        ({"prior": float("inf")}, "prior"),
        ({"prior": [1, 2]}, "prior"),
        ({"prior": [[1, 2, 3]]}, "prior"),
        ({"prior": []}, "prior"),
        ({"prior": [1, 0, 1]}, "prior"),
        ({"dimension": 1}, "dimension"),
        ({"dimension": 2.5}, "dimension"),
        ({"dimension": None}, "dimension"),
        ({"dimension": 2**53}, "dimension"),
        ({"adjacency": "swap"}, "adjacency"),
        ({"floor": -1}, "floor"),
        ({"floor": float("nan")}, "floor"),
        ({"floor": 1e16}, "floor"),
        ({"l2": 1.0}, "l2"),
        ({"l2": 1.0, "linf": 0.0}, "linf"),
        ({"l2": 1.0, "linf": 1.0, "total": 9}, "total"),
        ({"total": 0}, "total"),
        ({"total": 2.5}, "total"),
        ({"total": True}, "total"),
        ({"total": 10**16}, "total"),
        ({"total": 6, "floor": 2}, "total"),
        ({"total": 9, "adjacency": "add_remove"}, "total"),
    ],
)
def test_bad_parameters_are_named(change, named):
    with pytest.raises(sdp.InvalidParameterError, match=named):
        DirichletMechanism(**(GOOD | change))


@pytest.mark.parametrize(
    "arguments, named",
    [
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": -1}, "epsilon"),
        ({"epsilon": float("inf")}, "epsilon"),
        ({"epsilon": None}, "epsilon"),
        ({"delta": 0.0}, "delta"),
        ({"delta": 1.0}, "delta"),
        ({"delta": None}, "delta"),
        ({"dimension": None}, "dimension"),
        ({"total": None}, "total"),
        ({"total": 0}, "total"),
        ({"total": 10, "floor": 5}, "total"),
        ({"loss": "l3"}, "loss"),
        ({"fixed_total": None}, "fixed_total"),
        ({"fixed_total": True, "total": None}, "total"),
        ({"fixed_total": True, "total": 99.5}, "total"),
        ({"fixed_total": True, "adjacency": "add_remove"}, "total"),
        ({"adjacency": "other"}, "adjacency"),
        ({"floor": -1}, "floor"),
        ({"prior": -1}, "prior"),
        ({"prior": [1, 2]}, "prior"),
        ({"scale": -1}, "scale"),
        ({"reference": [0.5, 0.5]}, "reference"),
        ({"reference": [0.5, 0.5, 0.5]}, "reference"),
        ({"reference": np.empty((0, 3))}, "reference"),
    ],
)
def test_bad_budgets_are_named(arguments, named):
    good = {"epsilon": 1.0, "delta": 1e-6, "dimension": 3, "total": 100}
    with pytest.raises(sdp.InvalidParameterError, match=named):
        DirichletMechanism.calibrated(**(good | arguments))


@pytest.mark.parametrize(
    "arguments", [{"order": 1.0}, {"order": float("nan")}, {"epsilon": 0}, {"slack": -1}, {"l2": 1}, {"floor": -1}]
)
def test_bad_renyi_targets_are_refused(arguments):
    with pytest.raises(sdp.InvalidParameterError):
        DirichletMechanism.from_rdp(**({"order": 5, "epsilon": 1.0, "dimension": 3} | arguments))


SECRET = 777123

BAD_COUNTS = [
    [SECRET, -1, 0],
    [-SECRET, 1, 0],
    [SECRET + 0.5, 1, 0],
    [float("nan"), SECRET, 0],
    [float("inf"), SECRET, 0],
    [SECRET, 1],
    [SECRET, 1, 2, 3],
    SECRET,
    [],
    [[]],
    [str(SECRET), "1", "2"],
    [SECRET, None, 1],
    [SECRET * 1e12, 1, 1],
    [10**400, SECRET, 1],
    [SECRET + 1j, 1, 1],
    [True, False, True],
]


@pytest.mark.parametrize("counts", BAD_COUNTS, ids=range(len(BAD_COUNTS)))
def test_bad_counts_are_refused_and_not_quoted(counts):
    mechanism = DirichletMechanism(**GOOD)
    for method in (mechanism.release, mechanism.expected, lambda x: mechanism.release_counts(x, 10)):
        with pytest.raises(sdp.InvalidDataError) as error:
            method(counts)
        assert str(SECRET) not in str(error.value)
        assert error.value.__cause__ is None
        assert error.value.__suppress_context__ or error.value.__context__ is None


def test_counts_below_the_declared_floor_are_refused():
    mechanism = DirichletMechanism(scale=1.0, prior=1.0, dimension=3, floor=5)
    assert mechanism.release([5, 6, 7]).shape == (3,)
    with pytest.raises(sdp.InvalidDataError, match="floor"):
        mechanism.release([5, 4, 7])


def test_releases_refuse_bad_grids_and_generators():
    mechanism = DirichletMechanism(**GOOD)
    for resolution in (0.1, 0, 2.0**-60, None):
        with pytest.raises(sdp.InvalidParameterError, match="resolution"):
            mechanism.release([1, 2, 3], resolution=resolution)
    with pytest.raises(sdp.InvalidParameterError, match="rng"):
        mechanism.release([1, 2, 3], rng=np.random.default_rng(1))
    with pytest.raises(sdp.InvalidParameterError, match="rows"):
        mechanism.release([1, 2, 3], rows="free")


@pytest.mark.parametrize("wrong", ["yes", None, np.array([]), np.array([True, False])])
def test_a_flag_that_is_none_is_refused(wrong):
    mechanism = DirichletMechanism(scale=1.0, prior=1.0, dimension=2)
    with pytest.raises(sdp.InvalidParameterError, match="project must be"):
        mechanism.debias([0.5, 0.5], 10, project=wrong)
