"""Groups on the command line: several columns, their names, what does not go together."""

import itertools

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
