"""Write docs/comparison.md and docs/comparison.csv: which mechanism has the least error where, by how much.

Run as ``python -m benches.python.comparison_table DIRECTORY PIECES`` with a directory for what was measured already:
with names of pieces after it (``map-0`` to ``map-7``, ``whole``, ``without``, ``several``, ``draws``, ``posteriors``)
only those are measured, without, all that are missing, and the page is written. Half an hour in all.
"""

import csv
import itertools
import pickle
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from sklearn.metrics import log_loss

from simplexdp.comparison import POSTPROCESSING, Comparison, WinnerMap, compare, in_words, recommend, winners
from simplexdp.comparison.table import DEVIATIONS
from simplexdp.datasets import german_credit
from simplexdp.models import PrivateCategoricalNB
from simplexdp.plots import winner_map
from simplexdp.plots.style import style
from simplexdp.testing import SeededRng

NS = (30, 100, 1_000, 10_000, 100_000, 1_000_000)
DIMENSIONS = (2, 3, 5, 10, 30, 100, 1_000)
METRICS = ("kl", "hellinger", "l1", "linf")
EPSILON, DELTA = 1.0, 1e-6
TUNED = tuple(rule for rule in POSTPROCESSING if rule != "posterior")
"""Rules without inference, for comparison."""

INFERRED = ((1000, 10, 1.0), (1000, 10, 0.1), (100, 10, 0.3))
INFERRED_NS, INFERRED_DIMENSIONS = (30, 100, 1_000, 10_000), (2, 5, 10, 30)
INFERRED_MAPS = (("kl", 0.1), ("l1", 0.1))
MAPS = (
    *((metric, EPSILON, DIMENSIONS, "replace") for metric in METRICS),
    *(("kl", epsilon, DIMENSIONS[1::2], "replace") for epsilon in (0.1, 10.0)),
    *((metric, EPSILON, DIMENSIONS[1::2], "add_remove") for metric in ("kl", "l1")),
)
"""Error, epsilon, numbers of categories and neighbours of every large map."""

WITH_POSTERIORS = (0, 2, 4)
"""Which of them are measured with posteriors, some minutes each. At epsilon 10 their error is nearly always zero, and
so few data sets tell nothing of the rare others; where n is private they take too long."""

TABLES = (1, 2, 4, 6, 8, 12, 16, 32, 64)
FLOORED = ("dirichlet", "discrete_gaussian", "discrete_laplace")
DELTAS = (1e-3, 1e-6, 1e-9)
FEW_RECORDS = 100
"""Up to so many a release of epsilon 1 says little."""

SPLITS = range(15)
COLUMNS = (
    *("metric", "adjacency", "epsilon", "delta", "n", "dimension"),
    *("winner", "tied", "margin", "second", "error", "standard_error"),
)

HEADER = """# Which mechanism has the least error

Written by `python -m benches.python.comparison_table`; every figure is measured by `sdp.compare`, `sdp.recommend` and
`sdp.comparison.winners`, which do the same at your own numbers.

```python
>>> import simplexdp as sdp
>>> table = sdp.compare(1000, 10, epsilon=1.0, delta=1e-6, metric="l1")
>>> table.winner, table.row("dirichlet").ratio > 2
('sum_preserving_laplace', True)

```

## What is compared

- **Equal guarantees.** Every mechanism is calibrated to the same (epsilon, delta) by the curve that it reports, for the
  same neighbours: one of n records is replaced, unless a table says that one is added or removed. The curves of the
  Dirichlet, Gaussian and discrete Gaussian mechanisms are exact, and Laplace noise is pure. The Hellinger mechanism is
  certified where that takes less than a second, proved elsewhere, and left out above 64 categories.
- **Each with its best public post-processing.** Noisy counts: clipped at zero, raised to a floor, or projected to the
  nearest counts with the right sum. Dirichlet: the draw as it is, or debiased and projected. All: a prior count that is
  added afterwards. Which of these, how large the floor or prior count, and the Dirichlet mechanism's own prior are the
  choices with the least mean error on simulated data sets of a public population. The error is measured on other ones.
- **Population.** A quarter each: equal shares; shares from Dirichlet(1); shares proportional to rank^-1.5; equal shares
  on the first ceil(sqrt(d)) categories. The n records are drawn from the shares.
- **Errors** of released shares q against the shares p of the data. `kl` is KL(p || q): categories without records add
  nothing, and one with records that is released as zero makes it infinite, so that rules which can release a zero are
  not used for it. `hellinger` is the distance in [0, 1], `l1` the sum and `linf` the largest of abs(p - q).
- **Ties.** Two mechanisms are told apart when their errors, paired over data sets, differ by {deviations:g} standard
  errors, or still do after the largest tenth of the differences is cut down, which can only hide a difference.
  Otherwise "=" marks a tie. The number is the error of the second mechanism over that of the first.
- When a record is added or removed n is private: it only says how strong smoothing should be, and projection takes the
  noisy sum.
"""


def show(done: int, of: int) -> None:
    """Print where we are, on one line."""
    print(f"\r{done}/{of}", end="\n" if done == of else "", file=sys.stderr, flush=True)


def as_table(found: WinnerMap) -> Iterator[str]:
    """One row for each n, one column for each number of categories."""
    yield "| n | " + " | ".join(f"d = {d}" for d in found.dimensions) + " |"
    yield "| --- " * (len(found.dimensions) + 1) + "|"
    for i, n in enumerate(found.ns):
        cells = [
            f"{in_words(str(found.winner[i, j]))} {'=' if found.tied[i, j] else ''}{found.margin[i, j]:.2f}"
            for j in range(len(found.dimensions))
        ]
        yield f"| {n:,} | " + " | ".join(cells) + " |"


def as_rows(table: Comparison) -> Iterator[str]:
    """The whole table of one setting."""
    yield "| mechanism | post-processing | error | standard error | ratio |"
    yield "| --- | --- | --- | --- | --- |"
    for row in table.rows:
        rule = row.postprocessing if row.strength is None else f"{row.postprocessing} {row.strength:.2g}"
        mark = " =" if row.mechanism in table.ties else ""
        figures = f"{row.error:.4g} | {row.standard_error:.1g} | {row.ratio:.2f}{mark}"
        yield f"| {in_words(row.mechanism)} | {rule} | {figures} |"


def best_or_tied(tables: Iterable[Comparison], mechanisms: set[str]) -> int:
    """In how many settings one of the mechanisms is the first or within noise of it."""
    return sum(bool(mechanisms & {table.winner, *table.ties}) for table in tables)


def measured_map(place: int) -> WinnerMap:
    """One large map; with posteriors where they take no more than seconds."""
    metric, epsilon, dimensions, adjacency = MAPS[place]
    rules = None if place in WITH_POSTERIORS else TUNED
    return winners(NS, dimensions, epsilon, DELTA, metric, adjacency=adjacency, postprocessing=rules, progress=show)


def title_of(one: WinnerMap) -> str:
    """The heading of a map."""
    neighbours = ", a record is added or removed" if one.adjacency == "add_remove" else ""
    return f"{one.metric}, epsilon = {one.epsilon:g}{neighbours}, delta = {one.delta:g}"


def tables_of(maps: Iterable[WinnerMap]) -> list[Comparison]:
    """All settings of some maps."""
    return [table for one in maps for line in one.comparisons for table in line]


def large_maps(maps: list[WinnerMap]) -> Iterator[str]:
    """The maps for one table with posteriors, and what they say."""
    found = [maps[place] for place in WITH_POSTERIORS]
    tables = tables_of(found)
    zero_sum = best_or_tied(tables, {"sum_preserving_laplace"})
    ratios = sorted(table.row("dirichlet").ratio for table in tables)
    by_posterior = [table for table in tables if table.rows[0].postprocessing == "posterior"]
    few = [table for table in tables if table not in by_posterior and table.n <= FEW_RECORDS]
    yield (
        f"\nIn the {len(found)} large maps zero-sum Laplace noise is the best or tied with it in {zero_sum} of "
        f"{len(tables)} settings, and the winner's rule is the posterior in {len(by_posterior)}. Of the other "
        f"{len(tables) - len(by_posterior)}, {len(few)} have at most {FEW_RECORDS} records, where a rule tuned to the "
        f"population knows more than the release. The Dirichlet mechanism has {ratios[len(ratios) // 2]:.2f} times the "
        f"least error in the median, between {ratios[0]:.2f} and {ratios[-1]:.1f} times."
    )
    for one in found:
        yield f"\n### Winners with the posterior, {title_of(one)}\n"
        yield from as_table(one)
        if one is found[0]:
            draw(one, "docs/comparison-kl.png")
            yield "\n![Winners by the KL divergence, as a heat map](comparison-kl.png)"


def single_tables(maps: list[WinnerMap]) -> Iterator[str]:
    """The maps for one table without posteriors, and what they say."""
    found = [one for place, one in enumerate(maps) if place not in WITH_POSTERIORS]
    replace = tables_of(one for one in found if one.adjacency == "replace")
    others = tables_of(one for one in found if one.adjacency != "replace")
    zero_sum = best_or_tied(replace, {"sum_preserving_laplace"})
    laplace = best_or_tied(others, {"discrete_laplace"})
    yield "\n## One histogram, without inference\n"
    yield (
        f"Other errors, budgets and neighbours, each mechanism with its best rule but the posterior. Zero-sum Laplace "
        f"noise on the counts is the best or tied with it in {zero_sum} of {len(replace)} settings "
        f"where a record is replaced. Discrete Laplace noise is in {laplace} of {len(others)} where one is added or "
        f"removed.\n"
    )
    for one in found:
        yield f"\n### {title_of(one)}\n"
        yield from as_table(one)


def without_posteriors() -> Iterator[str]:
    """Whole tables without inference."""
    yield f"\n### Whole tables: n = 1,000, d = 10, epsilon = {EPSILON:g}, delta = {DELTA:g}\n"
    for metric in ("kl", "l1"):
        yield f"\nerror: {metric}\n"
        yield from as_rows(compare(1000, 10, EPSILON, DELTA, metric, postprocessing=TUNED))


def draw(one: WinnerMap, path: str) -> None:
    """A heat map of the winners."""
    figure = winner_map(one).figure
    with style():
        figure.savefig(path, dpi=110)


def write_csv(maps: list[WinnerMap]) -> None:
    """The cells of all large maps, for a heat map."""
    with Path("docs/comparison.csv").open("w", newline="", encoding="utf-8") as target:
        writer = csv.writer(target, lineterminator="\n")
        writer.writerow(COLUMNS)
        for table in tables_of(maps):
            writer.writerow(cell(table))


def cell(table: Comparison) -> tuple[object, ...]:
    """One line of the file."""
    first, second = table.rows[:2]
    return (
        *(table.metric, table.adjacency, table.epsilon, table.delta, table.n, table.dimension),
        *(first.mechanism, int(bool(table.ties)), f"{second.ratio:.4g}", second.mechanism),
        *(f"{first.error:.5g}", f"{first.standard_error:.2g}"),
    )


def with_posteriors() -> Iterator[str]:
    """Whole tables where the posterior is among the rules."""
    yield INFERENCE
    for n, dimension, epsilon in INFERRED:
        for metric in ("kl", "l1"):
            yield f"\n{metric}, n = {n:,}, d = {dimension}, epsilon = {epsilon:g}, delta = {DELTA:g}:\n"
            yield from as_rows(compare(n, dimension, epsilon, DELTA, metric))
    for metric, epsilon in INFERRED_MAPS:
        one = winners(INFERRED_NS, INFERRED_DIMENSIONS, epsilon, DELTA, metric, progress=show)
        yield f"\n### Winners with the posterior, {title_of(one)}\n"
        yield from as_table(one)


def several_tables() -> Iterator[str]:
    """One budget for K tables, as in a model."""
    mechanisms = ["dirichlet", "gaussian", "discrete_laplace", "sum_preserving_laplace"]
    yield "\n## Several tables on one budget\n"
    yield (
        "A model releases K tables, and every record is counted once in each. Pure epsilons add up, or nearly so for "
        "few tables; the noise of Gaussian mechanism and Dirichlet draw grows with the square root of K. d = 10, "
        f"n = 1,000, error kl, epsilon = {EPSILON:g}: the best mechanisms, and the error of zero-sum Laplace and of "
        "Dirichlet over the least one.\n"
    )
    yield "| K | " + " | ".join(f"delta = {delta:g}" for delta in DELTAS) + " |"
    yield "| --- " * (len(DELTAS) + 1) + "|"
    first: dict[float, int] = {}
    gaps = []
    for count in TABLES:
        cells = []
        for delta in DELTAS:
            table = compare(1000, 10, EPSILON, delta, "kl", mechanisms, tables=count, postprocessing=TUNED)
            best = " = ".join(in_words(name) for name in (table.ties or (table.winner,)))
            zero_sum, dirichlet = (table.row(name).ratio for name in ("sum_preserving_laplace", "dirichlet"))
            cells.append(f"{best} ({zero_sum:.2f}, {dirichlet:.2f})")
            gaps.append(table.row("dirichlet").error / table.row("gaussian").error)
            if not {"sum_preserving_laplace", "discrete_laplace"} & {table.winner, *table.ties}:
                first.setdefault(delta, count)
        yield f"| {count} | " + " | ".join(cells) + " |"
        show(TABLES.index(count) + 1, len(TABLES))
    crossings = ", ".join(f"K = {first[delta]} at delta = {delta:g}" for delta in DELTAS if delta in first)
    yield (
        f"\nFrom {crossings} on, of the K that were tried, Laplace noise is no longer among the best. The Dirichlet "
        f"draw has between {min(gaps):.3f} and {max(gaps):.3f} times the error of Gaussian noise with the same exact "
        "budget: its best prior is large, and then the draw, debiased, is nearly Gaussian noise.\n"
    )


def draws_as_they_are() -> Iterator[str]:
    """Dirichlet draws without debiasing, against noise with a floor, as the models release them."""
    yield "\n## Draws as they are\n"
    yield (
        "With floors the library's models use a Dirichlet draw as it is, and raise noisy counts to a floor. Here with "
        "the best "
        f"public floor (in brackets) and the best prior; n records a row, error kl, epsilon = {EPSILON:g}, "
        f"delta = {DELTA:g}.\n"
    )
    names = FLOORED
    yield "| K | n | d | " + " | ".join(in_words(name) for name in names) + " |"
    yield "| --- " * (len(names) + 3) + "|"
    wins: Counter[str] = Counter()
    drawn = []
    for count, n, dimension in itertools.product((1, 10, 40), (30, 1000), (2, 5, 30)):
        table = compare(n, dimension, EPSILON, DELTA, "kl", names, tables=count, postprocessing=["raw", "floor"])
        wins[table.winner] += 1
        drawn += [(count, n)] if table.winner == "dirichlet" else []
        cells = []
        for name in names:
            row = table.row(name)
            text = f"{row.error:.4g}" + ("" if row.strength is None else f" ({row.strength:.2g})")
            cells.append(f"**{text}**" if name in (table.ties or (table.winner,)) else text)
        yield f"| {count} | {n:,} | {dimension} | " + " | ".join(cells) + " |"
    listing = ", ".join(f"{in_words(name)} in {wins[name]}" for name in names)
    records, tables = _span(n for _, n in drawn), _span(k for k, _ in drawn)
    yield (
        f"\nThe least error: {listing} of {wins.total()} settings; those within noise of it are bold too. The draw "
        f"comes first in settings with {records} records a row and {tables} tables.\n"
    )
    yield from on_data()


def _span(values: Iterable[int]) -> str:
    found = sorted(set(values))
    return "no" if not found else f"{found[0]:,}" if len(found) == 1 else f"{found[0]:,} to {found[-1]:,}"


def on_data() -> Iterator[str]:
    """The same question put to a classifier and to real records."""
    columns = {k: v for k, v in german_credit().items() if k not in ("duration", "amount", "age")}
    y = columns.pop("class")
    X = np.stack(list(columns.values()), axis=1)
    categories = [sorted(set(column.tolist())) for column in X.T]
    count, levels = X.shape[1] + 1, round(float(np.mean([len(c) for c in categories])))
    yield (
        f"Naive Bayes on the bundled German credit data shows what a floor does: {count} tables, 700 records to learn "
        f"from, test cross-entropy over {len(SPLITS)} splits (standard error), delta = {DELTA:g}. The last two columns "
        f"have the floor that `sdp.compare` finds for {levels} categories, without the data.\n"
    )
    yield "| epsilon | Dirichlet | discrete Gaussian, floor 1 | floor 5 | public floor | discrete Laplace, the same |"
    yield "| --- " * 6 + "|"
    for epsilon in (0.3, 1.0, 3.0):
        found = compare(350, levels, epsilon, DELTA, "kl", FLOORED, tables=count, postprocessing=["raw", "floor"])
        gaussian, laplace = (found.row(name).strength for name in ("discrete_gaussian", "discrete_laplace"))
        arms = [("dirichlet", 0.0), *(("discrete_gaussian", floor) for floor in (1.0, 5.0, gaussian))]
        cells = []
        for mechanism, floor in [*arms, ("discrete_laplace", laplace)]:
            losses = [cross_entropy(X, y, categories, epsilon, mechanism, floor, seed) for seed in SPLITS]
            error = np.std(losses, ddof=1) / np.sqrt(len(losses))
            shown = f", floor {floor:.3g}" if floor in (gaussian, laplace) else ""
            cells.append(f"{np.mean(losses):.3f} ({error:.3f}{shown})")
        yield f"| {epsilon:g} | " + " | ".join(cells) + " |"
        show(int(epsilon * 10), 30)
    yield (
        "\nWhich mechanism does best in a model hangs on the floor, then. With fixed floors up to 5 and equal Renyi "
        "budgets of order 5, the Dirichlet mechanism came first in most settings of naive Bayes "
        "([accuracy of the models](models-accuracy.md)).\n"
    )


def cross_entropy(
    X: np.ndarray, y: np.ndarray, categories: list, epsilon: float, mechanism: str, floor: float, seed: int
) -> float:
    """Of one split and one release."""
    order = np.random.default_rng(seed).permutation(len(y))
    learn, test = order[:700], order[700:]
    model = PrivateCategoricalNB(
        epsilon=epsilon,
        delta=DELTA,
        mechanism=mechanism,
        smoothing="floor",
        count_floor=floor,
        categories=categories,
        classes=[0, 1],
        random_state=SeededRng(seed),
    ).fit(X[learn], y[learn])
    return float(log_loss(y[test], model.predict_proba(X[test])))


def posteriors() -> Iterator[str]:
    """Whole posteriors and single draws from them."""
    yield "\n## Posteriors\n"
    hellinger = []
    for task in ("posterior", "posterior-draw"):
        for n, dimension in ((60, 2), (1000, 2), (1000, 10)):
            table = recommend(task, n=n, dimension=dimension, epsilon=EPSILON, delta=DELTA).comparison
            yield f"\n`{task}`, n = {n:,}, d = {dimension}; error: {table.metric}\n"
            yield from as_rows(table)
            hellinger += [row.ratio for row in table.rows if row.mechanism == "hellinger"]
    yield (
        f"\nThe Hellinger mechanism has {min(hellinger):.1f} to {max(hellinger):.1f} times the least error of a "
        "posterior here. A posterior that was released once gives any number of draws for nothing.\n"
    )


INFERENCE = """
## With exact inference

The posterior mean of the counts given the release ([inference](inference.md)) is among the rules that `sdp.compare`
tries by default, for all but the Hellinger mechanism. It is told nothing of the population, and measured on 16 to 400
data sets, because it takes a hundred times as long as the other rules: look at the standard errors. Where the release
says something it is the best rule of every mechanism, and the order of the mechanisms stays what it was: Laplace noise
first, zero-sum where the total is public. The maps of this section are measured with it; with a thousand categories it
is left out where it would take more than some seconds: for Gaussian noise and Dirichlet draws, but with few records.
"""

CONCLUSION = """
## Which mechanism to use

- **One histogram or posterior, counts of records:** Laplace noise on the counts, zero-sum where the number of records
  is public (`SumPreservingLaplaceMechanism`), else `DiscreteLaplaceMechanism`; then `mechanism.infer`, whose expected
  counts and shares have intervals. It is pure: no delta is spent. This is what `mechanism="auto"` does.
- **Many tables on one budget:** `GaussianMechanism`, or the Dirichlet mechanism, debiased. With few tables, Laplace
  noise. In the library's models, `mechanism="discrete_gaussian"`, or `"dirichlet"` where the rows are short and the
  tables many.
- **A probability vector that is positive, sums to one and needs no post-processing, or a posterior sample that has to
  be Dirichlet:** `DirichletMechanism`. It costs accuracy, as the ratios above say.
- **The Hellinger mechanism** for its law, not for its accuracy.

`sdp.recommend(task, n=..., dimension=..., epsilon=..., delta=...)` measures at your numbers and prints the code.
"""


def pieces() -> dict:
    """What is measured apart, by name."""
    found = {f"map-{place}": lambda place=place: measured_map(place) for place in range(len(MAPS))}
    sections = {"whole": with_posteriors, "without": without_posteriors, "several": several_tables}
    sections |= {"draws": draws_as_they_are, "posteriors": posteriors}
    return {**found, **{name: lambda section=section: "\n".join(section()) for name, section in sections.items()}}


def measured(path: Path, measure) -> object:
    """A piece, from its file if there is one: a file of this script's own."""
    if not path.exists():
        path.write_bytes(pickle.dumps(measure()))
    return pickle.loads(path.read_bytes())


def main(cache: Path, *wanted: str) -> None:
    cache.mkdir(exist_ok=True)
    names = pieces()
    if not set(wanted) <= set(names):
        raise SystemExit(f"no such pieces: {sorted(set(wanted) - set(names))}; there are {list(names)}")
    found = {
        name: measured(cache / f"{name}.pickle", measure)
        for name, measure in names.items()
        if not wanted or name in wanted
    }
    if wanted:
        return
    maps = [found[name] for name in names if name.startswith("map")]
    write_csv(maps)
    sections = [found["whole"], *large_maps(maps), *single_tables(maps)]
    sections += [found[name] for name in ("without", "several", "draws", "posteriors")]
    page = "\n".join([HEADER.format(deviations=DEVIATIONS), *sections, CONCLUSION])
    Path("docs/comparison.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
