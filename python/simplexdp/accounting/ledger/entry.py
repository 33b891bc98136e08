"""What every kind of ledger keeps, and what it offers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

__all__ = ["Advance", "Draw", "Entry", "Ledger", "Status", "Stored"]

Mark = Literal["reserved", "released"]

Advance = Callable[[str], str]
"""From the state of the book to the state after the debit, as texts; raises when the debit does not fit."""

Draw = Callable[[], bytes]
"""Makes a release that is to be stored, as `payload.to_bytes` writes it."""


@dataclass(frozen=True)
class Entry:
    """One debit in the book."""

    id: int
    costs: tuple[tuple[str, int], ...]
    """Curves, as `recipes.to_text` writes them, with how often each was spent."""
    label: str
    target: str
    mark: Mark
    time: float
    process: int
    state: str
    """Of the whole book, after this debit."""


@dataclass(frozen=True)
class Stored:
    """A release that was stored under a key with its debit."""

    debit: int
    costs: tuple[tuple[str, int], ...]
    payload: bytes
    fresh: bool
    """Whether this very call made it."""


@dataclass(frozen=True)
class Status:
    """Where a book stands."""

    state: str
    """As the rule wrote it; empty before the first debit."""
    debits: int
    closed: str
    """Why no debit is accepted any more; empty while there may be."""


class Ledger(Protocol):
    """A book that is debited in transactions, by whatever thread or process."""

    @property
    def place(self) -> str:
        """Where it is: a path, or an address without the password."""

    @property
    def settings(self) -> Mapping[str, str]:
        """What it was made with."""

    def debit(self, advance: Advance, costs: Sequence[tuple[str, int]], label: str, target: str) -> int:
        """Write a debit if `advance` does not object, and return its number. All or nothing."""

    def once(
        self, key: str, draw: Draw, advance: Advance, costs: Sequence[tuple[str, int]], label: str, target: str
    ) -> Stored:
        """Return the release under `key`; if there is none, debit, draw and store it in one transaction."""

    def mark_released(self, number: int) -> None:
        """Note that the release of this debit was delivered."""

    def status(self) -> Status:
        """Return where the book stands."""

    def entries(self) -> list[Entry]:
        """Return all debits in order."""
