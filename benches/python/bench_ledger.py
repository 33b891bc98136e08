"""Debits of one budget by four processes, each on the disk, against the same rows in SQLite with a write-ahead log.

Both do what a ledger has to: read where the book stands, add a row, move the state, in one transaction that is on the
disk when it returns. SQLite gets the rows as they are; the ledger forms the guarantee and the checksums besides.
SIMPLEXDP_BENCH_POSTGRES may name a database, `postgresql://...` without a book, whose tables were made.
"""

import multiprocessing
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable
from functools import partial

from benches.python import timing
from benches.python.timing import Comparison, report

import simplexdp as sdp

PROCESSES = 4
DEBITS = 400
"""Of each process in a round."""
ROUNDS = 5
ROW = "x" * 300
"""About as long as a line of the ledger."""
CURVE = {"sigma": 1e7}
POSTGRES = os.environ.get("SIMPLEXDP_BENCH_POSTGRES", "")


def run() -> int:
    # Beside the checkout: a folder for temporary files may be in memory.
    with tempfile.TemporaryDirectory(dir=".") as folder:
        make_peer(f"{folder}/peer.db")
        missed = beside_sqlite(f"{folder}/book.db", f"{folder}/peer.db", "a durable debit", (PROCESSES, 1), required=1)
        if POSTGRES:
            address = f"{POSTGRES}#bench-{time.time_ns()}"
            missed += beside_sqlite(
                address, f"{folder}/peer.db", "a debit in PostgreSQL", (2 * PROCESSES, PROCESSES, 1)
            )
        return missed + after_many(folder)


def beside_sqlite(ours: str, theirs: str, what: str, processes: tuple[int, ...], required: float | None = None) -> int:
    sdp.Accountant(1.0, 1e-6, path=ours)
    missed = 0
    for count in processes:
        comparison = in_turn(partial(together, debit, ours, count), partial(together, insert, theirs, count))
        name = "one process" if count == 1 else f"{count} processes"
        missed += report(f"{what}, {name}", comparison, peer="SQLite, WAL", required=required)
        print(f"    {1 / comparison.ours:.0f} debits/s, SQLite {1 / comparison.peer:.0f}", flush=True)
    return missed


def after_many(folder: str) -> int:
    """The processor time of a debit in a book of 10^6 debits (fast: 10^4), against one in a new book."""
    many = 10**6 if timing.most_rounds is None else 10**4
    full, new = f"{folder}/full.db", f"{folder}/new.db"
    curve = sdp.PrivacyCurve.gaussian(**CURVE)
    handles = {path: sdp.Accountant(1.0, 1e-6, path=path, durable=False) for path in (full, new)}
    for _ in range(many):
        handles[full].spend(curve)
    best = dict.fromkeys(handles, float("inf"))
    for _ in range(ROUNDS):
        for path, handle in handles.items():
            start = time.process_time()
            for _ in range(2000):
                handle.spend(curve)
            best[path] = min(best[path], (time.process_time() - start) / 2000)
    comparison = Comparison(best[full], best[new])
    missed = report(f"a debit after {many:,} others, processor time", comparison, peer="the first ones", required=0.8)
    start = time.process_time()
    debits = sdp.Accountant.open(full).debits
    print(f"    opening {debits:,} debits, all lines verified: {time.process_time() - start:.2f} s", flush=True)
    return missed


def in_turn(ours: Callable[[], float], peer: Callable[[], float]) -> Comparison:
    """Return the best seconds of a debit, ours and the peer's, in several rounds."""
    best_ours = best_peer = float("inf")
    for _ in range(ROUNDS if timing.most_rounds is None else timing.most_rounds):
        best_ours, best_peer = min(best_ours, ours()), min(best_peer, peer())
    return Comparison(best_ours, best_peer)


def together(work: Callable[[str, int], None], path: str, count: int) -> float:
    """Return the seconds of a debit when so many processes make them at once."""
    context = multiprocessing.get_context("fork")
    ready, done = context.Barrier(count + 1), context.Barrier(count + 1)

    def task() -> None:
        work(path, 5)
        ready.wait()
        work(path, DEBITS)
        done.wait()

    workers = [context.Process(target=task) for _ in range(count)]
    for worker in workers:
        worker.start()
    ready.wait()
    start = time.perf_counter()
    done.wait()
    seconds = time.perf_counter() - start
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    return seconds / (count * DEBITS)


def debit(path: str, times: int) -> None:
    accountant, curve = sdp.Accountant.open(path), sdp.PrivacyCurve.gaussian(**CURVE)
    for _ in range(times):
        accountant.spend(curve)


def make_peer(path: str) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE book (state TEXT, debits INTEGER)")
    connection.execute("CREATE TABLE debit (id INTEGER PRIMARY KEY, row TEXT)")
    connection.execute("INSERT INTO book VALUES ('', 0)")
    connection.close()


def insert(path: str, times: int) -> None:
    connection = sqlite3.connect(path, isolation_level=None, timeout=60)
    # Durable: the log is on the disk at every commit.
    connection.execute("PRAGMA synchronous = FULL")
    for _ in range(times):
        connection.execute("BEGIN IMMEDIATE")
        (debits,) = connection.execute("SELECT debits FROM book").fetchone()
        connection.execute("INSERT INTO debit VALUES (?, ?)", (debits + 1, ROW))
        connection.execute("UPDATE book SET state = ?, debits = ?", (f"{debits + 1}", debits + 1))
        connection.execute("COMMIT")
    connection.close()
