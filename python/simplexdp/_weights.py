"""Persons who count as one: in how many units, and how many records that is for a guarantee."""

from simplexdp.sensitivity import weight_units

__all__ = ["moves_of", "units_of"]


def units_of(max_rows: int, *, weighted: bool) -> int:
    """Return in how many units a person is counted: 1 where records are."""
    return weight_units(max_rows) if weighted else 1


def moves_of(max_rows: int, *, weighted: bool) -> int:
    """Return how many records a person has for the guarantee: of persons who count as one, their units."""
    return units_of(max_rows, weighted=True) if weighted else max_rows
