"""``simplexdp ledger``: a budget in a file, which releases are debited from."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from simplexdp.cli import options
from simplexdp.cli.writing import Output, Result, emit
from simplexdp.exceptions import LedgerError

if TYPE_CHECKING:
    from simplexdp.accounting import Accountant

__all__ = ["ledger", "opened"]


def opened(path: str) -> Accountant:
    """Return the accountant of an existing ledger."""
    from simplexdp.accounting import Accountant

    if not os.path.exists(path):
        raise LedgerError(f"there is no ledger {path}; make it with: simplexdp ledger {path} --create EPSILON DELTA")
    return Accountant.open(path)


@click.command(
    epilog="""\b
Examples:
  simplexdp ledger budget.db --create 2 1e-6
  simplexdp ledger budget.db
"""
)
@click.argument("path", type=click.Path(dir_okay=False), metavar="FILE")
@click.option("--create", type=float, nargs=2, metavar="EPSILON DELTA", help="Make it, with this budget.")
@options.adjacency_option
@options.output_options
def ledger(
    path: str,
    create: tuple[float, float] | None,
    adjacency: Any,
    out: str | None,
    form: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Show or make a ledger: a budget that releases are debited from.

    Every release with --ledger FILE is debited before it is made, by the tight composition of all of them, and refused
    when it does not fit. What was written stays, whatever happens later.
    """
    output = Output.chosen(out, form, as_json)
    if create is not None:
        from simplexdp.accounting import Accountant

        if os.path.exists(path):
            raise LedgerError(f"{path} exists already")
        accountant = Accountant(*create, adjacency=adjacency, path=path)
    else:
        accountant = opened(path)
    rows = list(accountant.spends())
    columns = {
        "id": [row["id"] for row in rows],
        "name": [row["label"] for row in rows],
        "on": [row["on"] for row in rows],
        "epsilon": [float(row["epsilon"]) for row in rows],
        "state": [row["state"] for row in rows],
        "time": [row["time"].isoformat(timespec="seconds") for row in rows],
    }
    spent = accountant.spent_epsilon()
    details = {
        "epsilon": accountant.epsilon,
        "delta": accountant.delta,
        "adjacency": accountant.adjacency,
        "spent_epsilon": spent,
        "left_epsilon": accountant.left_epsilon(),
    }
    note = f"Spent {spent:.6g} of epsilon {accountant.epsilon:g} at delta {accountant.delta:g}, composed tightly."
    emit(Result(columns, details, [note]), output, quiet=quiet)
