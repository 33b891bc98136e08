"""What was made with a seed says so in every form, and whatever is made of it says so too."""

import csv
import io
import json

import pyarrow.parquet as pq
import pytest
from cli_files import BUDGET, JOBS

from simplexdp.models import PrivateBayesianNetwork, PrivateCategoricalNB

SEED = ("--seed", "1")
FIT = ("fit-nb", "people.csv", "--target", "job", "--domains", "domains.json", *BUDGET)
NETWORK = ("fit-bn", "people.csv", "--edge", "region>job", "--domains", "domains.json", *BUDGET)
RELEASE = ("release", "people.csv", *JOBS, *BUDGET)
POSTERIOR = ("posterior", "people.csv", *JOBS, "--prior", "2", "--mechanism", "dirichlet", *BUDGET)


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("command", [RELEASE, POSTERIOR])
def test_a_release_with_a_seed_says_so_in_every_form(simplexdp, folder, command):
    for seed in ((), SEED):
        found = simplexdp(*command, *seed, "--json").json
        assert (found["seeded"], found["private"]) == (bool(seed), not seed)
        table = simplexdp(*command, *seed, "--format", "table").out
        assert ("NOT PRIVATE: made with --seed" in table) == bool(seed)
        assert [row.get("seeded") for row in rows(simplexdp(*command, *seed).out)] == ["true" if seed else None] * 3
        simplexdp(*command, *seed, "--out", "shares.parquet")
        assert json.loads(pq.read_schema("shares.parquet").metadata[b"simplexdp"])["seeded"] == bool(seed)


def test_reports_and_plots_of_a_release_with_a_seed_say_so(simplexdp, folder):
    simplexdp(*RELEASE, *SEED, "--report", "page.html", "--plot", "shares.svg")
    assert "made with --seed" in (folder / "page.html").read_text()
    marked = (folder / "shares.svg").read_text()
    simplexdp(*RELEASE, "--plot", "shares.svg")
    assert "made with a seed" in marked
    assert "made with a seed" not in (folder / "shares.svg").read_text()


@pytest.mark.parametrize("command, kind", [(FIT, PrivateCategoricalNB), (NETWORK, PrivateBayesianNetwork)])
def test_a_model_with_a_seed_keeps_the_mark_in_all_that_is_made_of_it(simplexdp, folder, command, kind):
    for seed in ((), SEED):
        summary = simplexdp(*command, *seed, "--out", "model.json", "--force", "--json").json
        assert (summary["seeded"], summary["private"]) == (bool(seed), not seed)
        saved = json.loads((folder / "model.json").read_text())
        assert (saved["seeded"], saved["private"]) == (bool(seed), not seed)
        model = kind.load("model.json")
        assert model.seeded_ == bool(seed)
        again = kind.from_json(model.to_json())
        assert again.seeded_ == bool(seed)
        drawn = simplexdp("synthesize", "model.json", "--size", "5", "--out", "drawn.csv", "--json").json
        assert (drawn["seeded"], drawn["private"]) == (bool(seed), not seed)
        assert [row.get("seeded") for row in rows((folder / "drawn.csv").read_text())] == ["True" if seed else None] * 5
        assert ("NOT PRIVATE" in simplexdp("synthesize", "model.json", "--size", "5").err) == bool(seed)


def test_records_of_a_seeded_release_say_so(simplexdp, folder):
    for seed in ((), SEED):
        (folder / "shares.json").write_text(simplexdp(*RELEASE, *seed, "--json").out)
        drawn = simplexdp("synthesize", "shares.json", "--size", "5", "--out", "drawn.parquet", "--json").json
        assert (drawn["seeded"], drawn["private"]) == (bool(seed), not seed)
        assert ("seeded" in pq.read_schema("drawn.parquet").names) == bool(seed)


def test_files_without_the_mark_that_are_not_private_are_taken_for_seeded(simplexdp, folder):
    simplexdp(*FIT, *SEED, "--out", "model.json")
    content = json.loads((folder / "model.json").read_text())
    del content["seeded"], content["privacy"]["seeded"]
    assert PrivateCategoricalNB.from_json(json.dumps(content)).seeded_
    content["seeded"] = "no"
    (folder / "model.json").write_text(json.dumps(content))
    assert simplexdp("synthesize", "model.json", "--size", "5").code == 2
