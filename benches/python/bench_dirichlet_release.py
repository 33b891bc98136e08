"""Exact Dirichlet releases against numpy.random.Generator.dirichlet (not fit for release), and against themselves."""

import os

import numpy as np
from benches.python.timing import Comparison, compare, report

from simplexdp import _dirichlet

RELEASES = 100


def run() -> int:
    rng = np.random.default_rng(1)
    missed = 0
    # Required: at most twice NumPy's time per value at shape 5; the other shapes are told, not required.
    for shape, required in ((5.0, 0.5), (1.0, None), (0.5, None), (0.01, None), (1e6, None)):
        counts, prior = np.full((100, 1000), shape / 2), np.full(1000, shape / 2)
        comparison = compare(
            lambda c=counts, p=prior: _dirichlet.release(c, 1.0, p, threads=1),
            lambda s=shape: rng.dirichlet(np.full(1000, s), 100),
            our_work=counts.size,
            peer_work=counts.size,
            rounds=30,
        )
        missed += report(f"d = 1000, shape {shape:g}, per value", comparison, peer="numpy", required=required)
    return missed + _single() + _threads()


def _single() -> int:
    """One release of six entries, against ten microseconds."""
    rng = np.random.default_rng(1)
    counts, prior = np.arange(6.0), np.ones(6)

    def repeat(call):
        return lambda: [call() for _ in range(RELEASES)]

    comparison = compare(
        repeat(lambda: _dirichlet.release(counts, 0.5, prior)),
        repeat(lambda: rng.dirichlet(0.5 * counts + prior)),
        our_work=RELEASES,
        peer_work=RELEASES,
        rounds=200,
    )
    missed = report("one release, d = 6", comparison, peer="numpy")
    return missed + report("one release, d = 6", Comparison(comparison.ours, 1e-5), peer="limit", required=1)


def _threads() -> int:
    """Many rows on two threads, against one thread."""
    # Small enough that a busy machine has both cores idle for one of the rounds.
    counts, prior = np.full((240, 1000), 4.0), np.ones(1000)
    comparison = compare(
        lambda: _dirichlet.release(counts, 1.0, prior, threads=2),
        lambda: _dirichlet.release(counts, 1.0, prior, threads=1),
        our_work=counts.size,
        peer_work=counts.size,
        rounds=300,
    )
    required = 1.7 if (os.cpu_count() or 1) >= 2 else None
    return report("240 rows of 1000, two threads, per value", comparison, peer="one thread", required=required)
