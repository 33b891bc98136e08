"""Where nothing more is said of what a function returns no dash stands behind it: a hook of mkdocs, in mkdocs.yml."""

import re
from typing import Any

EMPTY = re.compile(r"\u2013\s*<div class=\"doc-md-description\">\s*</div>")


def on_page_content(html: str, **_: Any) -> str:
    """Return the page without such dashes."""
    return EMPTY.sub("", html)
