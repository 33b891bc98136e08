"""Where lines of code break on a narrow page: a hook of mkdocs, in mkdocs.yml.

Before a dot and after an opening bracket rather than in the middle of a name, and never within an option such as
``--domains`` or a number such as 1e-6; a name in a table or a heading breaks between its words. The style sheet takes
the first away where the page is wide: there a space is near enough. In words a sign of per cent stays with its number.
Comments that stand below each other move up to their code where the longest of them would not fit on a desk.
"""

import re
from typing import Any

from simplexdp._typesetting import kept_together

CODE = re.compile(r"<code>.*?</code>", re.DOTALL)
SCRIPT = re.compile(r"(<(?:script|style|svg)\b.*?</(?:script|style|svg)>)", re.DOTALL)
TEXT = re.compile(r"(?<=>)[^<]+(?=<)")
TAG = re.compile(r"<[^>]*>")
CHARACTER = re.compile(r"&#?\w+;")
CELL = re.compile(r"<td\b.*?</td>", re.DOTALL)
HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[a-z]_)(?=[a-z])|(?<=[a-z])(?=\.[a-zA-Z])")
NUMBER = re.compile(r"(?<![\w.-])\d+(?:\.\d+)?e-\d+(?![\w-])")
OPTION = re.compile(r"(?<![\w.-])--?[a-z][\w-]*")
NAME = re.compile(r'(<span class="doc doc-object-name[^"]*">)([^<]+)')
STEP = re.compile(r"(?<=\w)(?=\.)|(?<=[a-z])(?=[A-Z])|(?<=[a-z]_)(?=[a-z])")
OPENED = re.compile(r'(<span class="p">[^<]*[(\[{]</span>)(?!\s)')
PROSE = re.compile(r'<div class="prose".*?</div>', re.DOTALL)
ASIDE = re.compile(r"(<(?:script|style|svg|pre|code)\b.*?</(?:script|style|svg|pre|code)>)", re.DOTALL)
DOT = re.compile(r'(?<=</span>)(?=<span class="o">\.</span>)')
BEFORE_COMMENT = re.compile(r' {3,}(?=<span class="c1">)')

COLUMNS = 95
"""Of code beside the menu and the table of contents at 1280 pixels."""


def on_page_content(html: str, **_: Any) -> str:
    """Return the page with places to break."""
    html = CELL.sub(lambda cell: CODE.sub(lambda found: humps(found.group()), cell.group()), html)
    html = CODE.sub(lambda found: broken(found.group()), html)
    html = NAME.sub(lambda found: found.group(1) + STEP.sub("<wbr>", found.group(2)), html)
    parts = SCRIPT.split(html)
    parts[::2] = [kept_whole(NUMBER, part) for part in parts[::2]]
    html = PROSE.sub(lambda found: with_signs(found.group()), "".join(parts))
    parts = ASIDE.split(html)
    # Every second one is code, where a sign of per cent stands for something else.
    parts[::2] = [with_signs(part) for part in parts[::2]]
    return "".join(parts)


def with_signs(html: str) -> str:
    """Return text where signs of per cent stay with their numbers."""
    return TEXT.sub(lambda text: kept_together(text.group()), html)


def kept_whole(what: re.Pattern[str], html: str) -> str:
    """Return the page with such pieces of text in an element that does not break."""
    return TEXT.sub(lambda text: what.sub(r'<span class="whole">\g<0></span>', text.group()), html)


def humps(code: str) -> str:
    """Return a name in a table with a place to break before each of its words."""
    return TEXT.sub(lambda text: HUMP.sub("<wbr>", text.group()), code)


def broken(code: str) -> str:
    """Return one piece of code with places to break."""
    lines = CHARACTER.sub("_", TAG.sub("", code)).splitlines()
    if max(map(len, lines), default=0) > COLUMNS:
        code = BEFORE_COMMENT.sub("  ", code)
    code = kept_whole(OPTION, code)
    return DOT.sub("<wbr>", OPENED.sub(r"\1<wbr>", code))
