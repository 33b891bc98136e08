"""Exact discrete noise against OpenDP, urns, and simulation draws against NumPy; time per value."""

import os

import numpy as np
import opendp.prelude as dp
from benches.python.timing import compare, report, seconds

import simplexdp as sdp
from simplexdp._polya import release_counts

SIZE = 10**6
PEER_SIZE = 10**4
"""OpenDP takes microseconds a value whatever the size is."""


def peer_query(make, metric):
    domain = dp.vector_domain(dp.atom_domain(T=int))
    return make(domain, metric, scale=10.0)


def integers() -> int:
    dp.enable_features("contrib")
    values, few = np.zeros(SIZE, dtype=np.int64), [0] * PEER_SIZE
    laplace = peer_query(dp.m.make_laplace, dp.l1_distance(T=int))
    gaussian = peer_query(dp.m.make_gaussian, dp.l2_distance(T=float))
    # The mechanisms themselves use every processor; one thread for the comparison.
    cases = [
        ("10^6 discrete Laplace, scale 10", sdp.DiscreteLaplaceMechanism(scale=10, sensitivity=2), laplace),
        ("10^6 discrete Gaussian, sigma 10", sdp.DiscreteGaussianMechanism(sigma=10, sensitivity=2), gaussian),
    ]
    missed = 0
    for label, mechanism, peer in cases:
        comparison = compare(
            lambda m=mechanism: m._noise.release(values, 1, None),
            lambda p=peer: p(few),
            our_work=SIZE,
            peer_work=PEER_SIZE,
            rounds=5,
        )
        missed += report(label, comparison, peer="OpenDP", required=30)
    return missed


def simulation() -> int:
    generator, missed = np.random.default_rng(1), 0
    for dimension, shape in ((1000, 5.0), (1000, 0.5), (6, 2.0)):
        alpha, rows = np.full(dimension, shape), SIZE // dimension
        comparison = compare(
            lambda a=alpha, n=rows: sdp.simulation.dirichlet(a, n),
            lambda a=alpha, n=rows: generator.dirichlet(a, n),
            our_work=SIZE,
            peer_work=SIZE,
            rounds=7,
        )
        missed += report(f"simulation Dirichlet, d = {dimension}, shape {shape}", comparison, peer="NumPy", required=1)
    return missed


def best_of_three(call) -> float:
    return min(seconds(call) for _ in range(3))


def run() -> int:
    missed = integers() + simulation()
    counts = np.arange(1000.0)
    print(
        f"  urn, 10^7 draws, d = 1000: {best_of_three(lambda: release_counts(counts, 0.5, np.ones(1000), 10**7)):.2f} s"
    )
    for dimension, scale in ((1000, 2.0), (10**5, 2.0), (10**5, 1e3), (10**5, 1e6)):
        mechanism = sdp.SumPreservingLaplaceMechanism(scale=scale, dimension=dimension)
        zeros = np.zeros(dimension, dtype=np.int64)
        took = best_of_three(lambda m=mechanism, z=zeros: m.release(z))
        print(f"  sum-preserving Laplace, m = {dimension}, scale {scale:g}: {took * 1e3:.2f} ms")
    if (os.cpu_count() or 1) > 1:
        noise, values = sdp.DiscreteLaplaceMechanism(scale=1000)._noise, np.zeros(SIZE, dtype=np.int64)
        # Rounds enough that a busy machine has both cores idle for one of them.
        comparison = compare(
            lambda: noise.release(values, 2, None),
            lambda: noise.release(values, 1, None),
            our_work=SIZE,
            peer_work=SIZE,
            rounds=100,
        )
        missed += report("two threads, 10^6 discrete Laplace, scale 1000", comparison, peer="one thread", required=1.7)
    return missed
