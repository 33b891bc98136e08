"""The page on the architecture has a row for every module of the core and every folder of the package."""

import re
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
