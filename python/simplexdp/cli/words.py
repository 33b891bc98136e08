"""What the library says of its arguments, in the words of the command line: its options."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import click

__all__ = ["check_given", "in_options", "shortened"]

_RULE = re.compile(r"(\w+(?:(?:, | and | or )\w+)*)(?= (?:must|needs?|cannot)\b)")
"""The arguments that a message begins with, and then what holds for them."""

_KEYWORD = re.compile(r"(?<![-\w.])(\w+)=")
_QUOTED = re.compile(r"(?<!\w)'([^']*)'(?!\w)")
"""Pairs of quotes, one after the other: what lies between two quoted names is no quotation."""
_LONGEST = 80
_PLAN = re.compile(r"sdp\.plan(?:\('(\w+)'[^)]*\))?")


def in_options(message: str, params: Sequence[click.Parameter]) -> str:
    """Return a message about arguments of Python as one about the options of a command.

    Examples
    --------
    >>> in_options("epsilon and total must be positive", [click.Option(["--epsilon"])])
    '--epsilon and total must be positive'
    >>> in_options("the budget is too small; sdp.plan('synthesis') says what more buys", [])
    "the budget is too small; 'simplexdp plan synthesis' says what more buys"
    """
    names = {param.name: _spoken(param) for param in params}

    def option(match: re.Match[str]) -> str:
        return re.sub(r"\w+", lambda word: names.get(word[0], word[0]), match[0])

    head = _RULE.match(message)
    if head is not None:
        message = option(head) + message[head.end() :]
    message = _KEYWORD.sub(lambda found: f"{names[found[1]]} " if found[1] in names else found[0], message)
    return _PLAN.sub(lambda found: f"'simplexdp plan {found[1]}'" if found[1] else "'simplexdp plan'", message)


def shortened(message: str) -> str:
    """Return a message in which what somebody typed is not longer than a line.

    Examples
    --------
    >>> shortened(f"column 'age' has missing values, and a long sentence {'a' * 80} before 'sex' is none")[:40]
    "column 'age' has missing values, and a l"
    >>> shortened(f"column '{'a' * 100}' is not there")
    "column 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...' (100 characters) is not there"
    """

    def short(found: re.Match[str]) -> str:
        return found[0] if len(found[1]) <= _LONGEST else f"'{found[1][:60]}...' ({len(found[1])} characters)"

    return _QUOTED.sub(short, message)


def check_given(params: Sequence[click.Parameter], values: Mapping[str, Any]) -> None:
    """Refuse a file without a name, and text that could not be written once something was paid for."""
    for param in params:
        value = values.get(param.name or "")
        for each in value if isinstance(value, tuple) else (value,):
            if not isinstance(each, str):
                continue
            if isinstance(param.type, click.Path):
                # Names of files may be any bytes.
                if not each:
                    raise click.UsageError(f"{_spoken(param)} must name a file, got ''")
                if param.metavar == "FILE.html" and not each.lower().endswith((".html", ".htm")):
                    raise click.UsageError(f"{_spoken(param)} must end in .html or .htm, got {each}")
                continue
            try:
                each.encode()
            except UnicodeEncodeError:
                raise click.UsageError(f"{_spoken(param)} must be text that UTF-8 can hold, got {each!r}") from None


def _spoken(param: click.Parameter) -> str:
    """Return what a user calls it."""
    return max(param.opts, key=len) if isinstance(param, click.Option) else str(param.human_readable_name)
