"""The page for people who come from other libraries: both codes run, where the other library installs."""

import doctest
import importlib.util
from pathlib import Path

import pytest

pytestmark = pytest.mark.source_tree

PAGE = Path(__file__).parents[3] / "docs" / "coming-from.md"
BLOCK = "```python\n"


def installed(name):
    return importlib.util.find_spec(name) is not None


def test_both_codes_of_the_page_run():
    _before, *blocks = PAGE.read_text(encoding="utf-8").split(BLOCK)
    assert ["opendp" in blocks[0], "dp_accounting" in blocks[-2]] == [True, True]
    if not installed("opendp"):
        # It installs in the environment of the benches: `make bench`, and then this test.
        blocks = blocks[1:]
    if not installed("dp_accounting"):
        blocks = blocks[:-2]
    test = doctest.DocTestParser().get_doctest(BLOCK.join(["", *blocks]), {}, PAGE.name, str(PAGE), 0)
    failed, tried = doctest.DocTestRunner().run(test)
    assert failed == 0
    assert tried >= 12
