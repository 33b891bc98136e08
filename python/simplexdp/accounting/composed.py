"""A book that composes everything that was debited, tightly, and compares with (epsilon, delta)."""

import json
from collections.abc import Sequence
from typing import Any

from simplexdp.accounting import recipes
from simplexdp.accounting.composition import compose
from simplexdp.accounting.curve import PrivacyCurve
from simplexdp.exceptions import BudgetExceededError, InvalidParameterError

Costs = Sequence[tuple[PrivacyCurve, int]]
Spent = dict[str, int]


class ComposedRule:
    """The budget, and how a debit moves the state: how often each curve was spent, and how often that is proved fine.

    Room for more of the same is proved along with a debit, so that most debits need no composition.
    """

    def __init__(self, epsilon: float, delta: float) -> None:
        self.epsilon, self.delta = epsilon, delta

    def to_text(self) -> str:
        """Return the rule as it is stored in the book."""
        return "composition"

    def start(self) -> str:
        """Return the state of an empty book."""
        return json.dumps({})

    def debit(self, state: str, costs: Costs) -> str:
        """Return the state after a debit.

        Raises
        ------
        BudgetExceededError
            If all debits with this one are not proved to be within the budget.
        """
        known = json.loads(state)
        spent = {recipe: counts[0] for recipe, counts in known.items()}
        allowed = {recipe: counts[1] for recipe, counts in known.items()}
        wanted = _with(spent, costs)
        if any(count > allowed.get(recipe, 0) for recipe, count in wanted.items()):
            allowed = self._proved(wanted, costs, spent)
        return json.dumps({recipe: [count, allowed[recipe]] for recipe, count in wanted.items()}, separators=(",", ":"))

    def fits(self, state: str, costs: Costs) -> bool:
        """Return whether a debit would be accepted."""
        return self.epsilon_of(_with(self.spent(state), costs)) <= self.epsilon

    def used(self, state: str) -> float:
        """Return the share of the budget that is used."""
        return min(self.epsilon_of(self.spent(state)) / self.epsilon, 1.0)

    @staticmethod
    def spent(state: str) -> Spent:
        """Return how often each curve was spent."""
        return {recipe: counts[0] for recipe, counts in json.loads(state).items()}

    @staticmethod
    def total(spent: Spent) -> PrivacyCurve:
        """Return the curve of what was spent."""
        return compose([recipes.from_text(recipe) for recipe in spent], list(spent.values()))

    def epsilon_of(self, spent: Spent) -> float:
        """Return the epsilon of what was spent, at the budget's delta."""
        if not spent:
            return 0.0
        total = self.total(spent)
        if self.delta > 0:
            return float(total.epsilon(self.delta))
        try:
            return float(total.epsilon(0.0))
        except InvalidParameterError:
            return float("inf")

    def _proved(self, wanted: Spent, costs: Costs, spent: Spent) -> Spent:
        """Return how often each curve may be spent; it is what is wanted, or more of what was asked for last."""
        if self.epsilon_of(wanted) > self.epsilon:
            raise BudgetExceededError(
                f"{_named(costs)} does not fit: {self.epsilon_of(spent):.6g} of epsilon {self.epsilon:g} is spent at "
                f"delta {self.delta:g}"
            )
        if len(costs) == 1:
            asked = recipes.to_text(costs[0][0])
            need = wanted[asked]
            for ahead in (2 * need, need + need // 4):
                if ahead > need and self.epsilon_of({**wanted, asked: ahead}) <= self.epsilon:
                    return {**wanted, asked: ahead}
        return wanted


def _with(spent: Spent, costs: Costs) -> Spent:
    wanted = dict(spent)
    for curve, count in costs:
        recipe = recipes.to_text(curve)
        wanted[recipe] = wanted.get(recipe, 0) + count
    return wanted


def _named(costs: Any) -> str:
    curve, count = costs[0]
    return f"{count} release{'s' if count > 1 else ''} of {curve!r}" + (" and others" if len(costs) > 1 else "")
