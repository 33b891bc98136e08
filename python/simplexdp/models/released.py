"""What was released of a table of a model, with the law that it was released by."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from simplexdp import _core, _dirichlet
from simplexdp.exceptions import InvalidParameterError

__all__ = ["Law", "ReleasedTable"]

Kind: TypeAlias = Literal["gaussian", "laplace", "dirichlet", "none"]
Floats: TypeAlias = NDArray[np.float64]
KINDS = ("gaussian", "laplace", "dirichlet")
BITS = _dirichlet.resolution_bits(_dirichlet.RESOLUTION)


@dataclass(frozen=True)
class Law:
    """The law of a release given the counts.

    Parameters
    ----------
    kind : {"gaussian", "laplace", "dirichlet", "none"}
        Noise on every count, a Dirichlet draw for every row, or exact shares.
    size : float
        Sigma or scale.
    step : float
        The grid of the noise.
    prior : float
        Of a Dirichlet draw.
    """

    kind: Kind
    size: float = 0.0
    step: float = 1.0
    prior: float = 0.0

    @classmethod
    def of_noise(cls, mechanism: Any) -> Law:
        """Return the law of a mechanism that adds noise."""
        step = float(getattr(mechanism, "resolution", 1.0))
        if hasattr(mechanism, "sigma"):
            return cls("gaussian", float(mechanism.sigma), step)
        return cls("laplace", float(mechanism.scale), step)

    @property
    def variance(self) -> float:
        """Of the noise on a count, where there is one."""
        if self.kind != "laplace":
            return self.size**2
        # Of noise in steps; as a multiple of 2 size^2 it is (u / sinh(u))^2 with u = step / (2 size).
        half = min(self.step / (2 * self.size), 300.0)
        return 2 * self.size**2 * (half / math.sinh(half) if half else 1.0) ** 2

    def in_persons(self, units: int) -> Law:
        """Return the law where so many counts are one."""
        if self.kind == "dirichlet":
            return replace(self, size=self.size * units)
        return replace(self, size=self.size / units, step=self.step / units)

    def to_json(self) -> dict[str, Any]:
        """Return the law as a file has it."""
        rest = {"prior": self.prior} if self.kind == "dirichlet" else {"step": self.step}
        return {"law": self.kind, "size": self.size, **rest}


@dataclass(frozen=True, eq=False)
class ReleasedTable:
    """A released table: noisy counts, or rows of shares; shape (rows, levels)."""

    values: Floats
    law: Law

    @property
    def protects(self) -> bool:
        """Whether it is a release at all."""
        return self.law.kind != "none"

    def in_persons(self, units: int) -> ReleasedTable:
        """Return what was released of counts of which so many are a person."""
        if units == 1:
            return self
        values = self.values if self.law.kind in ("dirichlet", "none") else self.values / units
        return ReleasedTable(values, self.law.in_persons(units))

    @property
    def observation(self) -> _core.Observation:
        """What the core infers from."""
        flat, law = np.ascontiguousarray(self.values, dtype=np.float64).ravel(), self.law
        if law.kind != "dirichlet":
            return _core.Observation.noisy(flat, law.kind, law.size, law.step)
        levels = self.values.shape[-1]
        if levels == 1:
            # A draw on one level is one, whatever the counts.
            return _core.Observation.noisy(np.empty(0), "laplace", 1.0, 1.0)
        units = np.rint(flat * 2.0**BITS).astype(np.int64)
        return _core.Observation.shares(units, law.size, np.full(levels, law.prior), BITS)

    def floored(self, floor: float) -> Floats:
        """Return rows of shares without a posterior: what is below the floor is raised to it."""
        if self.law.kind in ("dirichlet", "none"):
            return self.values
        return normalised(np.maximum(self.values, floor))

    def to_json(self) -> dict[str, Any]:
        """Return the release as a file has it."""
        whole = np.all(self.values == np.floor(self.values)) and np.all(np.abs(self.values) < 2.0**53)
        values = self.values.astype(np.int64) if whole else self.values
        return {**self.law.to_json(), "values": values.tolist()}

    @classmethod
    def from_json(cls, name: Any, content: Any, shape: tuple[int, int]) -> ReleasedTable:
        """Check what a file says of a release."""
        try:
            kind, size = content["law"], float(content["size"])
            step, prior = float(content.get("step", 1.0)), float(content.get("prior", 1.0))
            values = np.asarray(content["values"], dtype=np.float64)
        except (TypeError, KeyError, ValueError, AttributeError, OverflowError) as error:
            raise InvalidParameterError(f"released of {name!r} must hold a law, its size and values") from error
        fine = kind in KINDS and all(2.0**-53 <= x <= 2.0**53 for x in (size, step, prior))
        if not fine or values.shape != shape or not np.all(np.abs(values) <= 2.0**53):
            raise InvalidParameterError(f"released of {name!r} must hold a law, its size and values of shape {shape}")
        if kind == "dirichlet":
            if np.any(values <= 0) or np.any(np.abs(values.sum(axis=-1) - 1) > 1e-9):
                raise InvalidParameterError(f"released of {name!r} must hold rows of shares that sum to one")
            return cls(values, Law("dirichlet", size, prior=prior))
        return cls(values, Law(kind, size, step))


def normalised(counts: NDArray[Any]) -> Floats:
    """Return rows that sum to one; a row without any count is uniform."""
    sums = counts.sum(axis=-1, keepdims=True)
    uniform = np.full(counts.shape, 1 / counts.shape[-1])
    rows: Floats = np.divide(counts, sums, out=uniform, where=sums > 0)
    return rows
