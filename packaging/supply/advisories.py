"""Look the locked dependencies up in copies of the public lists of known vulnerabilities, without a network.

``python packaging/supply/advisories.py --rust FOLDER --python FOLDER``: clones of RustSec's advisory-db and of PyPA's
advisory-database, bare or not. It prints how old the copies are, since a list knows nothing of what came after it, and
exits with 1 if a version that is locked is affected.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from packaging.version import Version

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TREE = Path(__file__).resolve().parents[2]
PINNED = re.compile(r"^([A-Za-z0-9_.-]+)==([^ ;\\]+)")
BOUND = re.compile(r"(>=|<=|>|<|=|\^|~)?\s*([0-9][^,\s]*)")


def crates(lock: str) -> set[tuple[str, str]]:
    """Return name and version of every crate that comes from a registry."""
    return {(each["name"], each["version"]) for each in tomllib.loads(lock)["package"] if "source" in each}


def distributions(requirements: str) -> set[tuple[str, str]]:
    """Return name and version of every distribution that a file of requirements pins."""
    found = (PINNED.match(line) for line in requirements.splitlines())
    return {(re.sub(r"[-_.]+", "-", each[1]).lower(), each[2]) for each in found if each}


def within(version: str, requirement: str) -> bool:
    """Whether a version meets a requirement of Cargo such as ">= 1.2.3, < 2" or "^1.2"."""
    own = _parts(version)
    for sign, text in BOUND.findall(requirement):
        bound = _parts(text)
        written = len(text.split("-")[0].split("."))
        if sign in ("", "^"):
            # The first part that is not zero must stay, or the last one that is written.
            place = next((i for i, part in enumerate(bound[0][:written]) if part), written - 1)
            good = own >= bound and own[0][: place + 1] == bound[0][: place + 1]
        elif sign == "~":
            good = own >= bound and own[0][: min(written, 2)] == bound[0][: min(written, 2)]
        elif sign == "=":
            good = own[0][:written] == bound[0][:written]
        else:
            good = {">=": own >= bound, "<=": own <= bound, ">": own > bound, "<": own < bound}[sign]
        if not good:
            return False
    return True


def _parts(version: str) -> tuple[tuple[int, ...], bool]:
    numbers, _, early = version.partition("+")[0].partition("-")
    found = [int(part) for part in numbers.split(".") if part.isdigit()]
    # A version before a release is below it.
    return (*found, 0, 0, 0)[:3], not early


def rust_advisory(text: str, locked: set[tuple[str, str]]) -> list[str]:
    """Return the locked crates that an advisory of RustSec is about."""
    entry = tomllib.loads(text.split("```toml", 1)[1].split("```", 1)[0])
    about, versions = entry["advisory"], entry.get("versions", {})
    if about.get("withdrawn"):
        return []
    safe = [*versions.get("patched", []), *versions.get("unaffected", [])]
    kind = about.get("informational", "vulnerability")
    return [
        f"{about['id']}: {name} {version} ({kind})"
        for name, version in sorted(locked)
        if name == about["package"] and not any(within(version, requirement) for requirement in safe)
    ]


def python_advisory(entry: dict[str, Any], locked: set[tuple[str, str]]) -> list[str]:
    """Return the locked distributions that an advisory of PyPA is about."""
    if entry.get("withdrawn"):
        return []
    found = set()
    for affected in entry.get("affected", ()):
        about = re.sub(r"[-_.]+", "-", affected["package"]["name"]).lower()
        for name, version in locked:
            if name == about and (version in affected.get("versions", ()) or _in_ranges(version, affected)):
                found.add(f"{entry['id']}: {name} {version}")
    return sorted(found)


def _in_ranges(version: str, affected: dict[str, Any]) -> bool:
    for each in affected.get("ranges", ()):
        inside = False
        if each["type"] == "ECOSYSTEM":
            for event in each["events"]:
                if "introduced" in event and Version(version) >= Version(event["introduced"]):
                    inside = True
                if ("fixed" in event and Version(version) >= Version(event["fixed"])) or (
                    "last_affected" in event and Version(version) > Version(event["last_affected"])
                ):
                    inside = False
        if inside:
            return True
    return False


def texts(folder: Path, ending: str, names: set[str]) -> Iterator[str]:
    """Yield the advisories about these names from a clone, and print how old it is."""

    def git(*arguments: str) -> str:
        return subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, check=True, text=True).stdout

    print(f"{folder.name}: as of {git('log', '-1', '--format=%cs').strip()}")
    for path in git("ls-tree", "-r", "--name-only", "HEAD").splitlines():
        if path.endswith(ending) and len(parts := path.split("/")) == 3 and parts[1].lower() in names:
            yield git("show", f"HEAD:{path}")


def main() -> int:
    """Print what is affected."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rust", type=Path)
    parser.add_argument("--python", type=Path)
    options = parser.parse_args()
    affected: list[str] = []
    if options.rust:
        locked = crates((TREE / "Cargo.lock").read_text(encoding="utf-8"))
        advisories = list(texts(options.rust, ".md", {name for name, _ in locked}))
        print(f"{len(locked)} crates, {len(advisories)} advisories about them")
        affected += [line for text in advisories for line in rust_advisory(text, locked)]
    if options.python:
        pinned: set[tuple[str, str]] = set()
        for file in sorted((TREE / "requirements").glob("*.txt")):
            pinned |= distributions(file.read_text(encoding="utf-8"))
        advisories = list(texts(options.python, ".yaml", {name for name, _ in pinned}))
        print(f"{len(pinned)} pinned distributions, {len(advisories)} advisories about them")
        affected += [line for text in advisories for line in python_advisory(yaml.safe_load(text), pinned)]
    print(*affected, f"{len(affected)} affected", sep="\n")
    return 1 if affected else 0


if __name__ == "__main__":
    sys.exit(main())
