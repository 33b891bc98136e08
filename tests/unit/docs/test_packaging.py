"""What a release is made of: one version, pinned steps, benches as users would write them, a list of faults."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.source_tree

ROOT = Path(__file__).resolve().parents[3]


def version():
    return re.search(r'^version = "(.+)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]


def test_there_is_one_version():
    assert f"version: {version()}\n" in (ROOT / "CITATION.cff").read_text()
    assert f'  version: "{version()}"\n' in (ROOT / "packaging/conda/recipe.yaml").read_text()


def test_the_lowest_and_the_newest_requirements_are_those_of_the_package():
    pytest.importorskip("tomllib")
    spec = importlib.util.spec_from_file_location("bounds", ROOT / "requirements/bounds.py")
    bounds = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bounds)
    for name, text in bounds.texts().items():
        assert (ROOT / "requirements" / name).read_text() == text, "run `make bounds`"


def test_every_step_of_a_workflow_is_pinned_to_a_commit():
    steps = [
        line.strip()
        for path in (ROOT / ".github/workflows").glob("*.yml")
        for line in path.read_text().splitlines()
        if "uses:" in line
    ]
    assert steps
    assert [step for step in steps if not re.search(r"@[0-9a-f]{40} # v\d", step)] == []


def test_benches_go_through_public_names():
    hidden = re.compile(r"simplexdp(\.\w+)*\._\w|import _core|\b_core\.")
    found = [path.name for path in (ROOT / "benches/python").glob("*.py") if hidden.search(path.read_text())]
    assert found == []


def test_files_that_say_how_promises_are_tested_name_what_exists():
    named = re.findall(r"`((?:tests|rust|docs)/[\w/.-]+)`", (ROOT / "SECURITY.md").read_text())
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_the_list_of_faults_is_long_and_in_form():
    spec = importlib.util.spec_from_file_location("mutation_run", ROOT / "tests/mutations/run.py")
    run = importlib.util.module_from_spec(spec)
    sys.modules["mutation_run"] = run
    spec.loader.exec_module(run)
    # What `make mutations` would write is on the page: no paragraph was changed there alone.
    head = run.page([]).partition("Last full run")[0]
    assert (ROOT / "docs/mutations.md").read_text(encoding="utf-8").startswith(head)
    faults = run.listed()
    assert len(faults) >= 60
    assert len({fault.name for fault in faults}) == len(faults)
    assert run.misfits(faults) == []
    for fault in faults:
        assert (ROOT / fault.file).exists()
        assert fault.rust or fault.python, fault.name
        assert fault.find != fault.replace
        for selection in fault.python:
            assert (ROOT / selection.split("::")[0]).exists(), selection
