"""Write docs/plan-agreement.md: what `sdp.plan` says beside what releases of real data are off by.

    python -m benches.python.plan_table DIRECTORY [TASK | TASK:DATA | TASK:DATA:EPSILON ...]

What is named is measured again and all other rows stay; the page is written after each row, so a run that is stopped
loses one. DIRECTORY holds the data sets. Each is cut into two halves at random: one is the public stand-in, the
other the private table. The lines of code that the plan returns are run on the private half again and again, as a user
would run them, and the metric is taken against it.
"""

import csv
import gzip
import sys
import warnings
from pathlib import Path

import numpy as np

import simplexdp as sdp
from simplexdp.reproduce.data import load, structures

EPSILONS = (0.1, 0.5, 1.0, 3.0)
RUNS = {"counts": 300, "posterior": 1200, "mean": 3000, "quantile": 600, "models": 24, "hierarchy": 60}
HISTOGRAMS = {
    "adult": "occupation",
    "bank": "job",
    "shopper": "Month",
    "germancredit": "purpose",
    "creditcard": "PAY_0",
}
GROUPS = {"adult": ("education", "race"), "bank": ("job", "marital"), "shopper": ("Month", "VisitorType")}
POSTERIORS = {"adult": "relationship", "germancredit": "savings", "thyroid": "class"}
CLASSIFIERS = ("adult", "bank", "creditcard", "germancredit", "shopper", "thyroid", "digit", "spam")
NETWORKS = ("adult", "bank", "germancredit")
NUMBERS = {"adult": ("age", 100.0), "bank": ("duration", 2000.0), "germancredit": ("amount", 20_000.0)}
"""Columns as the files have them, and their upper bounds; the lower ones are zero."""

HIERARCHIES = {"adult": ("education", "race"), "bank": ("job", "marital"), "shopper": ("Month", "VisitorType")}
"""Groups, and what divides each."""

COUNTS = ("histogram", "groups", "posterior")
RANGED = (*COUNTS, "network", "synthesis", "mean", "quantile", "hierarchy")
PAGE = Path("docs/plan-agreement.md")
SYNTHESES = ("adult", "bank", "germancredit")

HEADER = """# Does the plan tell the truth?

Written by `python -m benches.python.plan_table DIRECTORY`. Each data set is cut into two
halves at random. One is the stand-in (`like=`), the other is released: the lines of code in the plan are run on it,
{counts} times (posteriors {posterior}, means {mean}, quartiles {quantile}, hierarchies {hierarchy}, models
{models} times, or a third as often where there are 15 columns or more), and the metric is taken against the
truth; behind ± stands the standard error of what was measured. The range beside a stand-in is
for 95 % of tables that are samples of the same population. "inside" is
what lies in the range, or no more than two standard errors of the measurement beside it.
"public numbers" is the same plan
without the stand-in, from n and the numbers of categories
alone, for data of one middling shape, with the range that other shapes make of it. Of
distances and errors less is better, of the accuracy more. Errors of means and quartiles are shares of the distance
between the bounds. delta = 1e-7.

"""

HEADS = (
    *("task", "data", "records", "epsilon", "with a stand-in", "measured", "ratio", "range", "inside"),
    *("public numbers", "ratio", "range", "inside"),
)


def main(directory: Path, tasks: list[str]) -> None:
    """Measure the tasks that are named, or all, and write the page."""
    warnings.simplefilter("ignore")
    rows = _rows_of(PAGE)
    for task, name, like, private, domains, keywords in _cases(directory):
        wanted = [
            epsilon
            for epsilon in EPSILONS
            if not tasks or {task, f"{task}:{name}", f"{task}:{name}:{epsilon:g}"} & set(tasks)
        ]
        if not wanted:
            continue
        n = len(next(iter(private.values())))
        given = {"n": n, "domains": domains, "delta": 1e-7, "epsilons": wanted, **keywords}
        if domains is None:
            like = like["values"]
        counts, runs = task in COUNTS, RUNS["models"]
        if counts or domains is None or task == "hierarchy":
            runs = RUNS[task if task in RUNS else "counts"]
        stood = sdp.plan(task, like=like, **given)
        plain = sdp.plan(task, **given) if task in RANGED else stood
        for step, public in zip(stood.steps, plain.steps, strict=True):
            found, error = _measured(task, step.code, private, domains, keywords, runs)
            said = ["", "", "", ""]
            if task in RANGED:
                public_found = found, error
                if public.code != step.code:
                    public_found = _measured(task, public.code, private, domains, keywords, runs)
                ratio = public_found[0] / public.value
                said = [f"{public.value:.4g}", f"{ratio:.3f}", *_range(public.reach, *public_found)]
            head = [_called(task, keywords), name, f"{n:,}", f"{step.epsilon:g}"]
            stood_for = [f"{step.value:.4g}", f"{found:.4g}\xa0±\xa0{error:.1g}", f"{found / step.value:.3f}"]
            measured = [*head, *stood_for, *_range(step.reach, found, error), *said]
            print(*measured, sep=" | ", flush=True)
            rows = [row for row in rows if row[:4] != head] + [measured]
            _write(rows)


def _range(reach: tuple[float, float] | None, found: float, error: float) -> list[str]:
    """Return a range, and whether what was measured lies in it."""
    if reach is None:
        return ["", ""]
    low, high = reach
    return [f"{low:.3g}\xa0to\xa0{high:.3g}", "yes" if low - 2 * error <= found <= high + 2 * error else "no"]


def _write(rows: list[list[str]]) -> None:
    """Write the page, in the order in which it is measured."""
    tasks, sets = list(sdp.planning.TASKS), list(dict.fromkeys([*HISTOGRAMS, *CLASSIFIERS]))
    rows = sorted(rows, key=lambda row: (tasks.index(row[0].split(",")[0]), sets.index(row[1]), row[0], float(row[3])))
    ratios = [float(row[6]) for row in rows]
    public_ratios = [float(row[10]) for row in rows if row[10]]
    words = (
        f"\nWith a stand-in {_share(ratios)} of {len(ratios)} measurements lie within 10 % of the plan (the furthest: "
        f"{_furthest(ratios):.3f}), and {_inside(rows, 8)} within the range, where there is one; from public numbers "
        f"alone {_share(public_ratios)} of {len(public_ratios)} (the furthest: {_furthest(public_ratios):.3f}), and "
        f"{_inside(rows, 12)} within the range. What public numbers alone cannot know is how "
        "empty a table is and how large its groups are: a release that knows that counts are not negative does better "
        "where many are zero, and shares within small groups are far off. Of networks and synthetic records "
        "the range is also of tables whose columns add up effects of several others: without, when all rows of a table "
        "were alike to one degree, which smoothing makes use of, it ended at 0.041 for networks of Adult at epsilon = "
        "3, and those are off by 0.053. At epsilon = 0.5 and 1 it is still too low for Adult. "
        "A stand-in cannot know either on which side of a step a quartile lies: of the ages of Adult, in whole years, "
        "the third is 38 records away from the next "
        "year below in the half that is released, and 116 in the other. Its range says how much that is: it is made of "
        "samples of the stand-in. Over ten other cuts of bank into halves the quartiles at epsilon = 3 were off by "
        "0.43 to 2.0 times what each plan said, and on average by 1.00 ± 0.12 times (at 0.1, 0.5 and 1 by 1.03, 1.04 "
        "and 1.02); over ten of Adult by 0.96, 0.75, 0.76 and 0.88 times (± 0.1), and over sixteen others by 0.98 ± "
        "0.18 times at 0.5 and 0.98 ± 0.15 times at 1. So plans of quartiles are right on average, and a single cut "
        "is not within 10 %: of those sixteen 2 were, of sixteen of bank at epsilon = 3 (1.08 ± 0.12 times) 4. Neither "
        "the stand-in released as it is (3 and 2 of them) nor a bootstrap that is corrected by another one (1 and 2) "
        "comes closer. Over ten cuts posteriors at epsilon = 3 were off by 0.99 ± 0.01 times (Adult), "
        "0.95 ± 0.02 (German credit) and 0.96 ± 0.02 times (thyroid) what was said, shares within groups of shopper by "
        "0.96 ± 0.03 times; of these forty single cuts 32 were within 10 %. "
        "Shares within Adult's groups: the smallest group has 46 "
        "records in the stand-in and 37 in the half that is released; errors go with one over the size, whose sum "
        "over the groups is 1.10 times as large there. "
        "Classifiers have no range. Rows without a standard error were measured before plans of models "
        "took the default mechanism alone, and before there were ranges with a stand-in: of models those of networks "
        "on adult below epsilon = 3 and on bank at 0.1, and of digit's classifier below 1. Ranges of networks and "
        "synthetic records from public numbers were made again afterwards.\n"
    )
    table = [HEADS, ["---"] * len(HEADS), *rows]
    text = HEADER.format(**RUNS) + "".join(f"| {' | '.join(row)} |\n" for row in table) + words
    PAGE.write_text(text, encoding="utf-8")


def _rows_of(page: Path) -> list[list[str]]:
    """Return the rows of the page as it is."""
    lines = page.read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line[1:-1].split("|")] for line in lines if line.startswith("|")][2:]
    return [row + [""] * (13 - len(row)) for row in rows]


def _called(task: str, keywords: dict) -> str:
    return f"{task}, {keywords['metric']}" if "metric" in keywords else task


def _inside(rows: list[list[str]], place: int) -> str:
    """Return how many rows lie within a range, and which do not."""
    answers = [row for row in rows if row[place]]
    outside = [f"{row[0]} of {row[1]} at epsilon = {row[3]}" for row in answers if row[place] == "no"]
    named = f" (outside: {', '.join(outside)})" if outside else ""
    return f"{len(answers) - len(outside)} of {len(answers)}{named}"


def _share(ratios: list[float]) -> int:
    return sum(abs(ratio - 1) <= 0.1 for ratio in ratios)


def _furthest(ratios: list[float]) -> float:
    return max(ratios, key=lambda ratio: abs(np.log(ratio)))


def _cases(directory: Path):
    """Yield task, data set, stand-in, private half, domains and keywords."""
    for name, column in HISTOGRAMS.items():
        yield "histogram", name, *_halves(directory, name, [column]), {}
    for name, columns in GROUPS.items():
        for metric in ("counts", "shares"):
            yield "groups", name, *_halves(directory, name, list(columns)), {"metric": metric}
    for name, column in POSTERIORS.items():
        yield "posterior", name, *_halves(directory, name, [column]), {}
    for name in CLASSIFIERS:
        yield "classifier", name, *_halves(directory, name, None), {"classes": "class"}
    for name in NETWORKS:
        edges = [tuple(edge) for edge in structures()[name]["edges"]]
        columns = list(dict.fromkeys(node for edge in edges for node in edge))
        like, private, domains = _halves(directory, name, columns)
        # A column with one value has no table.
        kept = [edge for edge in edges if all(node in domains for node in edge)]
        yield "network", name, like, private, domains, {"edges": kept}
    for task in ("mean", "quantile"):
        for name, (column, upper) in NUMBERS.items():
            with gzip.open(directory / f"{name}.csv.gz", "rt", encoding="utf-8") as file:
                values = np.array([float(row[column]) for row in csv.DictReader(file)])
            one, other = np.array_split(np.random.default_rng(7).permutation(values), 2)
            yield task, name, {"values": one}, {"values": other}, None, {"bounds": (0.0, upper)}
    for name, columns in HIERARCHIES.items():
        for metric in ("finest", "coarsest"):
            yield "hierarchy", name, *_nested(*_halves(directory, name, list(columns))), {"metric": metric}
    for name in SYNTHESES:
        yield "synthesis", name, *_halves(directory, name, None), {}


def _halves(directory: Path, name: str, columns: list[str] | None):
    data = load(directory, name)
    wanted = list(data.columns) if columns is None else columns
    order = np.random.default_rng(7).permutation(data.n_records)
    middle = data.n_records // 2
    first, second = (
        {column: data.columns[column][part].astype(np.int64) for column in wanted}
        for part in (order[:middle], order[middle:])
    )
    sizes = {column: data.cardinalities[column] for column in wanted}
    return first, second, {column: size for column, size in sizes.items() if size > 1}


def _nested(like, private, domains):
    """Return the halves with the pairs of two columns as the finer level of a hierarchy, and the hierarchy."""
    (coarse, groups), (fine, parts) = domains.items()
    tree = sdp.hierarchy.Hierarchy(
        ["group", "part"], [(group, group * parts + part) for group in range(groups) for part in range(parts)]
    )
    one, other = ({"group": half[coarse], "part": half[coarse] * parts + half[fine]} for half in (like, private))
    return one, other, tree


def _of_hierarchy(code, private, tree, metric):
    scope = {"frame": private, "hierarchy": tree}
    exec(code, scope)
    level = tree.columns[-1 if metric == "finest" else 0]
    true = np.bincount(private[level], minlength=len(tree.groups(level)))
    return np.abs(scope["counts"][level].mean - true).mean()


def _measured(task, code, private, domains, keywords, runs):
    """Run the code of a plan on the private half."""
    if domains is None:
        return _of_numbers(task, code, private["values"], keywords["bounds"], runs)
    if task == "hierarchy":
        return _mean([_of_hierarchy(code, private, domains, keywords["metric"]) for _ in range(runs)])
    names, sizes = list(domains), tuple(domains.values())
    if task in COUNTS:
        cells = np.ravel_multi_index([private[name] for name in names], sizes)
        counts = np.bincount(cells, minlength=int(np.prod(sizes))).reshape(sizes)
        return _mean([_of_counts(task, code, counts) for _ in range(runs)])
    if task == "classifier":
        return _of_classifier(code, private, names, sizes, keywords["classes"], runs)
    pairs = keywords.get("edges") or [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    n, frame = len(private[names[0]]), {name: private[name] for name in names}
    found = []
    for _ in range(runs if len(names) < 15 else runs // 3):
        scope = {"frame": frame, "domains": domains, "edges": keywords.get("edges")}
        exec(code, scope)
        records = scope["records"] if "records" in scope else scope["model"].sample(n, kind="dict")
        found.append(np.mean([_apart(private, records, pair, domains) for pair in pairs]))
    return _mean(found)


def _mean(found):
    return float(np.mean(found)), float(np.std(found, ddof=1) / np.sqrt(len(found)))


def _of_numbers(task, code, values, bounds, runs):
    values = np.clip(values, *bounds)
    true = values.mean() if task == "mean" else np.quantile(values, [0.25, 0.5, 0.75])
    off = []
    for _ in range(runs):
        scope = {"values": values}
        exec(code, scope)
        off.append(np.abs(scope["released"].estimate - true).mean() / (bounds[1] - bounds[0]))
    return _mean(off)


def _of_counts(task, code, counts):
    scope = {"counts": counts}
    exec(code, scope)
    if task == "posterior":
        return sdp.divergence.hellinger_dirichlet(scope["posterior"].alpha, 1.0 + counts)
    if task == "histogram":
        return np.abs(counts.sum() * scope["shares"] - counts).mean()
    if "shares" not in scope:
        return np.abs(scope["noisy"] - counts).mean()
    sums = counts.sum(axis=1, keepdims=True)
    off = np.abs(scope["shares"] - counts / np.maximum(sums, 1))
    return off[sums[:, 0] > 0].mean()


def _of_classifier(code, private, names, sizes, target, runs):
    """Return the accuracy on other records than were learnt from: half of a half each."""
    features = [name for name in names if name != target]
    X, y = np.column_stack([private[name] for name in features]), private[target]
    found = []
    for run in range(runs):
        order = np.random.default_rng(run).permutation(len(y))
        cut = len(y) // 4
        judge, learn = order[:cut], order[cut:]
        # As many records as were planned for, as the plan draws them too.
        learn = np.random.default_rng(run).choice(learn, len(y))
        size_of = dict(zip(names, sizes, strict=True))
        scope = {
            "X": X[learn],
            "y": y[learn],
            "categories": [size_of[name] for name in features],
            "classes": list(range(size_of[target])),
        }
        exec(code, scope)
        found.append(scope["model"].score(X[judge], y[judge]))
    return _mean(found)


def _apart(one, other, pair, domains):
    first, second = pair
    shape = domains[first] * domains[second]
    tables = [
        np.bincount(np.asarray(table[first]) * domains[second] + table[second], minlength=shape) / len(table[first])
        for table in (one, other)
    ]
    return 0.5 * np.abs(tables[0] - tables[1]).sum()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
