"""Run a command and turn whatever goes wrong into one line on standard error and an exit code."""

from __future__ import annotations

import os
import signal
import sys
import traceback
import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NoReturn

import click

from simplexdp.cli.app import OutputClosed, app
from simplexdp.cli.harmless import visible
from simplexdp.cli.words import in_options, shortened
from simplexdp.exceptions import InvalidParameterError, SimplexDpError

__all__ = ["INTERRUPTED", "leave", "run"]

REFUSED, USAGE, INTERRUPTED, BROKEN_PIPE = 1, 2, 130, 141

_EXTRAS = {
    "pyarrow": "cli",
    "narwhals": "cli",
    "sklearn": "models",
    "matplotlib": "plots",
    "dp_accounting": "accounting",
    "psycopg": "postgres",
}


class _Interrupts:
    """Remembers whether the user interrupted: what comes out of compiled code then may be another error."""

    def __init__(self) -> None:
        self.seen = False

    def __enter__(self) -> _Interrupts:
        try:
            self._before = signal.getsignal(signal.SIGINT)
            # Whoever ignores interrupts, or handles them, goes on doing so.
            if self._before is signal.default_int_handler:
                signal.signal(signal.SIGINT, self._handle)
        except ValueError:  # not the main thread, which alone handles signals
            self._before = None
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._before)

    def _handle(self, *_: object) -> None:
        self.seen = True
        raise KeyboardInterrupt


def run(arguments: Sequence[str] | None) -> int:
    """Return the exit code of one call; nothing of the data is in a message, and no traceback is printed."""
    with warnings.catch_warnings(), _Interrupts() as interrupts:
        warnings.showwarning = _show_warning
        try:
            given = sys.argv[1:] if arguments is None else list(arguments)
            # What a report tells of how it was made.
            result = app.main(given, prog_name="simplexdp", standalone_mode=False, obj=tuple(given))
            sys.stdout.flush()
            return result if isinstance(result, int) else 0
        except BaseException as error:
            return _code_of(KeyboardInterrupt() if interrupts.seen else error)


def leave(code: int) -> NoReturn:
    """End the process at once: a reader that was interrupted may send the signal again while it is cleared away."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _code_of(error: BaseException) -> int:
    """Say what went wrong and return the exit code for it."""
    if isinstance(error, (click.Abort, KeyboardInterrupt)):
        click.echo("interrupted: nothing more was released", err=True)
        return INTERRUPTED
    if isinstance(error, (OutputClosed, BrokenPipeError)):
        # What is still buffered must not be flushed into the closed pipe when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else REFUSED
    if isinstance(error, click.ClickException):
        vars(error)["message"] = shortened(error.message)
        error.show()
        return error.exit_code
    if isinstance(error, InvalidParameterError):
        return _complain(str(error), USAGE)
    if isinstance(error, SimplexDpError):
        return _complain(str(error), REFUSED)
    module = _missing(error)
    if module is not None:
        return _complain(
            f"this command needs {module}; install it with: pip install 'simplexdp[{_EXTRAS[module]}]'", REFUSED
        )
    if isinstance(error, OSError) and error.strerror is not None:
        where = "" if error.filename is None else f"{error.filename}: "
        return _complain(f"{where}{error.strerror}", REFUSED)
    if isinstance(error, MemoryError):
        return _complain("not enough memory", REFUSED)
    if os.environ.get("SIMPLEXDP_TRACEBACK"):
        traceback.print_exception(error)
    # The message of an error that nobody foresaw may quote data.
    return _complain(
        f"unexpected {type(error).__name__}; its message is not shown, because it may quote data "
        "(SIMPLEXDP_TRACEBACK=1 shows it)",
        REFUSED,
    )


def _missing(error: BaseException | None) -> str | None:
    """Return which optional dependency an error says is missing; modules of ours wrap the error of the import."""
    while isinstance(error, ImportError):
        module = (error.name or "").partition(".")[0]
        if module in _EXTRAS:
            return module
        error = error.__cause__
    return None


def _complain(message: str, code: int) -> int:
    click.echo(visible(f"Error: {shortened(message)}"), err=True)
    return code


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    click.echo(visible(f"Warning: {in_options(str(message), ())}"), err=True)
