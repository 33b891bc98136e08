"""Words to users whose budget is not what they think: one warning each, which says what to do.

Whoever called the package hears a word once: a mechanism that a model, a comparison or the command line makes for
somebody else says nothing, since they say it themselves.
"""

import sys
import warnings
from contextvars import ContextVar
from typing import Any

from simplexdp.exceptions import InsecureRandomnessWarning, PrivacyLeakWarning, WeakGuaranteeWarning

__all__ = ["WEAK", "OneLeak", "caution", "caution_leak", "caution_search", "caution_seed", "caution_user"]

WEAK = 10.0
"""An epsilon above which hardly anything is protected: e^10 is 22026."""

PACKAGE = __name__.partition(".")[0]

SIMULATING = frozenset(((PACKAGE, "planning"), (PACKAGE, "comparison")))
"""Parts that release made-up data again and again."""


def caution(*, epsilon: Any = None, delta: Any = None, n: Any = None) -> None:
    """Warn of an epsilon that protects hardly anything, and of a delta that would allow to publish a record.

    Publishing one of n records at random is (0, 1/n)-private. What is None is not known, and nothing is said of it.
    """
    words = []
    n = None if n is None else float(min(n, 1e300))
    delta = None if delta is None else float(delta)
    if delta is not None and n is not None and n > 0 and delta * n >= 1:
        words.append(
            f"delta = {delta:g} is at least one in n = {n:g}: publishing one record at random would pass it; take a "
            f"delta of {0.1 / n:.0e} or less"
        )
    if epsilon is not None and epsilon > WEAK:
        words.append(
            f"epsilon = {float(epsilon):g} is above {WEAK:g} and protects hardly anything; what less costs, sdp.plan "
            "says"
        )
    if words:
        level = _caller()
        for each in words if level else ():
            warnings.warn(each, WeakGuaranteeWarning, stacklevel=level)


def caution_search(level: int) -> None:
    """Warn of a search that fits again and again while nobody adds up what the fits cost, at the line that began it."""
    warnings.warn(
        "a search of scikit-learn fits this model again and again, and every fit is a release: give it an accountant="
        "sdp.Accountant(...), which adds them up, or search on public or synthetic records",
        WeakGuaranteeWarning,
        stacklevel=level,
    )


def caution_seed(words: str) -> bool:
    """Warn of draws that repeat, at the line that called the package; tell whether there was anything to warn of.

    What a plan or a comparison draws for itself is of made-up data: nobody's, and no release.
    """
    frame: Any = sys._getframe(1)
    while frame is not None and _part(frame)[:1] == (PACKAGE,):
        if _part(frame) in SIMULATING:
            return False
        frame = frame.f_back
    warnings.warn(words, InsecureRandomnessWarning, stacklevel=_outside())
    return True


def caution_user(words: str) -> None:
    """Warn of what a call does not do as it was asked, at the line that called the package."""
    warnings.warn(words, UserWarning, stacklevel=_outside())


_TOGETHER: ContextVar[list[str] | None] = ContextVar("_TOGETHER", default=None)


def caution_leak(words: str) -> None:
    """Warn of what was taken from private data, at the line that called the package."""
    together = _TOGETHER.get()
    if together is None:
        _warn_of_leak(words)
    else:
        together.append(words)


class OneLeak:
    """Within it, what `caution_leak` says is kept, and said at its end in one warning: a model is one call."""

    def __enter__(self) -> None:
        """Begin to keep what is said."""
        self._words: list[str] = []
        self._token = _TOGETHER.set(self._words)

    def __exit__(self, kind: object, *_: object) -> None:
        """Say it, unless the call failed: then nothing is released."""
        _TOGETHER.reset(self._token)
        if self._words and kind is None:
            _warn_of_leak("; ".join(self._words))


def _warn_of_leak(words: str) -> None:
    warnings.warn(words, PrivacyLeakWarning, stacklevel=_outside())


def _outside() -> int:
    """Return the stack level, for whoever asks, of the line that called the package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and _part(frame)[:1] == (PACKAGE,):
        level, frame = level + 1, frame.f_back
    return level


def _caller() -> int:
    """Return the stack level of who called the package; 0 where another part of the package did."""
    level, frame = 2, sys._getframe(2)
    part = _part(frame)
    while frame.f_back is not None and _part(frame) == part:
        level, frame = level + 1, frame.f_back
    inside = _part(frame)[:1] == (PACKAGE,) and _part(frame) != part
    return 0 if inside else level


def _part(frame: Any) -> tuple[str, ...]:
    """Return the package and the part of it whose code a frame runs."""
    return tuple(str(frame.f_globals.get("__name__", "")).split(".")[:2])
