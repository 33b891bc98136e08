"""The numbers of the [HP], [HA] and [HN] figures, against enumeration from the definitions with SciPy."""

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import integrate
from scipy.special import gammaln

from simplexdp.reproduce.catalogue import figure
from simplexdp.reproduce.figure import Settings, Table
from simplexdp.reproduce.hn.accuracy import balanced
from simplexdp.reproduce.hn.figure_3 import PRINTED_GLOBAL, PRINTED_SMOOTHNESS
from simplexdp.reproduce.posteriors import hellinger, law, printed_smoothness, smooth_over_l1

EPSILON, DELTA = 0.8, 1e-8
Floats = NDArray[np.float64]


def distance(a: Floats, b: Floats) -> Floats:
    """Return the Hellinger distance from log-gamma differences, row by row; good to 1e-7 for such small counts."""

    def log_beta(v: Floats) -> Floats:
        return np.asarray(gammaln(v).sum(axis=-1) - gammaln(v.sum(axis=-1)))

    log_coefficient = log_beta((a + b) / 2) - (log_beta(a) + log_beta(b)) / 2
    return np.sqrt(np.maximum(0.0, -np.expm1(log_coefficient)))


class Definitions:
    """Sensitivities and expected errors by search over all data sets."""

    def __init__(self, prior: tuple[float, ...], n: int) -> None:
        m = len(prior)
        self.prior = np.array(prior)
        self.data = np.array([k for k in itertools.product(range(n + 1), repeat=m) if sum(k) == n])
        self.records = np.abs(self.data[:, None] - self.data[None]).sum(axis=-1) // 2
        self.distances = distance(self.prior + self.data[:, None], self.prior + self.data[None])
        self.local = np.where(self.records == 1, self.distances, 0.0).max(axis=1)
        self.smoothness = math.log1p(
            -EPSILON / (2 * math.log(DELTA / (2 * len(self.data)) * math.exp(-EPSILON / 2) * 2))
        )

    def place(self, x: tuple[int, ...]) -> int:
        """Return where the data set stands."""
        return int(np.flatnonzero((self.data == x).all(axis=1))[0])

    def smooth(self, x: tuple[int, ...], smoothness: float) -> float:
        """Return the smooth sensitivity."""
        return float((self.local * np.exp(-smoothness * self.records[self.place(x)])).max())

    def expected(self, x: tuple[int, ...], sensitivity: float, halves: float = 2.0) -> float:
        """Return the mean error of the exponential mechanism."""
        h = self.distances[self.place(x)]
        weights = np.exp(-EPSILON * h / (halves * sensitivity))
        return float(weights @ h / weights.sum())


CASES = [((1.0, 1.0), (3, 17)), ((7.0, 4.0), (10, 10)), ((1.0, 1.0, 1.0), (2, 3, 5)), ((7.0, 4.0, 5.0), (4, 4, 4))]


@pytest.mark.parametrize(("prior", "x"), CASES)
def test_expected_errors_are_those_of_the_definitions(prior: tuple[float, ...], x: tuple[int, ...]) -> None:
    truth = Definitions(prior, sum(x))
    smoothness = hellinger("smooth", prior, sum(x), EPSILON, DELTA).smoothness
    assert smoothness is not None
    local, whole = float(truth.local[truth.place(x)]), float(truth.local.max())
    wanted = {
        "global": truth.expected(x, whole),
        "local": truth.expected(x, local),
        "smooth": truth.expected(x, truth.smooth(x, smoothness)),
        "smooth_l1": truth.expected(x, truth.smooth(x, 2 * smoothness)),
        "smooth_printed": truth.expected(x, truth.smooth(x, printed_smoothness(sum(x), EPSILON))),
        "printed": truth.expected(x, local, halves=1.0),
    }
    found = {key: law(key, prior, x, EPSILON, DELTA) for key in wanted}
    assert {key: each.mean for key, each in found.items()} == pytest.approx(wanted, rel=1e-6)
    assert all(each.standard_error == 0 for each in found.values())


@pytest.mark.parametrize(("prior", "x"), CASES)
def test_the_papers_smoothness_is_their_formula(prior: tuple[float, ...], x: tuple[int, ...]) -> None:
    found = hellinger("smooth", prior, sum(x), EPSILON, DELTA).smoothness
    assert found == pytest.approx(Definitions(prior, sum(x)).smoothness, rel=1e-9)


@pytest.mark.parametrize(("key", "scale"), [("laplace", 2.0), ("laplace_1", 1.0)])
@pytest.mark.parametrize("x", [(3, 17), (0, 9), (40, 60)])
def test_laplace_noise_on_two_categories_is_integrated(key: str, scale: float, x: tuple[int, int]) -> None:
    prior, n, b = np.array([1.0, 2.0]), sum(x), scale / EPSILON

    def error(noise: float) -> float:
        first = min(max(x[0] + noise, 0.0), float(n))
        return float(distance(prior + np.array([first, n - first]), prior + np.array(x)))

    inside = sum(
        integrate.quad(lambda t: error(t) * math.exp(-abs(t) / b) / (2 * b), low, high, epsabs=1e-11, limit=200)[0]
        for low, high in ((-x[0], 0.0), (0.0, n - x[0]))
    )
    clipped = sum(error(end) * math.exp(-abs(end) / b) / 2 for end in (-x[0], n - x[0]))
    assert law(key, prior, x, EPSILON, DELTA).mean == pytest.approx(inside + clipped, rel=1e-6)


def test_sum_preserving_noise_is_enumerated() -> None:
    prior, x, q = np.ones(2), np.array([6, 14]), math.exp(-EPSILON)
    shifts = np.arange(-200, 201)
    weights = q ** np.abs(shifts)
    first = np.clip(x[0] + shifts, 0, 20)
    errors = distance(prior + np.stack([first, 20 - first], axis=1), prior + x)
    found = law("sum_preserving", prior, x, EPSILON, DELTA)
    assert found.mean == pytest.approx(float(weights @ errors / weights.sum()), rel=1e-6)
    assert found.standard_error == 0


def test_truncation_in_turn_agrees_with_simulation_in_numpy() -> None:
    # 40000 draws each; six standard errors, a false alarm of about 2e-9.
    prior, x, n, size = np.ones(3), np.array([5, 5, 5]), 15, 40_000
    noisy = x + np.random.default_rng(11).laplace(0, 2 / EPSILON, (size, 3))
    first = np.clip(noisy[:, 0], 0, n)
    second = np.minimum(np.maximum(noisy[:, 1], 0), n - first)
    errors = distance(prior + np.stack([first, second, n - first - second], axis=1), prior + x)
    found = law("laplace_truncated", prior, x, EPSILON, DELTA, samples=size, seed=3)
    spread = math.hypot(float(errors.std()) / size**0.5, found.standard_error)
    assert abs(found.mean - float(errors.mean())) < 6 * spread
    assert found.standard_error == pytest.approx(float(errors.std()) / size**0.5, rel=0.05)


def test_sampled_means_agree_with_enumeration(monkeypatch: pytest.MonkeyPatch) -> None:
    # 20000 draws; six standard errors, a false alarm of about 2e-9.
    prior, x = (1.0, 1.0, 1.0), (4, 6, 10)
    exact = law("smooth", prior, x, EPSILON, DELTA)
    monkeypatch.setattr("simplexdp.reproduce.posteriors.ENUMERATED", 0)
    drawn = law("smooth", prior, x, EPSILON, DELTA, samples=20_000, seed=5)
    assert drawn.standard_error > 0
    assert abs(drawn.mean - exact.mean) < 6 * drawn.standard_error


def test_sensitivities_of_the_gap_are_those_of_a_search() -> None:
    truth = Definitions((1.0, 1.0), 100)
    table = figure("hp-figure-1").compute(Settings(fast=True))["data"]
    smoothness = hellinger("smooth", (1.0, 1.0), 100, EPSILON, DELTA).smoothness
    assert smoothness is not None
    for name, ones, value in zip(table["sensitivity"], table["ones"], table["value"], strict=True):
        place = truth.place((ones, 100 - ones))
        wanted = {
            "global": truth.local.max(),
            "local": truth.local[place],
            "smooth": truth.smooth((ones, 100 - ones), smoothness),
        }[name]
        assert value == pytest.approx(float(wanted), rel=1e-6)


def test_smooth_bound_over_l1_distance_reaches_the_local_sensitivity_at_650_records() -> None:
    # The search over all data sets says so too: 640 records are too few, 650 are enough.
    for n, reached in ((640, False), (650, True)):
        counts = np.arange(n + 1.0)
        steps = distance(1 + np.stack([counts[:-1], n - counts[:-1]], 1), 1 + np.stack([counts[1:], n - counts[1:]], 1))
        local = np.maximum(np.append(steps, 0.0), np.append(0.0, steps))
        mechanism = hellinger("smooth", (1.0, 1.0), n, EPSILON, DELTA)
        l1 = 2 * np.abs(counts - n // 10)
        searched = float((local * np.exp(-(mechanism.smoothness or 0.0) * l1)).max())
        assert smooth_over_l1(mechanism, [n // 10, 9 * n // 10]) == pytest.approx(searched, rel=1e-6)
        assert bool(searched <= local[n // 10] * (1 + 1e-12)) is reached


def test_captions_come_from_a_neighbour_that_does_not_exist_and_n_candidates() -> None:
    impossible = float(distance(np.array([7.0, 4.0, 5.0]), np.array([8.0, 3.0, 5.0])))
    assert impossible == pytest.approx(PRINTED_GLOBAL, abs=5e-13)
    for n, printed in PRINTED_SMOOTHNESS.items():
        assert math.log(1 - 0.8 / (2 * math.log(0.8 / (2 * n)))) == pytest.approx(printed, abs=5e-13)
    # Over all data sets the largest local sensitivity is a smaller one, and the one that the library uses.
    largest = Definitions((7.0, 4.0, 5.0), 12).local.max()
    assert largest < 0.98 * PRINTED_GLOBAL
    used = hellinger("global", (7.0, 4.0, 5.0), 12, EPSILON, DELTA).sensitivity_at([12, 0, 0])
    assert largest == pytest.approx(used, rel=1e-9)


def test_local_sensitivity_needs_no_search() -> None:
    table = figure("hn-figure-1").compute(Settings(fast=True))["curves"]
    x, prior = np.array([6, 9, 15]), np.ones(3)
    rows = table.where(data=str((6, 9, 15)))
    assert len(rows) == math.comb(32, 2)
    truth = Definitions((1.0, 1.0, 1.0), 30)
    here = truth.place((6, 9, 15))
    others = np.flatnonzero(truth.records[here] == 1)
    wanted = np.abs(truth.distances[here] - truth.distances[others]).max(axis=0)
    np.testing.assert_allclose(rows["largest_change"], wanted, atol=1e-7)
    assert max(rows["largest_change"]) == pytest.approx(
        float(distance(prior + x, prior + np.array([5, 10, 15]))), rel=1e-6
    )


def test_local_sensitivity_costs_more_than_its_nominal_epsilon_with_three_categories() -> None:
    truth = Definitions((7.0, 4.0, 5.0), 65)
    weights = np.exp(-EPSILON * truth.distances / (2 * truth.local[:, None]))
    p = weights / weights.sum(axis=1, keepdims=True)
    pairs = zip(*np.nonzero(truth.records == 1), strict=True)
    worst = max(float(np.maximum(p[a] - math.exp(EPSILON) * p[b], 0).sum()) for a, b in pairs)
    assert worst > 7e-5
    certified = hellinger("local", (7.0, 4.0, 5.0), 65, EPSILON, DELTA).certify().privacy
    assert certified.delta(EPSILON) == pytest.approx(worst, rel=1e-5)
    assert float(certified.epsilon(DELTA)) > EPSILON


def test_balanced_counts() -> None:
    assert balanced(100, 3) == [33, 33, 34]
    assert balanced(120, 3) == [40, 40, 40]
    assert sum(balanced(7, 4)) == 7


@pytest.mark.parametrize("name", ["hn-figure-5", "hn-figure-6"])
def test_laws_add_up(name: str) -> None:
    tables = figure(name).compute(Settings(fast=True))
    law_table: Table = tables["law"]
    for key in tables["errors"]["mechanism"]:
        rows = law_table.where(mechanism=key)
        assert sum(rows["probability"]) == pytest.approx(1.0, abs=1e-9)
        mean = tables["errors"].where(mechanism=key)["mean"][0]
        low = sum(a * p for a, p in zip(rows["from"], rows["probability"], strict=True))
        high = sum(b * p for b, p in zip(rows["to"], rows["probability"], strict=True))
        assert low - 1e-9 <= mean <= high + 1e-9
