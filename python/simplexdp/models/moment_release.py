"""Counts, sums and sums of squares of bounded numbers by class: planned from public numbers, released in one draw."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast, get_args

import numpy as np
from numpy.typing import NDArray

from simplexdp import _arguments, _core
from simplexdp.accounting import Adjacency, PrivacyCurve
from simplexdp.exceptions import InvalidParameterError
from simplexdp.mechanisms import DiscreteLaplaceMechanism, GaussianMechanism
from simplexdp.models.released import Law
from simplexdp.models.saved import total_of

__all__ = [
    "MECHANISMS",
    "Bounds",
    "MomentPlan",
    "ReleasedMoments",
    "exact_moments",
    "raw_moments",
    "weighted_moments",
]

MECHANISMS = ("auto", "gaussian", "discrete_laplace", "none")
HALF = 2**11
"""Half the steps of the grid that values are placed on: one in 4096 of the width of the bounds."""

Floats = NDArray[np.float64]
Bounds = tuple[tuple[float, float], ...]


@dataclass(frozen=True, eq=False)
class ReleasedMoments:
    """What was released: in units of the bounds, where these are -1 and 1, with the law of the noise.

    Parameters
    ----------
    counts : ndarray, shape (n_classes,)
    sums, squares : ndarray, shape (n_classes, n_columns)
        Sums of u and of 2 u^2 - 1.
    count_law, sum_law : Law
    total : int or None
        The number of records, where it is public.
    """

    counts: Floats
    sums: Floats
    squares: Floats
    count_law: Law
    sum_law: Law
    total: int | None

    def to_json(self) -> dict[str, Any]:
        """Return the release as a file has it."""
        found: dict[str, Any] = {
            "total": self.total,
            "counts": self.counts.tolist(),
            "sums": self.sums.tolist(),
            "squares": self.squares.tolist(),
        }
        return {**found, "count_law": self.count_law.to_json(), "sum_law": self.sum_law.to_json()}

    @classmethod
    def from_json(cls, content: Mapping[str, Any], n_classes: int, n_columns: int) -> ReleasedMoments:
        """Check what a file says of a release."""
        laws, arrays = [], []
        for name, shape in (
            ("counts", (n_classes,)),
            ("sums", (n_classes, n_columns)),
            ("squares", (n_classes, n_columns)),
        ):
            try:
                values = np.asarray(content[name], dtype=np.float64)
            except (TypeError, KeyError, ValueError, OverflowError) as error:
                raise InvalidParameterError(f"{name} must be numbers of shape {shape}") from error
            if values.shape != shape or not np.all(np.abs(values) <= 2.0**53):
                raise InvalidParameterError(f"{name} must be numbers of shape {shape}")
            arrays.append(values)
        for name in ("count_law", "sum_law"):
            law = content.get(name)
            if not isinstance(law, Mapping) or law.get("law") not in ("gaussian", "laplace"):
                raise InvalidParameterError(
                    f"{name} must be an object with a law, 'gaussian' or 'laplace', and its size"
                )
            sizes = [_arguments.positive(f"{part} of {name}", law.get(part)) for part in ("size", "step")]
            if not all(2.0**-200 <= size <= 2.0**200 for size in sizes):
                raise InvalidParameterError(f"size and step of {name} must be at least 2^-200 and at most 2^200")
            laws.append(Law(law["law"], *sizes))
        counts, sums, squares = arrays
        return cls(counts, sums, squares, laws[0], laws[1], total_of(content))


@dataclass(frozen=True)
class MomentPlan:
    """How moments are released and what that costs, decided from public numbers alone."""

    moments: _core.Moments
    mechanism: GaussianMechanism | DiscreteLaplaceMechanism
    name: str
    count_weight: int

    @classmethod
    def of(
        cls,
        n_columns: int,
        n_classes: int,
        *,
        mechanism: str,
        epsilon: float,
        delta: float,
        adjacency: str,
        max_rows: int = 1,
    ) -> MomentPlan:
        """Plan the release of so many columns in so many classes: of two kinds of noise the one with less of it."""
        _arguments.choice("mechanism", mechanism, MECHANISMS[:3])
        kinds = MECHANISMS[1:3] if mechanism == "auto" else (mechanism,)
        plans, refused = [], None
        for kind in kinds:
            try:
                plans.append(cls._planned(n_columns, n_classes, kind, epsilon, delta, adjacency, max_rows))
            except InvalidParameterError as error:
                # The other kind may do.
                refused = refused or error
        if not plans:
            assert refused is not None
            raise refused
        return min(plans, key=lambda plan: plan.law.variance)

    @classmethod
    def _planned(
        cls, n_columns: int, n_classes: int, kind: str, epsilon: float, delta: float, adjacency: str, max_rows: int
    ) -> MomentPlan:
        checked = cast(Adjacency, _arguments.choice("adjacency", adjacency, get_args(Adjacency)))
        moments, weight = weighted_moments(n_columns, n_classes, gaussian=kind == "gaussian")
        l1, l2, cells = moments.moves(checked, max_rows)
        chosen: GaussianMechanism | DiscreteLaplaceMechanism
        if kind == "gaussian":
            chosen = GaussianMechanism.calibrated(
                epsilon=epsilon, delta=delta, sensitivity=l2, changed=cells, adjacency=checked
            )
        else:
            chosen = DiscreteLaplaceMechanism.calibrated(epsilon=epsilon, sensitivity=l1, adjacency=checked)
        return cls(moments, chosen, kind, weight)

    @property
    def privacy(self) -> PrivacyCurve:
        """What the release costs."""
        return self.mechanism.privacy

    @property
    def law(self) -> Law:
        """Of the noise on the integers."""
        return Law.of_noise(self.mechanism)

    def weighted(self, sums: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return sums whose counts have the weight one with that of the plan: integers below 2^53 still."""
        found: NDArray[np.int64] = sums.copy()
        found[:, 0] *= self.count_weight
        return found

    def release(self, sums: NDArray[np.int64], total: int | None, rng: Any) -> ReleasedMoments:
        """Draw, once, all sums of all classes, shape (n_classes, 1 + 2 n_columns)."""
        noisy = np.asarray(self.mechanism.release(sums, rng=rng), dtype=np.float64)
        law, unit = self.law, float(self.moments.unit)
        counts, sums_, squares = _parts(noisy, self.count_weight, unit)
        return ReleasedMoments(counts, sums_, squares, _scaled(law, self.count_weight), _scaled(law, unit), total)


def weighted_moments(n_columns: int, n_classes: int, *, gaussian: bool) -> tuple[_core.Moments, int]:
    """Return what is summed, and the weight of counts among sums."""
    # What two records of one class can differ by leaves this weight to counts for nothing under replacement.
    weight = math.isqrt(HALF**4 * n_columns // 2) if gaussian else HALF**2
    return _core.Moments(True, HALF, n_columns, n_classes, weight), weight


def raw_moments(
    moments: _core.Moments, classes: NDArray[Any], columns: Sequence[Floats], bounds: Bounds, n_classes: int
) -> NDArray[np.int64]:
    """Return the exact sums, shape (n_classes, 1 + 2 n_columns)."""
    codes = np.ascontiguousarray(classes, dtype=np.int64)
    values = [np.ascontiguousarray(column, dtype=np.float64) for column in columns]
    return moments.sums(codes, values, list(bounds)).reshape(n_classes, -1)


def exact_moments(sums: NDArray[np.int64], count_weight: int, unit: float, total: int | None) -> ReleasedMoments:
    """Return the sums as they are, which protects nothing."""
    exact = Law("none")
    return ReleasedMoments(*_parts(sums.astype(np.float64), count_weight, unit), exact, exact, total)


def _scaled(law: Law, unit: float) -> Law:
    return Law(law.kind, law.size / unit, law.step / unit)


def _parts(sums: Floats, weight: float, unit: float) -> tuple[Floats, Floats, Floats]:
    n_columns = (sums.shape[1] - 1) // 2
    return sums[:, 0] / weight, sums[:, 1 : 1 + n_columns] / unit, sums[:, 1 + n_columns :] / unit
