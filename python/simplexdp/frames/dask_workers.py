"""Whether the workers of a Dask cluster can count and draw: asked before anything is counted or paid for.

A graph that a worker or the scheduler cannot read fails with "lost dependencies", or as one that cannot be
deserialised: neither says what is missing, and where.
"""

from __future__ import annotations

from typing import Any

import simplexdp
from simplexdp.frames import workers

__all__ = ["check_workers"]

NEEDED = (*workers.NEEDED, "narwhals")
"""What a worker imports to count; the scheduler, which reads what it sends them, does too."""


def check_workers() -> None:
    """Refuse a cluster of which a worker or the scheduler lacks a package, or has another version of this one."""
    from dask.base import get_scheduler

    client: Any = getattr(get_scheduler(), "__self__", None)
    if not (hasattr(client, "run") and hasattr(client, "run_on_scheduler")):
        return  # threads and processes of this machine have what is here
    answer = workers.answering(NEEDED)
    # A cluster that starts its workers when there is work has none to ask before.
    found = client.run(answer, 0) or {"first": client.submit(answer, 0, pure=False).result()}
    workers.check_answers(simplexdp.__version__, found.values())
    workers.check_answers(simplexdp.__version__, [client.run_on_scheduler(answer, 0)], who="the scheduler")
