"""Advice for releases that take the better noise by themselves: what it is here, and what they are off by."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplexdp import _arguments as check
from simplexdp._automatic import discrete_laplace_spread
from simplexdp.exceptions import InvalidParameterError
from simplexdp.testing import SeededRng

__all__ = ["Asked", "advise"]

Floats = NDArray[np.float64]
Advice = tuple[str, str, str]
"""The mechanism, why, and lines of code."""

TREE_WORK, TREE_LEAST, TREE_DRAWS = 3000.0, 50, 4
"""Up to so many groups (at least so many) times levels times the standard deviation of the noise a tree is inferred,
which takes a second or two."""

MARGIN_TABLES, FITS, JUDGED = 12, 6, 4000
"""Tables, fits of a classifier, and records that it is judged by."""

MOST_GROUPS = 100_000
"""Of a level: the tree is built, and its variances are solved for."""

MOST_NUMBERS = 20_000_000
"""Of a made-up table, which is fitted again and again."""

CENTRES, WIDTH = (0.3, 0.7), 0.15
"""Of made-up numbers between 0 and 1: where classes lie, and how far they spread."""

FOUND = 0.95
"""How surely a category is found."""

NOISE = {"DiscreteLaplaceMechanism": "discrete_laplace", "DiscreteGaussianMechanism": "discrete_gaussian"}


@dataclass(frozen=True)
class Asked:
    """What was asked for."""

    task: str
    n: int
    epsilon: float
    delta: float
    adjacency: Any
    seed: int

    @property
    def where(self) -> str:
        """The beginning of a sentence."""
        return f"At n = {self.n} and ({self.epsilon:g}, {self.delta:g})-DP ({self.adjacency})"

    @property
    def budget(self) -> str:
        """The arguments of a release."""
        delta = f", delta={self.delta!r}" if self.delta else ""
        change = "" if self.adjacency == "replace" else f", adjacency={self.adjacency!r}"
        return f"epsilon={self.epsilon!r}{delta}{change}"


def advise(asked: Asked, dimension: int | None, rows: int, levels: Sequence[int] | None) -> Advice:
    """Say what a release does that chooses its noise."""
    if asked.task in ("mean", "quantile"):
        return _numbers(asked)
    if asked.task == "hierarchy":
        return _hierarchy(asked, levels)
    if asked.task == "categories":
        return _categories(asked)
    least = 1 if asked.task == "gaussian-nb" else 2
    dimension = check.integer("dimension", dimension, least)
    return _margins(asked, rows, dimension) if asked.task == "margins" else _gaussian_classes(asked, rows, dimension)


def _numbers(asked: Asked) -> Advice:
    from simplexdp.planning import plan

    found = plan(
        asked.task, n=asked.n, epsilons=[asked.epsilon], delta=asked.delta, adjacency=asked.adjacency, seed=asked.seed
    )
    step = found.steps[0]
    why = (
        f"Of two kinds of noise it has the smaller variance at ({asked.epsilon:g}, {asked.delta:g})-DP "
        f"({asked.adjacency}) and is taken without being asked for. At n = {asked.n} what is released of {found.about} "
        f"is off by {100 * step.value:.3g} % of the distance between the bounds on average; what more and less budget "
        f"do says sdp.plan({asked.task!r}, n={asked.n})."
    )
    return step.mechanism, why, step.code.replace("(0.0, 1.0)", "bounds")


def _hierarchy(asked: Asked, levels: Any) -> Advice:
    """Say how the levels share the budget, and what they are off by; from their numbers of groups."""
    from simplexdp.hierarchy.release import planned_levels

    tree = even_tree(levels)
    columns = tree.columns
    delta = asked.delta or None
    shares, mechanisms, _ = planned_levels(tree, asked.epsilon, delta, None, asked.adjacency, 1)
    finest: Any = mechanisms[-1]
    told = [f"{float(share):.0%} of the budget for {name}" for name, share in zip(columns, shares, strict=True)]
    off = _deviations(asked, tree, mechanisms)
    alone = _deviations(asked, tree, planned_levels(
        tree, asked.epsilon, delta, [0.0] * (tree.depth - 1) + [1.0], asked.adjacency, 1
    )[1])  # fmt: skip
    by_level = "; ".join(
        f"{name} {mine:.3g}, from the finest level alone {other:.3g}"
        for name, mine, other in zip(columns, off, alone, strict=True)
    )
    why = (
        f"{asked.where} it has, with these shares, the least geometric mean of the levels' variances, and both are "
        f"taken without being asked for: {', '.join(told)}. Standard deviation of the error of a count by least "
        f"squares: {by_level}."
    )
    if max(len(tree.paths), TREE_LEAST) * tree.depth * _deviation(finest) <= TREE_WORK:
        errors = _tree_errors(asked, tree, shares, mechanisms)
        seen = ", ".join(f"{name} {error:.3g}" for name, error in zip(columns, errors, strict=True))
        why += f" Counts as they are expected given all levels are off by, on average over made-up data: {seen}."
    code = (
        "import simplexdp as sdp\n"
        f"released = sdp.hierarchy.release(frame, hierarchy, {asked.budget})  # a public sdp.hierarchy.Hierarchy\n"
        "counts = released.integers()  # they add up; released.counts(column).interval(0.95) has intervals"
    )
    return NOISE[type(finest).__name__], why, code


def even_tree(levels: Any, name: str = "levels") -> Any:
    """Return a hierarchy whose groups have children as evenly as their numbers allow."""
    from simplexdp.hierarchy import Hierarchy

    try:
        sizes = [check.integer(name, size, 1) for size in levels]
    except TypeError:
        raise InvalidParameterError(f"{name} must be numbers of groups, got {levels!r}") from None
    if max(sizes, default=0) > MOST_GROUPS:
        raise InvalidParameterError(f"{name} must be at most {MOST_GROUPS}, got {max(sizes)}")
    if len(sizes) < 2 or any(fine < coarse for coarse, fine in pairwise(sizes)) or sizes[-1] < 2:
        raise InvalidParameterError(
            f"{name} must be at least two numbers of groups that do not fall from coarse to fine, got {levels!r}"
        )
    columns = [f"level {place}" for place in range(1, len(sizes) + 1)]
    paths = [tuple(leaf * size // sizes[-1] for size in sizes) for leaf in range(sizes[-1])]
    return Hierarchy(columns, [tuple(f"{depth}.{each}" for depth, each in enumerate(path)) for path in paths])


def _deviation(mechanism: Any) -> float:
    """Return the standard deviation of integer noise."""
    return float(mechanism.sigma) if hasattr(mechanism, "sigma") else discrete_laplace_spread(float(mechanism.scale))


def _deviations(asked: Asked, tree: Any, mechanisms: Sequence[Any]) -> list[float]:
    """Return the root of the mean variance of each level, by least squares."""
    from simplexdp.inference.least_squares import Measured, least_squares

    measured = [
        Measured(
            tree.parents(depth), np.zeros(len(tree.parents(depth))), np.inf if each is None else _deviation(each) ** 2
        )
        for depth, each in enumerate(mechanisms)
    ]
    found = least_squares(measured, asked.n if asked.adjacency == "replace" else None)[-tree.depth :]
    return [math.sqrt(float(np.mean(each.variances))) for each in found]


def _tree_errors(asked: Asked, tree: Any, shares: Any, mechanisms: Sequence[Any]) -> list[float]:
    """Return the mean absolute error of expected counts on each level."""
    from simplexdp.hierarchy.release import HierarchicalCounts, drawn_levels

    generator = np.random.default_rng(asked.seed)
    errors = []
    with warnings.catch_warnings():
        # Seeded on purpose: the data are nobody's.
        warnings.simplefilter("ignore")
        rng = SeededRng(asked.seed)
        for _ in range(TREE_DRAWS):
            counts = generator.multinomial(asked.n, generator.dirichlet(np.ones(len(tree.paths))))
            noisy = drawn_levels(tree, mechanisms, counts, rng)
            total = asked.n if asked.adjacency == "replace" else None
            found = HierarchicalCounts(tree, None, shares, tuple(mechanisms), noisy, None, total)  # type: ignore[arg-type]
            true = counts
            by_level: list[float] = []
            for depth in range(tree.depth - 1, -1, -1):
                by_level.insert(0, float(np.abs(found.counts(tree.columns[depth]).mean - true).mean()))
                true = np.bincount(tree.parents(depth), true).astype(np.int64)
            errors.append(by_level)
    return [float(each) for each in np.mean(errors, axis=0)]


def _margins(asked: Asked, groups: int, dimension: int) -> Advice:
    """Say which noise has the smaller error of sums, as they are expected given all cells."""
    from simplexdp._catalogue import CATALOGUE

    generator = np.random.default_rng(asked.seed)
    shares = generator.dirichlet(np.ones(groups * dimension), MARGIN_TABLES)
    tables = np.array([generator.multinomial(asked.n, each) for each in shares]).reshape(-1, groups, dimension)
    total = asked.n if asked.adjacency == "replace" else None
    tried = []
    for name in NOISE.values():
        entry = CATALOGUE[name]
        if asked.delta == 0 and not entry.pure:
            continue
        values, keywords = entry.construction(asked.epsilon, asked.delta, asked.adjacency, groups * dimension)
        mechanism = entry.mechanism.for_counts(*values, **keywords)
        errors = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rng = SeededRng(asked.seed)
            for table in tables:
                found = mechanism.infer(mechanism.release(table, rng=rng), prior="empirical").margins(total=total)
                errors.append((
                    np.abs(found.over(1).mean - table.sum(axis=1)).mean(),
                    np.abs(found.over(0).mean - table.sum(axis=0)).mean(),
                ))  # fmt: skip
        arguments = ", ".join([*map(repr, values), *(f"{key}={value!r}" for key, value in keywords.items())])
        tried.append((*np.mean(errors, axis=0), name, f"sdp.{entry.kind}.for_counts({arguments})"))
    by_group, by_category, name, built = min(tried, key=lambda each: each[0] + each[1])
    others = [f"{each[0]:.3g} and {each[1]:.3g} with {each[2]}" for each in tried if each[2] != name]
    why = (
        f"{asked.where} for a table of {groups} groups and {dimension} categories, the sums of a group and of a "
        f"category are off by {by_group:.3g} and {by_category:.3g} records on average over made-up tables, as they are "
        f"expected given all cells{', against ' + ' and '.join(others) if others else ''}. They cost nothing beside "
        "the cells."
    )
    stated = "" if total is None else f"total={total}"
    code = (
        f"import simplexdp as sdp\nmechanism = {built}\n"
        "noisy = mechanism.release(counts)  # a row for each group\n"
        f"margins = mechanism.infer(noisy, prior='empirical').margins({stated})\n"
        "margins.over(1).mean, margins.over(0).mean, margins.total.mean  # of groups, of categories, of all"
    )
    return name, why, code


def _categories(asked: Asked) -> Advice:
    """Say from how many records on a category is found; an exact tail of the noise."""
    from simplexdp.frames.discovery import Plan

    plan = Plan.of(asked.epsilon, check.open_unit("delta", asked.delta), asked.adjacency, None)
    # P(Z <= -k) = q^k / (1 + q) for discrete Laplace noise: the noisy count falls short.
    q = math.exp(-1 / plan.scale)
    records = plan.threshold - 1 + math.ceil(math.log((1 - FOUND) * (1 + q)) / math.log(q))
    why = (
        f"{asked.where} a category is published where its noisy count reaches {plan.threshold}: one that has "
        f"{records} records or more ({100 * records / asked.n:.3g} % of all) is found with {FOUND:.0%} or more, one "
        f"with fewer than {plan.least} never. The threshold is what delta asks for."
    )
    code = (
        "from simplexdp.frames import Domain\n"
        f"domain = Domain.discover(frame, column, {asked.budget})\n"
        "domain.levels, domain.noisy_counts"
    )
    return "discrete_laplace", why, code


def _gaussian_classes(asked: Asked, classes: int, columns: int) -> Advice:
    """Fit made-up bells, with and without privacy."""
    from simplexdp.models import PrivateGaussianNB

    classes = check.integer("rows", classes, 2)
    if asked.n * columns > MOST_NUMBERS:
        raise InvalidParameterError(f"n must be at most {MOST_NUMBERS // columns} for so many columns, got {asked.n}")
    generator, name = np.random.default_rng(asked.seed), ""
    found: dict[str, list[float]] = {"auto": [], "none": []}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for turn in range(FITS):
            centres = generator.uniform(*CENTRES, (classes, columns))
            y = generator.integers(0, classes, asked.n + JUDGED)
            table = np.clip(generator.normal(centres[y], WIDTH), 0.0, 1.0)
            for kind, scores in found.items():
                model = PrivateGaussianNB(
                    asked.epsilon, check.open_unit("delta", asked.delta), bounds=(0.0, 1.0),
                    classes=list(range(classes)), mechanism=kind, adjacency=asked.adjacency,
                    random_state=SeededRng(asked.seed + turn),
                ).fit(table[: asked.n], y[: asked.n])  # fmt: skip
                scores.append(float(model.score(table[asked.n :], y[asked.n :])))
                name = model.mechanism_ if kind == "auto" else name
    private, plain = (float(np.mean(each)) for each in found.values())
    why = (
        f"Of two kinds of noise it has the smaller variance and is taken without being asked for. {asked.where}, with "
        f"{columns} columns and {classes} classes of made-up bells, {100 * private:.3g} % of new records are "
        f"classified right on average, and {100 * plain:.3g} % without privacy. On your own data both are others, the "
        "distance says what privacy costs."
    )
    change = "" if asked.adjacency == "replace" else f", adjacency={asked.adjacency!r}"
    code = (
        "from simplexdp.models import PrivateGaussianNB\n"
        f"model = PrivateGaussianNB({asked.epsilon!r}, {asked.delta!r}{change}, bounds=bounds, classes=classes)"
        ".fit(X, y)"
    )
    return name, why, code
