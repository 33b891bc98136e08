"""Posteriors against sums over all counts that are possible, from the written laws of the mechanisms."""

import itertools
import math

import mpmath
import numpy as np
import pytest

import simplexdp as sdp
from simplexdp.inference import Total
from simplexdp.testing import SeededRng

N = 9
DIMENSION = 3


def discrete_laplace(scale, step=1.0):
    q = math.exp(-step / scale)
    return lambda y, x: math.log((1 - q) / (1 + q)) - abs(y - x) / scale


def discrete_gaussian(sigma, step=1.0):
    top = sum(math.exp(-((k * step / sigma) ** 2) / 2) for k in range(-4000, 4001))
    return lambda y, x: -((y - x) ** 2) / (2 * sigma**2) - math.log(top)


def cellwise(law):
    return lambda y, x: sum(law(float(a), b) for a, b in zip(y, x, strict=True))


def zero_sum(scale):
    """The normaliser is a sum over two free entries; noise beyond 60 scales is nothing."""
    z = np.arange(-int(60 * scale), int(60 * scale) + 1)
    top = np.log(np.exp(-(np.abs(z)[:, None] + np.abs(z) + np.abs(z[:, None] + z)) / scale).sum())
    return lambda y, x: -sum(abs(int(a) - b) for a, b in zip(y, x, strict=True)) / scale - top


def dirichlet(scale, prior, bits=32):
    """The mean of the density over the interval that a grid value stands for, at 30 digits."""
    shared = 2.0**bits - DIMENSION

    def log_law(y, x):
        with mpmath.workdps(30):
            total = mpmath.loggamma(scale * sum(x) + sum(prior))
            for value, count, a in zip(y, x, prior, strict=True):
                units, b = int(value * 2**bits), mpmath.mpf(scale) * count + a
                low, high = mpmath.mpf(max(units - 2, 0)) / shared, mpmath.mpf(units) / shared
                total += mpmath.log((high**b - low**b) / (b * (high - low))) - mpmath.loggamma(b)
            return float(total)

    return log_law


def urn(scale, prior):
    def log_law(z, x):
        z = [int(v) for v in z]
        weights = [scale * k + a for k, a in zip(x, prior, strict=True)]
        total = math.lgamma(sum(z) + 1) + math.lgamma(sum(weights)) - math.lgamma(sum(weights) + sum(z))
        return total + sum(
            math.lgamma(b + v) - math.lgamma(b) - math.lgamma(v + 1) for b, v in zip(weights, z, strict=True)
        )

    return log_law


def brute(releases, alpha, totals):
    """All counts with their posterior probabilities, and the evidence; `totals` maps numbers to prior probabilities."""
    concentration, rows, logs = sum(alpha), [], []
    for n, weight in totals.items():
        for x in itertools.product(range(n + 1), repeat=len(alpha)):
            if sum(x) == n:
                log = (
                    math.log(weight) + math.lgamma(n + 1) + math.lgamma(concentration) - math.lgamma(n + concentration)
                )
                log += sum(
                    math.lgamma(k + a) - math.lgamma(k + 1) - math.lgamma(a) for k, a in zip(x, alpha, strict=True)
                )
                rows.append(x)
                logs.append(log + sum(law(y, x) for law, y in releases))
    top = max(logs)
    masses = np.exp(np.array(logs) - top)
    return np.array(rows), masses / masses.sum(), top + math.log(masses.sum())


def check(posterior, rows, masses, evidence, alpha):
    assert abs(posterior.log_evidence - evidence) < 1e-9
    numbers, probabilities = posterior.total
    for n, p in zip(numbers, probabilities, strict=True):
        assert abs(p - masses[rows.sum(axis=1) == n].sum()) < 1e-10
    concentration = np.sum(alpha)
    weights = (rows + alpha) / (rows.sum(axis=1) + concentration)[:, None]
    mean = masses @ weights
    spread = weights * (1 - weights) / (rows.sum(axis=1) + concentration + 1)[:, None]
    assert np.abs(posterior.mean - mean).max() < 1e-10
    assert np.abs(posterior.sd**2 - masses @ (spread + (weights - mean) ** 2)).max() < 1e-10
    assert np.abs(posterior.counts.mean - masses @ rows).max() < 1e-9
    assert np.abs(posterior.counts.covariance - np.cov(rows.T, aweights=masses, ddof=0)).max() < 1e-8
    for k in range(rows.shape[1]):
        values, found = posterior.counts.pmf(k)
        for value, p in zip(values, found, strict=True):
            assert abs(p - masses[rows[:, k] == value].sum()) < 1e-10


MECHANISMS = {
    "discrete Laplace": (
        lambda adjacency: sdp.DiscreteLaplaceMechanism(scale=1.5, sensitivity=2, adjacency=adjacency),
        [5, -2, 4],
        cellwise(discrete_laplace(1.5)),
    ),
    "discrete Gaussian": (
        lambda adjacency: sdp.DiscreteGaussianMechanism(sigma=2, sensitivity=2**0.5, adjacency=adjacency),
        [5, -2, 4],
        cellwise(discrete_gaussian(2.0)),
    ),
    "Laplace": (
        lambda adjacency: sdp.LaplaceMechanism(scale=1.5, sensitivity=2, resolution=0.25, adjacency=adjacency),
        [5.25, -2.0, 4.5],
        cellwise(discrete_laplace(1.5, 0.25)),
    ),
    "Gaussian": (
        lambda adjacency: sdp.GaussianMechanism(sigma=2.0, sensitivity=2**0.5, resolution=0.125, adjacency=adjacency),
        [5.25, -2.0, 4.5],
        cellwise(discrete_gaussian(2.0, 0.125)),
    ),
    "Dirichlet": (
        lambda adjacency: sdp.DirichletMechanism(scale=0.7, prior=[1.5, 2.0, 0.5], adjacency=adjacency),
        [0.25, 2.0**-32, 0.75 - 2.0**-32],
        dirichlet(0.7, [1.5, 2.0, 0.5]),
    ),
    "urn": (
        lambda adjacency: sdp.DirichletMechanism(scale=0.7, prior=[1.5, 2.0, 0.5], adjacency=adjacency),
        [6, 0, 9],
        urn(0.7, [1.5, 2.0, 0.5]),
    ),
}
ALPHAS = [[1.0, 1.0, 1.0], [0.01, 2.0, 30.0]]


@pytest.mark.parametrize("alpha", ALPHAS, ids=["flat", "uneven"])
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_agrees_with_brute_force(name, adjacency, alpha):
    make, release, law = MECHANISMS[name]
    known = make(adjacency).infer(release, prior=alpha, total=N)
    check(known, *brute([(law, release)], alpha, {N: 1.0}), alpha)
    private = make(adjacency).infer(release, prior=alpha, total=Total.between(5, 8))
    check(private, *brute([(law, release)], alpha, dict.fromkeys(range(5, 9), 0.25)), alpha)


@pytest.mark.parametrize("alpha", ALPHAS, ids=["flat", "uneven"])
def test_zero_sum_noise_agrees_with_brute_force(alpha):
    mechanism = sdp.SumPreservingLaplaceMechanism(scale=1.5, dimension=3)
    release = [7, -2, 4]
    check(mechanism.infer(release, prior=alpha), *brute([(zero_sum(1.5), release)], alpha, {N: 1.0}), alpha)


def test_four_cells_and_twelve_records():
    alpha, release = [0.5, 1.0, 2.0, 0.25], [4, 1, 9, -3]
    mechanism = sdp.DiscreteLaplaceMechanism(scale=3, sensitivity=2)
    check(
        mechanism.infer(release, prior=alpha, total=12),
        *brute([(cellwise(discrete_laplace(3.0)), release)], alpha, {12: 1.0}),
        alpha,
    )


def test_several_releases_multiply():
    names = ["discrete Laplace", "Dirichlet", "urn", "Gaussian"]
    alpha = [1.0, 0.3, 2.0]
    make, release, _ = MECHANISMS[names[0]]
    posterior = make("replace").infer(release, prior=alpha, total=N)
    for name in names[1:]:
        make, release, _ = MECHANISMS[name]
        posterior = posterior.update(make("replace"), release)
    check(posterior, *brute([MECHANISMS[name][:0:-1] for name in names], alpha, {N: 1.0}), alpha)


def test_a_noisy_total_counts():
    make, release, law = MECHANISMS["discrete Laplace"]
    noise = sdp.DiscreteLaplaceMechanism(scale=1, sensitivity=2)
    posterior = make("add_remove").infer(release, total=(noise, 8))
    rows, masses, evidence = brute(
        [(law, release), (lambda _, x: discrete_laplace(1.0)(8, sum(x)), None)],
        [1.0] * 3,
        dict.fromkeys(range(31), 1.0),
    )
    assert abs(posterior.log_evidence - evidence) < 1e-6
    assert np.abs(posterior.counts.mean - masses @ rows).max() < 1e-6


@pytest.mark.parametrize("name", ["Dirichlet", "urn"])
def test_what_does_not_tell_its_total_takes_a_noisy_or_a_supposed_one(name):
    make, release, law = MECHANISMS[name]
    alpha = [1.0, 0.3, 2.0]
    noise = sdp.DiscreteLaplaceMechanism(scale=0.5, sensitivity=1)
    told = [(law, release), (lambda _, x: discrete_laplace(0.5)(4, sum(x)), None)]
    posterior = make("add_remove").infer(release, prior=alpha, total=(noise, 4))
    # Numbers above 17 have a probability below 1e-11.
    check(posterior, *brute(told, alpha, dict.fromkeys(range(18), 1.0)), alpha)
    mean, size = 1.0, 20.0
    supposed = {
        n: math.exp(math.lgamma(n + size) - math.lgamma(size) - math.lgamma(n + 1))
        * (size / (mean + size)) ** size
        * (mean / (mean + size)) ** n
        for n in range(18)
    }
    posterior = make("add_remove").infer(release, prior=alpha, total=Total.negative_binomial(mean, size))
    check(posterior, *brute([(law, release)], alpha, supposed), alpha)


def test_without_a_prior_of_the_total_a_draw_says_what_one_likes():
    """The likelihood of a large total tends to a constant: the interval is as short as the largest total allows."""
    mechanism = sdp.DirichletMechanism(scale=0.5, prior=2.0, dimension=2, adjacency="add_remove")
    lengths = [
        np.diff(mechanism.infer([0.25, 0.75], total=Total.between(0, most)).interval()[0])[0]
        for most in (10**2, 10**3, 10**4)
    ]
    assert lengths[0] > 2 * lengths[1] > 4 * lengths[2]


def test_the_empirical_prior_is_a_mixture_weighed_by_evidence():
    make, release, law = MECHANISMS["discrete Gaussian"]
    posterior = make("replace").infer(release, prior="empirical", total=N)
    found = dict(zip(*posterior.concentrations, strict=True))
    logs, means = [], []
    sums = 10.0 ** np.arange(-1.0, 5.01, 0.5)
    for concentration in sums:
        alpha = [concentration / 3] * 3
        rows, masses, evidence = brute([(law, release)], alpha, {N: 1.0})
        logs.append(evidence)
        means.append(masses @ (rows + alpha) / (N + concentration))
    # Beyond ten for each of three cells a sum is the less likely before the release.
    weights = np.exp(np.array(logs) - max(logs)) / np.sqrt(1 + sums / 30)
    weights /= weights.sum()
    assert np.abs(posterior.mean - weights @ np.array(means)).max() < 1e-10
    for concentration, weight in zip(sums, weights, strict=True):
        assert any(abs(weight - w) < 1e-10 for c, w in found.items() if math.isclose(c, concentration))


def test_a_floor_cuts_the_prior():
    mechanism = sdp.DirichletMechanism(scale=0.7, prior=1.5, dimension=3, floor=2)
    release = [0.25, 0.25, 0.5]
    posterior = mechanism.infer(release, total=N)
    rows, masses, _ = brute([(dirichlet(0.7, [1.5] * 3), release)], [1.0] * 3, {N: 1.0})
    masses = masses * (rows >= 2).all(axis=1)
    assert np.abs(posterior.counts.mean - masses @ rows / masses.sum()).max() < 1e-10


@pytest.mark.parametrize("kind", ["central", "shortest"])
def test_intervals_of_shares_hold_their_level(kind):
    make, release, law = MECHANISMS["discrete Laplace"]
    alpha = [1.0, 0.3, 2.0]
    posterior = make("replace").infer(release, prior=alpha, total=N)
    rows, masses, _ = brute([(law, release)], alpha, {N: 1.0})
    for k, (low, high) in enumerate(posterior.interval(0.9, kind=kind)):
        below = [
            sum(
                m * float(mpmath.betainc(x + alpha[k], N + sum(alpha) - x - alpha[k], 0, end, regularized=True))
                for x, m in zip(rows[:, k], masses, strict=True)
            )
            for end in (low, high)
        ]
        assert abs(below[1] - below[0] - 0.9) < 1e-8
        if kind == "central":
            assert abs(below[0] - 0.05) < 1e-8
        assert np.abs(posterior.shares.cdf(k, [low, high]) - below).max() < 1e-9


def test_intervals_of_counts_hold_at_least_their_level_and_are_shortest():
    make, release, law = MECHANISMS["discrete Laplace"]
    posterior = make("replace").infer(release, total=N)
    rows, masses, _ = brute([(law, release)], [1.0] * 3, {N: 1.0})
    for kind in ("central", "shortest"):
        for k, (low, high) in enumerate(posterior.counts.interval(0.8, kind=kind)):
            pmf = np.bincount(rows[:, k], masses, minlength=N + 1)
            assert pmf[low : high + 1].sum() >= 0.8 - 1e-9
            runs = [b - a for a in range(N + 1) for b in range(a, N + 1) if pmf[a : b + 1].sum() >= 0.8 + 1e-9]
            if kind == "shortest":
                assert high - low <= min(runs)
            else:
                assert pmf[:low].sum() <= 0.1 + 1e-9
                assert pmf[high + 1 :].sum() <= 0.1 + 1e-9


def test_rows_are_their_own_posteriors():
    mechanism = sdp.DiscreteLaplaceMechanism(scale=1.5, sensitivity=2)
    release = np.array([[5, -2, 4], [0, 1, 0], [9, 9, 2]])
    table = mechanism.infer(release, total=[9, 2, 20], prior=[1.0, 0.5, 2.0])
    for i, row in enumerate(release):
        alone = mechanism.infer(row, total=[9, 2, 20][i], prior=[1.0, 0.5, 2.0])
        for posterior in (alone, table[i]):
            assert np.abs(table.mean[i] - posterior.mean).max() < 1e-12
            assert np.abs(table.sd[i] - posterior.sd).max() < 1e-12
            assert np.abs(table.counts.mean[i] - posterior.counts.mean).max() < 1e-10
            assert np.abs(table.interval(0.8)[i] - posterior.interval(0.8)).max() < 1e-8
            assert (table.counts.interval(0.8)[i] == posterior.counts.interval(0.8)).all()
            assert abs(table.log_evidence[i] - posterior.log_evidence) < 1e-9


def test_intervals_of_rows_come_with_and_without_those_of_shares():
    """Counts alone are quicker, and the weights that rows share are found once: nothing else may differ."""
    mechanism, release = sdp.DiscreteLaplaceMechanism(scale=2, sensitivity=2), [[5, -2, 4], [9, 0, 1], [1, 0, 0]]
    for options in ({"prior": "empirical"}, {"prior": 1.0}, {"total": [7, 10, 2]}):
        alone, after = (mechanism.infer(release, **options) for _ in range(2))
        shares = after.interval(0.9)
        assert alone.counts.interval(0.9).tolist() == after.counts.interval(0.9).tolist()
        np.testing.assert_array_equal(alone.counts.mean, after.counts.mean)
        np.testing.assert_array_equal(alone.interval(0.9), shares)
        for row, ends in enumerate(shares):
            np.testing.assert_allclose(after[row].interval(0.9), ends, atol=1e-9)
            assert after[row].counts.interval(0.9).tolist() == alone.counts.interval(0.9)[row].tolist()


def test_rows_share_the_concentration():
    mechanism = sdp.DiscreteLaplaceMechanism(scale=1.5, sensitivity=2)
    release = np.array([[5, -2, 4], [0, 1, 0], [6, 1, 2]])
    table = mechanism.infer(release, total=[9, 2, 9], prior="empirical")
    logs = []
    for concentration in table.concentrations[0]:
        prior = concentration / 3
        logs.append(
            sum(mechanism.infer(y, total=n, prior=prior).log_evidence for y, n in zip(release, [9, 2, 9], strict=True))
        )
    weights = np.exp(np.array(logs) - max(logs)) / np.sqrt(1 + table.concentrations[0] / 30)
    assert np.abs(table.concentrations[1] - weights / weights.sum()).max() < 1e-9
    assert np.abs(table[1].mean - table.mean[1]).max() < 1e-9


@pytest.mark.parametrize("options", [{}, {"sensitivity": "smooth", "delta": 1e-6, "calibration": "proved"}])
def test_the_hellinger_mechanism_is_inferred_by_its_own_probabilities(options):
    mechanism = sdp.HellingerMechanism([1.0, 0.5, 2.0], N, 1.0, **options)
    released = sdp.Posterior([4.0, 0.5, 8.0])
    posterior = mechanism.infer(released, prior=[1.0, 1.0, 3.0])
    candidates = mechanism.candidates()
    place = int(np.flatnonzero((candidates == [3, 0, 6]).all(axis=1))[0])
    log_law = {tuple(x): math.log(mechanism.probabilities(x)[place]) for x in candidates.tolist()}
    check(posterior, *brute([(lambda _, x: log_law[tuple(x)], None)], [1.0, 1.0, 3.0], {N: 1.0}), [1.0, 1.0, 3.0])
    draws = posterior.counts.sample(4000, rng=1)
    # Five standard errors.
    assert np.all(np.abs(draws.mean(axis=0) - posterior.counts.mean) < 5 * posterior.counts.sd / np.sqrt(4000))
    with pytest.raises(sdp.InvalidParameterError, match="update"):
        posterior.update(mechanism, released)


def test_too_many_data_sets_are_refused():
    mechanism = sdp.HellingerMechanism([1.0] * 4, 1000, 1.0)
    with pytest.raises(sdp.NotAffordableError, match="noisy counts"):
        mechanism.infer(sdp.Posterior([251.0] * 4)).log_evidence  # noqa: B018


def test_draws_and_predictions_have_their_moments():
    mechanism = sdp.DiscreteLaplaceMechanism(scale=3, sensitivity=2)
    posterior = mechanism.infer([40, 3, -2], total=Total.between(30, 60), prior=[1.0, 0.2, 0.2])
    size = 20_000
    for draws, mean, sd in (
        (posterior.sample(size, rng=2), posterior.mean, posterior.sd),
        (posterior.counts.sample(size, rng=3), posterior.counts.mean, posterior.counts.sd),
    ):
        # Five standard errors of means: false alarms below 1e-6 each; of deviations 10 %.
        assert np.all(np.abs(draws.mean(axis=0) - mean) < 5 * sd / np.sqrt(size))
        assert np.abs(draws.std(axis=0) / sd - 1).max() < 0.1
    future = posterior.predict(50, size=5000, rng=4)
    assert np.all(future.sum(axis=1) == 50)
    assert np.abs(future.mean(axis=0) / 50 - posterior.mean).max() < 0.01
    again = posterior.sample(3, rng=2)
    assert np.array_equal(again, posterior.sample(3, rng=2))


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"release": [1, 2], "prior": 0}, "prior"),
        ({"release": [1, 2], "prior": "other"}, "prior"),
        ({"release": [1, 2], "total": 4}, "total"),
        ({"release": [-12, 8]}, "sum of at least zero"),
        ({"release": [1.5, 2]}, "release"),
        ({"release": [1, 2, 3]}, "release"),
        ({"release": [1, 2], "centre": [0.5, 0.5]}, "centre"),
    ],
)
def test_errors_name_the_argument(arguments, message):
    mechanism = sdp.SumPreservingLaplaceMechanism(scale=2, dimension=2)
    with pytest.raises(sdp.InvalidParameterError, match=message):
        mechanism.infer(**arguments)


def test_tables_are_shown_in_notebooks_up_to_their_beginning():
    mechanism = sdp.SumPreservingLaplaceMechanism(scale=2, dimension=3, rows="independent")
    small, large = (mechanism.infer(np.tile([5, 3, 2], (rows, 1)))._repr_html_() for rows in (2, 30))
    assert small.count("<td>") == 6
    assert "first" not in small
    assert large.count("<td>") == 60
    assert "the first 20 x 3 of them" in large
    with pytest.raises(sdp.InvalidParameterError, match="cell must be one of the 3"):
        mechanism.infer([5, 3, 2]).counts.pmf(3)


def test_a_dirichlet_draw_needs_a_total_and_its_grid():
    mechanism = sdp.DirichletMechanism(scale=0.5, prior=2.0, dimension=2)
    with pytest.raises(
        sdp.InvalidParameterError, match=r"Total.between.*Total.negative_binomial.*\(mechanism, value\)"
    ):
        mechanism.infer([0.25, 0.75])
    with pytest.raises(sdp.InvalidParameterError, match="a pair with SumPreserving"):
        mechanism.infer([0.25, 0.75], total=(sdp.SumPreservingLaplaceMechanism(scale=2, dimension=2), 10))
    of_rows = mechanism.infer([[0.25, 0.75], [0.5, 0.5]], total=(20, 10))
    assert of_rows.total_mean.tolist() == [20, 10]
    with pytest.raises(sdp.InvalidParameterError, match="total"):
        mechanism.infer([0.25, 0.75], total=Total.flat()).mean  # noqa: B018
    with pytest.raises(sdp.InvalidParameterError, match="resolution"):
        mechanism.infer([1 / 3, 2 / 3], total=10)


def test_many_categories_are_shown_from_the_largest_on():
    counts = np.arange(80)
    page = sdp.DiscreteLaplaceMechanism.for_counts(50.0).infer(counts, total=int(counts.sum()))._repr_html_()
    assert page.index('<th scope="row">79</th>') < page.index('<th scope="row">60</th>')
    assert (
        "The 50 largest of 80; the 30 others have 14.35\u00a0%." in page
    )  # 435 records of 3160, one more each of the prior
    draw = sdp.Posterior(1.0 + counts)._repr_html_()
    assert "The 50 largest of 80; the 30 others have 14.35\u00a0%." in draw  # 465 of 3240


def test_posteriors_show_themselves():
    posterior = sdp.SumPreservingLaplaceMechanism(scale=2, dimension=2).infer([12, 8])
    assert "<table>" in posterior._repr_html_()
    assert "\u00a0%</td>" in posterior._repr_html_()
    assert "HistogramPosterior(mean=" in repr(posterior)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(__import__("sys").modules, "arviz", None)
        with pytest.raises(ImportError, match=r"simplexdp\[arviz\]"):
            posterior.to_arviz()


def test_projected_counts_are_refused_and_others_are_not():
    noise = sdp.SumPreservingLaplaceMechanism.for_counts(1.0, dimension=3)
    projected = sdp.NoisyPosteriorMechanism([1, 1, 1], 60, noise)
    baseline = sdp.LaplacePosteriorMechanism([1, 1, 1], 60, 1.0)
    for mechanism in (projected, baseline):
        with pytest.raises(sdp.exceptions.NotAffordableError, match="before it was made consistent"):
            mechanism.infer(mechanism.release([10, 20, 30]))
    raw = sdp.LaplacePosteriorMechanism([0.3, 1, 2], 60, 1.0, consistent=False)
    released = raw.release_parameters([10, 20, 30], SeededRng(3))
    plain = sdp.LaplaceMechanism.calibrated(epsilon=1.0, sensitivity=2, changed=1, resolution=raw._noise.resolution)
    wanted = plain.infer(np.round((released - [0.3, 1, 2]) * 2**20) / 2**20, prior=[0.3, 1, 2], total=60)
    np.testing.assert_allclose(raw.infer(released).mean, wanted.mean, rtol=1e-6)
