"""One fit of a model at a time, all of it or nothing.

What is counted belongs to the release that it is counted for. Threads that share a model take turns, and each works
on a state of its own, which becomes the model's when the work is done: nobody sees half of it, and what fails leaves no
trace.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

__all__ = ["taken_over"]

Model = TypeVar("Model")


class _Turns:
    """A lock for each model, which no copy and no pickle of it takes along."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Let a forked child begin anew: a thread that held a lock is not there."""
        self._mutex = threading.Lock()
        self._locks: WeakKeyDictionary[Any, threading.RLock] = WeakKeyDictionary()

    def of(self, model: Any) -> threading.RLock:
        with self._mutex:
            return self._locks.setdefault(model, threading.RLock())


_TURNS = _Turns()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_TURNS.forget)


@contextmanager
def taken_over(model: Model) -> Iterator[Model]:
    """Give a model with the same state to work on; its state is the model's when the block ends without an error."""
    with _TURNS.of(model):
        work = object.__new__(type(model))
        work.__dict__.update(model.__dict__)
        yield work
        model.__dict__ = work.__dict__
