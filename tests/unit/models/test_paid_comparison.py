"""A comparison of a fitted model with the records that is paid for."""

import itertools

import numpy as np
import pytest

import simplexdp as sdp
from simplexdp.exceptions import InvalidDataError, InvalidParameterError
from simplexdp.frames import count_table
from simplexdp.models import PrivateSynthesizer
from simplexdp.models.paid_comparison import UNITS, PlannedComparison
from simplexdp.testing import SeededRng

pytestmark = pytest.mark.filterwarnings("ignore::simplexdp.exceptions.InsecureRandomnessWarning")

N = 2000
SIZES = {"a": 3, "b": 2, "c": 4}


def people():
    codes = np.arange(N) % 12
    return {"a": codes % 3, "b": (codes < 5).astype(np.int64), "c": codes // 3}


@pytest.fixture(scope="module")
def model():
    return PrivateSynthesizer(1.0, 1e-6, domains=SIZES, components=16, random_state=SeededRng(1)).fit(people())


def distances(model, frame):
    def of(group):
        true = count_table(frame, list(group), SIZES)
        return 0.5 * np.abs(true - model.n_records_ * model.marginal(list(group))).sum() / model.n_records_

    return [of([name]) for name in SIZES], [of(pair) for pair in itertools.combinations(SIZES, 2)]


def test_it_tells_the_distances_with_noise(model):
    one_way, pairs = distances(model, people())
    expected = [np.mean(one_way), np.mean(pairs), np.max(pairs)]
    found = [model.compare(people(), epsilon=1.0, random_state=SeededRng(seed)) for seed in range(40)]
    seen = np.array([[each.one_way, each.pairs, each.largest_pair] for each in found])
    # Noise of three records, by the price: its mean over 40 has a standard deviation of 0.7 records.
    np.testing.assert_allclose(seen.mean(0), expected, atol=6 * 0.7 / N + 1e-3)
    margins = np.array(found[0].margins)
    assert np.all(margins < 12 / N)
    inside = np.abs(seen - expected) <= margins + 1e-3
    # 0.95 of 120; fewer than 98 are seen with a chance below 1e-6.
    assert inside.sum() >= 98


def test_a_record_changes_a_distance_by_no_more_than_the_noise_is_for():
    generator = np.random.default_rng(3)
    shares = [generator.dirichlet(np.ones(size)) for size in (3, 2, 6)]

    class Silent:
        def __init__(self, mechanism):
            self.mechanism, self.heard = mechanism, []

        def release(self, number, rng):
            self.heard.append(number)
            return 0

        def interval(self, value, level):
            return self.mechanism.interval(value, level)

    for adjacency in ("add_remove", "replace"):
        planned = PlannedComparison.of(2, 1, 1.0, adjacency)
        for _ in range(200):
            record, other = ((i, j, 2 * i + j) for i, j in zip(*generator.integers((3, 2), size=(2, 2)).T, strict=True))
            counts = [generator.integers(0, 4, size) for size in (3, 2, 6)]
            near = [table.copy() for table in counts]
            for table, first, second in zip(near, record, other, strict=True):
                table[first] += 1
                if adjacency == "replace":
                    table[second] -= 1
            silent = tuple(Silent(mechanism) for mechanism in planned.mechanisms)
            loud = PlannedComparison(2, 1, silent, planned.privacy)
            loud.release(counts, shares, 9.3, None)
            loud.release(near, shares, 9.3, None)
            for each in silent:
                first, second = each.heard
                assert abs(first - second) <= each.mechanism.sensitivity
        # As little noise as that: a table moves by one record, or by two.
        assert planned.mechanisms[1].sensitivity == UNITS * (1 if adjacency == "add_remove" else 2)


def test_it_costs_what_it_says_and_an_accountant_is_asked(model):
    found = model.compare(people(), epsilon=0.3, random_state=SeededRng(1))
    assert found.privacy.adjacency == "add_remove"
    assert 0.3 * (1 - 1e-9) < found.privacy.epsilon(0.0) <= 0.3
    accountant = sdp.Accountant(epsilon=0.2, delta=1e-6, adjacency="add_remove")
    rng = SeededRng(1)
    with pytest.raises(sdp.BudgetExceededError):
        model.compare(people(), epsilon=0.3, accountant=accountant, random_state=rng)
    assert rng.calls == 0


def test_what_does_not_fit_is_refused(model):
    with pytest.raises(InvalidParameterError, match="epsilon"):
        model.compare(people(), epsilon=0.0)
    with pytest.raises(InvalidDataError, match="'b'"):
        model.compare({**people(), "b": np.full(N, 7)}, epsilon=1.0)
