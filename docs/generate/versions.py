"""List the versions of the site that stand beside each other: ``python docs/generate/versions.py FOLDER``.

FOLDER holds one built site for each version, such as ``0.1/`` and ``0.2/``. Written are FOLDER/versions.json, from
which every page makes its menu of versions, and FOLDER/index.html, which leads to the newest. Plain files: nothing has
to run on the server.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path


def versions(folder: Path) -> list[dict[str, object]]:
    """Return the versions that are there, the newest first, which is also called "latest"."""
    named = [path.parent.name for path in folder.glob("*/index.html")]
    numbered = {name: tuple(map(int, name.split("."))) for name in named if re.fullmatch(r"\d+(\.\d+)*", name)}
    ordered = sorted(numbered, key=lambda name: numbered[name], reverse=True)
    return [
        {"version": name, "title": name, "aliases": ["latest"] if place == 0 else []}
        for place, name in enumerate(ordered)
    ]


def main(arguments: list[str]) -> int:
    """Write the list and the page that leads to the newest version."""
    folder = Path(arguments[0])
    found = versions(folder)
    if not found:
        print(f"no folder in {folder} is called after a version and holds a site", file=sys.stderr)
        return 1
    newest = found[0]["version"]
    (folder / "versions.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    (folder / "index.html").write_text(
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>simplexdp</title>'
        f'<meta http-equiv="refresh" content="0; url={newest}/index.html">'
        f'<p><a href="{newest}/index.html">simplexdp {newest}</a></p></html>\n',
        encoding="utf-8",
    )
    print(f"{len(found)} versions, the newest {newest}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
