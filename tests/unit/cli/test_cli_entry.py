"""The command line through its real entry points, in processes of their own."""

import subprocess
import sys

import pytest

MODULE = [sys.executable, "-m", "simplexdp"]


def run(*arguments, **options):
    return subprocess.run([*MODULE, *arguments], capture_output=True, text=True, timeout=60, **options)


def test_help_lists_every_command():
    done = run("--help")
    assert done.returncode == 0
    assert all(f"  {name} " in done.stdout for name in ("release", "fit-bn", "synthesize", "completion"))


def test_a_pipe_goes_in_and_csv_comes_out():
    records = "answer\n" + "yes\n" * 70 + "no\n" * 30
    done = run(
        "release", "--column", "answer", "--domain", "yes,no", "--epsilon", "1", "--delta", "1e-6", input=records
    )
    assert done.returncode == 0, done.stderr
    header, *rows = done.stdout.splitlines()
    assert header == "answer,share"
    assert sum(float(row.split(",")[1]) for row in rows) == pytest.approx(1.0, abs=1e-12)
