"""A command never writes over its own files, nor over what cost something; what can refuse refuses before the debit."""

import json
import os
import subprocess
import sys

import pytest
from cli_files import BUDGET, JOBS

from simplexdp.cli import files

LEDGER = ("--ledger", "budget.db")
RELEASE = ("release", "people.csv", *JOBS, *BUDGET, *LEDGER)
FIT = ("fit-nb", "people.csv", "--target", "job", "--domains", "domains.json", *BUDGET, "--out", "m.json")
PICTURED = ("release", "people.csv", *JOBS, "--epsilon", "1", "--mechanism", "sum_preserving_laplace", *LEDGER)


@pytest.fixture
def book(simplexdp, folder):
    assert simplexdp("ledger", "budget.db", "--create", "5", "1e-6").code == 0

    def debits():
        return simplexdp("ledger", "budget.db", "--json").json.get("rows", [])

    return debits


@pytest.mark.parametrize("option", ["--out", "--report", "--plot"])
@pytest.mark.parametrize("own", ["people.csv", "budget.db", "domains.json"])
def test_an_output_is_no_input(simplexdp, folder, book, option, own):
    suffix = {"--out": ".csv", "--report": ".html", "--plot": ".png"}[option]
    content = (folder / own).read_bytes()
    os.link(folder / own, folder / f"hard-{own}")
    os.symlink(own, folder / f"soft-{own}")
    for number, other in enumerate([own, f"hard-{own}", f"soft-{own}"]):
        # The option looks at the suffix of the name.
        alias = folder / f"alias{number}{suffix}"
        os.symlink(folder / other, alias)
        extra = ("--domain-file", "domains.json") if own == "domains.json" else ("--domain", "clerk,nurse,smith")
        call = ["release", "people.csv", "--column", "job", *extra, "--epsilon", "1", "--mechanism"]
        done = simplexdp(*call, "sum_preserving_laplace", *LEDGER, option, str(alias))
        assert done.code == 2, done.err
        assert "same file" in done.err or "is a ledger" in done.err
    assert (folder / own).read_bytes() == content
    if own == "budget.db":
        (folder / "hard-budget.db").unlink()
    assert book() == []


def test_outputs_are_not_each_other(simplexdp, folder, book):
    (folder / "one.svg").write_text("")
    os.symlink("one.svg", folder / "two.html")
    done = simplexdp(*PICTURED, "--plot", "one.svg", "--report", "two.html")
    assert done.code == 2
    assert "same file" in done.err
    # Neither of them is there yet, and both names lead to one.
    done = simplexdp(*PICTURED, "--out", "new.html", "--format", "csv", "--report", f"../{folder.name}/new.html")
    assert "same file" in done.err
    assert book() == []


def test_records_are_not_written_over_what_they_are_read_from(simplexdp, folder):
    assert (
        simplexdp(
            "fit-nb", "people.csv", "--target", "job", "--domains", "domains.json", *BUDGET, "--out", "m.json"
        ).code
        == 0
    )
    before = (folder / "new.csv").read_bytes()
    for out in ("new.csv", "./new.csv"):
        done = simplexdp("predict", "m.json", "new.csv", "--out", out)
        assert done.code == 2
        assert "same file" in done.err
    assert simplexdp("synthesize", "m.json", "--size", "9", "--out", "m.json", "--format", "csv").code == 2
    assert (folder / "new.csv").read_bytes() == before
    # Standard input that is a file is one of them.
    with open("new.csv") as file:
        command = [sys.executable, "-m", "simplexdp", "predict", "m.json", "-", "--out", "new.csv"]
        done = subprocess.run(command, stdin=file, capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    assert (folder / "new.csv").read_bytes() == before


@pytest.mark.parametrize("command", ["predict", "synthesize"])
def test_no_file_beside_the_output_is_touched(simplexdp, folder, command):
    assert simplexdp(*FIT).code == 0
    (folder / "target").write_text("precious")
    os.symlink("target", folder / "out.csv.part")
    os.symlink("target", folder / "out.csv")
    call = ("predict", "m.json", "new.csv") if command == "predict" else ("synthesize", "m.json", "--size", "5")
    done = simplexdp(*call, "--out", "out.csv")
    assert done.code == 0, done.err
    # The link gave way to the file; what it led to is as it was.
    assert not os.path.islink("out.csv")
    assert (folder / "target").read_text() == "precious"
    assert os.path.islink("out.csv.part")
    assert not [name for name in os.listdir() if name.startswith(".simplexdp-")]


def test_models_and_certificates_are_kept_without_force(simplexdp, folder, book):
    assert simplexdp(*FIT, *LEDGER).code == 0
    first = (folder / "m.json").read_bytes()
    done = simplexdp(*FIT, *LEDGER)
    assert done.code == 2
    assert "--force" in done.err
    assert len(book()) == 1
    # Nor do other commands write over a model.
    done = simplexdp(*RELEASE, "--out", "m.json")
    assert done.code == 2
    assert "--force" in done.err
    assert len(book()) == 1
    assert (folder / "m.json").read_bytes() == first
    assert simplexdp(*FIT, *LEDGER, "--force").code == 0
    assert (folder / "m.json").read_bytes() != first
    assert len(book()) == 2
    certify = ("certify", "--prior", "1,1", "--n", "10", "--epsilon", "1", "--certificate", "c.json")
    assert simplexdp(*certify).code == 0
    assert simplexdp(*certify).code == 2
    assert simplexdp(*certify, "--force").code == 0
    assert simplexdp("release", "people.csv", *JOBS, *BUDGET, "--out", "c.json").code == 2


def test_no_command_writes_over_a_ledger(simplexdp, folder, book):
    content = (folder / "budget.db").read_bytes()
    for call in (
        ("release", "people.csv", *JOBS, *BUDGET, "--format", "csv"),
        ("calibrate", "--epsilon", "1", "--delta", "1e-6", "--dimension", "3", "--total", "99", "--format", "csv"),
        ("ledger", "budget.db", "--format", "csv"),
    ):
        done = simplexdp(*call, "--out", "budget.db", "--force")
        assert done.code == 2
        assert "is a ledger" in done.err
    assert simplexdp("ledger", "backup", "budget.db", "people.csv").code == 1
    assert (folder / "budget.db").read_bytes() == content


def test_what_can_refuse_refuses_before_the_debit(simplexdp, folder, book):
    (folder / "closed").mkdir(mode=0o700)
    (folder / "plain").write_text("")
    long = "x" * 300
    for call in (
        (*RELEASE, "--counts", str(2**30 + 1)),
        (*RELEASE, "--out", f"{long}.csv"),
        (*RELEASE, "--out", "nowhere/out.csv"),
        (*RELEASE, "--out", "plain/out.csv"),
        (*PICTURED, "--report", "nowhere/page.html"),
        (*PICTURED, "--plot", f"{long}.png"),
        ("release", "people.csv", "--column", "job", "--domain", "clerk,nurse", *BUDGET, *LEDGER),
        (
            "release",
            "people.csv",
            "--column",
            "job",
            "--domain",
            "clerk,nurse,smith,\udcff",
            *BUDGET,
            *LEDGER,
            "--out",
            "o.csv",
        ),
    ):
        done = simplexdp(*call)
        assert done.code in (1, 2), done.err
        assert book() == [], call


def test_a_level_that_standard_output_cannot_encode_is_refused_before_the_debit(folder, book):
    (folder / "people.csv").write_text("job\n" + "café\nbar\n" * 50, encoding="utf-8")
    (folder / "levels").write_text("café\nbar\n", encoding="utf-8")
    call = ["release", "people.csv", "--column", "job", "--domain-file", "levels", *BUDGET, *LEDGER]
    done = subprocess.run(
        [sys.executable, "-m", "simplexdp", *call], capture_output=True, env={**os.environ, "PYTHONIOENCODING": "ascii"}
    )
    assert done.returncode == 2, done.stderr
    assert b"no place for" in done.stderr
    assert book() == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="takes a device that is always full")
def test_a_release_is_noted_as_made_when_it_was_delivered(folder, book):
    call = [sys.executable, "-m", "simplexdp", *RELEASE]
    with open("/dev/full", "w") as full:
        done = subprocess.run(call, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode != 0
    assert [row["state"] for row in book()] == ["reserved"]
    assert subprocess.run(call, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
    assert [row["state"] for row in book()] == ["reserved", "released"]


def test_the_ledger_command_shows_what_is_used_and_warns(simplexdp, folder, book):
    assert simplexdp(*RELEASE).code == 0
    done = simplexdp("ledger", "budget.db", "--json")
    assert 0 < done.json["used"] < 0.8
    assert "is used by the rule 'gaussian'" in done.json["notes"][0]
    assert (done.json["rule"], done.json["adaptive"]) == ("gaussian", True)
    assert "Warning" not in done.err
    done = simplexdp("ledger", "budget.db", "--warn-at", "0.01")
    assert "Warning" in done.err
    assert done.code == 0


def test_a_ledger_is_backed_up_and_restored(simplexdp, folder, book):
    assert simplexdp(*RELEASE).code == 0
    assert simplexdp("ledger", "backup", "budget.db", "budget.bak").code == 0
    assert simplexdp("ledger", "budget.bak").code == 1
    assert "ledger restore" in simplexdp("ledger", "budget.bak").err
    assert simplexdp("ledger", "restore", "budget.bak", "budget.db").code == 1
    (folder / "budget.db").unlink()
    assert simplexdp("ledger", "restore", "budget.bak", "budget.db").code == 0
    assert len(book()) == 1
    assert "is closed" in simplexdp(*RELEASE).err
    assert simplexdp("ledger", "restore", "budget.bak", "other.db", "--since", "0", "0").code == 0
    assert simplexdp(*RELEASE[:-1], "other.db").code == 0


def test_the_sql_of_ledgers_is_printed_for_roles_of_ones_own(simplexdp):
    done = simplexdp("ledger", "init", "--spender", "analysts")
    assert done.code == 0
    assert "GRANT UPDATE (state, debits, chain, checksum) ON simplexdp.book TO analysts;" in done.out
    assert simplexdp("ledger", "init", "--reader", "x; DROP TABLE y").code == 2


def test_a_mode_for_a_group(simplexdp, folder):
    assert simplexdp("ledger", "shared.db", "--create", "1", "0", "--mode", "660").code == 0
    assert os.stat("shared.db").st_mode & 0o777 == 0o660


def test_options_stand_before_and_behind_the_file(simplexdp, folder, book):
    assert json.loads(simplexdp("ledger", "--json", "budget.db").out)["epsilon"] == 5


def test_a_draft_has_a_name_of_its_own_and_is_written_through_no_link(tmp_path, monkeypatch):
    out = str(tmp_path / "out.csv")
    with files.whole(out) as one, files.whole(out) as other:
        assert one != other
        assert os.path.dirname(one) == str(tmp_path)
    # Were it guessed all the same, nothing would be written where a link leads.
    monkeypatch.setattr(files.secrets, "token_hex", lambda n: "0" * 2 * n)
    (tmp_path / "target").write_text("precious")
    os.symlink("target", tmp_path / f".simplexdp-{'0' * 24}.part")
    with pytest.raises(FileExistsError), files.whole(out) as draft, open(draft, "w") as file:
        file.write("released")
    assert (tmp_path / "target").read_text() == "precious"
