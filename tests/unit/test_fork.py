"""Every call that shares its work between threads can be made again in a forked child.

A pool of threads that outlived its call would leave the child waiting for threads that `fork` does not copy.
"""

import os
import signal
import time
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

import simplexdp as sdp
from simplexdp.models import PrivateBayesianNetwork

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]

SECONDS = 300
"""Each call takes less than a second, on a machine with nothing else to do; a child that hangs does so for ever."""


def hellinger() -> tuple[sdp.HellingerMechanism, np.ndarray]:
    """Have 400 groups of equal coordinates: none is shared."""
    prior = np.linspace(0.5, 3.0, 400)
    return sdp.HellingerMechanism(prior, 800, 8.0, calibration="proved"), np.full(400, 2)


def network() -> PrivateBayesianNetwork:
    frame = pd.DataFrame({"a": [0, 1] * 50, "b": [0, 0, 1, 1] * 25})
    model = PrivateBayesianNetwork(edges=[("a", "b")], epsilon=1.0, domains={"a": 2, "b": 2})
    return model.fit(frame)


def certify() -> None:
    sdp.HellingerMechanism([1, 1, 1], 30, 1.0, calibration="certified")


def hellinger_release() -> None:
    mechanism, counts = hellinger()
    mechanism.release(counts)


def hellinger_acceptance() -> None:
    mechanism, counts = hellinger()
    assert 0 < mechanism.acceptance_rate(counts) <= 1


def sample_network() -> None:
    assert len(network().sample(10**5)) == 10**5


def dirichlet() -> None:
    sdp.DirichletMechanism(prior=[1.0] * 100, scale=1.0).release(np.ones((2000, 100)))


def discrete_noise() -> None:
    sdp.DiscreteGaussianMechanism(sigma=10, sensitivity=1).release(np.zeros(10**6, dtype=int))


def noise_on_a_grid() -> None:
    sdp.GaussianMechanism(sigma=10.0, sensitivity=1, changed=1).release(np.zeros(10**6))


CALLS = [
    certify,
    hellinger_release,
    hellinger_acceptance,
    sample_network,
    dirichlet,
    discrete_noise,
    noise_on_a_grid,
]


def seconds_in_a_child(call: Callable[[], None]) -> float:
    """Make the call in a forked child and wait for its end; more than `SECONDS` where it hangs."""
    start = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            call()
            code = 0
        finally:
            os._exit(code)
    while time.perf_counter() < start + SECONDS:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 0
            return time.perf_counter() - start
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return time.perf_counter() - start


@pytest.mark.parametrize("call", CALLS)
def test_a_child_can_make_the_call_that_its_parent_made(call: Callable[[], None]) -> None:
    call()
    assert seconds_in_a_child(call) < SECONDS
