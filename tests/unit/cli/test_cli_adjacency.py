"""Which data sets are neighbours where nobody said it: as the ledger has it, else what is usual for the command."""

import json

import pytest

BUDGET = ("--epsilon", "1", "--delta", "1e-7")
JOBS = ("--column", "job", "--domain", "clerk,nurse,smith")
DOMAINS = ("--domains", "domains.json")
SYNTHESIS = ("synthesize", "people.csv", *DOMAINS, *BUDGET, "--out", "synthetic.csv")
COMMANDS = {
    "release": ("release", "people.csv", *JOBS, *BUDGET, "--json"),
    "groups": ("release", "people.csv", *JOBS, "--by", "region", "--groups", "north,south", *BUDGET, "--json"),
    "fit-nb": ("fit-nb", "people.csv", "--target", "job", *DOMAINS, *BUDGET, "--out", "nb.json"),
    "fit-bn": ("fit-bn", "people.csv", "--edge", "job>age", *DOMAINS, *BUDGET, "--out", "bn.json"),
    "fit-synth": ("fit-synth", "people.csv", *DOMAINS, *BUDGET, "--out", "synth.json"),
    "synthesize": SYNTHESIS,
    "mean": ("mean", "people.csv", "--column", "age", "--bounds", "0:10", *BUDGET, "--json"),
}


@pytest.fixture(params=["replace", "add_remove", None])
def ledger(request, simplexdp, folder):
    """The options of a ledger, and what it is for: stated, or as it is made."""
    stated = () if request.param is None else ("--adjacency", request.param)
    made = simplexdp("ledger", "budget.db", "--create", "8", "1e-6", *stated, "--json")
    assert made.code == 0
    return made.json["adjacency"]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_release_takes_the_neighbours_of_the_ledger_that_pays(simplexdp, ledger, command):
    done = simplexdp(*COMMANDS[command], "--ledger", "budget.db")
    assert done.code == 0, done.err
    told = "replaced" if ledger == "replace" else "added or removed"
    assert f"one record is {told}" in done.err + done.out or json.loads(done.out)["guarantee"]["adjacency"] == ledger
    assert len(simplexdp("ledger", "budget.db", "--json").json["rows"]) == 1


def test_without_a_ledger_it_is_what_is_usual(simplexdp, folder):
    assert simplexdp(*COMMANDS["release"]).json["guarantee"]["adjacency"] == "replace"
    assert "one record is added or removed" in simplexdp(*SYNTHESIS).err


def test_other_neighbours_than_those_of_the_ledger_are_refused_before_anything_is_drawn(simplexdp, folder):
    assert simplexdp("ledger", "budget.db", "--create", "8", "1e-6").code == 0
    refused = simplexdp(*SYNTHESIS, "--ledger", "budget.db", "--adjacency", "add_remove")
    assert refused.code != 0
    assert "adjacency" in refused.err
    assert not (folder / "synthetic.csv").exists()
    assert simplexdp("ledger", "budget.db", "--json").json["used"] == 0


def test_the_help_says_whose_neighbours(simplexdp):
    for command, usual in (("release", "replace"), ("synthesize", "add_remove")):
        text = " ".join(simplexdp(command, "--help").out.split())
        assert f"[default: that of the --ledger, else {usual}]" in text
