"""A release service does not grow: neither by releases nor by forks."""

import os
import subprocess
import sys

import pytest

SERVICE = """
import os, sys, numpy as np, simplexdp as sdp
releases, forks = int(sys.argv[1]), int(sys.argv[2])
counts = np.array([12, 30, 5, 0])
mechanisms = [
    sdp.DirichletMechanism(scale=0.5, prior=2.0, dimension=4),
    sdp.DiscreteGaussianMechanism.for_counts(1.0, 1e-6),
    sdp.LaplaceMechanism.for_counts(1.0),
]

def resident(kind):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(kind)) << 10

def serve(times):
    for at in range(times):
        mechanisms[at % 3].release(counts)

serve(2000)
# What was allocated alone: where memory is short, pages of files go and come back.
before = resident("RssAnon:")
serve(releases)
after = resident("RssAnon:")
for _ in range(forks):
    child = os.fork()
    if child == 0:
        serve(3)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
print(before, after, resident("RssAnon:"), resident("VmRSS:"))
"""
GROWTH = 1 << 20


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="resident memory is read from /proc")
def test_memory_is_flat_over_releases_and_forks(full):
    releases, forks = (1_000_000, 100_000) if full else (20_000, 100)
    done = subprocess.run(
        [sys.executable, "-c", SERVICE, str(releases), str(forks)], capture_output=True, text=True, check=True
    )
    before, after, at_the_end, with_files = map(int, done.stdout.split())
    told = " and ".join(f"{size / 2**20:.1f} MiB" for size in (before, after, at_the_end, with_files))
    print(f"before, after {releases} releases, after {forks} forks, with files: {told}")
    assert after - before < GROWTH
    assert at_the_end - before < GROWTH
    assert with_files < 50 << 20
