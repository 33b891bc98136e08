"""Reports and model cards beside what a command makes: a page for people, and the same as JSON."""

from __future__ import annotations

import datetime
import json
import os
import re
import shlex
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from simplexdp.cli.files import whole
from simplexdp.cli.writing import warn, wrote

if TYPE_CHECKING:
    from simplexdp.accounting import Accountant
    from simplexdp.report import Facts

__all__ = ["facts_of", "record_text", "write_pages"]

_ADDRESS = re.compile(r"(\w+)://.*", re.DOTALL)
_PAGES = {
    "release": ("release_report", "release_record"),
    "hierarchy": ("hierarchy_report", "hierarchy_record"),
    "model": ("model_card", "model_record"),
    "quality": ("synthesis_report", "synthesis_record"),
}


def facts_of(file: str, ledger: str | None, accountant: Accountant | None) -> Facts:
    """Return where a release comes from: the file by its name, the day, the ledger, and the command itself."""
    from simplexdp.report import Facts

    given = click.get_current_context().find_root().obj
    used = None
    if accountant is not None:
        used = float(accountant.used)
    return Facts(
        source="standard input" if file == "-" else os.path.basename(file),
        date=datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        ledger=None if ledger is None else ledger.rpartition("/")[2],
        used=used,
        # An address of a database may name a user and hold a password.
        made_by=None
        if given is None
        else shlex.join(["simplexdp", *(_ADDRESS.sub(r"\1://...", each) for each in given)]),
    )


def write_pages(path: str, kind: str, /, *args: Any, **told: Any) -> None:
    """Write the page, and beside it the same for programs."""
    beside = f"{path}.json"
    text = record_text(kind, *args, **told)
    _write(path, _maker(kind, 0)(*args, **told))
    if os.path.lexists(beside) and not _is_record(beside):
        warn(f"{beside} is something else and is left as it is")
    else:
        _write(beside, text)


def record_text(kind: str, /, *args: Any, **told: Any) -> str:
    """Return what a page says, as JSON for programs."""
    return json.dumps(_maker(kind, 1)(*args, **told), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _maker(kind: str, which: int) -> Any:
    """Return what makes the page of a kind (0), or its record (1)."""
    return getattr(import_module("simplexdp.report"), _PAGES[kind][which])


def _write(path: str, content: str) -> None:
    with whole(path) as draft, open(draft, "w", encoding="utf-8") as file:
        file.write(content)
    wrote(path)


def _is_record(path: str) -> bool:
    """Whether a file was written by an earlier call: nothing else is written over."""
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(content, dict) and content.get("@context") == "https://schema.org"
