"""Whom a guarantee is for, in the words of a page: one record, or one person with all records."""

from __future__ import annotations

from dataclasses import dataclass

from simplexdp.accounting import PrivacyCurve

__all__ = ["Whose", "whose"]


@dataclass(frozen=True)
class Whose:
    """What neighbouring data sets differ in.

    Parameters
    ----------
    unit : str or None
        The column of persons, None for single records.
    replaced : bool
        Whether somebody else takes the place, so that how many there are is public.
    """

    unit: str | None
    replaced: bool

    @property
    def one(self) -> str:
        """What one of them is called."""
        return "record" if self.unit is None else self.unit

    @property
    def _how(self) -> str:
        return "replaced" if self.replaced else "added or removed"

    @property
    def change(self) -> str:
        """The difference, as in "for one record replaced"."""
        return f"one {self.one} {self._how}" + ("" if self.unit is None else " with all records")

    @property
    def sentence(self) -> str:
        """The difference, as in "when one record is replaced"."""
        return f"one {self.one} is {self._how}" + ("" if self.unit is None else " with all records")

    @property
    def to_you(self) -> str:
        """The difference, said to one of them."""
        mine = "your record is" if self.unit is None else "all your records are"
        if not self.replaced:
            return f"{mine} removed from the data, or added to them"
        other = "any other one" if self.unit is None else f"those of any other {self.unit}, however many"
        return f"{mine} replaced by {other}"

    @property
    def yours(self) -> str:
        """What an attacker does not know."""
        return "every record but yours" if self.unit is None else f"all records of every {self.unit} but you"

    @property
    def of_one(self) -> str:
        """What the attacker asks about."""
        return "your record" if self.unit is None else "your records"

    @property
    def scope(self) -> str:
        """What is public of how many there are."""
        if self.replaced:
            return f"The number of {'records' if self.unit is None else f'different values of {self.unit}'} is public."
        return "The number of records is protected too."

    @property
    def not_covered(self) -> str:
        """What the numbers do not speak of."""
        if self.unit is None:
            return "They speak of one record: a person with several records in the data is protected less"
        return f"They speak of all records of one {self.unit} together"


def whose(curve: PrivacyCurve) -> Whose:
    """Return whom a curve is for."""
    return Whose(None if curve.unit is None else str(curve.unit), curve.adjacency == "replace")
