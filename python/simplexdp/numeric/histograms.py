"""A private histogram of a numeric column over public bins."""

from __future__ import annotations

from typing import Any

import numpy as np

from simplexdp import _arguments
from simplexdp.exceptions import InvalidParameterError
from simplexdp.numeric.column import checked_bounds, numbers_in

__all__ = ["histogram"]


def histogram(
    data: Any,
    column: Any = None,
    *,
    epsilon: float,
    delta: float = 1e-6,
    edges: Any = None,
    bounds: Any = None,
    n_bins: int = 10,
    adjacency: str = "replace",
    accountant: Any = None,
    rng: Any = None,
) -> Any:
    """Release how many values lie in each of some public bins, as a fitted `PrivateHistogram`.

    Parameters
    ----------
    data : array_like, mapping or data frame
        The numbers, or a table with them.
    column : str or int, optional
        The column of the numbers, where `data` is a table.
    epsilon, delta : float
        The budget; pure noise is taken where it is smaller, and spends no delta.
    edges : sequence of float, optional
        The public ends of the bins, increasing; values beyond count in the outer bins.
    bounds, n_bins : optional
        Public bounds and a number of bins of the same width, in the place of `edges`.
    adjacency : {"replace", "add_remove"}, default "replace"
        Which data sets are neighbours.
    accountant : Accountant, optional
        Is asked for the budget before anything is drawn.
    rng : SeededRng, optional
        For tests only.

    Returns
    -------
    PrivateHistogram
        Its `levels_` are pairs of ends; `posterior_` has shares and counts with their intervals.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> found = sdp.numeric.histogram([1.0, 2.5, 7.0] * 50, bounds=(0, 10), n_bins=5, epsilon=1.0)
    >>> found.levels_[0], found.posterior_.interval(0.95).shape
    ((0.0, 2.0), (5, 2))
    """
    from simplexdp.models.histogram import PrivateHistogram

    if (edges is None) == (bounds is None):
        raise InvalidParameterError("edges or bounds must be given, one of the two, and public")
    if edges is None:
        ends = np.linspace(*checked_bounds(bounds), _arguments.integer("n_bins", n_bins, least=1) + 1)
    else:
        ends = np.asarray(_arguments.numbers("edges", edges), dtype=np.float64)
        if ends.ndim != 1 or len(ends) < 2 or np.any(np.diff(ends) <= 0):
            raise InvalidParameterError(f"edges must be at least two numbers, increasing, got {edges!r}")
    numbers = numbers_in(
        data,
        column,
        by=None,
        groups=None,
        adjacency=adjacency,
        unit=None,
        max_rows=None,
        first_by=None,
        skip_missing=False,
        rng=rng,
    )
    codes = np.searchsorted(ends[1:-1], numbers.values, side="right")
    fitted = PrivateHistogram(
        len(ends) - 1, epsilon=epsilon, delta=delta, adjacency=adjacency, accountant=accountant, random_state=rng
    ).fit({"bin": codes}, "bin")
    fitted.levels_ = list(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True))
    return fitted
