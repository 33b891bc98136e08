"""Which mechanism to use for a task: measured at the user's public quantities, with a sentence and lines of code."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplexdp import _arguments as check
from simplexdp import _core, divergence
from simplexdp._catalogue import CATALOGUE, names
from simplexdp._cautions import caution
from simplexdp.comparison.automatic import Asked, advise
from simplexdp.comparison.candidates import Setting, UnavailableError, candidates, with_rules
from simplexdp.comparison.measure import Choice, Measured, measure
from simplexdp.comparison.metrics import METRICS, errors
from simplexdp.comparison.population import as_population
from simplexdp.comparison.postprocessing import Rule
from simplexdp.comparison.table import Comparison, Row, checked_setting, compare, compared, error_name, tabulate
from simplexdp.exceptions import InvalidParameterError
from simplexdp.mechanisms.dirichlet_parameters import ADJACENCIES

__all__ = ["TASKS", "Recommendation", "recommend"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Rng = np.random.Generator

TASKS = (
    "histogram", "counts", "groups", "numeric-histogram", "posterior", "posterior-draw", "naive-bayes",
    "bayesian-network", "synthetic-data", "synthesis", "mean", "quantile", "hierarchy", "margins", "categories",
    "gaussian-nb",
)  # fmt: skip
MODELS, ALONE_CHOSEN = TASKS[6:10], TASKS[10:]
NEEDS_NO_DIMENSION = ("mean", "quantile", "hierarchy", "categories")
NEEDS_DELTA = (*MODELS, "categories", "gaussian-nb")
"""What is released by classes that take a delta above zero alone."""

WITH_ROWS = ("groups", "margins", "gaussian-nb")
ALSO_CALLED = {"classifier": "naive-bayes", "network": "bayesian-network"}
"""As `sdp.plan` calls them."""

SHARES = names(lambda entry: entry.releases)
INTEGERS = names(lambda entry: entry.integer)
POSTERIORS = (*INTEGERS, "hellinger")
"""What suits a histogram, counts and posteriors."""

INFERRED = ("counts", "groups", "numeric-histogram", "posterior", "posterior-draw")
"""What releases counts that can be inferred from."""

AUTO = names(lambda entry: entry.tables and entry.integer and entry.noise)
"""What a model chooses from by itself."""

ALONE = (
    " That is one row by itself, {rule}; a model chooses the noise by itself and infers all its tables "
    "together: docs/models-accuracy.md has what comes of it."
)

CLEARLY = 2.0
"""Standard errors by which expected counts have to be closer."""

SAMPLES = 2000
CELLS = 60_000
MODEL_TABLES, MODEL_ROWS = 10, 2
"""What is supposed of a model when nothing is said."""


@dataclass(frozen=True)
class Recommendation:
    """What `recommend` advises.

    Attributes
    ----------
    task, mechanism : str
    why : str
        One sentence with the measured figures.
    code : str
        Lines that run, given the private data under the name that they use.
    comparison : Comparison or None
        The measurement; None where the release takes the better noise by itself: for means, quantiles, hierarchies,
        categories and Gaussian naive Bayes, and for margins.
    """

    task: str
    mechanism: str
    why: str
    code: str
    comparison: Comparison | None = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, texts, lists and dictionaries."""
        names = ("task", "mechanism", "why", "code")
        measured = None if self.comparison is None else self.comparison.to_dict()
        return {**{name: getattr(self, name) for name in names}, "comparison": measured}

    def _repr_html_(self) -> str:
        lines = html.escape(self.code)
        return f"<p><b>{html.escape(self.mechanism)}</b>. {html.escape(self.why)}</p><pre>{lines}</pre>"

    def __str__(self) -> str:
        return f"{self.task}: {self.mechanism}\n{self.why}\n\n{self.code}"


def recommend(
    task: str,
    *,
    n: int,
    dimension: int | None = None,
    epsilon: float,
    delta: float,
    metric: str | None = None,
    adjacency: str = "replace",
    tables: int | None = None,
    rows: int | None = None,
    levels: Sequence[int] | None = None,
    postprocessing: Sequence[str] | None = None,
    population: str = "mixed",
    seed: int = 0,
) -> Recommendation:
    """Recommend a mechanism for a task, by measuring those that suit it at these public quantities.

    Parameters
    ----------
    task : str
        - "histogram": shares of categories, with whatever public post-processing is best.
        - "counts": counts, as they are released or as they are expected given the release, what is closer.
        - "groups": the same of a table with `rows` groups, all released in one go.
        - "numeric-histogram": counts of the bins of a column of numbers; `dimension` is the number of bins.
        - "posterior": the parameters of a Dirichlet posterior under a uniform prior, of the nearest counts with the
          public sum or of those that are expected given the release; the error is the Hellinger distance from the
          posterior of the data.
        - "posterior-draw": one draw from such a posterior; the error is KL(shares of the data || draw).
        - "naive-bayes" or "classifier", "bayesian-network" or "network", "synthetic-data": conditional tables of the
          library's models; the error is the KL divergence of a row of a table, inferred as models infer it (by the
          best floor where that takes too long).
        - "synthesis": all tables of one and two columns of a table of unknown structure; `tables` is the number of its
          columns.
        - "mean", "quantile": of a column of numbers; the error is in shares of the distance between the bounds.
        - "hierarchy": counts on the `levels` of a public hierarchy, which add up.
        - "margins": sums over rows and columns of a table with `rows` groups.
        - "categories": those of a column whose values nobody listed (`simplexdp.frames.Domain.discover`).
        - "gaussian-nb": naive Bayes on `dimension` columns of numbers and `rows` classes; the accuracy on made-up data.
    n : int
        Number of records, public or a public guess.
    dimension : int, optional
        Number of categories; for a model those of a typical column. Not for "mean", "quantile", "hierarchy" and
        "categories", needed otherwise.
    epsilon, delta : float
        The budget of everything that is released.
    metric : {"kl", "hellinger", "l1", "linf"}, optional
        For "histogram", where "l1" is the default; the other tasks have an error of their own.
    adjacency : {"replace", "add_remove"}
        Which data sets are neighbours.
    tables, rows : int, optional
        For a model: how many tables it has, and how many rows a typical one has (classes, or configurations of the
        parents); for "groups" and "margins" the number of groups is `rows`, for "gaussian-nb" that of classes; 10 and 2
        unless they are given. Every other task has one table of one row.
    levels : sequence of int, optional
        For "hierarchy": how many groups each level has, from coarse to fine.
    postprocessing : sequence of str, optional
        For "histogram", as for `compare`: without "posterior" it is quicker.
    population, seed
        As for `compare`.

    Returns
    -------
    Recommendation

    Examples
    --------
    >>> import simplexdp as sdp
    >>> advice = sdp.recommend("histogram", n=1000, dimension=10, epsilon=1.0, delta=1e-6)
    >>> advice.mechanism
    'sum_preserving_laplace'
    >>> print(advice.code)
    import simplexdp as sdp
    mechanism = sdp.SumPreservingLaplaceMechanism.for_counts(1.0, dimension=10)
    posterior = mechanism.infer(mechanism.release(counts), prior='empirical', total=1000)
    shares = posterior.counts.mean / posterior.total_mean  # posterior.interval(0.95) has intervals
    """
    task = ALSO_CALLED.get(check.choice("task", task, (*TASKS, *ALSO_CALLED)), task)
    if metric is not None and task != "histogram":
        raise InvalidParameterError(f"metric must be left out for the task {task!r}, got {metric!r}")
    if task not in MODELS and (tables is not None or (rows is not None and task not in WITH_ROWS)):
        raise InvalidParameterError(f"tables and rows must be left out for the task {task!r}")
    if task == "synthesis" and rows is not None:
        raise InvalidParameterError(f"rows must be left out for the task {task!r}")
    if postprocessing is not None and task != "histogram":
        raise InvalidParameterError(f"postprocessing must be left out for the task {task!r}")
    if (levels is None) == (task == "hierarchy"):
        rule = "given" if levels is None else "left out"
        raise InvalidParameterError(f"levels must be {rule} for the task {task!r}")
    if task in NEEDS_NO_DIMENSION and dimension is not None:
        raise InvalidParameterError(f"dimension must be left out for the task {task!r}")
    if task in NEEDS_DELTA and not 0 < check.non_negative("delta", delta) < 1:
        raise InvalidParameterError(f"delta must lie strictly between 0 and 1 for the task {task!r}, got {delta!r}")
    if task in ALONE_CHOSEN:
        if dimension is None and task not in NEEDS_NO_DIMENSION:
            raise InvalidParameterError(f"dimension must be given for the task {task!r}")
        asked = Asked(
            task, check.integer("n", n, 1), check.positive("epsilon", epsilon), check.non_negative("delta", delta),
            check.choice("adjacency", adjacency, ADJACENCIES), check.seed(seed),
        )  # fmt: skip
        caution(epsilon=asked.epsilon, delta=asked.delta, n=asked.n)
        n_rows = MODEL_ROWS if rows is None else check.integer("rows", rows, 1)
        return Recommendation(task, *advise(asked, dimension, n_rows, levels), None)
    if dimension is None:
        raise InvalidParameterError(f"dimension must be given for the task {task!r}")
    if task == "posterior" and adjacency == "add_remove":
        raise InvalidParameterError(f'adjacency must be "replace" for the task {task!r}, which needs a public total')
    if task in MODELS:
        caution(delta=check.non_negative("delta", delta), n=check.integer("n", n, 1))
    n_tables = MODEL_TABLES if tables is None else check.integer("tables", tables, 1)
    n_rows = MODEL_ROWS if rows is None else check.integer("rows", rows, 1)
    if task == "synthesis":
        # What PrivateSynthesizer measures: discrete Gaussian noise on every table of one and of two columns.
        table = compare(
            n, dimension**2, epsilon, delta, "l1", ("discrete_gaussian",), adjacency=adjacency,
            tables=n_tables * (n_tables + 1) // 2, population=population, seed=seed,
        )  # fmt: skip
    elif task in MODELS:
        per_row = max(check.integer("n", n, 1) // n_rows, 1)
        setting = checked_setting(per_row, dimension, epsilon, delta, "kl", adjacency, n_tables)
        table = compared(setting, AUTO, ("floor", "posterior"), population, None, seed, None, slow=False)
    elif task == "histogram":
        chosen = "l1" if metric is None else check.choice("metric", metric, METRICS)
        table = compare(
            n, dimension, epsilon, delta, chosen, SHARES, adjacency=adjacency, postprocessing=postprocessing,
            population=population, seed=seed,
        )  # fmt: skip
    else:
        cells = dimension * (n_rows if task == "groups" else 1)
        setting = checked_setting(n, cells, epsilon, delta, "kl", adjacency, 1)
        table = _measured(task, setting, population, check.seed(seed))
    best = table.rows[0]
    code = _model_code(task, table, n) if task in MODELS else _CODE[task](best, table)
    why = _why(table)
    if task in MODELS and task != "synthesis":
        inferred = best.postprocessing == "posterior"
        why += ALONE.format(rule="its posterior mean as models have it" if inferred else "with the best floor")
    return Recommendation(task, best.mechanism, why, code, table)


def _measured(task: str, setting: Setting, population: str, seed: int) -> Comparison:
    """Measure what a task releases as it is."""
    drawn_from = as_population(population, setting.dimension)
    generator = np.random.default_rng(seed)
    rows = min(max(CELLS // setting.dimension, 16), SAMPLES)
    counts = drawn_from.draw(setting.n, setting.dimension, rows, generator)
    names, error, label = _MEASURES[task]
    measured, left_out = [], {}
    for name in names:
        try:
            options = candidates(name, setting)
            if len(options) > 1:
                # Its prior is chosen on data sets of their own.
                options = [with_rules(option, ("raw",)) for option in options]
                training = drawn_from.draw(setting.n, setting.dimension, rows, generator)
                seeds = (int(generator.integers(2**62)), 0)
                options = [measure(options, "kl", training, training[:1], seeds).choice.candidate]
        except UnavailableError as reason:
            left_out[name] = str(reason)
            continue
        candidate = options[0]
        x = counts[: candidate.most_rows]
        released = candidate.sample(x, int(generator.integers(2**62)))
        choice = Choice(candidate, Rule("raw", lambda weights: weights), None)
        measured.append(Measured(choice, error(name, x, released, generator)))
        inferring = [rule for rule in candidate.rules if rule.name == "posterior" and not rule.slow]
        if task in INFERRED and inferring:
            # The expected counts given the release, for nothing: on fewer data sets, where they are clearly closer.
            rows = inferring[0].most_rows
            raw = measured[-1].errors
            expected = error(name, x[:rows], inferring[0].prepare(released[:rows]), generator, expected=True)
            gained = raw[:rows] - expected
            if gained.mean() > CLEARLY * gained.std(ddof=1) / math.sqrt(len(gained)):
                # Beside the mean over all data sets, which is known better.
                measured[-1] = Measured(Choice(candidate, inferring[0], None), float(raw.mean()) - gained)
    return tabulate(measured, setting, label, drawn_from.name, rows, left_out)


def _error_of_counts(_: str, counts: Integers, released: Floats, __: Rng, *, expected: bool = False) -> Floats:
    return np.asarray(np.abs(released - counts).mean(axis=1))


def _error_of_posterior(_: str, counts: Integers, released: Floats, __: Rng, *, expected: bool = False) -> Floats:
    known = released if expected else _projected(counts, released)
    return np.asarray(divergence.hellinger_dirichlet(1.0 + known, 1.0 + counts))


def _error_of_draw(name: str, counts: Integers, released: Floats, generator: Rng, *, expected: bool = False) -> Floats:
    draws = released
    if name != "dirichlet" or expected:
        weights = generator.standard_gamma(1.0 + np.maximum(released, 0.0))
        draws = weights / weights.sum(axis=1, keepdims=True)
    return errors("kl", counts / counts.sum(axis=1, keepdims=True), draws)


def _projected(counts: Integers, released: Floats) -> Integers:
    """Return the nearest counts with the sum of the data, as `NoisyPosteriorMechanism` does."""
    noisy = np.ascontiguousarray(released, dtype=np.int64)
    return _core.project_counts(noisy.ravel(), noisy.shape[1], int(counts[0].sum())).reshape(noisy.shape)


_MEASURES: dict[str, tuple[tuple[str, ...], Callable[..., Floats], str]] = {
    "numeric-histogram": (AUTO, _error_of_counts, "mean absolute error of a count"),
    "groups": (INTEGERS, _error_of_counts, "mean absolute error of a count"),
    "counts": (INTEGERS, _error_of_counts, "mean absolute error of a count"),
    "posterior": (POSTERIORS, _error_of_posterior, "Hellinger distance of posteriors"),
    "posterior-draw": (("dirichlet", *INTEGERS), _error_of_draw, "KL divergence of a draw"),
}


def _why(table: Comparison) -> str:
    best = table.rows[0]
    per_row = " a row" if table.tables > 1 else ""
    where = f"n = {table.n}{per_row}, {table.dimension} categories, ({table.epsilon:g}, {table.delta:g})-DP"
    if table.tables > 1:
        where += f" for {table.tables} tables"
    sentence = f"At {where} ({table.adjacency}) its {error_name(table.metric)} is the least measured, {best.error:.4g}"
    others = [row for row in table.rows[1:] if row.mechanism not in table.ties]
    ties = [name for name in table.ties if name != best.mechanism]
    if ties:
        sentence += f", within noise of {' and '.join(ties)}"
    if others:
        sentence += f", {'and ' if ties else ''}against {others[0].error:.4g} of {others[0].mechanism}"
    return sentence + "."


# Code ----------------------------------------------------------------------------------------------------------


def _construction(mechanism: str, table: Comparison) -> str:
    """Return the expression that builds a mechanism which adds noise."""
    entry = CATALOGUE[mechanism]
    values, keywords = entry.construction(table.epsilon, table.delta, table.adjacency, table.dimension)
    arguments = [repr(value) for value in values] + [f"{name}={value!r}" for name, value in keywords.items()]
    return f"sdp.{entry.kind}.for_counts({', '.join(arguments)})"


def _dirichlet_construction(best: Row, table: Comparison) -> str:
    fixes_both = table.dimension == 2 and table.tables == 1 and table.adjacency == "replace"
    fixed = f", total={table.n}, fixed_total=True" if fixes_both else ""
    return (
        f"sdp.DirichletMechanism.calibrated({table.epsilon!r}, {table.delta!r}, {table.dimension}, "
        f"prior={best.parameters['prior']!r}, adjacency={table.adjacency!r}{fixed})"
    )


def _histogram_code(best: Row, table: Comparison) -> str:
    if best.postprocessing == "posterior":
        dirichlet = best.mechanism == "dirichlet"
        building = _dirichlet_construction(best, table) if dirichlet else _construction(best.mechanism, table)
        total = str(table.n) if table.adjacency == "replace" else "sdp.inference.Total.flat()"
        return (
            f"import simplexdp as sdp\nmechanism = {building}\n"
            f"posterior = mechanism.infer(mechanism.release(counts), prior='empirical', total={total})\n"
            "shares = posterior.counts.mean / posterior.total_mean  # posterior.interval(0.95) has intervals"
        )
    total = f", total={table.n}" if table.adjacency == "replace" else ""
    strength = "" if best.strength is None else f", strength={best.strength:.4g}"
    if best.mechanism == "dirichlet":
        building, released = _dirichlet_construction(best, table), "mechanism.release(counts)"
        if best.postprocessing.startswith("debias"):
            released = f"mechanism.debias(mechanism.release(counts, resolution=2.0**-52), {table.n}, project=True)"
        if best.strength is not None:
            released = f"sdp.comparison.shares_of({table.n} * {released}, 'clip+smooth'{strength})"
        return f"import simplexdp as sdp\nmechanism = {building}\nshares = {released}"
    rule = f"mechanism.release(counts), {best.postprocessing!r}"
    if not best.postprocessing.startswith("project"):
        total = ""
    return (
        f"import simplexdp as sdp\nmechanism = {_construction(best.mechanism, table)}\n"
        f"shares = sdp.comparison.shares_of({rule}{strength}{total})"
    )


def _counts_code(best: Row, table: Comparison) -> str:
    return (
        f"import simplexdp as sdp\nmechanism = {_construction(best.mechanism, table)}\n"
        f"noisy = mechanism.release(counts){_inferring(best, table)}"
    )


def _groups_code(best: Row, table: Comparison) -> str:
    return (
        f"import simplexdp as sdp\nmechanism = {_construction(best.mechanism, table)}\n"
        f"noisy = mechanism.release(counts.ravel())  # counts: a row for each group{_inferring(best, table)}"
    )


def _inferring(best: Row, table: Comparison) -> str:
    if best.postprocessing != "posterior":
        return ""
    # Zero-sum noise keeps the number of records.
    stated = table.adjacency == "replace" and best.mechanism != "sum_preserving_laplace"
    total = f", total={table.n}" if stated else ""
    return (
        f"\nposterior = mechanism.infer(noisy, prior='empirical'{total})\n"
        "expected = posterior.counts.mean  # posterior.counts.interval(0.95) has intervals"
    )


def _binned_code(best: Row, table: Comparison) -> str:
    change = "" if table.adjacency == "replace" else f", adjacency={table.adjacency!r}"
    return (
        f"import simplexdp as sdp\nreleased = sdp.numeric.histogram(values, bounds=bounds, n_bins={table.dimension}, "
        f"epsilon={table.epsilon!r}, delta={table.delta!r}{change})\n"
        "released.posterior_.counts.mean, released.posterior_.counts.interval(0.95)"
    )


def _expected_code(mechanism: str, table: Comparison) -> str:
    """Return the lines that infer which counts to expect."""
    total = f", total={table.n}" if table.adjacency == "replace" else ""
    return (
        f"import simplexdp as sdp\nmechanism = {mechanism}\n"
        f"inferred = mechanism.infer(mechanism.release(counts), prior='empirical'{total})\n"
    )


def _posterior_code(best: Row, table: Comparison) -> str:
    prior = f"[1.0] * {table.dimension}"
    if best.postprocessing == "posterior":
        expected = _expected_code(_construction(best.mechanism, table), table)
        return f"{expected}posterior = sdp.Posterior(1.0 + inferred.counts.mean)"
    if best.mechanism == "hellinger":
        building = f"sdp.HellingerMechanism({prior}, {table.n}, {table.epsilon!r})"
    else:
        building = f"sdp.NoisyPosteriorMechanism({prior}, {table.n}, {_construction(best.mechanism, table)})"
    return f"import simplexdp as sdp\nmechanism = {building}\nposterior = mechanism.release(counts)"


def _draw_code(best: Row, table: Comparison) -> str:
    if best.postprocessing == "posterior":
        dirichlet = best.mechanism == "dirichlet"
        expected = _expected_code(
            _dirichlet_construction(best, table) if dirichlet else _construction(best.mechanism, table), table
        )
        return f"{expected}draw = sdp.Posterior(1.0 + inferred.counts.mean).sample()  # more draws cost nothing"
    if best.mechanism == "dirichlet":
        building = _dirichlet_construction(best, table)
        return f"import simplexdp as sdp\nmechanism = {building}\ndraw = mechanism.release(counts)"
    return (
        f"import simplexdp as sdp\nmechanism = {_construction(best.mechanism, table)}\n"
        "noisy = mechanism.release(counts).clip(0)\n"
        "draw = sdp.Posterior(1.0 + noisy).sample()  # more draws cost nothing"
    )


_CODE: dict[str, Callable[[Row, Comparison], str]] = {
    "histogram": _histogram_code,
    "counts": _counts_code,
    "groups": _groups_code,
    "numeric-histogram": _binned_code,
    "posterior": _posterior_code,
    "posterior-draw": _draw_code,
}


def _model_code(task: str, table: Comparison, n: int) -> str:
    # The measured ones are those between which models choose by themselves.
    arguments = f"epsilon={table.epsilon!r}, delta={table.delta!r}"
    if task == "synthesis":
        change = f", adjacency={table.adjacency!r}"
        return (
            "from simplexdp.models import PrivateSynthesizer\n"
            f"synthesizer = PrivateSynthesizer({table.epsilon!r}, {table.delta!r}, domains=domains{change})\n"
            "records = synthesizer.fit(frame).sample()"
        )
    if table.adjacency != "replace":
        arguments += f", adjacency={table.adjacency!r}"
    if task == "naive-bayes":
        return (
            "from simplexdp.models import PrivateCategoricalNB\n"
            f"model = PrivateCategoricalNB({arguments}, categories=categories, classes=classes).fit(X, y)"
        )
    code = (
        "from simplexdp.models import PrivateBayesianNetwork\n"
        f"model = PrivateBayesianNetwork(edges=edges, domains=domains, {arguments}).fit(frame)"
    )
    return code if task == "bayesian-network" else f"{code}\nrecords = model.sample({n})"
