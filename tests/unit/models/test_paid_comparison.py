"""A comparison of a fitted model with the records that is paid for."""

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import simplexdp as sdp
from simplexdp.exceptions import InvalidDataError, InvalidParameterError
from simplexdp.frames import count_table
from simplexdp.models import PrivateSynthesizer
from simplexdp.models.paid_comparison import UNITS, PlannedComparison, records_apart
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
        return 0.5 * np.abs(true / true.sum() - model.marginal(list(group))).sum()

    return [of([name]) for name in SIZES], [of(pair) for pair in itertools.combinations(SIZES, 2)]


def seen_of(found):
    return np.array([[each.one_way, each.pairs, each.largest_pair] for each in found])


@pytest.mark.parametrize("n_records", [N, N // 4])
def test_it_tells_the_distances_with_noise(model, n_records):
    """The number of records is that of those looked at, whatever the model was fitted to."""
    looked_at = {name: values[:n_records] for name, values in people().items()}
    one_way, pairs = distances(model, looked_at)
    expected = [np.mean(one_way), np.mean(pairs), np.max(pairs)]
    found = [model.compare(looked_at, epsilon=1.0, random_state=SeededRng(seed)) for seed in range(40)]
    # Noise of 24/7 records, by the price: its mean over 40 has a standard deviation of 0.8 records.
    np.testing.assert_allclose(seen_of(found).mean(0), expected, atol=6 * 0.8 / n_records)
    margins = np.array([each.margins for each in found])
    assert np.all(margins < 15 / n_records)
    inside = np.abs(seen_of(found) - expected) <= margins
    # 0.95 of 120; fewer than 98 are seen with a chance below 1e-6.
    assert inside.sum() >= 98
    assert abs(np.mean([each.n_records for each in found]) - n_records) < 6 * 8 * 2**0.5 / 40**0.5


def neighbours(generator, adjacency, max_rows):
    """Tables of two columns and their pair, with and without the records of a person, or with others of that person."""

    def add(tables, n_rows):
        for i, j in zip(*generator.integers((3, 2), size=(n_rows, 2)).T, strict=True):
            for table, cell in zip(tables, (i, j, 2 * i + j), strict=True):
                table[cell] += 1

    base = [np.zeros(size, dtype=np.int64) for size in (3, 2, 6)]
    add(base, int(generator.integers(0, 12)))
    first, second = ([table.copy() for table in base] for _ in range(2))
    if adjacency == "replace":
        add(first, 1 if max_rows == 1 else int(generator.integers(1, max_rows + 1)))
    add(second, 1 if max_rows == 1 else int(generator.integers(1, max_rows + 1)))
    return first, second


class Silent:
    """Notes what it is given, and has no noise."""

    def __init__(self, mechanism):
        self.scale, self.sensitivity, self.heard = mechanism.scale, mechanism.sensitivity, []

    def release(self, number, rng):
        self.heard.append(number)
        return number


@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
@pytest.mark.parametrize("max_rows", [1, 3])
def test_a_person_changes_a_number_by_no_more_than_the_noise_is_for(adjacency, max_rows):
    generator = np.random.default_rng(3)
    planned = PlannedComparison.of(2, 1.0, adjacency, max_rows)
    assert (planned.total is None) == (adjacency == "replace" and max_rows == 1)
    most = 0
    for _ in range(400):
        # Shares of 0 too: they are moved most.
        shares = [generator.dirichlet(np.full(size, 0.2)) for size in (3, 2, 6)]
        heard = []
        for tables in neighbours(generator, adjacency, max_rows):
            distance = Silent(planned.distance)
            total = None if planned.total is None else Silent(planned.total)
            replace(planned, distance=distance, total=total).release(tables, shares, None)
            heard.append(distance.heard + ([] if total is None else total.heard))
        apart = np.abs(np.diff(np.array(heard), axis=0)).max()
        assert apart <= planned.distance.sensitivity == UNITS
        most = max(most, apart)
    # As little noise as that.
    assert most > 0.9 * UNITS


def test_the_distance_is_exact():
    generator = np.random.default_rng(5)
    for n_records in (0, 1, 7, 10**6, 10**12):
        for _ in range(20):
            shares = generator.dirichlet(np.full(9, 0.1))
            # Tables that have the shares but for rounding are those where doubles cannot tell which cells have more.
            table = np.rint(shares * n_records).astype(np.int64)
            records, of_all = records_apart(table, shares)
            parts = [round(share * 2**52) for share in shares.tolist()]
            n, whole = int(table.sum()), sum(parts)
            expected = sum(
                abs(Fraction(count) - Fraction(n * part, whole))
                for count, part in zip(table.tolist(), parts, strict=True)
            )
            assert Fraction(records, of_all) == expected / 2


@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
@pytest.mark.parametrize(
    ("n", "epsilon", "max_rows", "units"), [(2000, 1.0, 1, 1), (40, 0.5, 3, 1), (500, 1.0, 12, 12)]
)
@pytest.mark.parametrize("close", [True, False])
def test_margins_hold(adjacency, n, epsilon, max_rows, units, close):
    """500 releases, each number on its own: fewer than 0.918 of them are seen with a chance of 1e-3; fixed seeds."""
    generator = np.random.default_rng(8)
    truth = [generator.dirichlet(np.ones(size)) for size in (3, 2, 6)]
    counts = [np.diff(np.rint(np.concatenate(([0.0], np.cumsum(each))) * n)).astype(np.int64) for each in truth]
    shares = [table / n for table in counts] if close else [generator.dirichlet(np.ones(size)) for size in (3, 2, 6)]
    apart = [0.5 * np.abs(table / n - share).sum() for table, share in zip(counts, shares, strict=True)]
    planned = PlannedComparison.of(2, epsilon, adjacency, max_rows)
    in_units = [table * units for table in counts]
    found = [planned.release(in_units, shares, SeededRng(seed), units) for seed in range(500)]
    expected = [np.mean(apart[:2]), apart[2], apart[2]]
    held = np.abs(seen_of(found) - expected) <= np.array([each.margins for each in found])
    assert np.all(held.mean(0) >= 0.918)
    if adjacency == "replace" and max_rows == 1:
        assert {each.n_records for each in found} == {float(n)}


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
