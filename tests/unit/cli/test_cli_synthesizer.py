"""``fit-synth``, and ``synthesize`` of a table in one step."""

import csv
import json
import re

import pytest
from cli_files import BUDGET

from simplexdp.models import PrivateSynthesizer

N = 3000
DOMAINS = {"job": ["clerk", "nurse", "smith"], "sex": ["f", "m"], "age": {"bins": 5, "bounds": [20, 70]}}


@pytest.fixture
def people(folder):
    rows = [
        f"{['clerk', 'nurse', 'smith'][at % 3]},{'fm'[at % 3 == 1]},{20 + (at % 3) * 15 + at % 17}" for at in range(N)
    ]
    (folder / "people.csv").write_text("job,sex,age\n" + "\n".join(rows) + "\n")
    (folder / "domains.json").write_text(json.dumps(DOMAINS))
    return "people.csv"


def records(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


TABLE = ("--domains", "domains.json", "--epsilon", "3", "--delta", "1e-6")


def test_a_table_is_synthesised_in_one_step(simplexdp, folder, people):
    done = simplexdp("synthesize", people, *TABLE, "--out", "synthetic.csv", "--report", "quality.html")
    assert done.code == 0, done.err
    assert "(3, 1e-06)-differential privacy when one record is added or removed" in done.err
    found = records(folder / "synthetic.csv")
    assert abs(len(found) - N) < 200
    nurses = [row for row in found if row["job"] == "nurse"]
    assert sum(row["sex"] == "m" for row in nurses) > 0.9 * len(nurses)
    assert all(20 <= int(row["age"]) <= 70 for row in found)
    page = (folder / "quality.html").read_text()
    assert page.startswith("<!doctype html>")
    assert page.count("<section>") == 4
    assert "<dt>Source</dt>" in page
    assert "<script" not in page
    told = json.loads((folder / "quality.html.json").read_text())
    assert told["madeBy"].startswith("simplexdp synthesize")
    assert told["privacy"]["epsilon"] <= 3
    assert [column["name"] for column in told["columns"]] == ["job", "sex", "age"]
    for column in told["columns"]:
        # Shares of all levels, each within what is said of the true one.
        assert sum(column["share"]) == pytest.approx(1, abs=1e-9)
        assert len(column["levels"]) == len(column["share"])
        assert all(0 <= low <= high <= 1 for low, high in zip(column["lower"], column["upper"], strict=True))


def test_a_comparison_says_its_price_and_is_debited(simplexdp, folder, people):
    done = simplexdp("synthesize", people, *TABLE, "--compare", "0.5", "--report", "q.html", "--out", "s.csv")
    assert done.code == 0, done.err
    assert "for another epsilon of 0.5" in done.err
    assert "for another epsilon of 0.5" in (folder / "q.html").read_text()
    for budget, said in (("3.2", "no comparison"), ("3.6", "for another epsilon of 0.5")):
        ledger = f"{budget}.db"
        assert simplexdp("ledger", ledger, "--create", budget, "1e-6", "--adjacency", "add_remove").code == 0
        fit = ("fit-synth", people, *TABLE, "--compare", "0.5", "--ledger", ledger, "--out", f"{budget}.json")
        done = simplexdp(*fit)
        # The model is paid for either way, and written.
        assert done.code == 0, done.err
        assert said in done.err + done.out
        assert (folder / f"{budget}.json").exists()
    assert simplexdp("fit-synth", people, *TABLE, "--compare", "-1").code == 2
    assert simplexdp("synthesize", people, "--compare", "0.5", "--size", "3").code == 2


def test_a_model_is_fitted_first_and_sampled_later(simplexdp, folder, people):
    assert simplexdp("fit-synth", people, *TABLE, "--out", "model.json").code == 0
    saved = json.loads((folder / "model.json").read_text())
    assert saved["private"] is True
    done = simplexdp("synthesize", "model.json", "--size", "50", "--out", "s.csv", "--json", "--report", "q.html")
    assert done.code == 0, done.err
    assert json.loads(done.out)["columns"] == ["job", "sex", "age"]
    told = json.loads((folder / "q.html.json").read_text())
    model = PrivateSynthesizer.from_json((folder / "model.json").read_text())
    assert [pair["columns"] for pair in told["pairs"]] == [["job", "sex"], ["job", "age"], ["sex", "age"]]
    for pair in told["pairs"]:
        table = model.marginal(pair["columns"])
        apart = sum(
            abs(table[i, j] - table[i].sum() * table[:, j].sum()) / 2
            for i in range(table.shape[0])
            for j in range(table.shape[1])
        )
        assert pair["fromIndependent"] == pytest.approx(apart, abs=1e-12)
        assert pair["offAtMost"] is None or pair["offAtMost"] == pytest.approx(
            model.error_bounds(pair["columns"], level=0.95).total_variation, abs=1e-12
        )
    assert len(records(folder / "s.csv")) == 50
    parquet = pytest.importorskip("pyarrow.parquet")
    assert simplexdp("synthesize", "model.json", "--size", "50", "--out", "s.parquet").code == 0
    assert str(parquet.read_schema(folder / "s.parquet").field("age").type) == "int64"


GAPS = {
    "job": ["clerk", "nurse", None],
    "age": {"bins": 5, "bounds": [20, 70], "null": True},
    "pay": {"edges": [0, 25.5, 100], "null": True},
}


@pytest.fixture
def gaps(folder):
    """Of a third of the records the job is missing, of a fifth the age, of a tenth the pay."""
    rows = [
        f"{('clerk', 'nurse', '')[at % 3]},{20 + at % 50 if at % 5 else ''},{at % 100 + 0.5 if at % 10 != 3 else ''}"
        for at in range(N)
    ]
    (folder / "gaps.csv").write_text("job,age,pay\n" + "\n".join(rows) + "\n")
    (folder / "domains.json").write_text(json.dumps(GAPS))
    return "gaps.csv"


def test_missing_numbers_have_a_level_and_come_back_as_empty_fields(simplexdp, folder, gaps):
    done = simplexdp("synthesize", gaps, *TABLE, "--out", "s.csv", "--report", "q.html")
    assert done.code == 0, done.err
    found = records(folder / "s.csv")
    for name, share in (("job", 1 / 3), ("age", 0.2), ("pay", 0.1)):
        # Noise of some five records in 3000.
        assert sum(row[name] == "" for row in found) / len(found) == pytest.approx(share, abs=0.02)
    assert all(20 <= int(row["age"]) <= 70 for row in found if row["age"])
    assert {row["job"] for row in found} == {"clerk", "nurse", ""}
    assert "(missing)" in (folder / "q.html").read_text()
    assert simplexdp("fit-synth", gaps, *TABLE, "--out", "model.json").code == 0
    lines = simplexdp("synthesize", "model.json", "--size", "200", "--json").out.splitlines()
    drawn = [json.loads(line) for line in lines]
    assert all(any(row[name] is None for row in drawn) for name in GAPS)
    assert {type(row["age"]) for row in drawn} == {int, type(None)}
    parquet = pytest.importorskip("pyarrow.parquet")
    assert simplexdp("synthesize", "model.json", "--size", "200", "--out", "s.parquet").code == 0
    table = parquet.read_table(folder / "s.parquet")
    assert [str(kind) for kind in table.schema.types] == ["string", "int64", "double"]
    assert all(column.null_count for column in table.columns)


def test_a_name_for_missing_values_is_for_categories_and_gives_numbers_a_level(simplexdp, folder, gaps):
    stated = {"job": ["clerk", "nurse"], "age": {"bins": 5, "bounds": [20, 70]}, "pay": {"edges": [0, 25.5, 100]}}
    (folder / "domains.json").write_text(json.dumps(stated))
    done = simplexdp("synthesize", gaps, *TABLE, "--null", "unknown", "--out", "s.csv")
    assert done.code == 0, done.err
    found = records(folder / "s.csv")
    assert {row["job"] for row in found} == {"clerk", "nurse", "unknown"}
    assert {"", "unknown"} & {row["age"] for row in found} == {""}


@pytest.mark.parametrize("bounds", [[0, 10**52], [0, 2**53 + 2], [-(10**30), 10**30]])
def test_bounds_may_be_integers_beyond_what_a_machine_counts_to(simplexdp, folder, people, bounds):
    (folder / "domains.json").write_text(json.dumps(DOMAINS | {"age": {"bins": 3, "bounds": bounds}}))
    done = simplexdp("synthesize", people, *TABLE, "--out", "s.csv")
    assert done.code == 0, done.err
    assert all(bounds[0] <= float(row["age"]) <= bounds[1] for row in records(folder / "s.csv"))


@pytest.mark.parametrize("bounds", [[0, 10**400], [2**53, 2**53 + 1]])
def test_bounds_that_are_no_two_doubles_are_refused(simplexdp, folder, people, bounds):
    (folder / "domains.json").write_text(json.dumps(DOMAINS | {"age": {"bins": 3, "bounds": bounds}}))
    done = simplexdp("synthesize", people, *TABLE, "--out", "s.csv")
    assert done.code == 2
    assert "a numeric column such as 'age' must be" in done.err


def test_missing_values_without_a_level_are_refused_and_told_how_to_be_stated(simplexdp, folder, gaps):
    for name in GAPS:
        stated = {**GAPS, name: ["clerk", "nurse"] if name == "job" else {"bins": 4, "bounds": [0, 100], "null": False}}
        (folder / "domains.json").write_text(json.dumps(stated))
        done = simplexdp("synthesize", gaps, *TABLE, "--out", "s.csv")
        assert done.code == 1
        assert f"column {name!r} has missing values (none is shown); --null NAME" in done.err
        assert not (folder / "s.csv").exists()
    for null in ("none", 1, None):
        (folder / "domains.json").write_text(json.dumps({"age": {"bins": 4, "bounds": [0, 100], "null": null}}))
        done = simplexdp("synthesize", gaps, *TABLE, "--out", "s.csv")
        assert done.code == 2
        assert "\"null\" of 'age' must be true or false" in done.err
    (folder / "domains.json").write_text(json.dumps({"job": ["clerk", "nurse", None], "age": 80}))
    done = simplexdp("fit-bn", gaps, "--domains", "domains.json", "--edge", "job>age", *BUDGET)
    assert done.code == 2
    assert "must not list null: --null NAME" in done.err


@pytest.mark.filterwarnings("always:the budget is too small")
def test_a_budget_that_is_too_small_is_told_in_the_words_of_the_commands(simplexdp, people):
    done = simplexdp("synthesize", people, "--domains", "domains.json", "--epsilon", "1e-4", "--delta", "1e-6")
    assert done.code == 0, done.err
    assert "'simplexdp plan synthesis' says what each epsilon buys" in done.err


def test_a_seed_leaves_its_mark(simplexdp, folder, people):
    for out in ("a.csv", "b.csv"):
        done = simplexdp("synthesize", people, *TABLE, "--seed", "5", "--size", "20", "--out", out)
        assert done.code == 0, done.err
        assert "NOT PRIVATE" in done.err
    assert (folder / "a.csv").read_text() == (folder / "b.csv").read_text()
    assert "seeded" in (folder / "a.csv").read_text().splitlines()[0]
    assert simplexdp("fit-synth", people, *TABLE, "--seed", "5", "--out", "model.json").code == 0
    assert "NOT PRIVATE" in simplexdp("synthesize", "model.json", "--size", "2").err


@pytest.mark.parametrize("arguments, message", [
    (("people.csv", "--epsilon", "1", "--delta", "1e-6"), "--domains"),
    (("people.csv", "--domains", "domains.json", "--epsilon", "1"), "--delta"),
    (("domains.json",), "--size"),
    (("people.csv", "--size", "3", "--domains", "domains.json"), "--epsilon"),
])  # fmt: skip
def test_what_is_missing_is_named(simplexdp, people, arguments, message):
    done = simplexdp("synthesize", *arguments)
    assert done.code == 2
    assert message in done.err


@pytest.mark.parametrize("stated", [
    {"bins": 0, "bounds": [0, 1]}, {"bins": 3, "bounds": [1, 0]}, {"bins": 3}, {"edges": [1, 1]}, {"edges": "x"},
    {"bins": 3, "bounds": [0, 1], "more": 1}, {"edges": [0, True]},
])  # fmt: skip
def test_bins_that_are_none_are_usage_errors(simplexdp, folder, people, stated):
    (folder / "domains.json").write_text(json.dumps({"age": stated}))
    done = simplexdp("synthesize", people, *TABLE)
    assert done.code == 2
    assert "numeric column" in done.err


def test_records_that_do_not_fit_are_not_quoted(simplexdp, folder, people):
    (folder / "wrong.csv").write_text("job,sex,age\nclerk,f,secret\n")
    (folder / "missing.csv").write_text("job,sex,age\nclerk,f,\n")
    (folder / "unknown.csv").write_text("job,sex,age\nsecret,f,30\n")
    for name in ("wrong.csv", "missing.csv", "unknown.csv"):
        done = simplexdp("synthesize", name, *TABLE)
        assert done.code == 1, done.err
        assert "secret" not in done.err


def test_the_ledger_is_debited_and_refuses(simplexdp, folder, people):
    assert simplexdp("ledger", "budget.db", "--create", "3.2", "1e-6", "--adjacency", "add_remove").code == 0
    fit = ("fit-synth", people, *TABLE, "--ledger", "budget.db", "--out")
    assert simplexdp(*fit, "one.json", "--report", "quality.html").code == 0
    # The Gaussian rule adds up variances, so the share that is used is neither epsilon's nor delta's.
    page = (folder / "quality.html").read_text()
    shares = r"budget.db, ([\d.]+)\u00a0% of its budget used, ([\d.]+)\u00a0% left"
    used, left = (float(each) for each in re.search(shares, page).groups())
    assert 0 < used <= 100
    assert used + left == pytest.approx(100, abs=0.11)
    told = json.loads((folder / "quality.html.json").read_text())
    assert (told["ledger"], 100 * told["budgetUsed"]) == ("budget.db", pytest.approx(used, abs=0.1))
    done = simplexdp(*fit, "two.json")
    assert done.code == 1
    assert "nothing was released" in done.err
    assert not (folder / "two.json").exists()


def test_budget_options_are_those_of_every_model(simplexdp, people):
    assert simplexdp("fit-synth", people, "--domains", "domains.json", *BUDGET).code == 0
