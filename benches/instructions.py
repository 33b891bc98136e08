"""Count the instructions of the hot kernels, and compare them with those that are stored: ``make instructions``.

``python benches/instructions.py [--write]``. Clocks of a shared machine are noisy; the same program on the same input
executes the same instructions. valgrind counts them. It exits with 1 if a kernel needs more than stored, but for a
tolerance; with --write it stores what it counts, here and in docs/instructions.md. Counts hold for one compiler and one
kind of processor: under another one they are shown and not judged.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

TREE = Path(__file__).resolve().parents[1]
STORED = Path(__file__).with_name("instructions.json")
PAGE = TREE / "docs" / "instructions.md"
PROGRAM = TREE / "target" / "release" / "examples" / "kernels"
TOLERANCE = 0.03
FEW, MANY = 1, 5
"""How often the work is done in the two runs whose difference is counted: what is done once in a process falls out."""

INTRODUCTION = """# Instructions

How many instructions the hot kernels of the core execute. `make instructions` builds them as a release is built, lets
valgrind count, and fails if one of them needs {tolerance:.0%} more than here; `make instructions WRITE=--write`
writes the page anew. The same program counts the same, whatever else the machine does; another compiler or processor
counts something else, and is then told and not judged.

Counted with {compiler} on {machine}.

| kernel | instructions | for each value or row |
| --- | ---: | ---: |
"""


def output(*command: str | Path) -> str:
    return subprocess.run(command, cwd=TREE, capture_output=True, text=True, check=True).stdout.strip()


def counted(kernel: str, times: int) -> int:
    """Return the instructions of a process that does the work of a kernel so many times."""
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    done = subprocess.run([*command, PROGRAM, kernel, str(times)], capture_output=True, text=True, check=True)
    found = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
    if found is None:
        raise SystemExit(f"valgrind told no count of {kernel}:\n{done.stderr}")
    return int(found[1].replace(",", ""))


def work(kernel: str) -> int:
    """Return the instructions of the work of a kernel."""
    return round((counted(kernel, MANY) - counted(kernel, FEW)) / (MANY - FEW))


def page(measured: dict[str, object], counts: dict[str, int]) -> str:
    """Return the documentation page."""
    rows = []
    for kernel, count in counts.items():
        size = re.search(r"([\d,]+) (?:values|records|rows)", kernel)
        each = f"{count / int(size[1].replace(',', '')):.1f}" if size else ""
        rows.append(f"| {kernel} | {count:,} | {each} |\n")
    return INTRODUCTION.format(tolerance=TOLERANCE, **measured) + "".join(rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="store what is counted")
    arguments = parser.parse_args()
    if shutil.which("valgrind") is None:
        print("no valgrind on this machine: no instructions are counted")
        return 0
    subprocess.run(
        ["cargo", "build", "--release", "--locked", "-p", "simplexdp-benches", "--example", "kernels"],
        cwd=TREE,
        check=True,
    )
    here = {"compiler": " ".join(output("rustc", "--version").split()[:2]), "machine": platform.machine()}
    stored = json.loads(STORED.read_text()) if STORED.exists() else {}
    judged = {key: stored.get(key) for key in here} == here and not arguments.write
    if not judged and not arguments.write:
        print(f"stored are the counts of {stored.get('compiler')} on {stored.get('machine')}: these are not judged")
    counts, slower = {}, []
    for kernel in output(PROGRAM).splitlines():
        counts[kernel] = work(kernel)
        before = stored.get("counts", {}).get(kernel)
        change = f"{counts[kernel] / before - 1:+.1%}" if before else "new"
        print(f"{counts[kernel]:>14,}  {change:>7}  {kernel}", flush=True)
        if judged and (before is None or counts[kernel] > (1 + TOLERANCE) * before):
            slower.append(kernel)
    if arguments.write:
        STORED.write_text(json.dumps({**here, "counts": counts}, indent=2) + "\n")
        PAGE.write_text(page(here, counts))
    for kernel in slower:
        print(f"more instructions than stored: {kernel}")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
