"""List the public names of simplexdp-core with their signatures: ``python packaging/crate/public_names.py [--write]``.

The list is `rust/core/public-names.txt`. A line that goes or changes in it breaks whoever uses the crate and raises the
minor number; a line that comes does not. Without --write it exits with 1 if the list is not what rustdoc sees. With it
the list is written, unless a line would go whose path the section "Unreleased" of CHANGELOG.md does not name.
"""

from __future__ import annotations

import difflib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TREE = Path(__file__).resolve().parents[2]
LIST = TREE / "rust" / "core" / "public-names.txt"
CHANGELOG = TREE / "CHANGELOG.md"
SIGNED = {"function", "constant", "static", "assoc_const", "assoc_type", "type_alias", "struct_field", "macro"}
"""Kinds of items whose whole declaration is a promise; of others the name is, and their parts are listed."""


def described() -> dict[str, Any]:
    """Return what rustdoc tells of the crate; its JSON is behind a switch of the compiler, in every toolchain."""
    environment = os.environ | {"RUSTC_BOOTSTRAP": "1"}
    command = ["cargo", "rustdoc", "--locked", "--quiet", "-p", "simplexdp-core", "--lib", "--"]
    subprocess.run([*command, "-Zunstable-options", "--output-format=json"], cwd=TREE, env=environment, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", TREE / "target"))
    found: dict[str, Any] = json.loads((target / "doc" / "simplexdp_core.json").read_text(encoding="utf-8"))
    return found


def declaration(item: dict[str, Any]) -> str:
    """Return the declaration of an item as its source has it, without body or value, on one line."""
    span = item["span"]
    lines = (TREE / span["filename"]).read_text(encoding="utf-8").splitlines()
    (first, start), (last, end) = span["begin"], span["end"]
    lines = lines[first - 1 : last]
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start - 1 :]
    text = " ".join(line.split("//")[0].strip() for line in lines)
    for mark in ("{", ";", " = ") if next(iter(item["inner"])) == "function" else (";", " = "):
        text = text.split(mark)[0]
    text = " ".join(text.split()).replace("( ", "(").replace(", )", ")").replace(" )", ")")
    # The span of a field without a name ends with the list of fields.
    return text.rstrip(", ") if text.count("(") == text.count(")") else text.rstrip(",) ")


def names(crate: dict[str, Any], item: dict[str, Any], path: str) -> Iterator[str]:
    """Yield a line for an item and for every public item within it."""
    index = crate["index"]
    (kind, inner), name = next(iter(item["inner"].items())), item["name"]
    if kind == "use":
        # What is shown from elsewhere in the crate is listed under the name that it is shown by.
        shown = index.get(str(inner["id"]))
        yield from names(crate, shown | {"name": inner["name"]}, path) if shown else [f"{path}::{inner['name']}: use"]
        return
    path = f"{path}::{name}" if path else name
    yield f"{path}: {declaration(item)}" if kind in SIGNED else f"{path}: {kind}"
    if kind == "module":
        inside = inner["items"]
    elif kind == "struct":
        shape = inner["kind"]
        fields = shape.get("plain", {}).get("fields", []) + shape.get("tuple", []) if isinstance(shape, dict) else []
        inside = [*fields, *inherent(index, inner)]
    elif kind == "enum":
        inside = [*inner["variants"], *inherent(index, inner)]
    elif kind == "variant":
        shape = inner["kind"]
        inside = shape.get("struct", {}).get("fields", []) + shape.get("tuple", []) if isinstance(shape, dict) else []
    elif kind == "trait":
        inside = inner["items"]
    else:
        inside = []
    everywhere = kind in ("variant", "trait")
    for identity in inside:
        part = index.get(str(identity))
        if part and (part["visibility"] == "public" or everywhere or "variant" in part["inner"]):
            yield from names(crate, part, path)
    for identity in inner.get("impls", []) if kind in ("struct", "enum") else []:
        block = index[str(identity)]["inner"]["impl"]
        if block["trait"] and not (block["is_synthetic"] or block["blanket_impl"]):
            yield f"{path}: impl {block['trait']['path'].split('::')[-1]}"


def inherent(index: dict[str, Any], inner: dict[str, Any]) -> list[Any]:
    """Return the items of the impl blocks that belong to no trait."""
    blocks = [index[str(identity)]["inner"]["impl"] for identity in inner["impls"]]
    return [part for block in blocks if not block["trait"] for part in block["items"]]


def untold(known: list[str], lines: list[str], changelog: str) -> list[str]:
    """Return the lines that go, or change, and that the changelog's first section does not name as `path`."""
    section = changelog.split("\n## ")[1]
    return [line for line in known if line not in set(lines) and f"`{line.split(': ')[0]}`" not in section]


def main(arguments: list[str]) -> int:
    """Compare the list with the crate, or write it."""
    if arguments not in ([], ["--write"]):
        print("usage: public_names.py [--write]", file=sys.stderr)
        return 2
    crate = described()
    lines = sorted(set(names(crate, crate["index"][str(crate["root"])], "")))
    known = LIST.read_text(encoding="utf-8").splitlines() if LIST.exists() else []
    gone = untold(known, lines, CHANGELOG.read_text(encoding="utf-8"))
    for line in gone:
        print(f"gone, and not in CHANGELOG.md: {line}")
    if arguments:
        if not gone:
            LIST.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return int(bool(gone))
    for line in difflib.unified_diff(known, lines, str(LIST.relative_to(TREE)), "the crate", lineterm="", n=0):
        print(line)
    return int(known != lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
