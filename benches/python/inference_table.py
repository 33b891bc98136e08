"""Print the tables of docs/inference.md and of the intervals in docs/models.md: coverage, and error beside tuned rules.

Run as ``python -m benches.python.inference_table PIECE DATA_SETS``: ``prior`` (data from the prior), ``fixed`` (shares
that stay the same), ``empirical``, ``error``, ``combined``, ``models``, ``margins``, ``lopsided`` or ``totals``, with
so many data sets for each cell (the pages have 2000, 2000, 600, 400, 10000, 40, 25, 60 and 100; some cells fewer, as
they say). Hours for all in full.
"""

import sys
import warnings
from collections.abc import Callable, Iterator

import numpy as np

import simplexdp as sdp
from simplexdp.comparison import POSTPROCESSING, compare
from simplexdp.exceptions import InsecureRandomnessWarning
from simplexdp.inference.prior import CONCENTRATIONS, make_prior
from simplexdp.models import PrivateCategoricalNB
from simplexdp.testing import SeededRng

DELTA, CELLS = 1e-6, 5
MECHANISMS: dict[str, Callable] = {
    "zero-sum Laplace": lambda epsilon, n: sdp.SumPreservingLaplaceMechanism.for_counts(epsilon, dimension=CELLS),
    "discrete Laplace": lambda epsilon, n: sdp.DiscreteLaplaceMechanism.for_counts(epsilon),
    "discrete Gaussian": lambda epsilon, n: sdp.DiscreteGaussianMechanism.for_counts(epsilon, DELTA),
    "Dirichlet draw": lambda epsilon, n: sdp.DirichletMechanism.calibrated(epsilon, DELTA, CELLS, total=n),
}
NS = (10, 30, 100, 1000, 40000)
FIXED = np.array([0.5, 0.25, 0.15, 0.08, 0.02])
MODELS = [
    *((n, epsilon, 3, 5) for n in (100, 1000, 40000) for epsilon in (0.1, 1.0)),
    (1000, 1.0, 2, 10),
    (1000, 1.0, 10, 4),
]
"""Records, epsilon, classes, levels."""


def percent(inside: list) -> str:
    """How often, of data sets that are independent, with the standard error."""
    if len(inside) < 2:
        return "not measured"
    means = 100 * np.array([np.mean(each) for each in inside])
    return f"{means.mean():.1f} ({means.std(ddof=1) / np.sqrt(len(means)):.1f})"


def held(ends: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Which of the intervals hold what they speak of."""
    return (ends[..., 0] <= truth) & (truth <= ends[..., 1])


def coverage(shares_of: Callable, prior: object, size: int, ns: tuple[int, ...]) -> Iterator[str]:
    """Of shares, then of counts, for every mechanism, budget and number of records."""
    yield "| mechanism | epsilon | " + " | ".join(f"n = {n}" for n in ns) + " |"
    for name, make in MECHANISMS.items():
        for epsilon in (0.1, 1.0):
            cells = []
            for n in ns:
                generator, rng = np.random.default_rng(n), SeededRng(n)
                mechanism, of_shares, of_counts = make(epsilon, n), [], []
                for _ in range(size):
                    shares = shares_of(generator)
                    counts = generator.multinomial(n, shares)
                    posterior = mechanism.infer(mechanism.release(counts, rng=rng), prior=prior, total=n)
                    of_shares.append(held(posterior.interval(0.95), shares))
                    of_counts.append(held(posterior.counts.interval(0.95), counts))
                cells.append(f"{percent(of_shares)}; counts {percent(of_counts)}")
            yield f"| {name} | {epsilon} | " + " | ".join(cells) + " |"


def from_the_empirical_prior(generator: np.random.Generator) -> np.ndarray:
    """Shares whose concentration is drawn as `prior="empirical"` supposes."""
    weights = np.exp(make_prior("empirical", CELLS).log_weights)
    return generator.dirichlet(np.full(CELLS, generator.choice(CONCENTRATIONS, p=weights / weights.sum()) / CELLS))


def empirical(size: int) -> Iterator[str]:
    """The empirical prior, over data from it and over uniform shares."""
    for title, shares_of in (
        ("the prior", from_the_empirical_prior),
        ("uniform", lambda g: g.dirichlet(np.ones(CELLS))),
    ):
        yield f"shares from {title}"
        yield from coverage(shares_of, "empirical", size, NS[:4])


def error(size: int) -> Iterator[str]:
    """Error of the posterior over that of the best tuned rule, and both, for zero-sum Laplace noise."""
    tuned = [rule for rule in POSTPROCESSING if rule != "posterior"]
    kind = ["sum_preserving_laplace"]
    yield "| error | epsilon | n | d | tuned | posterior | ratio |"
    for metric in ("kl", "l1"):
        for epsilon in (1.0, 0.1):
            for n in (*NS[1:4], 10000):
                for d in (2, 5, 10, 30):
                    rules = (tuned, ["posterior"])
                    best, ours = (
                        compare(n, d, epsilon, DELTA, metric, kind, postprocessing=each, samples=size).rows[0]
                        for each in rules
                    )
                    figures = f"{best.error:.4g} | {ours.error:.4g} ({ours.standard_error:.1g})"
                    yield f"| {metric} | {epsilon} | {n} | {d} | {figures} | {ours.error / best.error:.2f} |"


def combined(size: int) -> Iterator[str]:
    """Intervals of a mean score by the combining rules."""
    score = np.arange(4)
    for n, epsilon, m, records in (
        (30, 1.0, 5, None), (100, 0.3, 20, None), (1000, 1.0, 20, None),
        (100, 0.3, 20, 100), (100, 0.3, 100, 100), (1000, 1.0, 20, 1000), (1000, 1.0, 100, 1000),
    ):  # fmt: skip
        generator, rng, inside = np.random.default_rng(n), SeededRng(n), []
        mechanism = sdp.SumPreservingLaplaceMechanism.for_counts(epsilon, dimension=4)
        for seed in range(size):
            shares = generator.dirichlet(np.ones(4))
            posterior = mechanism.infer(mechanism.release(generator.multinomial(n, shares), rng))
            tables = sdp.inference.synthetic_tables(posterior, m, records=records, rng=seed)
            per_table = n if records is None else records
            mean = tables.counts @ score / per_table
            variance = (tables.counts @ score**2 / per_table - mean**2) / per_table
            low, high = tables.combine(mean, variance).interval(0.95)
            inside.append(low <= shares @ score <= high)
        yield f"| {n} | {epsilon} | {m} | {records or 'draws of the data'} | {percent(inside)} |"


def models(size: int) -> Iterator[str]:
    """Intervals of a naive Bayes model with four features, over data from its prior."""
    for n, epsilon, classes, levels in MODELS:
        generator, inside = np.random.default_rng(501), []
        for seed in range(size):
            shares = generator.dirichlet(np.ones(classes))
            y, tables, columns = generator.choice(classes, n, p=shares), [], []
            for _ in range(4):
                concentration = 10 ** generator.uniform(0, 5)
                parameters = np.maximum(concentration * generator.dirichlet(np.ones(levels)), 1e-3)
                tables.append(generator.dirichlet(parameters, size=classes))
                below = generator.random(n)[:, None] > np.cumsum(tables[-1], axis=1)[y]
                columns.append(np.minimum(below.sum(axis=1), levels - 1))
            model = PrivateCategoricalNB(
                epsilon,
                DELTA,
                categories=[levels] * 4,
                classes=list(range(classes)),
                random_state=SeededRng(1000 + seed),
                calibration=None,
            ).fit(np.stack(columns, axis=1), y)
            of_classes, of_features = model.interval(0.95)
            pairs = [(of_classes, shares), *zip(of_features, tables, strict=True)]
            inside.append(np.concatenate([held(ends, truth).ravel() for ends, truth in pairs]))
        yield f"| {n}, {epsilon} | {classes}, {levels} | {percent(inside)} |"


def margins(size: int) -> Iterator[str]:
    """Counts of cells, groups and all records, where their number is private and group shares are alike and uneven."""
    for groups, even in ((3, 1.0), (9, 0.3)):
        for n in (100, 1000):
            for epsilon in (0.1, 1.0):
                generator, mechanism = (
                    np.random.default_rng(3),
                    sdp.DiscreteLaplaceMechanism.for_counts(epsilon, adjacency="add_remove"),
                )
                inside: dict[str, list] = {"cells": [], "groups": [], "over groups": [], "total": []}
                refused = 0
                for seed in range(size):
                    sizes = generator.multinomial(n, generator.dirichlet(np.full(groups, even)))
                    shares = generator.dirichlet(np.full(3, 0.3))
                    truth = np.array([generator.multinomial(each, shares) for each in sizes])
                    posterior = mechanism.infer(mechanism.release(truth, rng=SeededRng(3000 + seed)), prior="empirical")
                    try:
                        found = posterior.margins()
                    except sdp.exceptions.NumericalError:
                        refused += 1
                        continue
                    laws = (found.cells, found.rows, found.over(0), found.total)
                    truths = (truth, truth.sum(axis=1), truth.sum(axis=0), np.array(n))
                    for name, law, true in zip(inside, laws, truths, strict=True):
                        inside[name].append(held(law.interval(0.95), true))
                figures = ", ".join(f"{name} {percent(values)}" for name, values in inside.items())
                yield f"| {groups} | {n} | {epsilon} | {figures}; refused as too noisy {refused} |"


LOPSIDED = [
    ("replace", 1.0, [100_000], [1] * 19),
    ("replace", 1.0, [1_000_000], [2] * 19),
    ("replace", 0.2, [20_000], [3] * 19),
    ("replace", 1.0, [100_000], [1] * 20 + [0] * 180),
    ("replace", 1.0, [100_000], [0] * 19),
    ("replace", 1.0, [50_000, 50_000], [1] * 18),
    ("replace", 1.0, [30_000] * 3, [1] * 17),
    ("add_remove", 1.0, [100_000], [1] * 19),
]
"""Which data sets are neighbours, epsilon, large counts, the others."""


def lopsided(size: int) -> Iterator[str]:
    """Of counts beside some that have nearly all records, all levels alike and by default, with the errors of means."""
    yield "| neighbours | epsilon | large | others | held: alike | by default | error: alike | by default | noise |"
    for adjacency, epsilon, large, others in LOPSIDED:
        counts, rng = np.array(large + others), SeededRng(1)
        whole = counts.size
        if adjacency == "replace":
            mechanism = sdp.SumPreservingLaplaceMechanism.for_counts(epsilon, dimension=whole)
        else:
            mechanism = sdp.DiscreteLaplaceMechanism.for_counts(epsilon, adjacency=adjacency)
        inside, errors = ([], []), []
        for _ in range(size):
            noisy = mechanism.release(counts, rng=rng)
            found = [
                mechanism.infer(noisy, prior="empirical", centre=np.full(whole, 1 / whole)),
                mechanism.infer(noisy, prior="empirical"),
            ]
            for of_one, posterior in zip(inside, found, strict=True):
                of_one.append(held(posterior.counts.interval(0.95), counts)[len(large) :])
            off = [np.abs(each - counts)[len(large) :].mean() for each in (*(p.counts.mean for p in found), noisy)]
            errors.append(off)
        told = {value: others.count(value) for value in dict.fromkeys(others)}
        yield (
            f"| {adjacency} | {epsilon:g} | {len(large)} of {large[0]} | "
            f"{', '.join(f'{times} of {value}' for value, times in told.items())} | "
            f"{' | '.join(percent(each) for each in inside)} | "
            f"{' | '.join(f'{error:.2f}' for error in np.mean(errors, axis=0))} |"
        )


UNEVEN_TABLES = {
    "five of six groups of 4": [[20_000, 0, 0, 0]] + [[1] * 4] * 5,
    "the same, a smaller one": [[2_000, 0, 0, 0]] + [[1] * 4] * 5,
    "the same, an uneven one": [[20_000, 3_000, 400, 50]] + [[1] * 4] * 5,
    "several large cells in each": [[5_000, 300, 20, 3, 1, 1, 1, 1]] + [[30, 5, 1, 1, 1, 0, 0, 1]] * 5,
    "ten rows of ten, one cell not empty": [[20_000] + [0] * 9] + [[0] * 10] * 9,
    "even ones": [[100, 90, 80, 100]] * 6,
}


def totals(size: int) -> Iterator[str]:
    """Of a private number of records and of groups' sizes, and of sums of noisy counts with 1.96 deviations."""
    yield "| table | all records | groups | cells | sum of noisy counts |"
    for name, table in UNEVEN_TABLES.items():
        counts, rng = np.array(table), SeededRng(1)
        mechanism = sdp.DiscreteLaplaceMechanism.for_counts(1.0, adjacency="add_remove")
        ratio = np.exp(-1.0 / float(mechanism.scale))
        deviation = 1.96 * np.sqrt(2 * ratio * counts.size) / (1 - ratio)
        inside = ([], [], [], [])
        for _ in range(size):
            noisy = mechanism.release(counts, rng=rng)
            found = mechanism.infer(noisy, prior="empirical").margins()
            inside[0].append(held(found.total.interval(0.95), counts.sum()))
            inside[1].append(held(found.rows.interval(0.95), counts.sum(axis=1)))
            inside[2].append(held(found.cells.interval(0.95), counts))
            inside[3].append(abs(noisy.sum() - counts.sum()) <= deviation)
        yield f"| {name} | {' | '.join(percent(each) for each in inside)} |"


PIECES = {
    "lopsided": lopsided,
    "totals": totals,
    "prior": lambda size: coverage(lambda g: g.dirichlet(np.ones(CELLS)), 1.0, size, NS),
    "fixed": lambda size: coverage(lambda g: FIXED, 1.0, size, NS),
    "empirical": empirical,
    "error": error,
    "combined": combined,
    "models": models,
    "margins": margins,
}


def main(piece: str, size: int) -> None:
    warnings.simplefilter("ignore", InsecureRandomnessWarning)
    if piece not in PIECES or size < 2:
        raise SystemExit(f"PIECE must be one of {', '.join(PIECES)}, and DATA_SETS at least 2")
    for line in PIECES[piece](size):
        print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
