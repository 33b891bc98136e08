"""A signal ends a long call: what its handler raises is raised by the call, and the library works on."""

import importlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

import simplexdp as sdp
from simplexdp import _core, special
from simplexdp.frames import count_table
from simplexdp.models import PrivateBayesianNetwork


class StopError(Exception):
    """What the handler of these tests raises."""


def without_end(call: Callable[[], object]) -> None:
    """Make a call again and again: a machine may be so fast that the signal comes in a later one."""
    while True:
        call()


def seconds_to_stop(call: Callable[[], object], after: float = 0.3) -> float:
    """Make a call that takes long, again and again, send a signal, and return how long it works on until it raises.

    Where other processes want the processors too, time passes in which nothing of ours runs: what this process and its
    threads have used of them is counted then. Where nobody else does, threads use more of it than passes.
    """
    sent: list[tuple[float, float]] = []

    def handler(number: int, frame: object) -> None:
        raise StopError

    def send() -> None:
        sent.append((time.perf_counter(), time.process_time()))
        os.kill(os.getpid(), signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, handler)
    timer = threading.Timer(after, send)
    timer.start()
    try:
        with pytest.raises(StopError):
            without_end(call)
        return min(time.perf_counter() - sent[0][0], time.process_time() - sent[0][1])
    finally:
        timer.cancel()
        signal.signal(signal.SIGUSR1, before)


def test_a_handler_that_raises_ends_the_call() -> None:
    x = np.linspace(0.01, 0.99, 20_000_000)
    assert seconds_to_stop(lambda: special.betainc(3.3, 4.7, x)) < 0.5
    assert special.betainc(1.0, 1.0, 0.5) == 0.5


def test_a_handler_that_returns_does_not_end_the_call() -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGUSR1, lambda number, frame: seen.append(number))
    x = np.linspace(0.01, 0.99, 1_000_000)
    timer = threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGUSR1))
    timer.start()
    try:
        assert special.betainc(3.3, 4.7, x).shape == x.shape
    finally:
        timer.join()
        signal.signal(signal.SIGUSR1, before)
    assert seen == [signal.SIGUSR1]


def test_a_signal_does_not_end_the_call_of_another_thread() -> None:
    x = np.linspace(0.01, 0.99, 1_000_000)
    results: list[float] = []
    thread = threading.Thread(target=lambda: results.append(float(special.betainc(3.3, 4.7, x).sum())))
    thread.start()
    assert seconds_to_stop(lambda: time.sleep(20), after=0.1) < 0.5
    thread.join()
    assert results == [float(special.betainc(3.3, 4.7, x).sum())]


def failing(order: float) -> float:
    raise StopError


def test_what_a_function_of_the_user_raises_ends_the_call_that_asked_it() -> None:
    profile = _core.renyi_profile(failing, True)
    behind = _core.renyi_sum_profile([profile], [2], True)
    epsilon = np.array([1.0])
    for call in (profile.delta, behind.delta, behind.renyi):
        with pytest.raises(StopError):
            call(epsilon)
    with pytest.raises(StopError):
        sdp.HellingerMechanism([1, 1], 20, 1.0, progress=lambda round, share: failing(1.0))
    assert _core.gaussian_profile(1.0).delta(epsilon)[0] < 0.2


URN = sdp.DirichletMechanism(prior=[1.0] * 3, scale=1.0)


def certification() -> object:
    return sdp.HellingerMechanism([1, 2, 3, 4], 40, 1.0, calibration="certified")


def sampler() -> object:
    return sdp.HellingerMechanism(np.linspace(0.5, 3.0, 20_000), 100_000, 8.0, calibration="proved").release(
        np.full(20_000, 5)
    )


def counts() -> object:
    codes = np.zeros(2_000_000, dtype=np.int8)
    return [count_table({"a": codes, "b": codes}, ["a", "b"], {"a": 100, "b": 100}) for _ in range(10_000)]


def records() -> object:
    model = PrivateBayesianNetwork(edges=[("a", "b")], domains={"a": 2, "b": 2})
    return model.fit({"a": [0, 1] * 9, "b": [0, 1] * 9}).sample(10**8)


@pytest.mark.parametrize(
    "call",
    [
        lambda: URN.release_counts([5, 3, 2], size=2**28),
        lambda: sdp.simulation.gamma(1.5, size=10**8),
        lambda: sdp.simulation.dirichlet([1.0, 2.0], size=10**8),
        lambda: _core.random_words(10**9),
        certification,
        sampler,
        counts,
        records,
    ],
)
def test_every_long_loop_hears_a_signal(call: Callable[[], object]) -> None:
    # On an idle machine 0.06 s; half a second leaves room for slower ones.
    assert seconds_to_stop(call) < 0.5


def test_releases_of_many_values_hear_a_signal() -> None:
    integers, rows = np.ones(50_000_000, dtype=np.int64), np.ones((500_000, 3))
    noise = sdp.DiscreteLaplaceMechanism(scale=10, sensitivity=1)
    assert seconds_to_stop(lambda: [noise.release(integers) for _ in range(100)]) < 0.5
    assert seconds_to_stop(lambda: [URN.release(rows, rows="table") for _ in range(1000)]) < 0.5


def test_one_long_row_that_keeps_its_sum_hears_a_signal() -> None:
    """Ten million coordinates take seconds, of which one goes to the sorting of the places."""
    counts = np.ones(10_000_000, dtype=np.int64)
    noise = sdp.SumPreservingLaplaceMechanism.for_counts(1.0, dimension=len(counts))
    for after in (0.2, 0.6, 1.2):
        assert seconds_to_stop(lambda: noise.release(counts), after=after) < 0.5


def test_a_plan_of_many_categories_hears_a_signal() -> None:
    sdp.plan("histogram", n=1000, delta=1e-6, domains=10, epsilons=[1.0])

    def plan() -> object:
        return sdp.plan("histogram", n=1000, delta=1e-6, domains=10**6, epsilons=[1.0])

    assert seconds_to_stop(plan, after=0.5) < 0.5


def test_a_plan_of_synthetic_tables_hears_a_signal_while_its_threads_fit() -> None:
    domains = {f"c{i}": 5 + i % 7 for i in range(30)}

    def plan() -> object:
        return sdp.plan("synthesis", domains=domains, n=20_000, target=0.05, epsilons=[1.0])

    # Of the first second the most is the import of the class, which this one does; a fit takes some ten.
    importlib.import_module("simplexdp.models.synthesizer")
    assert seconds_to_stop(plan, after=3.0) < 0.5


TREE = """
import itertools, os, signal, threading, time
import simplexdp as sdp
from simplexdp.hierarchy import Hierarchy, release

# Four levels, a private number of records and much noise: the posterior alone takes some ten seconds.
leaves = itertools.product("ab", "ab", "abc", "abcd")
paths = [tuple("".join(leaf[: depth + 1]) for depth in range(4)) for leaf in leaves]
tree = Hierarchy(["one", "two", "three", "four"], paths)
columns = {column: [path[depth] for path in paths] for depth, column in enumerate(tree.columns)}
found = release(columns, tree, epsilon=0.05, adjacency="add_remove")
sent = []

def send():
    sent.append((time.perf_counter(), time.process_time()))
    os.kill(os.getpid(), signal.SIGINT)

threading.Timer(0.5, send).start()
try:
    found.counts("four")
    print("never heard")
except KeyboardInterrupt:
    print(min(time.perf_counter() - sent[0][0], time.process_time() - sent[0][1]))
"""


def test_a_tree_posterior_hears_ctrl_c_in_a_process_of_its_own() -> None:
    done = subprocess.run([sys.executable, "-c", TREE], capture_output=True, text=True, timeout=120, check=True)
    assert float(done.stdout) < 0.5, done.stdout


def test_bounds_at_the_smallest_deltas_end() -> None:
    # A search that went on for minutes is not one that a signal should have to end.
    gaussian, pure = sdp.PrivacyCurve.gaussian, sdp.PrivacyCurve.pure
    start = time.process_time()
    for curve in (
        gaussian(sigma=1.0),
        10**6 * gaussian(sigma=10.0),
        1000 * pure(0.1),
        50 * pure(0.1) + 20 * gaussian(sigma=0.5),
        500 * gaussian(sigma=1.0) + 30 * pure(0.1),
    ):
        lower, upper = curve.epsilon_bounds(1e-275, tolerance=1e-3)
        assert lower <= upper <= lower + 1e-3
    assert time.process_time() - start < 5


def test_a_composition_of_many_different_parts_hears_a_signal() -> None:
    curves = [sdp.PrivacyCurve.pure(0.001 * part) for part in range(1, 3000)]
    assert seconds_to_stop(lambda: sdp.compose(curves).epsilon(1e-9)) < 0.5


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_forked_while_another_thread_prices_a_curve_can_price_it_too() -> None:
    if not hasattr(os, "fork"):
        pytest.skip("needs fork")
    parts = [sdp.PrivacyCurve.pure(0.001 * part) for part in range(1, 300)]
    # The other thread takes its first look at the parts, which it once did under a lock.
    for seconds in (0.0015, 0.0025):
        curve = sdp.compose(parts)
        thread = threading.Thread(target=curve.epsilon, args=(1e-9,))
        thread.start()
        time.sleep(seconds)
        child = os.fork()
        if child == 0:
            signal.alarm(300)  # only a child that waits for ever gets to hear it
            os._exit(0 if curve.epsilon(1e-9) > 0 else 1)
        thread.join()
        assert os.waitpid(child, 0)[1] == 0, "the child waited for a thread that it has not"
