"""One object used by many threads at once: what comes out is what one thread would have got.

Under a free-threaded Python nothing else keeps the threads apart.
"""

import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import simplexdp as sdp
from simplexdp.testing import SeededRng

THREADS = 8
TURNS = 25
COUNTS = np.array([12, 30, 5, 0])


def at_once(work: Callable[[int], Any]) -> list[Any]:
    """Return what `work` returns to threads that begin together, in any order; what one of them raises is raised."""
    start = threading.Barrier(THREADS)
    results: list[Any] = []
    failures: list[BaseException] = []

    def run(thread: int) -> None:
        start.wait()
        try:
            for turn in range(TURNS):
                results.append(work(thread * TURNS + turn))
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(thread,)) for thread in range(THREADS)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    if failures:
        raise failures[0]
    return results


MECHANISMS = [
    sdp.DirichletMechanism(scale=0.5, prior=2.0, dimension=4),
    sdp.DiscreteLaplaceMechanism.for_counts(1e-6),
    sdp.DiscreteGaussianMechanism.for_counts(1e-6, 1e-6),
    sdp.LaplaceMechanism.for_counts(0.1),
]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda each: type(each).__name__)
def test_a_shared_mechanism_never_repeats_a_draw(mechanism):
    draws = at_once(lambda _: mechanism.release(COUNTS).tobytes())
    # Four values on grids of at least 10^6 points that matter: two equal rows among 200 have a chance below 10^-15.
    assert len(set(draws)) == THREADS * TURNS


def test_a_shared_seed_gives_threads_what_it_gives_one_after_the_other():
    mechanism = MECHANISMS[0]
    shared, alone = SeededRng(4), SeededRng(4)
    draws = at_once(lambda _: mechanism.release(COUNTS, rng=shared).tobytes())
    assert sorted(draws) == sorted(mechanism.release(COUNTS, rng=alone).tobytes() for _ in draws)


def test_threads_read_the_same_curve_of_one_object():
    # The composition is made when it is first asked, here by all threads at once.
    curve = sdp.compose([MECHANISMS[0].privacy, sdp.GaussianMechanism.for_counts(0.5, 1e-6).privacy])
    deltas = np.logspace(-9, -3, 7)
    again = sdp.compose([MECHANISMS[0].privacy, sdp.GaussianMechanism.for_counts(0.5, 1e-6).privacy])
    for told in at_once(lambda _: curve.epsilon(deltas)):
        # An answer may use what others have computed, so it may be the better of two bounds, and no other.
        np.testing.assert_allclose(told, again.epsilon(deltas), rtol=1e-4)


@pytest.mark.parametrize("on_disk", [False, True])
def test_a_shared_book_is_never_overdrawn(on_disk, tmp_path):
    price = sdp.LaplaceMechanism.for_counts(0.02).privacy
    book = sdp.Accountant(epsilon=1.0, delta=1e-6)
    if on_disk:
        book = sdp.Accountant(epsilon=1.0, delta=1e-6, path=tmp_path / "book")
    alone = sdp.Accountant(epsilon=1.0, delta=1e-6)
    affordable = sum(paid(alone, price) for _ in range(THREADS * TURNS))
    assert sum(at_once(lambda _: paid(book, price))) == min(affordable, THREADS * TURNS)
    assert book.debits == min(affordable, THREADS * TURNS)


def paid(book: sdp.Accountant, price: sdp.PrivacyCurve) -> bool:
    try:
        book.spend(price)
    except sdp.BudgetExceededError:
        return False
    return True


def test_threads_count_the_same_table():
    rows = np.random.default_rng(1).integers(0, 5, size=(3, 20_000))
    data = {"a": rows[0], "b": rows[1].astype(str), "c": rows[2]}
    levels = {"a": range(5), "b": [str(level) for level in range(5)], "c": range(5)}
    table = sdp.frames.count_table(data, ["a", "b", "c"], levels)
    assert table.sum() == 20_000
    for other in at_once(
        lambda turn: sdp.frames.count_table(data, ["a", "b", "c"], levels) if turn % 5 == 0 else table
    ):
        np.testing.assert_array_equal(other, table)


def test_threads_may_be_the_first_to_use_the_library():
    program = f"""
import threading
import simplexdp as sdp
names = sorted(sdp.__all__)
start = threading.Barrier({THREADS})
failures = []
def run(thread):
    start.wait()
    try:
        for name in names[thread:] + names[:thread]:
            getattr(sdp, name)
        sdp.DirichletMechanism(scale=0.5, prior=2.0, dimension=4).release([1, 2, 3, 4])
    except ImportError as failure:
        if "pip install" not in str(failure):
            failures.append(failure)
    except BaseException as failure:
        failures.append(failure)
threads = [threading.Thread(target=run, args=(at,)) for at in range({THREADS})]
[each.start() for each in threads]
[each.join() for each in threads]
assert not failures, failures
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not hasattr(sys, "_is_gil_enabled"), reason="this Python always has its lock")
def test_loading_the_core_does_not_switch_the_lock_on():
    import sysconfig

    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip("this Python always has its lock")
    program = "import sys, simplexdp._core; sys.exit(sys._is_gil_enabled())"
    assert subprocess.run([sys.executable, "-W", "error", "-c", program], check=False).returncode == 0
