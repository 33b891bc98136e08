"""Every example of a help text runs, and every command in docs/command-line.md prints what stands there."""

import importlib
import os
from pathlib import Path

import console
import pytest
from cli_files import BUDGET, JOBS

from simplexdp.cli.app import COMMANDS, app

PAGE = Path(__file__).parents[3] / "docs" / "command-line.md"

CLASSIFIER = ["fit-nb", "people.csv", "--target", "job", "--domains", "domains.json", *BUDGET, "--out", "model.json"]

FILES = {
    "synthesize": [
        ["fit-bn", "people.csv", "--edge", "region>job", "--domains", "domains.json", *BUDGET, "--out", "network.json"],
        CLASSIFIER,
        ["release", "people.csv", *JOBS, *BUDGET, "--out", "shares.json"],
    ],
    "predict": [CLASSIFIER],
    "card": [CLASSIFIER],
}
"""What must have been written before the examples of a command can run."""


@pytest.fixture
def quick(folder, monkeypatch):
    """One figure instead of all; comparisons on few data sets."""
    pytest.importorskip("matplotlib").use("Agg")
    from simplexdp.reproduce import catalogue

    monkeypatch.setattr(catalogue, "NAMES", ("dm-figure-1",))
    (folder / "uci").mkdir()


def test_the_examples_of_the_program_run(simplexdp, folder):
    for example in console.examples(app):
        assert console.run(simplexdp, example, folder=folder).code == 0


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("name", COMMANDS)
def test_every_example_of_a_help_text_runs(simplexdp, folder, name):
    found = console.examples(app.get_command(None, name))
    assert found, "every command has examples"
    for arguments in FILES.get(name, []):
        assert simplexdp(*arguments).code == 0
    for example in found:
        if "--plot" in example and not hasattr(importlib.import_module("simplexdp.plots"), "winner_map"):
            continue
        done = console.run(simplexdp, example, folder=folder)
        assert done.code == 0, f"{example}\n{done.err}"
        if name == "ledger" and "--create" in example:
            assert (folder / "budget.db").exists()


def test_help_shows_every_command_with_its_options(simplexdp):
    for name in [None, *COMMANDS]:
        done = simplexdp(*([] if name is None else [name]), "--help")
        assert done.code == 0
        assert "\\b" not in done.out
        assert "\b" not in done.out
        assert "Examples:" in done.out
        assert name in (None, "completion") or "--json" in done.out


@pytest.mark.source_tree
def test_commands_of_the_page_print_what_it_says(simplexdp, folder, monkeypatch):
    from simplexdp.cli import writing

    printed, wrong = [], []
    page = PAGE.read_text(encoding="utf-8")
    for step in console.steps(page):
        monkeypatch.setattr(writing, "is_terminal", lambda piped="| head" in step.command: not piped)
        done = console.run(simplexdp, step.command, folder=folder)
        printed.append(done.out + done.err)
        if not console.same(step.command, printed[-1], step.printed):
            wrong.append(f"$ {step.command}\n{printed[-1]}")
    if os.environ.get("SIMPLEXDP_REWRITE_PAGE"):
        PAGE.write_text(console.rewritten(page, printed), encoding="utf-8")
    assert not wrong, "\n".join(wrong)
