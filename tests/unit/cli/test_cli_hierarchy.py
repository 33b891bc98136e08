"""Counts on the levels of a hierarchy on the command line."""

import json

import pytest

JOB = ("--column", "job", "--domain", "a,b", "--epsilon", "1")
BY = ("--by", "region", "--by", "district")
CSV = "district,job\n" + "n1,a\nn1,b\nn2,a\ns1,b\ns1,b\n" * 20


@pytest.fixture
def places(folder):
    (folder / "places.json").write_text(json.dumps({"north": ["n1", "n2"], "south": ["s1"]}))
    (folder / "places.csv").write_text("region,district\nnorth,n1\nsouth,s1\nnorth,n2\n")
    return folder


@pytest.mark.parametrize("path", ["places.json", "places.csv"])
@pytest.mark.parametrize("shares", [(), ("--level-shares", "1,2")])
@pytest.mark.usefixtures("places")
def test_children_add_up_to_their_parents_and_all_to_the_public_total(simplexdp, path, shares):
    done = simplexdp("release", *JOB, *BY, "--hierarchy", path, *shares, "--json", stdin=CSV)
    assert done.code == 0, done.err
    found = done.json
    assert found["guarantee"]["spent_epsilon"] <= 1.0
    assert found["total"] == 100
    for level in found["by"]:
        rows = [row for row in found["rows"] if row["level"] == level]
        assert sum(row["count"] for row in rows) == pytest.approx(100, abs=1e-6)
        assert all(0 <= row["count_lower"] <= row["count_upper"] for row in rows)
        assert all((row["noisy_count"] is None) == (not found["shares"][found["by"].index(level)]) for row in rows)
    upper = {(row["region"], row["job"]): row["count"] for row in found["rows"] if row["level"] == "region"}
    for (region, job), count in upper.items():
        inner = [
            r["count"] for r in found["rows"] if r["level"] != "region" and (r["region"], r["job"]) == (region, job)
        ]
        assert sum(inner) == pytest.approx(count, abs=1e-6)


@pytest.mark.usefixtures("places")
def test_a_ledger_is_debited_once_for_all_levels(simplexdp):
    assert simplexdp("ledger", "budget.db", "--create", "1.2", "1e-6").code == 0
    one = ("release", *JOB, *BY, "--hierarchy", "places.json", "--level-shares", "1,1", "--ledger", "budget.db")
    assert simplexdp(*one, stdin=CSV).code == 0
    refused = simplexdp(*one, stdin=CSV)
    assert (refused.code, refused.out) == (1, "")
    assert "nothing was released" in refused.err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--hierarchy", "places.json"), 2),
        ((*BY, "--hierarchy", "none.json"), 2),
        ((*BY, "--hierarchy", "broken.json"), 2),
        ((*BY, "--hierarchy", "flat.json"), 2),
        ((*BY, "--hierarchy", "twice.json"), 2),
        ((*BY, "--hierarchy", "places.json", "--level-shares", "1"), 2),
        ((*BY, "--hierarchy", "places.json", "--level-shares", "1,nan"), 2),
        ((*BY, "--hierarchy", "places.json", "--level-shares", "1,0"), 2),
        ((*BY, "--hierarchy", "places.json", "--groups", "n"), 2),
        ((*BY, "--hierarchy", "places.json", "--margins"), 2),
        ((*BY, "--hierarchy", "places.json", "--mechanism", "discrete_laplace"), 2),
        ((*BY, "--hierarchy", "places.json", "--show-truth"), 2),
        ((*BY, "--hierarchy", "places.json", "--other-group", "north"), 2),
        (("--by", "region", "--groups", "x", "--level-shares", "1"), 2),
    ],
)
def test_what_does_not_go_together_is_refused(simplexdp, places, arguments, code):
    (places / "broken.json").write_text("{")
    (places / "flat.json").write_text('["n1"]')
    (places / "twice.json").write_text('{"north": ["n1"], "south": ["n1"]}')
    done = simplexdp("release", *JOB, *arguments, stdin=CSV)
    assert (done.code != 0, done.out) == (True, ""), done.err
    assert "Traceback" not in done.err


@pytest.mark.usefixtures("places")
def test_a_record_elsewhere_is_refused_without_being_shown_or_has_a_group(simplexdp):
    stdin = CSV + "atlantis,a\n"
    done = simplexdp("release", *JOB, *BY, "--hierarchy", "places.json", stdin=stdin)
    assert done.code == 1
    assert "atlantis" not in done.err
    done = simplexdp("release", *JOB, *BY, "--hierarchy", "places.json", "--other-group", "else", "--json", stdin=stdin)
    assert done.json["rows"][-1]["region"] == "else"


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_all_levels_are_drawn(simplexdp, places, suffix):
    pytest.importorskip("matplotlib")
    name = f"places.{suffix}"
    drawn = ("release", *JOB, *BY, "--hierarchy", "places.json", "--plot", name)
    done = simplexdp(*drawn, stdin=CSV)
    assert done.code == 0, done.err
    content = (places / name).read_bytes()
    assert content.startswith(b"\x89PNG" if suffix == "png" else b"<?xml")
    assert f"wrote {name}" in done.err


@pytest.mark.parametrize("options", [("--plot", "places.gif"), ("--plot", "places.png", "--plot-sorted")])
@pytest.mark.usefixtures("places")
def test_a_picture_that_cannot_be_is_refused_before_anything_is_spent(simplexdp, options):
    assert simplexdp("ledger", "budget.db", "--create", "1.2", "1e-6").code == 0
    paid = ("--ledger", "budget.db")
    assert simplexdp("release", *JOB, *BY, "--hierarchy", "places.json", *options, *paid, stdin=CSV).code == 2
    assert simplexdp("ledger", "budget.db", "--json").json["used"] == 0


@pytest.mark.usefixtures("places")
def test_a_page_shows_all_levels_their_budget_and_where_it_comes_from(simplexdp, places):
    pytest.importorskip("matplotlib")
    assert simplexdp("ledger", "budget.db", "--create", "2", "1e-6", "--unit", "patient").code == 0
    rows = CSV.splitlines()[1:]
    (places / "p.csv").write_text("district,job,patient\n" + "".join(f"{row},{i // 2}\n" for i, row in enumerate(rows)))
    done = simplexdp(
        "release", "p.csv", *JOB, *BY, "--hierarchy", "places.json", "--level-shares", "1,3", "--unit", "patient",
        "--max-rows", "2", "--ledger", "budget.db", "--report", "page.html", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    page = (places / "page.html").read_text()
    record = json.loads((places / "page.html.json").read_text())
    for words in (
        "one patient added or removed with all records" if done.json["guarantee"]["adjacency"] == "add_remove"
        else "one patient replaced with all records",
        "simplexdp release p.csv", "budget.db, 50.0\xa0% of its budget used, 50.0\xa0% left", "10 counts on 2 levels",
        "data:image/svg+xml;base64,", "25.0\xa0%", "75.0\xa0%", "north &gt; n1: a",
    ):  # fmt: skip
        assert words in page
    assert record["privacy"]["unit"] == "patient"
    assert [each["share"] for each in record["levels"]] == [0.25, 0.75]
    told = [entry for each in record["levels"] for entry in each["data"]]
    for row, entry in zip(done.json["rows"], told, strict=True):
        assert (row["job"], row["count"]) == (entry["label"], pytest.approx(entry["count"], abs=1e-6))
        assert entry["countInterval"] == [row["count_lower"], row["count_upper"]]


@pytest.mark.parametrize("report", ["page.pdf", "page"])
@pytest.mark.usefixtures("places")
def test_a_page_that_cannot_be_is_refused_before_anything_is_spent(simplexdp, report):
    assert simplexdp("ledger", "budget.db", "--create", "1.2", "1e-6").code == 0
    done = simplexdp(
        "release", *JOB, *BY, "--hierarchy", "places.json", "--report", report, "--ledger", "budget.db", stdin=CSV
    )
    assert (done.code, done.out) == (2, "")
    assert "--report" in done.err
    assert simplexdp("ledger", "budget.db", "--json").json["used"] == 0


@pytest.mark.usefixtures("places")
def test_the_page_of_a_seeded_release_says_so_on_top(simplexdp, places):
    pytest.importorskip("matplotlib")
    done = simplexdp("release", *JOB, *BY, "--hierarchy", "places.json", "--report", "p.html", "--seed", "3", stdin=CSV)
    assert done.code == 0, done.err
    assert '<p class="warning" role="alert"><bdi>NOT PRIVATE' in (places / "p.html").read_text()


def test_a_plan_tells_the_error_of_every_level(simplexdp):
    done = simplexdp("plan", "hierarchy", "--n", "300", "--domains", "2,6", "--epsilons", "0.5,2", "--json")
    assert done.code == 0, done.err
    first, last = done.json["rows"]
    assert done.json["metric"] == "finest"
    assert first["value"] == first["level 2 value"] > last["level 2 value"]
    assert first["level 1 share"] + first["level 2 share"] == pytest.approx(1.0)
    assert first["level 1 within"] > 0
    told = simplexdp("plan", "hierarchy", "--n", "300", "--domains", "2,6", "--epsilons", "2")
    assert "By level: level 1" in told.out.replace("\n", " ")
    assert "sdp.hierarchy.release(frame, hierarchy, epsilon=2.0, delta=1e-06)" in told.out
