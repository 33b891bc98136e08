"""Every example in a docstring and in the README runs and prints what it says."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import simplexdp

ROOT = Path(__file__).parents[2]
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def module_names() -> list[str]:
    found = pkgutil.walk_packages(simplexdp.__path__, "simplexdp.", onerror=pytest.fail)
    return ["simplexdp", *(module.name for module in found if not module.name.endswith(("_core", "__main__")))]


def pages() -> list[str]:
    # The tutorials have a test of their own, as one of them needs Spark; so has the page that needs other libraries.
    found = [page.relative_to(ROOT) for page in sorted((ROOT / "docs").glob("**/*.md"))]
    elsewhere = {page for page in found if page.parent.name == "tutorials" or page.name == "coming-from.md"}
    return ["README.md", *(str(page) for page in found if page not in elsewhere)]


@pytest.mark.parametrize("name", module_names())
def test_examples_in_docstrings_hold(name):
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        # A module for an optional dependency that is not installed here.
        if error.name is None or error.name.startswith("simplexdp"):
            raise
        pytest.skip(f"needs {error.name}")
    failures, _ = doctest.testmod(module, optionflags=OPTIONS)
    assert failures == 0


@pytest.mark.source_tree
@pytest.mark.parametrize("page", pages())
def test_examples_in_pages_hold(page):
    failures, _ = doctest.testfile(str(ROOT / page), module_relative=False, optionflags=OPTIONS, encoding="utf-8")
    assert failures == 0
