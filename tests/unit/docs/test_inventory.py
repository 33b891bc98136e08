"""The check of the inventory reads it as intersphinx does, and finds what is missing."""

import importlib.util
import zlib
from pathlib import Path

import pytest

pytestmark = pytest.mark.source_tree

SCRIPT = Path(__file__).parents[3] / "docs" / "generate" / "inventory.py"


@pytest.fixture
def inventory():
    spec = importlib.util.spec_from_file_location("docs_inventory", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def packed(*lines, version="1.2"):
    head = (
        f"# Sphinx inventory version 2\n# Project: p\n# Version: {version}\n# The remainder is compressed using zlib.\n"
    )
    return head.encode() + zlib.compress("".join(f"{line}\n" for line in lines).encode())


def test_entries_are_read_as_the_format_says(inventory):
    content = packed("a.b py:function 1 api.html#$ -", "a page std:doc -1 page.html A page")
    assert inventory.entries(content) == ("1.2", {"a.b": "api.html#a.b", "a page": "page.html"})
    with pytest.raises(ValueError, match="version 2"):
        inventory.entries(b"# Sphinx inventory version 1\n\n\n\n")


def test_each_fault_is_found(inventory, tmp_path):
    (tmp_path / "api.html").write_text('<h2 id="a.b">b</h2>', encoding="utf-8")
    good = "a.b py:function 1 api.html#$ -"
    (tmp_path / "objects.inv").write_bytes(packed(good))
    assert not list(inventory.problems(tmp_path, "1.2", ["a.b"]))
    (tmp_path / "objects.inv").write_bytes(packed(good, "a.c py:class 1 api.html#$ -", "a.d py:class 1 no.html#$ -"))
    assert list(inventory.problems(tmp_path, "1.3", ["a.b", "a.e"])) == [
        "the version is 1.2, not 1.3",
        "a.c: there is no api.html#a.c",
        "a.d: there is no no.html#a.d",
        "a.e has no entry",
    ]
