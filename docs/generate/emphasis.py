"""Find stars that a page of the built site took for emphasis: ``python docs/generate/emphasis.py site``.

A power such as ``2**52`` in the prose of a docstring makes what stands up to the next one bold, and loses its stars.
Emphasis that begins or ends within a word is such a one.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

CODE = re.compile(r"<(pre|code|script|style)\b.*?</\1>", re.DOTALL)
EMPHASIS = re.compile(r"<(?P<name>em|strong)>(?P<text>.*?)</(?P=name)>", re.DOTALL)


def swallowed(page: str) -> Iterator[str]:
    """Yield the text of emphasis that begins or ends within a word."""
    page = CODE.sub(" ", page)
    for found in EMPHASIS.finditer(page):
        before, after = page[: found.start()][-1:], page[found.end() :][:1]
        if re.match(r"[\w)\]]", before) or re.match(r"\w", after):
            yield re.sub(r"\s+", " ", f"{before}[{found['text']}]{after}")


def main(arguments: list[str]) -> int:
    """Print every one; return 1 if there is one."""
    site = Path(arguments[0] if arguments else "site")
    found = [(path, text) for path in sorted(site.rglob("*.html")) for text in swallowed(path.read_text("utf-8"))]
    for path, text in found:
        print(f"{path.relative_to(site)}: stars or underscores taken for emphasis: {text}", file=sys.stderr)
    print(f"{len(found)} pieces of emphasis within words")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
