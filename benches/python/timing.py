"""Timing that a busy machine disturbs little: two candidates in turn, the best of several rounds of each."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

MEASURED: list[dict[str, Any]] = []
"""What `report` was given, in order."""

most_rounds: int | None = None
"""The fast mode: no comparison takes more rounds than this."""


class Comparison(NamedTuple):
    """Best seconds per unit of work, ours and the peer's."""

    ours: float
    peer: float

    @property
    def ratio(self) -> float:
        """How many times faster we are."""
        return self.peer / self.ours


def seconds(call: Callable[[], Any]) -> float:
    """Return the wall time of one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def compare(
    ours: Callable[[], Any],
    peer: Callable[[], Any],
    *,
    our_work: float = 1,
    peer_work: float = 1,
    rounds: int = 7,
) -> Comparison:
    """Run both in turn and keep the best of each, per unit of the work that one call does."""
    if most_rounds is not None:
        rounds = min(rounds, most_rounds)
    best_ours = best_peer = float("inf")
    for _ in range(rounds):
        best_ours = min(best_ours, seconds(ours))
        best_peer = min(best_peer, seconds(peer))
    return Comparison(best_ours / our_work, best_peer / peer_work)


def report(label: str, comparison: Comparison, *, peer: str, required: float | None = None) -> int:
    """Print one line and return 1 if the ratio is below what is required, else 0."""
    wish = "" if required is None else f"  (required {required:g})"
    ok = required is None or comparison.ratio >= required
    MEASURED.append(
        {
            "label": label,
            "peer": peer,
            "seconds": comparison.ours,
            "peer_seconds": comparison.peer,
            "ratio": comparison.ratio,
            "required": required,
        }
    )
    print(
        f"  {label:<44} {_unit(comparison.ours):>9}  {peer} {_unit(comparison.peer):>9}"
        f"  {comparison.ratio:8.1f} times faster{wish}{'' if ok else '  MISSED'}",
        flush=True,
    )
    return int(not ok)


def _unit(value: float) -> str:
    for scale, unit in ((1, "s"), (1e-3, "ms"), (1e-6, "us")):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def within(label: str, call: Callable[[], Any], limit: float, *, rounds: int = 7) -> int:
    """Print the best time of a call and return 1 if it is above the limit, in seconds, else 0.

    It is processor time, of one thread: what the call takes where nobody else is at work.
    """
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        call()
        best = min(best, time.process_time() - start)
    print(f"  {label:<44} {_unit(best):>9}  (at most {_unit(limit)}){'' if best <= limit else '  MISSED'}", flush=True)
    return int(best > limit)
