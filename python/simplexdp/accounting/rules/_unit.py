"""Whose records a book is for, written before the state of its rule: ``for "patient" ...``.

A book is for single records where nothing is written. Costs for different units are never added: a guarantee for
records is none for persons, and neither the other way round (docs/persons.md).
"""

import json

from simplexdp.exceptions import InvalidParameterError, LedgerError

__all__ = ["marked", "parted", "shown"]

_MARK = "for "
_READER = json.JSONDecoder()


def marked(unit: str | None, state: str) -> str:
    """Return the state of a book for this unit."""
    return state if unit is None else f"{_MARK}{json.dumps(unit)} {state}"


def parted(state: str) -> tuple[str | None, str]:
    """Return the unit of a state, None for single records, and the state of the rule alone."""
    if not isinstance(state, str):
        raise InvalidParameterError(f"state must be the text of a book, got {type(state).__name__}")
    if not state.startswith(_MARK):
        return None, state
    try:
        unit, end = _READER.raw_decode(state, len(_MARK))
    except (ValueError, RecursionError) as error:
        raise LedgerError(f"the unit in the state of the budget cannot be read: {error}") from error
    if not isinstance(unit, str) or not state.startswith(" ", end):
        raise LedgerError("the unit in the state of the budget cannot be read: it is no name")
    return unit, state[end + 1 :]


def shown(unit: str | None) -> str:
    """Return a unit as messages name it."""
    return "single records" if unit is None else repr(unit)
