"""``simplexdp release --quantiles``: bins whose edges are drawn, paid for together with their counts."""

import csv
import math

import mpmath
import numpy as np
import pytest

from simplexdp.cli.quantiles import CELLS, QuantileLevels, quantile_levels
from simplexdp.models.bins import BinPlan

AGE = ("--column", "age", "--quantiles")


def write(folder, values, name="ages.csv", **columns):
    """Write a column of ages, beside others."""
    columns = {"age": values, **columns}
    with open(folder / name, "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(columns)
        rows.writerows(zip(*columns.values(), strict=True))
    return name


@pytest.fixture
def ages(folder):
    """Ages with a long tail of 3000 records, three of each person, in two wards."""
    generator = np.random.default_rng(2)
    values = np.round(generator.gamma(3, 12, 3000), 1)
    return write(folder, values, who=np.arange(3000) // 3, ward=generator.choice(["eye", "ear"], 3000)), values


def test_every_bin_holds_about_as_many_and_the_counts_are_those_between_the_edges(simplexdp, ages):
    name, values = ages
    done = simplexdp(
        "release", name, *AGE, "age=5:0:150", "--epsilon", "4", "--show-truth", "--seed", "1", "--json"
    ).json
    edges = done["quantiles"]["edges"]
    truth = np.histogram(values, [-np.inf, *edges, np.inf])[0]
    assert [row["true_count"] for row in done["rows"]] == truth.tolist()
    # An edge is off by at most 150/1000 and by ranks of the order 2 log(1000) / (1 / 4).
    assert len(edges) == 4
    assert np.all(abs(truth - 600) < 100)
    assert done["quantiles"]["noisy"]
    assert done["quantiles"]["bounds"] == [0, 150]
    assert any("edges of age are noisy" in note for note in done["notes"])
    assert any("Public: the bounds of the quantiles, the parameters and the number" in note for note in done["notes"])


@pytest.mark.parametrize(
    "column, by",
    [
        (("--column", "age"), ("--by", "ward", "--groups", "eye,ear")),
        (("--column", "ward", "--domain", "eye,ear"), ("--by", "age")),
    ],
    ids=["column", "by"],
)
def test_groups_share_the_edges(simplexdp, ages, folder, column, by):
    name, values = ages
    done = simplexdp(
        "release",
        name,
        *column,
        *by,
        "--quantiles",
        "age=3:0:150",
        "--epsilon",
        "2",
        "--show-truth",
        "--seed",
        "4",
        "--json",
    ).json
    with open(folder / name) as file:
        wards = np.array([row["ward"] for row in csv.DictReader(file)])
    edges = [-np.inf, *done["quantiles"]["edges"], np.inf]
    found = {ward: [row["true_count"] for row in done["rows"] if row["ward"] == ward] for ward in ("eye", "ear")}
    assert found == {ward: np.histogram(values[wards == ward], edges)[0].tolist() for ward in ("eye", "ear")}


def test_what_is_no_number_has_levels_of_its_own_whatever_they_are_called(simplexdp, folder):
    name = write(folder, [1, 2, "", "x", 9, 9] * 50, number=range(300))
    missing = ("--null", "none", "--other", "rest", "--epsilon", "8", "--show-truth", "--seed", "3", "--json")
    rows = simplexdp("release", name, *AGE, "age=2:0:10", *missing).json["rows"]
    assert [row["age"] for row in rows][2:] == ["none", "rest"]
    assert [row["true_count"] for row in rows] == [100, 100, 50, 50]
    first = rows[0]["age"]
    missing = tuple(first if word == "rest" else word for word in missing)
    rows = simplexdp("release", name, *AGE, "age=2:0:10", *missing).json["rows"]
    assert [row["age"] for row in rows] == [f"({first})", f"({rows[1]['age'][1:-1]})", "none", first]
    assert [row["true_count"] for row in rows] == [100, 100, 50, 50]


def test_edges_that_coincide_leave_fewer_bins_at_the_same_price(simplexdp, folder):
    # Between 5 and 5.015 lies one candidate, 5.01: it is the quantile of 0.4 and of 0.6.
    name = write(folder, [5.0, 5.015] * 1000)
    done = simplexdp("release", name, *AGE, "age=5:0:10", "--epsilon", "40", "--seed", "1", "--json").json
    assert done["quantiles"]["edges"].count(5.01) == 1
    assert len(done["quantiles"]["edges"]) == 3
    assert len(done["rows"]) == 4
    assert any("Some coincide: there are 4 bins where 5 were asked for" in note for note in done["notes"])
    spread = write(folder, np.linspace(0, 10, 2000), "spread.csv")
    other = simplexdp("release", spread, *AGE, "age=5:0:10", "--epsilon", "40", "--seed", "1", "--json").json
    assert len(other["rows"]) == 5
    assert other["guarantee"] == done["guarantee"]


def law(values, grid, levels, each):
    """Return the logarithm of the probability of each candidate for each level, from the definition."""
    ranks = [sum(value < edge for value in values) for edge in grid]
    logs = []
    for level in levels:
        scores = [mpmath.mpf(-abs(rank - level * len(values))) * each / 2 for rank in ranks]
        total = mpmath.log(mpmath.fsum(map(mpmath.exp, scores)))
        logs.append([score - total for score in scores])
    return logs


def neighbours():
    """Yield ages and the same with one record replaced."""
    generator = np.random.default_rng(5)
    for size in (2, 3, 6):
        for _ in range(4):
            one = generator.choice([0.5, 1.5, 5.0, 9.7], size).tolist()
            yield one, [*one[:-1], float(generator.choice([0.2, 5.0, 9.9]))]
    # All below, and all but one: with half the records below no candidate is far from the median.
    yield [0.0, 0.0, 10.0], [0.0, 10.0, 10.0]


GRID = [step / 100 for step in range(1, 1000)]


def test_no_neighbours_are_told_apart_better_than_the_stated_pure_price(simplexdp, folder):
    name = write(folder, [1, 5, 7])
    done = simplexdp(
        "release", name, *AGE, "age=3:0:10", "--epsilon", "2", "--quantile-share", "0.4", "--seed", "1", "--json"
    ).json
    scale, stated = done["parameters"]["scale"], done["guarantee"]["spent_epsilon"]
    assert 1.999 < stated <= 2.0
    assert done["quantiles"]["epsilon"] <= 0.8
    each, levels = done["quantiles"]["epsilon"] / 2, (mpmath.mpf(1) / 3, mpmath.mpf(2) / 3)
    worst = mpmath.mpf(0)
    for one, two in neighbours():
        before, after = law(one, GRID, levels, each), law(two, GRID, levels, each)
        # The adversary takes the edges that speak most, among pairs of candidates that split the records alike.
        best = [{}, {}]
        for side in (0, 1):
            for edge, left, right in zip(GRID, before[side], after[side], strict=True):
                split = tuple(value < edge for value in (*one, *two))
                best[side][split] = max(best[side].get(split, (-mpmath.inf,)), (abs(left - right), left - right, edge))
        for _, first, low in best[0].values():
            for _, second, high in best[1].values():
                edges = [-np.inf, *sorted({low, high}), np.inf]
                moved = np.abs(np.histogram(one, edges)[0] - np.histogram(two, edges)[0]).sum()
                worst = max(worst, abs(first + second) + mpmath.mpf(int(moved)) / scale)
    assert 0.7 * stated < worst <= stated


def test_the_delta_of_edges_and_gaussian_counts_is_no_more_than_stated(simplexdp, folder):
    name = write(folder, [1, 5, 7])
    done = simplexdp(
        "release", name, *AGE, "age=2:0:10", "--epsilon", "1", "--delta", "1e-6", "--mechanism", "discrete_gaussian",
        "--seed", "1", "--json",
    ).json  # fmt: skip
    sigma, stated = done["parameters"]["sigma"], done["guarantee"]["spent_epsilon"]
    assert 0.8 < stated <= 1.0
    noise = np.arange(-math.ceil(12 * sigma), math.ceil(12 * sigma) + 1)
    one_count = np.exp(-(noise**2) / (2 * sigma**2))
    one_count /= one_count.sum()
    moved = np.exp(-((noise - 1) ** 2) / (2 * sigma**2))
    moved /= moved.sum()
    # A record goes from the first bin to the second: one count falls, the other rises.
    still, shifted = np.outer(one_count, one_count), np.outer(moved, moved[::-1])

    def delta(epsilon, one, two):
        before, after = (law(each, GRID, [mpmath.mpf(1) / 2], done["quantiles"]["epsilon"])[0] for each in (one, two))
        groups = {}
        for edge, left, right in zip(GRID, before, after, strict=True):
            groups.setdefault((sum(v < edge for v in one) - sum(v < edge for v in two), left, right), []).append(edge)
        total = 0.0
        for (change, left, right), edges in groups.items():
            there = shifted if change else still
            gain = float(mpmath.exp(left)) * still - math.exp(epsilon) * float(mpmath.exp(right)) * there
            total += len(edges) * float(np.maximum(gain, 0).sum())
        return total

    pairs = [*neighbours()]
    assert max(delta(stated, *pair) for pair in pairs) <= 1e-6
    assert max(delta(0.7 * stated, *pair) for pair in pairs) > 1e-6


def test_persons_pay_for_all_their_records(simplexdp, ages):
    name, _ = ages
    person = ("--unit", "who", "--max-rows", "3", "--mechanism", "discrete_laplace")
    alone = simplexdp(
        "release",
        name,
        *AGE,
        "age=2:0:150",
        "--epsilon",
        "1",
        "--mechanism",
        "discrete_laplace",
        "--seed",
        "1",
        "--json",
    ).json
    done = simplexdp("release", name, *AGE, "age=2:0:150", "--epsilon", "1", *person, "--seed", "1", "--json").json
    assert done["guarantee"]["unit"] == "who"
    assert done["guarantee"]["spent_epsilon"] <= 1.0
    # Three records move the counts by three times as much: the noise grows so.
    assert done["parameters"]["scale"] == pytest.approx(3 * alone["parameters"]["scale"], rel=1e-3)
    assert sum(row["noisy_count"] for row in done["rows"]) == pytest.approx(3000, abs=200)
    plans = [BinPlan.of_quantiles(("age",), 2, (np.array(GRID),), ((0, 10),), 0.25, rows).share for rows in (1, 3)]
    assert plans[0] == pytest.approx(3 * plans[1], rel=1e-9)


def test_one_debit_and_none_is_drawn_when_it_does_not_fit(simplexdp, ages, monkeypatch):
    name, _ = ages
    simplexdp("ledger", "budget.db", "--create", "1.5", "1e-6")
    release = ("release", name, *AGE, "age=4:0:150", "--epsilon", "1", "--ledger", "budget.db", "--json")
    assert simplexdp(*release).code == 0
    shown = simplexdp("ledger", "budget.db", "--json").json
    assert len(shown["rows"]) == 1
    assert 0.999 < shown["rows"][0]["epsilon"] <= 1.0

    drawn = []
    monkeypatch.setattr(BinPlan, "cuts", lambda *_: drawn.append(1))
    done = simplexdp(*release)
    assert done.code != 0
    assert "nothing was released" in done.err
    assert not drawn
    assert not done.out


def test_edges_follow_the_exponential_mechanism():
    from simplexdp.testing import SeededRng

    name, levels = quantile_levels("age=2:0:10", None, None)
    assert name == "age"
    assert isinstance(levels, QuantileLevels)
    assert levels.edges == tuple(GRID)
    values, each = [0.5, 1.5, 5.0, 9.7], 3.0
    (logs,) = law(values, GRID, [mpmath.mpf(1) / 2], each)
    from simplexdp.cli.mechanism import Request
    from simplexdp.cli.quantiles import DrawnBins

    # 3 (1 + 2^-16) in all leaves 3 for the one quantile.
    request = Request(6.0 * (1 + 2.0**-16), None, "discrete_laplace", "replace", None, None, "kl", None)
    bins = DrawnBins.stated(("age=2:0:10",), 0.5, request)
    counts = np.bincount(np.searchsorted(GRID, values, side="right"), minlength=CELLS)
    rng, n = SeededRng(8), 4000
    drawn = [bins.draw({"age": levels}, counts, rng)[0]["age"].edges[0] for _ in range(n)]
    parts = np.searchsorted(values, GRID, side="left")
    expected = np.bincount(parts, [n * float(mpmath.exp(log)) for log in logs], minlength=5)
    observed = np.bincount(np.searchsorted(values, drawn, side="left"), minlength=5)
    # 4000 draws; the 1e-6 quantile of chi-square with 4 degrees of freedom is 33.38.
    assert ((observed - expected) ** 2 / expected).sum() < 33.38


BAD = {
    "no bounds": ("age=4", "COLUMN=N:LOWER:UPPER"),
    "one bound": ("age=4:0", "COLUMN=N:LOWER:UPPER"),
    "reversed": ("age=4:10:0", "LOWER < UPPER"),
    "equal": ("age=4:1:1", "LOWER < UPPER"),
    "nan": ("age=4:nan:10", "COLUMN=N:LOWER:UPPER"),
    "infinite": ("age=4:0:inf", "COLUMN=N:LOWER:UPPER"),
    "none": ("age=0:0:10", "N from 2"),
    "one": ("age=1:0:10", "N from 2"),
    "half": ("age=2.5:0:10", "N from 2"),
    "too many": ("age=1000000000:0:10", "N from 2"),
    "negative": ("age=-3:0:10", "N from 2"),
    "too close": ("age=4:1e16:10000000000000002", "no 1000 cells"),
    "too far": ("age=4:-1.7e308:1.7e308", "no 1000 cells"),
    "no column": ("4:0:10", "COLUMN=N:LOWER:UPPER"),
    "another column": ("ward=4:0:10", "is for --column and --by"),
}


@pytest.mark.parametrize("text, message", BAD.values(), ids=BAD)
def test_bad_quantiles_are_refused(simplexdp, ages, text, message):
    done = simplexdp("release", ages[0], *AGE, text, "--epsilon", "1")
    assert done.code == 2
    assert message in done.err
    assert not done.out


REFUSED = {
    "twice": (["--bins", "age=0:150:50"], "must name a column once"),
    "two": (["--quantiles", "who=2:0:3000"], "is for one column"),
    "domain": (["--domain", "1,2"], "exclude each other"),
    "dirichlet": (["--mechanism", "dirichlet", "--delta", "1e-6"], "needs independent noise"),
    "sum-preserving": (["--mechanism", "sum_preserving_laplace"], "needs independent noise"),
    "counts": (["--counts", "5", "--delta", "1e-6"], "needs independent noise"),
    "discovery": (["--discover", "--delta", "1e-6"], "--quantiles"),
    "pivot": (["--by", "ward", "--groups", "eye,ear", "--pivot", "count"], "must be of a --by"),
    "share 0": (["--quantile-share", "0"], "--quantile-share"),
    "share 1": (["--quantile-share", "1"], "--quantile-share"),
    "share nan": (["--quantile-share", "nan"], "--quantile-share"),
    "epsilon nan": (["--epsilon", "nan"], "needs --epsilon"),
    "epsilon 0": (["--epsilon", "0"], "needs --epsilon"),
    "size": (["--by", "who", "--groups", "1..20000"], "group by fewer"),
}


@pytest.mark.parametrize("options, message", REFUSED.values(), ids=REFUSED)
def test_what_does_not_go_together_is_refused(simplexdp, ages, options, message):
    done = simplexdp("release", ages[0], *AGE, "age=4:0:150", "--epsilon", "1", *options)
    assert done.code == 2
    assert message in done.err
    assert not done.out


def test_values_that_are_no_numbers_and_unknown_columns_stop_it(simplexdp, folder):
    for value in ("", "x", "nan"):
        done = simplexdp("release", write(folder, [1, 2, value]), *AGE, "age=2:0:10", "--epsilon", "1")
        assert done.code != 0
        assert "none is shown" in done.err
        assert not done.out
    done = simplexdp("release", "ages.csv", "--column", "size", "--quantiles", "size=2:0:10", "--epsilon", "1")
    assert done.code != 0
    assert "size" in done.err
    assert not done.out
    done = simplexdp(
        "release", "ages.csv", "--column", "age", "--bins", "age=1", "--quantile-share", "0.2", "--epsilon", "1"
    )
    assert done.code == 2
    assert "needs --quantiles" in done.err
