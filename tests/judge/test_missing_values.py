"""What a value that goes missing, or is found, tells, beside what is reported to be paid for.

Of private quantiles by every small column, of synthetic tables by inverse covariances.
"""

import itertools
import math

import numpy as np
import pytest
from test_replaced_records import one_way_precision, precision

import simplexdp as sdp
from simplexdp import _core
from simplexdp.models import PrivateBinner, PrivateSynthesizer
from simplexdp.models.marginal_release import Release
from simplexdp.testing import SeededRng

VALUES = (math.nan, 0.1, 0.5, 0.9)
"""A missing value, and one between any two of the candidates at 0.2, 0.4, 0.6 and 0.8."""

MOST = 5


def log_laws(monkeypatch, counts):
    """Return the law of each private quantile of a column, from what the core is told of it, and the stated epsilon."""
    told = []

    def record(ranks, present, levels, epsilon, rng):
        told.append((ranks.astype(float), present, levels, epsilon))
        return np.zeros(len(levels), dtype=np.uintp)

    column = np.repeat(VALUES, counts)[:, None]
    with monkeypatch.context() as patched:
        patched.setattr(_core, "private_quantiles", record)
        binner = PrivateBinner("private_quantile", n_bins=3, bounds=(0, 1), n_candidates=4, epsilon=1.2, null=True)
        stated = binner.fit(column).epsilon_
    ((ranks, present, levels, epsilon),) = told
    laws = []
    for level in levels:
        weights = np.exp(-0.5 * epsilon * np.abs(ranks - level * present))
        laws.append(np.log(weights / weights.sum()))
    return laws, stated


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_private_quantiles_pay_for_values_that_go_missing(monkeypatch, adjacency):
    cells = [each for each in itertools.product(range(MOST + 1), repeat=4) if 1 <= sum(each) <= MOST]
    known = {counts: log_laws(monkeypatch, counts) for counts in cells}
    worst = worst_missing = 0.0
    for counts, (laws, stated) in known.items():
        for removed, added in itertools.product((None, 0, 1, 2, 3), repeat=2):
            changes = removed is not None, added is not None
            if changes != ((True, True) if adjacency == "replace" else (False, True)):
                continue
            other = list(counts)
            for place, step in ((removed, -1), (added, 1)):
                if place is not None:
                    other[place] += step
            if tuple(other) not in known:
                continue
            there, _ = known[tuple(other)]
            # Draws of one column are independent, so the worst outcome has the worst of each.
            loss = sum(np.abs(one - two).max() for one, two in zip(laws, there, strict=True))
            assert loss <= stated
            worst = max(worst, loss / stated)
            if 0 in (removed, added) and removed != added:
                worst_missing = max(worst_missing, loss / stated)
    assert worst > 0.3
    # A missing record more or less is in no quantile at all.
    assert worst_missing > 0.25 if adjacency == "replace" else worst_missing == 0


def test_without_values_every_candidate_is_as_likely(monkeypatch):
    laws, _ = log_laws(monkeypatch, (3, 0, 0, 0))
    for law in laws:
        np.testing.assert_allclose(np.exp(law), 0.25)


class CountedError(Exception):
    """Carries what is about to be measured."""


def counts_of(monkeypatch, record, adjacency):
    """Return the release that a synthesizer plans, the sizes of its columns, and its tables of one record."""

    def stop(release, sizes, counts, rng):
        raise CountedError(release, sizes, counts)

    frame = {name: np.array([value], dtype=object) for name, value in zip(("age", "pay", "job"), record, strict=True)}
    binner = PrivateBinner("edges", edges={"age": [30.0], "pay": [10.0, 20.0]}, null=True)
    model = PrivateSynthesizer(1.0, 1e-6, domains={"job": ["a", None]}, binner=binner, adjacency=adjacency)
    with monkeypatch.context() as patched:
        patched.setattr(Release, "measure", stop)
        with pytest.raises(CountedError) as caught:
            model.fit(frame)
    return caught.value.args


def shown(difference, sizes, pairs, sigmas):
    """Return mu^2 of a change of all tables."""
    total, start = 0.0, 0
    shapes = [*((size,) for size in sizes), *((sizes[i], sizes[j]) for i, j in pairs)]
    for shape, sigma in zip(shapes, sigmas, strict=True):
        change = difference[start : start + math.prod(shape)]
        start += math.prod(shape)
        inverse = one_way_precision(*shape) if len(shape) == 1 else precision(*shape)
        total += change @ inverse @ change / sigma**2
    assert start == len(difference)
    return total


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_a_synthesizer_pays_for_values_that_go_missing(monkeypatch, adjacency):
    values = list(itertools.product((20, 40, None), (5.0, 15.0, 25.0, float("nan")), ("a", None)))
    found = {record: counts_of(monkeypatch, record, adjacency) for record in values}
    release, sizes, _ = next(iter(found.values()))
    assert list(sizes) == [3, 4, 2]
    tables = {record: counts.astype(float) for record, (_, _, counts) in found.items()}
    assert all(table.sum() == 3 + len(release.pairs) for table in tables.values())
    n_records = 100_000
    cells = np.round(sum(tables.values()) * (n_records / len(tables))).astype(np.int64)
    plan = _core.MarginalPlan(
        list(sizes), list(release.pairs), list(release.weights), (adjacency == "replace", 1), release.mu
    )
    _, total_sigma, _, sigmas = plan.measure(cells, SeededRng(5))
    assert len(sigmas) == 3 + len(release.pairs)
    if adjacency == "replace":
        seen = {
            (one, two): shown(tables[two] - tables[one], sizes, release.pairs, sigmas)
            for one, two in itertools.combinations(values, 2)
        }
    else:
        seen = {
            (one, one): shown(table, sizes, release.pairs, sigmas) + 1 / total_sigma**2 for one, table in tables.items()
        }
    assert max(seen.values()) <= release.mu**2
    assert max(seen.values()) > 0.8 * release.mu**2
    if adjacency == "replace":
        lost = [mu2 for (one, two), mu2 in seen.items() if (one[0] is None) != (two[0] is None)]
        # A level for missing values is a level like any other: going there is among the worst that can happen.
        assert max(lost) == pytest.approx(max(seen.values()))

    # The whole as a Gaussian profile: mu keeps (epsilon, delta).
    def tail(x):
        return 0.5 * math.erfc(x / math.sqrt(2))

    mu = release.mu
    delta = tail(1 / mu - mu / 2) - math.e * tail(1 / mu + mu / 2)
    assert 0.99e-6 < delta <= 1e-6
    assert sdp.PrivacyCurve.gaussian(sigma=1.0, sensitivity=mu, adjacency=adjacency).epsilon(1e-6) <= 1.0
