"""Asking an accountant before a model draws."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from simplexdp import _arguments
from simplexdp._cautions import caution_search

if TYPE_CHECKING:
    from simplexdp.accounting import PrivacyCurve

__all__ = ["debit"]


def debit(accountant: Any, curve: PrivacyCurve, label: str, rng: Any) -> AbstractContextManager[Any]:
    """Debit the cost of a release, if there is an accountant; it refuses before anything is drawn.

    The draws are made in a ``with`` block of what is returned, so that the ledger notes them as made.
    """
    _arguments.generator("random_state", rng)
    if accountant is None:
        if rng is None:
            _warn_of_search()
        return nullcontext()
    _arguments.accountant("accountant", accountant)
    spend: AbstractContextManager[Any] = accountant.spend(curve, label=label)
    return spend


_warned: WeakSet[Any] = WeakSet()
"""Searches, and estimators of cross-validations, that were spoken of."""


def _warn_of_search() -> None:
    """Say once of a search or a cross-validation of scikit-learn, which fits again and again, what that costs."""
    frame, level, searching = sys._getframe(1), 3, None
    while frame.f_back is not None:
        frame, level = frame.f_back, level + 1
        if str(frame.f_globals.get("__name__", "")).startswith("sklearn.model_selection"):
            # The outermost of them is what the user called.
            searching = frame, level
    if searching is None:
        return
    frame, level = searching
    who = frame.f_locals.get("self", frame.f_locals.get("estimator"))
    if who in _warned:
        return
    with suppress(TypeError):  # what no weak reference can be made of is spoken of each time
        _warned.add(who)
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).startswith("sklearn."):
        frame, level = frame.f_back, level + 1
    caution_search(level)
