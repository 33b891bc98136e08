"""Releases of one named curve, counted."""

from typing import Any, ClassVar

from simplexdp.accounting import recipes
from simplexdp.accounting.composition import compose
from simplexdp.accounting.curve import Adjacency, PrivacyCurve
from simplexdp.accounting.rules._rule import Plan, Rule
from simplexdp.exceptions import InvalidParameterError, LedgerError

MOST = 2**40
"""More releases than anyone makes."""


class UnitsRule(Rule):
    """As many releases of one curve as their composition allows; nothing else can be spent.

    C x C^n is C^(n+1): by Theorem F counting is valid for any curve, and loses nothing against a plan.
    """

    name: ClassVar[str] = "units"

    def __init__(self, *, epsilon: float, delta: float, adjacency: Adjacency, curve: PrivacyCurve | str) -> None:
        super().__init__(epsilon=epsilon, delta=delta, adjacency=adjacency)
        if not isinstance(curve, PrivacyCurve | str):
            raise InvalidParameterError(f"curve must be a privacy curve, got {type(curve).__name__}")
        self._unit = curve if isinstance(curve, str) else recipes.to_text(curve)
        curve = recipes.from_text(self._unit)
        if curve.adjacency != self.adjacency:
            raise InvalidParameterError(f"curve must be under {self.adjacency!r}, got {curve.adjacency!r}")
        self._most = _most(curve, self.epsilon, self.delta)

    def settings(self) -> dict[str, Any]:
        return {"curve": self._unit}

    def start(self) -> str:
        return "0"

    def _used(self, state: str) -> float:
        return self._spent(state) / self._most if self._most else 1.0

    def _described(self, state: str) -> str:
        return f"{self._spent(state)} of {self._most} units are used"

    def _spent(self, state: str) -> int:
        digits = len(str(self._most))
        if not (state.isascii() and state.isdigit() and len(state) <= digits and int(state) <= self._most):
            raise LedgerError("the state of the budget was changed: it is no number of units")
        return int(state)

    def _debited(self, state: str, plan: Plan) -> tuple[str | None, str]:
        for curve, _ in plan:
            if recipes.to_text(curve) != self._unit:
                return None, f"{curve!r} is not the curve that this budget counts"
        spent = self._spent(state) + sum(count for _, count in plan)
        return (str(spent), "") if spent <= self._most else (None, "it takes more units than are left")


def _most(curve: PrivacyCurve, epsilon: float, delta: float) -> int:
    """Return how many fit."""

    def fits(count: int) -> bool:
        total = compose([curve], [count])
        return within(total, epsilon, delta)

    if not fits(1):
        return 0
    low, high = 1, 2
    while high < MOST and fits(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def within(curve: PrivacyCurve, epsilon: float, delta: float) -> bool:
    """Return whether a curve is proved to be (epsilon, delta)-DP."""
    if delta > 0:
        return bool(curve.epsilon(delta) <= epsilon)
    try:
        return bool(curve.epsilon(0.0) <= epsilon)
    except InvalidParameterError:
        return False
