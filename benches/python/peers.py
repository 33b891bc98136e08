"""A peer that needs packages which ours do not go along with: in a process of its own, asked through a pipe."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any

HERE = Path(__file__).parent


class Peer:
    """A process that answers questions; the way there and back takes some 50 microseconds."""

    def __init__(self, name: str) -> None:
        self.interpreter = Path(sys.prefix) / "peers" / name / ("Scripts" if os.name == "nt" else "bin") / "python"
        self.script = HERE / f"{name}_peer.py"

    @property
    def installed(self) -> bool:
        """Whether `make bench` has made the environment."""
        return self.interpreter.exists()

    def __enter__(self) -> "Peer":
        self.process = subprocess.Popen(
            [str(self.interpreter), str(self.script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.process.stdin.close()
        self.process.wait(timeout=60)

    def ask(self, *question: Any) -> Any:
        """Wait until a question is answered."""
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self.script.name} ended; its own message is above")
        return json.loads(answer)
