"""What every release has in common: its cost, the ledger that it is debited from, what may be told of it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

from simplexdp._cautions import WEAK
from simplexdp._rounding import rounded
from simplexdp.cli.writing import warn
from simplexdp.exceptions import BudgetExceededError, InvalidDataError, InvalidParameterError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from simplexdp.accounting import Accountant, PrivacyCurve

__all__ = [
    "Named",
    "account",
    "debited",
    "guarantee_of",
    "parameters_of",
    "public_total",
    "sentence",
    "warn_of",
    "warnings_of",
]


def public_total(counts: NDArray[np.int64], stated: int | None) -> int:
    """Return the number of records, which is public when neighbours replace one; it must be what was stated."""
    total = int(counts.sum())
    if stated is not None and stated != total:
        raise InvalidDataError("--total is not the number of records in the file (the number is not shown)")
    if total == 0:
        raise InvalidDataError("the file has no records")
    return total


def weaknesses(epsilon: float | None, delta: float | None = None, total: int | None = None) -> list[str]:
    """Return what must be said of a budget that protects hardly anything, whether it is spent or only asked about."""
    notes = []
    if epsilon is not None and epsilon > WEAK:
        notes.append(f"An epsilon above {WEAK:g} protects hardly anything; 'simplexdp plan' says what less costs.")
    if total and delta and delta * total >= 1:
        notes.append(
            f"A delta of one in {total} records or more allows to publish one: take {0.1 / total:.0e} or less."
        )
    return notes


def warn_of(epsilon: float | None, delta: float | None = None, total: int | None = None, *, quiet: bool) -> None:
    """Say it on standard error, for commands that look at no data."""
    for note in [] if quiet else weaknesses(epsilon, delta, total):
        warn(note)


def warnings_of(
    guarantee: Mapping[str, Any], *, show_truth: bool, seed: int | None, total: int | None = None
) -> list[str]:
    """Return what must be said of a result that is not private, or hardly."""
    notes = weaknesses(guarantee["spent_epsilon"], guarantee["delta"], total)
    if show_truth:
        notes.append("true_count is NOT PRIVATE: it was asked for with --show-truth.")
    if seed is not None:
        notes.append("NOT PRIVATE: made with --seed.")
    return notes


def sentence(guarantee: Mapping[str, Any], what: str = "") -> str:
    """Return the guarantee in words."""
    epsilon, delta, spent = guarantee["epsilon"], guarantee["delta"], guarantee["spent_epsilon"]
    change = _change(guarantee)
    how, at = "exactly" if guarantee["exact"] else "at most", f" at delta = {_not_below(delta)}" if delta else ""
    stated = f"({_not_below(epsilon)}, {_not_below(delta)})" if delta else _not_below(epsilon)
    return f"Guarantee{what}: {stated}-differential privacy when {change}; {how} epsilon = {rounded(spent, 6)}{at}."


def _change(guarantee: Mapping[str, Any]) -> str:
    """Return what neighbours differ in."""
    how = "replaced" if guarantee["adjacency"] == "replace" else "added or removed"
    if guarantee.get("unit") is None:
        return f"one record is {how}"
    rows = guarantee["max_rows"]
    counted = "of whom one record counts" if rows == 1 else f"of whom at most {rows} records count"
    counted += " as one" if guarantee.get("weighted") else ""
    return f"one {guarantee['unit']}, {counted}, is {how} with all records"


def _not_below(value: float) -> str:
    """Return a budget in few digits where they say no less than it, else in all."""
    short = f"{value:g}"
    return short if float(short) >= value else repr(value)


def account(ledger: str | None, seed: int | None) -> Accountant | None:
    """Open the ledger before anything is read, so that a missing one is found first; without one, return None.

    A seeded release is refused a debit: it is not private anyway. A command that asks twice opens it once.
    """
    if ledger is None:
        return None
    if seed is not None:
        raise click.UsageError("--seed and --ledger exclude each other: a seeded release is not private")
    from simplexdp.cli.ledger import opened

    context = click.get_current_context(silent=True)
    known: dict[str, Accountant] = {} if context is None else context.meta.setdefault("simplexdp.cli.ledgers", {})
    if ledger not in known:
        known[ledger] = opened(ledger)
    return known[ledger]


def debited(accountant: Accountant | None, curve: PrivacyCurve, name: str, target: str) -> Any:
    """Debit a release, as the context in which it is made; do nothing without an accountant."""
    if accountant is None:
        return nullcontext()
    from simplexdp.accounting.rules import shown

    try:
        return accountant.spend(curve, label=name, on=target)
    except BudgetExceededError:
        if accountant.closed:
            raise BudgetExceededError(f"nothing was released: the budget is closed: {accountant.closed}") from None
        raise BudgetExceededError(
            f"nothing was released: {accountant.describe()}, and what was asked for does not fit into the rest"
        ) from None
    except InvalidParameterError as error:
        raise InvalidParameterError(
            f"nothing was released: the ledger is for {shown(accountant.unit)}, and what was asked for is for "
            f"{shown(curve.unit)}: costs for different units do not add up; see --unit"
            if curve.unit != accountant.unit
            else f"nothing was released: {error}"
        ) from None


class Named:
    """An accountant that notes the user's name and file, and whom the column of persons that was named tells."""

    def __init__(self, accountant: Accountant, name: str, target: str, unit: str | None) -> None:
        self._accountant, self._name, self._target, self._unit = accountant, name, target, unit

    def spend(self, curve: PrivacyCurve, *, label: str = "") -> Any:
        """Debit the cost."""
        return debited(self._accountant, curve.for_unit(self._unit), self._name or label, self._target)


def guarantee_of(
    curve: PrivacyCurve,
    epsilon: float | None,
    delta: float | None,
    *,
    unit: str | None = None,
    max_rows: int = 1,
    weighted: bool = False,
) -> dict[str, Any]:
    """Return the budget that was asked for and what the curve says of it, and of whom."""
    spent = float(curve.epsilon(delta or 0.0))
    return {
        "epsilon": epsilon if epsilon is not None else spent,
        "delta": delta or 0.0,
        "spent_epsilon": spent,
        "exact": curve.exact,
        "adjacency": curve.adjacency,
        **({} if unit is None else {"unit": unit, "max_rows": max_rows}),
        **({"weighted": True} if weighted else {}),
    }


def parameters_of(built: Any) -> dict[str, Any]:
    """Return the public parameters of a mechanism."""
    found = {}
    for name in ("scale", "sigma", "prior", "dimension", "sensitivity", "resolution", "rho"):
        value = getattr(built, name, None)
        if value is not None:
            found[name] = value if isinstance(value, (int, str)) else _number(value)
    return found


def _number(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else float(value)
