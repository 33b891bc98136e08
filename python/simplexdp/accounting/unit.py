"""Of whom a guarantee is: records, or persons that a column names."""

from typing import Any

from simplexdp import _core
from simplexdp.exceptions import InvalidParameterError

__all__ = ["checked_unit", "unit_of", "unit_of_rows"]

SOMEBODY = "person"
"""The unit of persons whose column has no name."""


def checked_unit(unit: Any) -> str | None:
    """Return the name of a unit; not the value itself in a message, which may be data in the wrong argument."""
    if not (unit is None or isinstance(unit, str)):
        raise InvalidParameterError(f"unit must be the name of the column of persons, got one {type(unit).__name__}")
    if unit is not None:
        if any("\ud800" <= letter <= "\udfff" for letter in unit):
            raise InvalidParameterError("unit must be a name in characters that can be written, got others")
        _core.check_unit(unit)
    return unit


def unit_of(column: Any) -> str:
    """Return the unit of a column of persons, or of persons that no column holds."""
    return SOMEBODY if column is None else str(column)


def unit_of_rows(unit: Any, max_rows: int) -> str | None:
    """Return the unit of a mechanism for at most so many rows of each; who has several rows is somebody."""
    return SOMEBODY if unit is None and max_rows > 1 else checked_unit(unit)
