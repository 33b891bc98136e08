"""The command line through its real entry points, in processes of their own."""

import shutil
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from cli_files import BUDGET, JOBS, people

MODULE = [sys.executable, "-m", "simplexdp"]
SCRIPT = Path(sysconfig.get_path("scripts")) / "simplexdp"


def run(*arguments, program=MODULE, **options):
    return subprocess.run([*program, *arguments], capture_output=True, text=True, timeout=300, **options)


def test_the_script_and_the_module_say_the_same():
    if not SCRIPT.exists():
        pytest.skip("the package is not installed with its script")
    assert run("--help", program=[SCRIPT]).stdout == run("--help").stdout


def test_help_lists_every_command_and_imports_nothing_heavy():
    code = (
        "import sys; from simplexdp.cli import main; code = main(['--help']);"
        "heavy = {'numpy', 'pyarrow', 'sklearn', 'matplotlib', 'narwhals', 'pandas'} & set(sys.modules);"
        "print(sorted(heavy)); sys.exit(code)"
    )
    done = run("-c", code, program=[sys.executable])
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "[]"
    assert all(f"  {name} " in done.stdout for name in ("release", "fit-bn", "synthesize", "completion"))


def test_a_pipe_goes_in_and_csv_comes_out():
    done = run("release", *JOBS, *BUDGET, input=people())
    assert done.returncode == 0, done.stderr
    header, *rows = done.stdout.splitlines()
    assert header.startswith("job,share,")
    assert sum(float(row.split(",")[1]) for row in rows) == pytest.approx(1.0, abs=1e-12)
    assert "Guarantee: 1-differential privacy when one record is replaced" in done.stderr


def test_parquet_goes_in_and_comes_out(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    source, target = tmp_path / "ages.parquet", tmp_path / "shares.parquet"
    pq.write_table(pa.table({"age": [1, 2, 2, 3, 3, 3] * 50, "other": ["x"] * 300}), source)
    done = run("release", source, "--column", "age", "--domain", "1..3", *BUDGET, "--out", target)
    assert done.returncode == 0, done.stderr
    table = pq.read_table(target)
    assert table.column_names[:2] == ["age", "share"]
    assert sum(table["share"].to_pylist()) == pytest.approx(1.0, abs=1e-12)
    assert b"simplexdp" in table.schema.metadata


@pytest.mark.parametrize(
    "arguments, code",
    [
        (["calibrate", *BUDGET, "--dimension", "3", "--total", "100"], 0),
        (["release", *JOBS, *BUDGET], 1),  # an empty file
        (["certify", "--prior", "1,1", "--n", "10000000", "--epsilon", "1"], 1),  # not affordable
        (["release", *BUDGET], 2),
        (["calibrate", "--epsilon", "1", "--delta", "-1", "--dimension", "3", "--total", "100"], 2),
        (["nonsense"], 2),
    ],
)
def test_exit_codes(arguments, code):
    done = run(*arguments, input="")
    assert done.returncode == code
    assert "Traceback" not in done.stderr


def test_a_reader_that_has_enough_is_no_error(tmp_path):
    (tmp_path / "people.csv").write_text(people())
    run("release", "people.csv", *JOBS, *BUDGET, "--out", "shares.json", cwd=tmp_path)
    code = f"'{sys.executable}' -m simplexdp synthesize shares.json --size 300000 | head -1"
    if shutil.which("bash") is None:
        pytest.skip("no bash")
    done = run("-c", f"{code}; echo ${{PIPESTATUS[0]}}", program=["bash"], cwd=tmp_path)
    assert done.stdout.splitlines() == ["job", "141"]
    assert done.stderr == ""


def interrupted(process):
    """Interrupt a process at work and check how it ends."""
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 130, errors
    assert b"interrupted" in errors
    assert b"Traceback" not in errors


def heeding_interrupts():
    """Undo what a shell does to processes in the background: they, and their children, ignore the interrupt."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


PIPES = {
    "stdin": subprocess.PIPE,
    "stdout": subprocess.PIPE,
    "stderr": subprocess.PIPE,
    "preexec_fn": heeding_interrupts,
}


def test_an_interrupt_while_records_are_drawn_ends_with_130(tmp_path):
    (tmp_path / "people.csv").write_text(people())
    run("release", "people.csv", *JOBS, *BUDGET, "--out", "shares.json", cwd=tmp_path)
    with subprocess.Popen(
        [*MODULE, "synthesize", "shares.json", "--size", str(10**9)], cwd=tmp_path, **PIPES
    ) as process:
        assert process.stdout.readline() == b"job\n"  # it is at work
        interrupted(process)


def test_an_interrupt_while_records_are_awaited_ends_with_130():
    with subprocess.Popen([*MODULE, "release", *JOBS, *BUDGET], **PIPES) as process:
        process.stdin.write(b"job\n" + b"clerk\n" * 500_000)  # more than fits into the pipe: it is reading
        process.stdin.flush()
        interrupted(process)


def test_a_model_without_its_extra_names_it(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\nx,1\n")
    (tmp_path / "d.json").write_text('{"a": ["x", "y"], "b": [1, 2]}')
    code = (
        "import sys; sys.modules['sklearn'] = None; from simplexdp.cli import main;"
        f"sys.exit(main(['fit-bn', 'a.csv', '--domains', 'd.json', *{list(BUDGET)!r}]))"
    )
    done = run("-c", code, program=[sys.executable], cwd=tmp_path)
    assert done.returncode == 1
    assert "simplexdp[models]" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("missing, extra", [("click", "cli"), ("pyarrow", "cli"), ("matplotlib", "plots")])
def test_a_missing_extra_is_named(missing, extra, tmp_path):
    code = (
        f"import sys; sys.modules[{missing!r}] = None; from simplexdp.cli import main;"
        f"sys.exit(main(['release', {str(tmp_path / 'a.csv')!r}, '--column', 'a', '--domain', 'x,y', '--epsilon', '1',"
        f" '--delta', '1e-6', *({['--plot', 'a.png'] if missing == 'matplotlib' else []})]))"
    )
    (tmp_path / "a.csv").write_text("a\nx\n")
    done = run("-c", code, program=[sys.executable])
    assert done.returncode == 1
    assert f"simplexdp[{extra}]" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_page_needs_no_matplotlib(tmp_path):
    (tmp_path / "a.csv").write_text("a\nx\ny\nx\n")
    code = (
        "import sys; sys.modules['matplotlib'] = None; from simplexdp.cli import main;"
        "sys.exit(main(['release', 'a.csv', '--column', 'a', '--domain', 'x,y', '--epsilon', '1',"
        " '--report', 'a.html']))"
    )
    done = run("-c", code, program=[sys.executable], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "<svg" in (tmp_path / "a.html").read_text(encoding="utf-8")


def test_memory_does_not_grow_with_the_rows_in_a_pipe():
    """The peak of the process for five million rows beside that for one million."""
    status = Path("/proc/self/status")
    if not status.exists():
        pytest.skip("the peak of a process is read from /proc")
    # Of the process since it began: what getrusage gives begins with the peak of its parent.
    code = (
        "import sys; from pathlib import Path; from simplexdp.cli import main;"
        f"code = main(['release', '-q', *{[*JOBS, *BUDGET]!r}]);"
        f"print(Path({str(status)!r}).read_text().partition('VmHWM:')[2].split()[0]); sys.exit(code)"
    )
    block = "".join(f"{'clerk' if i % 3 else 'nurse'},some text of record {i}\n" for i in range(100_000))
    peaks = []
    for blocks in (10, 50):
        done = run("-c", code, program=[sys.executable], input="job,text\n" + block * blocks)
        assert done.returncode == 0, done.stderr
        peaks.append(int(done.stdout.splitlines()[-1]))
    # In kilobytes. The second pipe held 112 MB more, all of which would be seen. How far the reader is ahead depends on
    # the load of the machine: 0 to 23 MB were seen.
    assert peaks[1] - peaks[0] < 80_000
