"""Taking a copy of a ledger into use: everything that may have been spent since it was made has to count."""

import contextlib
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from simplexdp.accounting.ledger.book import CLOSED, CURVE, DEBIT, MARK, SETTINGS
from simplexdp.accounting.ledger.errors import as_ledger_errors
from simplexdp.accounting.ledger.making import make
from simplexdp.accounting.ledger.records import MAGIC, START, Damaged, Record, scan
from simplexdp.accounting.ledger.system import system
from simplexdp.exceptions import LedgerError

__all__ = ["Charge", "restore"]


@dataclass(frozen=True)
class Charge:
    """What counts as spent since the copy was made: a debit; or all that was left, and the book is closed."""

    state: str
    costs: Sequence[tuple[str, int]]
    closed: str = ""


def restore(
    source: str, path: str, charge: Callable[[Mapping[str, str], str, bool], Charge | None], *, mode: int
) -> bool:
    """Make a ledger at `path` with all lines of the copy at `source`, and with what may have been spent since.

    Parameters
    ----------
    source : str
        A backup, a copy, or a damaged ledger, of which the lines before the damage count.
    path : str
        Where nothing is yet.
    charge : callable
        Told the settings, the state of the copy and whether it is whole; returns what counts beside it.
    mode : int
        Of the new file.

    Returns
    -------
    bool
        Whether the copy was whole.
    """
    if os.path.lexists(path):
        raise LedgerError(f"{path} exists already: nothing was restored")
    with as_ledger_errors(source, known=False):
        lines, whole = _lines(source)
    if not lines or lines[0].kind != SETTINGS:
        raise LedgerError(f"{source} is no copy of a ledger")
    head = json.loads(lines[0].body)
    debits = [line for line in lines if line.kind == DEBIT]
    state = json.loads(debits[-1].body)["state"] if debits else ""
    content = [(line.kind, line.body) for line in lines[1:]]
    charged = charge(head["settings"], state, whole)
    if charged is not None:
        recipes = [json.loads(line.body)["recipe"] for line in lines if line.kind == CURVE]
        content += _charged(charged, recipes, len(debits))
    origin = {"identity": head["identity"], "debits": len(debits), "time": round(time.time(), 6)}
    make(path, head["settings"], mode, content, {"restored": origin})
    return whole


def _charged(charged: Charge, recipes: list[str], debits: int) -> list[tuple[str, bytes]]:
    if charged.closed:
        return [(CLOSED, json.dumps({"why": charged.closed}).encode())]
    new = [recipe for recipe, _ in charged.costs if recipe not in recipes]
    recipes = [*recipes, *new]
    body = {
        "n": debits + 1,
        "time": round(time.time(), 6),
        "process": os.getpid(),
        "label": "restored",
        "on": "what may have been spent since the copy was made",
        "costs": [[recipes.index(recipe), count] for recipe, count in charged.costs],
        "state": charged.state,
    }
    curves = [(CURVE, json.dumps({"recipe": recipe}).encode()) for recipe in new]
    mark = (MARK, json.dumps({"n": debits + 1}).encode())
    return [*curves, (DEBIT, json.dumps(body).encode()), mark]


def _lines(source: str) -> tuple[list[Record], bool]:
    """Return the lines of a copy up to its end or its first damage, and whether that is all."""
    file = system.open_file(source, write=False)
    lines: list[Record] = []
    try:
        if system.read_at(file, len(MAGIC), 0) != MAGIC:
            raise LedgerError(f"{source} is no copy of a ledger")
        size = os.fstat(file).st_size
        with contextlib.suppress(Damaged):
            lines.extend(scan(file, len(MAGIC), START, size))
        whole = bool(lines) and lines[-1].end == size
    finally:
        os.close(file)
    return lines, whole
