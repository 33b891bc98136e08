"""The page on the architecture has a row for every module of the core and every folder of the package."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

pytestmark = pytest.mark.source_tree

ROOT = Path(__file__).resolve().parents[3]
PRIVATE = {"double_double", "error", "lib", "log_gamma_extended", "tables"}
"""Modules of the core that others of it use, and nobody else."""


def rows(heading: str) -> set[str]:
    page = (ROOT / "docs" / "architecture.md").read_text()
    section = page.split(f"## {heading}")[1].split("\n## ")[0]
    first_cells = re.findall(r"^\| (`.+?) \|", section, flags=re.MULTILINE)
    return {name for cell in first_cells for name in re.findall(r"`([\w/]+)`", cell)}


def test_every_module_of_the_core_has_a_row() -> None:
    source = ROOT / "rust" / "core" / "src"
    modules = {path.stem for path in source.iterdir() if path.is_dir() or path.suffix == ".rs"} - PRIVATE
    assert rows("The core, module by module") == modules


def test_every_folder_of_the_package_has_a_row() -> None:
    package = ROOT / "python" / "simplexdp"
    folders = {path.parent.relative_to(package).as_posix() for path in package.glob("**/__init__.py")} - {"."}
    papers = {folder for folder in folders if folder.startswith("reproduce/")}
    assert rows("The package, folder by folder") == folders - papers


PACKAGE = ROOT / "python" / "simplexdp"
ROUNDING = re.compile(r"nextafter|spacing\(|1e-15|1(?:\.0)? [+-] (?:\d+e-|2(?:\.0)?\*\*-)")
ROUNDS_NO_GUARANTEE = {
    "_arguments.py": "which double a stated fraction becomes, where only Python knows the fraction",
    "cli/quantiles.py": "what edges leave of a budget for counts, whose cost together is checked",
    "comparison/candidates.py": "when a search for more calibrations ends",
    "comparison/population.py": "shares of made-up populations",
    "frames/discovery.py": "where a search for a threshold begins, whose outcome is asked for its cost",
    "mechanisms/posterior_errors.py": "quantiles of an error that is shown",
    "models/bins.py": "the middle of a bin stays inside it; the share of a budget, whose cost is checked",
    "models/filling.py": "a value stays inside its bin",
    "models/paid_comparison.py": "the share of a budget, whose cost is checked; what is looked at exactly",
    "models/marginal_release.py": "how much of a budget must be left to be worth a refusal",
    "planning/counts.py": "shares of made-up populations",
    "planning/trees.py": "shares of made-up populations",
    "planning/planner.py": "which step of a table is a round one",
    "report/drawing.py": "the last tick of an axis",
    "reproduce/ha/figure_1a.py": "a figure compares two numbers",
}


def sources() -> dict[str, str]:
    """Return the modules of the package by their place in it."""
    return {path.relative_to(PACKAGE).as_posix(): path.read_text() for path in sorted(PACKAGE.rglob("*.py"))}


def test_no_guarantee_is_rounded_outside_the_core() -> None:
    found = {name for name, text in sources().items() if ROUNDING.search(text)}
    assert found <= set(ROUNDS_NO_GUARANTEE), "a guarantee is rounded in rust/core/src/rounding.rs"
    assert all((PACKAGE / name).is_file() for name in ROUNDS_NO_GUARANTEE), "the list of exceptions is too long"


def folder_of(name: str) -> str:
    return name.split("/")[0] if "/" in name else ""


def private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def test_no_folder_of_the_package_uses_private_names_of_another() -> None:
    trees = {name: ast.parse(text) for name, text in sources().items()}
    # What each folder gives its own objects and modules, as far as names tell.
    own: dict[str, set[str]] = defaultdict(set)
    for name, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                own[folder_of(name)].add(node.name)
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
                own[folder_of(name)].add(node.attr)
    reached = []
    for name, tree in trees.items():
        here = folder_of(name)
        elsewhere = set().union(*(names for folder, names in own.items() if folder != here)) - own[here]
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and private(node.attr) and node.attr in elsewhere:
                reached.append(f"{name}:{node.lineno} {ast.unparse(node)}")
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("simplexdp."):
                parts = (node.module or "").split(".")[1:]
                # Private modules at the top are for all folders.
                inner = [part for alias in node.names for part in [*parts, alias.name][1:] if private(part)]
                if inner and parts[0] != here:
                    reached.append(f"{name}:{node.lineno} from {node.module} import {', '.join(inner)}")
    assert not reached, reached
