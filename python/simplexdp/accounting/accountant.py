"""A privacy budget that is debited before anything is released, and that copies cannot multiply."""

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator
from datetime import datetime, timezone
from types import TracebackType
from typing import Any, get_args

from simplexdp._arguments import choice, flag, integer, non_negative, number
from simplexdp.accounting import recipes
from simplexdp.accounting.composition import compose
from simplexdp.accounting.curve import Adjacency, PrivacyCurve
from simplexdp.accounting.ledger import Holding, Ledger, absolute, settings_of
from simplexdp.exceptions import BudgetExceededError, InvalidParameterError


class Accountant:
    """A budget of (epsilon, delta) for everything that is released from one data set.

    Every debit is written to a ledger file, in one transaction with the check that it fits, before anything is
    released. What counts is the file: copying, deep-copying, cloning or pickling an accountant gives another handle
    of the same ledger, in whatever thread or process it ends up. See docs/composition.md for what survives a
    crash or a power failure.

    Parameters
    ----------
    epsilon : float
        Budget, above zero.
    delta : float
        Budget, in [0, 1). With zero, only pure curves can be spent.
    adjacency : {"replace", "add_remove"}, default "replace"
        Of every curve that is spent.
    path : path-like, optional
        The ledger file, made if there is none; an existing one must have been made with the same budget. Without a
        path, a temporary file that is removed when the process that made it ends: after that, handles in other
        processes refuse.
    durable : bool, default True
        For a ledger at `path`: wait for the disk at every debit, so that debits also survive a power failure. Without
        it they survive any death of the process, but the last ones not a power failure.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> accountant = sdp.Accountant(1.0, 1e-6)
    >>> release = sdp.PrivacyCurve.gaussian(sigma=20.0)
    >>> with accountant.spend(release, label="alice", on="ages") as spend:
    ...     pass  # release here
    >>> accountant.spent_epsilon() < 0.3, accountant.affords(release, 100)
    (True, False)
    """

    def __init__(
        self,
        epsilon: float,
        delta: float,
        *,
        adjacency: Adjacency = "replace",
        path: str | os.PathLike[str] | None = None,
        durable: bool = True,
    ) -> None:
        epsilon, delta = non_negative("epsilon", epsilon), number("delta", delta)
        if not (epsilon > 0 and 0 <= delta < 1):
            raise InvalidParameterError(f"epsilon must be positive and delta in [0, 1), got {epsilon} and {delta}")
        choice("adjacency", adjacency, get_args(Adjacency))
        settings = settings_of(epsilon=epsilon, delta=delta, adjacency=adjacency)
        # A temporary ledger is gone after a power failure in any case.
        durable = flag("durable", durable) and path is not None
        ledger = Ledger.create(_temporary() if path is None else absolute(path), settings, durable=durable)
        self._set(epsilon, delta, adjacency, ledger)

    def _set(self, epsilon: float, delta: float, adjacency: Adjacency, ledger: Ledger) -> None:
        self._epsilon, self._delta, self._adjacency, self._ledger = epsilon, delta, adjacency, ledger

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, durable: bool = True) -> "Accountant":
        """Return the accountant of an existing ledger, with the budget that it was made with.

        Parameters
        ----------
        path : path-like
            The ledger file.
        durable : bool, default True
            As for `Accountant`.

        Returns
        -------
        Accountant

        Examples
        --------
        >>> import simplexdp as sdp
        >>> made = sdp.Accountant(1.0, 1e-6)
        >>> sdp.Accountant.open(made.path).epsilon
        1.0
        """
        found = Ledger.read_settings(absolute(path))
        budget = float.fromhex(found["epsilon"]), float.fromhex(found["delta"])
        adjacency: Adjacency = "replace" if found["adjacency"] == "replace" else "add_remove"
        return cls(*budget, adjacency=adjacency, path=path, durable=durable)

    def __copy__(self) -> "Accountant":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "Accountant":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        ledger = self._ledger
        state = (self._epsilon, self._delta, self._adjacency, ledger.path, ledger.identity, ledger.durable)
        return _reopen, state

    def __repr__(self) -> str:
        return f"Accountant(epsilon={self._epsilon:g}, delta={self._delta:g}, adjacency={self._adjacency!r})"

    @property
    def epsilon(self) -> float:
        """The budget's epsilon."""
        return self._epsilon

    @property
    def delta(self) -> float:
        """The budget's delta."""
        return self._delta

    @property
    def adjacency(self) -> Adjacency:
        """Which data sets are neighbours."""
        return self._adjacency

    @property
    def path(self) -> str:
        """The ledger file."""
        return self._ledger.path

    @property
    def debits(self) -> int:
        """How many debits were made."""
        return len(self._ledger.entries())

    def spend(self, curve: PrivacyCurve, *, count: int = 1, label: str = "", on: str = "") -> "Spend":
        """Debit the cost of a release that is about to be made.

        Parameters
        ----------
        curve : PrivacyCurve
            What the release costs.
        count : int, default 1
            How many releases of that cost.
        label, on : str
            Who releases, and from what; public text, for `spends` and `table`.

        Returns
        -------
        Spend
            May be used in a ``with`` block around the release, which then is noted as made. The debit counts in any
            case: what happened before an exception or a crash cannot be known.

        Raises
        ------
        BudgetExceededError
            If all debits with this one are not proved to be within the budget; nothing is written.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> accountant = sdp.Accountant(1.0, 0.0)
        >>> accountant.spend(sdp.PrivacyCurve.pure(0.75), label="bob").id
        1
        >>> accountant.spend(sdp.PrivacyCurve.pure(0.75))
        Traceback (most recent call last):
        ...
        simplexdp.exceptions.BudgetExceededError: 1 release of PrivacyCurve(pure(epsilon=0.75), adjacency='replace', \
exact=False) does not fit: 0.75 of epsilon 1 is spent at delta 0
        """
        count = integer("count", count, 1)
        self._check(curve)
        recipe = recipes.to_text(curve)

        def check(holdings: list[Holding], asked: str, count: int) -> dict[str, int]:
            spent = {holding.recipe: holding.spent for holding in holdings}
            wanted = {**spent, asked: spent.get(asked, 0) + count}
            if not self._fits(wanted):
                self._refuse(curve, count, spent)
            # Room for more of the same is proved along, so that most debits need no composition.
            need = wanted[asked]
            for ahead in (2 * need, need + need // 4):
                if ahead > need and self._fits({**wanted, asked: ahead}):
                    return {**wanted, asked: ahead}
            return wanted

        number = self._ledger.debit(recipe, curve.label or repr(curve), count, label, on, check)
        return Spend(self._ledger, number)

    def release(self, mechanism: Any, *args: Any, label: str = "", on: str = "", **kwargs: Any) -> Any:
        """Debit ``mechanism.privacy``, then return ``mechanism.release(*args, **kwargs)``.

        Parameters
        ----------
        mechanism : object
            With a ``privacy`` curve that covers one call of its ``release``.
        *args, **kwargs
            For ``release``.
        label, on : str
            As for `spend`.

        Returns
        -------
        object
            What the mechanism releases.
        """
        if not callable(getattr(mechanism, "release", None)) or not hasattr(mechanism, "privacy"):
            raise InvalidParameterError(f"mechanism must have privacy and release, got {type(mechanism).__name__}")
        with self.spend(mechanism.privacy, label=label, on=on):
            return mechanism.release(*args, **kwargs)

    def affords(self, curve: PrivacyCurve, count: int = 1) -> bool:
        """Return whether a debit would be accepted now; another process may spend in between.

        Parameters
        ----------
        curve : PrivacyCurve
            What the release would cost.
        count : int, default 1
            How many of them.

        Returns
        -------
        bool

        Examples
        --------
        >>> import simplexdp as sdp
        >>> sdp.Accountant(1.0, 0.0).affords(sdp.PrivacyCurve.pure(0.5), 2)
        True
        """
        self._check(curve)
        spent = self._spent()
        recipe = recipes.to_text(curve)
        return self._fits({**spent, recipe: spent.get(recipe, 0) + integer("count", count, 1)})

    @property
    def privacy(self) -> PrivacyCurve | None:
        """The curve of everything that was debited; none before the first debit."""
        spent = self._spent()
        return _total(spent) if spent else None

    def spent_epsilon(self) -> float:
        """Return the epsilon of everything that was debited, at the budget's delta.

        Returns
        -------
        float

        Examples
        --------
        >>> import simplexdp as sdp
        >>> sdp.Accountant(1.0, 1e-6).spent_epsilon()
        0.0
        """
        return self._epsilon_of(self._spent())

    def left_epsilon(self) -> float:
        """Return the budget's epsilon less what was spent of it.

        Composition is not additive: what still can be released is told by `affords`.

        Returns
        -------
        float

        Examples
        --------
        >>> import simplexdp as sdp
        >>> sdp.Accountant(1.0, 1e-6).left_epsilon()
        1.0
        """
        return max(self._epsilon - self.spent_epsilon(), 0.0)

    def spends(self, *, label: str | None = None, on: str | None = None) -> list[dict[str, Any]]:
        """Return the debits in order, all or those of one label or target.

        Parameters
        ----------
        label, on : str, optional
            Which ones.

        Returns
        -------
        list of dict
            With keys ``id``, ``label``, ``on``, ``curve``, ``count``, ``epsilon`` (of this debit alone, at the budget's
            delta), ``state`` (``"reserved"`` until the release was noted as made), ``time`` and ``process``.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> accountant = sdp.Accountant(1.0, 1e-6)
        >>> spend = accountant.spend(sdp.PrivacyCurve.pure(0.25), label="alice")
        >>> [(row["count"], round(row["epsilon"], 3)) for row in accountant.spends(label="alice")]
        [(1, 0.25)]
        """
        return [row for row in self._rows() if label in (None, row["label"]) and on in (None, row["on"])]

    def running_total(self, last: int | None = None) -> list[tuple[str, float]]:
        """Return the epsilon of everything that was debited, after each debit, at the budget's delta.

        Parameters
        ----------
        last : int, optional
            How many debits to tell of, the latest; by default all. Each takes a composition.

        Returns
        -------
        list of (str, float)
            What the debit was for (label, target and count) and the total after it.

        Examples
        --------
        >>> import simplexdp as sdp
        >>> accountant = sdp.Accountant(1.0, 0.0)
        >>> spend = accountant.spend(sdp.PrivacyCurve.pure(0.125), label="alice", on="ages", count=2)
        >>> accountant.running_total()
        [('alice: ages x 2', 0.25)]
        """
        holdings = {holding.id: holding.recipe for holding in self._ledger.holdings()}
        entries = list(self._ledger.entries())
        silent = 0 if last is None else max(len(entries) - integer("last", last, 0), 0)
        spent: dict[str, int] = {}
        path = []
        for index, entry in enumerate(entries):
            recipe = holdings[entry.curve]
            spent[recipe] = spent.get(recipe, 0) + entry.count
            if index >= silent:
                name = ": ".join(filter(None, (entry.label, entry.target))) or f"debit {entry.id}"
                path.append((name + f" x {entry.count}" * (entry.count > 1), self._epsilon_of(spent)))
        return path

    def table(self) -> str:
        """Return all debits, and what they come to, as a text table.

        Returns
        -------
        str

        Examples
        --------
        >>> import simplexdp as sdp
        >>> print(sdp.Accountant(1.0, 1e-6).table())
        id  label  on  count  epsilon  state  time
        spent 0 of epsilon 1 at delta 1e-06
        """
        names = ("id", "label", "on", "count", "epsilon", "state", "time")
        lines = [names] + [tuple(_shown(row[name]) for name in names) for row in self._rows()]
        widths = [max(len(line[i]) for line in lines) for i in range(len(names))]
        text = ["  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip() for line in lines]
        total = f"spent {self.spent_epsilon():.6g} of epsilon {self._epsilon:g} at delta {self._delta:g}"
        return "\n".join([*text, total])

    def plot(self, ax: Any = None) -> Any:
        """Plot the epsilon spent after each debit, against the budget (needs matplotlib).

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        matplotlib axes
        """
        from simplexdp.plots.style import axes_or_new, import_matplotlib

        if ax is None:
            import_matplotlib()
            import matplotlib.pyplot as plt

            ax = plt.figure().add_subplot()
        ax = axes_or_new(ax)
        path = [0.0, *(total for _, total in self.running_total())]
        ax.step(range(len(path)), path, where="post", label="spent")
        ax.axhline(self._epsilon, linestyle="--", color="black", label="budget")
        ax.set_xlabel("debits")
        ax.set_ylabel(f"epsilon at delta = {self._delta:g}")
        ax.legend()
        return ax

    def _check(self, curve: PrivacyCurve) -> None:
        if not isinstance(curve, PrivacyCurve):
            raise InvalidParameterError(f"curve must be a privacy curve, got {type(curve).__name__}")
        if curve.adjacency != self._adjacency:
            raise InvalidParameterError(
                f"curve must be under the accountant's adjacency {self._adjacency!r}, got {curve.adjacency!r}"
            )

    def _spent(self) -> dict[str, int]:
        return {holding.recipe: holding.spent for holding in self._ledger.holdings() if holding.spent}

    def _fits(self, spent: dict[str, int]) -> bool:
        return self._epsilon_of(spent) <= self._epsilon

    def _epsilon_of(self, spent: dict[str, int]) -> float:
        if not spent:
            return 0.0
        total = _total(spent)
        if self._delta > 0:
            return float(total.epsilon(self._delta))
        try:
            return float(total.epsilon(0.0))
        except InvalidParameterError:
            return float("inf")

    def _refuse(self, curve: PrivacyCurve, count: int, spent: dict[str, int]) -> None:
        what = f"{count} release{'s' if count > 1 else ''} of {curve!r}"
        state = f"{self._epsilon_of(spent):.6g} of epsilon {self._epsilon:g} is spent at delta {self._delta:g}"
        raise BudgetExceededError(f"{what} does not fit: {state}")

    def _rows(self) -> Iterator[dict[str, Any]]:
        holdings = {holding.id: holding.recipe for holding in self._ledger.holdings()}
        for entry in self._ledger.entries():
            recipe = holdings[entry.curve]
            yield {
                "id": entry.id,
                "label": entry.label,
                "on": entry.target,
                "curve": recipes.from_text(recipe),
                "count": entry.count,
                "epsilon": self._epsilon_of({recipe: entry.count}),
                "state": entry.state,
                "time": datetime.fromtimestamp(entry.time, timezone.utc),
                "process": entry.process,
            }


class Spend:
    """A debit that was written; in a ``with`` block, notes at its end that the release was made."""

    def __init__(self, ledger: Ledger, number: int) -> None:
        self._ledger = ledger
        self.id = number

    def released(self) -> None:
        """Note that the release was made. The debit counts with or without it."""
        self._ledger.mark_released(self.id)

    def __enter__(self) -> "Spend":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.released()


def _total(spent: dict[str, int]) -> PrivacyCurve:
    return compose([recipes.from_text(recipe) for recipe in spent], list(spent.values()))


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return value.isoformat(timespec="seconds") if isinstance(value, datetime) else str(value)


def _reopen(epsilon: float, delta: float, adjacency: Adjacency, path: str, identity: str, durable: bool) -> Accountant:
    """Return a handle of a ledger in this process; its file is looked at when it is first used."""
    accountant = Accountant.__new__(Accountant)
    accountant._set(epsilon, delta, adjacency, Ledger(path, identity, durable=durable))
    return accountant


def _temporary() -> str:
    """Return a path for a ledger that lives as long as this process."""
    folder = tempfile.mkdtemp(prefix="simplexdp-ledger-")
    owner = os.getpid()

    def remove() -> None:
        # A forked child also runs this at its end; the ledger is its parent's.
        if os.getpid() == owner:
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return os.path.join(folder, "ledger.db")
