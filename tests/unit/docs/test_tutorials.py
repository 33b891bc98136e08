"""Every tutorial runs from its first line to its last and prints what it says."""

import doctest
from pathlib import Path

import pytest

pytestmark = pytest.mark.source_tree

FOLDER = Path(__file__).parents[3] / "docs" / "tutorials"
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
PAGES = sorted(page.name for page in FOLDER.glob("*.md"))
ON_SPARK = {"spark.md"}
IN_A_SHELL = {"hospital.md"}  # see test_shell_tutorials.py
TUTORIALS = {"bandit.md", "histogram.md", "naive-bayes.md", "network.md", "posterior.md", "spark.md", "synthesis.md"}


def run(page: str, names: dict[str, object]) -> None:
    failures, tried = doctest.testfile(
        str(FOLDER / page), module_relative=False, optionflags=OPTIONS, encoding="utf-8", globs=names
    )
    assert tried > 5
    assert failures == 0


def test_no_tutorial_is_missing():
    assert set(PAGES) >= TUTORIALS


@pytest.mark.parametrize("page", [page for page in PAGES if page not in ON_SPARK | IN_A_SHELL])
def test_the_tutorial_runs(page):
    run(page, {})


@pytest.mark.filterwarnings("ignore")  # pyspark's own deprecations
@pytest.mark.parametrize("page", sorted(ON_SPARK))
def test_the_tutorial_runs_on_spark(page, spark):
    run(page, {"spark": spark})


def test_a_wrong_output_is_caught(tmp_path):
    page = tmp_path / "wrong.md"
    page.write_text("```python\n>>> 1 + 1\n3\n\n```\n")
    failures, tried = doctest.testfile(str(page), module_relative=False, report=False, verbose=False)
    assert (failures, tried) == (1, 1)
