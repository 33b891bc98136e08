"""``simplexdp ledger``: budgets that releases are debited from, in files and in databases."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from simplexdp._rounding import rounded
from simplexdp.cli import options
from simplexdp.cli.files import Command
from simplexdp.cli.guarantee import warn_of
from simplexdp.cli.neighbours import adjacency_of
from simplexdp.cli.writing import Output, Result, emit, warn
from simplexdp.exceptions import LedgerError

if TYPE_CHECKING:
    from simplexdp.accounting import Accountant

__all__ = ["ledger", "opened"]

MODES = {"600": 0o600, "640": 0o640, "660": 0o660}


def opened(place: str) -> Accountant:
    """Return the accountant of an existing ledger."""
    from simplexdp.accounting import Accountant
    from simplexdp.accounting.ledger import is_address

    if not is_address(place) and not os.path.exists(place):
        raise LedgerError(f"there is no ledger {place}; make it with: simplexdp ledger {place} --create EPSILON DELTA")
    return Accountant.open(place)


class _Ledgers(click.Group):
    """A group in which a file stands for the command that shows it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in (*self.commands, "-h", "--help"):
            args = ["show", *args]
        return super().parse_args(ctx, args)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage(ctx.command_path, "FILE [OPTIONS] | init | backup FILE COPY | restore COPY FILE")


@click.group(
    cls=_Ledgers,
    epilog="""\b
Examples:
  # make a budget, look at it (a file of such a name as "init": ./init)
  simplexdp ledger budget.db --create 2 1e-6
  simplexdp ledger budget.db
  simplexdp ledger budget.db --json

\b
  # keep a copy, and take it into use when the ledger is lost
  simplexdp ledger backup budget.db budget.bak
  simplexdp ledger restore budget.bak restored.db --since 0.1 1e-8

\b
  # the tables for ledgers postgresql://HOST/DATABASE#NAME, which many hosts share
  simplexdp ledger init
""",
)
def ledger() -> None:
    """Show, make, back up or restore a ledger: a budget that releases are debited from.

    Every release with --ledger FILE is debited before it is made, and refused when it does not fit. What was written
    stays, whatever happens later.
    """


place_argument = click.argument("place", type=click.Path(dir_okay=False), metavar="FILE")


@ledger.command(cls=Command)
@place_argument
@click.option("--create", type=float, nargs=2, metavar="EPSILON DELTA", help="Make it, with this budget.")
@adjacency_of("replace")
@click.option(
    "--rule",
    type=click.Choice(["auto", "pure", "gaussian", "renyi"]),
    default="auto",
    show_default=True,
    help="Of a ledger that is made: how debits add up.",
)
@click.option(
    "--planned",
    is_flag=True,
    help="Of a ledger that is made: you promise that no cost depends on an earlier answer; debits compose tightly.",
)
@click.option(
    "--mode", type=click.Choice(list(MODES)), help="Of a file that is made: 640, a group may read it; 660, spend."
)
@click.option(
    "--unit",
    metavar="COLUMN",
    help="Of a ledger that is made: whose records all debits are for; by default the first debit says it.",
)
@click.option(
    "--warn-at",
    type=options.Between(0, 1),
    default=0.8,
    show_default=True,
    metavar="SHARE",
    help="Warn when so much of the budget is used.",
)
@options.output_options
def show(
    place: str,
    create: tuple[float, float] | None,
    adjacency: Any,
    rule: Any,
    planned: bool,
    mode: str | None,
    unit: str | None,
    warn_at: float,
    out: str | None,
    form: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Show a ledger, or make one: what was debited, what is used and what is left."""
    output = Output.chosen(out, form, as_json)
    accountant = opened(place) if create is None else _made(place, create, adjacency, mode, rule, planned, unit)
    rows = list(accountant.spends())
    columns = {
        "id": [row["id"] for row in rows],
        "name": [row["label"] for row in rows],
        "on": [row["on"] for row in rows],
        "epsilon": [float(row["epsilon"]) for row in rows],
        "state": [row["state"] for row in rows],
        "time": [row["time"].isoformat(timespec="seconds") for row in rows],
    }
    spent, used = accountant.spent_epsilon(), accountant.used
    details = {
        "epsilon": accountant.epsilon,
        "delta": accountant.delta,
        "adjacency": accountant.adjacency,
        "unit": accountant.unit,
        "rule": accountant.rule.name,
        "adaptive": accountant.rule.adaptive,
        "used": used,
        "spent_epsilon": spent,
        "left_epsilon": accountant.left_epsilon(),
    }
    notes = [f"{accountant.describe()}; {_percent(1 - used, up=False)} is left."]
    emit(Result(columns, details, notes), output, quiet=quiet)
    if create is not None:
        warn_of(accountant.epsilon, quiet=quiet)
    if used >= warn_at:
        warn(f"Warning: {_percent(used, up=True)} of the budget {place} is used")


@ledger.command(cls=Command)
@click.option("--spender", default="simplexdp_spender", show_default=True, help="The role that spends.")
@click.option("--reader", default="simplexdp_reader", show_default=True, help="The role that looks.")
def init(spender: str, reader: str) -> None:
    """Print the SQL that makes the tables of ledgers in a PostgreSQL database.

    Run it once as the owner of the database, then grant the roles. A spender adds debits and can neither change nor
    remove one, nor make a ledger: the owner does.
    """
    from simplexdp.accounting.ledger.postgres_tables import setup

    for option, role in (("--spender", spender), ("--reader", reader)):
        if not (role.isascii() and role.isidentifier() and role.islower()):
            raise click.UsageError(f"{option} must be a name of small letters, digits and _, got {role!r}")
    click.echo(setup(spender, reader), nl=False)


@ledger.command(cls=Command)
@place_argument
@click.argument("copy", type=click.Path(dir_okay=False), metavar="COPY")
def backup(place: str, copy: str) -> None:
    """Copy a ledger FILE, while others use it, to COPY, which is nothing yet.

    No one can spend from the copy; 'simplexdp ledger restore' makes a ledger of it.
    """
    debits = opened(place).backup(copy)
    warn(f"wrote {debits} debits to {copy}")


@ledger.command(cls=Command)
@click.argument("source", type=click.Path(dir_okay=False), metavar="COPY")
@click.argument("place", type=click.Path(dir_okay=False), metavar="[FILE]", required=False)
@click.option(
    "--since",
    type=float,
    nargs=2,
    metavar="EPSILON DELTA",
    help="What bounds all releases since the copy was made; '0 0' if you know that there were none.",
)
@click.option("--mode", type=click.Choice(list(MODES)), help="Of the new file.")
def restore(source: str, place: str | None, since: tuple[float, float] | None, mode: str | None) -> None:
    """Make a ledger FILE of a COPY when the ledger itself is lost or damaged.

    What was spent after the copy was made is not in it. Without --since all that is left counts as spent: the ledger
    can be read, and no release fits any more. The lost ledger must never be used again. COPY may be the address of a
    database that was restored or failed over; then there is no FILE.
    """
    from simplexdp.accounting import Accountant

    accountant = Accountant.restore(source, place, since=since, mode=MODES[mode or "600"])
    left = "no release fits any more" if accountant.closed else f"{_percent(1 - accountant.used, up=False)} is left"
    warn(f"{place or source}: {accountant.debits} debits; {left}")


def _made(
    place: str,
    budget: tuple[float, float],
    adjacency: Any,
    mode: str | None,
    rule: Any,
    planned: bool,
    unit: str | None,
) -> Accountant:
    from simplexdp.accounting import Accountant
    from simplexdp.accounting.ledger import is_address

    if not is_address(place) and os.path.lexists(place):
        raise LedgerError(f"{place} exists already")
    return Accountant(
        *budget,
        adjacency=adjacency,
        path=place,
        mode=MODES[mode or "600"],
        rule=rule,
        adaptive=not planned,
        unit=unit,
    )


def _percent(share: float, *, up: bool) -> str:
    """Return what is used, rounded up, or what is left, rounded down."""
    return f"{rounded(100 * max(share, 0.0), 4, up=up)} %"
