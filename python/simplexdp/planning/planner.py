"""The plan: error, attack and need of records at each epsilon, and what follows from them."""

from __future__ import annotations

import html
import math
import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simplexdp import _arguments as check
from simplexdp._cautions import caution
from simplexdp._rounding import rounded
from simplexdp._typesetting import kept_together
from simplexdp.comparison.population import SHAPES
from simplexdp.exceptions import InvalidParameterError
from simplexdp.frames import Domain
from simplexdp.numeric.column import checked_bounds
from simplexdp.planning import counts, models, numeric, trees
from simplexdp.planning.stand_in import ADDED, MIDDLING, OTHERS, MadeUp, Rows, StandIn, domains_of, stand_in
from simplexdp.planning.tasks import METRICS, MODELS, NUMERIC, OF_TASK, TASKS, Budget, ByLevel, Found, Metric, Task

__all__ = ["Plan", "Step", "plan"]

Progress = Callable[[int, int], object]

EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
POINT = 0.01
"""A classifier within one percentage point of the accuracy without privacy is as good as it."""

WIDTH = 100
"""Of the words below a table that is printed."""

SLOPE = 0.5
"""By how much the logarithm of an error over that of chance falls with that of n, where nothing else is known of it."""

STEP, FAR, NEAR, NEARLY, LEAST_EXCESS, MOST_TRIED = 1.5, 20.0, 0.04, 0.3, 0.01, 16
"""Of the search for records: the least and the largest factor of a step, a logarithm that ends it, and one where what
is measured varies; what counts as nothing, numbers of records at most."""

FLAT = 1.1
"""More budget has stopped paying where ten times as much would make the error smaller by less than a tenth."""


@dataclass(frozen=True)
class Step:
    """What one epsilon buys.

    Attributes
    ----------
    epsilon : float
    mechanism : str
        The best one here.
    value, standard_error : float
        The mean of the plan's metric over data sets and draws, and how uncertain it is.
    within : float
        What one release keeps with the plan's level: the error is at most so much, the accuracy at least.
    reach : pair of float or None
        Between which means the metric lies for data of other shapes: even shares, uneven ones (Dirichlet, Zipf), most
        categories empty; columns that depend on each other hardly or strongly; numbers near one bound or both. With a
        stand-in, for 95 % of private tables that are samples of the same population: for groups, posteriors, means and
        quantiles. None for the other tasks with a stand-in, with a stated shape and for classifiers.
    advantage : float
        The largest advantage of an attacker: its true positive rate minus its false positive rate.
    guess : float
        How often an attacker who holds two records for equally likely picks the right one, at most.
    records_needed : int or None
        About how many records it takes to reach the plan's target at this epsilon, not below two for each category or
        100 for a model; None where more would be needed than can be tried.
    code : str
        Lines that make the release.
    by_level : tuple of ByLevel
        Of a hierarchy: for each level, from coarse to fine, its ``name``, ``share`` of the budget, ``value``,
        ``standard_error``, ``within`` and ``reach``.
    """

    epsilon: float
    mechanism: str
    value: float
    standard_error: float
    within: float
    advantage: float
    guess: float
    records_needed: int | None
    code: str = field(repr=False)
    reach: tuple[float, float] | None = None
    by_level: tuple[ByLevel, ...] = ()


@dataclass(frozen=True)
class Plan:
    """Error against epsilon for a task, and what follows.

    Attributes
    ----------
    task, about, metric, source : str
        What was planned, in words too, and what it was measured on.
    n : int
    delta, level : float
    adjacency : str
    yardstick, yardstick_words : float, str
        The metric without any privacy: of another sample of as many records, or of the classifier without noise.
    target : float or None
        What was asked for; without it the yardstick is.
    steps : tuple of Step
        In growing order of epsilon.
    reach_words : str
        What the data were taken for, where the steps have a reach.
    """

    task: str
    about: str
    metric: str
    source: str
    n: int
    delta: float
    adjacency: str
    level: float
    yardstick: float
    yardstick_words: str
    target: float | None
    steps: tuple[Step, ...]
    reach_words: str = ""

    @property
    def enough(self) -> Step | None:
        """The least epsilon that reaches the target; without a target, from which on more budget stops paying."""
        good = _goal(METRICS[self.metric], self.target)
        return next((step for step in self.steps if good(step.value, self.yardstick)), None) or self._flat

    @property
    def _flat(self) -> Step | None:
        """Return the first step that is nearly as good as the last, where it comes well before."""
        if self.target is not None:
            return None
        last, more = self.steps[-1], METRICS[self.metric].more_is_better
        for step in self.steps:
            loss, least = (1 - step.value, 1 - last.value) if more else (step.value, last.value)
            if 10 * step.epsilon <= last.epsilon * (1 + 1e-9) and loss <= FLAT * least:
                return step
        return None

    def at(self, epsilon: float) -> Step:
        """Return the step of an epsilon of the plan."""
        for step in self.steps:
            if step.epsilon == epsilon:
                return step
        raise InvalidParameterError(f"epsilon must be one of {[step.epsilon for step in self.steps]}, got {epsilon!r}")

    @property
    def words(self) -> str:
        """One paragraph for people who have to decide."""
        return _words(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, texts, lists and dictionaries; what is not finite becomes None."""
        content = {name: value for name, value in vars(self).items() if name != "steps"}
        enough = self.enough
        steps: list[dict[str, Any]] = [
            {name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in row}
            for row in (vars(step).items() for step in self.steps)
        ]
        for step in steps:
            step["by_level"] = [dict(vars(level)) for level in step["by_level"]]
        return {**content, "enough": None if enough is None else enough.epsilon, "words": self.words, "steps": steps}

    def plot(self, ax: Any = None) -> Any:
        """Draw it; needs matplotlib. Returns the axes."""
        from simplexdp.plots import plan as draw

        return draw(self, ax)

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return the heads and the rows of the table, as text."""
        metric = METRICS[self.metric]
        heads = ["epsilon", "mechanism", metric.name, "range", f"{100 * self.level:g} %", "attacker is right"]
        heads.append("records needed")
        rows = [
            [
                f"{step.epsilon:g}",
                step.mechanism,
                metric.shown(step.value),
                "" if step.reach is None else " to ".join(map(metric.shown, step.reach)),
                f"{metric.sign} {metric.shown(step.within)}" if math.isfinite(step.within) else "",
                f"{rounded(100 * step.guess, 3)} %",
                "" if step.records_needed is None else f"{step.records_needed:,}",
            ]
            for step in self.steps
        ]
        if not any(step.reach for step in self.steps):
            del heads[3]
            for row in rows:
                del row[3]
        for place, level in enumerate(self.steps[0].by_level):
            heads.append(level.name)
            for step, row in zip(self.steps, rows, strict=True):
                row.append(metric.shown(step.by_level[place].value))
        return heads, rows

    def __str__(self) -> str:
        heads, rows = self.table()
        widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
        left = [head == "mechanism" for head in heads]
        lines = [
            "  ".join(
                f"{cell:<{width}}" if to_left else f"{cell:>{width}}"
                for cell, width, to_left in zip(row, widths, left, strict=True)
            )
            for row in (heads, *rows)
        ]
        title = f"{self.about}, n = {self.n:,}, delta = {self.delta:g}, {self.adjacency}; measured on {self.source}"
        # A number keeps its unit.
        words = re.sub(r" (?=%|= )|(?<= =) ", "\N{NO-BREAK SPACE}", self.words)
        words = textwrap.fill(words, WIDTH, break_long_words=False, break_on_hyphens=False).replace(
            "\N{NO-BREAK SPACE}", " "
        )
        return "\n".join([title, "", *(line.rstrip() for line in lines), "", words])

    def _repr_html_(self) -> str:
        heads, rows = self.table()
        enough = self.enough
        head = "".join(f"<th>{html.escape(name)}</th>" for name in heads)
        body = "".join(
            f"<tr{' style=font-weight:bold' if step is enough else ''}>"
            + "".join(f"<td>{html.escape(cell)}</td>" for cell in row)
            + "</tr>"
            for step, row in zip(self.steps, rows, strict=True)
        )
        return kept_together(
            f"<table><caption>{html.escape(self.about)}, n = {self.n:,}</caption><thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table><p>{html.escape(self.words)}</p>"
        )


def plan(
    task: str,
    *,
    n: int,
    domains: Any = None,
    delta: float = 1e-6,
    epsilons: Iterable[float] = EPSILONS,
    like: Any = None,
    metric: str | None = None,
    target: float | None = None,
    edges: Sequence[tuple[Any, Any]] | None = None,
    classes: Any = None,
    bounds: tuple[float, float] | None = None,
    shape: str | None = None,
    adjacency: str | None = None,
    level: float = 0.95,
    seed: int = 0,
    progress: Progress | None = None,
) -> Plan:
    """Say what each epsilon buys for a task, before any private record is touched.

    The release is made again and again on data that are nobody's: on a population of made-up data sets, or on records
    of a public or synthetic table. At each epsilon the best mechanism is taken.

    Parameters
    ----------
    task : {"histogram", "groups", "posterior", "classifier", "network", "synthesis", "mean", "quantile", "hierarchy"}
    n : int
        Number of records, public or a public guess.
    domains : mapping, sequence or int
        What values columns have: a mapping from columns to lists of values, cardinalities or `simplexdp.frames.Domain`;
        or cardinalities. "groups" takes the groups, then the column; "hierarchy" a `simplexdp.hierarchy.Hierarchy`, or
        how many groups each level has, from coarse to fine. May be left out where `like` is given, and is for "mean"
        and "quantile".
    delta : float
        0 allows pure mechanisms only.
    epsilons : iterable of float
    like : data frame, two-dimensional array or mapping of arrays, optional
        A table that is public or synthetic and similar to the private one: last year's published one, or what
        `PrivateSynthesizer` drew. **Never the private table**: the plan would be a release of it without protection.
        "mean" and "quantile" take a sequence of numbers.
    metric : str, optional
        "histogram": "counts" (mean error of a count), "shares" (of a share) or "largest" (largest error of a share);
        "groups": "counts" or "shares", of the shares within a group; "hierarchy": "finest" or "coarsest", the mean
        error of a count of that level, and every step tells it of all levels. The other tasks have one: "posterior" the
        Hellinger distance, "classifier" the accuracy, "network" and "synthesis" the mean total variation distance
        between synthetic and real tables of two columns, those of the edges or all, "mean" and "quantile" the error in
        shares of the distance between the bounds (of the three quartiles on average).
    target : float, optional
        What is good enough, in units of the metric. By default privacy may cost as much as chance does: the error of
        another sample of as many records, or for a classifier one percentage point of accuracy.
    edges : sequence of pairs, optional
        Of a "network"; needed there.
    classes : optional
        The column of the classes of a "classifier"; by default the last one.
    bounds : (float, float), optional
        Of a "mean" or "quantile"; by default 0 and 1. Needed with `like`.
    shape : {"uniform", "dirichlet", "zipf", "sparse"}, optional
        Of a "histogram", "groups", "posterior" or "hierarchy", where it is publicly known what the shares are like:
        equal; spread over all categories; proportional to rank^-1.5; on few categories. Steps have no reach then.
    adjacency : {"replace", "add_remove"}, optional
        By default that of the classes that make the release: "add_remove" for "synthesis", "replace" for the others.
    level : float
        Of intervals.
    seed : int
        Repeats a plan.
    progress : callable, optional
        Called as ``progress(done, of)`` after each epsilon.

    Returns
    -------
    Plan

    Notes
    -----
    Without `like` the data are made up. Of a classifier the distance from the yardstick says something then, the
    accuracy itself does not.

    Examples
    --------
    >>> import simplexdp as sdp
    >>> plan = sdp.plan("histogram", n=1000, domains=10, delta=1e-6, epsilons=[0.1, 1.0])
    >>> [step.mechanism for step in plan.steps], plan.enough.epsilon
    (['sum_preserving_laplace', 'sum_preserving_laplace'], 1.0)
    >>> plan.steps[0].value > plan.steps[1].value
    True
    """
    check.choice("task", task, TASKS)
    n = check.integer("n", n, 1)
    delta = check.non_negative("delta", delta)
    if not delta < 1 or (delta == 0 and task in MODELS):
        least = "above 0 and " if task in MODELS else ""
        raise InvalidParameterError(f"delta must be {least}below 1 for the task {task!r}, got {delta}")
    wanted = sorted({check.positive("epsilons", epsilon) for epsilon in epsilons})
    if not wanted:
        raise InvalidParameterError("epsilons must hold at least one")
    caution(epsilon=wanted[-1], delta=delta, n=n)
    level, seed = check.open_unit("level", level), check.seed(seed)
    change = check.choice(
        "adjacency", ("add_remove" if task == "synthesis" else "replace") if adjacency is None else adjacency,
        ("replace", "add_remove"),
    )  # fmt: skip
    if task == "posterior" and change == "add_remove":
        raise InvalidParameterError(
            "adjacency must be \"replace\" for the task 'posterior', which needs a public total"
        )
    if target is not None:
        target = check.positive("target", target)
    if progress is not None and not callable(progress):
        raise InvalidParameterError(f"progress must be callable or None, got {progress!r}")
    chosen = METRICS[check.choice("metric", OF_TASK[task][0] if metric is None else metric, OF_TASK[task])]
    if edges is not None and task != "network":
        raise InvalidParameterError(f"edges must be left out for the task {task!r}")
    if classes is not None and task != "classifier":
        raise InvalidParameterError(f"classes must be left out for the task {task!r}")
    if shape is not None:
        if task not in (*TASKS[:3], "hierarchy") or like is not None:
            raise InvalidParameterError(f"shape must be left out with like and for the task {task!r}, got {shape!r}")
        check.choice("shape", shape, SHAPES)
    measured: Task
    if task in NUMERIC:
        if domains is not None:
            raise InvalidParameterError(f"domains must be left out for the task {task!r}, which has bounds")
        if like is not None and bounds is None:
            raise InvalidParameterError("bounds must be given with like")
        values = numeric.numbers_like(like)
        measured = numeric.Numbers(task, checked_bounds((0.0, 1.0) if bounds is None else bounds), values, seed)
        records = None if values is None else len(values)
    elif bounds is not None:
        raise InvalidParameterError(f"bounds must be left out for the task {task!r}")
    elif task == "hierarchy":
        tree = trees.tree_of(domains, like)
        finest = tree.columns[-1]
        source = None if like is None else stand_in(like, {finest: Domain([path[-1] for path in tree.paths])})
        measured = trees.Tree(tree, chosen, source, shape, seed)
        records = None if source is None else source.n_records
    else:
        stated = domains_of(domains, like)
        source = None if like is None else stand_in(like, stated)
        measured = _task(task, stated, source, chosen, edges, classes, shape, seed)
        records = None if source is None else source.n_records
    if n > measured.most_records():
        raise InvalidParameterError(f"n must be at most {measured.most_records()} for these columns, got {n}")
    yardstick = measured.yardstick(n)
    found: list[tuple[float, Found]] = []
    for done, epsilon in enumerate(wanted, 1):
        found.append((epsilon, measured.measure(Budget(epsilon, delta, change, level), n)))
        if progress is not None:
            progress(done, 2 * len(wanted))
    steps: list[Step] = []
    guess = 0.0
    # From the largest epsilon down: a smaller one needs more records.
    for done, (epsilon, each) in enumerate(reversed(found), len(wanted) + 1):
        needed = None
        if math.isfinite(guess):
            # After one that is out of reach all are.
            needed = _needed(measured, Budget(epsilon, delta, change, level), n, each, target, guess)
            guess = math.inf if needed is None else needed
        assert each.curve is not None
        advantage = each.curve.advantage()
        steps.append(
            Step(
                epsilon,
                each.mechanism,
                each.value,
                each.standard_error,
                each.within,
                advantage,
                min((1 + advantage) / 2, 1.0),
                None if needed is None else _round(needed),
                each.code,
                each.reach,
                each.by_level,
            )
        )
        if progress is not None:
            progress(done, 2 * len(wanted))
    where = "made-up data" if records is None else f"a stand-in table of {records:,} records"
    return Plan(
        task,
        measured.about,
        chosen.name,
        where,
        n,
        delta,
        change,
        level,
        yardstick,
        measured.yardstick_words,
        target,
        tuple(reversed(steps)),
        measured.reach_words,
    )


def _task(
    task: str,
    domains: dict[Any, Domain],
    source: StandIn | None,
    metric: Metric,
    edges: Any,
    classes: Any,
    shape: str | None,
    seed: int,
) -> Task:
    """Return what measures a task."""
    sizes = [len(domain) for domain in domains.values()]
    names = list(domains)
    if task in ("histogram", "posterior", "groups"):
        counts.check_sizes(sizes, 2 if task == "groups" else 1, task)
        shares = None if source is None else source.shares(names, sizes)
        stood_in = None if source is None else source.n_records
        if task == "groups":
            return counts.Groups(sizes[0], sizes[1], shares, metric, seed, shape, stood_in)
        kind = counts.Histogram if task == "histogram" else counts.Posterior
        return kind(sizes[0], shares, metric, seed, shape, stood_in)
    if task == "classifier":
        target = names[-1] if classes is None else classes
        if target not in domains:
            raise InvalidParameterError(f"classes must be a column of domains, got {classes!r}")
        parents = {target: [], **{name: [target] for name in names if name != target}}
        return models.Classifier(domains, source or _made_up(domains, parents, seed), seed, target)
    if task == "network":
        if not edges:
            raise InvalidParameterError("edges must be given for the task 'network': pairs of a parent and a child")
        parents = _in_order(names, edges)
        others = _others(domains, parents, parents, seed) if source is None else ()
        pairs = [(a, b) for a, b in edges]
        return models.Network(domains, source or _made_up(domains, parents, seed), seed, pairs, others)
    parents, several = (
        {name: names[max(place - before, 0) : place] for place, name in enumerate(names)} for before in (1, 2)
    )
    others = _others(domains, parents, several, seed) if source is None else ()
    return models.Synthesis(domains, source or _made_up(domains, parents, seed), seed, others)


def _made_up(domains: dict[Any, Domain], parents: dict[Any, list[Any]], seed: int, rows: Rows = MIDDLING) -> MadeUp:
    return MadeUp({name: len(domain) for name, domain in domains.items()}, parents, seed, rows)


def _others(
    domains: dict[Any, Domain], parents: dict[Any, list[Any]], several: dict[Any, list[Any]], seed: int
) -> list[MadeUp]:
    """Return laws of other shapes; effects add up of several parents."""
    alike = [_made_up(domains, parents, seed, rows) for rows in OTHERS]
    return [*alike, *(_made_up(domains, several, seed, rows) for rows in ADDED)]


def _in_order(names: list[Any], edges: Any) -> dict[Any, list[Any]]:
    """Return the parents of each column, parents first."""
    parents: dict[Any, list[Any]] = {name: [] for name in names}
    for edge in edges:
        if len(edge) != 2 or any(each not in parents for each in edge):
            raise InvalidParameterError(f"edges must be pairs of columns of domains, which are {names}, got {edge!r}")
        parents[edge[1]].append(edge[0])
    ordered: dict[Any, list[Any]] = {}
    while len(ordered) < len(names):
        ready = [name for name in names if name not in ordered and all(each in ordered for each in parents[name])]
        if not ready:
            raise InvalidParameterError("edges must not close a circle")
        ordered |= {name: parents[name] for name in ready}
    return ordered


def _goal(metric: Metric, target: float | None) -> Callable[[float, float], bool]:
    """Return whether a value is good enough, given the yardstick of as many records."""
    if metric.more_is_better:
        return lambda value, yardstick: value >= (yardstick - POINT if target is None else target)
    return lambda value, yardstick: value <= (yardstick if target is None else target)


def _excess(metric: Metric, target: float | None, value: float, yardstick: float) -> float:
    """Return how many times as far off a value is as it may be, at least a hundredth."""
    if not metric.more_is_better:
        return max(value / max(yardstick if target is None else target, 1e-300), LEAST_EXCESS)
    allowed = POINT if target is None else yardstick - target
    if allowed <= 0:
        return LEAST_EXCESS if value >= yardstick - allowed else math.inf
    return max((yardstick - value) / allowed, LEAST_EXCESS)


def _needed(task: Task, budget: Budget, n: int, found: Found, target: float | None, guess: float) -> float | None:
    """Search the number of records from which the goal is reached, to about 10 %; None if there is none to be had."""
    most, least = float(task.most_records()), float(task.least_records)
    bad: tuple[float, float] | None = None
    good: tuple[float, float] | None = None
    size = max(float(n), least)
    for _ in range(MOST_TRIED):
        records = max(int(size), 2)
        value = found.value if records == n else task.measure(budget, records, quick=True).value
        excess = _excess(task.metric, target, value, task.yardstick(n if task.fixed_yardstick else records))
        # What is far off gets a finite logarithm.
        seen = (math.log(size), math.log(min(excess, 1e6)))
        if task.varies and size > least and abs(seen[1]) < NEARLY and records != n:
            # As near as a few fits can tell: the rest of the way on the slope of chance.
            return min(max(size * math.exp(seen[1] / SLOPE), least), most)
        if excess <= 1:
            good = seen
        else:
            bad = seen
        if good is None:
            if size >= most:
                return None
            size = min(max(size * min(math.exp(seen[1] / SLOPE), FAR), STEP * size, guess), most)
        elif bad is None:
            if size <= least:
                return least
            size = max(min(size * max(math.exp(seen[1] / SLOPE), 1 / FAR), size / STEP), least)
        else:
            # On the line through both, in logarithms.
            share = bad[1] / (bad[1] - good[1]) if bad[1] > good[1] else 0.5
            if good[0] - bad[0] < math.log(STEP) * (1 + 1e-9) or min(bad[1], -good[1]) < NEAR:
                return math.exp(bad[0] + share * (good[0] - bad[0]))
            # Away from its ends: what was measured varies.
            size = math.exp(bad[0] + min(max(share, 0.2), 0.8) * (good[0] - bad[0]))
    return None if good is None else math.exp(good[0])


def _round(records: float) -> int:
    """Round up to two digits."""
    unit = 10 ** max(int(math.log10(records)) - 1, 0)
    return int(math.ceil(records / unit) * unit)


def _words(plan: Plan) -> str:
    metric = METRICS[plan.metric]
    enough = plan.enough
    shown = enough or plan.steps[-1]
    told = metric.sentence.format(
        value=metric.shown(shown.value), within=metric.shown(shown.within), level=f"{100 * plan.level:g} %"
    )
    sentences = [
        f"{plan.about[0].upper()}{plan.about[1:]}, {plan.n:,} records, at epsilon = {shown.epsilon:g} and delta = "
        f"{plan.delta:g}: {told}."
    ]
    if shown.by_level:
        each = ", ".join(
            f"{level.name} {metric.shown(level.value)} "
            + (f"with {100 * level.share:.0f} % of the budget" if level.share else "added up from the levels below")
            for level in shown.by_level
        )
        sentences.append(f"By level: {each}.")
    if shown.reach is not None:
        low, high = map(metric.shown, shown.reach)
        sentences.append(f"{plan.reach_words} {low} to {high}.")
    chance = plan.yardstick_words.format(metric.shown(plan.yardstick)).capitalize()
    if plan.target is not None:
        goal = f"the target of {metric.shown(plan.target)}"
        reached = f"{goal} is reached from epsilon = {shown.epsilon:g} on" if enough else f"{goal} is not reached"
        sentences.append(f"{chance}; {reached}.")
    elif enough is None:
        sentences.append(f"{chance}: more budget still pays at epsilon = {shown.epsilon:g}.")
    elif _goal(metric, None)(shown.value, plan.yardstick):
        costs = (
            "the classifier is within a point of that" if metric.more_is_better else "privacy costs no more than that"
        )
        sentences.append(f"{chance}; from epsilon = {shown.epsilon:g} on {costs}, and more budget hardly pays.")
    else:
        sentences.append(f"{chance}; beyond epsilon = {shown.epsilon:g} more budget hardly helps.")
    sentences.append(
        f"Somebody who knows all other records and holds two values of one for equally likely is right in at most "
        f"{rounded(100 * shown.guess, 3)} % of cases instead of 50 %."
    )
    tightest = plan.steps[0]
    if tightest is not shown:
        if tightest.records_needed is not None:
            sentences.append(
                f"At epsilon = {tightest.epsilon:g} it would take about {tightest.records_needed:,} records for that."
            )
        else:
            sentences.append(f"At epsilon = {tightest.epsilon:g} no number of records that could be tried is enough.")
    if shown.epsilon > 10:
        sentences.append("An epsilon above 10 protects hardly anything.")
    return " ".join(sentences)


assert set(OF_TASK) == set(TASKS)
assert np.all(np.diff(EPSILONS) > 0)
