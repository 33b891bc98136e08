"""Persons, conditions, bins, dates and unknown values on the command line."""

import collections
import json
import random

import pytest

from simplexdp.models import PrivateBayesianNetwork, PrivateCategoricalNB, PrivateSynthesizer

# Now and then the noisy number of so few records is so small that no pairs are measured, of which a warning tells.
pytestmark = pytest.mark.filterwarnings("ignore:the budget is too small:UserWarning")

VISITS = [
    (f"p{person}", ("Eye", " eye ", "EAR", "nose")[(person + visit) % 4], ("", "n/a", person % 97)[min(visit, 2)], day)
    for person in range(60)
    for visit, day in enumerate([f"2024-{1 + (person * visit) % 12:02d}-03" for visit in range(1 + person % 7)])
]
PERSONS = ("--unit", "patient", "--max-rows")
WARDS = ("--column", "ward", "--domain", "eye,ear", "--clean", "trim,fold", "--other", "other")
PURE = ("--epsilon", "1", "--mechanism", "discrete_laplace")


@pytest.fixture
def visits(folder):
    rows = random.Random(3).sample(VISITS, len(VISITS))
    lines = ["patient,ward,age,day", *(",".join(map(str, row)) for row in rows)]
    (folder / "visits.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def truth(done, column):
    assert done.code == 0, done.err
    return {row[column]: row["true_count"] for row in done.json["rows"]}


def ward(text):
    cleaned = text.strip().casefold()
    return cleaned if cleaned in ("eye", "ear") else "other"


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_at_most_so_many_records_of_a_person_count_and_noise_hides_all(simplexdp, visits, rows, adjacency):
    done = simplexdp(
        "release", "visits.csv", *WARDS, *PURE, *PERSONS, str(rows), "--adjacency", adjacency, "--show-truth", "--json"
    )
    found = truth(done, "ward")
    of_each = collections.Counter(row[0] for row in VISITS)
    assert sum(found.values()) == sum(min(count, rows) for count in of_each.values())
    ends = 2 if adjacency == "replace" else 1
    assert done.json["parameters"]["scale"] == ends * rows
    assert (done.json["guarantee"]["unit"], done.json["guarantee"]["max_rows"]) == ("patient", rows)
    assert "one patient, of whom" in done.json["notes"][0]
    # The number of records that count is public where each person has one that a person replaces, and only there.
    assert (done.json["total"] is None) == (rows > 1 or adjacency == "add_remove")


def test_the_first_records_count(simplexdp, visits):
    done = simplexdp(
        "release", "visits.csv", "--column", "day", "--dates", "day=month:2024-01:2024-12", *PURE, *PERSONS, "1",
        "--first-by", "day", "--show-truth", "--json",
    )  # fmt: skip
    first = {}
    for person, _, _, day in VISITS:
        first[person] = min(day, first.get(person, day))
    months = collections.Counter(day[:7] for day in first.values())
    assert {month: count for month, count in truth(done, "day").items() if count} == dict(months)


@pytest.mark.parametrize(
    ("rules", "holds"),
    [
        (["age>=18"], lambda row: str(row[2]).isdigit() and int(row[2]) >= 18),
        (["age<18", "day>=2024-06"], lambda row: str(row[2]).isdigit() and int(row[2]) < 18 and row[3] >= "2024-06"),
        (["age="], lambda row: row[2] == ""),
        (["age!=", "age!=n/a"], lambda row: row[2] not in ("", "n/a")),
        (["ward=EAR,nose"], lambda row: row[1] in ("EAR", "nose")),
        (["ward!=EAR"], lambda row: row[1] != "EAR"),
        (["ward==EAR"], lambda row: row[1] == "EAR"),
        # Every day of June is no later than June, and a date is no number.
        (["day<=2024-06"], lambda row: row[3][:7] <= "2024-06"),
        (["day>2024-06"], lambda row: row[3][:7] > "2024-06"),
        (["day>=2024", "day<2025"], lambda row: True),
        (["age>=2024-01"], lambda row: False),
        (["ward=Ear ", "patient!=p3"], lambda row: row[1] == "EAR" and row[0] != "p3"),
    ],
)
def test_only_records_that_meet_the_rules_count(simplexdp, visits, rules, holds):
    given = [word for rule in rules for word in ("--where", rule)]
    done = simplexdp("release", "visits.csv", *WARDS, *PURE, *given, "--show-truth", "--json")
    expected = collections.Counter(ward(row[1]) for row in VISITS if holds(row))
    assert {name: count for name, count in truth(done, "ward").items() if count} == dict(expected)
    assert done.json["total"] is None


def test_numbers_have_open_bins_and_places_for_what_is_none(simplexdp, visits):
    done = simplexdp(
        "release", "visits.csv", "--column", "age", "--bins", "age=0:60:20", "--other", "typing error", "--null",
        "missing", *PURE, "--show-truth", "--json",
    )  # fmt: skip
    ages = [row[2] for row in VISITS]
    numbers = [age for age in ages if isinstance(age, int)]
    assert truth(done, "age") == {
        "below 20": sum(age < 20 for age in numbers),
        "20 to below 40": sum(20 <= age < 40 for age in numbers),
        "40 and above": sum(age >= 40 for age in numbers),
        "missing": ages.count(""),
        "typing error": ages.count("n/a"),
    }


@pytest.mark.parametrize(
    ("stated", "form", "text", "period"),
    [
        ("day=week:2024-01-01:2024-02-01", None, "2024-01-10", "2024-W02"),
        ("day=year:2020:2024", None, "2023-05-05", "2023"),
        ("day=day:2024-02-28:2024-03-01", None, "2024-02-29T10:00", "2024-02-29"),
        ("day=month:2024-01:2024-03", "%d.%m.%Y", "07.02.2024", "2024-02"),
        ("day=month:2024-01:2024-03", None, "31.12.2024", "else"),
        ("day=month:2024-01:2024-03", None, "2024-04-01", "else"),
    ],
)
def test_dates_have_periods(simplexdp, folder, stated, form, text, period):
    (folder / "days.csv").write_text(f"day\n{text}\n{text}\n", encoding="utf-8")
    done = simplexdp(
        "release", "days.csv", "--column", "day", "--dates", stated, *PURE, "--other", "else", "--show-truth", "--json",
        *(() if form is None else ("--date-format", form)),
    )  # fmt: skip
    assert {name for name, count in truth(done, "day").items() if count} == {period}


def test_other_groups_have_a_place_and_a_picture(simplexdp, visits):
    done = simplexdp(
        "release", "visits.csv", "--column", "day", "--dates", "day=year:2024:2024", "--other", "else", *PURE,
        "--by", "ward", "--groups", "eye", "--clean", "trim,fold", "--other-group", "elsewhere", "--show-truth",
        "--json", "--plot", "wards.svg", "--report", "wards.html",
    )  # fmt: skip
    assert done.code == 0, done.err
    found = {(row["ward"], row["day"]): row["true_count"] for row in done.json["rows"]}
    assert found["eye", "2024"] == sum(ward(row[1]) == "eye" for row in VISITS)
    assert found["elsewhere", "2024"] == sum(ward(row[1]) != "eye" for row in VISITS)
    assert (visits / "wards.svg").exists()
    assert (visits / "wards.html").exists()


def test_unknown_values_are_discovered_on_a_budget(simplexdp, visits):
    # Of the wards of a few persons 14 records count at most, where the threshold lies above 110 and the noise has a
    # scale of 5: the chance to discover one of them is 10^-8.
    few = [row for row in VISITS if int(row[0][1:]) < 15]
    with (visits / "visits.csv").open("w", encoding="utf-8") as file:
        file.writelines(["patient,ward,age,day\n", *(",".join(map(str, row)) + "\n" for row in few)])
        file.writelines(f"q{person},Oncology,50,2024-01-01\n" for person in range(400))
        file.write("r,Zebra ward,50,2024-01-01\n")
    assert simplexdp("ledger", "b.db", "--create", "1", "1e-5").code == 0
    asked = ("release", "visits.csv", "--column", "ward", "--discover", "--clean", "fold", "--delta", "1e-9",
             *PERSONS, "2", "--first-by", "day")  # fmt: skip
    done = simplexdp(*asked, "--epsilon", "0.9", "--json", "--ledger", "b.db", "--name", "wards")
    assert done.code == 0, done.err
    assert [row["ward"] for row in done.json["rows"]] == ["oncology", "other"]
    assert done.json["guarantee"]["spent_epsilon"] <= 0.9
    assert "zebra" not in done.out.lower() + done.err.lower()
    assert simplexdp(*asked, "--epsilon", "0.9", "--ledger", "b.db").code == 1


def test_a_map_replaces_values(simplexdp, visits):
    (visits / "map.json").write_text(json.dumps({"nose": "ear", "Eye": None}), encoding="utf-8")
    done = simplexdp(
        "release", "visits.csv", "--column", "ward", "--domain", "EAR,ear", "--other", "other", "--null", "none", *PURE,
        "--map", "map.json", "--show-truth", "--json",
    )  # fmt: skip
    found = truth(done, "ward")
    assert found["ear"] == sum(row[1] == "nose" for row in VISITS)
    assert found["none"] == sum(row[1] == "Eye" for row in VISITS)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--unit", "patient"), "--unit needs --max-rows"),
        (("--max-rows", "2"), "need --unit"),
        (("--where", "age"), "--where must be"),
        (("--where", "age>"), "says nothing to compare with"),
        (("--where", "age>18 and ward=eye"), "another rule has its own --where"),
        (("--where", "age>=eighteen"), "one number, or one date"),
        (("--where", "age=>18"), "write <= or >="),
        (("--bins", "age=0:10:5"), "for --column and --by"),
        (("--bins", "ward=0:10:5"), "exclude each other"),
        (("--bins", "ward=0:10:3"), "must divide"),
        (("--bins", "ward"), "--bins must be"),
        (("--dates", "ward=hour:2024:2025"), "--dates must be"),
        (("--dates", "ward=month:2025:2024"), "1 to 1000 periods"),
        (("--date-format", "%d"), "needs --dates"),
        (("--clean", "scrub"), "--clean must list trim, fold, nfc and nfkc, got 'scrub'"),
        (("--clean", ""), "--clean must list trim, fold, nfc and nfkc, got ''"),
        (("--clean", "trim"), "--clean must be stated once, or once for each column"),
        (("--discover",), "leave --by, --domain"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything(simplexdp, visits, given, message):
    done = simplexdp("release", "visits.csv", *WARDS, *PURE, *given)
    assert done.code == 2
    assert message in " ".join(done.err.split())


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (("--where", "age>3"), "--where"),
        ((*PERSONS, "2"), "--max-rows above 1"),
        (("--where", "age>3", *PERSONS, "2"), "--where and --max-rows above 1"),
        (("--by", "age", "--groups", "3", "--drop-others"), "--drop-others"),
    ],
)
def test_noise_that_keeps_the_total_is_refused_where_the_total_is_private(simplexdp, visits, given, named):
    """By the names of the options that make it so, and by no other's."""
    done = simplexdp("release", "visits.csv", *WARDS, "--epsilon", "1", "--mechanism", "sum_preserving_laplace", *given)
    assert done.code == 2
    assert f"keeps the total: it is private with {named}\n" in f"{' '.join(done.err.split())}\n"
    guessed = (*WARDS, "--epsilon", "1", "--delta", "1e-6", "--mechanism", "dirichlet", *given)
    if "--by" not in given:
        refused = simplexdp("release", "visits.csv", *guessed)
        assert f"with {named} the number of records is private: give --total" in " ".join(refused.err.split())
    chosen = simplexdp("release", "visits.csv", *WARDS, "--epsilon", "1", *given, "--json")
    assert chosen.json["mechanism"] == "discrete_laplace"


FITS = {
    "fit-nb": (["--target", "ward"], PrivateCategoricalNB),
    "fit-bn": (["--edge", "ward>visit"], PrivateBayesianNetwork),
    "fit-synth": ([], PrivateSynthesizer),
}


@pytest.fixture
def wards(folder):
    lines = ["patient,ward,visit,day"]
    lines += [f"p{person},{'eye' if person % 3 else 'ear'},{visit},{day}" for person, visit, day in RECORDS]
    (folder / "wards.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "wards.json").write_text('{"ward": ["eye", "ear"], "visit": 3}', encoding="utf-8")
    return folder


RECORDS = [(person, visit % 3, 100 - visit) for person in range(200) for visit in range(1 + person % 6)]
MODEL = ("wards.csv", "--domains", "wards.json", "--epsilon", "1", "--delta", "1e-6")


@pytest.mark.parametrize("command", FITS)
@pytest.mark.parametrize("rows", [1, 3])
def test_models_are_fitted_to_so_many_records_of_a_person(simplexdp, wards, command, rows):
    more, model = FITS[command]
    ledger = ("--ledger", "budget.db", "--adjacency", "replace") if rows == 3 else ()
    if ledger:
        assert simplexdp("ledger", "budget.db", "--create", "1", "1e-6").code == 0
    done = simplexdp(command, *MODEL, *more, *PERSONS, str(rows), *ledger, "--out", "model.json")
    assert done.code == 0, done.err
    assert "one patient, of whom" in done.out + done.err
    found = json.loads((wards / "model.json").read_text(encoding="utf-8"))
    assert (found["privacy"]["unit"], found["privacy"]["max_rows"]) == ("patient", rows)
    loaded = model.load(wards / "model.json")
    assert f"for 'patient' with {rows} record" in loaded.privacy_.label
    assert loaded.privacy_.epsilon(1e-6) <= 1.0
    if command != "fit-synth":
        # What is drawn from it says so too; the number of records is public for one record each alone.
        assert (found.get("total") is None) == (rows == 3)
    else:
        kept = sum(min(1 + person % 6, rows) for person in range(200))
        # Its standard deviation is below 50 (40 fits): a false alarm has a chance of 2 in 10^9.
        assert abs(loaded.n_records_ - kept) < 300
    drawn = simplexdp("synthesize", "model.json", "--size", "20", "--out", "drawn.csv")
    assert drawn.code == 0, drawn.err


def test_a_table_of_persons_is_synthesized_in_one_step(simplexdp, wards):
    done = simplexdp("synthesize", *MODEL, *PERSONS, "2", "--compare", "0.5", "--out", "drawn.csv")
    assert done.code == 0, done.err
    assert "one patient, of whom at most 2 records count" in done.err


def test_the_first_records_of_a_person_are_fitted(simplexdp, wards):
    done = simplexdp(
        "fit-bn", *MODEL, *PERSONS, "1", "--first-by", "day", "--epsilon", "1000", "--seed", "1", "--out", "model.json"
    )
    assert done.code == 0, done.err
    network = PrivateBayesianNetwork.load(wards / "model.json")
    # Days fall with visits: the first by the day is the last visit.
    final = {person: visit for person, visit, day in sorted(RECORDS, key=lambda record: -record[2])}
    shares = [list(final.values()).count(visit) / 200 for visit in range(3)]
    assert network.cpds_["visit"] == pytest.approx(shares, abs=0.02)


@pytest.mark.parametrize("command", [*FITS, "synthesize"])
def test_models_of_persons_need_both_options(simplexdp, wards, command):
    more = FITS.get(command, ([], None))[0]
    out = "drawn.csv" if command == "synthesize" else "model.json"
    for given, said in ((["--unit", "patient"], "--unit needs"), (["--max-rows", "2"], "need --unit")):
        done = simplexdp(command, *MODEL, *more, *given, "--out", out)
        assert done.code == 2
        assert said in done.err
    done = simplexdp(command, *MODEL, *more, "--unit", "nobody", "--max-rows", "2", "--out", out)
    assert done.code == 2
    assert "nobody" in done.err


def test_a_ledger_for_persons_takes_no_release_of_records(simplexdp, visits):
    assert simplexdp("ledger", "b.db", "--create", "4", "1e-6", "--unit", "patient").code == 0
    asked = ("release", "visits.csv", *WARDS, *PURE, "--ledger", "b.db")
    refused = simplexdp(*asked)
    assert (refused.code, refused.out) == (2, "")
    assert (
        "nothing was released: the ledger is for 'patient', and what was asked for is for single records" in refused.err
    )
    assert simplexdp(*asked, *PERSONS, "2").code == 0
    shown = simplexdp("ledger", "b.db", "--json").json
    assert (shown["unit"], len(shown["rows"])) == ("patient", 1)


@pytest.mark.parametrize(
    "extra",
    [
        ("--mechanism", "discrete_laplace"),
        ("--mechanism", "discrete_gaussian", "--delta", "1e-6"),
        ("--mechanism", "discrete_laplace", "--where", "age!="),
    ],
)
def test_persons_count_as_one_whatever_rows(simplexdp, visits, extra):
    given = ("--column", "day", "--dates", "day=month:2024-01:2024-12", "--epsilon", "1", *PERSONS, "3", "--weighted")
    done = simplexdp(
        "release", "visits.csv", *given, "--first-by", "day", *extra, "--show-truth", "--json"
    )  # fmt: skip
    days = collections.defaultdict(list)
    for person, _, age, day in VISITS:
        if "--where" not in extra or age not in ("", "n/a"):
            days[person].append(day[:7])
    expected = collections.Counter()
    for months in days.values():
        kept = sorted(months)[:3]
        for month in kept:
            expected[month] += 1 / len(kept)
    found = {month: count for month, count in truth(done, "day").items() if count}
    if "--where" not in extra:  # which of the values are missing is told by their texts, of which one is no number
        assert found == pytest.approx(dict(expected))
    assert sum(found.values()) == pytest.approx(round(sum(found.values())))
    size = "sigma" if "discrete_gaussian" in extra else "scale"
    assert done.json["parameters"]["units"] == 6
    one = simplexdp("release", "visits.csv", *given[:-2], "1", *extra, "--json")
    assert done.json["parameters"][size] / 6 == pytest.approx(one.json["parameters"][size], rel=0.02)
    assert done.json["guarantee"]["weighted"] is True
    assert "at most 3 records count as one" in done.json["notes"][0]
    assert any("whole units, 6 to a person" in note for note in done.json["notes"])
    for row in done.json["rows"]:
        assert (row["noisy_count"] * 6) == pytest.approx(round(row["noisy_count"] * 6))


@pytest.mark.parametrize("command", ["fit-nb", "fit-bn", "fit-synth"])
def test_models_of_persons_who_count_as_one(simplexdp, visits, command):
    (visits / "domains.json").write_text('{"ward": ["Eye", " eye ", "EAR", "nose"], "day": ["2024-01-03"]}')
    own = {"fit-nb": ("--target", "ward"), "fit-bn": ("--edge", "ward>day")}.get(command, ())
    done = simplexdp(
        command, "visits.csv", *own, "--domains", "domains.json", "--other", "later", "--epsilon", "3", "--delta",
        "1e-6", *PERSONS, "4", "--weighted", "--out", "model.json", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert done.json["weighted"] is True
    kind = {"fit-nb": PrivateCategoricalNB, "fit-bn": PrivateBayesianNetwork, "fit-synth": PrivateSynthesizer}[command]
    model = kind.load(visits / "model.json")
    assert model.weighted
    assert model.max_rows == 4
    assert model.privacy_.unit == "patient"


@pytest.mark.parametrize(
    ("extra", "told"),
    [
        (("--weighted",), "--weighted needs --unit COLUMN"),
        (("--weighted", *PERSONS, "17"), "at most 16"),
        (("--weighted", *PERSONS, "2", "--quantiles", "age=3:0:90"), "--weighted is for counts"),
        (("--weighted", *PERSONS, "2", "--discover"), "--weighted is for counts"),
        (("--weighted", *PERSONS, "2", "--mechanism", "sum_preserving_laplace"), "keeps the total"),
    ],
)
def test_weights_that_mean_nothing_are_refused_before_anything_is_read(simplexdp, visits, extra, told):
    column = ("--column", "age") if "--quantiles" in extra else WARDS
    done = simplexdp("release", "visits.csv", *column, "--epsilon", "1", *extra)
    assert done.code != 0
    assert told in done.err


DATED = "patient,ward,day\n1,Eye,03.02.2024\n1,ear,20.12.2023\n2,ear,05.01.2024\n3,EYE,07.01.2024\n3,eye,16.05.2023\n"
CLEAN, GROUPED = ("--clean", "trim,fold"), ("--by", "day", "--groups", "a,b")


@pytest.mark.parametrize("dates", [(), ("--dates", "day=year:2023:2024", "--by", "day")])
def test_the_first_records_are_those_of_the_first_dates(simplexdp, folder, dates):
    """In the order of the texts patient 1 would be counted in the eye ward."""
    (folder / "dated.csv").write_text(DATED)
    command = (
        "release", "dated.csv", "--column", "ward", "--domain", "eye,ear", *CLEAN, *PURE, *dates,
        "--unit", "patient", "--max-rows", "1", "--first-by", "day", "--show-truth", "--json",
    )  # fmt: skip
    rows = simplexdp(*command, "--date-format", "%d.%m.%Y").json["rows"]
    counted = {}
    for row in rows:
        counted[row["ward"]] = counted.get(row["ward"], 0) + row["true_count"]
    assert counted == {"eye": 1, "ear": 2}
    if not dates:
        rows = simplexdp(*command).json["rows"]
        assert [row["true_count"] for row in rows] == [2, 1]
        refused = simplexdp(*command, "--date-format", "%Y/%m/%d")
        assert refused.code == 1
        assert "no dates as --date-format" in refused.err
        assert "2024" not in refused.err


def test_a_posterior_counts_the_records_of_the_first_dates(simplexdp, folder):
    (folder / "dated.csv").write_text(DATED)
    command = (
        "posterior", "dated.csv", "--column", "ward", "--domain", "eye,ear", *CLEAN, "--epsilon", "1",
        "--unit", "patient", "--max-rows", "1", "--show-truth", "--json",
    )  # fmt: skip
    first = (*command, "--first-by", "day")
    for form, counted in (((), [2, 1]), (("--date-format", "%d.%m.%Y"), [1, 2])):
        assert [row["true_count"] for row in simplexdp(*first, *form).json["rows"]] == counted
    refused = simplexdp(*command, "--date-format", "%d.%m.%Y")
    assert refused.code == 2
    assert "--date-format needs --first-by" in refused.err


PAID = ("--domains", "dated.json", "--epsilon", "1", "--delta", "1e-6")
NUMBER = ("--column", "age", "--bounds", "0:90", "--epsilon", "1")
OF_DATES = {
    "mean": NUMBER,
    "quantile": NUMBER,
    "fit-nb": (*PAID, "--target", "ward"),
    "fit-bn": PAID,
    "fit-synth": PAID,
    "synthesize": PAID,
}


@pytest.mark.parametrize("command", OF_DATES)
def test_every_command_reads_the_dates_of_the_first_records_in_their_format(simplexdp, folder, command):
    # The first record of each of 400 persons is in the ear ward; those with smaller texts are in the eye ward.
    rows = [f"{person},5,eye,x,{day:02}.01.2024" for person in range(400) for day in range(2, 11)]
    rows += [f"{person},85,ear,x,31.12.2023" for person in range(400)]
    (folder / "dated.csv").write_text("\n".join(["patient,age,ward,kind,day", *rows]) + "\n")
    (folder / "dated.json").write_text('{"ward": ["eye", "ear"], "kind": ["x", "y"]}')
    given = (command, "dated.csv", *OF_DATES[command], "--unit", "patient", "--max-rows", "1")
    ordered = (*given, "--first-by", "day", "--out", "found.json" if command != "synthesize" else "found.csv")
    done = simplexdp(*ordered, "--date-format", "%d.%m.%Y")
    assert done.code == 0, done.err
    assert _first_ones(folder, command) > 0.8
    for file in folder.glob("found.*"):
        file.unlink()
    done = simplexdp(*ordered)
    assert done.code == 0, done.err
    assert _first_ones(folder, command) < 0.2
    for file in folder.glob("found.*"):
        file.unlink()
    refused = simplexdp(*ordered, "--date-format", "%Y/%m/%d")
    assert refused.code == 1
    assert "no dates as --date-format" in refused.err
    assert "2024" not in refused.err
    refused = simplexdp(*given, "--date-format", "%d.%m.%Y")
    assert refused.code == 2
    assert "--date-format needs --first-by" in refused.err


def _first_ones(folder, command):
    """Return about which share of what counts comes from the first record of each person."""
    if command == "synthesize":
        text = (folder / "found.csv").read_text()
        return text.count("ear,") / (text.count("\n") - 1)
    if command == "fit-synth":
        drawn = PrivateSynthesizer.load(folder / "found.json").sample(400, kind="dict")
        return (drawn["ward"] == "ear").mean()
    found = json.loads((folder / "found.json").read_text())
    if command == "fit-nb":
        return found["class"]["table"][1]
    if command == "fit-bn":
        return next(node for node in found["nodes"] if node["name"] == "ward")["table"][0][1]
    name = "mean" if command == "mean" else "quantile"
    return sum(row[name] / 90 for row in found["rows"]) / len(found["rows"])


def test_dates_of_several_zones_are_ordered_by_their_times(simplexdp, folder):
    """The first is 23:30 in Greenwich, the second 00:15, though its text is smaller."""
    (folder / "zones.csv").write_text("who,ward,at\n1,eye,2024-01-02 00:30+0100\n1,ear,2024-01-01 23:15-0100\n")
    done = simplexdp(
        "release", "zones.csv", "--column", "ward", "--domain", "eye,ear", *PURE, "--unit", "who", "--max-rows", "1",
        "--first-by", "at", "--date-format", "%Y-%m-%d %H:%M%z", "--show-truth", "--json",
    )  # fmt: skip
    assert [row["true_count"] for row in done.json["rows"]] == [1, 0]


def test_a_format_of_dates_needs_dates(simplexdp, folder):
    (folder / "dated.csv").write_text(DATED)
    done = simplexdp(
        "release", "dated.csv", "--column", "ward", "--domain", "eye,ear", *PURE, "--date-format", "%d.%m.%Y"
    )
    assert done.code == 2
    assert "--dates or --first-by" in done.err


def test_posteriors_are_of_persons_in_any_spelling(simplexdp, folder):
    (folder / "dated.csv").write_text(DATED)
    command = ("posterior", "dated.csv", "--column", "ward", "--domain", "eye,ear", *CLEAN, "--epsilon", "1", "--json")
    found = simplexdp(*command, "--unit", "patient", "--max-rows", "1").json
    assert found["total"] == 3
    assert found["guarantee"]["unit"] == "patient"
    assert found["guarantee"]["spent_epsilon"] <= 1
    grouped = simplexdp(*command, "--by", "day", "--groups", "03.02.2024", "--other-group", "else")
    assert grouped.code == 2  # no such option here
    by = ("--by", "patient", "--groups", "1,2,3")
    rows = simplexdp(*command, *by, "--unit", "patient", "--max-rows", "2", "--show-truth").json
    assert rows["total"] is None
    assert rows["guarantee"]["max_rows"] == 2
    assert rows["neighbours"] == "when one person is replaced with all records"
    assert [row["true_count"] for row in rows["rows"]] == [1, 1, 0, 1, 2, 0]
    # Twice the noise of one record.
    assert rows["parameters"]["scale"] == 4


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--unit", "patient", "--max-rows", "2"), "--max-rows above 1 needs --by"),
        (
            ("--unit", "patient", "--max-rows", "1", "--by", "day", "--groups", "a,b", "--sizes", "public"),
            "excludes --unit",
        ),
        (
            ("--unit", "patient", "--max-rows", "2", "--by", "day", "--groups", "a,b", "--total", "5"),
            "excludes --total",
        ),
        (("--max-rows", "2"), "need --unit"),
    ],
)
def test_posteriors_of_persons_whose_number_of_records_is_private_are_refused(simplexdp, folder, options, said):
    (folder / "dated.csv").write_text(DATED)
    done = simplexdp("posterior", "dated.csv", "--column", "ward", "--domain", "eye,ear", "--epsilon", "1", *options)
    assert done.code == 2
    assert said in done.err


def test_quiet_says_nothing_of_what_was_written(simplexdp, folder):
    arguments = (
        "release", "people.csv", "--column", "job", "--domain", "clerk,nurse,smith", *PURE,
        "--report", "page.html", "--out", "out.csv",
    )  # fmt: skip
    assert simplexdp(*arguments, "-q").err == ""
    assert (folder / "page.html").exists()
    assert "wrote page.html" in simplexdp(*arguments).err
