"""The command line: what the library does, for people who do not write Python.

One file for each group of commands; nothing heavy is imported before a command needs it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        By default those of the process.

    Returns
    -------
    int
        0 when all went well; 1 when the request was refused (budget, bad data, not affordable, a missing extra); 2 when
        it was written wrongly; 130 when it was interrupted; 141 when nobody read the output any more.

    Examples
    --------
    >>> from simplexdp.cli import main
    >>> main(["calibrate", "--epsilon", "1", "--delta", "2", "--dimension", "3", "--total", "100"])
    2
    """
    try:
        import click  # noqa: F401
    except ModuleNotFoundError:
        print("simplexdp: the command line needs click; install it with: pip install 'simplexdp[cli]'", file=sys.stderr)
        return 1
    from simplexdp.cli.run import INTERRUPTED, leave, run

    code = run(arguments)
    if code == INTERRUPTED and arguments is None:
        leave(code)
    return code
