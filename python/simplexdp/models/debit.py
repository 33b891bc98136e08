"""Asking an accountant before a model draws."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from simplexdp import _arguments
from simplexdp._cautions import caution_search
from simplexdp.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from simplexdp.accounting import PrivacyCurve

__all__ = ["debit"]


def debit(accountant: Any, curve: PrivacyCurve, label: str, rng: Any) -> AbstractContextManager[Any]:
    """Debit the cost of a release, if there is an accountant; it refuses before anything is drawn.

    The draws are made in a ``with`` block of what is returned, so that the ledger notes them as made.
    """
    _arguments.generator("random_state", rng)
    if accountant is None:
        if rng is None and _is_searched():
            caution_search()
        return nullcontext()
    if not callable(getattr(accountant, "spend", None)):
        raise InvalidParameterError(f"accountant must be a simplexdp.Accountant, got {type(accountant).__name__}")
    spend: AbstractContextManager[Any] = accountant.spend(curve, label=label)
    return spend


def _is_searched() -> bool:
    """Whether a search or a cross-validation of scikit-learn is what fits."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        frame = frame.f_back
        if str(frame.f_globals.get("__name__", "")).startswith("sklearn.model_selection"):
            return True
    return False
