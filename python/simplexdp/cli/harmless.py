"""Text of users on its way to programs that may take it for orders: terminals and spreadsheets.

Levels and names of columns are public, but whoever stated them need not be whoever looks at them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

__all__ = ["cell", "cells", "visible"]

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What spreadsheets take for the beginning of a formula, also in the wide forms of East Asian text."""

_UNSEEN = {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}
"""Categories of characters that a terminal obeys, or that change the order of those beside them."""


def visible(text: str) -> str:
    r"""Return text with its control characters written out, as Python would, but for line ends.

    Examples
    --------
    >>> print(visible("a\x1b[2Jb"))
    a\x1b[2Jb
    """
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return "".join(
        ascii(letter)[1:-1] if letter != "\n" and unicodedata.category(letter) in _UNSEEN else letter for letter in text
    )


def cell(value: Any) -> Any:
    """Return a value for CSV: text that a spreadsheet would compute gets an apostrophe in front.

    Text that is a number, -1 say, stays as it is.

    Examples
    --------
    >>> cell("=1+1"), cell("-1"), cell(-1), cell("a=1")
    ("'=1+1", '-1', -1, 'a=1')
    """
    if not isinstance(value, str) or not value.startswith(_FORMULA):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value


def cells(values: Iterable[Any]) -> Sequence[Any]:
    """Return a row of such cells."""
    return [cell(value) for value in values]
