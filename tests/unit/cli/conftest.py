"""Files that commands are tried on, and a way to call commands without a process for each."""

import builtins
import errno
import io
import json
import sys
from dataclasses import dataclass

import pytest
from cli_files import COUNTS, people

from simplexdp.cli import main


@dataclass
class Done:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with the files that the documented examples use."""
    (tmp_path / "people.csv").write_text(people(), encoding="utf-8")
    (tmp_path / "visits.csv").write_text("patient,ward\n7,eye\n7,ear\n8,ear\n", encoding="utf-8")
    (tmp_path / "train.csv").write_text(people(), encoding="utf-8")
    (tmp_path / "public-test.csv").write_text(people(), encoding="utf-8")
    (tmp_path / "new.csv").write_text(people(), encoding="utf-8")
    domains = {"job": list(COUNTS), "region": ["north", "south"], "age": [1, 2, 3, 4, 5]}
    (tmp_path / "domains.json").write_text(json.dumps(domains), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def full_disk(monkeypatch):
    """Let nothing more be written to one file, whose name is returned."""

    def fill(name):
        def full(path, mode="r", *arguments, **options):
            # It is written beside its place first.
            if (str(path) == name or ".simplexdp-" in str(path)) and "w" in mode:
                raise OSError(errno.ENOSPC, "No space left on device", name)
            return opened(path, mode, *arguments, **options)

        opened = builtins.open
        monkeypatch.setattr(builtins, "open", full)
        return name

    return fill


@pytest.fixture
def simplexdp(folder, monkeypatch, capsys):
    """Call a command in this process, in the directory of `folder`."""

    def call(*arguments, stdin=b""):
        data = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Done(code, captured.out, captured.err)

    return call
