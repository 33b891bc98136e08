"""Models that are paid for: they are kept, whatever goes wrong beside them."""

import json

import pytest
from cli_files import BUDGET

from simplexdp.models import PrivateBayesianNetwork, PrivateCategoricalNB

FITS = {"fit-nb": ["--target", "job"], "fit-bn": ["--edge", "region>job"]}
PAID = ("--domains", "domains.json", *BUDGET, "--ledger", "budget.db")
LOADED = {"fit-nb": PrivateCategoricalNB, "fit-bn": PrivateBayesianNetwork}


@pytest.fixture(params=FITS)
def fit(request, simplexdp):
    """Fit a model from a ledger of 5; the ledger's rows are in ``fit.debits()``."""
    assert simplexdp("ledger", "budget.db", "--create", "5", "1e-6").code == 0

    def call(*arguments, file="people.csv"):
        return simplexdp(request.param, file, *FITS[request.param], *PAID, *arguments)

    call.debits = lambda: simplexdp("ledger", "budget.db", "--json").json.get("rows", [])
    call.loaded = LOADED[request.param]
    return call


BAD_SCORES = {
    "missing values": ("bad.csv", "job,region,age\n,north,1\n", 1, "has missing values"),
    "unseen values": ("bad.csv", "job,region,age\nSECRET,north,1\n", 1, "values that"),
    "no records": ("bad.csv", "job,region,age\n", 1, "no records"),
    "no such column": ("bad.csv", "job,SECRET,age\nclerk,north,1\n", 2, "no column"),
    "no format": ("bad.txt", "job,region,age\nclerk,north,1\n", 2, "cannot tell the format"),
}


@pytest.mark.parametrize("name, text, code, said", BAD_SCORES.values(), ids=BAD_SCORES)
def test_a_file_that_cannot_be_scored_on_is_refused_before_the_debit(fit, folder, name, text, code, said):
    (folder / name).write_text(text)
    done = fit("--score", name, "--out", "model.json")
    assert done.code == code
    assert f"--score {name}: " in done.err
    assert said in done.err
    assert "SECRET" not in done.err
    assert fit.debits() == []
    assert not (folder / "model.json").exists()


def test_a_model_that_cannot_be_written_is_printed(fit, full_disk):
    done = fit("--out", full_disk("model.json"))
    assert done.code == 1
    assert "--out model.json: No space left on device" in done.err
    assert len(fit.debits()) == 1
    assert fit.loaded.from_json(done.out).domains_


def test_a_model_is_written_before_it_is_scored(fit, folder, monkeypatch):
    def broken(*_):
        raise RuntimeError

    monkeypatch.setattr(fit.loaded, "score", broken)
    assert fit("--score", "people.csv", "--out", "model.json").code == 1
    assert json.loads((folder / "model.json").read_text())["private"] is True


def test_the_debit_of_a_model_is_noted_as_released(fit):
    assert fit("--name", "model", "--out", "model.json").code == 0
    assert [(row["name"], row["on"], row["state"]) for row in fit.debits()] == [("model", "people.csv", "released")]


@pytest.mark.parametrize(
    "domains, said",
    [
        ('{"job": ["clerk", "\\ud800"], "region": ["north"]}', "UTF-8"),
        ('{"job": ["clerk"], "region": ["north"], "\\ud800": 2}', "UTF-8"),
        ('{"job": ["clerk"], "region": [1e999, 1]}', "domains.json: the numbers of 'region' must be finite"),
        ('{"job": ["clerk"], "region": [NaN, 1]}', "must be finite"),
        ('{"job": ["clerk"], "region": {"bins": 0, "bounds": [0, 1]}}', "bins"),
    ],
)
def test_domains_that_no_model_could_be_written_with_are_refused_before_the_debit(fit, folder, domains, said):
    (folder / "domains.json").write_text(domains)
    done = fit("--out", "model.json")
    assert done.code == 2
    assert said in done.err
    assert fit.debits() == []


def test_that_there_are_no_records_is_told_only_where_their_number_is_public(fit, folder):
    (folder / "empty.csv").write_text("job,region,age\n")
    assert "no records" in fit(file="empty.csv").err
    assert fit.debits() == []


@pytest.mark.parametrize("command", FITS)
def test_a_model_of_no_records_is_fitted_where_their_number_is_private(simplexdp, folder, command):
    (folder / "empty.csv").write_text("job,region,age\n")
    arguments = ("--domains", "domains.json", *BUDGET, "--adjacency", "add_remove", "--out", "model.json")
    done = simplexdp(command, "empty.csv", *FITS[command], *arguments)
    assert done.code == 0, done.err


def test_a_network_says_where_bins_are_taken(simplexdp, folder):
    (folder / "domains.json").write_text('{"job": ["clerk"], "age": {"bins": 2, "bounds": [0, 1]}}')
    done = simplexdp("fit-bn", "people.csv", "--domains", "domains.json", *BUDGET)
    assert done.code == 2
    assert "bins of numbers are for fit-nb" in done.err


@pytest.mark.parametrize("target", ["age", "ward"])
def test_classes_are_listed_values(simplexdp, folder, target):
    (folder / "domains.json").write_text('{"age": {"edges": [0, 1, 2]}, "ward": ["eye", null], "job": ["clerk"]}')
    done = simplexdp("fit-nb", "people.csv", "--target", target, "--domains", "domains.json", *BUDGET)
    assert done.code == 2
    assert f"must list the classes of --target '{target}'" in done.err
