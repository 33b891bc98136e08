"""A ledger file under what happens to it: copies, links, renames, forks, cuts, flipped bits, full disks."""

import contextlib
import gc
import os
import pathlib
import pickle
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import time
import warnings

import pytest
from ledger_programs import PREAMBLE, UNIT, Constant, run

import simplexdp as sdp
from simplexdp.accounting.ledger import locking, place

resource = pytest.importorskip("resource", reason="what is done to files and processes here is that of Unix")


@contextlib.contextmanager
def opened(path, *, write=False):
    file = locking.open_file(str(path), write=write)
    try:
        yield file
    finally:
        locking.close(file)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.db"


@pytest.fixture
def accountant(path):
    made = sdp.Accountant(1.0, 0.0, path=path)
    made.spend(UNIT, label="first")
    return made


# -- the path and the file


def rename(path):
    path.rename(path.with_suffix(".moved"))


def delete(path):
    path.unlink()


def replace_by_another(path):
    other = path.with_suffix(".other")
    sdp.Accountant(1.0, 0.0, path=other)
    other.rename(path)


def replace_by_a_copy(path):
    other = path.with_suffix(".copy")
    shutil.copy(path, other)
    other.rename(path)


def link(path):
    os.link(path, path.with_suffix(".link"))


def make_a_folder_of_it(path):
    path.unlink()
    path.mkdir()


def empty(path):
    path.write_bytes(b"")


def turn_a_symbolic_link(path):
    other = path.with_suffix(".other")
    sdp.Accountant(1.0, 0.0, path=other)
    path.unlink()
    path.symlink_to(other)


FAULTS = {
    rename: "does not exist any more",
    delete: "does not exist any more",
    replace_by_another: "another ledger",
    replace_by_a_copy: "is a copy",
    link: "second name",
    make_a_folder_of_it: "cannot be used",
    empty: "it is empty",
    turn_a_symbolic_link: "another ledger",
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
@pytest.mark.parametrize("handle", ["used", "pickled"])
def test_a_handle_refuses_when_its_path_leads_elsewhere(accountant, path, fault, handle):
    using = accountant if handle == "used" else pickle.loads(pickle.dumps(accountant))
    fault(path)
    with pytest.raises(sdp.LedgerError, match=FAULTS[fault]):
        using.spend(UNIT)


def test_what_is_refused_spends_nothing_and_the_book_goes_on_when_it_is_back(accountant, path):
    moved = path.with_suffix(".moved")
    path.rename(moved)
    for _ in range(3):
        with pytest.raises(sdp.LedgerError):
            accountant.spend(UNIT)
    moved.rename(path)
    assert accountant.debits == 1
    assert accountant.spend(UNIT).id == 2


def test_a_renamed_ledger_is_opened_under_its_new_name(accountant, path):
    moved = path.with_suffix(".moved")
    path.rename(moved)
    sdp.Accountant.open(moved).spend(UNIT)
    assert sdp.Accountant.open(moved).debits == 2


@pytest.mark.parametrize("copy", [shutil.copy, shutil.copy2, os.link])
def test_a_copy_and_a_second_name_are_refused(accountant, path, copy):
    other = path.with_suffix(".copy")
    copy(path, other)
    with pytest.raises(sdp.LedgerError, match=r"ledger restore|second name"):
        sdp.Accountant.open(other)
    with pytest.raises(sdp.LedgerError, match=r"ledger restore|second name"):
        sdp.Accountant(1.0, 0.0, path=other)


def test_a_symbolic_link_leads_to_the_same_book(accountant, path):
    other = path.with_suffix(".alias")
    other.symlink_to(path)
    sdp.Accountant.open(other).spend(UNIT)
    assert accountant.debits == 2


def test_an_older_state_that_is_copied_into_the_file_is_noticed(accountant, path):
    try:
        os.setxattr(path, "user.simplexdp.test", b"1")
    except OSError:
        pytest.skip("this file system has no extended attributes")
    old = path.with_suffix(".old")
    shutil.copyfile(path, old)
    accountant.spend(UNIT)
    shutil.copyfile(old, path)
    with pytest.raises(sdp.LedgerError, match="not what it was"):
        accountant.spend(UNIT)
    with pytest.raises(sdp.LedgerError, match="older state"):
        sdp.Accountant.open(path)


def test_an_older_state_that_grew_to_the_same_length_is_noticed_by_who_knew_more(accountant, path, monkeypatch):
    monkeypatch.setattr(time, "time", lambda: 1.5)
    old = path.read_bytes()
    accountant.spend(UNIT, label="mine")
    size = path.stat().st_size
    other = pickle.loads(pickle.dumps(accountant))
    path.write_bytes(old)
    with contextlib.suppress(OSError):
        os.removexattr(path, "user.simplexdp.debits")
    other.spend(UNIT, label="your")
    assert path.stat().st_size == size
    for _ in range(2):
        with pytest.raises(sdp.LedgerError, match="not what it was"):
            accountant.spend(UNIT)


def test_a_file_in_another_inode_with_the_same_number_is_told_by_its_generation(accountant, path, monkeypatch):
    with opened(path) as file:
        inode, generation = place.home_of(file).split(":")
        assert place.is_home(file, f"{inode}:{generation}")
        assert place.is_home(file, f"{inode}:0")
        assert not place.is_home(file, f"{int(inode) + 1}:{generation}")
        if generation != "0":
            assert not place.is_home(file, f"{inode}:{int(generation) + 1}")


def test_a_draft_left_by_a_killed_process_does_not_lock_the_ledger(accountant, path):
    os.link(path, place.draft_of(str(path), "0123456789abcdef"))
    accountant.spend(UNIT)
    assert os.stat(path).st_nlink == 1


def test_many_processes_make_one_ledger(tmp_path):
    path = tmp_path / "ledger.db"
    code = (
        "import sys, simplexdp as sdp; sdp.Accountant(1.0, 0.0, path=sys.argv[1]).spend(sdp.PrivacyCurve.pure(2**-10))"
    )
    workers = [subprocess.Popen([sys.executable, "-c", code, path]) for _ in range(4)]
    assert [worker.wait(timeout=300) for worker in workers] == [0] * 4
    assert sdp.Accountant.open(path).debits == 4
    assert os.listdir(tmp_path) == ["ledger.db"]


def test_a_bind_mount_leads_to_the_same_book(accountant, path):
    other = path.parent / "mounted.db"
    other.touch()
    mounted = subprocess.run(["mount", "--bind", path, other], capture_output=True)
    if mounted.returncode:
        pytest.skip("this process may not mount")
    try:
        sdp.Accountant.open(other).spend(UNIT)
        assert accountant.debits == 2
    finally:
        subprocess.run(["umount", other], check=True)


# -- files that are no ledger


def test_a_foreign_file_is_never_changed(path):
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE mine (x)")
    connection.commit()
    connection.close()
    for content in (path.read_bytes(), b"", b"plain text", b"simplexdp ledger 2\n", b"simplexdp ledger 2\nS 0000"):
        path.write_bytes(content)
        before = path.stat()
        for use in (sdp.Accountant.open, lambda path: sdp.Accountant(1.0, 0.0, path=path)):
            with pytest.raises(sdp.LedgerError, match="is not a ledger"):
                use(path)
        assert path.read_bytes() == content
        assert path.stat().st_mtime_ns == before.st_mtime_ns
        assert os.listdir(path.parent) == [path.name]


def test_a_ledger_that_never_was_is_told_from_one_that_is_gone(accountant, path):
    for absent in (path.with_suffix(".absent"), path.parent / "no" / "such.db"):
        with pytest.raises(sdp.LedgerError, match="there is no ledger"):
            sdp.Accountant.open(absent)
    with pytest.raises(sdp.LedgerError, match="there is no ledger"):
        sdp.Accountant.restore(path.with_suffix(".absent"), path.with_suffix(".new"))
    path.unlink()
    with pytest.raises(sdp.LedgerError, match="does not exist any more"):
        accountant.spend(UNIT)


def test_errors_are_those_of_the_ledger(path):
    for wrong in (path.parent, path / "below", "/dev/null", "/proc/self/mem/x"):
        with pytest.raises(sdp.LedgerError):
            sdp.Accountant.open(wrong)
    path.touch(mode=0o600)


def test_a_pipe_in_place_of_a_ledger_is_refused_and_not_waited_for(accountant, path):
    pipe = path.with_suffix(".pipe")
    os.mkfifo(pipe)
    program = """
import signal, sys
import simplexdp as sdp
signal.alarm(60)
path = sys.argv[1]
try:
    {}
except sdp.LedgerError as error:
    assert "no regular file" in str(error), error
else:
    raise SystemExit("it was used")
"""
    for use in (
        "sdp.Accountant.open(path)",
        "sdp.Accountant(1.0, 0.0, path=path)",
        "sdp.Accountant.restore(path, path + '.new')",
    ):
        run(program.format(use), pipe)
    path.unlink()
    os.mkfifo(path)
    run(
        "import pickle, signal, sys, simplexdp as sdp\nsignal.alarm(60)\n"
        "accountant = pickle.loads(bytes.fromhex(sys.argv[1]))\n"
        "for use in (accountant.describe, accountant.spends, lambda: accountant.spend(sdp.PrivacyCurve.pure(0.1))):\n"
        "    try: use()\n    except sdp.LedgerError: pass\n    else: raise SystemExit(1)",
        pickle.dumps(accountant).hex(),
    )


@pytest.mark.parametrize("wrong", ["half\ud800", "~nobody-of-this-name/ledger.db"])
def test_a_path_that_names_no_file_is_an_argument_that_is_wrong(accountant, path, wrong):
    for use in (
        sdp.Accountant.open,
        accountant.backup,
        lambda place: sdp.Accountant(1.0, 0.0, path=place),
        lambda place: sdp.Accountant.restore(place, path.with_suffix(".new")),
        lambda place: sdp.Accountant.restore(path, place),
    ):
        with pytest.raises(sdp.InvalidParameterError, match=r"^(path|source) must be a path"):
            use(wrong)


def test_an_address_is_no_file(accountant, path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = sorted(os.listdir(tmp_path))
    for address in ("postgresql://", "postgres://owner:secret@host/books#one", pathlib.Path("postgresql://books")):
        for name, use in (
            ("path", accountant.backup),
            ("path", lambda place: sdp.Accountant.restore(path, place)),
            ("source", lambda place: sdp.Accountant.restore(place, path.with_suffix(".new"))),
        ):
            with pytest.raises(sdp.InvalidParameterError, match=f"^{name} must be that of a file") as caught:
                use(address)
            assert "secret" not in str(caught.value)
    assert sorted(os.listdir(tmp_path)) == before


def test_nothing_stays_open(path):
    before = len(os.listdir("/proc/self/fd"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        accountant = sdp.Accountant(1.0, 0.0, path=path)
        for _ in range(3):
            with accountant.spend(UNIT):
                pass
        accountant.table()
        assert len(os.listdir("/proc/self/fd")) == before
        del accountant
        gc.collect()
    assert os.listdir(path.parent) == [path.name]


# -- modes


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o660])
def test_the_mode_is_what_was_asked_for_whatever_the_umask(path, mode):
    umask = os.umask(0o077)
    try:
        sdp.Accountant(1.0, 0.0, path=path, mode=mode)
    finally:
        os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.parametrize("mode", [0o666, 0o644, 0o400, "660", True])
def test_other_modes_are_refused(path, mode):
    with pytest.raises(sdp.InvalidParameterError, match="mode"):
        sdp.Accountant(1.0, 0.0, path=path, mode=mode)
    assert not path.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="takes root to become another user")
def test_a_group_spends_from_one_ledger(path):
    for folder in list(path.parents)[:3]:
        folder.chmod(0o755)
    sdp.Accountant(1.0, 0.0, path=path, mode=0o660)
    os.chown(path, 0, 12345)
    code = """
import os, sys
import simplexdp as sdp
unit = sdp.PrivacyCurve.pure(2**-10); sdp.Accountant(1.0, 0.0).spend(unit)
os.setgroups([]); os.setgid(int(sys.argv[2])); os.setuid(23456)
try:
    sdp.Accountant.open(sys.argv[1]).spend(unit); print("spent")
except sdp.LedgerError as error:
    print(error)
"""
    assert run(code, path, 12345) == "spent"
    assert "Permission denied" in run(code, path, 12346)


# -- damage


def test_no_flipped_bit_lowers_what_was_spent(path):
    accountant = sdp.Accountant(1.0, 0.0, path=path)
    for label in ("a", "b"):
        accountant.spend(UNIT, label=label).released()
    accountant.release_once("key", Constant(), label="once")
    whole = path.read_bytes()
    file = os.open(path, os.O_RDWR)
    try:
        refused = 0
        for at in range(len(whole)):
            for bit in range(8):
                os.pwrite(file, bytes([whole[at] ^ (1 << bit)]), at)
                with pytest.raises(sdp.LedgerError):
                    sdp.Accountant.open(path)
                refused += 1
            os.pwrite(file, whole[at : at + 1], at)
    finally:
        os.close(file)
    assert sdp.Accountant.open(path).debits == 3
    assert refused == 8 * len(whole) > 8000


def test_every_cut_of_the_last_line_leaves_the_debits_before_it(path):
    accountant = sdp.Accountant(1.0, 0.0, path=path, durable=False)
    accountant.spend(UNIT)
    before = path.stat().st_size
    accountant.spend(UNIT, label="last")
    whole = path.read_bytes()
    for size in range(before, len(whole)):
        path.write_bytes(whole[:size])
        found = sdp.Accountant.open(path, durable=False)
        assert found.debits == 1
        assert found.spend(UNIT).id == 2
        assert sdp.Accountant.open(path).debits == 2


def test_a_damaged_middle_is_refused_by_who_opens_it_and_by_who_reads_it(accountant, path):
    for _ in range(5):
        accountant.spend(UNIT)
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 2] ^= 4
    path.write_bytes(whole)
    with pytest.raises(sdp.LedgerError, match="damaged at byte"):
        sdp.Accountant.open(path)
    with pytest.raises(sdp.LedgerError, match="damaged at byte"):
        accountant.spends()


def test_a_full_disk_refuses_and_leaves_a_sound_ledger(path):
    code = """
import resource, signal, sys
import simplexdp as sdp
accountant = sdp.Accountant(1.0, 0.0, path=sys.argv[1])
unit = sdp.PrivacyCurve.pure(2**-10)
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, resource.RLIM_INFINITY))
made = refused = 0
for _ in range(40):
    try:
        accountant.spend(unit); made += 1
    except sdp.LedgerError as error:
        assert "File too large" in str(error), error
        refused += 1
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
assert refused and accountant.debits == made == sdp.Accountant.open(sys.argv[1]).debits
accountant.spend(unit)
print(made, refused)
"""
    made, refused = map(int, run(code, path).split())
    assert made + refused == 40
    assert made > 2
    assert sdp.Accountant.open(path).debits == made + 1
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def test_a_disk_that_does_not_confirm_is_an_error(accountant, monkeypatch):
    def fail(file):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fdatasync", fail)
    with pytest.raises(sdp.LedgerError, match="does not confirm"):
        accountant.spend(UNIT)
    monkeypatch.undo()
    # It may count, and does.
    assert accountant.debits == 2


def test_a_ledger_that_someone_holds_is_waited_for_and_then_refused(accountant, path, monkeypatch):
    monkeypatch.setattr(locking, "PATIENCE", 0.2)
    with opened(path, write=True) as file:
        locking.lock(file, str(path), alone=True)
        start = time.monotonic()
        with pytest.raises(sdp.LedgerError, match="held by another process"):
            accountant.spend(UNIT)
        # Without what is set here it would be two minutes.
        assert time.monotonic() - start < 60
    accountant.spend(UNIT)


# -- forks


# Forks at every line of a debit, by a trace function: in the parent all goes on; the child, which is in the middle of
# the parent's debit, must never come out of it with a debit of its own that is not in the book.
FORK_EVERYWHERE = """
lines = 0
def trace(frame, event, arg):
    global lines, forked
    if "accounting" not in frame.f_code.co_filename: return None
    if event == "line":
        lines += 1
        if lines == stop:
            sys.settrace(None)
            forked = os.fork()
    return trace
a = sdp.Accountant.open(path); a.spend(unit)
stop, parents, offspring, refused = 0, 1, 0, 0
while True:
    lines, forked, stop = 0, None, stop + step
    sys.settrace(trace)
    try:
        with a.spend(unit): releaser = os.getpid()
        # Forked when the release was made: the child has a copy of it.
        outcome = 0 if releaser == os.getpid() else 4
    except sdp.LedgerError as error:
        assert "forked in the middle" in str(error) or "forked between" in str(error), error; outcome = 3
    sys.settrace(None)
    if forked == 0:
        # A debit outside must work again in the child.
        a.spend(unit)
        os._exit(outcome)
    assert outcome == 0
    parents += 1
    if forked is None: break
    code = os.waitstatus_to_exitcode(os.waitpid(forked, 0)[1])
    assert code in (0, 3, 4), code
    refused += code == 3
    offspring += 1 + (code == 0)
found = sdp.Accountant.open(path)
assert found.debits == parents + offspring, (found.debits, parents, offspring)
assert refused > 0 and found.spent_epsilon() == found.debits * 2.0**-10
print(stop, refused)
"""


def test_a_fork_at_any_line_of_a_debit_keeps_book_and_releases_together(path, full):
    sdp.Accountant(1.0, 0.0, path=path, durable=False)
    code = PREAMBLE.replace("-10", "-12") + f"step = {1 if full else 5}\n" + FORK_EVERYWHERE.replace("-10", "-12")
    code = code.replace("sdp.Accountant.open(path)", "sdp.Accountant.open(path, durable=False)", 1)
    print(run(code, path))


# The same by another thread: the child has none that could go on with the debit, and debits by itself at once.
FORK_BESIDE_EVERY_LINE = """
lines = 0
def beside():
    global forked
    forked = os.fork()
    if forked == 0:
        signal.alarm(300)
        try: a.spend(unit); os._exit(0)
        except BaseException as error: print(repr(error), file=sys.stderr); os._exit(1)
def trace(frame, event, arg):
    global lines
    if "accounting" not in frame.f_code.co_filename: return None
    if event == "line":
        lines += 1
        if lines == stop:
            sys.settrace(None)
            thread = threading.Thread(target=beside); thread.start(); thread.join()
    return trace
a = sdp.Accountant.open(path, durable=False); a.spend(unit)
other = sdp.Accountant.open(path, durable=False)
stop, debits = 0, 1
while True:
    lines, forked, stop = 0, None, stop + step
    # Another handle debits, so that there are lines to read and to take in.
    other.spend(unit)
    sys.settrace(trace); a.spend(unit); sys.settrace(None)
    debits += 2
    if forked is None: break
    code = os.waitstatus_to_exitcode(os.waitpid(forked, 0)[1])
    assert code == 0, code
    debits += 1
found = sdp.Accountant.open(path)
assert (found.debits, found.spent_epsilon()) == (debits, debits * 2.0**-12), (found.debits, debits)
print(stop, debits)
"""


def test_a_fork_by_another_thread_at_any_line_of_a_debit_loses_none(path, full):
    sdp.Accountant(1.0, 0.0, path=path, durable=False)
    filters = "import warnings; warnings.filterwarnings('ignore', category=DeprecationWarning)\n"
    code = filters + PREAMBLE.replace("-10", "-12") + f"step = {1 if full else 4}\n" + FORK_BESIDE_EVERY_LINE
    stop, debits = map(int, run(code, path).split())
    assert debits > stop / (1 if full else 4)


def test_a_release_in_a_child_that_was_forked_after_the_debit_is_refused(accountant):
    child = None
    try:
        with accountant.spend(UNIT):
            child = os.fork()
    except sdp.LedgerError as error:
        os._exit(0 if "forked between debit 2 and its release" in str(error) else 1)
    finally:
        if child == 0:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_child_does_not_keep_the_lock_of_a_parent_that_dies(path):
    sdp.Accountant(1.0, 0.0, path=path)
    code = """
import os, signal, sys, threading, time
import simplexdp as sdp
class Slow:
    privacy = sdp.PrivacyCurve.pure(2**-10)
    def release(self):
        drawing.set(); time.sleep(600)
drawing = threading.Event()
a = sdp.Accountant.open(sys.argv[1])
threading.Thread(target=lambda: a.release_once("slow", Slow()), daemon=True).start()
drawing.wait()
if os.fork() == 0:
    print(os.getpid(), flush=True); os.close(1); time.sleep(600)
os.kill(os.getpid(), signal.SIGKILL)
"""
    parent = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, path], stdout=subprocess.PIPE, text=True, timeout=300
    )
    assert parent.returncode == -signal.SIGKILL
    start = time.monotonic()
    try:
        accountant = sdp.Accountant.open(path)
        accountant.spend(UNIT)
        # What was being drawn was never stored, never returned and never paid for.
        assert accountant.debits == 1
    finally:
        os.kill(int(parent.stdout), signal.SIGKILL)
    # Had the child kept the lock, it would be waited for, for two minutes.
    assert time.monotonic() - start < 60


# -- backup and restore


@pytest.fixture
def backup(accountant, path):
    copy = path.with_suffix(".backup")
    assert accountant.backup(copy) == 1
    accountant.spend(UNIT, label="since")
    path.unlink()
    return copy


def test_a_backup_appears_whole_or_not_at_all(path):
    code = """
import os, resource, signal, sys
import simplexdp as sdp
path, copy = sys.argv[1:]
accountant = sdp.Accountant(1.0, 0.0, path=path)
for _ in range(20):
    accountant.spend(sdp.PrivacyCurve.pure(2**-10))
folder, before = os.path.dirname(path), os.listdir(os.path.dirname(path))
for most in range(0, os.stat(path).st_size, 97):
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
    try:
        accountant.backup(copy)
    except sdp.LedgerError as error:
        assert "File too large" in str(error), error
    else:
        raise SystemExit("a copy was written where there was no place for it")
    assert os.listdir(folder) == before, os.listdir(folder)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
assert accountant.backup(copy) == 20
assert sdp.Accountant.restore(copy, copy + ".new", since=(0, 0)).debits == 20
"""
    run(code, path, path.with_suffix(".backup"))


def test_a_backup_cannot_be_spent_from(backup):
    with pytest.raises(sdp.LedgerError, match="is a copy"):
        sdp.Accountant.open(backup)


def test_a_restored_ledger_counts_all_that_is_left_unless_it_is_told_better(backup, path):
    closed = sdp.Accountant.restore(backup, path)
    for use in (closed, sdp.Accountant.open(path), pickle.loads(pickle.dumps(closed))):
        with pytest.raises(sdp.BudgetExceededError, match="is closed: it was restored"):
            use.spend(sdp.PrivacyCurve.pure(1e-300))
        with pytest.raises(sdp.BudgetExceededError, match="is closed"):
            use.release_once("key", Constant())
        assert not use.affords(UNIT)
    assert [row["label"] for row in closed.spends()] == ["first"]


def test_a_restored_ledger_goes_on_after_what_it_is_told(backup, path):
    accountant = sdp.Accountant.restore(backup, path, since=(0.25, 0.0))
    assert accountant.spent_epsilon() == 2.0**-10 + 0.25
    assert [row["label"] for row in accountant.spends()] == ["first", "restored"]
    assert accountant.spend(UNIT).id == 3
    nothing = sdp.Accountant.restore(backup, path.with_suffix(".2"), since=(0.0, 0.0))
    assert nothing.spent_epsilon() == 2.0**-10
    with pytest.raises(sdp.BudgetExceededError, match="takes all that was left"):
        sdp.Accountant.restore(backup, path.with_suffix(".3"), since=(1.0, 0.0)).spend(UNIT)


def test_handles_of_the_lost_ledger_refuse_the_restored_one(accountant, path):
    accountant.backup(path.with_suffix(".backup"))
    path.unlink()
    sdp.Accountant.restore(path.with_suffix(".backup"), path, since=(0.0, 0.0))
    with pytest.raises(sdp.LedgerError, match="another ledger"):
        accountant.spend(UNIT)


def test_stored_releases_are_restored(accountant, path):
    accountant.release_once("key", Constant())
    accountant.backup(path.with_suffix(".backup"))
    path.unlink()
    restored = sdp.Accountant.restore(path.with_suffix(".backup"), path, since=(0.0, 0.0))
    assert restored.release_once("key", Constant("another")) == 1.5
    assert restored.debits == 2


def test_what_is_no_copy_is_not_restored(accountant, path, tmp_path):
    other = tmp_path / "text"
    other.write_text("no ledger")
    for source, target in ((other, tmp_path / "new"), (tmp_path / "none", tmp_path / "new"), (path, path)):
        with pytest.raises(sdp.LedgerError):
            sdp.Accountant.restore(source, target)
    assert not (tmp_path / "new").exists()
    with pytest.raises(sdp.LedgerError, match="exists already: nothing was copied"):
        accountant.backup(other)
    assert other.read_text() == "no ledger"


def test_of_a_damaged_ledger_the_lines_before_the_damage_are_restored(accountant, path):
    for _ in range(5):
        accountant.spend(UNIT)
    content = bytearray(path.read_bytes())
    content[-20] ^= 1
    path.write_bytes(content)
    restored = sdp.Accountant.restore(path, path.with_suffix(".new"))
    assert restored.debits == 5
    with pytest.raises(sdp.BudgetExceededError, match="is closed"):
        restored.spend(UNIT)


# -- what is told


def test_events_tell_of_debits_refusals_and_failures_and_of_no_data(path, caplog):
    seen = []
    accountant = sdp.Accountant(2.0**-9, 0.0, path=path)
    with sdp.accounting.observe(seen.append), caplog.at_level("INFO", logger="simplexdp"):
        accountant.spend(UNIT, label="secret label", on="secret target")
        accountant.release_once("secret key", Constant("secret release"))
        accountant.release_once("secret key", Constant())
        with pytest.raises(sdp.BudgetExceededError):
            accountant.spend(UNIT)
        path.unlink()
        with pytest.raises(sdp.LedgerError):
            accountant.spend(UNIT)
    assert [(event.kind, event.used, event.debit) for event in seen] == [
        ("debit", 0.5, 1),
        ("debit", 1.0, 2),
        ("stored", 1.0, 2),
        ("refusal", 1.0, None),
        ("failure", None, None),
    ]
    assert [record.levelname for record in caplog.records] == ["INFO", "INFO", "INFO", "WARNING", "WARNING"]
    assert "secret" not in caplog.text
    accountant = sdp.Accountant(1.0, 0.0)
    accountant.spend(UNIT)
    assert len(seen) == 5


def test_an_observer_that_fails_does_not_undo_a_debit(accountant, caplog):
    def fail(event):
        raise ValueError("of the observer")

    with sdp.accounting.observe(fail):
        accountant.spend(UNIT)
    assert accountant.debits == 2
    assert "an observer of the ledger failed" in caplog.text
