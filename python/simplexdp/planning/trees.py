"""Plans for counts on the levels of a public hierarchy, such as regions and their districts."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simplexdp.comparison.automatic import NOISE, even_tree
from simplexdp.comparison.population import SHAPES, as_population
from simplexdp.exceptions import InsecureRandomnessWarning, InvalidParameterError
from simplexdp.hierarchy import HierarchicalCounts, Hierarchy
from simplexdp.hierarchy.release import drawn_levels, planned_levels
from simplexdp.planning.stand_in import OTHER_SAMPLES, StandIn, range_of_samples
from simplexdp.planning.tasks import Budget, ByLevel, Found, Metric
from simplexdp.testing import SeededRng

__all__ = ["Tree", "tree_of"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

DATA_SETS, QUICK_DATA_SETS, OF_SHAPE, SAMPLES = 24, 6, 6, 40
"""Data sets of a step, where only the size of an error matters, of each shape, and of a stand-in, each released twice:
each is inferred."""

VERY_MANY = 10**9
"""Records whose counts are shares."""

MARGIN = 2.0
"""Standard errors by which a range of shapes is wider than the means that were seen."""

SHAPES_WORDS = "That is for groups of uneven sizes; even or very uneven ones make it"


def tree_of(domains: Any, like: Any) -> Hierarchy:
    """Return the hierarchy that is planned for: stated, even with so many groups on each level, or that of a table."""
    if isinstance(domains, Hierarchy):
        return domains
    if domains is None:
        if like is None:
            raise InvalidParameterError("domains must be given, or like, a public table of the hierarchy's columns")
        columns = list(like) if hasattr(like, "keys") else list(getattr(like, "columns", []))
        return Hierarchy.from_table(columns, like)
    found: Hierarchy = even_tree(domains, "domains")
    return found


class _Released(NamedTuple):
    """Data sets with what was expected of them: for each level one row for each data set."""

    errors: list[Floats]
    """The mean error of a count."""
    radii: list[Floats]
    """The mean half length of an interval."""


class Tree:
    """Counts of the groups of every level, which add up."""

    yardstick_words = "chance alone, another sample of as many records, makes {}"
    fixed_yardstick = False
    varies = True

    def __init__(self, tree: Hierarchy, metric: Metric, source: StandIn | None, shape: str | None, seed: int) -> None:
        self._tree, self.metric, self._source, self._seed = tree, metric, source, seed
        names = [f"{len(tree.groups(column))} of {column}" for column in tree.columns]
        self.about = f"a hierarchy of groups ({', '.join(names)})"
        self.least_records = 2 * len(tree.paths)
        self._shape = shape
        self.reach_words = SHAPES_WORDS if source is None else OTHER_SAMPLES

    def most_records(self) -> int:
        """Return the largest number of records that can be tried."""
        return 10**12

    def measure(self, budget: Budget, n: int, *, quick: bool = False) -> Found:
        """Release data sets as `simplexdp.hierarchy.release` does, and infer what each says."""
        shares, mechanisms, curve = planned_levels(
            self._tree, budget.epsilon, budget.delta or None, None, budget.adjacency, 1
        )
        rows = QUICK_DATA_SETS if quick else DATA_SETS if self._source is None else SAMPLES
        counts = self._drawn(n, rows, self._shape or "dirichlet")
        found = self._released(counts, budget, shares, mechanisms, n, self._seed)
        reaches: list[tuple[float, float] | None] = []
        if self._source is not None and not quick:
            again = self._released(counts, budget, shares, mechanisms, n, self._seed + 1)
            reaches = [
                range_of_samples(np.stack(pair, axis=1), n, self._source.n_records)
                for pair in zip(found.errors, again.errors, strict=True)
            ]
            found = _Released(
                *([(a + b) / 2 for a, b in zip(*pair, strict=True)] for pair in zip(found, again, strict=True))
            )
        own = self._place
        error = float(found.errors[own].mean())
        finest: Any = mechanisms[-1]
        if quick:
            return Found(NOISE[type(finest).__name__], error, _standard_error(found.errors[own]), np.nan, None, "")
        if self._source is None:
            reaches = self._reaches(found, budget, shares, mechanisms, n)
        by_level = tuple(
            ByLevel(
                str(column), float(share), float(errors.mean()), _standard_error(errors), float(radii.mean()), reach
            )
            for column, share, errors, radii, reach in zip(
                self._tree.columns, shares, found.errors, found.radii, reaches, strict=True
            )
        )
        mine = by_level[own]
        return Found(
            NOISE[type(finest).__name__],
            mine.value,
            mine.standard_error,
            mine.within,
            curve,
            _code(budget),
            mine.reach,
            by_level,
        )

    @property
    def _place(self) -> int:
        """Return the level that the metric is about."""
        return 0 if self.metric.name == "coarsest" else -1

    def _reaches(
        self, found: _Released, budget: Budget, shares: Any, mechanisms: Any, n: int
    ) -> list[tuple[float, float] | None]:
        """Return the range of each level: what other shapes make of it."""
        if self._shape is not None:
            return [None] * self._tree.depth
        seen = [found.errors]
        for place, shape in enumerate(SHAPES, 1):
            drawn = self._drawn(n, OF_SHAPE, shape)
            seen.append(self._released(drawn, budget, shares, mechanisms, n, self._seed + place).errors)
        ends = [
            [each[depth].mean() + sign * MARGIN * _standard_error(each[depth]) for each in seen for sign in (-1, 1)]
            for depth in range(self._tree.depth)
        ]
        return [(max(float(min(each)), 0.0), float(max(each))) for each in ends]

    def _drawn(self, n: int, rows: int, shape: str) -> Integers:
        """Draw data sets: counts of the finest groups."""
        generator = np.random.default_rng(self._seed)
        if self._source is not None:
            return np.stack([self._counted(self._source.draw(n, generator)) for _ in range(rows)])
        shares = np.stack(list(self._made_up(generator, rows, shape)))
        return generator.multinomial(n, shares * (1 - 1e-12)).astype(np.int64)

    def _made_up(self, generator: np.random.Generator, rows: int, shape: str) -> Iterator[Floats]:
        """Make shares up: at every level the children of a group have shares of this shape."""
        # No group is empty where few values are taken: who lists groups lists those that there are.
        upper = "zipf" if shape == "sparse" else shape
        for _ in range(rows):
            shares = np.ones(1)
            for depth in range(self._tree.depth):
                sizes = np.bincount(self._tree.parents(depth))
                kind = as_population(shape if depth == self._tree.depth - 1 else upper, max(int(sizes.max()), 2))
                within = [np.ones(1) if size == 1 else _of_kind(kind, int(size), generator) for size in sizes]
                shares = np.concatenate([above * each for above, each in zip(shares, within, strict=True)])
            yield shares

    def _counted(self, codes: dict[Any, Integers]) -> Integers:
        found: Integers = np.bincount(codes[self._tree.columns[-1]], minlength=len(self._tree.paths))
        return found

    def _released(self, counts: Integers, budget: Budget, shares: Any, mechanisms: Any, n: int, seed: int) -> _Released:
        tree, total = self._tree, n if budget.adjacency == "replace" else None
        errors: list[list[float]] = [[] for _ in tree.columns]
        radii: list[list[float]] = [[] for _ in tree.columns]
        with warnings.catch_warnings():
            # Seeded on purpose: the data are nobody's.
            warnings.simplefilter("ignore", InsecureRandomnessWarning)
            rng = SeededRng(seed)
            for row in counts:
                noisy = drawn_levels(tree, mechanisms, row, rng)
                found = HierarchicalCounts(tree, None, shares, tuple(mechanisms), noisy, None, total)  # type: ignore[arg-type]
                for depth, true in enumerate(_sums(tree, row)):
                    laws = found.counts(tree.columns[depth])
                    errors[depth].append(float(np.abs(laws.mean - true).mean()))
                    radii[depth].append(float(np.ptp(laws.interval(budget.level), axis=-1).mean()) / 2)
        return _Released([np.array(each) for each in errors], [np.array(each) for each in radii])

    def yardstick(self, n: int) -> float:
        """Return how far counts of the level are from their expectations because n records were drawn and not all."""
        generator = np.random.default_rng(self._seed)
        if self._source is None:
            shares = np.stack(list(self._made_up(generator, 4 * DATA_SETS, self._shape or "dirichlet")))
        else:
            every = self._source.shares([self._tree.columns[-1]], [len(self._tree.paths)])
            shares = np.tile(every, (4 * DATA_SETS, 1))
        drawn = generator.multinomial(n, shares * (1 - 1e-12))
        off = [np.abs(_sums(self._tree, row)[self._place]).mean() for row in drawn - n * shares]
        return float(np.mean(off))


def _of_kind(kind: Any, size: int, generator: np.random.Generator) -> Floats:
    counts = kind.draw(VERY_MANY, size, 1, generator)[0]
    return np.asarray(counts / counts.sum())


def _sums(tree: Hierarchy, finest: Any) -> list[Floats]:
    """Return the numbers of every level from those of the finest, from coarse to fine."""
    found = [np.asarray(finest, dtype=np.float64)]
    for depth in range(tree.depth - 1, 0, -1):
        found.insert(0, np.bincount(tree.parents(depth), found[0]).astype(np.float64))
    return found


def _standard_error(values: Sequence[float] | Floats) -> float:
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))


def _code(budget: Budget) -> str:
    delta = f", delta={budget.delta!r}" if budget.delta else ""
    change = "" if budget.adjacency == "replace" else f", adjacency={budget.adjacency!r}"
    return (
        "import simplexdp as sdp\n"
        f"released = sdp.hierarchy.release(frame, hierarchy, epsilon={budget.epsilon!r}{delta}{change})"
        "  # a public sdp.hierarchy.Hierarchy\n"
        "counts = {column: released.counts(column) for column in hierarchy.columns}"
        f"  # each has mean and interval({budget.level:g})"
    )
