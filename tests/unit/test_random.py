"""Streams never repeat by accident, and repeat exactly when asked to."""

import copy
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import chacha20
import numpy as np
import pytest

import simplexdp as sdp
from simplexdp import _core
from simplexdp.testing import SeededRng

WORDS = 2000


def draw(_=None) -> bytes:
    return _core.random_words(WORDS).tobytes()


def assert_all_distinct(draws):
    """No 64-bit word twice, within or between: chance below 1e-10 for a million independent words."""
    words = np.concatenate([np.frombuffer(data, dtype=np.uint64) for data in draws])
    assert len(words) == WORDS * len(draws)
    assert len(np.unique(words)) == len(words)


def test_the_oracle_gives_the_published_block():
    # The first block of ChaCha20 under the zero key and nonce, as published with the cipher.
    assert chacha20.block(bytes(32), 0, 0)[:16].hex() == "76b8e0ada0f13d90405d6ae55386bd28"


@pytest.mark.parametrize("seed", [0, 1, 42, 2**64 - 1, 2**64, 2**256 - 1])
def test_a_seed_gives_the_documented_stream(seed):
    rng = SeededRng(seed)
    for call in range(3):
        for index in (0, 1, 2**40):
            got = _core.random_words(100, index, SeededRng(seed, call))
            assert got.tolist() == chacha20.words(chacha20.child_key(seed, call), index, 100)
        assert _core.random_words(5, rng=rng).tolist() == chacha20.words(chacha20.child_key(seed, call), 0, 5)
    assert rng.calls == 3


def test_seeded_values_are_stable():
    # Computed with tests/unit/chacha20.py; a change here is a value change for every user.
    expected = [10610598162661219710, 3359280699048898498, 3537468264919133105]
    assert _core.random_words(3, rng=SeededRng(42)).tolist() == expected


def test_numpy_integers_are_seeds():
    assert SeededRng(np.uint64(2**64 - 1)).seed == 2**64 - 1


@pytest.mark.parametrize("seed", [-1, 2**256, 1.5, "7", None, [1]])
def test_other_seeds_are_refused(seed):
    with pytest.raises(sdp.InvalidParameterError, match=r"seed must be an integer from 0 to 2\*\*256 - 1"):
        SeededRng(seed)


@pytest.mark.parametrize("rng", [np.random.default_rng(1), np.random.RandomState(1), 7, "os", SeededRng])
def test_other_generators_are_refused_with_the_reason(rng):
    with pytest.raises(sdp.InvalidParameterError, match=r"rng must be None .* not cryptographically secure"):
        _core.random_words(1, rng=rng)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda rng: pickle.loads(pickle.dumps(rng))])
def test_a_copy_continues_where_the_original_stands(duplicate):
    rng = SeededRng(2**200 + 3)
    _core.random_words(1, rng=rng)
    twin = duplicate(rng)
    assert (twin.seed, twin.calls) == (rng.seed, 1)
    assert _core.random_words(4, rng=twin).tolist() == _core.random_words(4, rng=rng).tolist()


def test_children_differ_and_repeat():
    children = SeededRng(3).spawn(4)
    draws = [_core.random_words(WORDS, rng=child) for child in children]
    again = [_core.random_words(WORDS, rng=child) for child in SeededRng(3).spawn(4)]
    assert np.array_equal(draws, again)
    assert_all_distinct([d.tobytes() for d in draws] + [_core.random_words(WORDS, rng=SeededRng(3)).tobytes()])


def test_calls_and_streams_never_repeat():
    assert_all_distinct([draw() for _ in range(50)])
    rng = SeededRng(1)
    assert_all_distinct([_core.random_words(WORDS, index, rng).tobytes() for index in (0, 0, 1, 1, 2**63)])


def test_threads_never_repeat():
    with ThreadPoolExecutor(8) as pool:
        assert_all_distinct(list(pool.map(draw, range(64))))
        rng = SeededRng(5)
        shared = list(pool.map(lambda _: _core.random_words(WORDS, rng=rng).tobytes(), range(64)))
    assert_all_distinct(shared)
    assert sorted(shared) == sorted(_core.random_words(WORDS, rng=SeededRng(5, c)).tobytes() for c in range(64))


def test_the_interpreter_runs_while_words_are_drawn():
    done = threading.Event()
    worker = threading.Thread(target=lambda: (_core.random_words(20_000_000), done.set()))
    worker.start()
    turns = 0
    while not done.is_set():
        turns += 1
    worker.join()
    # With the interpreter held for the whole draw the loop would turn a handful of times.
    assert turns > 1000


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_fork_never_repeats():
    before = draw()
    draws, children = [], []
    for _ in range(4):
        read_end, write_end = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.close(read_end)
                with os.fdopen(write_end, "wb") as pipe:
                    pipe.write(draw() + draw())
            finally:
                os._exit(0)
        os.close(write_end)
        children.append((pid, read_end))
        draws.append(draw())
    for pid, read_end in children:
        with os.fdopen(read_end, "rb") as pipe:
            data = pipe.read()
        os.waitpid(pid, 0)
        draws += [data[: 8 * WORDS], data[8 * WORDS :]]
    assert_all_distinct([before, *draws])


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_processes_never_repeat(method):
    before = draw()
    with multiprocessing.get_context(method).Pool(2) as pool:
        draws = pool.map_async(draw, range(8), chunksize=1).get(timeout=300)
        pool.close()
        pool.join()
    assert_all_distinct([before, *draws, draw()])


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)


def test_the_first_use_of_a_seed_warns_and_later_ones_do_not():
    result = run_python(
        "import threading, warnings\n"
        "from simplexdp import _core, InsecureRandomnessWarning\n"
        "from simplexdp.testing import SeededRng\n"
        "with warnings.catch_warnings(record=True) as seen:\n"
        "    warnings.simplefilter('always')\n"
        "    use = lambda: [_core.random_words(1, rng=SeededRng(1)) for _ in range(50)]\n"
        "    threads = [threading.Thread(target=use) for _ in range(8)]\n"
        "    [t.start() for t in threads], [t.join() for t in threads]\n"
        "print([w.category is InsecureRandomnessWarning for w in seen])\n"
    )
    assert (result.stdout.strip(), result.stderr) == ("[True]", "")


def test_where_warnings_are_errors_every_use_of_a_seed_is_refused():
    result = run_python(
        "import warnings\n"
        "from simplexdp import _core, InsecureRandomnessWarning\n"
        "from simplexdp.testing import SeededRng\n"
        "warnings.simplefilter('error')\n"
        "for _ in range(3):\n"
        "    try: _core.random_words(1, rng=SeededRng(1))\n"
        "    except InsecureRandomnessWarning: print('refused')\n"
    )
    assert (result.stdout.split(), result.stderr) == (["refused"] * 3, "")


@pytest.mark.parametrize("wrong", [-1, 2**62 + 1, 2**70, 1.5, "a", None, [1]])
def test_calls_and_children_that_are_no_counts_are_refused(wrong):
    if wrong is not None:  # the default
        with pytest.raises(sdp.InvalidParameterError, match="calls must be an integer from 0"):
            SeededRng(1, calls=wrong)
    with pytest.raises(sdp.InvalidParameterError, match="n_children must be an integer from 0"):
        SeededRng(1).spawn(wrong)
