"""The largest scale that a budget allows."""

from collections.abc import Callable
from typing import TypeVar

from simplexdp import _core
from simplexdp.exceptions import NumericalError

__all__ = ["largest_within"]

Found = TypeVar("Found")


def largest_within(attempt: Callable[[float], tuple[Found, float]], start: float, *, enough: float = 1.0) -> Found:
    """Return what was built at the largest scale whose share of a budget is at most one.

    Parameters
    ----------
    attempt : callable
        Takes the logarithm of a scale; returns what is built with it, and its cost as a share of the budget, which
        grows with the scale.
    start : float
        Logarithm of a scale to begin with.
    enough : float, default 1.0
        A share that need not be improved on, where attempts take long.

    Returns
    -------
    object
        The first return value of the `attempt` with the largest scale that kept the budget: to a part in 10^5 of its
        cost, where that is continuous.

    Examples
    --------
    >>> from simplexdp.accounting.search import largest_within
    >>> 2.9999 < largest_within(lambda scale: (scale, scale / 3), start=0.0) <= 3
    True
    """
    search = _core.ScaleSearch(start)
    best: list[Found] = []
    while (at := search.at) is not None:
        found, share = attempt(at)
        if search.tell(share):
            best[:] = [found]
            if share >= enough:
                break
    if not best:
        raise NumericalError("calibrated: no scale was found that keeps the budget")
    return best[0]
