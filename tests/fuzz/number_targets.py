"""The entries that take numbers: constructors, curves, releases, summaries and special functions, given any doubles."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence

import numpy as np

import simplexdp as sdp
from simplexdp.testing import SeededRng

Entry = Callable[[float, float, float, float], object]

THREE = [name for name in sdp.special.__all__ if "betainc" in name]
ONE = ["digamma", "trigamma", "log_gamma"]
TWO = [name for name in sdp.special.__all__ if name not in (*THREE, *ONE, "log_beta", "polygamma")]


def _function(name: str, takes: int) -> Entry:
    return lambda *values: getattr(sdp.special, name)(*values[:takes])


FUNCTIONS: list[Entry] = [
    *(_function(name, 3) for name in THREE),
    *(_function(name, 2) for name in TWO),
    *(_function(name, 1) for name in ONE),
    lambda a, b, c, d: sdp.special.log_beta([a, b, c]),
    lambda a, b, c, d: sdp.special.polygamma(1, a),
]
"""Of special functions: they answer NaN where they are not defined."""


def _rng() -> SeededRng:
    return SeededRng(1)


ENTRIES: list[Entry] = [
    lambda a, b, c, d: sdp.DirichletMechanism(scale=a, prior=b, dimension=3, floor=c).release([1, 2, 3], rng=_rng()),
    lambda a, b, c, d: sdp.DirichletMechanism(scale=a, prior=[b, c, d]).privacy.delta(d),
    lambda a, b, c, d: sdp.DirichletMechanism.for_counts(a, b, dimension=3, total=9).release([1, 2, 3], rng=_rng()),
    lambda a, b, c, d: sdp.GaussianMechanism(sigma=a, sensitivity=b, changed=3).release([c, d, 0.0], rng=_rng()),
    lambda a, b, c, d: sdp.LaplaceMechanism(scale=a, sensitivity=b, changed=3).release([c, d, 0.0], rng=_rng()),
    lambda a, b, c, d: sdp.DiscreteLaplaceMechanism(scale=a, sensitivity=b).release([1, 2], rng=_rng()),
    lambda a, b, c, d: sdp.DiscreteGaussianMechanism.for_counts(a, b).release([1, 2], rng=_rng()),
    lambda a, b, c, d: sdp.SumPreservingLaplaceMechanism.for_counts(a, dimension=3).release([1, 2, 3], rng=_rng()),
    lambda a, b, c, d: sdp.HellingerMechanism([a, b], 5, c).release([2, 3], rng=_rng()),
    lambda a, b, c, d: sdp.LaplacePosteriorMechanism([a, b], 5, c).release([2, 3], rng=_rng()),
    lambda a, b, c, d: sdp.PrivacyCurve.gaussian(sigma=a, sensitivity=b).epsilon(c),
    lambda a, b, c, d: sdp.PrivacyCurve.gaussian(sigma=a).tradeoff(b),
    lambda a, b, c, d: sdp.PrivacyCurve.laplace(scale=a).delta(b),
    lambda a, b, c, d: sdp.PrivacyCurve.from_tcdp(a, b).epsilon(c),
    lambda a, b, c, d: sdp.PrivacyCurve.from_epsilon_delta(a, b).epsilon(c),
    lambda a, b, c, d: sdp.PrivacyCurve.from_rdp(a, b).epsilon(c),
    lambda a, b, c, d: sdp.compose([sdp.PrivacyCurve.gaussian(sigma=a), sdp.PrivacyCurve.pure(b)], [3, 2]).delta(c),
    lambda a, b, c, d: sdp.Accountant(a, b).affords(sdp.PrivacyCurve.pure(c)),
    lambda a, b, c, d: sdp.numeric.mean([a, b], bounds=(c, d), epsilon=1.0, rng=_rng()).interval(0.9),
    lambda a, b, c, d: sdp.numeric.mean([1.0, 2.0], bounds=(a, b), epsilon=c, delta=d, rng=_rng()),
    lambda a, b, c, d: sdp.numeric.quantiles([1.0, a], bounds=(b, c), epsilon=d, rng=_rng()).quantile(0.3),
    lambda a, b, c, d: sdp.numeric.quantiles([1.0, 2.0], levels=(a, b), bounds=(0, 9), epsilon=c, rng=_rng()),
    lambda a, b, c, d: sdp.numeric.histogram([1.0, a], epsilon=1.0, delta=1e-6, edges=[b, c, d], rng=_rng()),
    lambda a, b, c, d: sdp.Posterior([a, b, c]).interval(d),
    lambda a, b, c, d: sdp.divergence.kl_dirichlet([a, b], [c, d]),
    lambda a, b, c, d: sdp.divergence.hellinger_dirichlet([a, b], [c, d]),
    lambda a, b, c, d: sdp.inference.infer(sdp.DiscreteLaplaceMechanism.for_counts(c), [a, b], total=d),
    lambda a, b, c, d: sdp.inference.infer(
        sdp.GaussianMechanism(sigma=a, sensitivity=2, changed=2), [b, c, d], prior=[a, 1.0, b]
    ),
]
"""Of everything else: what they answer is a number."""


def doubles(data: bytes) -> Sequence[float]:
    """Return the bytes as doubles."""
    return [each[0] for each in struct.iter_unpack("<d", data[: len(data) // 8 * 8])]


def numbers(data: bytes) -> None:
    """Give any doubles to one of the entries: the last of them says which."""
    values = doubles(data)
    last = values[-1] if values else 0.0
    values = [*values[:4], 1.0, 1.0, 1.0, 1.0][:4]
    entries = [*ENTRIES, *FUNCTIONS]
    which = (int(abs(last)) if math.isfinite(last) else len(data)) % len(entries)
    made = entries[which](*values)
    if isinstance(made, float) and which < len(ENTRIES):
        assert not np.isnan(made)


GOOD = [(0.5, 2, 0, 1), (1, 2, 0.5, 1e300), (1.0, 1e-6, 0.5, 3.0), (0.0, 10.0, 1.0, 0.0), (2, 1, 1, 0.5)]
NUMBERS = [struct.pack("<5d", *row, which) for which in range(len(ENTRIES) + len(FUNCTIONS)) for row in GOOD]
"""Inputs for each of the entries, some of which are refused."""
