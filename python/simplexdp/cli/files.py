"""The files of a command: none of them is written over another, nor over what it cost money to make."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import click

from simplexdp.cli.neighbours import AdjacencyOption
from simplexdp.cli.words import check_given, in_options
from simplexdp.exceptions import SimplexDpError

__all__ = ["Command", "KeepingCommand", "whole"]

OUTPUTS = ("out", "report", "card", "plot", "certificate")
"""Options that name files which are written."""

# Windows has no links to follow by these names, and would write texts.
_FLAGS = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY", "O_NOINHERIT"))

_FORCE = "simplexdp.cli.force"
_LEDGER = b"simplexdp ledger "
_RELEASED = (b'"format": "simplexdp.', b'"simplexdp Hellinger certificate')


class Command(click.Command):
    """A command that looks at all of its files before it does anything.

    Outputs have to be other files than the inputs and than each other, through whatever links; they must not be
    ledgers, nor, without ``--force``, what was released as a model or certified; and it must be possible to write them.
    What the library refuses is said of the command's own options.
    """

    keeps_all = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if any(param.name in OUTPUTS for param in self.params):
            help = "Replace the file of --out." if self.keeps_all else "Replace a released model or a certificate."
            option = click.Option(["--force"], is_flag=True, expose_value=False, help=help, callback=_note)
            self.params.append(option)

    def invoke(self, ctx: click.Context) -> Any:
        """Check the files, then run."""
        check_given(self.params, ctx.params)
        outputs, inputs = _files_of(self, ctx.params)
        for option, path in outputs.items():
            _check_writable(option, path)
            _check_kept(option, path, force=ctx.meta.get(_FORCE, False), all_files=self.keeps_all)
        _check_apart(outputs, inputs)
        try:
            for param in self.params:
                if isinstance(param, AdjacencyOption):
                    param.settle(ctx)
            return super().invoke(ctx)
        except SimplexDpError as error:
            if error.args:
                error.args = (in_options(str(error.args[0]), self.params), *error.args[1:])
            raise


class KeepingCommand(Command):
    """A command whose outputs cost something: it replaces no file without ``--force``."""

    keeps_all = True


def _note(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    ctx.meta[_FORCE] = value


def _files_of(command: click.Command, values: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the paths that are written and those that are read, by the names of their options."""
    outputs: dict[str, str] = {}
    inputs: dict[str, str] = {}
    for param in command.params:
        path = values.get(param.name or "")
        if not (isinstance(param.type, click.Path) and param.type.file_okay and isinstance(path, str)):
            continue
        name = param.opts[0] if isinstance(param, click.Option) else str(param.human_readable_name)
        if path != "-":
            (outputs if param.name in OUTPUTS else inputs)[name] = path
        elif param.name not in OUTPUTS:
            inputs["standard input"] = "/dev/stdin"
    return outputs, inputs


def _check_writable(option: str, path: str) -> None:
    """Refuse a file that cannot be written, by making one beside it, before anything is spent."""
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise click.UsageError(f"the directory of {option} {path} does not exist")
    try:
        if os.path.lexists(path) and not _is_replaced(path):
            if not os.access(path, os.W_OK):
                raise PermissionError(13, "Permission denied")
            return
        if os.path.isfile(path):
            os.close(os.open(path, os.O_WRONLY))
        with suppress(FileNotFoundError):
            os.lstat(path)
        draft = _draft_beside(path)
        os.close(_made(draft))
        os.unlink(draft)
    except OSError as error:
        raise click.UsageError(f"{option} {path} cannot be written: {error.strerror}") from None


def _check_kept(option: str, path: str, *, force: bool, all_files: bool) -> None:
    if not os.path.isfile(path) or not _is_replaced(path):
        return
    with suppress(OSError), open(path, "rb") as file:
        start = file.read(1 << 16)
        if start.startswith(_LEDGER):
            raise click.UsageError(f"{option} {path} is a ledger, which is never written over")
        if force or not start:
            return
        if all_files:
            raise click.UsageError(f"{option} {path} exists; --force replaces it")
        if any(sign in start for sign in _RELEASED):
            raise click.UsageError(f"{option} {path} holds a released model or a certificate; --force replaces it")


def _check_apart(outputs: Mapping[str, str], inputs: Mapping[str, str]) -> None:
    """Refuse outputs that are inputs, or each other."""
    seen = [(identity, name, path) for name, path in inputs.items() for identity in _identities(path)]
    for option, path in outputs.items():
        for identity in _identities(path):
            for other, name, there in seen:
                if identity == other:
                    raise click.UsageError(f"{option} {path} and {name} {there} are the same file")
        seen += [(identity, option, path) for identity in _identities(path)]


def _identities(path: str) -> list[tuple[Any, ...]]:
    """Return what a file is known by: its inode, and where its name leads; nothing for devices and pipes."""
    found: list[tuple[Any, ...]] = []
    with suppress(OSError):
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            return []
        found.append((status.st_dev, status.st_ino))
    return [*found, (os.path.realpath(path),)]


def _is_replaced(path: str) -> bool:
    """Whether a new file takes the place of what is there; devices and pipes are written into."""
    return not os.path.exists(path) or os.path.isfile(path)


def _draft_beside(path: str) -> str:
    """Return a name that no one can guess, in the folder of a file."""
    return os.path.join(os.path.dirname(path), f".simplexdp-{secrets.token_hex(12)}.part")


def _made(draft: str) -> int:
    """Make a file that was not there, through no link."""
    return os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | _FLAGS, 0o666)


@contextmanager
def whole(path: str) -> Iterator[str]:
    """Give the path of a file that takes the place of `path` once it is complete; of a pipe or a device, its own.

    Nothing is written through a link at `path`: the file takes its place. What fails leaves everything as it was.
    """
    if not _is_replaced(path):
        yield path
        return
    draft = _draft_beside(path)
    file = _made(draft)
    try:
        os.close(file)
        if os.path.isfile(path) and not os.path.islink(path):
            os.chmod(draft, stat.S_IMODE(os.stat(path).st_mode))
        yield draft
        os.replace(draft, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(draft)
        raise
