"""What an accountant tells to logs and metrics: where, how much of the budget is used; no data, no counts, no labels.

Events go to the logger ``simplexdp.accounting`` and to the functions that `observe` was given.
"""

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal

from simplexdp.exceptions import InvalidParameterError

__all__ = ["LedgerEvent", "observe"]

_logger = logging.getLogger("simplexdp.accounting")
_logger.addHandler(logging.NullHandler())


@dataclass(frozen=True)
class LedgerEvent:
    """One thing that happened to a budget.

    Parameters
    ----------
    kind : {"debit", "stored", "refusal", "failure"}
        A debit was written; a release was returned that had been paid for; a debit did not fit; the ledger could not
        be used.
    place : str
        The path or address of the ledger.
    used : float or None
        The share of the budget that is used afterwards, in [0, 1]; None where it is not known.
    debit : int or None
        The number of the debit.
    """

    kind: Literal["debit", "stored", "refusal", "failure"]
    place: str
    used: float | None = None
    debit: int | None = None


Observer = Callable[[LedgerEvent], object]
_observers: list[Observer] = []


def observe(observer: Observer) -> AbstractContextManager[None]:
    """Call a function at every debit and refusal of this process, for metrics.

    Parameters
    ----------
    observer : callable
        Told of a `LedgerEvent`. What it raises is logged and goes no further: a debit that was made stands.

    Returns
    -------
    context manager
        Its end takes the function out again; without ``with`` it stays.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> seen = []
    >>> accountant = sdp.Accountant(1.0, 0.0)
    >>> with sdp.accounting.observe(seen.append):
    ...     spend = accountant.spend(sdp.PrivacyCurve.pure(0.25))
    >>> seen[0].kind, seen[0].used
    ('debit', 0.25)
    """
    if not callable(observer):
        raise InvalidParameterError(f"observer must be callable, got {type(observer).__name__}")
    _observers.append(observer)
    return _removed_after(observer)


class _removed_after:  # noqa: N801
    def __init__(self, observer: Observer) -> None:
        self._observer = observer

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        # By identity: what an observer compares equal to is its own affair.
        for place, known in enumerate(_observers):
            if known is self._observer:
                del _observers[place]
                return


def wanted() -> bool:
    """Return whether anyone listens, so that the share need be computed."""
    return bool(_observers) or _logger.isEnabledFor(logging.INFO)


def tell(event: LedgerEvent) -> None:
    """Log an event and hand it to the observers."""
    level = logging.INFO if event.kind in ("debit", "stored") else logging.WARNING
    number = "" if event.debit is None else f" {event.debit}"
    used = "" if event.used is None else f"; {100 * event.used:.3g} % of the budget is used"
    _logger.log(level, "%s%s in %s%s", event.kind, number, event.place, used)
    for observer in list(_observers):
        try:
            observer(event)
        except Exception:
            _logger.exception("an observer of the ledger failed")
