"""Means, quantiles and histograms of numbers: prices that hold, intervals that cover, bad input refused."""

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest

import simplexdp as sdp
from simplexdp import numeric
from simplexdp.numeric.means import HALF
from simplexdp.numeric.tree import Tree

VALUES = np.random.default_rng(0).gamma(2.0, 10.0, 800)
BOUNDS = (0, 100)
PEOPLE = {
    "person": np.arange(800) // 3,
    "ward": np.array(["eye", "ear"])[np.arange(800) % 2],
    "age": VALUES,
    "visit": np.arange(800),
}


def seeded(seed):
    return sdp.testing.SeededRng(seed)


@pytest.mark.parametrize("delta", [None, 1e-6])
@pytest.mark.parametrize(
    "case",
    [
        {},
        {"adjacency": "add_remove"},
        {"by": "ward", "groups": ["ear", "eye"]},
        {"unit": "person", "max_rows": 2, "first_by": "visit"},
        {"skip_missing": True},
    ],
)
def test_mean_intervals_cover(case, delta):
    """40 releases at level 90 %, each of one mean or two: at least 75 % hold it (false alarm below 5e-3 at 90 %)."""
    table = dict(PEOPLE)
    if case.get("skip_missing"):
        table["age"] = np.where(np.arange(800) % 5 == 0, np.nan, VALUES)
    hits, widths = [], []
    for seed in range(40):
        found = numeric.mean(table, "age", bounds=BOUNDS, epsilon=1.0, delta=delta, rng=seeded(seed), **case)
        assert found.privacy.epsilon(delta or 0.0) <= 1.0
        if "by" in case:
            true = [VALUES[PEOPLE["ward"] == ward].mean() for ward in ("ear", "eye")]
        else:
            true = np.nanmean(table["age"])
        ends = found.interval(0.9)
        # The first two rows of each person count; their mean is near that of all.
        slack = 1.0 if "unit" in case else 0.0
        hits.append((ends[..., 0] - slack <= true) & (true <= ends[..., 1] + slack))
        widths.append(np.max(ends[..., 1] - ends[..., 0]))
    assert np.mean(hits) >= 0.75
    assert np.median(widths) < 15


@pytest.mark.parametrize(("bounds", "epsilon"), [((0, 100), 0.5), ((-3, 40), 2.0)])
def test_the_price_of_a_mean_hides_every_neighbour(bounds, epsilon):
    """Sums of neighbours, of records anywhere: their distance in the scale of the noise is the epsilon at most."""
    ends = [-1e300, *np.linspace(*bounds, 7), 1e300]
    pure = numeric.mean(VALUES, bounds=bounds, epsilon=epsilon)
    assert pure.mechanism == "discrete_laplace"
    assert 0.999 * epsilon <= pure.privacy.epsilon(0.0) <= epsilon
    scale = pure._laws[0].size
    places = [(np.clip(value, *bounds) - bounds[0]) / (bounds[1] - bounds[0]) * 2 - 1 for value in ends]
    largest = max(abs(a - b) for a, b in itertools.product(places, repeat=2)) / scale
    assert largest <= epsilon * (1 + 1e-9)
    coming = numeric.mean(VALUES, bounds=bounds, epsilon=epsilon, adjacency="add_remove")
    # A record brings one to the count and its place to the sum.
    assert max(1 + abs(place) for place in places) / coming._laws[0].size <= epsilon * (1 + 1e-9)
    grouped = numeric.mean(PEOPLE, "age", bounds=bounds, epsilon=epsilon, by="ward", groups=["ear", "eye"])
    assert 4.0 / grouped._laws[0].size <= epsilon * (1 + 1e-9)
    assert HALF == 2**22


def test_a_record_that_may_be_left_out_costs_no_more_than_it_moves():
    """All neighbours of a mean without the missing values: a record is a place on [-1, 1], or is not there."""
    scale = {
        "one": numeric.mean(VALUES, bounds=BOUNDS, epsilon=1.0, skip_missing=True)._laws[0].size,
        "two": numeric.mean(
            PEOPLE, "age", bounds=BOUNDS, epsilon=1.0, skip_missing=True, by="ward", groups=["ear", "eye"]
        )
        ._laws[0]
        .size,
    }
    places = [None, *np.linspace(-1, 1, 9)]
    for name, groups in (("one", 1), ("two", 2)):
        vectors = []
        for group, place in itertools.product(range(groups), places):
            moved = np.zeros((groups, 2))
            if place is not None:
                moved[group] = 1.0, place
            vectors.append(moved)
        furthest = max(np.abs(a - b).sum() for a, b in itertools.product(vectors, repeat=2))
        assert 0.999 <= furthest / scale[name] <= 1 + 1e-9


@pytest.mark.parametrize("delta", [None, 1e-6])
@pytest.mark.parametrize("case", [{}, {"adjacency": "add_remove"}])
def test_quantile_intervals_cover(case, delta):
    """20 releases of three quantiles at level 80 %: at least 65 % hold theirs (false alarm below 1e-2 at 80 %)."""
    true = np.quantile(VALUES, [0.1, 0.5, 0.9], method="inverted_cdf")
    hits = []
    for seed in range(20):
        found = numeric.quantiles(
            VALUES, levels=[0.1, 0.5, 0.9], bounds=BOUNDS, epsilon=2.0, delta=delta, rng=seeded(seed), **case
        )
        assert found.privacy.epsilon(delta or 0.0) <= 2.0
        ends = found.interval(0.8)
        hits.append((ends[:, 0] <= true) & (true <= ends[:, 1]))
        assert np.all((ends[:, 0] <= found.estimate) & (found.estimate <= ends[:, 1])) or seed > 0
    assert np.mean(hits) >= 0.65


def test_the_tree_is_least_squares():
    """Against numpy's least squares, with and without a public total; a record is once in every level."""
    tree = Tree((1, 3, 4))
    counts = np.arange(16)
    noisy = tree.count(counts) + np.random.default_rng(1).normal(0, 3, 2 + 8 + 16)
    matrix = np.stack([tree.count(row) for row in np.eye(16, dtype=np.int64)], axis=1).astype(float)
    assert np.all(matrix.sum(axis=0) == 3)
    np.testing.assert_allclose(tree.leaves(noisy, None), np.linalg.lstsq(matrix, noisy, rcond=None)[0], atol=1e-9)
    # A public total as an observation of a thousand times the weight.
    heavy = np.vstack([matrix, 1e4 * np.ones(16)])
    found = np.linalg.lstsq(heavy, np.append(noisy, 1e4 * 120), rcond=None)[0]
    np.testing.assert_allclose(tree.leaves(noisy, 120), found, atol=1e-4)
    np.testing.assert_allclose(tree.leaves(tree.count(counts).astype(float), 120), counts, atol=1e-9)


@pytest.mark.parametrize("bits", [(1,), (5,), (1, 3, 4), (2, 5), (1, 2, 3, 4, 5, 6)])
def test_the_variance_by_which_trees_are_chosen_is_that_of_least_squares(bits):
    tree = Tree(bits)
    n = tree.n_bins
    matrix = np.stack([tree.count(row) for row in np.eye(n, dtype=np.int64)], axis=1).astype(float)
    below = np.tril(np.ones((n + 1, n)), -1) - 0.5
    spread = below @ np.linalg.pinv(matrix)
    np.testing.assert_allclose(tree.mean_variance(False), np.mean(np.sum(spread**2, axis=1)), rtol=1e-10)
    # Of a public total bins are what a sum of zero leaves: least squares among vectors that have it.
    basis = np.linalg.svd(np.ones((1, n)))[2][1:].T
    spread = below @ basis @ np.linalg.pinv(matrix @ basis)
    np.testing.assert_allclose(tree.mean_variance(True), np.mean(np.sum(spread**2, axis=1)), rtol=1e-10)


def test_histograms_have_public_ends_and_a_posterior():
    found = numeric.histogram(VALUES, edges=[0, 10, 20, 100], epsilon=5.0, rng=seeded(1))
    assert found.levels_ == [(0.0, 10.0), (10.0, 20.0), (20.0, 100.0)]
    true = np.array([np.sum(VALUES < 10), np.sum((VALUES >= 10) & (VALUES < 20)), np.sum(VALUES >= 20)])
    assert np.all(np.abs(found.released_ - true) < 20)
    assert found.posterior_.counts.interval(0.95).shape == (3, 2)


@pytest.mark.parametrize("library", [dict, pd.DataFrame, pl.DataFrame, lambda table: pl.DataFrame(table).lazy()])
def test_all_frames_give_the_same_answers(library):
    plain = numeric.mean(PEOPLE, "age", bounds=BOUNDS, epsilon=1.0, by="ward", groups=["ear", "eye"], rng=seeded(3))
    again = numeric.mean(
        library(PEOPLE), "age", bounds=BOUNDS, epsilon=1.0, by="ward", groups=["ear", "eye"], rng=seeded(3)
    )
    np.testing.assert_array_equal(plain.estimate, again.estimate)
    middle = numeric.quantiles(library(PEOPLE), "age", 0.5, bounds=BOUNDS, epsilon=1.0, rng=seeded(3))
    np.testing.assert_array_equal(
        middle.estimate, numeric.quantiles(VALUES, levels=0.5, bounds=BOUNDS, epsilon=1.0, rng=seeded(3)).estimate
    )


def test_accountants_are_asked_first_and_empty_tables_say_nothing():
    accountant = sdp.Accountant(1.0, 1e-6)
    numeric.mean(VALUES, bounds=BOUNDS, epsilon=0.7, accountant=accountant, label="age")
    assert [row["label"] for row in accountant.spends()] == ["age"]
    with pytest.raises(sdp.BudgetExceededError):
        numeric.quantiles(VALUES, bounds=BOUNDS, epsilon=0.7, accountant=accountant)
    empty = numeric.mean(np.array([]), bounds=BOUNDS, epsilon=1.0, adjacency="add_remove")
    assert 0 <= empty.estimate <= 100
    assert numeric.quantiles(np.array([]), bounds=BOUNDS, epsilon=1.0, adjacency="add_remove").estimate.shape == (3,)
    assert "privacy" not in repr(empty)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"bounds": (1, 0)}, "bounds"),
        ({"bounds": None}, "bounds"),
        ({"bounds": (0, float("inf"))}, "bounds"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": float("nan")}, "epsilon"),
        ({"delta": 2.0}, "delta"),
        ({"adjacency": "swap"}, "adjacency"),
        ({"by": "ward"}, "groups"),
        ({"unit": "person"}, "max_rows"),
        ({"column": "pay"}, "column"),
        ({"skip_missing": 1}, "skip_missing"),
    ],
)
def test_bad_arguments_are_refused_by_name(change, message):
    given = {"data": PEOPLE, "column": "age", "bounds": BOUNDS, "epsilon": 1.0, **change}
    with pytest.raises(sdp.InvalidParameterError, match=message):
        numeric.mean(**given)
    if "by" not in change:
        with pytest.raises(sdp.InvalidParameterError, match=message):
            numeric.quantiles(**given)


def test_bad_data_are_refused_without_being_quoted():
    for bad in ([1.0, None, 1234.5], [1.0, float("nan")], ["1234.5", "x"]):
        with pytest.raises(sdp.InvalidDataError, match="not shown") as caught:
            numeric.mean(bad, bounds=BOUNDS, epsilon=1.0)
        assert "1234" not in str(caught.value)
    with pytest.raises(sdp.InvalidDataError, match="not shown"):
        numeric.mean(PEOPLE, "age", bounds=BOUNDS, epsilon=1.0, by="ward", groups=["eye"])
    for levels in ([0.0], [1.0], [float("nan")], []):
        with pytest.raises(sdp.InvalidParameterError, match="levels"):
            numeric.quantiles(VALUES, levels=levels, bounds=BOUNDS, epsilon=1.0)


def test_levels_in_the_place_of_a_column_are_told_where_they_belong():
    with pytest.raises(sdp.InvalidParameterError, match="levels are given by name"):
        sdp.numeric.quantiles([1.0, 2.0, 3.0], [0.5], bounds=(0, 10), epsilon=1.0)


def test_intervals_of_next_to_no_noise_are_those_of_a_bin():
    """Warnings are errors here: e^(1/scale) overflowed."""
    found = numeric.quantiles(VALUES, bounds=BOUNDS, epsilon=1e6)
    width = (BOUNDS[1] - BOUNDS[0]) / 512
    ends = found.interval(0.95)
    assert np.all(np.diff(ends, axis=1) <= width * (1 + 1e-9))
    truth = np.quantile(VALUES, found.levels, method="inverted_cdf")
    assert np.all((ends[:, 0] <= truth) & (truth <= ends[:, 1]))


@pytest.mark.parametrize("release", [numeric.mean, numeric.quantiles])
def test_a_seed_keeps_the_same_rows_of_persons(release):
    """One of eight numbers of each person is kept: other rows are another estimate, whatever the noise."""
    visits = {"who": np.repeat(np.arange(100), 8), "cost": VALUES}
    whose = {"bounds": BOUNDS, "epsilon": 5.0, "unit": "who", "max_rows": 1}
    one, same, other = (release(visits, "cost", **whose, rng=seeded(seed)).estimate for seed in (3, 3, 4))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)
    with pytest.raises(sdp.exceptions.InvalidParameterError, match="rng must be None"):
        release(visits, "cost", **whose, rng=3)


@pytest.mark.parametrize(
    "values",
    [np.array([50, None, 10**400, -(10**400)] * 60, dtype=object), "objects of pandas", "truth values of pandas"],
)
def test_missing_values_of_every_kind_are_left_out_and_what_no_double_holds_is_clamped(values):
    pd = pytest.importorskip("pandas")
    if isinstance(values, str):
        held = [50, pd.NA] if values.startswith("objects") else [True, None]
        values = pd.array(held * 120, dtype="object" if values.startswith("objects") else "boolean")
    frame = pd.DataFrame({"v": values})
    found = numeric.mean(
        frame, "v", bounds=(0, 100), epsilon=1.0, skip_missing=True, rng=sdp.testing.SeededRng(3)
    )  # fmt: skip
    assert abs(found.estimate - (1.0 if frame["v"].dtype == "boolean" else 50.0)) < 20


@pytest.mark.parametrize("kind", ["Int128", "UInt128"])
def test_wide_integers_are_numbers(kind):
    if not hasattr(pl, kind):
        pytest.skip("this Polars has no such integers")
    series = pl.Series("x", [0, 5, 2**100] * 40, dtype=getattr(pl, kind))
    for data in (series.to_frame(), series.to_frame().lazy()):
        found = numeric.mean(data, "x", bounds=(0, 10), epsilon=50.0)
        assert found.estimate == pytest.approx(5.0, abs=0.2)
