"""Exact posteriors: one histogram of several sizes, and 10^5 groups at once; no peer computes them."""

import numpy as np
from benches.python.timing import within

import simplexdp as sdp
from simplexdp.testing import SeededRng

# Categories, records, epsilon, seconds.
SIZES = [(100, 10_000, 1.0, 0.02), (100, 10_000, 0.1, 0.02), (1000, 10**6, 1.0, 0.1), (1000, 10**6, 0.1, 0.5)]
GROUPS = 100_000


def run() -> int:
    generator, rng = np.random.default_rng(1), SeededRng(1)
    missed = 0
    for dimension, total, epsilon, limit in SIZES:
        counts = generator.multinomial(total, generator.dirichlet(np.ones(dimension)))
        mechanism = sdp.SumPreservingLaplaceMechanism.for_counts(epsilon, dimension=dimension)
        released = mechanism.release(counts, rng)
        label = f"means, {dimension} categories, {total} records, {epsilon:g}"
        missed += within(label, lambda m=mechanism, y=released: m.infer(y).mean, limit)
    counts = generator.multinomial(100, np.full(10, 0.1), size=GROUPS)
    mechanism = sdp.SumPreservingLaplaceMechanism.for_counts(1.0, dimension=10, rows="independent")
    released = mechanism.release(counts, rng)
    return missed + within(f"means of {GROUPS} groups of 10", lambda: mechanism.infer(released).mean, 5.0, rounds=1)
