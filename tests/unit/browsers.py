"""A browser for tests, which can fail them but never keep them waiting.

Now and then a headless browser does not end, and what it has started keeps its pipes open when it is killed: whoever
reads them waits for ever. It writes into files here, is ended with all that it has started, and is asked again.
"""

import contextlib
import os
import shutil
import signal
import subprocess
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome")
QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--disable-dev-shm-usage",
    "--no-first-run",
)
ATTEMPTS = 3


def ended_in_time(command: list[str], folder: Path, seconds: float) -> subprocess.CompletedProcess[str] | None:
    """Run a command and all that it starts in a session of its own; None if it did not end by itself."""
    with (folder / "stdout").open("w+") as out, (folder / "stderr").open("w+", errors="replace") as err:
        running = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=folder, start_new_session=True
        )
        try:
            code = running.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            if hasattr(os, "killpg"):
                with contextlib.suppress(ProcessLookupError):  # all have ended
                    os.killpg(running.pid, signal.SIGKILL)
            else:
                running.kill()
            running.wait()
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(command, code, out.read(), err.read())


def browser(folder: Path) -> str | None:
    """Return a browser that runs; a name on the path may be a mere pointer to a package that is not installed."""
    for name in NAMES:
        path = shutil.which(name)
        done = ended_in_time([path, "--version"], folder, 120) if path else None
        if done is not None and done.returncode == 0:
            return path
    return None


def browse(program: str, *arguments: str, folder: Path, seconds: float = 100) -> subprocess.CompletedProcess[str]:
    """Let a browser without a window do what its arguments say, in this folder."""
    for attempt in range(ATTEMPTS):
        profile = [f"--user-data-dir={folder / f'profile-{attempt}'}", "--enable-logging=stderr", "--v=0"]
        done = ended_in_time([program, *QUIET, *profile, *arguments], folder, seconds)
        if done is not None:
            assert done.returncode == 0, done.stderr[-2000:]
            return done
    raise AssertionError(f"the browser did not end in {seconds} s, {ATTEMPTS} times")
