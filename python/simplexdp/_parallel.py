"""How many threads a call is worth."""

from simplexdp import _core


def threads_for(size: int, per_thread: int) -> int:
    """Return one thread for every `per_thread` values, at least one.

    There are never more than processors that this process may use, or than the environment variable
    ``SIMPLEXDP_NUM_THREADS`` says.

    Examples
    --------
    >>> threads_for(10, 1000)
    1
    """
    return _core.threads_for(size, per_thread)
