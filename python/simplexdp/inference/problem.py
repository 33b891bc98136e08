"""Releases of some histograms, put together: what posteriors are computed from."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp import _core
from simplexdp.exceptions import InvalidParameterError
from simplexdp.inference.releases import Release, noisy_total, read
from simplexdp.inference.total import Spec, Total, known_totals

__all__ = ["Problem", "state"]

TOTAL_NEEDED = (
    "total must be given, as a Dirichlet draw does not tell the number of records: the number where it is public; else "
    "Total.between(low, high) or Total.negative_binomial(mean, size) for what is known of it without the data, or "
    "(mechanism, value) for a noisy number that was released for a budget of its own"
)


class Problem(NamedTuple):
    """Releases of the same rows, and noisy totals of them."""

    releases: tuple[Release, ...]
    totals: tuple[_core.Observation, ...]
    least: int

    def updated(
        self, mechanism: Any, release: ArrayLike, row: int, total: Spec, options: dict[str, Any]
    ) -> tuple["Problem", int, Spec]:
        """Add a release of one row."""
        added = read(mechanism, release, **options)
        dimension = self.releases[0].shape[-1]
        if added.shape != (dimension,):
            raise InvalidParameterError(f"release must have shape ({dimension},), got shape {added.shape}")
        if self.releases[0].shape != (dimension,):
            raise InvalidParameterError("update must be given one histogram: infer from each row by itself first")
        if isinstance(added.total, np.ndarray):
            known = int(added.total[()])
            if total[0] == "known" and total[1] != known:
                raise InvalidParameterError(f"release must have the total {total[1]:.0f} of the others, got {known}")
            total = ("known", float(known), 0.0, None)
        return Problem((*self.releases, added), self.totals, max(self.least, added.least)), row, total


def state(
    mechanism: Any, release: ArrayLike, total: Any, options: dict[str, Any]
) -> tuple[Problem, Total | NDArray[np.int64]]:
    """Read a release and what is said of its total."""
    read_release = read(mechanism, release, **options)
    rows, implied = read_release.shape[:-1], read_release.total
    if isinstance(implied, np.ndarray) and np.any(implied < 0):
        raise InvalidParameterError("release must have a sum of at least zero: its noise keeps the number of records")
    noisy: tuple[_core.Observation, ...] = ()
    if isinstance(total, tuple) and len(total) == 2 and hasattr(total[0], "release"):
        noisy, total = (noisy_total(*total, rows),), Total.flat()
    stated: Total | NDArray[np.int64]
    if total is None:
        if implied is None:
            raise InvalidParameterError(TOTAL_NEEDED)
        stated = implied
    elif isinstance(total, Total):
        stated = implied if isinstance(implied, np.ndarray) else total
    else:
        stated = known_totals(total, rows)
        if isinstance(implied, np.ndarray) and np.any(stated != implied):
            raise InvalidParameterError(f"total must be that of the release, which it implies, got {total!r}")
    return Problem((read_release,), noisy, read_release.least), stated
