"""What releases print: the right columns and guarantee, and never a true count unless it was asked for."""

import json
import math
import re

import pytest
from cli_files import BUDGET, COUNTS, JOBS

PURE = ("--epsilon", "1")
MECHANISMS = {
    "dirichlet": BUDGET,
    "gaussian": BUDGET,
    "discrete_gaussian": BUDGET,
    "laplace": PURE,
    "discrete_laplace": PURE,
    "sum_preserving_laplace": PURE,
}
ALIKE = ("--epsilon", "0.001")
"""So little budget that noise hides the counts; as one is printed by accident all the same, there is a seed too."""
SEED = ("--seed", "1")


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_every_mechanism_keeps_its_budget(simplexdp, mechanism):
    done = simplexdp("release", "people.csv", *JOBS, *MECHANISMS[mechanism], "--mechanism", mechanism, "--json")
    assert done.code == 0, done.err
    result = done.json
    assert [row["job"] for row in result["rows"]] == list(COUNTS)
    assert math.fsum(row["share"] for row in result["rows"]) == pytest.approx(1.0, abs=1e-12)
    assert 0.9 < result["guarantee"]["spent_epsilon"] <= 1.0
    assert result["private"] is True
    assert result["total"] == sum(COUNTS.values())


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_the_reported_cost_is_that_of_the_mechanism_by_its_parameters(simplexdp, mechanism, adjacency):
    if mechanism == "sum_preserving_laplace" and adjacency == "add_remove":
        pytest.skip("it keeps the total")
    done = simplexdp(
        "release", "people.csv", *JOBS, *MECHANISMS[mechanism], "--mechanism", mechanism, "--json",
        "--adjacency", adjacency, *(["--total", "1000"] if adjacency == "add_remove" else []),
    )  # fmt: skip
    found, changed = done.json["parameters"], 2 if adjacency == "replace" else 1
    spent = done.json["guarantee"]["spent_epsilon"]
    if mechanism in ("laplace", "discrete_laplace", "sum_preserving_laplace"):
        assert spent == pytest.approx(changed / found["scale"], rel=1e-5)
    elif mechanism == "dirichlet":
        import simplexdp as sdp

        curve = sdp.DirichletMechanism(
            scale=found["scale"], prior=found["prior"], dimension=3, adjacency=adjacency
        ).privacy
        assert spent == curve.epsilon(1e-6)
    else:
        assert found["sensitivity"] == pytest.approx(math.sqrt(changed), rel=1e-15)
        assert found["sensitivity"] ** 2 >= changed


def numbers(text):
    return re.findall(r"[0-9.e+-]*[0-9]", text)


@pytest.mark.parametrize("form", ["table", "csv", "json"])
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_no_true_count_is_printed(simplexdp, form, adjacency):
    arguments = ["--format", form, "--adjacency", adjacency]
    if adjacency == "add_remove":
        arguments += ["--total", "1000"]
    # A hundred synthetic records: none of the three counts can come out of them by accident.
    for extra in ([], ["--counts", "100"]):
        done = simplexdp("release", "people.csv", *JOBS, *ALIKE, "--delta", "1e-6", *SEED, *arguments, *extra)
        assert done.code == 0, done.err
        shown = set(numbers(done.out + done.err))
        assert not shown & {str(count) for count in COUNTS.values()}
        total = str(sum(COUNTS.values()))
        # The whole number, not digits within a drawn share: 0.0910371 says nothing about 1037 records.
        assert (total in shown) == (adjacency == "replace")


def test_no_true_count_of_a_group_and_no_size_of_one_is_printed(simplexdp, folder):
    from collections import Counter

    rows = [line.split(",") for line in (folder / "people.csv").read_text().splitlines()[1:]]
    truth = {*Counter((job, region) for _, job, region, _ in rows).values(), *Counter(r[2] for r in rows).values()}
    done = simplexdp(
        "release", "people.csv", *JOBS, *BUDGET, "--by", "region", "--groups", "north,south", "--counts", "20", *SEED,
        "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert [(row["region"], row["job"]) for row in done.json["rows"]] == [
        (region, job) for region in ("north", "south") for job in COUNTS
    ]
    assert not set(numbers(done.out + done.err)) & {str(count) for count in truth}


@pytest.mark.parametrize("command", ["release", "posterior"])
def test_show_truth_shows_it_and_says_so(simplexdp, command):
    done = simplexdp(
        command, "people.csv", *JOBS, *(BUDGET if command == "release" else PURE), "--show-truth", "--json"
    )
    assert {row["job"]: row["true_count"] for row in done.json["rows"]} == COUNTS
    assert done.json["private"] is False
    assert any("NOT PRIVATE" in note for note in done.json["notes"])


def test_the_total_is_checked_and_not_told(simplexdp):
    done = simplexdp("release", "people.csv", *JOBS, *BUDGET, "--total", "1000")
    assert done.code == 1
    assert "--total is not the number of records" in done.err
    assert str(sum(COUNTS.values())) not in done.out + done.err
    assert simplexdp("release", "people.csv", *JOBS, *BUDGET, "--total", str(sum(COUNTS.values()))).code == 0


def test_a_proportion_of_a_public_number_of_records_is_cheaper(simplexdp):
    import simplexdp as sdp

    records = "a\n" + "x\n" * 140 + "y\n" * 60
    base = ("--column", "a", "--domain", "x,y", *BUDGET, "--json")
    done = simplexdp("release", *base, "--debias", "--interval", "0.9", stdin=records)
    budget = {"epsilon": 1.0, "delta": 1e-6, "dimension": 2, "total": 200}
    fixed = sdp.DirichletMechanism.calibrated(**budget, fixed_total=True)
    assert done.json["parameters"]["scale"] == fixed.scale > sdp.DirichletMechanism.calibrated(**budget).scale
    drawn = simplexdp("posterior", *base, "--mechanism", "dirichlet", stdin=records)
    given = sdp.DirichletMechanism.calibrated(**{**budget, "prior": [1.0, 1.0]}, fixed_total=True)
    assert drawn.json["parameters"]["scale"] == given.scale


def test_a_prior_that_is_to_be_chosen_needs_a_public_guess(simplexdp):
    private = ("release", "people.csv", *JOBS, *BUDGET, "--adjacency", "add_remove")
    done = simplexdp(*private, "--mechanism", "dirichlet")
    assert done.code == 2
    assert "public guess" in done.err
    assert simplexdp(*private).code == 0


@pytest.mark.parametrize(
    "arguments, mechanism, spends_delta",
    [
        (PURE, "sum_preserving_laplace", False),
        (BUDGET, "sum_preserving_laplace", False),
        ((*BUDGET, "--adjacency", "add_remove"), "discrete_laplace", False),
        ((*BUDGET, "--by", "region", "--groups", "north,south"), "discrete_laplace", False),
        (("--epsilon", "0.1", "--delta", "0.1"), "discrete_gaussian", True),
        ((*BUDGET, "--debias"), "dirichlet", True),
        ((*BUDGET, "--prior", "2"), "dirichlet", True),
    ],
)
def test_the_mechanism_is_chosen_from_public_numbers_and_told(simplexdp, arguments, mechanism, spends_delta):
    done = simplexdp("release", "people.csv", *JOBS, *arguments, "--json").json
    assert done["mechanism"] == mechanism
    assert any(note.startswith(f"Mechanism: {mechanism}, by 'auto'") for note in done["notes"])
    assert (done["guarantee"]["delta"] > 0) == spends_delta


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("extra", [(), ("--adjacency", "add_remove", "--total", "900"), ("--by", "region")])
def test_what_a_release_says_is_possible(simplexdp, mechanism, extra):
    if mechanism == "sum_preserving_laplace" and extra:
        pytest.skip("it keeps the total, and ties groups together")
    groups = ("--groups", "north,south") if "--by" in extra else ()
    # So little budget that many released counts are negative.
    budget = ("--epsilon", "0.01", *(("--delta", "1e-6") if "--delta" in MECHANISMS[mechanism] else ()))
    done = simplexdp(
        "release",
        "people.csv",
        *JOBS,
        *budget,
        "--mechanism",
        mechanism,
        *extra,
        *groups,
        *SEED,
        "--interval",
        "0.9",
        "--json",
    )
    assert done.code == 0, done.err
    rows, total = done.json["rows"], sum(COUNTS.values())
    for row in rows:
        assert 0 <= row["lower"] < row["share"] < row["upper"] <= 1
        assert row["share"] > 1e-6
        assert 0 <= row["count_lower"] <= row["count_upper"]
        assert row["count"] > 0
    assert math.fsum(row["share"] for row in rows) == pytest.approx(2.0 if groups else 1.0, abs=1e-9)
    if not extra:
        assert math.fsum(row["count"] for row in rows) == pytest.approx(total, rel=1e-9)
        assert all(row["count_upper"] <= total for row in rows)
    assert done.json["level"] == 0.9


def test_what_cannot_be_inferred_is_told(simplexdp):
    private = ("--adjacency", "add_remove", "--mechanism", "dirichlet", "--prior", "3")
    done = simplexdp("release", "people.csv", *JOBS, *BUDGET, *private, "--json").json
    assert "lower" not in done["rows"][0]
    assert [row["share"] for row in done["rows"]] == [row["draw"] for row in done["rows"]]
    assert any("No intervals" in note and "--total" in note for note in done["notes"])


def test_levels_for_the_rest_and_for_nothing_count_what_they_say(simplexdp):
    stdin = "a,b\nx,1\nx,2\ny,3\nq,4\nr,5\n,6\n"
    base = ("release", "--column", "a", "--domain", "x,y", *BUDGET, "--show-truth", "--json")
    for levels, truth in (
        (["--other", "rest", "--null", "none"], {"x": 2, "y": 1, "none": 1, "rest": 2}),
        (["--other", "rest", "--null", "rest"], {"x": 2, "y": 1, "rest": 3}),
        (["--other", "y", "--null", "x"], {"x": 3, "y": 3}),
    ):
        done = simplexdp(*base, *levels, stdin=stdin)
        assert {row["a"]: row["true_count"] for row in done.json["rows"]} == truth


def test_domains_can_stand_in_files(simplexdp, folder):
    (folder / "values.txt").write_bytes("\ufeffclerk\r\nnurse\r\nsmith\r\n".encode())
    (folder / "values.json").write_text('["clerk", "nurse", "smith"]')
    for path in ("values.txt", "values.json"):
        done = simplexdp("release", "people.csv", "--column", "job", "--domain-file", path, *BUDGET, "--json")
        assert [row["job"] for row in done.json["rows"]] == list(COUNTS)


def test_quoted_commas_and_ranges_are_read_in_a_domain(simplexdp):
    stdin = 'a\n"x,y"\n3\n'
    done = simplexdp("release", "--column", "a", "--domain", '"x,y", 1..3', *BUDGET, "--json", stdin=stdin)
    assert [row["a"] for row in done.json["rows"]] == ["x,y", "1", "2", "3"]


def test_values_with_two_dots_are_texts(simplexdp, folder):
    (folder / "dots.txt").write_text("1..2.5\n1..5\n")
    (folder / "a.csv").write_text("a\n1..5\n1..2.5\n1..5\n")
    done = simplexdp(
        "release", "a.csv", "--column", "a", "--domain-file", "dots.txt", *BUDGET, "--show-truth", "--json"
    )
    assert {row["a"]: row["true_count"] for row in done.json["rows"]} == {"1..2.5": 1, "1..5": 2}
    # What is no pair of numbers is text on the command line too.
    (folder / "b.csv").write_text("a\nv1..2\n")
    done = simplexdp("release", "b.csv", "--column", "a", "--domain", "v1..2,..", *BUDGET, "--json")
    assert [row["a"] for row in done.json["rows"]] == ["v1..2", ".."]


@pytest.mark.parametrize("extra", [["--debias"], ["--interval", "0.9"], ["--debias", "--interval", "0.9"]])
def test_extras_add_columns(simplexdp, extra):
    done = simplexdp("release", "people.csv", *JOBS, *BUDGET, *extra, "--json")
    assert done.code == 0, done.err
    for row in done.json["rows"]:
        if "--debias" in extra:
            assert 0 <= row["debiased"] <= 1
        if "--interval" in extra:
            assert row["lower"] <= row["upper"]


def test_what_does_not_go_together_is_refused_before_anything_is_read(simplexdp):
    for arguments in (
        ["--mechanism", "laplace", "--debias"],
        ["--counts", "10", "--plot", "plot.png"],
        ["--by", "region", "--groups", "north,south", "--debias"],
        ["--groups", "north,south"],
        ["--by", "job", "--groups", "clerk"],
        ["--interval", "1.5"],
        ["--format", "parquet"],
        ["--json", "--format", "csv"],
        ["--out", "nowhere/shares.csv"],
        ["--out", "shares.what"],
        ["--plot", "plot.pdf"],
        ["--seed", "1", "--ledger", "budget.db"],
    ):
        budget = PURE if "laplace" in arguments else BUDGET
        done = simplexdp("release", "people.csv", *JOBS, *budget, *arguments)
        assert (done.code, done.out) == (2, ""), arguments


def test_a_seed_repeats_a_run_and_shouts(simplexdp):
    first, second = (simplexdp("release", "people.csv", *JOBS, *BUDGET, "--seed", "7") for _ in range(2))
    assert first.out == second.out
    assert "WARNING: --seed: the result is NOT PRIVATE" in first.err
    assert simplexdp("release", "people.csv", *JOBS, *BUDGET).out != first.out


def test_a_ledger_is_debited_and_refuses(simplexdp, folder):
    assert simplexdp("release", "people.csv", *JOBS, *BUDGET, "--ledger", "budget.db").code == 1
    assert simplexdp("ledger", "budget.db", "--create", "1.2", "1e-6").code == 0
    assert simplexdp("ledger", "budget.db", "--create", "9", "1e-6").code == 1
    spend = ("release", "people.csv", *JOBS, *BUDGET, "--ledger", "budget.db", "--name", "jobs", "--out", "shares.json")
    assert simplexdp(*spend).code == 0
    (folder / "shares.json").unlink()
    refused = simplexdp(*spend)
    assert refused.code == 1
    assert "does not fit" in refused.err
    assert refused.out == ""
    assert not (folder / "shares.json").exists()
    book = simplexdp("ledger", "budget.db", "--json").json
    assert [(row["name"], row["state"]) for row in book["rows"]] == [("jobs", "released")]
    assert 0.5 < book["used"] < 1
    # What was decided in advance is composed tightly.
    assert simplexdp("ledger", "planned.db", "--create", "1.2", "1e-6", "--planned").code == 0
    assert simplexdp(*spend[:-6], "--ledger", "planned.db").code == 0
    planned = simplexdp("ledger", "planned.db", "--json").json
    assert 0.99 < planned["spent_epsilon"] <= 1.2
    assert (planned["rule"], planned["adaptive"]) == ("planned", False)


def test_models_are_debited_too(simplexdp):
    simplexdp("ledger", "budget.db", "--create", "1.2", "1e-6")
    arguments = ("--domains", "domains.json", *BUDGET, "--ledger", "budget.db", "--name", "model")
    assert simplexdp("fit-nb", "people.csv", "--target", "job", *arguments).code == 0
    refused = simplexdp("fit-bn", "people.csv", "--edge", "region>job", *arguments)
    assert (refused.code, refused.out) == (1, "")


@pytest.mark.parametrize("mechanism", ["hellinger", "dirichlet", "laplace"])
def test_posteriors_keep_their_budget(simplexdp, mechanism):
    budget = BUDGET if mechanism == "dirichlet" else PURE
    done = simplexdp("posterior", "people.csv", *JOBS, *budget, "--prior", "2", "--mechanism", mechanism, "--json")
    assert done.code == 0, done.err
    assert done.json["guarantee"]["spent_epsilon"] <= 1.0
    rows = done.json["rows"]
    if mechanism == "dirichlet":
        assert math.fsum(row["share"] for row in rows) == pytest.approx(1.0, abs=1e-12)
    else:
        assert math.fsum(row["alpha"] for row in rows) == pytest.approx(sum(COUNTS.values()) + 6, abs=1e-6)
        assert "lower" not in rows[0]
        assert any("No credible intervals" in note for note in done.json["notes"])


def test_posteriors_of_few_records_have_intervals_that_know_of_the_noise(simplexdp):
    stdin = "a\n" + "x\n" * 30 + "y\n" * 10
    arguments = ("posterior", "--column", "a", "--domain", "x,y", "--epsilon", "0.2", *SEED, "--json")
    done = simplexdp(*arguments, stdin=stdin)
    import simplexdp as sdp

    rows = done.json["rows"]
    ignorant = sdp.Posterior([row["alpha"] for row in rows]).interval(0.95)
    for row, (lower, upper) in zip(rows, ignorant, strict=True):
        assert 0 <= row["lower"] < row["upper"] <= 1
        assert row["upper"] - row["lower"] > upper - lower


GROUPED = ("posterior", "people.csv", *JOBS, "--by", "region", "--groups", "north,south")


@pytest.mark.parametrize(
    ("arguments", "mechanism"),
    [
        (PURE, "discrete_laplace"),
        ((*PURE, "--sizes", "public"), "sum_preserving_laplace"),
        (("--epsilon", "0.1", "--delta", "0.1", "--prior", "1,2,3"), "discrete_gaussian"),
    ],
)
def test_groups_have_posteriors(simplexdp, folder, arguments, mechanism):
    done = simplexdp(*GROUPED, *arguments, "--level", "0.999999999", "--show-truth", "--json")
    assert done.code == 0, done.err
    found, sizes = done.json, {}
    for line in (folder / "people.csv").read_text().splitlines()[1:]:
        sizes[line.split(",")[2]] = sizes.get(line.split(",")[2], 0) + 1
    assert found["mechanism"] == mechanism
    assert [(row["region"], row["job"]) for row in found["rows"]] == [
        (region, job) for region in ("north", "south") for job in COUNTS
    ]
    for row in found["rows"]:
        # A false alarm has a chance of 6 in 10^9.
        assert 0 <= row["count_lower"] <= row["true_count"] <= row["count_upper"]
        assert 0 <= row["lower"] < row["share"] < row["upper"] <= 1
        assert all(round(row[end], 9) == row[end] for end in ("lower", "upper")), "a share of 1e-17 is no figure"
        assert row.get("group_size", sizes[row["region"]]) == sizes[row["region"]]
    public = "--sizes" in arguments
    assert public == ("of its group" in found["notes"][0]) == ("of its group" in found["neighbours"])
    assert public == ("group_size" in found["rows"][0])


def test_groups_that_do_not_go_together_are_refused(simplexdp):
    for arguments in (
        ["--by", "region"],
        ["--groups", "north"],
        ["--sizes", "public"],
        [*GROUPED[-4:], "--mechanism", "laplace"],
        [*GROUPED[-4:], "--prior", "1,2"],
        ["--by", "job", "--groups", "clerk"],
    ):
        done = simplexdp("posterior", "people.csv", *JOBS, *PURE, *arguments)
        assert (done.code, done.out) == (2, ""), arguments


@pytest.mark.parametrize("calibration", ["certified", "proved"])
def test_a_posterior_says_what_its_guarantee_rests_on(simplexdp, calibration):
    stdin = "a,b\n" + "x,1\n" * 12 + "y,2\n" * 8
    done = simplexdp(
        "posterior", "--column", "a", "--domain", "x,y", *BUDGET, "--calibration", calibration, "--json", stdin=stdin
    )
    assert done.json["parameters"]["calibration"] == calibration
    assert done.json["guarantee"]["exact"] == (calibration == "certified")
    assert done.json["guarantee"]["spent_epsilon"] <= 1.0


def test_a_posterior_draw_is_never_surer_than_the_posterior(simplexdp):
    done = simplexdp(
        "posterior", "people.csv", *JOBS, "--epsilon", "50", "--delta", "1e-6", "--mechanism", "dirichlet", "--json"
    )
    assert done.json["parameters"]["scale"] == 1.0


def test_models_hold_what_was_released_and_nothing_else(simplexdp, folder):
    # Noise on integers is zero now and then: with this seed no released count is a true one.
    arguments = ("--domains", "domains.json", *BUDGET, "--seed", "1")
    assert simplexdp("fit-nb", "people.csv", "--target", "job", *arguments, "--out", "model.json").code == 0
    assert simplexdp("fit-bn", "people.csv", "--edge", "region>job", *arguments, "--out", "network.json").code == 0
    from simplexdp.models import PrivateBayesianNetwork

    model = json.loads((folder / "model.json").read_text())
    assert model["class"]["values"] == list(COUNTS)
    assert [feature["name"] for feature in model["features"]] == ["region", "age"]
    for feature in model["features"]:
        for row in feature["table"]:
            assert math.fsum(row) == pytest.approx(1.0, abs=1e-12)
    network = PrivateBayesianNetwork.load(folder / "network.json")
    assert network.parents_["job"] == ["region"]
    assert network.domains_["age"].levels == [1, 2, 3, 4, 5]
    for name in ("model.json", "network.json"):
        found = set(numbers((folder / name).read_text()))
        assert not found & {str(count) for count in COUNTS.values()}


def test_a_score_is_given_only_when_asked_and_is_called_not_private(simplexdp):
    arguments = ("fit-nb", "people.csv", "--target", "job", "--domains", "domains.json", *BUDGET, "--out", "model.json")
    assert "accuracy" not in simplexdp(*arguments, "--json").json
    scored = simplexdp(*arguments, "--force", "--score", "public-test.csv", "--json").json
    assert 0 <= scored["accuracy"] <= 1
    assert any("NOT PRIVATE" in note for note in scored["notes"])


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_synthetic_records_have_the_domains_of_the_model(simplexdp, folder, form):
    pytest.importorskip("pyarrow")
    from pyarrow import csv, parquet

    simplexdp("fit-bn", "people.csv", "--edge", "region>job", "--domains", "domains.json", *BUDGET, "--out", "n.json")
    assert simplexdp("synthesize", "n.json", "--size", "500", "--out", f"records.{form}").code == 0
    read = csv.read_csv if form == "csv" else parquet.read_table
    table = read(str(folder / f"records.{form}"))
    assert table.num_rows == 500
    assert set(table["job"].to_pylist()) <= set(COUNTS)
    assert set(table["age"].to_pylist()) <= {1, 2, 3, 4, 5}


def test_synthetic_records_follow_released_shares(simplexdp, folder):
    simplexdp("release", "people.csv", *JOBS, *BUDGET, "--out", "shares.json")
    shares = {row["job"]: row["share"] for row in json.loads((folder / "shares.json").read_text())["rows"]}
    done = simplexdp("synthesize", "shares.json", "--size", "20000", "--seed", "1")
    drawn = done.out.splitlines()[1:]
    # 20000 draws: six standard deviations are below 0.0213; three tests, false alarms below 6e-9 whatever was released.
    for job, share in shares.items():
        assert drawn.count(job) / len(drawn) == pytest.approx(share, abs=0.0213)


def test_synthesis_of_groups_is_refused(simplexdp):
    simplexdp(
        "release", "people.csv", *JOBS, *BUDGET, "--by", "region", "--groups", "north,south", "--out", "groups.json"
    )
    done = simplexdp("synthesize", "groups.json", "--size", "10")
    assert done.code == 2
    assert "how large the groups are" in done.err


def test_certificates_can_be_loaded(simplexdp, folder):
    done = simplexdp("certify", "--prior", "1,1", "--n", "20", "--epsilon", "1", "--certificate", "c.json", "--json")
    assert done.code == 0, done.err
    import simplexdp as sdp

    loaded = sdp.HellingerMechanism.load_certificate(folder / "c.json")
    assert loaded.privacy.epsilon(0.0) == done.json["exact_epsilon"] <= 1.0


def test_calibration_is_that_of_the_library(simplexdp):
    import simplexdp as sdp

    done = simplexdp("calibrate", *BUDGET, "--dimension", "6", "--total", "1000", "--json").json
    mechanism = sdp.DirichletMechanism.calibrated(epsilon=1.0, delta=1e-6, dimension=6, total=1000)
    assert (done["scale"], done["prior"]) == (mechanism.scale, mechanism.prior)
    assert done["exact_delta"] <= 1e-6


def test_unforeseen_errors_do_not_quote_data(simplexdp, monkeypatch):
    from simplexdp.cli import counting

    def broken(*_):
        raise RuntimeError("SECRET")

    monkeypatch.setattr(counting, "count", broken)
    done = simplexdp("release", "people.csv", *JOBS, *BUDGET)
    assert done.code == 1
    assert "SECRET" not in done.err
    assert "RuntimeError" in done.err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_name_the_program(simplexdp, shell):
    done = simplexdp("completion", shell)
    assert done.code == 0
    assert "_SIMPLEXDP_COMPLETE" in done.out


def test_completion_completes(simplexdp, monkeypatch, capsys):
    monkeypatch.setenv("_SIMPLEXDP_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "simplexdp cal")
    monkeypatch.setenv("COMP_CWORD", "1")
    done = simplexdp()
    assert done.out.strip() == "plain,calibrate"


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_plots_are_drawn(simplexdp, folder, mechanism, suffix):
    pytest.importorskip("matplotlib")
    path = folder / f"plot.{suffix}"
    done = simplexdp(
        "release", "people.csv", *JOBS, *MECHANISMS[mechanism], "--mechanism", mechanism, "--plot", path.name
    )
    assert done.code == 0, done.err
    start = {"png": b"\x89PNG", "svg": b"<?xml"}[suffix]
    assert path.read_bytes().startswith(start)
    assert f"wrote {path.name}" in done.err


def test_a_report_says_whose_shares_it_shows_and_names_no_columns(simplexdp, folder):
    done = simplexdp("release", "people.csv", *JOBS, "--epsilon", "1", *SEED, "--report", "one.html", "--json")
    assert done.code == 0, done.err
    page = (folder / "one.html").read_text(encoding="utf-8")
    assert "Shares and records are those in these data." in page
    record = json.loads((folder / "one.html.json").read_text(encoding="utf-8"))
    for entry, row in zip(record["data"], done.json["rows"], strict=True):
        assert entry["share"] == pytest.approx(row["count"] / record["records"], abs=1e-9)
    done = simplexdp(
        "release", "people.csv", *JOBS, "--adjacency", "add_remove", "--epsilon", "1", *SEED, "--report", "all.html",
        "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    other = (folder / "all.html").read_text(encoding="utf-8")
    assert "Shares and records are those in these data." not in other
    # What the columns of a table are called says nothing on a page.
    assert "count_lower" in done.out
    assert "count_lower" not in page + other
    assert "under a Dirichlet prior" in page


def test_a_report_holds_the_release_and_not_the_truth(simplexdp, folder):
    pytest.importorskip("simplexdp.report")
    done = simplexdp(
        "release", "people.csv", *JOBS, *ALIKE, "--delta", "1e-6", *SEED, "--report", "report.html", "--show-truth",
        "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert all(job in page for job in COUNTS)
    assert not set(numbers(page)) & {str(count) for count in COUNTS.values()}
    assert "true_count" not in page


def test_winners_are_compared_on_a_grid(simplexdp):
    grid = ("--n", "100,1000", "--dimension", "2,3", "--json")
    done = simplexdp("compare", *grid, *BUDGET)
    assert done.code == 0, done.err
    assert [(row["n"], row["dimension"]) for row in done.json["rows"]] == [(100, 2), (100, 3), (1000, 2), (1000, 3)]
    assert all(row["margin"] is None or row["margin"] >= 1 for row in done.json["rows"])


def test_a_recommendation_is_that_of_the_library(simplexdp):
    from simplexdp.cli.recommend import TASKS
    from simplexdp.comparison import advice

    assert {*advice.TASKS, *advice.ALSO_CALLED} == set(TASKS)
    done = simplexdp("recommend", "counts", "--n", "500", "--dimension", "3", *BUDGET, "--json").json
    found = advice.recommend("counts", n=500, dimension=3, epsilon=1.0, delta=1e-6)
    assert (done["mechanism"], done["why"]) == (found.mechanism, found.why)


def test_a_comparison_is_that_of_the_library(simplexdp):
    import simplexdp as sdp

    done = simplexdp("compare", "--n", "500", "--dimension", "3", "--metric", "l1", *BUDGET, "--json").json
    found = sdp.compare(500, 3, 1.0, 1e-6, metric="l1")
    assert [row["mechanism"] for row in done["rows"]] == [row.mechanism for row in found.rows]
    assert [row["error"] for row in done["rows"]] == [row.error for row in found.rows]


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_every_mechanism_has_intervals_and_a_report(simplexdp, folder, mechanism):
    done = simplexdp(
        "release", "people.csv", *JOBS, *MECHANISMS[mechanism], "--mechanism", mechanism,
        # A false alarm has a chance of three in 10^9.
        "--interval", "0.999999999", "--report", "page.html", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    total = sum(COUNTS.values())
    for row in done.json["rows"]:
        assert 0 <= row["lower"] <= COUNTS[row["job"]] / total <= row["upper"] <= 1
    assert mechanism in (folder / "page.html").read_text(encoding="utf-8")


OWN = [
    (["release", *BUDGET], "share"),
    (["release", *BUDGET, "--counts", "5"], "count"),
    (["release", *PURE, "--mechanism", "laplace"], "noisy_count"),
    (["release", *BUDGET, "--debias", "--interval", "0.9"], "lower"),
    (["release", *BUDGET, "--show-truth"], "true_count"),
    (["posterior", *PURE, "--mechanism", "laplace"], "mean"),
    (["posterior", *BUDGET, "--mechanism", "dirichlet"], "share"),
]


@pytest.mark.parametrize("arguments, name", OWN)
def test_a_column_called_as_one_of_the_result_is_refused_before_the_debit(simplexdp, arguments, name):
    simplexdp("ledger", "budget.db", "--create", "5", "1e-6")
    debited = ("--ledger", "budget.db")
    for column in (name, "a"):
        stdin = f"{column},b\n" + "x,1\ny,2\n" * 20
        done = simplexdp(*arguments, "--column", column, "--domain", "x,y", *debited, stdin=stdin)
        assert done.code == (2 if column == name else 0), done.err
    assert (
        f"the result has a column {name!r}"
        in simplexdp(*arguments, "--column", name, "--domain", "x,y", stdin=stdin).err
    )
    assert len(simplexdp("ledger", "budget.db", "--json").json["rows"]) == 1


@pytest.mark.parametrize("form", ["csv", "json", "table", "parquet"])
def test_a_release_that_cannot_be_written_is_printed(simplexdp, folder, full_disk, form):
    (folder / "shares.out").write_text("what was there")
    done = simplexdp("release", "people.csv", *JOBS, *BUDGET, "--out", full_disk("shares.out"), "--format", form)
    assert done.code == 1
    assert "--out shares.out: No space left on device" in done.err
    assert (folder / "shares.out").exists()
    assert "printed instead" in done.err
    assert all(job in done.out for job in COUNTS)
