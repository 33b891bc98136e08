"""A progress bar on standard error: for people only, and only for what takes more than two seconds."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType

__all__ = ["PATIENCE", "Progress"]

PATIENCE = 2.0
"""Seconds before a bar appears."""

_WIDTH = 30
_PAUSE = 0.2


class Progress:
    """Show what is being done, when standard error is a terminal and it takes longer than `PATIENCE` seconds.

    Its own thread draws it, so that the time goes on even where no share of the work is reported.

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
        self._share: float | None = None
        self._begin = time.monotonic()
        self._shown = 0
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._draw, daemon=True) if sys.stderr.isatty() else None

    def __call__(self, share: float | None = None) -> None:
        """Note the share that is done; without one the elapsed time is shown alone."""
        self._share = share

    def start(self, label: str) -> None:
        """Begin with something else, which has a time of its own."""
        with self._lock:
            self._clear()
            self.label, self._share, self._begin = label, None, time.monotonic()

    def __enter__(self) -> Progress:
        if self._thread is not None:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()
        self._clear()

    def _draw(self) -> None:
        while not self._over.wait(_PAUSE):
            with self._lock:
                elapsed = time.monotonic() - self._begin
                if elapsed >= PATIENCE:
                    line = self._line(elapsed)
                    sys.stderr.write("\r" + line.ljust(self._shown))
                    sys.stderr.flush()
                    self._shown = len(line)

    def _line(self, elapsed: float) -> str:
        if self._share is None:
            return f"{self.label}: {elapsed:.0f} s"
        done = min(max(self._share, 0.0), 1.0)
        return f"{self.label}: [{'#' * round(done * _WIDTH):<{_WIDTH}}] {done:4.0%} {elapsed:4.0f} s"

    def _clear(self) -> None:
        if self._shown:
            sys.stderr.write("\r" + " " * self._shown + "\r")
            sys.stderr.flush()
        self._shown = 0
