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
    result = json.loads(run("quantile", people, *AGE, "--levels", "0.1,0.5", "--json").stdout)
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
