"""The rules whose state is a few numbers of the core: sums, or a pair that is moved."""

import os
import zlib
from typing import Any, ClassVar

from simplexdp import _core
from simplexdp._arguments import number, positive
from simplexdp.accounting import recipes
from simplexdp.accounting.curve import Adjacency
from simplexdp.accounting.rules._rule import Plan, Rule, composed
from simplexdp.exceptions import InvalidParameterError, LedgerError

SLACK = 0.01
"""Share of delta for tails heavier than normal ones."""

REMEMBERED = 1024
"""Curves for which what was found out is kept in this process."""


class CoreRule(Rule):
    """A rule of the core; the state is its numbers in hexadecimal, and their checksum."""

    _core: _core.BudgetRule

    def start(self) -> str:
        return _to_text(self._core.start())

    def _used(self, state: str) -> float:
        return self._core.used(_from_text(state))

    def _debited(self, state: str, plan: Plan) -> tuple[str | None, str]:
        numbers, reason = self._core.debit(_from_text(state), _spend(plan))
        return (None, reason or "") if numbers is None else (_to_text(numbers), "")


class PureRule(CoreRule):
    """Sums of epsilon, and of the chance to tell everything."""

    name: ClassVar[str] = "pure"

    def __init__(self, *, epsilon: float, delta: float, adjacency: Adjacency) -> None:
        super().__init__(epsilon=epsilon, delta=delta, adjacency=adjacency)
        self._core = _core.pure_rule(self.epsilon, self.delta)


class GaussianRule(CoreRule):
    """A pair that dominates all that may still be released, moved by what each spend needs of it."""

    name: ClassVar[str] = "gaussian"

    def __init__(self, *, epsilon: float, delta: float, adjacency: Adjacency, slack: float | str = SLACK) -> None:
        super().__init__(epsilon=epsilon, delta=delta, adjacency=adjacency)
        self._slack = positive("slack", _stored(slack))
        self._core = _core.gaussian_rule(self.epsilon, self.delta, self._slack)

    def settings(self) -> dict[str, Any]:
        return {"slack": self._slack.hex()}

    def _debited(self, state: str, plan: Plan) -> tuple[str | None, str]:
        after, reason = super()._debited(state, plan)
        if after is None and not all(profile.is_pair for curve, _ in plan for profile in curve.profiles):
            reason += " (a book of the rule 'renyi' takes less for curves that are stated by Renyi divergences)"
        return after, reason


class RenyiRule(CoreRule):
    """Sums of Renyi divergences at one order."""

    name: ClassVar[str] = "renyi"

    def __init__(self, *, epsilon: float, delta: float, adjacency: Adjacency, order: float | str | None = None) -> None:
        super().__init__(epsilon=epsilon, delta=delta, adjacency=adjacency)
        if order is None:
            self._order = _core.renyi_rule_order(self.epsilon, self.delta)
        else:
            self._order = number("order", _stored(order))
        self._core = _core.renyi_rule(self.epsilon, self.delta, self._order)

    def settings(self) -> dict[str, Any]:
        return {"order": self._order.hex()}


def _stored(value: float | str) -> float:
    return float.fromhex(value) if isinstance(value, str) else value


_SPENDS: dict[tuple[tuple[str, int], ...], _core.Spend] = {}

if hasattr(os, "register_at_fork"):
    # Another thread may have been about to note a price: a forked child would wait for its lock for ever.
    os.register_at_fork(after_in_child=_SPENDS.clear)


def _spend(plan: Plan) -> _core.Spend:
    """Return what the core is asked to pay; the same object for the same plan, which then is priced once."""
    try:
        key = tuple((recipes.to_text(curve), count) for curve, count in plan)
    except InvalidParameterError:
        # Made from a Python function: nothing tells it apart from others.
        return _new_spend(plan)
    known = _SPENDS.get(key)
    if known is None:
        known = _new_spend(plan)
        if len(_SPENDS) >= REMEMBERED:
            _SPENDS.pop(next(iter(_SPENDS)), None)
        _SPENDS[key] = known
    return known


def _new_spend(plan: Plan) -> _core.Spend:
    curve = composed(plan)
    return _core.Spend(list(curve.profiles), curve.sampling_error)


def _to_text(numbers: list[float]) -> str:
    text = ",".join(map(float.hex, numbers))
    return f"{text};{zlib.crc32(text.encode()):08x}"


def _from_text(state: str) -> list[float]:
    numbers, _, checksum = state.rpartition(";")
    if f"{zlib.crc32(numbers.encode()):08x}" != checksum:
        raise LedgerError("the state of the budget was changed: its checksum is another")
    try:
        return [float.fromhex(value) for value in numbers.split(",")]
    except (ValueError, OverflowError) as error:
        raise LedgerError(f"the state of the budget cannot be read: {error}") from error
