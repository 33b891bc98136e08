"""A soak of ledgers: processes debit, fork, are killed, lose file, disk or server; releases never exceed debits.

Four workers debit a book without end, each time noting the release in a file of their own once it is made. They fork
children and grandchildren that do the same, drop and open handles, ask for releases under keys, and limit the size of
their files, so that writes fail half way as on a full disk. Meanwhile the supervisor kills workers (kill -9), renames,
links and replaces the file, or crashes and restarts the PostgreSQL server. At the end: every noted release has a debit
of its own in the book, each key stands for one release and one debit, the state of the book is the sum of its debits,
and no process has hung.

    python tests/unit/accounting/ledger_soak.py --seconds 600
"""

import argparse
import contextlib
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import simplexdp as sdp

WORKERS = 4
UNIT = 2.0**-40
SILENCE = 60.0
"""Seconds after which a worker that told nothing has hung; no wait of a ledger is longer than PATIENCE there."""
PATIENCE = 15.0
END = "end"
"""The file in the folder of the soak that tells workers to end."""
MOST_TIMES = 50
"""How many times the asked time a soak may take on a machine so busy that hardly anything was done in it."""


class Keyed:
    """A mechanism whose every draw is another number."""

    privacy = sdp.PrivacyCurve.pure(UNIT)

    def release(self):
        return int.from_bytes(os.urandom(7), "big")


@contextlib.contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Let no file grow beyond a size in a ``with`` statement, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def work(address: str, folder: str, seed: int) -> None:
    """Debit until told to end, in this process and in forked ones."""
    from simplexdp.accounting.ledger import locking, postgres

    locking.PATIENCE = postgres.PATIENCE = PATIENCE
    notes = os.open(os.path.join(folder, "notes"), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    alive = os.path.join(folder, f"alive-{os.getpid()}")
    unit = sdp.PrivacyCurve.pure(UNIT)
    chance = random.Random(seed)
    handle = None
    supervisor = os.getppid()

    def note(**what: object) -> None:
        # The book may not grow, what is known of it may.
        with largest_file(resource.RLIM_INFINITY):
            os.write(notes, json.dumps(what).encode() + b"\n")

    def some_debits(times: int) -> None:
        nonlocal handle
        for _ in range(times):
            Path(alive).touch()
            try:
                if handle is None:
                    handle = sdp.Accountant.open(address)
                if chance.random() < 0.2:
                    key = f"key {chance.randrange(200)}"
                    note(key=key, value=handle.release_once(key, Keyed()))
                else:
                    with handle.spend(unit) as spend:
                        note(id=spend.id)
            except sdp.LedgerError:
                note(refused=1)
                time.sleep(0.01)

    def in_children(depth: int) -> None:
        children = []
        for _ in range(chance.randint(1, 2)):
            child = os.fork()
            if child == 0:
                chance.seed(os.getpid())
                some_debits(chance.randint(1, 6))
                if depth > 0 and chance.random() < 0.4:
                    in_children(depth - 1)
                os._exit(0)
            children.append(child)
        some_debits(2)
        for child in children:
            while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
                Path(alive).touch()
                time.sleep(0.005)
            assert ended[1] == 0, "a child failed"

    # A supervisor that was killed tells nobody to end.
    while os.getppid() == supervisor and not os.path.exists(os.path.join(folder, END)):
        what = chance.random()
        if what < 0.75:
            some_debits(chance.randint(1, 10))
        elif what < 0.85:
            in_children(2)
        elif what < 0.92:
            handle = None
        elif not address.startswith("postgresql"):
            try:
                size = os.path.getsize(address)
            except FileNotFoundError:  # The supervisor has just renamed it.
                continue
            with largest_file(size + chance.randrange(600)):
                some_debits(8)
    Path(alive).unlink(missing_ok=True)


def disturb_file(path: str, chance: random.Random) -> str:
    """Do to a ledger file what happens to files, and undo it."""
    what = chance.choice(["rename", "link", "replace", "nothing"])
    aside = f"{path}.aside"
    if what == "rename":
        os.rename(path, aside)
        time.sleep(chance.uniform(0, 0.05))
        os.rename(aside, path)
    elif what == "link":
        os.link(path, aside)
        time.sleep(chance.uniform(0, 0.05))
        os.unlink(aside)
    elif what == "replace":
        # A copy stands in its place for a moment.
        os.rename(path, aside)
        with contextlib.suppress(OSError):
            Path(path).write_bytes(Path(aside).read_bytes())
        time.sleep(chance.uniform(0, 0.05))
        os.rename(aside, path)
    return what


def is_enough(folder: str, faults: Counter[str], fault: str) -> bool:
    """Return whether there was a fault of a kind, and more than a few debits, so that the soak says something."""
    notes = Path(folder, "notes")
    return faults[fault] > 0 and notes.exists() and notes.read_bytes().count(b'"id"') > 20


def wait_for_orphans(groups: list[int]) -> None:
    """Wait until the children of killed workers have ended too: they make a few debits at most."""
    limit = time.time() + 2 * SILENCE
    for group in groups:
        with contextlib.suppress(ProcessLookupError):
            while time.time() < limit:
                os.killpg(group, 0)
                time.sleep(0.01)


def end_group(worker: subprocess.Popen) -> None:
    """Kill a worker with its children, where they have not ended."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(worker.pid, signal.SIGKILL)


def soak(address: str, folder: str, seconds: float, seed: int, server: object = None) -> dict[str, int]:
    """Run the workers and the faults, and return what was counted; raise where a promise is broken."""
    sdp.Accountant(1.0, 0.0, path=address)
    chance, begin, faults = random.Random(seed), time.time(), Counter()
    workers: dict[int, subprocess.Popen] = {}
    killed: list[int] = []

    def start() -> None:
        command = [sys.executable, "-W", "ignore", __file__, "--worker", address, folder]
        worker = subprocess.Popen([*command, str(chance.randrange(1 << 30))], start_new_session=True)
        workers[worker.pid] = worker

    fault = "kills" if server is None else "restarts"
    next_crash = begin + seconds / 4
    try:
        for _ in range(WORKERS):
            start()
        while time.time() < begin + seconds or (
            time.time() < begin + MOST_TIMES * seconds and not is_enough(folder, faults, fault)
        ):
            time.sleep(chance.uniform(0.0, 0.3))
            # On a busy machine it takes its time until a worker has begun: who never debits, tests nothing.
            begun = [pid for pid in workers if Path(folder, f"alive-{pid}").exists()]
            if begun and chance.random() < 0.4:
                victim = workers.pop(chance.choice(begun))
                # With its children or alone: these go on then.
                (end_group if chance.random() < 0.5 else subprocess.Popen.kill)(victim)
                victim.wait()
                killed.append(victim.pid)
                faults["kills"] += 1
                Path(folder, f"alive-{victim.pid}").unlink(missing_ok=True)
                start()
            if server is None:
                faults[disturb_file(address, chance)] += 1
            elif time.time() > next_crash:
                server.stop("immediate")
                time.sleep(chance.uniform(0, 0.5))
                server.start()
                faults["restarts"] += 1
                next_crash = time.time() + max(seconds / 8, 2.0)
            for pid, worker in workers.items():
                sign = Path(folder, f"alive-{pid}")
                assert not sign.exists() or time.time() - sign.stat().st_mtime < SILENCE, f"worker {pid} has hung"
                assert worker.poll() is None, f"worker {pid} failed"
        Path(folder, END).touch()
        for pid, worker in workers.items():
            assert worker.wait(timeout=2 * SILENCE) == 0, f"worker {pid} failed"
        wait_for_orphans(killed)
    finally:
        for worker in workers.values():
            end_group(worker)
            worker.wait()
    return {**check(address, folder), **faults}


def check(address: str, folder: str) -> dict[str, int]:
    """Compare the notes of what was released with the book."""
    accountant = sdp.Accountant.open(address)
    # A worker that is killed may leave half a note; the notes before and after it are whole.
    lines = [json.loads(note) for note in re.findall(r"\{[^{}]*\}", Path(folder, "notes").read_text())]
    entries = accountant.spends()
    debits = {row["id"] for row in entries}
    spent = [line["id"] for line in lines if "id" in line]
    values: dict[str, set[int]] = {}
    for line in lines:
        if "key" in line:
            values.setdefault(line["key"], set()).add(line["value"])
    assert len(spent) == len(set(spent)), "two releases of one debit"
    assert set(spent) <= debits, "a release without a debit"
    assert all(len(found) == 1 for found in values.values()), "a key with two releases"
    assert len(spent) + len(values) <= len(debits), "more releases than debits"
    assert accountant.spent_epsilon() == len(debits) * UNIT, "the state is not the sum of the debits"
    refused = sum("refused" in line for line in lines)
    return {"debits": len(debits), "releases": len(spent) + len(values), "refused": refused}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--worker", nargs=3)
    options = parser.parse_args()
    if options.worker:
        address, folder, seed = options.worker
        work(address, folder, int(seed))
        return
    import postgres_server

    from simplexdp.accounting.ledger.postgres_tables import setup

    with tempfile.TemporaryDirectory(dir=".") as folder:
        print("file", soak(os.path.abspath(f"{folder}/book.db"), folder, options.seconds, options.seed), flush=True)
    why = postgres_server.missing()
    if why:
        print(why)
        return
    server = postgres_server.Server()
    try:
        server.sql(setup())
        with tempfile.TemporaryDirectory() as folder:
            print("postgres", soak(server.address(), folder, options.seconds, options.seed, server), flush=True)
    finally:
        server.remove()


if __name__ == "__main__":
    main()
