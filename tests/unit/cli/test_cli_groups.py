"""Groups on the command line: several columns, their names, what does not go together."""

import itertools
import json

import pytest

JOB = ("--column", "job", "--domain", "a,b")
CSV = "region,sex,age,job\n" + "".join(
    f"{region},{sex},{age},{job}\n"
    for region, sex, age, job in itertools.product("ns", "fm", (10, 40, 70), "ab")
    for _ in range(3)
)


def rows_of(simplexdp, *arguments, stdin=CSV):
    done = simplexdp("release", *JOB, "--epsilon", "1", *arguments, "--json", stdin=stdin)
    assert done.code == 0, done.err
    return done.json


def test_each_combination_of_several_columns_has_a_histogram(simplexdp):
    found = rows_of(simplexdp, "--by", "sex", "--groups", "m,f", "--by", "region", "--groups", "n,s")
    assert found["by"] == ["sex", "region"]
    cells = [(row["sex"], row["region"], row["job"]) for row in found["rows"]]
    assert cells == list(itertools.product("mf", "ns", "ab"))
    assert found["guarantee"]["spent_epsilon"] == 1.0
    assert found["parameters"]["sensitivity"] == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("--by", "region", "--by", "sex", "--groups", "sex=f,m", "--groups", "n,s"),
        ("--by", "region", "--by", "sex", "--groups", "sex=f,m", "--groups-file", "regions.txt"),
        ("--by", "region", "--by", "sex", "--groups-file", "region=regions.txt", "--groups", "sex=f,m"),
    ],
)
def test_groups_go_to_the_column_that_they_name(simplexdp, folder, arguments):
    (folder / "regions.txt").write_text("n\ns\n")
    found = rows_of(simplexdp, *arguments)
    assert {(row["region"], row["sex"]) for row in found["rows"]} == set(itertools.product("ns", "fm"))


def test_bins_and_other_groups_are_for_the_column_that_they_name(simplexdp):
    found = rows_of(
        simplexdp, "--by", "age", "--bins", "age=30", "--by", "sex", "--groups", "f", "--other-group", "sex=else"
    )  # fmt: skip
    assert {(row["age"], row["sex"]) for row in found["rows"]} == set(
        itertools.product(("below 30", "30 and above"), ("f", "else"))
    )


REGIONS = ("--by", "region", "--groups", "n,s")


def test_margins_are_the_sums_of_the_cells_and_add_up_to_the_public_total(simplexdp):
    found = rows_of(simplexdp, *REGIONS, "--by", "sex", "--groups", "f,m", "--margins")
    cells, margins = found["rows"], found["margins"]
    assert len(margins) == 3 * 3 * 3 - 8
    for margin in margins:
        inside = [row for row in cells if all(margin[name] in ("all", row[name]) for name in ("region", "sex", "job"))]
        assert margin["count"] == pytest.approx(sum(row["count"] for row in inside), abs=1e-9)
        assert margin["noisy_count"] == sum(row["noisy_count"] for row in inside)
        assert 0 <= margin["count_lower"] <= margin["count"] + 1e-9 <= margin["count_upper"] + 2e-9
    assert margins[-1]["count"] == pytest.approx(72, abs=1e-9)
    assert (margins[-1]["count_lower"], margins[-1]["count_upper"]) == (72, 72)


def test_a_pivot_table_has_a_column_for_each_value(simplexdp):
    found = rows_of(simplexdp, *REGIONS, "--pivot", "count")["rows"]
    assert [list(row) for row in found] == [["region", "a", "b", "all"]] * 3
    assert [row["region"] for row in found] == ["n", "s", "all"]
    for row in found:
        assert row["all"] == pytest.approx(row["a"] + row["b"], abs=1e-9)
    assert found[-1]["all"] == pytest.approx(72, abs=1e-9)
    noisy = rows_of(simplexdp, *REGIONS, "--pivot", "noisy_count", "--epsilon", "0.01")
    assert noisy["pivot"] == "noisy_count"
    assert [list(row) for row in noisy["rows"]] == [["region", "a", "b", "all"]] * 3
    assert all(row["all"] == row["a"] + row["b"] for row in noisy["rows"])
    shares = rows_of(simplexdp, *REGIONS, "--pivot", "share")["rows"]
    assert all(row["a"] + row["b"] == pytest.approx(1) for row in shares)


@pytest.mark.parametrize(
    "shape", [(), ("--margins",), ("--pivot", "count"), ("--pivot", "share"), ("--pivot", "noisy_count")]
)
def test_a_page_and_a_picture_of_groups_show_the_cells_whatever_the_shape_of_the_table(simplexdp, folder, shape):
    pytest.importorskip("matplotlib")
    two = ("--by", "region", "--groups", "n,s", "--by", "sex", "--groups", "f,m")
    found = rows_of(simplexdp, *two, *shape, "--plot", "groups.svg", "--report", "groups.html")
    record = json.loads((folder / "groups.html.json").read_text(encoding="utf-8"))
    cells = record["data"]
    assert record["name"] == "Private histograms of job by region and sex"
    assert [(cell["group"], cell["label"]) for cell in cells] == [
        (f"{region}, {sex}", job) for region, sex, job in itertools.product("ns", "fm", "ab")
    ]
    page = (folder / "groups.html").read_text(encoding="utf-8")
    assert page.count('<table class="shares"') == 4 + 3 * ("--margins" in shape)
    assert (folder / "groups.svg").stat().st_size > 1000
    if "--pivot" not in shape:
        for cell, row in zip(cells, found["rows"], strict=True):
            assert cell["share"] == row["share"]
            assert cell["count"] == pytest.approx(row["count"], abs=1e-6)
            assert cell["countInterval"] == [row["count_lower"], row["count_upper"]]
            assert f"<b>{round(row['count'])}</b> ({row['count_lower']} – {row['count_upper']})" in page


@pytest.mark.parametrize(
    "arguments",
    [
        ("--margins",),
        ("--pivot", "count"),
        (*REGIONS, "--pivot", "count", "--margins"),
        (*REGIONS, "--pivot", "truth"),
        (*REGIONS, "--pivot", "count", "--show-truth"),
        (*REGIONS, "--margins", "--mechanism", "dirichlet", "--delta", "1e-6"),
        (*REGIONS, "--margins", "--mechanism", "sum_preserving_laplace"),
    ],
)
def test_margins_and_pivots_that_mean_nothing_are_refused(simplexdp, arguments):
    done = simplexdp("release", *JOB, "--epsilon", "1", *arguments, stdin=CSV)
    assert (done.code, done.out) == (2, "")


def test_margins_do_not_need_a_public_number_of_records(simplexdp):
    found = rows_of(simplexdp, *REGIONS, "--margins", "--adjacency", "add_remove")
    assert found["total"] is None
    assert found["margins"][-1]["count_lower"] < found["margins"][-1]["count_upper"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--by", "region"), "give --groups"),
        (("--by", "region", "--by", "sex", "--groups", "n,s"), "of 'sex'"),
        (("--by", "region", "--by", "region", "--groups", "n,s"), "name a column once"),
        (("--by", "job", "--groups", "a"), "another column"),
        (("--groups", "a"), "needs --by"),
        (("--other-group", "a"), "needs --by"),
        (("--by", "region", "--groups", "n", "--groups", "s"), "once for each --by"),
        (("--by", "region", "--groups", "region=n", "--groups", "region=s"), "stated once"),
        (("--by", "age", "--bins", "age=30", "--groups", "age=1"), "exclude each other"),
        (("--by", "region", "--groups-file", "none.txt"), "there is no file"),
        (("--by", "region", "--groups", "n,s", "--other-group", "x", "--other-group", "y"), "stated once"),
    ],
)
def test_what_does_not_go_together_is_refused_before_anything_is_read(simplexdp, arguments, words):
    done = simplexdp("release", *JOB, "--epsilon", "1", *arguments, stdin=CSV)
    assert (done.code, done.out) == (2, "")
    assert words in " ".join(done.err.replace("│", " ").split())


def test_dropped_records_are_counted_with_noise_for_the_price_of_the_table(simplexdp):
    found = rows_of(simplexdp, "--by", "region", "--groups", "n", "--drop-others", "--epsilon", "40", "--seed", "1")
    assert found["dropped"] == {"noisy_count": 36, "lower": 36, "upper": 36}
    assert [row["region"] for row in found["rows"]] == ["n", "n"]
    assert found["guarantee"]["spent_epsilon"] == 40.0
    assert found["total"] is None
    noisy = {
        rows_of(simplexdp, "--by", "region", "--groups", "n", "--drop-others", "--seed", str(seed))["dropped"][
            "noisy_count"
        ]
        for seed in range(8)
    }
    # The noise of epsilon 1 is zero with a chance of 0.24: never eight times out of eight.
    assert len(noisy) > 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("--drop-others",),
        (*REGIONS, "--drop-others", "--other-group", "x"),
        (*REGIONS, "--drop-others", "--mechanism", "dirichlet", "--delta", "1e-6", "--total", "9"),
        (*REGIONS, "--drop-others", "--mechanism", "sum_preserving_laplace"),
    ],
)
def test_what_cannot_be_dropped_is_refused(simplexdp, arguments):
    done = simplexdp("release", *JOB, "--epsilon", "1", *arguments, stdin=CSV)
    assert (done.code, done.out) == (2, "")


def test_moving_a_record_out_of_the_groups_changes_two_cells_of_one_histogram():
    import numpy as np

    from simplexdp.cli.counting import Levels
    from simplexdp.cli.dropped import DROPPED, without_others

    columns = {"region": Levels(("n", "s"), DROPPED, DROPPED), "job": Levels(("a", "b"))}

    def cells(*places):
        counts = np.zeros((3, 2), dtype=np.int64)
        for place in places:
            counts[place] += 1
        _, kept, left_out = without_others(columns, counts)
        return np.append(kept.ravel(), left_out)

    every = list(itertools.product(range(3), range(2)))
    most = max(np.abs(cells((0, 0), one) - cells((0, 0), two)).sum() for one in every for two in every)
    assert most == 2
    assert max(np.abs(cells((0, 0), one) - cells((0, 0))).sum() for one in every) == 1


def test_sorted_plots_need_a_plot_and_are_drawn(simplexdp, folder):
    asked = ("release", "people.csv", "--column", "job", "--domain", "clerk,nurse,smith", "--epsilon", "1")
    done = simplexdp(*asked, "--plot-sorted")
    assert done.code == 2
    assert "--plot-sorted needs --plot" in done.err
    done = simplexdp(*asked, "--plot", "jobs.svg", "--plot-sorted")
    assert done.code == 0
    assert (folder / "jobs.svg").stat().st_size > 1000
