"""Plans for counts: one histogram, histograms of groups, a posterior."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplexdp import _arguments as check
from simplexdp import divergence
from simplexdp._catalogue import CATALOGUE, names
from simplexdp.comparison import POSTPROCESSING, Recommendation, compare, recommend, shares_of
from simplexdp.comparison.candidates import Setting, candidates, with_rules
from simplexdp.comparison.population import SHAPES, Population, as_population
from simplexdp.exceptions import InsecureRandomnessWarning, InvalidParameterError
from simplexdp.mechanisms import DirichletMechanism, HellingerMechanism, NoisyPosteriorMechanism
from simplexdp.planning.stand_in import OTHER_SAMPLES, range_of_samples
from simplexdp.planning.tasks import METRICS, Budget, Found, Metric
from simplexdp.testing import SeededRng

__all__ = ["Groups", "Histogram", "Posterior"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SAMPLES, CELLS = 400, 400_000
"""Data sets that are tried here, and counts in all of them."""

LEAST_ROWS = 8
"""Data sets that are tried at least, however many counts that is."""

TABLES = 40
"""Of made-up shares of groups."""

PLANNED_SIZES = {"sparse": "zipf"}
"""Sizes of groups where their shares have a shape for which groups would be empty."""

SHAPES_WORDS = "That is for shares that spread over all categories; even or very uneven ones make it"

POSTERIORS, OF_SHAPE = 160, 40
"""Data sets of a posterior, and of each shape for its range: each is inferred."""

RELEASES, SURE = 40, 0.025
"""Releases of each data set of a posterior at most, and the standard error, as a share of the mean, that ends them."""

QUICK_SAMPLES = 200
"""Where only the size of an error matters."""

REACH_SAMPLES = 60
"""Data sets of each shape, for the means that a metric may have."""

MARGIN = 2.0
"""Standard errors by which such a range is wider than the means that were seen."""

QUICK = tuple(rule for rule in POSTPROCESSING if rule != "posterior")
"""Rules of post-processing: posteriors take too long for the many numbers that a plan looks at."""

NOISE = names(lambda entry: entry.releases and entry.noise and entry.integer)


class _Counts:
    """What the tasks share: a population of data sets."""

    yardstick_words = "chance alone, another sample of as many records, makes {}"
    fixed_yardstick = varies = False
    of_cells = ""
    """What is planned, with a place for the number of cells."""

    def __init__(
        self,
        cells: int,
        shares: Floats | None,
        metric: Metric,
        seed: int,
        shape: str | None,
        stood_in: int | None = None,
    ) -> None:
        # Shares, the same once more so that they sum to one, and counts.
        check.fitting("domains", (LEAST_ROWS, cells), 3)
        self.about = self.of_cells.format(cells)
        self._stood_in = stood_in
        self.reach_words = SHAPES_WORDS if stood_in is None else OTHER_SAMPLES
        self.metric, self._cells, self._seed = metric, cells, seed
        self.least_records = 2 * cells
        self._best: dict[float, str] = {}
        # Shares that spread over all categories: where many are empty a release does better than the plan says.
        self._given: Any = shape or "dirichlet" if shares is None else shares.reshape(1, -1)
        self._population: Population = as_population(self._given, cells)
        self._shapes = SHAPES if shares is None and shape is None else ()

    def most_records(self) -> int:
        return 10**12

    def _draws(self, n: int, quick: bool = False) -> Integers:
        rows = self._rows()
        return self._population.draw(n, self._cells, rows // 4 + 2 if quick else rows, self._generator())

    def _rows(self) -> int:
        return max(min(SAMPLES, CELLS // self._cells), LEAST_ROWS)

    def _generator(self) -> np.random.Generator:
        return np.random.default_rng(self._seed)

    @staticmethod
    def _reach(found: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
        """Return what the mean lies between, whatever the shape, from the mean and its standard error under each."""
        ends = [mean + sign * MARGIN * error for mean, error in found for sign in (-1, 1)]
        return (max(min(ends), 0.0), max(ends)) if ends else None

    def _of_shape(self, shape: str, n: int) -> Integers:
        rows = max(min(REACH_SAMPLES, CELLS // self._cells), LEAST_ROWS)
        return as_population(shape, self._cells).draw(n, self._cells, rows, self._generator())

    def _recommended(self, task: str, budget: Budget, n: int, metric: str | None) -> Recommendation:
        return recommend(
            task,
            n=n,
            dimension=self._cells,
            epsilon=budget.epsilon,
            delta=budget.delta,
            metric=metric,
            adjacency=budget.adjacency,
            postprocessing=QUICK if task == "histogram" else None,
            population=self._given,
            seed=self._seed,
        )


class Histogram(_Counts):
    """Counts or shares of the categories of one column."""

    of_cells = "a histogram of {} categories"

    def measure(self, budget: Budget, n: int, *, quick: bool = False) -> Found:
        """Take the mechanism that `recommend` finds, with its error and its confidence intervals."""
        largest = self.metric is METRICS["largest"]
        per = 1.0 if largest else self._cells if self.metric is METRICS["shares"] else self._cells / n
        if quick:
            return self._quick(budget, n, "linf" if largest else "l1", per)
        advice = self._recommended("histogram", budget, n, "linf" if largest else "l1")
        self._best[budget.epsilon] = advice.mechanism
        assert advice.comparison is not None
        row = advice.comparison.rows[0]
        mechanism = _built(advice.mechanism, dict(row.parameters), budget, self._cells, n)
        scale = 1.0 if self.metric is METRICS["counts"] else 1 / n
        return Found(
            advice.mechanism,
            row.error / per,
            row.standard_error / per,
            scale * self._radius(mechanism, budget, n, simultaneous=largest),
            mechanism.privacy,
            advice.code,
            self._reach(self._of_every_shape(row, budget, n, "linf" if largest else "l1", per)),
        )

    def _of_every_shape(self, row: Any, budget: Budget, n: int, metric: str, per: float) -> list[tuple[float, float]]:
        """Return the mean error and its standard error under each shape, with the same post-processing."""
        found = []
        for shape in self._shapes:
            table = compare(
                n, self._cells, budget.epsilon, budget.delta, metric, [row.mechanism], adjacency=budget.adjacency,
                postprocessing=[row.postprocessing], population=shape, samples=REACH_SAMPLES, seed=self._seed,
            )  # fmt: skip
            found.append((table.rows[0].error / per, table.rows[0].standard_error / per))
        return found

    def _quick(self, budget: Budget, n: int, metric: str, per: float) -> Found:
        table = compare(
            n, self._cells, budget.epsilon, budget.delta, metric, [self._best[budget.epsilon]],
            adjacency=budget.adjacency, postprocessing=QUICK, population=self._given, samples=QUICK_SAMPLES,
            seed=self._seed,
        )  # fmt: skip
        row = table.rows[0]
        return Found(row.mechanism, row.error / per, row.standard_error / per, math.nan, None, "")

    def _radius(self, mechanism: Any, budget: Budget, n: int, *, simultaneous: bool) -> float:
        """Return half the length of a confidence interval of a count."""
        counts = self._draws(n, quick=True)
        released = _releases(mechanism, counts, self._seed)
        if isinstance(mechanism, DirichletMechanism):
            ends = n * mechanism.interval(released, n, level=budget.level, simultaneous=simultaneous)
        else:
            ends = mechanism.interval(released, budget.level, simultaneous=simultaneous)
        return min(float(np.mean(ends[..., 1] - ends[..., 0])) / 2, float(n))

    def yardstick(self, n: int) -> float:
        """Return how far counts are from their expectations because n records were drawn and not all."""
        rows = max(min(4 * SAMPLES, CELLS // self._cells), LEAST_ROWS)
        generator = self._generator()
        shares = _smoothed(self._population, self._cells, rows, generator)
        off = np.abs(generator.multinomial(n, shares) - n * shares)
        if self.metric is METRICS["largest"]:
            return float(off.max(axis=1).mean() / n)
        return float(off.mean() / (1 if self.metric is METRICS["counts"] else n))


class Groups(_Counts):
    """A histogram in each of many groups, all released in one go."""

    def __init__(
        self,
        groups: int,
        dimension: int,
        shares: Floats | None,
        metric: Metric,
        seed: int,
        shape: str | None,
        stood_in: int | None = None,
    ) -> None:
        check.fitting("domains", (TABLES, groups * dimension), 3)
        super().__init__(groups * dimension, shares, metric, seed, shape, stood_in)
        self._shape = (groups, dimension)
        if shares is None:
            # Sizes of groups vary as shares within them do.
            generator = np.random.default_rng(seed)
            kind = as_population(shape or "dirichlet", dimension)
            within = _smoothed(kind, dimension, TABLES * groups, generator).reshape(TABLES, groups, dimension)
            # No group is empty where few values are taken: who lists groups lists those that there are.
            kind = as_population(PLANNED_SIZES.get(shape or "", shape or "dirichlet"), groups)
            sizes = _smoothed(kind, groups, TABLES, generator)
            cells = (sizes[:, :, None] * within).reshape(TABLES, -1)
            self._population = as_population(cells / cells.sum(axis=1, keepdims=True), self._cells)
        self.about = f"histograms of {dimension} categories in {groups} groups"

    def measure(self, budget: Budget, n: int, *, quick: bool = False) -> Found:
        """Release all counts with noise by each mechanism, and look at the best one."""
        counts = self._draws(n, quick)
        tried: list[tuple[float, str, Any, Floats]] = []
        best = self._best.get(budget.epsilon)
        for name in NOISE if best is None else (best,):
            entry = CATALOGUE[name]
            if budget.adjacency not in entry.adjacencies or (budget.delta == 0 and not entry.pure):
                continue
            mechanism = _built(name, {}, budget, self._cells, n)
            errors = self._errors(counts, _releases(mechanism, counts, self._seed))
            tried.append((float(np.nanmean(errors)), name, mechanism, errors))
        error, name, mechanism, errors = min(tried, key=lambda each: each[0])
        self._best[budget.epsilon] = name
        if self.metric is METRICS["shares"]:
            within_level = float(np.nanquantile(errors, budget.level, method="higher"))
        else:
            within_level = float(np.ptp(mechanism.interval(np.zeros(1, np.int64), budget.level))) / 2
        arguments, keywords = CATALOGUE[name].construction(budget.epsilon, budget.delta, budget.adjacency, self._cells)
        listed = ", ".join([*map(repr, arguments), *(f"{key}={value!r}" for key, value in keywords.items())])
        code = (
            f"import simplexdp as sdp\nmechanism = sdp.{CATALOGUE[name].kind}.for_counts({listed})\n"
            "noisy = mechanism.release(counts.ravel()).reshape(counts.shape)  # counts: one row for each group\n"
        )
        code += (
            "shares = sdp.comparison.shares_of(noisy, 'project')"
            if self.metric is METRICS["shares"]
            else "noisy = noisy.clip(0)"
        )
        by_table = np.nanmean(errors, axis=1)
        reach = None
        if self._shapes and not quick:
            shaped = (self._of_shapes(sizes, within, n) for sizes in SHAPES[:-1] for within in SHAPES)
            by_shape = [
                np.nanmean(self._errors(each, _releases(mechanism, each, self._seed)), axis=1) for each in shaped
            ]
            reach = self._reach([(float(each.mean()), _standard_error(each)) for each in by_shape])
        elif self._stood_in is not None and not quick:
            again = np.nanmean(self._errors(counts, _releases(mechanism, counts, self._seed + 1)), axis=1)
            both = np.stack([by_table, again], axis=1)
            reach = range_of_samples(both, n, self._stood_in)
            by_table = both.mean(axis=1)
            error = float(by_table.mean())
        return Found(name, error, _standard_error(by_table), within_level, mechanism.privacy, code, reach)

    def _of_shapes(self, sizes: str, within: str, n: int) -> Integers:
        """Draw data sets whose groups have sizes of one shape and shares of another."""
        groups, dimension = self._shape
        rows = max(min(REACH_SAMPLES, CELLS // self._cells), LEAST_ROWS)
        generator = self._generator()
        shares = _smoothed(as_population(within, dimension), dimension, rows * groups, generator)
        size = _smoothed(as_population(sizes, groups), groups, rows, generator)
        cells = (size[:, :, None] * shares.reshape(rows, groups, dimension)).reshape(rows, -1)
        return generator.multinomial(n, cells * (1 - 1e-12)).astype(np.int64)

    def _errors(self, counts: Integers, noisy: NDArray[Any]) -> Floats:
        """Return the error of every cell of every data set; not a number in groups without records."""
        if self.metric is METRICS["counts"]:
            return np.asarray(np.abs(np.maximum(noisy, 0) - counts), dtype=np.float64)
        shape = (-1, *self._shape)
        true = counts.reshape(shape)
        sums = true.sum(axis=2, keepdims=True)
        off = np.abs(shares_of(noisy.reshape(shape), "project") - true / np.maximum(sums, 1))
        by_cell: Floats = np.where(sums > 0, off, np.nan).reshape(len(counts), -1)
        return by_cell

    def yardstick(self, n: int) -> float:
        """Return the same error of another sample of as many records."""
        shares = _smoothed(self._population, self._cells, self._rows(), self._generator())
        drawn = self._generator().multinomial(n, shares)
        if self.metric is METRICS["counts"]:
            return float(np.abs(drawn - n * shares).mean())
        expected = shares.reshape(-1, *self._shape)
        all_of_group = expected.sum(axis=2, keepdims=True)
        expected = np.divide(expected, all_of_group, out=np.zeros_like(expected), where=all_of_group > 0)
        table = drawn.reshape(-1, *self._shape)
        sums = table.sum(axis=2, keepdims=True)
        off = np.abs(table / np.maximum(sums, 1) - expected).mean(axis=2)
        return float(off.mean(where=sums[..., 0] > 0))


class Posterior(_Counts):
    """The parameters of a Dirichlet posterior."""

    of_cells = "the posterior of the shares of {} categories"

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._expects: dict[float, bool] = {}
        """Whether the counts that are expected given the release do better than the nearest whole ones."""

    def _rows(self) -> int:
        return min(super()._rows(), POSTERIORS)

    def measure(self, budget: Budget, n: int, *, quick: bool = False) -> Found:
        """Take the mechanism that `recommend` finds, and look at the errors of some releases one by one."""
        if quick:
            name = self._best[budget.epsilon]
            return self._quick(name, self._errors(name, budget, n, self._draws(n, quick=True)))
        advice = self._recommended("posterior", budget, n, None)
        assert advice.comparison is not None
        row = advice.comparison.rows[0]
        self._best[budget.epsilon] = name = advice.mechanism
        self._expects[budget.epsilon] = row.postprocessing == "posterior"
        errors = self._released(name, budget, n)
        by_data_set = errors.mean(axis=1)
        within = float(np.quantile(errors, budget.level, method="higher"))
        if self._stood_in is not None:
            reach: tuple[float, float] | None = range_of_samples(errors, n, self._stood_in)
        else:
            by_shape = [self._errors(name, budget, n, self._of_shape(shape, n)[:OF_SHAPE]) for shape in self._shapes]
            reach = self._reach([(float(each.mean()), _standard_error(each)) for each in by_shape])
        # No distance is above one.
        reach = None if reach is None else (min(reach[0], 1.0), min(reach[1], 1.0))
        curve = self._mechanism(name, budget, n).privacy
        return Found(name, float(errors.mean()), _standard_error(by_data_set), within, curve, advice.code, reach)

    def _released(self, name: str, budget: Budget, n: int) -> Floats:
        """Return the errors of releases (columns) of each data set (rows), as many as it takes to know their mean.

        With a stand-in each data set is released several times, which tells what samples differ by; of made-up ones,
        which differ by more than releases do, there are more.
        """
        counts = self._draws(n)
        errors = self._errors(name, budget, n, counts).reshape(-1, 1)
        least = 1 if self._stood_in is None else 2
        for turn in range(1, RELEASES):
            if turn >= least and _standard_error(errors.mean(axis=1)) <= SURE * errors.mean():
                break
            if self._stood_in is None:
                generator = np.random.default_rng([self._seed, turn])
                counts = self._population.draw(n, self._cells, len(counts), generator)
            more = self._errors(name, budget, n, counts, self._seed + turn).reshape(-1, 1)
            errors = np.concatenate([errors, more], axis=0 if self._stood_in is None else 1)
        return errors

    @staticmethod
    def _quick(name: str, errors: Floats) -> Found:
        return Found(name, float(errors.mean()), _standard_error(errors), math.nan, None, "")

    def _mechanism(self, name: str, budget: Budget, n: int) -> Any:
        prior = [1.0] * self._cells
        if name == "hellinger":
            return HellingerMechanism(prior, n, budget.epsilon)
        built = _built(name, {}, budget, self._cells, n)
        return built if self._expects[budget.epsilon] else NoisyPosteriorMechanism(prior, n, built)

    def _errors(self, name: str, budget: Budget, n: int, counts: Integers, seed: int | None = None) -> Floats:
        seed = self._seed if seed is None else seed
        released = _each(self._mechanism(name, budget, n), counts, seed)
        if self._expects[budget.epsilon]:
            # As the lines of code do: what is expected given each release.
            setting = Setting(n, self._cells, budget.epsilon, budget.delta, "kl", budget.adjacency)  # type: ignore[arg-type]
            expected = with_rules(candidates(name, setting)[0], ("posterior",), slow=True).rules[0].prepare
            alpha = 1.0 + expected(np.array(released, dtype=np.float64))
        else:
            alpha = np.array([posterior.alpha for posterior in released])
        return np.asarray(divergence.hellinger_dirichlet(alpha, 1.0 + counts))

    def yardstick(self, n: int) -> float:
        """Return how far apart the posteriors of two samples of the same shares are."""
        generator = self._generator()
        shares = _smoothed(self._population, self._cells, self._rows(), generator)
        one, other = (1.0 + generator.multinomial(n, shares) for _ in range(2))
        return float(np.mean(divergence.hellinger_dirichlet(one, other)))


def _smoothed(population: Population, dimension: int, rows: int, generator: np.random.Generator) -> Floats:
    """Return shares of the population, as those of very many records."""
    counts = population.draw(10**9, dimension, rows, generator)
    shares: Floats = counts / counts.sum(axis=1, keepdims=True)
    return shares * (1 - 1e-12)


def _releases(mechanism: Any, counts: Integers, seed: int) -> NDArray[Any]:
    """Release data sets that have nothing to do with each other."""
    return np.array(_each(mechanism, counts, seed))


def _each(mechanism: Any, counts: Integers, seed: int) -> list[Any]:
    with warnings.catch_warnings():
        # Seeded on purpose: the data are nobody's.
        warnings.simplefilter("ignore", InsecureRandomnessWarning)
        rng = SeededRng(seed)
        return [mechanism.release(row, rng=rng) for row in counts]


def _built(name: str, parameters: dict[str, float], budget: Budget, dimension: int, n: int) -> Any:
    """Return a mechanism at the budget."""
    if name == "dirichlet":
        fixed = dimension == 2 and budget.adjacency == "replace"
        keywords: dict[str, Any] = {"total": n, "fixed_total": True} if fixed else {}
        return DirichletMechanism.calibrated(
            budget.epsilon, budget.delta, dimension, prior=parameters["prior"], adjacency=budget.adjacency, **keywords
        )
    entry = CATALOGUE[name]
    arguments, keywords = entry.construction(budget.epsilon, budget.delta, budget.adjacency, dimension)
    return entry.mechanism.for_counts(*arguments, **keywords)


def _standard_error(values: Floats | Sequence[float]) -> float:
    return float(np.std(values, ddof=1) / math.sqrt(len(values)))


def check_sizes(sizes: Sequence[int], wanted: int, task: str) -> None:
    """Check how many columns a task takes."""
    if len(sizes) != wanted:
        columns = "column" if wanted == 1 else "columns"
        raise InvalidParameterError(f"domains must have {wanted} {columns} for the task {task!r}, got {len(sizes)}")
