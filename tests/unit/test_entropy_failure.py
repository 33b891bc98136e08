"""What releases do when the operating system gives no randomness: they refuse, every one of them."""

import os
import shutil
import subprocess
import sys
import textwrap

import pytest

SHIM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sys/types.h>

static int failing = 0;
void fail_from_now_on(int value) { failing = value; }

ssize_t getrandom(void *buffer, size_t length, unsigned int flags) {
    if (failing) { errno = EIO; return -1; }
    return ((ssize_t (*)(void *, size_t, unsigned int)) dlsym(RTLD_NEXT, "getrandom"))(buffer, length, flags);
}
"""

PROGRAM = """
import ctypes, sys
import numpy as np
import simplexdp as sdp
from simplexdp.testing import SeededRng

counts = np.array([5, 3, 2])
dirichlet = sdp.DirichletMechanism(scale=1.0, prior=1.0, dimension=3)
hellinger = sdp.HellingerMechanism(prior=[1.0, 1.0, 1.0], n=10, epsilon=1.0)
attempts = {
    "dirichlet": lambda rng=None: dirichlet.release(counts, rng=rng),
    "dirichlet counts": lambda: dirichlet.release_counts(counts, 10),
    "discrete laplace": lambda: sdp.DiscreteLaplaceMechanism(scale=2, sensitivity=2).release(counts),
    "discrete gaussian": lambda: sdp.DiscreteGaussianMechanism(sigma=2, sensitivity=2).release(counts),
    "zero-sum laplace": lambda: sdp.SumPreservingLaplaceMechanism(scale=2, dimension=3).release(counts),
    "laplace": lambda: sdp.LaplaceMechanism(scale=2.0, sensitivity=2, changed=2).release(counts),
    "gaussian": lambda: sdp.GaussianMechanism(sigma=2.0, sensitivity=2, changed=2).release(counts),
    "hellinger": lambda: hellinger.release(counts),
    "words": lambda: sdp.testing.random_words(4),
}
for attempt in attempts.values():
    attempt()  # tables that are made once are made here
ctypes.CDLL(sys.argv[1]).fail_from_now_on(1)
for name, attempt in attempts.items():
    try:
        attempt()
    except sdp.EntropyError:
        print("refused:", name)
    else:
        print("RELEASED:", name)
print("seeded runs go on:", attempts["dirichlet"](SeededRng(1)).shape)
ctypes.CDLL(sys.argv[1]).fail_from_now_on(0)
print("and so do releases:", attempts["dirichlet"]().shape)
print(len(attempts))
"""


@pytest.mark.skipif(sys.platform != "linux" or shutil.which("cc") is None, reason="replaces getrandom of Linux with cc")
def test_without_entropy_nothing_is_released(tmp_path):
    source, library = tmp_path / "shim.c", tmp_path / "shim.so"
    source.write_text(SHIM)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    environment = dict(os.environ, LD_PRELOAD=str(library))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(PROGRAM), str(library)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    *lines, tried = done.stdout.splitlines()
    assert sum(line.startswith("refused: ") for line in lines) == int(tried), lines
    assert lines[-2:] == ["seeded runs go on: (3,)", "and so do releases: (3,)"]
