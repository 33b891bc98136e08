"""What holds for every ledger, in a file and in a database: forks, processes, copies of handles, stored releases."""

import copy
import pickle
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from ledger_programs import PREAMBLE, UNIT, Constant, run

import simplexdp as sdp


@pytest.fixture
def accountant(address):
    made = sdp.Accountant(1.0, 0.0, path=address)
    made.spend(UNIT, label="first")
    return made


def test_a_ledger_keeps_its_settings_and_is_opened_with_them(accountant, address):
    found = sdp.Accountant.open(address)
    assert (found.epsilon, found.delta, found.adjacency) == (1.0, 0.0, "replace")
    assert sdp.Accountant(1.0, 0.0, path=address).debits == 1
    with pytest.raises(sdp.LedgerError, match="epsilon"):
        sdp.Accountant(2.0, 0.0, path=address)


def test_all_handles_debit_one_book(accountant, address):
    handles = [copy.deepcopy(accountant), pickle.loads(pickle.dumps(accountant)), sdp.Accountant.open(address)]
    for handle in handles:
        handle.spend(UNIT)
    assert [handle.debits for handle in [accountant, *handles]] == [4] * 4
    assert accountant.spent_epsilon() == 4 * 2.0**-10


def test_what_does_not_fit_is_refused_and_writes_nothing(accountant):
    for _ in range(2):
        with pytest.raises(sdp.BudgetExceededError):
            accountant.spend(sdp.PrivacyCurve.pure(1.0))
    accountant.spend(sdp.PrivacyCurve.pure(0.5), count=1)
    assert accountant.debits == 2


def test_the_book_tells_what_was_debited(accountant):
    with accountant.spend(sdp.PrivacyCurve.pure(0.25), count=2, label="bob", on="ages"):
        pass
    rows = accountant.spends()
    assert [(row["id"], row["label"], row["on"], row["count"], row["state"]) for row in rows] == [
        (1, "first", "", 1, "reserved"),
        (2, "bob", "ages", 2, "released"),
    ]
    assert [row["epsilon"] for row in rows] == [2.0**-10, 0.5]


def test_threads_and_processes_spend_each_unit_once(address):
    sdp.Accountant(2.0**-5, 0.0, path=address)
    code = (
        PREAMBLE
        + """
done = 0
def work():
    global done
    for _ in range(9):
        try: a.spend(unit); done += 1
        except sdp.BudgetExceededError: pass
a = sdp.Accountant.open(path)
threads = [threading.Thread(target=work) for _ in range(2)]
[t.start() for t in threads]; [t.join() for t in threads]
print(done)
"""
    )
    workers = [
        subprocess.Popen([sys.executable, "-c", code, address], stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    assert sum(int(worker.communicate(timeout=300)[0]) for worker in workers) == 32
    assert sdp.Accountant.open(address).debits == 32


FORKS = {
    "the parent's handle was used and stays": """
a = sdp.Accountant.open(path); a.spend(unit)
for _ in range(8): child(lambda: a.spend(unit))
a.spend(unit); wait(); expect(10)
""",
    "the parent drops its handle before the children spend": """
a = sdp.Accountant.open(path); a.spend(unit)
for _ in range(8): child(lambda: (time.sleep(0.02), [a.spend(unit) for _ in range(8)]))
del a; gc.collect(); wait(); expect(65)
""",
    "the parent drops its handle while they spend, and opens another": """
a = sdp.Accountant.open(path); a.spend(unit)
for _ in range(4): child(lambda: [a.spend(unit) for _ in range(16)])
del a; gc.collect()
for _ in range(20): sdp.Accountant.open(path).spend(unit)
wait(); expect(85)
""",
    "handles that were never used": """
a = sdp.Accountant.open(path)
for _ in range(4): child(lambda: a.spend(unit))
wait(); expect(4)
""",
    "grandchildren": """
a = sdp.Accountant.open(path); a.spend(unit)
def middle():
    a.spend(unit)
    children.clear()
    for _ in range(3): child(lambda: a.spend(unit))
    wait(); a.spend(unit)
for _ in range(3): child(middle)
wait(); expect(1 + 3 * 5)
""",
    "threads that spend while the process forks": """
a = sdp.Accountant.open(path)
done = []
def work():
    for _ in range(60): a.spend(unit); done.append(1)
threads = [threading.Thread(target=work) for _ in range(3)]
[t.start() for t in threads]
for _ in range(30): child(lambda: a.spend(unit)); time.sleep(0.002)
[t.join() for t in threads]
wait(); assert len(done) == 180; expect(210)
""",
    "children of a fork that Python was not told of": """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
a = sdp.Accountant.open(path); a.spend(unit)
for _ in range(4):
    pid = libc.fork()
    if pid == 0:
        try: a.spend(unit); os._exit(0)
        except BaseException: os._exit(1)
    children.append(pid)
wait(); expect(5)
""",
    "multiprocessing": """
def work(a, n):
    for _ in range(n): a.spend(unit)
def main():
    a = sdp.Accountant.open(path); a.spend(unit)
    for method in ("fork", "forkserver", "spawn"):
        context = multiprocessing.get_context(method)
        workers = [context.Process(target=work, args=(a, 4)) for _ in range(2)]
        [w.start() for w in workers]; [w.join() for w in workers]
        assert [w.exitcode for w in workers] == [0, 0]
    expect(25)
""",
    "workers of a server that loaded the program first": """
# As gunicorn does with preload: the application is imported, workers are forked, killed and forked again.
a = sdp.Accountant.open(path); a.spend(unit)
made = 0
for round in range(3):
    r, w = os.pipe()
    for _ in range(3):
        def serve():
            while True: a.spend(unit); os.write(w, b"x")
        child(serve)
    # However slow the machine is, they are killed while they spend, and not before they began.
    before, limit = made, time.monotonic() + 60
    while made < before + 12:
        assert select.select([r], [], [], max(limit - time.monotonic(), 0))[0], "no debit within a minute"
        made += len(os.read(r, 65536))
    for pid in children: os.kill(pid, signal.SIGKILL); os.waitpid(pid, 0)
    children.clear(); os.close(w)
    while part := os.read(r, 65536): made += len(part)
found = sdp.Accountant.open(path).debits
assert made + 1 <= found <= made + 1 + 9, (made, found)
""",
}


@pytest.mark.parametrize("case", FORKS, ids=lambda case: case.replace(" ", "-"))
def test_no_fork_loses_or_doubles_a_debit(address, case, tmp_path):
    sdp.Accountant(1.0, 0.0, path=address)
    code = PREAMBLE + FORKS[case]
    if case == "multiprocessing":
        # Its children import the program, which therefore is a file.
        script = tmp_path / "program.py"
        script.write_text(code + "if __name__ == '__main__': main()\n")
        done = subprocess.run([sys.executable, script, address], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return
    filters = "import warnings; warnings.filterwarnings('ignore', category=DeprecationWarning)\n"
    run(filters + code, address)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda book: book.spend(UNIT, label=b"x"), "label must be a text"),
        (lambda book: book.spend(UNIT, on=5), "on must be a text"),
        (lambda book: book.spend(UNIT, label="x" * (1 << 17)), "at most 65536 characters, got 131072"),
        (lambda book: book.spend(UNIT, count=10**30), "count must be at most"),
        (lambda book: book.commit(5), "curves must be"),
        (lambda book: book.commit([(UNIT,)]), "curves must be"),
        (lambda book: book.release_once("k", Constant(), label=None), "label must be a text"),
        (lambda book: book.release_once([611, 325], Constant()), "^key must be a text of 1 to 512 .* got list$"),
        (lambda book: book.release_once("k" * 513, Constant()), "^key must be a text of 1 to 512 characters, got 513"),
        (lambda book: book.release_once("a\0b", Constant()), "key must be of characters"),
        (lambda book: book.release_once("a\udcff", Constant()), "key must be of characters"),
        (lambda book: book.release_once("k", Constant(2**5000)), "at most 4096 bits"),
        (lambda book: book.release_once("k", Constant(nested(10**4))), "nested"),
    ],
)
def test_what_no_book_holds_is_refused_by_name_and_spends_nothing(accountant, call, match):
    with pytest.raises(sdp.InvalidParameterError, match=match):
        call(accountant)
    assert accountant.debits == 1


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


def test_what_is_no_address_is_refused_by_name():
    with pytest.raises(sdp.InvalidParameterError, match="path must be an address of a database"):
        sdp.Accountant.open("postgresql://[::1")


@pytest.mark.parametrize("path", ["", "a\0b", 5, None])
def test_what_is_no_path_is_refused_by_name(path):
    with pytest.raises(sdp.InvalidParameterError, match="path must be a path"):
        sdp.Accountant.open(path)


@pytest.mark.parametrize("now", [-1e12, 0.0, 1e18, float("inf")])
def test_a_clock_that_is_wrong_keeps_nobody_from_the_book(accountant, monkeypatch, now):
    monkeypatch.setattr(time, "time", lambda: now)
    accountant.spend(UNIT, label="once")
    monkeypatch.undo()
    assert accountant.spend(UNIT).id == 3
    assert [row["time"].tzinfo is not None for row in accountant.spends()] == [True] * 3
    assert "once" in accountant.table()


def test_joblib_workers_share_the_book(address):
    joblib = pytest.importorskip("joblib")
    accountant = sdp.Accountant(1.0, 0.0, path=address)
    joblib.Parallel(n_jobs=2)(joblib.delayed(accountant.spend)(UNIT) for _ in range(8))
    assert accountant.debits == 8


def test_a_debit_within_a_debit_is_refused_and_not_waited_for(accountant):
    class Nested:
        privacy = UNIT

        def release(self):
            accountant.spend(UNIT)

    with pytest.raises(sdp.LedgerError, match="in the middle of another"):
        accountant.release_once("nested", Nested())
    assert accountant.debits == 1


# -- release_once


RELEASES = [
    1.5,
    float("inf"),
    -7,
    "text",
    None,
    True,
    np.arange(6).reshape(2, 3),
    np.array([0.1, np.nan]),
    np.float32(0.25),
    [1, (2.0, {"a": np.ones(2)})],
    sdp.Posterior([1.5, 2.5]),
]


@pytest.mark.parametrize("value", RELEASES, ids=repr)
def test_what_is_stored_comes_back_as_it_was(accountant, address, value):
    first = accountant.release_once("key", Constant(value))
    again = sdp.Accountant.open(address).release_once("key", Constant("another"))
    for found in (first, again):
        assert type(found) is type(value)
        np.testing.assert_equal(pickle.loads(pickle.dumps(found)), value)


@pytest.mark.parametrize("value", [object(), np.array([object()]), {1: 2}, np.zeros(1 << 22), b"bytes"], ids=type)
def test_what_cannot_be_stored_costs_nothing(accountant, value):
    with pytest.raises(sdp.InvalidParameterError, match="stored"):
        accountant.release_once("key", Constant(value))
    assert accountant.debits == 1


def test_a_draw_that_fails_costs_nothing_and_the_next_one_counts(accountant):
    class Failing:
        privacy = UNIT

        def release(self):
            raise OSError("of the mechanism")

    with pytest.raises(OSError, match="of the mechanism"):
        accountant.release_once("key", Failing())
    assert accountant.debits == 1
    assert accountant.release_once("key", Constant()) == 1.5
    assert accountant.debits == 2
    assert accountant.spends()[-1]["state"] == "released"


def test_a_key_of_another_cost_is_refused(accountant):
    accountant.release_once("key", Constant())
    other = Constant()
    other.privacy = sdp.PrivacyCurve.pure(0.25)
    with pytest.raises(sdp.InvalidParameterError, match="another cost"):
        accountant.release_once("key", other)
    assert other.drawn == 0
    for key in ("", 7, "x" * 513):
        with pytest.raises(sdp.InvalidParameterError, match="key"):
            accountant.release_once(key, Constant())


def test_a_release_once_that_does_not_fit_draws_nothing(address):
    accountant = sdp.Accountant(2.0**-11, 0.0, path=address)
    mechanism = Constant()
    with pytest.raises(sdp.BudgetExceededError):
        accountant.release_once("key", mechanism)
    assert mechanism.drawn == accountant.debits == 0


def test_at_once_in_threads_and_processes_there_is_one_draw(accountant, address):
    code = """
import sys, simplexdp as sdp
class M:
    privacy = sdp.PrivacyCurve.pure(2.0**-10)
    def release(self): return int.from_bytes(__import__("os").urandom(6), "big")
print(sdp.Accountant.open(sys.argv[1]).release_once("key", M()))
"""
    workers = [
        subprocess.Popen([sys.executable, "-c", code, address], stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    mechanism = Constant(-1)
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(accountant.release_once("key", mechanism))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results += [int(worker.communicate(timeout=300)[0]) for worker in workers]
    assert len(set(results)) == 1
    assert accountant.debits == 2
