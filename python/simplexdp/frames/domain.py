"""The public domain of a column, and the code of each of its values."""

from __future__ import annotations

import datetime
import operator
from collections.abc import Iterable, KeysView, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from simplexdp.exceptions import InvalidDataError, InvalidParameterError
from simplexdp.frames.cleaning import Cleaning, with_spellings

if TYPE_CHECKING:
    from simplexdp.frames.discovery import DiscoveredDomain

__all__ = ["Domain", "DomainLike", "as_domain", "as_domains"]


MOST_LEVELS = 1 << 53
"""Of one column: codes beyond are no longer exact where an engine holds them as doubles."""


def is_null(value: Any) -> bool:
    """Whether a scalar stands for a missing value: None, NaN, NaT and pandas' NA alike."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError, ArithmeticError):
        return True  # pandas' NA refuses to be a truth value, a signalling NaN to be compared


@dataclass(frozen=True)
class Domain:
    """The values that a column can take, stated publicly.

    Parameters
    ----------
    values : sequence or int
        The values in the order of their codes, or a cardinality k for the integers 0 to k - 1. ``None`` among the
        values declares a level for missing values; without it a missing value is an error.
    other : bool, default False
        Whether one more level, the last, collects every value that is not listed. Without it such a value is an
        error. A missing value that has no level of its own belongs to it too.
    clean : Cleaning, optional
        Public rules that make spellings of a value the same before it is looked up; listed values are compared by what
        the rules make of them.

    Examples
    --------
    >>> from simplexdp.frames import Domain
    >>> len(Domain(["low", "high", None]))
    3
    >>> len(Domain(10, other=True))
    11
    """

    values: Sequence[Any] | int
    other: bool = False
    clean: Cleaning | None = None
    _codes: dict[Any, int] = field(init=False, repr=False, compare=False)
    _null_code: int | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.other, bool):
            raise InvalidParameterError(f"other must be True or False, got {self.other!r}")
        if self.clean is not None and not isinstance(self.clean, Cleaning):
            raise InvalidParameterError(f"clean must be a Cleaning, got {type(self.clean).__name__}")
        size, values = _cardinality_or_values(self.values, empty=self.other)
        null_code = None
        codes: dict[Any, int] = {}
        if size is not None:
            object.__setattr__(self, "values", size)
        else:
            nulls = [code for code, value in enumerate(values) if is_null(value)]
            try:
                codes = {value: code for code, value in enumerate(values) if not is_null(value)}
            except TypeError:
                raise InvalidParameterError(f"domain must list scalars, got {list(values)!r}") from None
            if len(codes) + len(nulls) < len(values) or len(nulls) > 1:
                raise InvalidParameterError(f"domain must list every value once, got {list(values)!r}")
            object.__setattr__(self, "values", values)
            null_code = nulls[0] if nulls else None
        object.__setattr__(self, "_codes", with_spellings(codes, self.clean))
        object.__setattr__(self, "_null_code", null_code)

    def __len__(self) -> int:
        """Count the levels, the one for other values included."""
        return (self.values if isinstance(self.values, int) else len(self.values)) + self.other

    @property
    def apart(self) -> tuple[int, ...]:
        """The codes of missing and other values, where there are two levels and more beside: for inference.

        Examples
        --------
        >>> from simplexdp.frames import Domain
        >>> Domain(["a", "b", None], other=True).apart
        (2, 3)
        """
        missing = () if self._null_code is None else (self._null_code,)
        found = (*missing, len(self) - 1) if self.other else missing
        return found if len(self) >= len(found) + 2 else ()

    @classmethod
    def discover(
        cls,
        frame: Any,
        column: Any,
        *,
        epsilon: float,
        delta: float,
        adjacency: str = "replace",
        unit: Any = None,
        max_rows: int | None = None,
        first_by: Any = None,
        seed: int | None = None,
        null: bool = False,
        clean: Cleaning | None = None,
        accountant: Any = None,
        label: str = "categories",
        rng: Any = None,
    ) -> DiscoveredDomain:
        """Release the categories that many records of a column have, with their noisy counts; the rest is "other".

        A category is published where its count with discrete Laplace noise reaches a threshold, which is so high that
        a category of one person reaches it with a chance of at most `delta`. Categories, noisy counts and the noisy
        count of the rest are one release with one cost, ``privacy`` of the result.

        Parameters
        ----------
        frame : data frame, two-dimensional array or mapping of one-dimensional arrays
            As for `count_table`. Of a lazy frame only categories that can be published are collected, unless they are
            cleaned.
        column : str or int
            The column whose categories are unknown.
        epsilon, delta : float
            The budget of the whole release.
        adjacency : {"replace", "add_remove"}, default "replace"
            Which data sets are neighbours. The number of records is public where one of them is replaced by one other.
        unit, max_rows, first_by, seed : optional
            At most so many rows of each person count, as for `count_table`; the guarantee speaks of persons then.
        null : bool, default False
            Whether missing values are a category too, listed as None; else they are among the others.
        clean : Cleaning, optional
            Public rules that make spellings the same; the domain goes on using them.
        accountant : Accountant, optional
            Is asked for the budget before anything is drawn.
        label : str
            What for, in the ledger.
        rng : SeededRng, optional
            For tests only.

        Returns
        -------
        DiscoveredDomain
            A domain with the most frequent categories first, and ``noisy_counts``.

        Examples
        --------
        >>> from simplexdp.frames import Domain, count_table
        >>> frame = {"drug": ["aspirin"] * 500 + ["statin"] * 300 + [f"rare {i}" for i in range(50)]}
        >>> found = Domain.discover(frame, "drug", epsilon=1.0, delta=1e-6)
        >>> found.levels
        ['aspirin', 'statin', 'other']
        >>> found.noisy_counts.shape, count_table(frame, ["drug"], {"drug": found}).tolist()
        ((3,), [500, 300, 50])
        """
        from simplexdp.frames.discovery import checked_cleaning, discover

        return discover(
            frame,
            column,
            epsilon=epsilon,
            delta=delta,
            adjacency=adjacency,
            unit=unit,
            max_rows=max_rows,
            first_by=first_by,
            seed=seed,
            null=null,
            clean=checked_cleaning(clean),
            accountant=accountant,
            label=label,
            rng=rng,
        )

    @property
    def is_range(self) -> bool:
        """Whether the domain is the integers 0 to k - 1, so that values are their own codes."""
        return isinstance(self.values, int)

    @property
    def levels(self) -> list[Any]:
        """The values in the order of their codes.

        The level for other values is the string ``"other"``, in as many parentheses as tell it from the values.
        """
        values = list(range(self.values) if isinstance(self.values, int) else self.values)
        if not self.other:
            return values
        name = "other"
        while name in values:
            name = f"({name})"
        return [*values, name]

    def code(self, value: Any, column: str) -> int:
        """Return the code of one value of a column.

        Raises
        ------
        InvalidDataError
            When the domain has no place for it. The message names the column, never the value.
        """
        if self.clean is not None:
            value = self.clean(value)
        if is_null(value):
            if self._null_code is not None:
                return self._null_code
            if self.other:
                return len(self) - 1
            raise InvalidDataError(
                f"column {column!r} must have no missing value unless its domain lists None, or its binner has "
                "null=True (the row is not shown)"
            )
        code = self._range_code(value) if isinstance(self.values, int) else self._known(value)
        if code is not None:
            return code
        if self.other:
            return len(self) - 1
        raise InvalidDataError(
            f"column {column!r} must hold values of its domain only, or the domain needs other=True "
            f"(the offending value is not shown){self._about_days}"
        )

    @property
    def _about_days(self) -> str:
        """What a domain of days or times says of the other; it is public, and the type of a value may not be."""
        if isinstance(self.values, int) or not any(isinstance(value, datetime.date) for value in self.values):
            return ""
        times = any(isinstance(value, datetime.datetime) for value in self.values)
        return (
            f"; it lists {'times, and a day is none: list days' if times else 'days, and a time is none: list times'}"
        )

    def _known(self, value: Any) -> int | None:
        try:
            return self._codes.get(plain(value))
        except TypeError:
            return None  # no scalar, so none of the values

    def _range_code(self, value: Any) -> int | None:
        # Integers come back as doubles from engines that have no nullable integer.
        try:
            code = int(value)
            return code if code == value and 0 <= code < operator.index(self.values) else None  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            return None


DomainLike: TypeAlias = Domain | Sequence[Any] | int


def _cardinality_or_values(values: Any, *, empty: bool = False) -> tuple[int | None, tuple[Any, ...]]:
    """Return the cardinality, or None and the values in their order; none at all only where that is allowed."""
    if isinstance(values, np.ndarray) and values.ndim:
        values = values.tolist() if values.dtype.kind not in "mM" else list(values)
    # `isinstance(values, SupportsIndex)` takes three microseconds a column, two fifths of a small table's time.
    if hasattr(type(values), "__index__"):
        try:
            size = operator.index(values)
        except TypeError:
            size = 0
        if isinstance(values, bool) or size < 1:
            raise InvalidParameterError(f"domain must have at least one level, got {values!r}")
        if size > MOST_LEVELS:
            raise InvalidParameterError(f"domain must have at most {MOST_LEVELS} levels")
        return size, ()
    # Text is no list of letters, and a set has no order.
    unordered = isinstance(values, Set) and not isinstance(values, KeysView)
    if unordered or isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise InvalidParameterError(f"domain must be a list of values or a cardinality, got {values!r}")
    listed = tuple(plain(value) for value in values)
    if not listed and not empty:
        raise InvalidParameterError("domain must have at least one level, got none")
    return None, listed


def plain(value: Any) -> Any:
    """NumPy scalars as Python scalars, so that equal values have equal hashes.

    Times that Python has no scalar for (nanoseconds, months as durations) stay as NumPy's: as Python scalars they would
    be integers.
    """
    nanoseconds = getattr(value, "nanosecond", 0) or getattr(value, "nanoseconds", 0)
    if nanoseconds and callable(getattr(value, "to_numpy", None)):  # of pandas
        value = value.to_numpy()
    if isinstance(value, (np.datetime64, np.timedelta64)) and not np.isnat(value):
        return _plain_time(value)
    item = getattr(value, "item", None)
    return item() if callable(item) and getattr(value, "shape", None) == () else value


def _plain_time(value: np.datetime64 | np.timedelta64) -> Any:
    unit = np.datetime_data(value.dtype)[0]
    if unit == "generic" or not isinstance(value.item(), int):
        return value.item()
    if isinstance(value, np.timedelta64) and unit in ("Y", "M"):
        return value.astype("m8[M]")
    in_microseconds = value.astype(f"{value.dtype.kind}8[us]")
    exact = in_microseconds == value and not isinstance(in_microseconds.item(), int)
    return in_microseconds.item() if exact else value


def as_domain(domain: DomainLike) -> Domain:
    """Return a list of values or a cardinality as a `Domain`."""
    return domain if isinstance(domain, Domain) else Domain(domain)


def as_domains(columns: Sequence[Any], domains: Mapping[Any, DomainLike]) -> dict[Any, Domain]:
    """Return the domain of each column.

    Raises
    ------
    InvalidParameterError
        When a column has none.
    """
    if not isinstance(domains, Mapping):
        raise InvalidParameterError(
            f"domains must map each column to its values or its cardinality, got {type(domains).__name__}"
        )
    missing = [column for column in columns if column not in domains]
    if missing:
        raise InvalidParameterError(f"domains must name every counted column, got none for {missing!r}")
    return {column: as_domain(domains[column]) for column in columns}
