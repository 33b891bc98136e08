"""Exact Dirichlet releases against numpy.random.Generator.dirichlet (not fit for release), and against themselves."""

import os

import numpy as np
from benches.python.timing import Comparison, compare, report

import simplexdp as sdp

RELEASES = 100


def run() -> int:
    rng = np.random.default_rng(1)
    missed = 0
    # Required: at most twice NumPy's time per value at shape 5; the other shapes are told, not required.
    for shape, required in ((5.0, 0.5), (1.0, None), (0.5, None), (0.01, None), (1e6, None)):
        # Up to 2^16 values a release takes one thread.
        counts = np.ones((60, 1000), dtype=np.int64)
        mechanism = sdp.DirichletMechanism(scale=shape / 2, prior=shape / 2, dimension=1000)
        comparison = compare(
            lambda m=mechanism, c=counts: m.release(c),
            lambda s=shape: rng.dirichlet(np.full(1000, s), 60),
            our_work=counts.size,
            peer_work=counts.size,
            rounds=30,
        )
        missed += report(f"d = 1000, shape {shape:g}, per value", comparison, peer="numpy", required=required)
    return missed + _single() + _threads()


def _single() -> int:
    """One release of six counts, against NumPy and ten microseconds."""
    rng = np.random.default_rng(1)
    counts, mechanism = np.arange(6), sdp.DirichletMechanism(scale=0.5, prior=1.0, dimension=6)
    alpha = 0.5 * counts + 1.0

    def repeat(call):
        return lambda: [call() for _ in range(RELEASES)]

    comparison = compare(
        repeat(lambda: mechanism.release(counts)),
        repeat(lambda: rng.dirichlet(alpha)),
        our_work=RELEASES,
        peer_work=RELEASES,
        rounds=200,
    )
    missed = report("one release, d = 6", comparison, peer="numpy", required=1)
    return missed + report("one release, d = 6", Comparison(comparison.ours, 1e-5), peer="limit", required=1)


def _threads() -> int:
    """Many rows on all threads, against parts that take one thread."""
    # Small enough that a busy machine has both cores idle for one of the rounds.
    counts, mechanism = np.full((240, 1000), 4), sdp.DirichletMechanism(scale=1.0, prior=1.0, dimension=1000)
    comparison = compare(
        lambda: mechanism.release(counts),
        lambda: [mechanism.release(part) for part in np.split(counts, 4)],
        our_work=counts.size,
        peer_work=counts.size,
        rounds=300,
    )
    required = 1.7 if (os.cpu_count() or 1) >= 2 else None
    return report("240 rows of 1000, all threads, per value", comparison, peer="one thread", required=required)
