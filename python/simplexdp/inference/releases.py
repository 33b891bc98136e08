"""From a mechanism and what it released to what the core infers from."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexdp import _arguments as check
from simplexdp import _core, _dirichlet
from simplexdp.exceptions import InvalidParameterError
from simplexdp.inference.apart import Seen
from simplexdp.inference.total import Total

__all__ = ["Release", "read"]


class Release(NamedTuple):
    """One release of histograms, as a likelihood of their counts."""

    observation: _core.Observation
    shape: tuple[int, ...]
    """Of the release: rows, then cells."""
    total: NDArray[np.int64] | Total | None
    """Public totals that the release implies, or what to assume of totals that nobody states."""
    least: int = 0
    """A public lower bound of every count."""
    noise: tuple[NDArray[np.float64], Any] | None = None
    """Noisy counts and their mechanism, where every count has noise of its own."""
    seen: Callable[[NDArray[np.int64] | None], Seen | None] = lambda total: None
    """Counts as they are seen given their public totals, where the release tells them."""


def read(mechanism: Any, release: ArrayLike, *, resolution: float = 2.0**-32) -> Release:
    """Tell what a release of a mechanism says of the counts."""
    # The mechanisms import this package in their methods.
    from simplexdp import mechanisms

    if isinstance(mechanism, mechanisms.DirichletMechanism):
        return _dirichlet_release(mechanism, release, resolution)
    if isinstance(mechanism, mechanisms.SumPreservingLaplaceMechanism):
        values = _histograms(release, mechanism.dimension, whole=True)
        flat = np.ascontiguousarray(values, dtype=np.float64).ravel()
        observation = _core.Observation.zero_sum(flat, mechanism.dimension, float(mechanism.scale))
        seen = partial(_seen, values, _deviation(mechanism))
        return Release(observation, values.shape, np.asarray(values.sum(axis=-1), dtype=np.int64), seen=seen)
    for kind, whole in (
        (mechanisms.DiscreteLaplaceMechanism, True),
        (mechanisms.DiscreteGaussianMechanism, True),
        (mechanisms.LaplaceMechanism, False),
        (mechanisms.GaussianMechanism, False),
    ):
        if isinstance(mechanism, kind):
            values = _histograms(release, None, whole=whole)
            observation = _noisy(mechanism, values.ravel())
            return Release(
                observation,
                values.shape,
                Total.flat(),
                noise=(values, mechanism),
                seen=partial(_seen, values, _deviation(mechanism)),
            )
    raise InvalidParameterError(
        f"mechanism must release histograms whose law is known cell by cell, got {type(mechanism).__name__}"
    )


def noisy_total(mechanism: Any, value: ArrayLike, rows: tuple[int, ...]) -> _core.Observation:
    """Tell what a noisy number of records says, for all rows or for each."""
    if not (hasattr(mechanism, "sigma") or hasattr(mechanism, "scale")) or hasattr(mechanism, "dimension"):
        raise InvalidParameterError(
            "total must be a pair of a mechanism that adds noise to each number, such as DiscreteLaplaceMechanism, and "
            f"what it released, got a pair with {type(mechanism).__name__}"
        )
    values = np.broadcast_to(check.numbers("value", value), rows)
    return _noisy(mechanism, np.ascontiguousarray(values).ravel(), total=True)


def _noisy(mechanism: Any, values: NDArray[np.float64], total: bool = False) -> _core.Observation:
    gaussian = hasattr(mechanism, "sigma")
    size = float(mechanism.sigma if gaussian else mechanism.scale)
    step = float(getattr(mechanism, "resolution", 1.0))
    make = _core.Observation.total if total else _core.Observation.noisy
    return make(np.ascontiguousarray(values), "gaussian" if gaussian else "laplace", size, step)


def _histograms(release: ArrayLike, dimension: int | None, *, whole: bool) -> NDArray[np.float64]:
    values = check.numbers("release", release)
    if values.ndim == 0 or values.shape[-1] < 2 or (dimension is not None and values.shape[-1] != dimension):
        expected = "d) with d >= 2" if dimension is None else f"{dimension})"
        raise InvalidParameterError(f"release must have shape (..., {expected}, got shape {values.shape}")
    if whole and (np.any(values != np.floor(values)) or np.any(np.abs(values) > 2.0**53)):
        raise InvalidParameterError("release must be integers of at most 2^53")
    return values


def _dirichlet_release(mechanism: Any, release: ArrayLike, resolution: float) -> Release:
    """Read shares, or synthetic counts where the release consists of integers."""
    if mechanism.l2 is not None:
        raise InvalidParameterError("mechanism must release counts of records, not a real statistic, for inference")
    least = math.ceil(mechanism.floor)
    dimension = mechanism.dimension
    weights = np.ascontiguousarray(np.broadcast_to(np.asarray(mechanism.prior, dtype=np.float64), dimension))
    check.numbers("release", release)
    if np.asarray(release).dtype.kind in "iu":
        drawn = np.ascontiguousarray(_histograms(release, dimension, whole=True), dtype=np.int64)
        if np.any(drawn < 0):
            raise InvalidParameterError("release must be non-negative counts, as release_counts returns them")
        observation = _core.Observation.urn(drawn.ravel(), mechanism.scale, weights)
        return Release(observation, drawn.shape, _public_total(mechanism, drawn.shape), least)
    y = check.probabilities("release", release, dimension)
    bits = _dirichlet.resolution_bits(resolution)
    units = y * 2.0**bits
    if np.any(units != np.floor(units)) or np.any(units < 1):
        raise InvalidParameterError("release must be multiples of the resolution, as they were released, not rounded")
    flat = np.ascontiguousarray(units, dtype=np.int64).ravel()
    observation = _core.Observation.shares(flat, mechanism.scale, weights, bits)
    public = _public_total(mechanism, y.shape)
    return Release(observation, y.shape, public, least, seen=partial(_seen_in_draw, y, mechanism.scale, weights))


def _deviation(mechanism: Any) -> float:
    """Return the standard deviation of the noise, or one slightly above."""
    return float(mechanism.sigma) if hasattr(mechanism, "sigma") else math.sqrt(2) * float(mechanism.scale)


def _seen(values: NDArray[np.float64], deviation: float, _: NDArray[np.int64] | None) -> Seen:
    return Seen(values, np.full(values.shape, deviation))


def _seen_in_draw(
    y: NDArray[np.float64], scale: float, prior: NDArray[np.float64], total: NDArray[np.int64] | None
) -> Seen | None:
    """Return the counts whose Dirichlet law has the draw as its mean, with the deviation of such a draw."""
    if total is None:
        return None
    concentration = scale * total[..., None] + prior.sum()
    return Seen((y * concentration - prior) / scale, np.sqrt(y * (1 - y) * (concentration + 1)) / scale)


def _public_total(mechanism: Any, shape: tuple[int, ...]) -> NDArray[np.int64] | None:
    return None if mechanism.total is None else np.full(shape[:-1], mechanism.total, dtype=np.int64)
