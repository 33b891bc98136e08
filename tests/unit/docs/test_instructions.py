"""What is stored of instructions is of the kernels that there are, and what counts them judges as it says."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.source_tree

TREE = Path(__file__).resolve().parents[3]
KERNELS = TREE / "benches" / "rust" / "examples" / "kernels.rs"


@pytest.fixture
def instructions(monkeypatch, tmp_path):
    """Return the program, which builds nothing and counts what a test says."""
    spec = importlib.util.spec_from_file_location("instructions", TREE / "benches" / "instructions.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    stored = tmp_path / "instructions.json"
    stored.write_text(json.dumps({"compiler": "rustc 9", "machine": "here", "counts": {"one": 1000, "two": 10}}))
    monkeypatch.setattr(module, "STORED", stored)
    monkeypatch.setattr(module.shutil, "which", lambda name: name)
    monkeypatch.setattr(module.platform, "machine", lambda: "here")
    monkeypatch.setattr(module.subprocess, "run", lambda *_, **__: None)
    monkeypatch.setattr(module, "output", lambda *command: "rustc 9 (today)" if command[0] == "rustc" else "one\ntwo")
    monkeypatch.setattr("sys.argv", ["instructions.py"])
    return module


def test_every_kernel_has_a_count_and_a_row():
    stored = json.loads((TREE / "benches" / "instructions.json").read_text())
    known = re.findall(r'^    \("(.*?)",', KERNELS.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(known) >= 12
    assert list(stored["counts"]) == known
    page = (TREE / "docs" / "instructions.md").read_text(encoding="utf-8")
    for kernel, count in stored["counts"].items():
        assert f"| {kernel} | {count:,} |" in page


@pytest.mark.parametrize("count, failed", [(1000, 0), (1029, 0), (900, 0), (1031, 1)])
def test_a_kernel_fails_where_it_needs_more_than_the_tolerance(instructions, monkeypatch, capsys, count, failed):
    monkeypatch.setattr(instructions, "work", {"one": count, "two": 10}.get)
    assert instructions.main() == failed
    assert ("more instructions than stored: one" in capsys.readouterr().out) == bool(failed)


def test_another_compiler_is_told_and_not_judged(instructions, monkeypatch, capsys):
    monkeypatch.setattr(instructions, "work", {"one": 5000, "two": 10}.get)
    monkeypatch.setattr(instructions, "output", lambda *command: "rustc 10" if command[0] == "rustc" else "one\ntwo")
    assert instructions.main() == 0
    assert "not judged" in capsys.readouterr().out


def test_a_kernel_that_is_not_stored_fails(instructions, monkeypatch):
    monkeypatch.setattr(instructions, "output", lambda *command: "rustc 9" if command[0] == "rustc" else "one\nthree")
    monkeypatch.setattr(instructions, "work", {"one": 1000, "three": 10}.get)
    assert instructions.main() == 1


def test_without_valgrind_nothing_is_counted(instructions, monkeypatch, capsys):
    monkeypatch.setattr(instructions.shutil, "which", lambda name: None)
    assert instructions.main() == 0
    assert "no valgrind" in capsys.readouterr().out
