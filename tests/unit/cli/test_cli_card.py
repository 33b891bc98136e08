"""Model cards on the command line: beside a model that is made, and of one that was saved."""

import json

import pytest
from cli_files import BUDGET

# Now and then the noisy number of so few records is so small that no pairs are measured, of which a warning tells.
pytestmark = pytest.mark.filterwarnings("ignore:the budget is too small:UserWarning")

KINDS = {
    "fit-nb": (["--target", "job"], "Naive Bayes classifier", []),
    "fit-bn": (["--edge", "region>job"], "Bayesian network", [["region", "job"]]),
    "fit-synth": ([], "Synthesizer of tables", None),
}


@pytest.mark.parametrize("command", KINDS)
def test_a_card_is_written_with_the_model_and_of_the_saved_model(command, simplexdp, folder):
    arguments, kind, pairs = KINDS[command]
    made = simplexdp(
        command,
        "people.csv",
        *arguments,
        "--domains",
        "domains.json",
        *BUDGET,
        "--out",
        "model.json",
        "--card",
        "a.html",
    )
    assert made.code == 0, made.err
    page, record = (folder / "a.html").read_text(), json.loads((folder / "a.html.json").read_text())
    assert kind in page
    assert record["kind"] == kind
    assert record["isBasedOn"] == "people.csv"
    assert record["madeBy"].startswith(f"simplexdp {command} people.csv")
    assert {each["name"] for each in record["columns"]} == set(json.loads((folder / "domains.json").read_text()))
    assert record["privacy"]["epsilon"] <= 1.0
    if pairs is not None:
        assert record["pairs"] == pairs
    done = simplexdp(
        "card", "model.json", "--out", "b.html", "--title", "Jobs <b>", "--measure", "accuracy, public=0.81"
    )
    assert done.code == 0, done.err
    again = json.loads((folder / "b.html.json").read_text())
    assert again["measures"] == {"accuracy, public": 0.81}
    assert again["name"] == "Jobs <b>"
    assert {name: again[name] for name in ("kind", "columns", "pairs")} == {
        name: record[name] for name in ("kind", "columns", "pairs")
    }
    text = (folder / "b.html").read_text()
    assert "Jobs &lt;b&gt;" in text
    assert "Jobs <b>" not in text


def test_a_gaussian_classifier_has_a_card_with_the_bounds_of_its_columns(simplexdp, folder):
    import numpy as np

    from simplexdp.models import PrivateGaussianNB

    X = np.random.default_rng(1).uniform(0, 1, (200, 1))
    data = {"height": X[:, 0], "team": ["a", "b"] * 100}
    model = PrivateGaussianNB(1.0, bounds={"height": (0.25, 2)}, classes=["a", "b"]).fit(data, "team")
    (folder / "g.json").write_text(model.to_json())
    done = simplexdp("card", "g.json", "--out", "g.html")
    assert done.code == 0, done.err
    record, page = json.loads((folder / "g.html.json").read_text()), (folder / "g.html").read_text()
    assert record["columns"] == [{"name": "height", "bounds": [0.25, 2.0]}, {"name": "team", "levels": 2}]
    assert record["kind"] == "Gaussian naive Bayes classifier"
    assert 0.99 < record["privacy"]["epsilon"] <= 1.0
    assert "0.25 to 2" in page
    assert "levels, or bounds of numbers" in page


REFUSED = {
    "no model": (["people.csv", "--out", "c.html"], 2, "must be a model that fit-nb, fit-bn, fit-synth or save wrote"),
    "no figure": (["model.json", "--out", "c.html", "--measure", "high"], 2, "--measure must be NAME=VALUE"),
    "no number": (["model.json", "--out", "c.html", "--measure", "a=nan"], 2, "--measure must be"),
    "itself": (["model.json", "--out", "model.json"], 2, "--out"),
    "no page": (["model.json"], 2, "give --out FILE.html, or --json"),
}


@pytest.mark.parametrize("arguments, code, said", REFUSED.values(), ids=REFUSED)
def test_what_no_card_can_be_made_of_is_refused(arguments, code, said, simplexdp, folder):
    simplexdp("fit-synth", "people.csv", "--domains", "domains.json", *BUDGET, "--out", "model.json")
    before = (folder / "model.json").read_text()
    done = simplexdp("card", *arguments)
    assert done.code == code, done.err
    assert said in done.err
    assert (folder / "model.json").read_text() == before
    assert not (folder / "c.html").exists()
