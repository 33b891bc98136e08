"""Check the inventory that other projects link by: ``python docs/generate/inventory.py site``.

Reads ``objects.inv`` as intersphinx does. Every entry must lead to a page and an anchor that are there, every public
name of the package must have an entry, and the version must be the package's.
"""

from __future__ import annotations

import re
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

ENTRY = re.compile(r"(.+?)\s+(\S+:\S+)\s+(-?\d+)\s+(\S*)\s+(.*)")
"""Of the format: name, domain and role, priority, address, shown name."""


def entries(inventory: bytes) -> tuple[str, dict[str, str]]:
    """Return the version, and the address of each name."""
    first, _, version, _, packed = inventory.split(b"\n", 4)
    if first != b"# Sphinx inventory version 2":
        raise ValueError(f"not an inventory of version 2: {first!r}")
    found = {}
    for line in zlib.decompress(packed).decode("utf-8").splitlines():
        matched = ENTRY.fullmatch(line)
        if matched is None:
            raise ValueError(f"not an entry: {line!r}")
        name, address = matched[1], matched[4]
        found[name] = address[:-1] + name if address.endswith("$") else address
    return version.removeprefix(b"# Version: ").decode(), found


def problems(site: Path, version: str, names: list[str]) -> Iterator[str]:
    """Yield one line for everything that is wrong with the inventory of a site."""
    stated, found = entries((site / "objects.inv").read_bytes())
    if stated != version:
        yield f"the version is {stated}, not {version}"
    pages: dict[str, str] = {}
    for name, address in found.items():
        page, _, anchor = address.partition("#")
        if page not in pages:
            path = site / page
            pages[page] = path.read_text(encoding="utf-8") if path.is_file() else ""
        if f'id="{anchor}"' not in pages[page]:
            yield f"{name}: there is no {address}"
    yield from (f"{name} has no entry" for name in names if name not in found)


def main(arguments: list[str]) -> int:
    """Print every problem; return 1 if there is one."""
    import simplexdp

    site = Path(arguments[0] if arguments else "site")
    names = [f"simplexdp.{name}" for name in simplexdp.__all__ if not name.startswith("__")]
    found = list(problems(site, simplexdp.__version__, names))
    for line in found:
        print(f"objects.inv: {line}", file=sys.stderr)
    print(f"{len(names)} public names in the inventory, {len(found)} complaints")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
