"""Spellings of values, groups, rules and persons that are made the same, and what is said where they are not."""

import json

import numpy as np
import pytest

from simplexdp.models import PrivateCategoricalNB

ROWS = [
    ("p1", "Gyn\u00e4kologie", "Flu"),
    ("P1 ", "Gyna\u0308kologie ", "FLU"),
    ("p1", "EYE", " cold"),
    ("p2", "eye", "Cold"),
    ("p3", "nose", "gout"),
]
DONE = ("--epsilon", "1", "--mechanism", "discrete_laplace", "--show-truth", "--json")
SICK = ("--column", "sick", "--domain", "Flu , Cold", "--other", "other", *DONE)
BY = ("--by", "ward", "--groups", "Eye,GYN\u00c4KOLOGIE", "--other-group", "Elsewhere")


@pytest.fixture
def visits(folder):
    lines = ["patient,ward,sick,age", *(",".join(row) + ",30" for row in ROWS)]
    (folder / "visits.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def truth(done, *columns):
    assert done.code == 0, done.err
    found = {tuple(row[name] for name in columns): row["true_count"] for row in done.json["rows"]}
    return {key if len(key) > 1 else key[0]: count for key, count in found.items() if count}


@pytest.mark.usefixtures("visits")
def test_values_and_groups_are_found_as_they_are_written(simplexdp):
    done = simplexdp("release", "visits.csv", *SICK, *BY, "--clean", "trim,fold")
    assert truth(done, "ward", "sick") == {
        ("GYN\u00c4KOLOGIE", "Flu"): 2,
        ("Eye", "Cold"): 2,
        ("Elsewhere", "other"): 1,
    }


@pytest.mark.usefixtures("visits")
def test_a_column_has_rules_of_its_own(simplexdp):
    done = simplexdp("release", "visits.csv", *SICK, "--clean", "trim,fold", "--clean", "sick=trim")
    assert truth(done, "sick") == {"Flu": 1, "Cold": 1, "other": 3}
    twice = simplexdp("release", "visits.csv", *SICK, "--clean", "sick=trim", "--clean", "sick=fold")
    assert (twice.code, "once for each column" in twice.err) == (2, True)


@pytest.mark.usefixtures("visits")
@pytest.mark.parametrize(("rule", "counted"), [("ward=Eye", 2), ("ward!=EYE", 3), ("ward=gyna\u0308kologie,NOSE", 3)])
def test_rules_hold_for_all_spellings(simplexdp, rule, counted):
    done = simplexdp("release", "visits.csv", *SICK, "--clean", "trim,fold", "--where", rule)
    assert sum(truth(done, "sick").values()) == counted
    assert sum(truth(simplexdp("release", "visits.csv", *SICK, "--where", "ward=Eye"), "sick").values() or [0]) == 0


@pytest.mark.usefixtures("visits")
@pytest.mark.parametrize(
    ("rules", "counted"), [((), 4), (("--clean", "trim,fold"), 3), (("--clean", "patient=trim"), 4)]
)
def test_spellings_of_a_person_are_one_person(simplexdp, rules, counted):
    """Two spellings of a person would count twice as often as the guarantee says."""
    unit = ("--unit", "patient", "--max-rows", "1")
    assert sum(truth(simplexdp("release", "visits.csv", *SICK, *unit, *rules), "sick").values()) == counted


@pytest.mark.usefixtures("visits")
def test_a_map_makes_no_person_of_two(simplexdp, visits):
    (visits / "map.json").write_text(json.dumps({"p2": "p3", "gout": "flu"}), encoding="utf-8")
    unit = ("--unit", "patient", "--max-rows", "1", "--map", "map.json")
    assert sum(truth(simplexdp("release", "visits.csv", *SICK, *unit), "sick").values()) == 4


@pytest.mark.usefixtures("visits")
def test_two_values_that_are_one_are_refused(simplexdp):
    given = ("--column", "sick", "--domain", "Flu,flu,cold", "--other", "other", *DONE, "--clean", "fold")
    done = simplexdp("release", "visits.csv", *given)
    assert done.code == 2
    assert "'flu' and 'Flu' are one after its cleaning" in " ".join(done.err.split())


@pytest.mark.usefixtures("visits")
@pytest.mark.parametrize("command", ["release", "mean"])
def test_what_is_not_listed_is_said_with_its_remedy(simplexdp, command):
    what = SICK if command == "release" else ("--column", "age", "--bounds", "0:100", "--epsilon", "1")
    done = simplexdp(command, "visits.csv", *what, "--by", "ward", "--groups", "Eye")
    assert done.code == 1
    assert "--other-group NAME makes one of the rest, and --clean trim,fold makes" in done.err
    posterior = simplexdp("posterior", "visits.csv", "--column", "sick", "--domain", "Flu", "--epsilon", "1")
    assert posterior.code == 1
    assert "--other NAME gives them a level, and --clean trim,fold makes" in " ".join(posterior.err.split())


@pytest.mark.usefixtures("visits")
@pytest.mark.parametrize("command", ["mean", "quantile"])
def test_numbers_by_groups_know_spellings_and_others(simplexdp, command):
    done = simplexdp(
        command, "visits.csv", "--column", "age", "--bounds", "0:100", "--epsilon", "1e6", *BY, "--clean", "trim,fold",
        "--unit", "patient", "--max-rows", "1", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert list(dict.fromkeys(row["ward"] for row in done.json["rows"])) == ["Eye", "GYN\u00c4KOLOGIE", "Elsewhere"]
    whole = simplexdp(
        "mean", "visits.csv", "--column", "age", "--bounds", "0:100", "--epsilon", "1", "--other-group", "else"
    )
    assert (whole.code, "--other-group needs --by" in whole.err) == (2, True)


def test_the_groups_of_a_hierarchy_have_spellings_too(simplexdp, visits):
    (visits / "places.json").write_text(json.dumps({"head": ["EYE", "Nose"], "body": ["Gyna\u0308kologie"]}))
    done = simplexdp(
        "release", "visits.csv", "--column", "sick", "--domain", "Flu,Cold", "--other", "other", "--epsilon", "1e4",
        "--by", "part", "--by", "ward", "--hierarchy", "places.json", "--clean", "trim,fold", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    parts = {(row["part"], row["sick"]): row["count"] for row in done.json["rows"] if row["level"] == "part"}
    assert parts["head", "Cold"] == pytest.approx(2, abs=1e-3)
    assert parts["body", "Flu"] == pytest.approx(2, abs=1e-3)


MODELS = ("many.csv", "--domains", "domains.json", "--epsilon", "50", "--delta", "1e-6", "--other", "other",
          "--clean", "trim,fold", "--unit", "patient", "--max-rows", "2", "--out", "model.json", "-q")  # fmt: skip


@pytest.fixture
def stated(visits):
    (visits / "domains.json").write_text(json.dumps({"ward": ["Eye", "GYN\u00c4KOLOGIE"], "sick": ["Flu", "Cold"]}))
    lines = [f"{row[0].strip()}-{copy},{row[1]},{row[2]}" for copy in range(60) for row in ROWS]
    (visits / "many.csv").write_text("\n".join(["patient,ward,sick", *lines]) + "\n", encoding="utf-8")
    return visits


@pytest.mark.filterwarnings("ignore::simplexdp.WeakGuaranteeWarning", "ignore:the budget is too small:UserWarning")
@pytest.mark.parametrize(
    ("command", "more"),
    [
        ("fit-nb", ("--target", "sick")),
        ("fit-bn", ("--edge", "ward>sick", "--adjacency", "add_remove")),
        ("fit-synth", ()),
    ],
)
def test_models_know_spellings(simplexdp, stated, command, more):
    done = simplexdp(command, *MODELS, *more)
    assert done.code == 0, done.err
    model = json.loads((stated / "model.json").read_text(encoding="utf-8"))
    if command == "fit-nb":
        (stated / "new.csv").write_text("ward\n eye\ngyna\u0308kologie\n", encoding="utf-8")
        found = simplexdp("predict", "model.json", "new.csv", "--format", "csv")
        assert found.code == 0, found.err
        again = PrivateCategoricalNB.load(stated / "model.json")
        typed = {"ward": np.array([" EYE", "Gyna\u0308kologie"], dtype=object)}
        assert again.predict(typed).tolist() == ["Cold", "Flu"]
        assert found.out.split() == ["sick", "Cold", "Flu"]
    else:
        assert '"clean"' in json.dumps(model)
        drawn = simplexdp("synthesize", "model.json", "--size", "400", "--json")
        rows = [json.loads(line) for line in drawn.out.splitlines()]
        assert sum(row["ward"] == "other" for row in rows) < 200
        assert {row["sick"] for row in rows} <= {"Flu", "Cold", "other"}
    refused = simplexdp("synthesize", "model.json", "--size", "3", "--clean", "trim")
    assert (refused.code, "--clean" in refused.err) == (2, True)


def test_text_that_is_no_number_is_missing_in_bins(simplexdp, folder):
    (folder / "ages.csv").write_text("age,sex\n" + "30,f\nn/a,m\n ,f\n7e1,m\n" * 50, encoding="utf-8")
    (folder / "domains.json").write_text(
        json.dumps({"age": {"bins": 2, "bounds": [0, 100], "null": True}, "sex": ["f", "m"]})
    )
    given = ("ages.csv", "--domains", "domains.json", "--epsilon", "50", "--delta", "1e-6", "--json", "-q")
    done = simplexdp("synthesize", *given)
    assert done.code == 0, done.err
    ages = [json.loads(line)["age"] for line in done.out.splitlines()]
    assert 60 < sum(age is None for age in ages) < 140
    assert 25 < sum(age is not None and age >= 50 for age in ages) < 75
    (folder / "domains.json").write_text(json.dumps({"age": {"bins": 2, "bounds": [0, 100]}, "sex": ["f", "m"]}))
    refused = simplexdp("synthesize", *given)
    assert refused.code == 1
    assert "missing values, or text that is no number (none is shown); --null NAME" in " ".join(refused.err.split())
