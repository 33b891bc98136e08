"""Analyses of several tables, combined: the published rules, and coverage by simulation."""

import numpy as np
import pytest
from scipy import stats

import simplexdp as sdp
from simplexdp.inference import combine, synthetic_tables
from simplexdp.testing import SeededRng


def test_the_rules_are_the_published_ones():
    q, u = np.array([0.31, 0.29, 0.36, 0.30]), np.array([1e-4, 2e-4, 1e-4, 3e-4])
    b, within = np.var(q, ddof=1), u.mean()
    data, synthetic = combine(q, u, kind="data"), combine(q, u, kind="synthetic")
    assert float(data.variance) == pytest.approx(within + 1.25 * b, rel=1e-14)
    assert float(data.degrees) == pytest.approx(3 * (1 + within / (1.25 * b)) ** 2, rel=1e-14)
    assert float(synthetic.variance) == pytest.approx(1.25 * b - within, rel=1e-13)
    assert float(synthetic.degrees) == pytest.approx(3 * (1 - within / (1.25 * b)) ** 2, rel=1e-13)
    for found in (data, synthetic):
        law = stats.t(float(found.degrees), loc=q.mean(), scale=float(found.sd))
        np.testing.assert_allclose(found.interval(0.9), law.interval(0.9), rtol=1e-9)


def test_degenerate_tables_have_finite_answers():
    same = combine([0.5, 0.5], [0.0, 0.0], kind="data")
    assert same.interval(0.95).tolist() == [0.5, 0.5]
    alike = combine([[0.5, 0.5], [0.5, 0.6]], [[0.01, 0.01], [0.01, 0.01]], kind="synthetic")
    assert alike.adjusted.tolist() == [True, True]
    assert np.all(alike.variance > 0)
    assert np.isfinite(alike.interval(0.95)).all()
    normal = combine(np.full(3, 0.5), np.full(3, 0.04), kind="data")
    np.testing.assert_allclose(normal.interval(0.95), stats.norm(0.5, 0.2).interval(0.95), rtol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.1], [0.1], "data"), "two tables or more"),
        (([0.1, 0.2], [0.1], "data"), "variances must have the shape"),
        (([0.1, 0.2], [0.1, -0.1], "data"), "must not be negative"),
        (([0.1, 0.2], [0.1, 0.1], "partly"), "kind must be one of"),
        (([0.1, np.nan], [0.1, 0.1], "data"), "estimates must be finite"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    estimates, variances, kind = arguments
    with pytest.raises(sdp.InvalidParameterError, match=message):
        combine(estimates, variances, kind=kind)


def test_tables_are_counts_of_the_data_or_new_records():
    posterior = sdp.SumPreservingLaplaceMechanism(scale=4, dimension=3).infer([60, 30, 10])
    data, new = synthetic_tables(posterior, 7, rng=1), synthetic_tables(posterior, 7, records=55, rng=1)
    assert (data.kind, new.kind, len(data)) == ("data", "synthetic", 7)
    assert set(data.counts.sum(axis=1)) == {100}
    assert set(new.counts.sum(axis=1)) == {55}
    with pytest.raises(sdp.InvalidParameterError, match="each of the 7 tables"):
        new.combine([0.1, 0.2], [0.1, 0.1])
    with pytest.raises(sdp.InvalidParameterError, match="m must be"):
        synthetic_tables(posterior, 1)


@pytest.mark.parametrize(
    ("n", "epsilon", "m", "records"),
    [(100, 0.3, 20, None), (100, 0.3, 100, 100), (1000, 1.0, 20, None), (1000, 1.0, 100, 1000), (30, 1.0, 5, None)],
)
def test_combined_intervals_cover(n, epsilon, m, records, full):
    """A mean score of 95 % intervals, 1000 data sets (10000 with --full): within five standard errors of 95 %."""
    size, score = 10_000 if full else 1000, np.arange(4.0)
    generator, rng = np.random.default_rng(5), SeededRng(5)
    mechanism = sdp.SumPreservingLaplaceMechanism.for_counts(epsilon, dimension=4)
    covered = 0
    for _ in range(size):
        shares = generator.dirichlet(np.ones(4))
        posterior = mechanism.infer(mechanism.release(generator.multinomial(n, shares), rng))
        tables = synthetic_tables(posterior, m, records, rng=int(generator.integers(2**31)))
        sums = tables.counts.sum(axis=1)
        mean = tables.counts @ score / sums
        low, high = tables.combine(mean, (tables.counts @ score**2 / sums - mean**2) / sums).interval(0.95)
        covered += low <= shares @ score <= high
    # Of a mean score the posterior is nearly normal, not quite: one percent beside the standard errors.
    assert abs(covered / size - 0.95) < 0.01 + 5 * np.sqrt(0.95 * 0.05 / size)
