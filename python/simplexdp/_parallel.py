"""How many threads a call is worth."""

import os


def threads_for(size: int, per_thread: int) -> int:
    """Return one thread for every `per_thread` values, at least one and at most the processors.

    Examples
    --------
    >>> threads_for(10, 1000)
    1
    """
    return max(1, min(os.cpu_count() or 1, size // per_thread))
