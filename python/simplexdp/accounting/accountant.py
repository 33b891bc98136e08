"""A privacy budget that is debited before anything is released, and that copies cannot multiply."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, get_args

from simplexdp._arguments import choice, flag, integer, non_negative, number
from simplexdp._cautions import caution
from simplexdp._rounding import rounded
from simplexdp.accounting import events, recipes, rules, statement
from simplexdp.accounting.curve import Adjacency, PrivacyCurve
from simplexdp.accounting.ledger import (
    FileLedger,
    Ledger,
    PostgresLedger,
    absolute,
    create_ledger,
    is_address,
    open_ledger,
    payload,
)
from simplexdp.accounting.ledger.backup import Charge
from simplexdp.accounting.ledger.backup import restore as restore_file
from simplexdp.accounting.ledger.temporary import temporary
from simplexdp.accounting.rules import PlannedRule, Rule, RuleName, shown
from simplexdp.accounting.spend import Spend, note_released
from simplexdp.accounting.unit import checked_unit
from simplexdp.exceptions import BudgetExceededError, InvalidParameterError, LedgerError, NumericalError

MODES = (0o600, 0o640, 0o660)
"""Who may use a ledger file: its owner; a group may read it; a group may spend."""
LONGEST_KEY = 512
LONGEST_TEXT = 1 << 16
MOST_RELEASES = 2**40
"""Of one debit: more than anyone makes."""


class Accountant:
    """A budget of (epsilon, delta) for everything that is released from one data set.

    Every debit is written to a ledger file, in one transaction with the check that it fits, before anything is
    released. What counts is the file: copying, deep-copying, cloning or pickling an accountant gives another handle
    of the same ledger, in whatever thread or process it ends up; a copy of the file is refused. See docs/operations.md
    for what survives a crash, a fork or a power failure.

    Parameters
    ----------
    epsilon : float
        Budget, above zero.
    delta : float
        Budget, in [0, 1). With zero, only pure curves can be spent.
    adjacency : {"replace", "add_remove"}, default "replace"
        Of every curve that is spent.
    path : path-like, optional
        The ledger file, or the address of a book in a PostgreSQL database, ``"postgresql://host/database#book"`` (extra
        ``postgres``), made if there is none; an existing one must have been made with the same budget. Without a path,
        a temporary file that is removed when the process that made it ends: after that, handles in other processes
        refuse.
    durable : bool, default True
        For a ledger at `path`: wait for the disk at every debit, so that debits also survive a power failure. Without
        it they survive any death of the process, but the last ones not a power failure.
    mode : {0o600, 0o640, 0o660}, default 0o600
        Permissions of a ledger file that is made: for its owner alone, or for a group that may read it, or spend.
    rule : {"auto", "pure", "gaussian", "renyi", "planned"} or Rule, default "auto"
        How debits add up; kept in the ledger, and never changed. By default the sum of epsilons where delta is 0, and
        else a Gaussian pair that each debit moves: both hold when costs depend on earlier answers. An existing ledger
        keeps the rule that it has. `simplexdp.accounting.rules.make` makes rules with settings of their own.
    adaptive : bool, default True
        Whether costs, and when it stops, may depend on earlier answers. ``False`` is your promise that they do not:
        then all debits are composed tightly. Nothing can check it, and where it is broken the budget is exceeded.
    unit : str, optional
        Whose records all debits are for: the column that tells persons. By default the first debit says it. A debit for
        another unit is refused, single records among them: such costs do not add up (docs/persons.md).

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
        mode: int = 0o600,
        rule: RuleName | Rule = "auto",
        adaptive: bool = True,
        unit: str | None = None,
    ) -> None:
        epsilon, delta = non_negative("epsilon", epsilon), number("delta", delta)
        if not (epsilon > 0 and 0 <= delta < 1):
            raise InvalidParameterError(f"epsilon must be positive and delta in [0, 1), got {epsilon} and {delta}")
        choice("adjacency", adjacency, get_args(Adjacency))
        caution(epsilon=epsilon)
        _check_mode(mode)
        made = _rule(rule, epsilon, delta, adjacency, adaptive)
        settings = {"epsilon": epsilon.hex(), "delta": delta.hex(), "adjacency": adjacency, "rule": made.to_text()}
        if unit is not None:
            settings["unit"] = str(checked_unit(unit))
        # A temporary ledger is gone after a power failure in any case.
        durable = flag("durable", durable) and path is not None
        ledger = create_ledger(temporary() if path is None else path, settings, durable=durable, mode=mode)
        self._set(ledger, _agreed(ledger, settings, made, any_rule=rule == "auto"))
        if unit is not None and self.unit != unit:
            raise LedgerError(f"the ledger {ledger.place} is for {shown(self.unit)}, not {unit!r}")

    def _set(self, ledger: Ledger, settings: Mapping[str, str]) -> None:
        self._ledger = ledger
        self._read_settings(settings)

    def _read_settings(self, settings: Mapping[str, str]) -> None:
        self._settings = dict(settings)
        self._rule = rules.from_text(settings["rule"])

    def _standing(self, state: str) -> str:
        """Return the state of the rule; of a book in which nothing was spent, for the unit that it was made with."""
        return state or self._rule.opened_for(self._settings.get("unit"))

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, durable: bool = True) -> "Accountant":
        """Return the accountant of an existing ledger, with the budget that it was made with.

        Parameters
        ----------
        path : path-like
            The ledger file, or the address of a book in a database.
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
        flag("durable", durable)
        ledger = open_ledger(path, durable=durable)
        accountant = cls.__new__(cls)
        accountant._set(ledger, ledger.settings)
        return accountant

    @classmethod
    def restore(
        cls,
        source: str | os.PathLike[str],
        path: str | os.PathLike[str] | None = None,
        *,
        since: tuple[float, float] | None = None,
        mode: int = 0o600,
    ) -> "Accountant":
        """Take a copy of a ledger into use, in place of one that is lost.

        What was spent after the copy was made is not in it. By default all that is left counts as spent: the ledger can
        be read, and accepts no debit. State `since` if you know better.

        Parameters
        ----------
        source : path-like
            What `backup` wrote, another copy of a ledger file, or a damaged ledger: lines before the damage count.
        path : path-like
            Where nothing is yet; it becomes a ledger of its own, and handles of the lost one refuse it. Not given when
            `source` is the address of a database that was copied, restored or failed over.
        since : (float, float), optional
            An (epsilon, delta) that bounds all that was released since the copy was made; (0, 0) if you know that
            nothing was. It is your promise: nothing can check it. The lost ledger must never be used again.
        mode : {0o600, 0o640, 0o660}, default 0o600
            As for `Accountant`.

        Returns
        -------
        Accountant

        Examples
        --------
        >>> import tempfile, simplexdp as sdp
        >>> folder = tempfile.mkdtemp()
        >>> accountant = sdp.Accountant(1.0, 0.0, path=f"{folder}/budget.db")
        >>> spend = accountant.spend(sdp.PrivacyCurve.pure(0.25))
        >>> accountant.backup(f"{folder}/backup.db")
        1
        >>> sdp.Accountant.restore(f"{folder}/backup.db", f"{folder}/new.db", since=(0.5, 0)).spent_epsilon()
        0.75
        """
        _check_mode(mode)
        if since is not None:
            if not isinstance(since, tuple | list) or len(since) != 2:
                raise InvalidParameterError(f"since must be a pair (epsilon, delta), got {since!r}")
            epsilon, delta = non_negative("since", since[0]), number("since", since[1])
            if not 0 <= delta < 1:
                raise InvalidParameterError(f"since must be (epsilon, delta) with delta in [0, 1), got {since!r}")

        def charge(settings: Mapping[str, str], state: str, whole: bool) -> Charge | None:
            if since is None:
                return Charge(state, (), closed="it was restored from a copy, and what was spent since is not known")
            if epsilon == delta == 0:
                return None
            book = cls.__new__(cls)
            book._read_settings(settings)
            state = book._standing(state)
            curve = PrivacyCurve.from_epsilon_delta(epsilon, delta, adjacency=book.adjacency)
            costs = [(curve.for_unit(book._rule.unit(state)), 1)]
            try:
                return Charge(book._rule.debit(state, costs), _texts(costs))
            except BudgetExceededError:
                return Charge(state, (), closed="it was restored, and what was spent since takes all that was left")

        if is_address(source) and path is None:
            PostgresLedger(str(source), "", durable=True).adopt(charge)
            return cls.open(source)
        if path is None:
            raise InvalidParameterError("path must be that of a new file, got None")
        restore_file(absolute(source, "source"), absolute(path), charge, mode=mode)
        return cls.open(path)

    def backup(self, path: str | os.PathLike[str]) -> int:
        """Write a copy of the ledger file, from which only `restore` makes a ledger again.

        Parameters
        ----------
        path : path-like
            Where nothing is yet.

        Returns
        -------
        int
            How many debits are in it.
        """
        if not isinstance(self._ledger, FileLedger):
            raise InvalidParameterError("accountant must keep a file: a ledger in a database is backed up with it")
        return self._ledger.copy_to(absolute(path))

    def __copy__(self) -> "Accountant":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "Accountant":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self._ledger, self._settings)

    def __repr__(self) -> str:
        promise = "" if self._rule.adaptive else ", adaptive=False"
        budget = f"epsilon={self.epsilon:g}, delta={self.delta:g}, adjacency={self.adjacency!r}"
        return f"Accountant({budget}, rule={self._rule.name!r}{promise})"

    def _repr_html_(self) -> str:
        from simplexdp._notebook import table

        rows: list[list[object]] = [
            ["budget", f"epsilon = {self.epsilon:g}, delta = {self.delta:g}"],
            ["neighbours", self.adjacency],
            ["used", f"{rounded(100 * self.used, 4)} %"],
            ["debits", self.debits],
        ]
        return table(["", "Accountant"], rows, notes=[self.describe()])

    @property
    def epsilon(self) -> float:
        """The budget's epsilon."""
        return self._rule.epsilon

    @property
    def delta(self) -> float:
        """The budget's delta."""
        return self._rule.delta

    @property
    def adjacency(self) -> Adjacency:
        """Which data sets are neighbours."""
        return self._rule.adjacency

    @property
    def unit(self) -> str | None:
        """Whose records all debits are for: the column that tells persons; None for single records, or if none was."""
        return self._rule.unit(self._state())

    @property
    def rule(self) -> Rule:
        """How debits add up: fixed when the ledger was made."""
        return self._rule

    @property
    def path(self) -> str:
        """The ledger file, or the address of the book without the password."""
        return self._ledger.place

    @property
    def used(self) -> float:
        """The share of the budget that is used, in [0, 1]."""
        status = self._ledger.status()
        return 1.0 if status.closed else float(self._rule.used(self._standing(status.state)))

    @property
    def closed(self) -> str:
        """Why no debit is accepted any more, as after a restoration; empty while there may be."""
        return self._ledger.status().closed

    @property
    def debits(self) -> int:
        """How many debits were made."""
        return self._ledger.status().debits

    def spend(self, curve: PrivacyCurve, *, count: int = 1, label: str = "", on: str = "") -> Spend:
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
        InvalidParameterError
            If the curve is for another unit, or another adjacency, than the ledger; nothing is written.

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
exact=False) does not fit: it costs epsilon 0.750000 and delta 0.000e0, and 0.250000 and 0.000e0 are left; \
75 % of epsilon 1 at delta 0 is used by the rule 'pure'
        """
        return self._debited([(curve, count)], label, on)

    def commit(
        self, curves: Iterable[PrivacyCurve | tuple[PrivacyCurve, int]], *, label: str = "", on: str = ""
    ) -> Spend:
        """Debit a plan: releases that are all decided before the first answer is seen, as one spend.

        It costs what their tight composition costs, which is less than one debit for each. What is not made of it
        afterwards is not given back.

        Parameters
        ----------
        curves : iterable of PrivacyCurve, or of (PrivacyCurve, int)
            What will be released, each once or so often.
        label, on : str
            As for `spend`.

        Returns
        -------
        Spend

        Examples
        --------
        >>> import simplexdp as sdp
        >>> accountant = sdp.Accountant(1.0, 1e-6)
        >>> ages, jobs = sdp.PrivacyCurve.laplace(scale=20.0), sdp.PrivacyCurve.gaussian(sigma=40.0)
        >>> with accountant.commit([ages, (jobs, 12)], label="the report"):
        ...     pass  # all thirteen releases here
        >>> accountant.debits
        1
        """
        if not isinstance(curves, Iterable):
            raise InvalidParameterError(f"curves must be curves, or pairs of a curve and a count, got {curves!r}")
        plan = [item if isinstance(item, tuple) else (item, 1) for item in curves]
        if not all(len(item) == 2 for item in plan):
            raise InvalidParameterError("curves must be curves, or pairs of a curve and a count, got other tuples")
        if not plan:
            raise InvalidParameterError("curves must hold at least one curve, got none")
        return self._debited(plan, label, on)

    def _debited(self, plan: Sequence[tuple[PrivacyCurve, int]], label: str, on: str) -> Spend:
        process = os.getpid()
        _check_texts(label, on)
        costs = self._costs(plan)
        with self._told():
            number = self._ledger.debit(self._advance(costs, process), _texts(costs), label, on)
        self._tell("debit", number)
        return Spend(self._ledger, number, process)

    def release(self, mechanism: Any, *args: Any, label: str = "", on: str = "", **kwargs: Any) -> Any:
        """Debit what the call costs, then return ``mechanism.release(*args, **kwargs)``.

        Parameters
        ----------
        mechanism : object
            With ``cost_of(*args, **kwargs)``, the curve of ``release`` with these arguments, or with a ``privacy``
            curve that covers one call of its ``release`` whatever they are.
        *args, **kwargs
            For ``release``.
        label, on : str
            As for `spend`.

        Returns
        -------
        object
            What the mechanism releases.
        """
        curve = _cost_of(mechanism, args, kwargs)
        with self.spend(curve, label=label, on=on):
            return mechanism.release(*args, **kwargs)

    def release_once(self, key: str, mechanism: Any, *args: Any, label: str = "", on: str = "", **kwargs: Any) -> Any:
        """Debit, draw and store a release under a public key, in one transaction; afterwards return what is stored.

        For jobs that are retried: a second call with the same key returns the same release and pays nothing, in
        whatever process and however the first one ended. Of two calls at once one draws, and both return its release.
        A call that fails before its release is stored has spent nothing. Other debits wait while it is drawn.

        Parameters
        ----------
        key : str
            Names the release, publicly: what is released, from which data, for which run of the job.
        mechanism : object
            As for `release`.
        *args, **kwargs
            For ``release``. Where a release is stored only its cost is asked of them.
        label, on : str
            As for `spend`.

        Returns
        -------
        object
            What the mechanism released: numbers, texts, arrays, posteriors, or lists, tuples and dicts of them, of at
            most 16 MiB. It is stored in the ledger, and nothing else is.

        Raises
        ------
        InvalidParameterError
            If the key stands for a release of another cost.

        Examples
        --------
        >>> import numpy as np
        >>> import simplexdp as sdp
        >>> accountant = sdp.Accountant(1.0, 0.0)
        >>> mechanism = sdp.DiscreteLaplaceMechanism.calibrated(epsilon=0.5, sensitivity=2)
        >>> first = accountant.release_once("ages, 2026", mechanism, np.array([12, 30, 5]))
        >>> again = accountant.release_once("ages, 2026", mechanism, np.array([12, 30, 5]))
        >>> bool(np.array_equal(first, again)), accountant.debits
        (True, 1)
        """
        if not (isinstance(key, str) and 0 < len(key) <= LONGEST_KEY):
            raise InvalidParameterError(f"key must be a text of 1 to {LONGEST_KEY} characters, got {_length_of(key)}")
        if "\0" in key or any("\ud800" <= character <= "\udfff" for character in key):
            raise InvalidParameterError(f"key must be of characters that every store holds, got {key!r}")
        process = os.getpid()
        _check_texts(label, on)
        costs = self._costs([(_cost_of(mechanism, args, kwargs), 1)])

        def draw() -> bytes:
            return payload.to_bytes(mechanism.release(*args, **kwargs))

        with self._told():
            stored = self._ledger.once(key, draw, self._advance(costs, process), _texts(costs), label, on)
        if stored.costs != tuple(_texts(costs)):
            raise InvalidParameterError(f"key must stand for one release: {key!r} is one of another cost")
        if stored.fresh:
            note_released(self._ledger, stored.debit)
        self._tell("debit" if stored.fresh else "stored", stored.debit)
        return payload.from_bytes(stored.payload)

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
        costs, status = self._costs([(curve, count)]), self._ledger.status()
        try:
            return not status.closed and self._rule.fits(self._standing(status.state), costs)
        except NumericalError:
            return False

    @property
    def privacy(self) -> PrivacyCurve | None:
        """What is guaranteed of everything that was debited; none before the first debit.

        The composition of the debits with ``adaptive=False``, and their sum under the pure rule. Where costs may depend
        on answers no curve of what was spent so far bounds it: it is the budget itself.
        """
        status = self._ledger.status()
        if not status.debits:
            return None
        if isinstance(self._rule, PlannedRule):
            return self._rule.total(status.state)
        if self._rule.name == "pure" and self.delta == 0:
            return PrivacyCurve.pure(self.spent_epsilon(), adjacency=self.adjacency).for_unit(self.unit)
        return PrivacyCurve.from_epsilon_delta(self.epsilon, self.delta, adjacency=self.adjacency).for_unit(self.unit)

    def describe(self) -> str:
        """Return in one line how much of the budget is used, and by which rule.

        Returns
        -------
        str

        Examples
        --------
        >>> import simplexdp as sdp
        >>> accountant = sdp.Accountant(2.0, 0.0)
        >>> spend = accountant.spend(sdp.PrivacyCurve.pure(0.5))
        >>> accountant.describe()
        "25 % of epsilon 2 at delta 0 is used by the rule 'pure'"
        """
        status = self._ledger.status()
        closed = f"; closed: {status.closed}" if status.closed else ""
        return self._rule.describe(self._standing(status.state)) + closed

    def spent_epsilon(self) -> float:
        """Return what was used of the budget's epsilon.

        With ``adaptive=False`` the epsilon of all debits composed, at the budget's delta; under the pure rule the sum
        of epsilons; else the share of the budget that is used, times its epsilon.

        Returns
        -------
        float

        Examples
        --------
        >>> import simplexdp as sdp
        >>> sdp.Accountant(1.0, 1e-6).spent_epsilon()
        0.0
        """
        return self._spent_in(self._state())

    def _spent_in(self, state: str) -> float:
        if isinstance(self._rule, PlannedRule):
            return self._rule.spent_epsilon(state)
        return float(self._rule.used(state)) * self.epsilon

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
        return max(self.epsilon - self.spent_epsilon(), 0.0)

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
        """Return `spent_epsilon` as it was after each debit.

        Parameters
        ----------
        last : int, optional
            How many debits to tell of, the latest; by default all.

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
        entries = self._ledger.entries()
        silent = 0 if last is None else max(len(entries) - integer("last", last, 0), 0)
        return [(statement.name_of(entry), self._spent_in(entry.state)) for entry in entries[silent:]]

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
        0 % of epsilon 1 at delta 1e-06 is used by the rule 'gaussian'
        """
        return statement.as_text(self._rows(), self.describe())

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
        ax.axhline(self.epsilon, linestyle="--", color="black", label="budget")
        ax.set_xlabel("debits")
        ax.set_ylabel(f"epsilon at delta = {self.delta:g}")
        ax.legend()
        return ax

    def _costs(self, costs: Sequence[tuple[PrivacyCurve, int]]) -> list[tuple[PrivacyCurve, int]]:
        for curve, _ in costs:
            if not isinstance(curve, PrivacyCurve):
                raise InvalidParameterError(f"curve must be a privacy curve, got {type(curve).__name__}")
            if curve.adjacency != self.adjacency:
                raise InvalidParameterError(
                    f"curve must be under the accountant's adjacency {self.adjacency!r}, got {curve.adjacency!r}"
                )
        counted = [(curve, integer("count", count, 1)) for curve, count in costs]
        for _, count in counted:
            if count > MOST_RELEASES:
                raise InvalidParameterError(f"count must be at most 2**40, got {count!r}")
        return counted

    def _advance(self, costs: Sequence[tuple[PrivacyCurve, int]], process: int) -> Callable[[str], str]:
        """Return how a debit moves the state of the book, for the ledger to call while it holds the lock."""

        def advance(state: str) -> str:
            if os.getpid() != process:
                raise LedgerError(
                    "this process was forked in the middle of a debit: the debit is the parent's, and here nothing may "
                    "be released"
                )
            try:
                return self._rule.debit(self._standing(state), costs)
            except NumericalError as error:
                # What is not proved to fit does not fit.
                used = self._rule.describe(self._standing(state))
                raise BudgetExceededError(f"whether this fits cannot be computed ({error}); {used}") from None

        return advance

    def _state(self) -> str:
        return self._standing(self._ledger.status().state)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Log and count what goes wrong in a block."""
        try:
            yield
        except BudgetExceededError:
            self._tell("refusal")
            raise
        except LedgerError:
            events.tell(events.LedgerEvent("failure", self._ledger.place))
            raise

    def _tell(self, kind: Literal["debit", "stored", "refusal"], number: int | None = None) -> None:
        if events.wanted():
            events.tell(events.LedgerEvent(kind, self._ledger.place, self.used, number))

    def _rows(self) -> Iterator[dict[str, Any]]:
        return statement.rows(self._ledger.entries(), self.delta)


def _rule(rule: RuleName | Rule, epsilon: float, delta: float, adjacency: Adjacency, adaptive: bool) -> Rule:
    """Return the rule that is asked for, of this budget."""
    if not isinstance(rule, Rule):
        return rules.make(rule, epsilon=epsilon, delta=delta, adjacency=adjacency, adaptive=adaptive)
    if (rule.epsilon, rule.delta, rule.adjacency, rule.adaptive) != (epsilon, delta, adjacency, adaptive):
        raise InvalidParameterError(f"rule must be of the same budget, adjacency and adaptive, got {rule!r}")
    return rule


def _agreed(ledger: Ledger, wanted: Mapping[str, str], rule: Rule, *, any_rule: bool) -> Mapping[str, str]:
    """Return the settings of a ledger, which must be those that are wanted."""
    found = ledger.settings
    for name in ("epsilon", "delta", "adjacency"):
        if found.get(name) != wanted[name]:
            had, asked = (_readable(name, text) for text in (found.get(name), wanted[name]))
            raise LedgerError(
                f"the ledger {ledger.place} was made with {name} {had}, not {asked}; Accountant.open takes it as it is"
            )
    kept = rules.from_text(found["rule"])
    if kept.adaptive != rule.adaptive or not (any_rule or kept == rule):
        raise LedgerError(f"the ledger {ledger.place} was made with {kept!r}, not {rule!r}")
    return found


def _readable(name: str, text: str | None) -> str | None:
    """Return a setting as people write it: numbers are kept in hexadecimal digits, to the last bit."""
    return text if text is None or name == "adjacency" else repr(float.fromhex(text))


def _check_texts(label: str, on: str) -> None:
    for name, text in (("label", label), ("on", on)):
        if not (isinstance(text, str) and len(text) <= LONGEST_TEXT):
            raise InvalidParameterError(
                f"{name} must be a text of at most {LONGEST_TEXT} characters, got {_length_of(text)}"
            )


def _length_of(text: object) -> str:
    """Say what came in place of a text: not the value itself, which may be data in the wrong argument, or very long."""
    return f"{len(text)} characters" if isinstance(text, str) else type(text).__name__


def _check_mode(mode: int) -> None:
    if not isinstance(mode, int) or mode not in MODES:
        raise InvalidParameterError(f"mode must be 0o600, 0o640 or 0o660, got {mode!r}")


def _texts(costs: Sequence[tuple[PrivacyCurve, int]]) -> list[tuple[str, int]]:
    return [(recipes.to_text(curve), count) for curve, count in costs]


def _cost_of(mechanism: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> PrivacyCurve:
    """Return what this call of ``release`` costs: the mechanism knows, where that depends on the arguments."""
    cost_of = getattr(mechanism, "cost_of", None)
    if not callable(getattr(mechanism, "release", None)) or not (callable(cost_of) or hasattr(mechanism, "privacy")):
        raise InvalidParameterError(f"mechanism must have privacy and release, got {type(mechanism).__name__}")
    curve: PrivacyCurve = cost_of(*args, **kwargs) if callable(cost_of) else mechanism.privacy
    return curve


def _reopen(ledger: Ledger, settings: Mapping[str, str]) -> Accountant:
    """Return a handle of a ledger in this process; its file is looked at when it is first used."""
    accountant = Accountant.__new__(Accountant)
    accountant._set(ledger, settings)
    return accountant
