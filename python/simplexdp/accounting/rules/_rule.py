"""What every rule of a budget can do."""

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, get_args

from simplexdp._arguments import choice, integer, non_negative, number
from simplexdp._rounding import rounded
from simplexdp.accounting.composition import compose
from simplexdp.accounting.curve import Adjacency, PrivacyCurve
from simplexdp.accounting.rules._unit import marked, parted, shown
from simplexdp.exceptions import BudgetExceededError, InvalidParameterError

VERSION = 1

Plan = Sequence[tuple[PrivacyCurve, int]]
"""One spend: curves with their counts, all of them decided before the first answer is seen."""


class Rule(ABC):
    """A budget as a function from states and spends to states.

    A state is a short text that only the rule reads. It holds what is left, not what was spent, so that a debit takes
    the same time whatever the history; and whose records the book is for, which the first spend says.
    """

    name: ClassVar[str]
    adaptive: ClassVar[bool] = True

    def __init__(self, *, epsilon: float, delta: float, adjacency: Adjacency) -> None:
        self.epsilon, self.delta = non_negative("epsilon", epsilon), number("delta", delta)
        if not (self.epsilon > 0 and 0 <= self.delta < 1):
            raise InvalidParameterError(f"epsilon must be positive and delta in [0, 1), got {epsilon} and {delta}")
        choice("adjacency", adjacency, get_args(Adjacency))
        self.adjacency: Adjacency = adjacency

    def settings(self) -> dict[str, Any]:
        """Return what was fixed at the opening besides the budget, as JSON holds it."""
        return {}

    @classmethod
    def from_stored(cls, stored: dict[str, Any]) -> "Rule":
        """Return the rule of these stored values."""
        if stored.pop("version") != VERSION:
            raise ValueError("it is of another version")
        epsilon, delta = (float.fromhex(stored.pop(name)) for name in ("epsilon", "delta"))
        return cls(epsilon=epsilon, delta=delta, **stored)

    def to_text(self) -> str:
        """Return the rule with all that was fixed at the opening, to the last bit; see `from_text`."""
        budget = {"epsilon": self.epsilon.hex(), "delta": self.delta.hex(), "adjacency": self.adjacency}
        values = {"rule": self.name, "version": VERSION, **budget, **self.settings()}
        return json.dumps(values, separators=(",", ":"), sort_keys=True)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rule) and self.to_text() == other.to_text()

    def __hash__(self) -> int:
        return hash(self.to_text())

    def __repr__(self) -> str:
        promise = "" if self.adaptive else ", adaptive=False"
        return f"Rule({self.name!r}, epsilon={self.epsilon:g}, delta={self.delta:g}{promise})"

    @abstractmethod
    def start(self) -> str:
        """Return the state of a book in which nothing was spent."""

    # What follows reads states without their unit.

    @abstractmethod
    def _used(self, state: str) -> float:
        """Return the share of the budget that is used, in [0, 1], rounded up."""

    @abstractmethod
    def _debited(self, state: str, plan: Plan) -> tuple[str | None, str]:
        """Return the state after a spend, or None and why it does not fit."""

    def debit(self, state: str, curves: Plan) -> str:
        """Return the state after one spend.

        Parameters
        ----------
        state : str
            As `start` or the last debit returned it.
        curves : sequence of (PrivacyCurve, int)
            What is released, each so often. Several of them, or a count above one, are one spend by tight composition:
            all of it must be decided before the first answer is seen.

        Returns
        -------
        str

        Raises
        ------
        BudgetExceededError
            If the spend is not proved to fit.
        InvalidParameterError
            If it is of another adjacency, or for another unit than what was spent before.
        """
        plan = self._checked(curves)
        unit, bare = self._opened(state, plan)
        after, reason = self._debited(bare, plan)
        if after is None:
            raise BudgetExceededError(f"{_named(plan)} does not fit: {reason}; {self.describe(state)}")
        return marked(unit, after)

    def _opened(self, state: str, plan: Plan) -> tuple[str | None, str]:
        """Return the unit of a spend, which must be that of the book, and the state without it."""
        unit, *others = dict.fromkeys(curve.unit for curve, _ in plan)
        if others:
            raise InvalidParameterError(
                f"curves must all be for the same unit, got {shown(unit)} and {shown(others[0])}"
            )
        known, bare = parted(state)
        # The first spend says whose book it is.
        if known != unit and not (known is None and bare == self.start()):
            raise InvalidParameterError(
                f"curve must be for the unit of the ledger, {shown(known)}, got one for {shown(unit)}: costs for "
                "different units do not add up. Keep a ledger for each; the unit of a curve of your own is stated by "
                "for_unit, that of a mechanism by for_counts(unit=)"
            )
        return unit, bare

    def fits(self, state: str, curves: Plan) -> bool:
        """Return whether a debit would be accepted."""
        plan = self._checked(curves)
        return self._debited(self._opened(state, plan)[1], plan)[0] is not None

    def unit(self, state: str) -> str | None:
        """Return whose records the book is for: the column that tells persons; None for single records."""
        return parted(state)[0]

    def opened_for(self, unit: str | None) -> str:
        """Return the state of a book in which nothing was spent, for this unit; for that of the first spend if None."""
        return marked(unit, self.start())

    def used(self, state: str) -> float:
        """Return the share of the budget that is used, in [0, 1], rounded up."""
        return self._used(parted(state)[1])

    def describe(self, state: str) -> str:
        """Return in one line how much of the budget is used, and for whom where that is not single records."""
        unit, bare = parted(state)
        return self._described(bare) + ("" if unit is None else f", for all records of one {unit!r}")

    def _described(self, state: str) -> str:
        return (
            f"{rounded(100 * self._used(state), 4)} % of epsilon {self.epsilon:g} at delta {self.delta:g} is used "
            f"by the rule {self.name!r}"
        )

    def _checked(self, curves: Plan) -> list[tuple[PrivacyCurve, int]]:
        try:
            pairs = [(curve, count) for curve, count in curves]
        except (TypeError, ValueError):
            raise InvalidParameterError("curves must hold pairs of a privacy curve and a number") from None
        plan = [(curve, integer("count", count, 1)) for curve, count in pairs]
        if not plan:
            raise InvalidParameterError("curves must hold at least one curve, got none")
        for curve, _ in plan:
            if not isinstance(curve, PrivacyCurve):
                raise InvalidParameterError(f"curve must be a privacy curve, got {type(curve).__name__}")
            if curve.adjacency != self.adjacency:
                raise InvalidParameterError(
                    f"curve must be under the budget's adjacency {self.adjacency!r}, got {curve.adjacency!r}"
                )
        return plan


def composed(plan: Plan) -> PrivacyCurve:
    """Return the curve of a declared plan."""
    if len(plan) == 1 and plan[0][1] == 1:
        return plan[0][0]
    return compose([curve for curve, _ in plan], [count for _, count in plan])


def _named(plan: Plan) -> str:
    if len(plan) > 1:
        return f"a plan of {sum(count for _, count in plan)} releases"
    curve, count = plan[0]
    return f"{count} release{'s' if count > 1 else ''} of {curve!r}"
