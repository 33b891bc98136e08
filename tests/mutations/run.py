"""Apply each fault of ``mutations.toml`` to a copy of the tree and see whether the tests notice it.

``python tests/mutations/run.py [--only WORD] [--first NUMBER] [--write docs/mutations.md]``, by `make mutations`. A run
that was stopped goes on where `--first` says; what it finds is kept in `target/mutations/found.json`. Faults in Rust
are all built into one extension, each behind a number that the environment chooses, so that the sources are compiled
once: an expression ``find`` becomes ``(if on(N) { replace } else { find })``. Faults in Python are written into the
copy, one after the other. Tests that notice a fault must pass without one. It exits with 1 if a fault survives, with 2
if one does not fit the tree any more.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from typing import NamedTuple

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TREE = Path(__file__).resolve().parents[2]
WORK = TREE / "target" / "mutations"
COPY = WORK / "tree"
ROOT = "rust/core/src/lib.rs"
FOUND = WORK / "found.json"
EVERY_OPERATOR = Path(__file__).with_name("every_operator.md")
"""By which tests faults were noticed, or null, since the run with `--first 1`."""
CHOSEN = "SIMPLEXDP_MUTATION"
LIMIT = 600
"""Seconds after which a test that a fault keeps from ending counts as failed."""
SWITCH = f"""
/// Which fault is switched on; see tests/mutations.
pub mod mutations {{
    static CHOSEN: std::sync::LazyLock<u32> = std::sync::LazyLock::new(|| {{
        std::env::var("{CHOSEN}").ok().and_then(|text| text.parse().ok()).unwrap_or(0)
    }});
    /// Whether it is this one.
    #[must_use]
    pub fn on(number: u32) -> bool {{
        *CHOSEN == number
    }}
}}
"""


class Mutation(NamedTuple):
    """One fault, and the tests that are asked for it: filters of the core's unit tests, arguments of pytest."""

    name: str
    file: str
    find: str
    replace: str
    at: str = ""
    rust: tuple[str, ...] = ()
    python: tuple[str, ...] = ()

    @property
    def compiled(self) -> bool:
        return self.file.endswith(".rs")

    def place(self, text: str) -> int | None:
        """Return where the expression begins, if the context stands exactly once in the text."""
        context = self.at or self.find
        if text.count(context) != 1 or context.count(self.find) != 1:
            return None
        return text.index(context) + context.index(self.find)


def listed() -> list[Mutation]:
    """Return the list."""
    with (Path(__file__).parent / "mutations.toml").open("rb") as file:
        entries = tomllib.load(file)["mutation"]
    return [Mutation(**{k: tuple(v) if isinstance(v, list) else v for k, v in entry.items()}) for entry in entries]


def misfits(mutations: list[Mutation]) -> list[str]:
    """Return the names of the faults that do not fit the sources any more."""
    return [m.name for m in mutations if m.place((TREE / m.file).read_text(encoding="utf-8")) is None]


def written(target: Path, content: bytes) -> None:
    """Write a file of the copy, unless it is there as it should be: what keeps its time is not built again."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists() or target.read_bytes() != content:
        target.write_bytes(content)


def copy_tree(but: set[str]) -> None:
    """Copy what git knows, as it stands in the tree, but for some files."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=TREE, capture_output=True, check=True).stdout.decode()
    wanted = {name for name in names.split("\0") if name and (TREE / name).is_file()}
    # A source that was moved away since the last run would be found twice.
    for left in [*COPY.rglob("*.rs"), *COPY.rglob("*.py")]:
        if left.relative_to(COPY).as_posix() not in wanted:
            left.unlink()
    for name in wanted - but:
        written(COPY / name, (TREE / name).read_bytes())


def switched(mutations: list[Mutation]) -> None:
    """Copy the tree, the Rust sources with every fault behind its number."""
    by_file: dict[str, list[tuple[int, int, Mutation]]] = {}
    for number, mutation in enumerate(mutations, 1):
        if mutation.compiled:
            place = mutation.place((TREE / mutation.file).read_text(encoding="utf-8"))
            assert place is not None
            by_file.setdefault(mutation.file, []).append((place, number, mutation))
    copy_tree({*by_file, ROOT})
    for file, places in by_file.items():
        text = (TREE / file).read_text(encoding="utf-8")
        for place, number, m in sorted(places, reverse=True):
            choice = f"(if crate::mutations::on({number}) {{ {m.replace} }} else {{ {m.find} }})"
            text = text[:place] + choice + text[place + len(m.find) :]
        written(COPY / file, text.encode())
    written(COPY / ROOT, (TREE / ROOT).read_bytes() + SWITCH.encode())


def build() -> Path:
    """Build the core's unit tests and the extension with all faults in them; return the program of the tests."""
    environment = {
        **os.environ,
        "CARGO_TARGET_DIR": str(WORK / "build"),
        "CARGO_PROFILE_RELEASE_LTO": "off",
        "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "16",
        "CARGO_INCREMENTAL": "1",
        "PYO3_PYTHON": sys.executable,
        "RUSTFLAGS": "-Awarnings",
    }

    def cargo(*arguments: str) -> list[dict[str, object]]:
        done = subprocess.run(
            ["cargo", *arguments, "--release", "--locked", "--message-format=json-render-diagnostics"],
            cwd=COPY,
            env=environment,
            stdout=subprocess.PIPE,
            check=True,
        )
        lines = done.stdout.decode().splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    cargo("build", "-p", "simplexdp-py")
    library = next(p for p in (WORK / "build" / "release").iterdir() if p.name in ("lib_core.so", "lib_core.dylib"))
    shutil.copyfile(library, COPY / "python" / "simplexdp" / "_core.abi3.so")
    messages = cargo("test", "-p", "simplexdp-core", "--lib", "--no-run")
    return next(Path(str(m["executable"])) for m in messages if m.get("executable"))


def fails(selection: str, number: int, program: Path) -> bool:
    """Return whether the tests of a selection fail, or do not end, with this fault switched on."""
    environment = {**os.environ, CHOSEN: str(number), "PYTHONPATH": str(COPY / "python")}
    # The bytecode of a file that changed twice within a second would be the old one.
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    pytest = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--no-header", selection]
    command = pytest if selection.startswith("tests/") else [str(program), "--quiet", selection]
    try:
        done = subprocess.run(
            command, cwd=COPY, env=environment, capture_output=True, timeout=LIMIT, check=False, text=True
        )
    except subprocess.TimeoutExpired:
        return True
    if done.returncode == 5 or "running 0 tests" in done.stdout:
        raise SystemExit(f"{selection} selects no test")
    return done.returncode != 0


@cache
def fails_without_fault(selection: str, program: Path) -> bool:
    """Return whether the tests fail anyway, so that their failing says nothing."""
    return fails(selection, 0, program)


def noticed(mutation: Mutation, number: int, program: Path) -> str | None:
    """Return which selection of tests fails by this fault alone, or None."""
    return next((each for each in (*mutation.rust, *mutation.python) if fails(each, number, program)), None)


def page(found: list[tuple[Mutation, str | None]]) -> str:
    """Return the documentation page."""
    survivors = [m.name for m, by in found if by is None]
    rust = sum(m.compiled for m, _ in found)
    lines = [
        "# Mutations",
        "",
        "Tests that pass say little unless they fail when the code is wrong. `tests/mutations/mutations.toml` lists",
        "faults, each one a small change of the sources: a sign, a tail, one per cent, a missing truncation,",
        "neighbours swapped, a key used twice. `make mutations` makes each of them alone and runs the tests that are",
        "named beside it.",
        "",
        # What another program changed, by hand: it is judged apart.
        EVERY_OPERATOR.read_text(encoding="utf-8"),
        f"Last full run: {len(found)} faults, {rust} in Rust and {len(found) - rust} in Python; "
        f"{len(found) - len(survivors)} were noticed, {len(survivors)} survived.",
        "",
        "| fault | file | noticed by |",
        "| --- | --- | --- |",
    ]
    lines += [f"| {m.name} | `{m.file}` | {'**nobody**' if by is None else f'`{by}`'} |" for m, by in found]
    return "\n".join([*lines, ""])


def main() -> int:
    """Run the list."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="faults with this word in their name or file")
    parser.add_argument("--first", type=int, default=1, help="the number of the first fault in the list that is run")
    parser.add_argument("--write", type=Path, help="a page to write")
    options = parser.parse_args()
    mutations = listed()
    if stale := misfits(mutations):
        print("these do not fit the tree:", *stale, sep="\n  ")
        return 2
    started = time.monotonic()
    switched(mutations)
    program = build()
    chosen = [(n, m) for n, m in enumerate(mutations, 1) if options.only in m.name or options.only in m.file]
    chosen = [(n, m) for n, m in chosen if n >= options.first]
    before = json.loads(FOUND.read_text()) if options.first > 1 and FOUND.exists() else {}
    found: list[tuple[Mutation, str | None]] = [(m, before[m.name]) for m in mutations if m.name in before]
    for number, mutation in chosen:
        target = COPY / mutation.file
        text = target.read_text(encoding="utf-8")
        if not mutation.compiled:
            place = mutation.place(text)
            assert place is not None
            target.write_text(text[:place] + mutation.replace + text[place + len(mutation.find) :], encoding="utf-8")
        try:
            found.append((mutation, noticed(mutation, number, program)))
        finally:
            if not mutation.compiled:
                target.write_text(text, encoding="utf-8")
        by = found[-1][1]
        if by is not None and fails_without_fault(by, program):
            print(f"{by} fails without any fault, and says nothing")
            found[-1] = (mutation, None)
        print(f"{'SURVIVED' if found[-1][1] is None else 'noticed '}  {number} {mutation.name}", flush=True)
        FOUND.write_text(json.dumps({m.name: by for m, by in found}, indent=1), encoding="utf-8")
    seconds = time.monotonic() - started
    survivors = sum(by is None for _, by in found)
    print(f"{len(found)} faults, {survivors} survived, {seconds:.0f} s")
    if options.write:
        options.write.write_text(page(found), encoding="utf-8")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
