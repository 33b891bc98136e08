"""Which mechanism has the least error at one budget, and by how much."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from simplexdp import _arguments as check
from simplexdp._catalogue import in_words
from simplexdp._cautions import caution
from simplexdp.accounting.structured import MOST_TABLES
from simplexdp.comparison.candidates import MECHANISMS, Adjacency, Setting, UnavailableError, candidates, with_rules
from simplexdp.comparison.measure import Measured, measure
from simplexdp.comparison.metrics import METRICS
from simplexdp.comparison.population import as_population
from simplexdp.comparison.postprocessing import POSTPROCESSING
from simplexdp.exceptions import InvalidParameterError
from simplexdp.mechanisms.dirichlet_parameters import ADJACENCIES, MAX_DIMENSION

__all__ = ["Comparison", "Row", "compare"]

Progress = Callable[[int, int], object]

TRAINING_CELLS, TRAINING_ROWS = 32_000, (8, 4000)
TESTING_CELLS, TESTING_ROWS = 120_000, (16, 8000)
"""Counts in a sample, and the fewest and the most data sets."""

DEVIATIONS = 4.0
"""A difference of fewer standard errors is a tie. Of eight fair comparisons one comes out further in 2000 tables."""


@dataclass(frozen=True)
class Row:
    """One mechanism with its best public post-processing.

    Attributes
    ----------
    mechanism, postprocessing : str
    error, standard_error : float
        The mean error over the population, and how uncertain it is.
    ratio : float
        The error over that of the first row.
    strength : float or None
        Of the post-processing: the prior count that is added to every category, or the floor of the counts.
    parameters : dict
        Of the mechanism.
    epsilon : float
        What the mechanism's own curve reports at the delta of the comparison.
    """

    mechanism: str
    postprocessing: str
    error: float
    standard_error: float
    ratio: float
    strength: float | None = None
    parameters: dict[str, float] = field(default_factory=dict, hash=False)
    epsilon: float = math.nan


@dataclass(frozen=True)
class Comparison:
    """What `compare` measured.

    Attributes
    ----------
    n, dimension, epsilon, delta, metric, adjacency, tables, population
        What was asked.
    samples : int
        Data sets over which the errors are averaged.
    rows : tuple of Row
        Sorted, the least error first.
    ties : tuple of str
        Mechanisms whose error is not clearly above that of the first row.
    left_out : dict
        Mechanisms that were asked for and could not be compared, with the reason.
    """

    n: int
    dimension: int
    epsilon: float
    delta: float
    metric: str
    adjacency: str
    tables: int
    population: str
    samples: int
    rows: tuple[Row, ...]
    ties: tuple[str, ...]
    left_out: dict[str, str] = field(hash=False)

    @property
    def winner(self) -> str:
        """The mechanism with the least error; see `ties` for those that may be as good."""
        return self.rows[0].mechanism

    def row(self, mechanism: str) -> Row:
        """Return the row of a mechanism."""
        for row in self.rows:
            if row.mechanism == mechanism:
                return row
        names = ", ".join(repr(row.mechanism) for row in self.rows)
        raise InvalidParameterError(f"mechanism must be one of {names}, got {mechanism!r}")

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, texts, lists and dictionaries; what is not finite becomes None."""
        names = ("n", "dimension", "epsilon", "delta", "metric", "adjacency", "tables", "population", "samples")
        content: dict[str, Any] = {name: getattr(self, name) for name in names}
        rows = [{name: _plain(value) for name, value in vars(row).items()} for row in self.rows]
        return {
            **content,
            "ties": list(self.ties),
            "left_out": dict(self.left_out),
            "winner": self.winner,
            "rows": rows,
        }

    def _repr_html_(self) -> str:
        from simplexdp._notebook import table

        rows = [
            [
                in_words(row.mechanism),
                row.postprocessing,
                f"{row.error:.4g} ± {row.standard_error:.1g}",
                f"{row.ratio:.3f}{' =' if row.mechanism in self.ties else ''}",
            ]
            for row in self.rows
        ]
        caption = (
            f"{error_name(self.metric)}, n = {self.n:,}, {self.dimension} categories, ({self.epsilon:g}, "
            f"{self.delta:g})-DP, {self.adjacency}"
        )
        notes = [f"{name} is left out: {reason}" for name, reason in self.left_out.items()]
        return table(["mechanism", "post-processing", "error", "ratio"], rows, caption=caption, notes=notes)

    def __str__(self) -> str:
        title = (
            f"{error_name(self.metric)}, n = {self.n}, {self.dimension} categories, "
            f"({self.epsilon:g}, {self.delta:g})-DP{f' for {self.tables} tables' if self.tables > 1 else ''}, "
            f"{self.adjacency}, {self.population} population, {self.samples} data sets"
        )
        lines = [title, f"{'mechanism':<24}{'post-processing':<26}{'error':>12}{'+-':>10}{'ratio':>9}"]
        for row in self.rows:
            rule = row.postprocessing if row.strength is None else f"{row.postprocessing} {row.strength:.3g}"
            mark = " =" if row.mechanism in self.ties else ""
            lines.append(
                f"{row.mechanism:<24}{rule:<26}{row.error:>12.4g}{row.standard_error:>10.1g}{row.ratio:>9.3f}{mark}"
            )
        if self.ties:
            lines.append(f"= within {DEVIATIONS:g} standard errors of the first row: no clear winner among them")
        lines += [f"{name} is left out: {reason}" for name, reason in self.left_out.items()]
        return "\n".join(lines)


def compare(
    n: int,
    dimension: int,
    epsilon: float,
    delta: float,
    metric: str = "kl",
    mechanisms: Sequence[str] | None = None,
    *,
    adjacency: str = "replace",
    tables: int = 1,
    postprocessing: Sequence[str] | None = None,
    population: str | ArrayLike = "mixed",
    samples: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Compare mechanisms at one budget, each with its best public post-processing.

    Every mechanism is calibrated to (epsilon, delta) by the curve that the library reports for it. Its post-processing,
    and the prior of the Dirichlet mechanism, are those with the least mean error over a public population of data sets;
    the error in the table is measured on other data sets of the same population. No user's data are looked at.

    Parameters
    ----------
    n : int
        Number of records: public under "replace"; a guess of it under "add_remove", where no post-processing may use
        the true one.
    dimension : int
        Number of categories.
    epsilon, delta : float
        The budget. With a delta of zero only the pure mechanisms are compared.
    metric : {"kl", "hellinger", "l1", "linf"}
        Error of released shares q against the true shares p. "kl" is KL(p || q): categories without records add
        nothing, and a category with records that is released as zero makes it infinite.
    mechanisms : sequence of str, optional
        Some of `MECHANISMS`; by default all.
    adjacency : {"replace", "add_remove"}
        Which data sets are neighbours.
    tables : int
        How many tables of this size the budget has to pay for, with every record counted once in each, as in a model.
        The error is that of one of them.
    postprocessing : sequence of str, optional
        Some of `POSTPROCESSING`; by default each mechanism has all that suit it. "posterior", the exact posterior mean
        of `docs/inference.md`, takes a hundred times as long as the others, so it is measured on fewer data sets; where
        it would take more than seconds it has to be named here.
    population : str or array_like of shape (k, d)
        "uniform", "dirichlet", "zipf", "sparse", "mixed" for a quarter of each, or public shares from which n records
        are drawn.
    samples : int, optional
        Data sets to measure on; by default between 16 and 8000, fewer for more categories.
    seed : int
        Repeats a comparison.
    progress : callable, optional
        Called as ``progress(done, of)`` after each mechanism.

    Returns
    -------
    Comparison

    Notes
    -----
    "gaussian" and "discrete_gaussian" are accounted for by their exact curves. "posterior_draw" is the Dirichlet
    mechanism with scale 1 and the smallest prior that keeps the budget.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> table = sdp.compare(1000, 10, epsilon=1.0, delta=1e-6, metric="l1", samples=200)
    >>> table.rows[0].ratio, len(table.rows), table.left_out
    (1.0, 8, {})
    """
    setting = checked_setting(n, dimension, epsilon, delta, metric, adjacency, tables)
    by_name = postprocessing is not None
    return compared(setting, mechanisms, postprocessing, population, samples, seed, progress, slow=by_name)


def compared(
    setting: Setting,
    mechanisms: Sequence[str] | None,
    postprocessing: Sequence[str] | None,
    population: str | ArrayLike,
    samples: int | None,
    seed: int,
    progress: Progress | None,
    *,
    slow: bool,
) -> Comparison:
    """Return what `compare` does for a setting; rules that would take more than seconds only where `slow` ones may."""
    check_progress(progress)
    names = names_of("mechanisms", mechanisms, MECHANISMS)
    rules = names_of("postprocessing", postprocessing, POSTPROCESSING)
    drawn_from = as_population(population, setting.dimension)
    generator = np.random.default_rng(check.seed(seed))
    rows = _rows(TESTING_CELLS, TESTING_ROWS, setting.dimension) if samples is None else _samples(samples)
    check.fitting("samples", (rows, setting.dimension), 6)
    training_rows = min(_rows(TRAINING_CELLS, TRAINING_ROWS, setting.dimension), max(rows, 8))
    training, testing = (
        drawn_from.draw(setting.n, setting.dimension, size, generator) for size in (training_rows, rows)
    )
    seeds = tuple(int(word) for word in generator.integers(2**62, size=2))
    measured: list[Measured] = []
    left_out = {}
    for done, name in enumerate(names, 1):
        try:
            options = [with_rules(candidate, rules, slow=slow) for candidate in candidates(name, setting)]
            measured.append(measure(options, setting.metric, training, testing, (seeds[0], seeds[1])))
        except UnavailableError as reason:
            left_out[name] = str(reason)
        if progress is not None:
            progress(done, len(names))
    return tabulate(measured, setting, setting.metric, drawn_from.name, rows, left_out)


def tabulate(
    measured: list[Measured], setting: Setting, metric: str, population: str, samples: int, left_out: dict[str, str]
) -> Comparison:
    """Return the table of what was measured."""
    if not measured:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
        raise InvalidParameterError(f"mechanisms must hold one that can be compared here ({reasons})")
    measured = sorted(measured, key=lambda m: m.mean)
    best = measured[0]
    ties = tuple(m.choice.candidate.mechanism for m in measured[1:] if not best.clearly_better(m, DEVIATIONS))
    return Comparison(
        n=setting.n,
        dimension=setting.dimension,
        epsilon=setting.epsilon,
        delta=setting.delta,
        metric=metric,
        adjacency=setting.adjacency,
        tables=setting.tables,
        population=population,
        samples=samples,
        rows=tuple(_row(m, best, setting) for m in measured),
        ties=(best.choice.candidate.mechanism, *ties) if ties else (),
        left_out=left_out,
    )


def check_progress(progress: Any) -> None:
    """Check for a callable or None."""
    if progress is not None and not callable(progress):
        raise InvalidParameterError(f"progress must be callable or None, got {progress!r}")


def error_name(metric: str) -> str:
    """Return what people call it."""
    return f"{metric} error" if metric in METRICS else metric


def checked_setting(
    n: Any, dimension: Any, epsilon: Any, delta: Any, metric: Any, adjacency: Any, tables: Any
) -> Setting:
    """Check the public quantities of a comparison."""
    n, dimension = check.integer("n", n, 1), check.integer("dimension", dimension, 2)
    if n > check.LARGEST_COUNT:
        raise InvalidParameterError(f"n must be at most 1e15, got {n}")
    if dimension > MAX_DIMENSION:
        raise InvalidParameterError(f"dimension must be at most {MAX_DIMENSION}, got {dimension}")
    epsilon, delta = check.positive("epsilon", epsilon), check.non_negative("delta", delta)
    if not delta < 1:
        raise InvalidParameterError(f"delta must be below 1, got {delta}")
    check.choice("metric", metric, METRICS)
    check.choice("adjacency", adjacency, ADJACENCIES)
    # Of a model n counts the records of a row: `recommend` knows how many there are in all.
    caution(epsilon=epsilon, delta=delta, n=n if tables == 1 else None)
    tables = check.integer("tables", tables, 1)
    if tables > MOST_TABLES:
        raise InvalidParameterError(f"tables must be at most {MOST_TABLES}, got {tables}")
    return Setting(n, dimension, epsilon, delta, metric, cast(Adjacency, adjacency), tables)


def names_of(argument: str, given: Any, allowed: tuple[str, ...]) -> tuple[str, ...]:
    """Check for a list of some of the names; all of them for None."""
    if given is None:
        return allowed
    if isinstance(given, str) or not isinstance(given, Sequence) or not given:
        raise InvalidParameterError(f"{argument} must be a list of names, got {given!r}")
    return tuple(dict.fromkeys(check.choice(argument, name, allowed) for name in given))


def _samples(samples: Any) -> int:
    return check.integer("samples", samples, 2)


def _rows(cells: int, bounds: tuple[int, int], dimension: int) -> int:
    return min(max(cells // dimension, bounds[0]), bounds[1])


def _row(measured: Measured, best: Measured, setting: Setting) -> Row:
    choice = measured.choice
    if measured is best or measured.mean == best.mean:
        ratio = 1.0
    else:
        ratio = measured.mean / best.mean if best.mean > 0 else math.inf
    return Row(
        mechanism=choice.candidate.mechanism,
        postprocessing=choice.rule.name,
        error=measured.mean,
        standard_error=measured.standard_error,
        ratio=ratio,
        strength=choice.strength,
        parameters=dict(choice.candidate.parameters),
        epsilon=float(choice.candidate.curve.epsilon(setting.delta)),
    )


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value
