"""The ledger file where there is nothing but what Windows has; faked, for lack of one."""

import subprocess
import sys
from pathlib import Path

import pytest

import simplexdp as sdp

FAKED = Path(__file__).with_name("faked_windows.py")

PREAMBLE = """
import os, shutil, sys, threading
import simplexdp as sdp
from simplexdp.accounting.ledger import locking, windows
from simplexdp.accounting.ledger.system import system
assert system is windows
path, unit = sys.argv[1], sdp.PrivacyCurve.pure(2.0**-10)
def refused(call, text):
    try: call()
    except sdp.SimplexDpError as error: assert text in str(error), error
    else: raise AssertionError(f"not refused: {text}")
"""

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the fake is made of Linux")


def start(code: str, *arguments: object) -> subprocess.Popen:
    command = [sys.executable, "-W", "error", FAKED, PREAMBLE + code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(code: str, *arguments: object) -> None:
    process = start(code, *arguments)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors


def test_processes_and_threads_share_the_book(tmp_path):
    path = tmp_path / "ledger.db"
    code = """
a = sdp.Accountant(1.0, 0.0, path=path)
def work():
    for _ in range(20): a.spend(unit).released()
threads = [threading.Thread(target=work) for _ in range(2)]
[t.start() for t in threads]; [t.join() for t in threads]
"""
    workers = [start(code, path) for _ in range(3)]
    for worker in workers:
        _, errors = worker.communicate(timeout=300)
        assert worker.returncode == 0, errors
    run(
        "found = sdp.Accountant.open(path); assert (found.debits, found.spent_epsilon()) == (120, 120 * 2.0**-10)", path
    )
    assert [file.name for file in tmp_path.iterdir()] == ["ledger.db"]


def test_what_is_killed_in_the_middle_leaves_all_or_nothing(tmp_path):
    path = tmp_path / "ledger.db"
    worker = start("a = sdp.Accountant(1.0, 0.0, path=path)\nwhile True: print(a.spend(unit).id, flush=True)", path)
    made = [worker.stdout.readline() for _ in range(20)][-1]
    worker.kill()
    worker.communicate()
    run(
        "n = sdp.Accountant.open(path).debits; assert n >= int(sys.argv[2]); sdp.Accountant.open(path).spend(unit)",
        path,
        made,
    )


def test_copies_second_names_and_absent_files_are_refused(tmp_path):
    run(
        """
refused(lambda: sdp.Accountant.open(path), "there is no ledger")
a = sdp.Accountant(1.0, 0.0, path=path); a.spend(unit)
shutil.copyfile(path, path + ".copy"); refused(lambda: sdp.Accountant.open(path + ".copy"), "is a copy")
os.link(path, path + ".link"); refused(lambda: a.spend(unit), "second name"); os.unlink(path + ".link")
os.rename(path, path + ".moved"); refused(lambda: a.spend(unit), "does not exist any more")
sdp.Accountant(1.0, 0.0, path=path); refused(lambda: a.spend(unit), "another ledger")
os.unlink(path); os.rename(path + ".moved", path); a.spend(unit)
refused(lambda: sdp.Accountant(1.0, 0.0, path=path + ".group", mode=0o660), "mode must be 0o600 on this system")
refused(lambda: sdp.Accountant(1.0, 0.0, path=os.path.dirname(path)), "cannot be used")
assert a.debits == 2
""",
        tmp_path / "ledger.db",
    )


def test_backups_and_stored_releases(tmp_path):
    run(
        """
class Draw:
    privacy, drawn = unit, 0
    def release(self): Draw.drawn += 1; return [1.5, Draw.drawn]
a = sdp.Accountant(1.0, 0.0, path=path)
assert a.release_once("key", Draw()) == a.release_once("key", Draw()) == [1.5, 1]
assert a.backup(path + ".bak") == 1
refused(lambda: sdp.Accountant.open(path + ".bak"), "is a copy")
b = sdp.Accountant.restore(path + ".bak", path + ".new", since=(0, 0))
assert b.release_once("key", Draw()) == [1.5, 1] and b.debits == 1
refused(lambda: b.spend(sdp.PrivacyCurve.pure(1.0)), "does not fit")
assert [row["state"] for row in b.spends()] == ["released"]
""",
        tmp_path / "ledger.db",
    )


def test_a_lock_that_is_held_is_waited_for_and_then_refused(tmp_path):
    run(
        """
a = sdp.Accountant(1.0, 0.0, path=path)
locking.PATIENCE = 0.2
file = locking.open_file(path, write=True); locking.lock(file, path, alone=True)
refused(lambda: a.spend(unit), "held by another process")
import msvcrt
told, numbers = msvcrt.locking, iter((0, 28))
def like_wine(*arguments):
    try: told(*arguments)
    except PermissionError: raise OSError(next(numbers), "Error") from None
msvcrt.locking = like_wine
refused(lambda: a.spend(unit), "cannot be used: Error")
assert next(numbers, None) is None, "the error without a number was not taken for a lock that is held"
msvcrt.locking = told
locking.unlock(file); locking.close(file); a.spend(unit)
""",
        tmp_path / "ledger.db",
    )


def test_a_ledger_is_the_same_file_on_both_systems(tmp_path):
    path = tmp_path / "ledger.db"
    sdp.Accountant(1.0, 0.0, path=path).spend(sdp.PrivacyCurve.pure(0.25))
    run("a = sdp.Accountant.open(path); a.spend(sdp.PrivacyCurve.pure(0.5)); assert a.spent_epsilon() == 0.75", path)
    assert sdp.Accountant.open(path).spent_epsilon() == 0.75
