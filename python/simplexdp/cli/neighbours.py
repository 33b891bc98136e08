"""``--adjacency``: what is usual for a command, unless the ledger that pays is for something else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = ["AdjacencyOption", "adjacency_of"]


Command = TypeVar("Command", bound=Callable[..., Any])


class AdjacencyOption(click.Option):
    """Which data sets are neighbours: one decision for all that is paid from one ledger, so a ledger makes it.

    Parameters
    ----------
    usual : {"replace", "add_remove"}
        Where neither the option nor a ledger says it.
    """

    def __init__(self, *args: Any, usual: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.usual = usual

    def settle(self, ctx: click.Context) -> None:
        """Decide for a command of which all other options are known."""
        assert self.name is not None
        if ctx.params[self.name] is not None:
            return
        from simplexdp.cli.guarantee import account

        found = account(ctx.params.get("ledger"), ctx.params.get("seed"))
        ctx.params[self.name] = self.usual if found is None else found.adjacency


def adjacency_of(usual: str, *, paid: bool = False) -> Callable[[Command], Command]:
    """Return the option for a command; `paid` says whether it has ``--ledger``."""
    default = f"that of the --ledger, else {usual}" if paid else usual
    return click.option(
        "--adjacency",
        cls=AdjacencyOption,
        usual=usual,
        type=click.Choice(["replace", "add_remove"]),
        help="Neighbouring data sets differ in one record replaced, and then the number of records is public; or in "
        f"one record added or removed, and then it is private.  [default: {default}]",
    )
