"""Exact discrete noise against OpenDP, urns, and simulation draws against NumPy; time per value."""

import os

import numpy as np
import opendp.prelude as dp
from benches.python.timing import compare, report, seconds

import simplexdp as sdp

SIZE = 10**6
ONE_THREAD = 2**17
"""Up to so many values a release takes one thread."""

RELEASES = 100
PEER_SIZE = 10**4
"""OpenDP takes microseconds a value whatever the size is."""


def peer_query(make, metric):
    domain = dp.vector_domain(dp.atom_domain(T=int))
    return make(domain, metric, scale=10.0)


def integers() -> int:
    dp.enable_features("contrib")
    values, few = np.zeros(ONE_THREAD, dtype=np.int64), [0] * PEER_SIZE
    laplace = peer_query(dp.m.make_laplace, dp.l1_distance(T=int))
    gaussian = peer_query(dp.m.make_gaussian, dp.l2_distance(T=float))
    cases = [
        ("131,072 discrete Laplace, scale 10", sdp.DiscreteLaplaceMechanism(scale=10, sensitivity=2), laplace),
        ("131,072 discrete Gaussian, sigma 10", sdp.DiscreteGaussianMechanism(sigma=10, sensitivity=2), gaussian),
    ]
    missed = 0
    for label, mechanism, peer in cases:
        comparison = compare(
            lambda m=mechanism: m.release(values),
            lambda p=peer: p(few),
            our_work=ONE_THREAD,
            peer_work=PEER_SIZE,
            rounds=5,
        )
        missed += report(label, comparison, peer="OpenDP", required=30)
    return missed


def single() -> int:
    """One release of six counts, as users make it, against NumPy's floating-point noise (not fit for release)."""
    counts, generator, missed = np.array([112, 58, 25, 5, 0, 40]), np.random.default_rng(1), 0
    for name, mechanism in (
        ("discrete Laplace", sdp.DiscreteLaplaceMechanism.for_counts(1.0)),
        ("discrete Gaussian", sdp.DiscreteGaussianMechanism.for_counts(1.0, 1e-6)),
        ("Laplace on a grid", sdp.LaplaceMechanism.for_counts(1.0)),
        ("Gaussian on a grid", sdp.GaussianMechanism.for_counts(1.0, 1e-6)),
        ("sum-preserving Laplace", sdp.SumPreservingLaplaceMechanism.for_counts(1.0, dimension=6)),
    ):
        comparison = compare(
            lambda m=mechanism: [m.release(counts) for _ in range(RELEASES)],
            lambda: [counts + generator.laplace(0.0, 2.0, 6) for _ in range(RELEASES)],
            our_work=RELEASES,
            peer_work=RELEASES,
            rounds=200,
        )
        missed += report(f"one release of 6 counts, {name}", comparison, peer="numpy", required=0.5)
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
    missed = integers() + single() + simulation()
    counts = np.arange(1000)
    urn = sdp.DirichletMechanism(scale=0.5, prior=1.0, dimension=1000)
    print(f"  urn, 10^7 draws, d = 1000: {best_of_three(lambda: urn.release_counts(counts, 10**7)):.2f} s")
    for dimension, scale in ((1000, 2.0), (10**5, 2.0), (10**5, 1e3), (10**5, 1e6)):
        mechanism = sdp.SumPreservingLaplaceMechanism(scale=scale, dimension=dimension)
        zeros = np.zeros(dimension, dtype=np.int64)
        took = best_of_three(lambda m=mechanism, z=zeros: m.release(z))
        print(f"  sum-preserving Laplace, m = {dimension}, scale {scale:g}: {took * 1e3:.2f} ms")
    if (os.cpu_count() or 1) > 1:
        mechanism = sdp.DiscreteLaplaceMechanism(scale=1000, sensitivity=2)
        values = np.zeros(8 * ONE_THREAD, dtype=np.int64)
        # Rounds enough that a busy machine has both cores idle for one of them.
        comparison = compare(
            lambda: mechanism.release(values),
            lambda: [mechanism.release(part) for part in np.split(values, 8)],
            our_work=values.size,
            peer_work=values.size,
            rounds=100,
        )
        missed += report("all threads, 10^6 discrete Laplace, scale 1000", comparison, peer="one thread", required=1.7)
    return missed
