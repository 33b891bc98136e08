"""``--clean`` and ``--map``: public rules that make spellings the same, in every column that is compared."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from simplexdp.frames import Cleaning

__all__ = ["Spelling", "takes_cleaning"]

WORDS = ("trim", "fold", "nfc", "nfkc")


@dataclass(frozen=True)
class Spelling:
    """The rules of each column: its own, else those that no column was named for."""

    common: tuple[str, ...] | None = None
    own: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    values: Mapping[str, str | None] | None = None

    @classmethod
    def stated(cls, clean: tuple[str, ...], map_file: str | None) -> Spelling:
        """Read ``trim,fold`` or ``COLUMN=trim``, as often as there are, and the file of replacements."""
        common: tuple[str, ...] | None = None
        own: dict[str, tuple[str, ...]] = {}
        for text in clean:
            column, sign, rest = text.rpartition("=")
            words = tuple(word.strip() for word in rest.split(","))
            unknown = [word for word in words if word not in (*WORDS, "")]
            if unknown or (not sign and words == ("",)):
                raise click.UsageError(
                    f"--clean must list trim, fold, nfc and nfkc, got {', '.join(unknown) or text!r}"
                )
            if (sign and column in own) or (not sign and common is not None):
                raise click.UsageError("--clean must be stated once, or once for each column as COLUMN=RULES")
            if sign:
                own[column] = words
            else:
                common = words
        return cls(common, own, None if map_file is None else _map(map_file))

    def of(self, column: str) -> Cleaning | None:
        """Return the rules for the values of a column, None without any."""
        from simplexdp.exceptions import InvalidParameterError
        from simplexdp.frames import Cleaning

        words = self.own.get(column, self.common)
        if not any(words or ()) and self.values is None:
            return None
        words = words or ()
        try:
            return Cleaning(
                trim="trim" in words,
                fold="fold" in words,
                # Letters that look the same are the same, in whatever form they are written.
                unicode="NFKC" if "nfkc" in words else "NFC",
                values=self.values or {},
            )
        except InvalidParameterError as error:
            raise click.UsageError(str(error)) from None

    def of_persons(self, column: str) -> Cleaning | None:
        """Return the rules for the column of persons: spellings alone, as a map would make one person of two."""
        words = self.own.get(column, self.common)
        found = self.of(column) if any(words or ()) else None
        return None if found is None else found.only_spelling()


def takes_cleaning() -> bool:
    """Whether the command that runs has ``--clean``."""
    context = click.get_current_context(silent=True)
    return context is not None and any(parameter.name == "clean" for parameter in context.command.params)


def _map(path: str) -> dict[str, str | None]:
    """Read ``{"influenza": "flu", "n/a": null}``."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError):
        raise click.UsageError(f"{path} is not JSON") from None
    valid = isinstance(content, Mapping) and all(value is None or isinstance(value, str) for value in content.values())
    if not valid:
        raise click.UsageError(f'{path} must hold a JSON object such as {{"influenza": "flu", "n/a": null}}')
    return dict(content)
