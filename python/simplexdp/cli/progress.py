"""A progress bar on standard error: for people only, and only for what takes more than two seconds."""

from __future__ import annotations

import sys
import time
from types import TracebackType

__all__ = ["PATIENCE", "Progress"]

PATIENCE = 2.0
"""Seconds before a bar appears."""

_WIDTH = 30
_PAUSE = 0.1


class Progress:
    """Show the share that is done, when standard error is a terminal and it takes longer than `PATIENCE` seconds.

    Parameters
    ----------
    label : str
        What is being done.

    Examples
    --------
    >>> with Progress("counting") as progress:
    ...     progress(0.5)
    """

    def __init__(self, label: str) -> None:
        self.label = label
        self._on = sys.stderr.isatty()
        self._begin = self._last = time.monotonic()
        self._shown = 0

    def __call__(self, share: float | None = None) -> None:
        """Note the share that is done; without one the elapsed time is shown alone."""
        now = time.monotonic()
        if not self._on or now - self._begin < PATIENCE or now - self._last < _PAUSE:
            return
        self._last = now
        if share is None:
            line = f"{self.label}: {now - self._begin:.0f} s"
        else:
            done = min(max(share, 0.0), 1.0)
            bar = "#" * round(done * _WIDTH)
            line = f"{self.label}: [{bar:<{_WIDTH}}] {done:4.0%} {now - self._begin:4.0f} s"
        sys.stderr.write("\r" + line.ljust(self._shown))
        sys.stderr.flush()
        self._shown = len(line)

    def clear(self) -> None:
        """Take the bar away, to say something else; the next one starts its own time."""
        if self._shown:
            sys.stderr.write("\r" + " " * self._shown + "\r")
            sys.stderr.flush()
        self._shown, self._begin = 0, time.monotonic()

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()
