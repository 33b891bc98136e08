"""The compiled module and the package that wraps it stay in step."""

import re
from pathlib import Path

import pytest

import simplexdp
from simplexdp import _core

PACKAGE = Path(simplexdp.__file__).parent
TESTS = Path(__file__).parents[1]
BINDINGS = Path(__file__).parents[2] / "rust" / "py" / "src"


@pytest.mark.source_tree
def test_every_compiled_name_is_used():
    # By the package; by tests, which look at the profiles of the core one by one; or by the bindings, to unpickle.
    names = [name for name in dir(_core) if not name.startswith("__")]
    files = [*PACKAGE.rglob("*.py"), *(path for path in TESTS.rglob("*.py") if path != Path(__file__))]
    sources = "\n".join(path.read_text(encoding="utf-8") for path in files)
    bindings = "".join(path.read_text(encoding="utf-8") for path in BINDINGS.glob("*.rs"))
    sources += "\n".join(re.findall(r'getattr\("(\w+)"\)', bindings))
    assert [name for name in names if not re.search(rf"\b{re.escape(name)}\b", sources)] == []


@pytest.mark.source_tree
def test_every_compiled_class_is_frozen():
    declared = [
        (path.name, attribute)
        for path in BINDINGS.glob("**/*.rs")
        for attribute in re.findall(r"#\[pyclass[^\]]*\]", path.read_text(encoding="utf-8"))
    ]
    assert declared
    assert [place for place in declared if "frozen" not in place[1]] == []
