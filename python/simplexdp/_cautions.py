"""Words to users whose budget is not what they think: one warning each, which says what to do."""

import warnings

from simplexdp.exceptions import WeakGuaranteeWarning

__all__ = ["WEAK", "caution_delta", "caution_epsilon", "caution_search"]

WEAK = 10.0
"""An epsilon above which hardly anything is protected: e^10 is 22026."""


def caution_delta(delta: float, n: float, *, stacklevel: int = 3) -> None:
    """Warn of a delta that would allow to publish a record: one of n at random is (0, 1/n)-private."""
    if n > 0 and delta * n >= 1:
        warnings.warn(
            f"delta = {delta:g} is at least one in n = {n:g}: publishing one record at random would pass it; take a "
            f"delta of {0.1 / n:.0e} or less",
            WeakGuaranteeWarning,
            stacklevel=stacklevel,
        )


def caution_epsilon(epsilon: float, *, stacklevel: int = 3) -> None:
    """Warn of an epsilon that protects hardly anything."""
    if epsilon > WEAK:
        warnings.warn(
            f"epsilon = {epsilon:g} is above {WEAK:g} and protects hardly anything; what less costs, sdp.plan says",
            WeakGuaranteeWarning,
            stacklevel=stacklevel,
        )


def caution_search() -> None:
    """Warn of a search that fits again and again while nobody adds up what the fits cost."""
    warnings.warn(
        "a search of scikit-learn fits this model again and again, and every fit is a release: give it an accountant="
        "sdp.Accountant(...), which adds them up, or search on public or synthetic records",
        WeakGuaranteeWarning,
        stacklevel=4,
    )
