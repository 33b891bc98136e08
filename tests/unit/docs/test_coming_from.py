"""The page for people who come from other libraries: both codes run, where the other library installs."""

import doctest
import importlib.util
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.source_tree

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "coming-from.md"
BLOCK = "```python\n"
# diffprivlib imports no current scikit-learn: `make bench` makes an environment of its own for it.
DIFFPRIVLIB = ROOT / ".venv" / "peers" / "diffprivlib" / "bin" / "python"


def installed(name):
    return importlib.util.find_spec(name) is not None


def blocks():
    _before, *found = PAGE.read_text(encoding="utf-8").split(BLOCK)
    return [block.partition("```")[0] for block in found]


def imports(block, name):
    return f"import {name}" in block or f"from {name}" in block


def test_both_codes_of_the_page_run():
    here = blocks()
    others = [next(b for b in here if imports(b, name)) for name in ("opendp", "diffprivlib", "dp_accounting")]
    assert len(set(others)) == 3
    opendp, diffprivlib, dp_accounting = others
    here.remove(diffprivlib)
    if not installed("opendp"):
        # It installs in the environment of the benches: `make bench`, and then this test.
        here.remove(opendp)
    if not installed("dp_accounting"):
        at = here.index(dp_accounting)
        del here[at : at + 2]  # ours compares with theirs
    test = doctest.DocTestParser().get_doctest("\n".join(here), {}, PAGE.name, str(PAGE), 0)
    failed, tried = doctest.DocTestRunner().run(test)
    assert failed == 0
    assert tried >= 12


@pytest.mark.skipif(not DIFFPRIVLIB.exists(), reason="diffprivlib's environment is made by `make bench`")
def test_the_code_of_diffprivlib_runs_in_its_own_environment(tmp_path):
    page = tmp_path / "page.txt"
    page.write_text(next(b for b in blocks() if imports(b, "diffprivlib")), encoding="utf-8")
    code = f"import doctest; failed, tried = doctest.testfile({str(page)!r}, False); print(failed, tried)"
    done = subprocess.run([DIFFPRIVLIB, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    failed, tried = done.stdout.split()[-2:]
    assert (failed, int(tried) >= 6) == ("0", True), done.stdout
