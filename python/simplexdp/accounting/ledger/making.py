"""Making a ledger file: it is written beside its place, so that no one ever sees half of it."""

import contextlib
import json
import os
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from simplexdp.accounting.ledger import place
from simplexdp.accounting.ledger.book import SETTINGS
from simplexdp.accounting.ledger.errors import as_ledger_errors
from simplexdp.accounting.ledger.records import MAGIC, START, pack
from simplexdp.accounting.ledger.system import system
from simplexdp.exceptions import InvalidParameterError

__all__ = ["make", "to_json", "write"]

_encoder = json.JSONEncoder(separators=(",", ":"))


def make(
    path: str,
    settings: Mapping[str, str],
    mode: int,
    content: Sequence[tuple[str, bytes]] = (),
    origin: Mapping[str, Any] | None = None,
) -> None:
    """Write a ledger beside its place and give it its name; where another process was faster, its ledger stays."""
    if mode != 0o600 and not system.MODES_COUNT:
        raise InvalidParameterError(
            f"mode must be 0o600 on this system, where the permissions of a folder say who may use it, got {mode:#o}"
        )
    draft = place.draft_of(path, secrets.token_hex(8))
    with as_ledger_errors(path, known=False):
        file = system.new_file(draft)
        try:
            head = {
                "identity": secrets.token_hex(16),
                "home": place.home_of(file),
                "settings": dict(settings),
                **(origin or {}),
            }
            lines, end, chain = [MAGIC], len(MAGIC), START
            for kind, body in [(SETTINGS, to_json(head)), *content]:
                line, chain = pack(kind, body, end, chain)
                lines.append(line)
                end += len(line)
            write(file, b"".join(lines), 0)
        except BaseException:
            os.close(file)
            os.unlink(draft)
            raise
        try:
            system.take_place(file, draft, path, mode)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(draft)
            raise


def to_json(content: Mapping[str, Any]) -> bytes:
    """Return the body of a line."""
    return _encoder.encode(content).encode()


def write(file: int, text: bytes, at: int) -> None:
    """Write all of a text at a place."""
    while text:
        done = system.write_at(file, text, at)
        text, at = text[done:], at + done
