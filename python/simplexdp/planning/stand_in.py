"""The table that a plan is measured on: made up from public numbers, or drawn from a table that is public anyway."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from simplexdp import _arguments as check
from simplexdp.exceptions import InvalidParameterError
from simplexdp.frames import Domain, encode
from simplexdp.frames.domain import as_domain

__all__ = [
    "ADDED",
    "MIDDLING",
    "OTHERS",
    "OTHER_SAMPLES",
    "AddedUp",
    "Alike",
    "MadeUp",
    "Rows",
    "StandIn",
    "Table",
    "domains_of",
    "range_of_samples",
    "stand_in",
]

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
Table = dict[Any, Codes]
"""The codes of each column."""

OTHER_SAMPLES = "Another sample of the population that the stand-in comes from makes it"

NORMAL = 2.0
"""Standard deviations to each side of a plan's range: 95 % of samples."""

AT_ONCE = 1 << 24
"""Records times levels that are compared in one piece."""

MOST_LEVELS = 2000
"""Of a column of a stand-in table that states no domain."""


def domains_of(domains: Any, like: Any) -> dict[Any, Domain]:
    """Return the domain of each column; without any, those that a stand-in table shows."""
    if domains is None:
        if like is None:
            raise InvalidParameterError("domains must be given, or like, a public or synthetic table")
        return _seen(like)
    if isinstance(domains, Mapping):
        found = {name: as_domain(domain) for name, domain in domains.items()}
    elif isinstance(domains, Domain) or np.ndim(domains) == 0:
        found = {"column": as_domain(domains)}
    elif isinstance(domains, Sequence) and all(isinstance(each, (int, np.integer)) for each in domains):
        found = {f"column {place}": Domain(int(size)) for place, size in enumerate(domains, 1)}
    else:
        raise InvalidParameterError(
            f"domains must map columns to their values, or be numbers of categories, got {type(domains).__name__}"
        )
    small = [name for name, domain in found.items() if len(domain) < 2]
    if small or not found:
        raise InvalidParameterError(f"domains must have at least two levels in every column, got fewer for {small!r}")
    return found


def _seen(like: Any) -> dict[Any, Domain]:
    from simplexdp.frames.source import as_frame
    from simplexdp.models.domains import infer_domain

    source = as_frame(like)
    if isinstance(source, np.ndarray):
        columns: Iterable[Any] = range(source.shape[1])
    else:
        columns = source if isinstance(source, Mapping) else source.collect_schema().names()
    found = {name: infer_domain(like, name) for name in columns}
    large = [name for name, domain in found.items() if len(domain) > MOST_LEVELS]
    if large:
        raise InvalidParameterError(
            f"like must hold categories, got more than {MOST_LEVELS} values in {large!r}: bin or drop them, or state "
            "domains of the columns that are meant"
        )
    return {name: domain for name, domain in found.items() if len(domain) > 1}


class StandIn:
    """Records drawn from a public table.

    Parameters
    ----------
    codes : dict
        The codes of the records of the table, by column.
    """

    made_up = False

    def __init__(self, codes: Table) -> None:
        self._codes = codes
        self.n_records = len(next(iter(codes.values())))

    def draw(self, n: int, generator: np.random.Generator) -> Table:
        """Draw n records: without repetition as long as there are enough."""
        rows = generator.choice(self.n_records, n, replace=n > self.n_records)
        return {name: column[rows] for name, column in self._codes.items()}

    def samples(self, n: int, generators: Iterable[np.random.Generator]) -> list[Table]:
        """Draw samples of n records each from the population that the table shows: they have nothing in common.

        Without repetition two of them would share records, and be the same where n is the size of the table.
        """
        drawn = [generator.integers(self.n_records, size=n) for generator in generators]
        return [{name: column[rows] for name, column in self._codes.items()} for rows in drawn]

    def parts(self, generator: np.random.Generator) -> tuple[StandIn, Table]:
        """Return what a model may learn from, and a quarter of the records to judge it by."""
        rows = generator.permutation(self.n_records)
        cut = max(self.n_records // 4, 1)
        learn, judge = (
            {name: column[part] for name, column in self._codes.items()} for part in (rows[cut:], rows[:cut])
        )
        return StandIn(learn), judge

    def shares(self, columns: Sequence[Any], sizes: Sequence[int]) -> NDArray[np.float64]:
        """Return the joint shares of some columns, one flat row."""
        cells = np.ravel_multi_index([self._codes[name] for name in columns], tuple(sizes))
        counts = np.bincount(cells, minlength=int(np.prod(sizes)))
        return np.asarray(counts / counts.sum())


class Rows(Protocol):
    """How the rows of a made-up conditional table are drawn."""

    def draw(self, generator: np.random.Generator, above: Sequence[int], size: int) -> Floats:
        """Return positive weights, a row for each combination of the levels above, the last of which runs fastest."""


@dataclass(frozen=True)
class Alike:
    """Rows that are alike to one degree, whatever their parents have in common: what the smoothing of models expects.

    Attributes
    ----------
    likeness : float
        The concentration of a Dirichlet law around their mean.
    evenness : float
        How even their mean is: the concentration of a Dirichlet law around equal shares, for each level.
    """

    likeness: float = 5.0
    evenness: float = 1.0

    def draw(self, generator: np.random.Generator, above: Sequence[int], size: int) -> Floats:
        """Return the rows."""
        mean = generator.dirichlet(np.full(size, self.evenness))
        return generator.standard_gamma(self.likeness * mean + 1e-3, (int(np.prod(above)), size)) + 1e-12


@dataclass(frozen=True)
class AddedUp:
    """Rows to whose logits every parent adds an effect of its own, as in a logistic regression.

    Rows with a level in common are more alike than others, by every parent in its own way.

    Attributes
    ----------
    strength : float
        The standard deviation of an effect on a logit.
    evenness : float
        As of `Alike`, of the row without any effect.
    """

    strength: float
    evenness: float

    def draw(self, generator: np.random.Generator, above: Sequence[int], size: int) -> Floats:
        """Return the rows."""
        logits = np.log(generator.dirichlet(np.full(size, self.evenness)) + 1e-12)
        for levels in above:
            logits = logits[..., None, :] + self.strength * generator.standard_normal((levels, size))
        return np.asarray(np.exp(logits - logits.max(axis=-1, keepdims=True)).reshape(-1, size) + 1e-12)


MIDDLING = Alike()
"""What a plan's figure is for."""

OTHERS = tuple(Alike(likeness, evenness) for likeness in (0.5, 50.0) for evenness in (0.2, 10.0))
"""Of which a plan's range is made: rows hardly alike and nearly the same; means that are uneven and even."""

ADDED = tuple(AddedUp(strength, 10.0) for strength in (0.3, 1.5))
"""As well as of these: weak and strong effects that add up, which smoothing does not expect, on even rows, where more
levels matter."""


class MadeUp:
    """Records of a law that nobody's data had a part in: every column depends on its parents.

    Parameters
    ----------
    sizes : dict
        The number of levels of each column.
    parents : dict
        The parents of each column; a column comes after its parents.
    seed : int
        Of the law.
    rows : Rows
        How the rows of its tables are drawn.
    """

    made_up = True
    n_records = None

    def __init__(
        self,
        sizes: Mapping[Any, int],
        parents: Mapping[Any, Sequence[Any]],
        seed: int,
        rows: Rows = MIDDLING,
    ) -> None:
        self._sizes, self._parents = dict(sizes), {name: list(above) for name, above in parents.items()}
        # All tables, and of the one that is made its weights and shares.
        cells = sum(math.prod([*(sizes[each] for each in above), sizes[name]]) for name, above in self._parents.items())
        check.fitting("domains", (cells,), 3)
        generator = np.random.default_rng(seed)
        self._tables = {}
        for name, above in self._parents.items():
            table = rows.draw(generator, [sizes[each] for each in above], sizes[name])
            self._tables[name] = np.cumsum(table / table.sum(axis=1, keepdims=True), axis=1)

    def draw(self, n: int, generator: np.random.Generator) -> Table:
        """Draw n records."""
        found: Table = {}
        for name, above in self._parents.items():
            rows = np.zeros(n, dtype=np.int64)
            for each in above:
                rows = rows * self._sizes[each] + found[each]
            found[name] = _levels_at(self._tables[name], rows, generator.random(n))
        return {name: found[name] for name in self._sizes}

    def samples(self, n: int, generators: Iterable[np.random.Generator]) -> list[Table]:
        """Draw samples of n records each."""
        return [self.draw(n, generator) for generator in generators]

    def parts(self, generator: np.random.Generator) -> tuple[MadeUp, Table]:
        """Return the law, and records to judge a model by."""
        return self, self.draw(10_000, generator)


def _levels_at(ends: NDArray[np.float64], rows: NDArray[np.int64], chances: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the level in which each chance falls, by the row of cumulated shares that each record has."""
    if len(rows) * ends.shape[1] <= AT_ONCE:
        levels = (chances[:, None] > ends[rows]).sum(axis=1)
    else:
        # Row by row: all of many levels for each of many records would be gigabytes.
        levels = np.empty(len(rows), dtype=np.int64)
        order = np.argsort(rows, kind="stable")
        for part in np.split(order, np.flatnonzero(np.diff(rows[order])) + 1):
            levels[part] = np.searchsorted(ends[rows[part[0]]], chances[part])
    # What rounding leaves above the last end is of the last level.
    found: NDArray[np.int64] = np.minimum(levels, ends.shape[1] - 1)
    return found


def stand_in(like: Any, domains: Mapping[Any, Domain]) -> StandIn:
    """Return the records of a public table as codes."""
    codes = encode(like, list(domains), domains)
    if not len(codes[0]):
        raise InvalidParameterError("like must have records, got none")
    return StandIn({name: column.astype(np.int64) for name, column in zip(domains, codes, strict=True)})


def range_of_samples(errors: NDArray[np.float64], n: int, stood_in: int) -> tuple[float, float]:
    """Return between which values the mean error of a private table lies, if it is a sample like the stand-in.

    Errors are those of several releases (columns) of each of many samples (rows). Samples differ by what the variance
    of their means is more than releases alone make it. The stand-in is off from its population as samples of its own
    size are, and the private table by as much again.
    """
    means = errors.mean(axis=1)
    of_releases = errors.var(axis=1, ddof=1).mean() / errors.shape[1]
    seen = float(means.var(ddof=1))
    # No less than two standard errors of the difference: releases may drown what samples differ by.
    between = max(seen - float(of_releases), 0.0) + NORMAL * np.sqrt(2 / (len(means) - 1)) * seen
    reach = NORMAL * np.sqrt(between * (1 + n / stood_in) + seen / len(means))
    middle = float(means.mean())
    return max(middle - reach, 0.0), middle + reach
