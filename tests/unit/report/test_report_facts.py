"""Counts, groups and origin on a page; the same for programs; cards of models."""

import json
import re
import subprocess
import warnings

import numpy as np
import pytest
from report_pages import HOSTILE, page_of
from test_report_browser import CHROMIUM, browse

import simplexdp as sdp
from simplexdp.exceptions import InvalidParameterError
from simplexdp.report import Facts, model_card, model_record, release_record
from simplexdp.testing import SeededRng

FACTS = Facts(
    source="people.csv",
    date="2026-11-19",
    ledger="budget.db",
    used=0.2501,
    made_by="simplexdp release <x>\n--epsilon 1",
)


def record_of(values, **more):
    values = np.asarray(values, float)
    return release_record(
        labels=[str(i) for i in range(len(values))],
        values=values,
        lower=values - 0.0004,
        upper=values + 0.0004,
        level=0.95,
        curve=sdp.PrivacyCurve.pure(1.0),
        guarantee={"delta": 0.0},
        parameters={"scale": np.float64(2.0)},
        **more,
    )


def test_counts_stand_beside_shares_and_are_rounded_outward():
    page = page_of(["a", "b"], values=[0.6, 0.4], total=1000)
    assert "<b>600</b> (480 – 750)" in page
    assert "<b>400</b> (320 – 500)" in page
    assert "Records" not in page_of(["a", "b"], values=[0.6, 0.4])


def test_nothing_negative_and_no_dust_is_published():
    record = record_of([1.0, -3e-17, 1e-17], total=100)
    assert [row["share"] for row in record["data"]] == [1.0, 0.0, 0.0]
    assert all(end >= 0 for row in record["data"] for end in row["interval"] + row["countInterval"])
    text = json.dumps(record)
    assert "e-1" not in text
    assert "-" not in re.sub(r'"[^"]*"', "", text)


def test_groups_have_tables_of_their_own():
    values = np.array([0.7, 0.3])
    page = page_of(["a", "b"], values=[0.5, 0.5], groups={"north <b>": (values, values - 0.1, values + 0.1)})
    assert "north &lt;b&gt;" in page
    assert page.count('<table class="shares"') == 2
    assert "70.0\xa0%" in page or "70.00\xa0%" in page or "70\xa0%" in page


def test_the_origin_is_on_the_page_and_escaped():
    page = page_of(["a", "b"], facts=FACTS)
    for text in (
        "people.csv",
        "2026-11-19",
        "budget.db, 25.1\xa0% of its budget used, 74.9\xa0% left",
        'simplexdp release &lt;x&gt;\n<span class="whole">--eps',
    ):
        assert text in page
    record = record_of([1.0], facts=FACTS)
    assert (record["isBasedOn"], record["datePublished"], record["budgetUsed"]) == ("people.csv", "2026-11-19", 0.2501)
    assert record["madeBy"].endswith("--epsilon 1")
    with pytest.raises(InvalidParameterError, match="used must be"):
        Facts(used=-0.1)


def test_the_record_says_what_the_curve_says():
    record = record_of([0.5, 0.5])
    assert record["privacy"]["epsilon"] == pytest.approx(1.0)
    assert record["privacy"]["attackerIsRight"] == pytest.approx(np.e / (1 + np.e))


@pytest.fixture(scope="module")
def models():
    from simplexdp.models import PrivateBayesianNetwork, PrivateCategoricalNB, PrivateHistogram, PrivateSynthesizer

    table = {"season": [0, 1] * 200, "rain": [1, 0] * 200}
    X, y = np.array([[0, 1], [1, 0]] * 200), np.array([0, 1] * 200)
    sizes = {"season": 2, "rain": 2}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            PrivateCategoricalNB(2.0, categories=[2, 2], classes=[0, 1]).fit(X, y),
            PrivateBayesianNetwork(edges=[("season", "rain")], domains=sizes).fit(table),
            PrivateSynthesizer(domains=sizes, components=8).fit(table),
            PrivateHistogram(domain=2, total=400).fit(table, "rain"),
            PrivateHistogram(domain=2, total=400, random_state=SeededRng(1)).fit(table, "rain"),
        ]


def test_every_model_has_a_card(models):
    for model in models[:4]:
        card = model_card(model, measures={"accuracy on public records": 0.9}, facts=FACTS, title=HOSTILE[0])
        record = model_record(model)
        assert "<script" not in card
        assert "&lt;script&gt;" in card
        assert "accuracy on public records" in card
        assert record["privacy"]["epsilon"] <= model.epsilon * (1 + 1e-9)
        assert "NOT PRIVATE" not in card
        json.dumps(record, allow_nan=False)
    assert [column["name"] for column in model_record(models[0])["columns"]] == ["1", "2", "class"]
    assert "NOT PRIVATE: made with a seed." in model_card(models[4])


def test_what_is_no_fitted_model_has_no_card():
    from simplexdp.models import PrivateHistogram

    for model in (3, PrivateHistogram(domain=2)):
        with pytest.raises(InvalidParameterError, match="model must be a fitted one"):
            model_card(model)


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium")
def test_a_page_of_ten_categories_prints_on_two_sheets(tmp_path):
    page = page_of([f"Category number {i}" for i in range(10)], total=5000, facts=FACTS, notes=["One.", "Two."])
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    pdf = tmp_path / "page.pdf"
    browse("--no-pdf-header-footer", f"--print-to-pdf={pdf}", (tmp_path / "page.html").as_uri(), folder=tmp_path)
    pages = len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf.read_bytes()))
    assert 1 <= pages <= 2


def test_the_command_writes_the_record_beside_the_page_and_over_nothing_else(tmp_path):
    (tmp_path / "p.csv").write_text("job\n" + "a\n" * 60 + "b\n" * 40)
    command = ["simplexdp", "release", "p.csv", "--column", "job", "--domain", "a,b", "--epsilon", "1", "--mechanism"]
    command += ["sum_preserving_laplace", "--report", "r.html"]

    def call():
        from simplexdp.cli import main

        return main(command[1:])

    import os

    before = os.getcwd()
    os.chdir(tmp_path)
    try:
        assert call() == 0
        record = json.loads((tmp_path / "r.html.json").read_text())
        (tmp_path / "r.html.json").write_text("mine")
        assert call() == 0
    finally:
        os.chdir(before)
    assert record["records"] == 100
    assert record["isBasedOn"] == "p.csv"
    assert record["madeBy"] == " ".join(command)
    assert (tmp_path / "r.html.json").read_text() == "mine"
    assert subprocess.list2cmdline(["--report"]) in record["madeBy"]
