"""Tight composition of everything that was spent: valid where no cost depends on an answer."""

import json
from typing import ClassVar

from simplexdp import _core
from simplexdp.accounting import recipes
from simplexdp.accounting.composition import compose
from simplexdp.accounting.curve import PrivacyCurve
from simplexdp.accounting.rules._rule import Plan, Rule
from simplexdp.accounting.rules._unit import parted
from simplexdp.accounting.rules._units import within
from simplexdp.exceptions import InvalidParameterError, LedgerError

Counts = dict[str, int]


class PlannedRule(Rule):
    """The composition of all that was spent is within the budget.

    That is a guarantee only if what is spent, and when it stops, was decided without looking at any answer. The caller
    promises it with ``adaptive=False``; nothing here could check it.
    """

    name: ClassVar[str] = "planned"
    adaptive: ClassVar[bool] = False

    def start(self) -> str:
        return _to_text({}, {})

    def _used(self, state: str) -> float:
        spent, _ = _from_text(state)
        return _core.share_used(self.spent_epsilon(state), self.epsilon) if spent else 0.0

    def spent_epsilon(self, state: str) -> float:
        """Return the epsilon of everything that was spent, at the budget's delta."""
        total = self.total(state)
        if total is None:
            return 0.0
        try:
            return float(total.epsilon(self.delta))
        except InvalidParameterError:
            return float("inf")

    def total(self, state: str) -> PrivacyCurve | None:
        """Return the composition of everything that was spent; none where nothing was."""
        return _total(_from_text(parted(state)[1])[0])

    def _described(self, state: str) -> str:
        return (
            f"{self.spent_epsilon(state):.6g} of epsilon {self.epsilon:g} is spent at delta {self.delta:g}, "
            "planned without looking at answers"
        )

    def _debited(self, state: str, plan: Plan) -> tuple[str | None, str]:
        spent, allowed = _from_text(state)
        wanted = dict(spent)
        for curve, count in plan:
            recipe = recipes.to_text(curve)
            wanted[recipe] = wanted.get(recipe, 0) + count
        if all(count <= allowed.get(recipe, 0) for recipe, count in wanted.items()):
            return _to_text(wanted, allowed), ""
        if not self._fits(wanted):
            return None, "the composition of everything is above the budget"
        # Room for more of the same is proved along, so that most debits need no composition.
        grown = {recipe for recipe in wanted if wanted[recipe] != spent.get(recipe, 0)}
        for quarters in (4, 1):
            ahead = {recipe: n + quarters * n // 4 if recipe in grown else n for recipe, n in wanted.items()}
            if ahead != wanted and self._fits(ahead):
                return _to_text(wanted, ahead), ""
        return _to_text(wanted, wanted), ""

    def _fits(self, counts: Counts) -> bool:
        total = _total(counts)
        return total is None or within(total, self.epsilon, self.delta)


def _total(counts: Counts) -> PrivacyCurve | None:
    return compose([recipes.from_text(recipe) for recipe in counts], list(counts.values())) if counts else None


def _to_text(spent: Counts, allowed: Counts) -> str:
    return json.dumps({"spent": spent, "allowed": allowed}, separators=(",", ":"), sort_keys=True)


def _from_text(state: str) -> tuple[Counts, Counts]:
    try:
        stored = json.loads(state)
        spent, allowed = stored["spent"], stored["allowed"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise LedgerError(f"the state of the budget cannot be read: {error}") from error
    for counts in (spent, allowed):
        if not (
            isinstance(counts, dict) and all(type(count) is int and 0 < count < 1 << 63 for count in counts.values())
        ):
            raise LedgerError("the state of the budget was changed: its counts are no numbers of releases")
    return spent, allowed
