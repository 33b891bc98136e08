"""A PostgreSQL server for tests: a real one, in a temporary folder, on a Unix socket only."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

if sys.platform != "win32":
    import pwd


def program(name: str) -> str | None:
    """Return where a program of the server is; Debian keeps them apart from the others."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(found[-1]) if found else shutil.which(name)


class Server:
    """A server with the tables of ledgers, which its user may stop, kill and start again."""

    def __init__(self) -> None:
        self._as = []
        self.folder = tempfile.mkdtemp(prefix="pg-", dir="/tmp")
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            self._as = ["runuser", "-u", "postgres", "--"]
        self.data = os.path.join(self.folder, "data")
        self._call("initdb", "-D", self.data, "-A", "trust", "-U", "owner", "--no-sync")
        self.start()

    def address(self, book: str = "default", user: str = "owner", database: str = "postgres") -> str:
        return f"postgresql://{user}@/{database}?host={self.folder}#{book}"

    def start(self) -> None:
        options = f"-k {self.folder} -c listen_addresses='' -c max_connections=60"
        log = os.path.join(self.folder, "log")
        self._call("pg_ctl", "-D", self.data, "-o", options, "-l", log, "-w", "start")

    def stop(self, mode: str = "immediate") -> None:
        """Stop it: ``"immediate"`` is a crash, from which the next start recovers."""
        self._call("pg_ctl", "-D", self.data, "-m", mode, "-w", "stop")

    def sql(self, text: str, database: str = "postgres") -> str:
        command = ["psql", "-h", self.folder, "-U", "owner", "-d", database, "-v", "ON_ERROR_STOP=1", "-qAt"]
        return subprocess.run(command, input=text, check=True, capture_output=True, text=True).stdout.strip()

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder)

    def _call(self, name: str, *arguments: str) -> None:
        command = [*self._as, program(name) or name, *arguments]
        done = subprocess.run(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd="/", timeout=300, text=True
        )
        if done.returncode:
            raise RuntimeError(f"{name}: {done.stderr}")


def missing() -> str:
    """Return what a server would need and is not there; an empty text if it can be started."""
    if sys.platform == "win32":
        return "the server of the tests is started on a Unix socket"
    if program("initdb") is None or shutil.which("psql") is None:
        return "there is no PostgreSQL server"
    if os.geteuid() == 0:
        try:
            pwd.getpwnam("postgres")
        except KeyError:
            return "there is no user postgres, and a server does not run as root"
    return ""
