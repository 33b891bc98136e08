"""``simplexdp mean`` and ``simplexdp quantile``: what they print, what they refuse, what they debit."""

import inspect
import json

import pytest
from click.testing import CliRunner

import simplexdp as sdp
from simplexdp.cli.app import app


@pytest.fixture
def people(tmp_path):
    lines = ["age,region", *(f"{i % 70 + 18},{'north' if i % 2 else 'south'}" for i in range(1000))]
    path = tmp_path / "people.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


# Before click 8.2 a runner mixes both streams unless it is told not to.
APART = {"mix_stderr": False} if "mix_stderr" in inspect.signature(CliRunner).parameters else {}


def run(*arguments):
    return CliRunner(**APART).invoke(app, [str(argument) for argument in arguments])


AGE = ("--column", "age", "--bounds", "0:100", "--epsilon", 1)
TRUE = sum(i % 70 + 18 for i in range(1000)) / 1000


@pytest.mark.parametrize("more", [(), ("--adjacency", "add_remove"), ("--delta", 1e-6), ("--skip-missing",)])
def test_a_mean_has_an_interval(people, more):
    found = run("mean", people, *AGE, "--json", "--seed", 4, *more)
    assert found.exit_code == 0
    result = json.loads(found.stdout)
    (row,) = result["rows"]
    assert row["lower"] <= row["mean"] <= row["upper"]
    assert abs(row["mean"] - TRUE) < 3
    assert result["guarantee"]["spent_epsilon"] <= 1
    assert result["seeded"] is True


def test_groups_and_rules(people):
    result = json.loads(
        run("mean", people, *AGE, "--by", "region", "--groups", "north,south", "--where", "age>=30", "--json").stdout
    )
    assert [row["region"] for row in result["rows"]] == ["north", "south"]
    assert all(40 < row["mean"] < 80 for row in result["rows"])
    assert "The number of records is private" in " ".join(result["notes"])


def test_quantiles_have_intervals(people):
    result = json.loads(run("quantile", people, *AGE, "--levels", "0.1,0.5", "--seed", 4, "--json").stdout)
    assert [row["level"] for row in result["rows"]] == [0.1, 0.5]
    assert all(row["lower"] <= row["quantile"] <= row["upper"] for row in result["rows"])


def test_the_ledger_is_asked_first(people, tmp_path):
    ledger = tmp_path / "budget.db"
    assert run("ledger", ledger, "--create", 1.5, 1e-6).exit_code == 0
    assert run("mean", people, *AGE, "--ledger", ledger, "--name", "ages").exit_code == 0
    refused = run("quantile", people, *AGE, "--ledger", ledger)
    assert refused.exit_code == 1
    assert "lower" not in refused.stdout
    assert [row["label"] for row in sdp.Accountant.open(ledger).spends()] == ["ages"]


@pytest.mark.parametrize(
    ("command", "change", "code"),
    [
        ("mean", ("--column", "region"), 1),
        ("mean", ("--column", "none"), 2),
        ("mean", ("--bounds", "9:1"), 2),
        ("mean", ("--bounds", "0:inf"), 1),
        ("mean", ("--by", "region"), 2),
        ("mean", ("--by", "region", "--groups", "north"), 1),
        ("mean", ("--epsilon", "nan"), 1),
        ("quantile", ("--levels", "0,1"), 2),
        ("quantile", ("--levels", "x"), 2),
    ],
)
def test_bad_input_is_refused_and_no_data_are_quoted(people, command, change, code):
    found = run(command, people, *AGE, *change)
    assert found.exit_code == code
    assert "lower" not in found.stdout
    assert "north" not in found.stderr or "north" in change


@pytest.fixture
def visits(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("pid,age,visit\na,30,10\na,40,9\na,50,\nb,60,1\nc,20,2\n")
    return path


def test_persons_count_with_so_many_records_and_the_guarantee_is_for_them(visits):
    # The noise is far below one: the smallest visit counts, as a number, and a missing one comes last.
    asked = ("mean", visits, "--column", "age", "--bounds", "0:100", "--epsilon", 1000, "--seed", 1)
    persons = ("--unit", "pid", "--max-rows", 1, "--first-by", "visit")
    result = json.loads(run(*asked, *persons, "--json").stdout)
    assert abs(result["rows"][0]["mean"] - 40) < 1
    assert (result["guarantee"]["unit"], result["guarantee"]["max_rows"]) == ("pid", 1)
    assert "one pid, of whom one record counts" in run(*asked, *persons).stderr
    assert "The number of records is private." in run(*asked, *persons).stderr


@pytest.mark.parametrize("command", ["mean", "quantile"])
def test_more_records_of_a_person_make_wider_intervals(people, tmp_path, command):
    table = tmp_path / "persons.csv"
    lines = people.read_text().splitlines()
    table.write_text("\n".join(["pid," + lines[0], *(f"{i // 4},{line}" for i, line in enumerate(lines[1:]))]) + "\n")
    widths = []
    for more in ((), ("--unit", "pid", "--max-rows", 4)):
        (row, *_) = json.loads(run(command, table, *AGE, "--json", "--seed", 4, *more).stdout)["rows"]
        widths.append(row["upper"] - row["lower"])
    assert widths[1] > 2 * widths[0]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--unit", "pid"), "--unit needs --max-rows"),
        (("--max-rows", 2), "need --unit COLUMN"),
        (("--unit", "nobody", "--max-rows", 2), "nobody"),
    ],
)
def test_persons_are_stated_as_a_whole(visits, more, message):
    found = run("mean", visits, "--column", "age", "--bounds", "0:100", "--epsilon", 1, *more)
    assert found.exit_code != 0
    assert message in found.stdout + found.stderr


@pytest.mark.parametrize("command", ["mean", "quantile"])
def test_groups_of_several_columns_have_a_row_for_each_combination(simplexdp, folder, command):
    rows = [f"{'ns'[i % 2]},{'fm'[i // 2 % 2]},{20 + 10 * (i % 2) + 5 * (i // 2 % 2)}" for i in range(4000)]
    (folder / "grouped.csv").write_text("region,sex,age\n" + "\n".join(rows) + "\n", encoding="utf-8")
    more = ("--levels", "0.25,0.5") if command == "quantile" else ()
    done = simplexdp(
        command, "grouped.csv", "--column", "age", "--bounds", "0:100", "--epsilon", "20", *more, "--by", "region",
        "--groups", "n,s", "--by", "sex", "--groups", "sex=f,m", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert done.json["by"] == ["region", "sex"]
    expected = {("n", "f"): 20, ("s", "f"): 30, ("n", "m"): 25, ("s", "m"): 35}
    assert len(done.json["rows"]) == len(expected) * (2 if more else 1)
    for row in done.json["rows"]:
        # Of a thousand values each: noise of a hundredth, or two bins of a 512th of the bounds.
        assert row[command] == pytest.approx(expected[row["region"], row["sex"]], abs=0.5)
        assert row["lower"] <= row["upper"]


def test_groups_that_do_not_fit_are_refused_by_name(simplexdp, folder):
    (folder / "grouped.csv").write_text("region,sex,age\nn,f,3\n", encoding="utf-8")
    given = ("grouped.csv", "--column", "age", "--bounds", "0:100", "--epsilon", "1")
    for more, told in (
        (("--by", "region"), "give --groups"),
        (("--groups", "n,s"), "--groups needs --by"),
        (("--by", "level", "--groups", "n"), "those of the result"),
        (("--by", "region", "--groups", "s"), "'region' has values that --groups does not list"),
        (("--by", "region", "--by", "region", "--groups", "s"), "once"),
    ):
        done = simplexdp("quantile", *given, *more)
        assert done.code != 0
        assert told in done.err
