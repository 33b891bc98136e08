"""The tutorial for the command line runs as it stands, in one folder from its first command to its last."""

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.source_tree

PAGE = Path(__file__).parents[3] / "docs" / "tutorials" / "hospital.md"
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def commands(text):
    """Return every command of the page, lines that go on included, with what it prints."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            lines = part.splitlines(keepends=True)
            # A quote that is open goes on in the next line.
            taken = next(n for n in range(1, len(lines) + 1) if "".join(lines[:n]).count("'") % 2 == 0)
            found.append(("".join(lines[:taken]), "".join(lines[taken:])))
    return found


@pytest.fixture
def shell(tmp_path):
    """Run a command in a folder where ``simplexdp`` is the program of this environment."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "simplexdp"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m simplexdp "$@"\n')
    program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}

    def run(command):
        # Both streams together, as on a terminal; but results come first in a pipe.
        done = subprocess.run(
            command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr

    return run


@pytest.mark.skipif(shutil.which("awk") is None, reason="no awk on this machine")
def test_the_hospital_tutorial_runs(shell, tmp_path):
    checker = doctest.OutputChecker()
    steps = commands(PAGE.read_text(encoding="utf-8"))
    assert len(steps) == 11
    for command, expected in steps:
        code, printed = shell(command)
        assert code == 0, f"{command}\n{printed}"
        assert not expected or checker.check_output(expected, printed, OPTIONS), f"{command}\n{printed}"
    assert (tmp_path / "wards.png").read_bytes().startswith(b"\x89PNG")
    assert "patient" in (tmp_path / "wards.html").read_text(encoding="utf-8")
    # A patient with one visit of a zebra is not in any of it.
    assert "zebra" not in (tmp_path / "wards.csv").read_text(encoding="utf-8")
