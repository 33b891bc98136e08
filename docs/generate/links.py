"""Check every link of the built site: ``python docs/generate/links.py site``.

Pages, anchors, images, style sheets and scripts of our own must exist. Addresses elsewhere are checked for their
syntax only, since the check has to work offline; and nothing that a browser fetches by itself may be elsewhere.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Attributes that a browser follows by itself, by element; what a reader clicks is in "a".
FETCHED = {
    "img": ("src", "srcset"),
    "script": ("src",),
    "iframe": ("src",),
    "source": ("src", "srcset"),
    "video": ("src", "poster"),
    "audio": ("src",),
    "object": ("data",),
    "embed": ("src",),
    "link": ("href",),
    "use": ("href",),
}
# A link element that names a page and loads nothing.
NAMED_ONLY = {"canonical", "next", "prev", "alternate", "author", "license"}
IN_STYLES = re.compile(r"""@import\s+["']([^"']+)["']|url\(\s*["']?([^"')]+)["']?\s*\)""")
LABEL = "[a-z0-9]([a-z0-9-]*[a-z0-9])?"
HOST = re.compile(rf"^(localhost|{LABEL}(\.{LABEL})+)(:\d+)?$", re.IGNORECASE)


class Page(HTMLParser):
    """What a page links to, what it loads, and which anchors it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.repeated: list[str] = []
        self.without_text: list[str] = []
        self._in_style = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what one element refers to."""
        values = {name: value or "" for name, value in attrs}
        if "id" in values:
            if values["id"] in self.anchors:
                self.repeated.append(values["id"])
            self.anchors.add(values["id"])
        if tag == "a" and "name" in values:
            self.anchors.add(values["name"])
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag == "img" and not values.get("alt"):
            self.without_text.append(values.get("src", ""))
        if tag == "link" and NAMED_ONLY & set(values.get("rel", "").split()):
            self.links.append(values.get("href", ""))
        else:
            for name in FETCHED.get(tag, ()):
                for part in values.get(name, "").split(",") if name == "srcset" else [values.get(name, "")]:
                    if part.strip():
                        self.loads.append(part.split()[0])
        self.loads += addresses_in_style(values.get("style", ""))
        self._in_style = tag == "style"

    def handle_endtag(self, tag: str) -> None:
        """Leave a style element."""
        self._in_style = False

    def handle_data(self, data: str) -> None:
        """Read the addresses in a style element."""
        if self._in_style:
            self.loads += addresses_in_style(data)


def addresses_in_style(text: str) -> list[str]:
    """Return what a style sheet imports or shows."""
    return [first or second for first, second in IN_STYLES.findall(text)]


def problems(site: Path) -> Iterator[str]:
    """Yield one line for everything that is wrong in the site."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    if not pages:
        yield f"{site}: no page"
    for path, page in pages.items():
        where = path.relative_to(site)
        yield from (f"{where}: the anchor #{name} is there twice" for name in page.repeated)
        yield from (f"{where}: the image {source} has no text" for source in page.without_text)
        for link in page.links:
            fault = fault_of_link(link, path, site, pages)
            if fault:
                yield f"{where}: {link}: {fault}"
        for address in page.loads:
            fault = fault_of_load(address, path, site)
            if fault:
                yield f"{where}: {address}: {fault}"
    for path in sorted(site.rglob("*.css")):
        for address in addresses_in_style(path.read_text(encoding="utf-8")):
            fault = fault_of_load(address, path, site)
            if fault:
                yield f"{path.relative_to(site)}: {address}: {fault}"


def fault_of_link(link: str, path: Path, site: Path, pages: dict[Path, Page]) -> str | None:
    """Return what is wrong with a link that a reader may follow."""
    parts = urlsplit(link)
    if parts.scheme == "mailto":
        return None if re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+", parts.path) else "no address of a person"
    if parts.scheme or parts.netloc:
        return fault_of_address(link)
    target = local(parts.path, path, site)
    if target is None:
        return "leads out of the site"
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        return "there is no such file"
    anchor = unquote(parts.fragment)
    if anchor and target in pages and anchor not in pages[target].anchors:
        return "there is no such anchor"
    return None


def fault_of_load(address: str, path: Path, site: Path) -> str | None:
    """Return what is wrong with something that a browser fetches by itself."""
    parts = urlsplit(address)
    if parts.scheme == "data" or (not parts.scheme and not parts.netloc and not parts.path):
        return None
    if parts.scheme or parts.netloc:
        return "is fetched from elsewhere"
    target = local(parts.path, path, site)
    return None if target is not None and target.is_file() else "there is no such file"


def fault_of_address(link: str) -> str | None:
    """Return what is wrong with the syntax of an address elsewhere."""
    parts = urlsplit(link)
    if parts.scheme not in ("http", "https"):
        return "neither http nor https"
    if not HOST.match(parts.netloc) or re.search(r"\s", link):
        return "not a well-formed address"
    return None


def local(address: str, path: Path, site: Path) -> Path | None:
    """Return the file that an address of the site means, or None when it is outside."""
    if not address:
        return path
    base = site if address.startswith("/") else path.parent
    # A site that is read at an address with a folder names it on its page for what is not found.
    address = address.removeprefix(urlsplit(os.environ.get("SIMPLEXDP_SITE_URL", "")).path)
    target = (base / unquote(address).lstrip("/")).resolve()
    return target if target.is_relative_to(site.resolve()) else None


def main(arguments: list[str]) -> int:
    """Print every problem; return 1 if there is one."""
    site = Path(arguments[0] if arguments else "site").resolve()
    found = list(problems(site))
    for line in found:
        print(line, file=sys.stderr)
    count = len(list(site.rglob("*.html")))
    print(f"{count} pages, {len(found)} broken links")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
