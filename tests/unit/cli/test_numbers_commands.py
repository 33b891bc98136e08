"""``simplexdp mean`` and ``simplexdp quantile``: what they print, what they refuse, what they debit."""

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


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


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
    assert message in found.output
