"""The compiled module and the package that wraps it stay in step."""

import re
from pathlib import Path

import simplexdp
from simplexdp import _core

PACKAGE = Path(simplexdp.__file__).parent


def compiled_names() -> list[str]:
    return [name for name in dir(_core) if not name.startswith("__")]


def test_every_compiled_name_is_used_by_the_package():
    sources = "\n".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    unused = [name for name in compiled_names() if not re.search(rf"\b{re.escape(name)}\b", sources)]
    assert unused == []


def test_compiled_classes_cannot_be_changed():
    changeable = []
    for name in compiled_names():
        value = getattr(_core, name)
        if isinstance(value, type):
            try:
                value.anything = 1
            except TypeError:
                continue
            changeable.append(name)
    assert changeable == []
