"""Write docs/models-accuracy.md: test losses of private models on the UCI data sets, by mechanism and rule.

Run as ``python -m benches.python.models_table DIRECTORY PIECES`` with the directory that holds the data sets and one
for what was measured already: with names of pieces after it (``naive-bayes-adult``, ``network-bank``, ``peers``) only
those are measured, without, all that are missing, and the page is written. Beside diffprivlib where `make bench` has
made its environment.
"""

import json
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from benches.python.peers import Peer
from sklearn.metrics import roc_auc_score

from simplexdp.exceptions import InsecureRandomnessWarning
from simplexdp.models import PrivateBayesianNetwork, PrivateCategoricalNB
from simplexdp.reproduce.classification import naive_bayes
from simplexdp.reproduce.data import NUMERIC, load, structures
from simplexdp.reproduce.networks import bayesian_network
from simplexdp.reproduce.simulated_tables import FLOORS, ORDER
from simplexdp.testing import SeededRng

EPSILONS = (0.01, 0.1, 1.0, 10.0)
SEEDS = range(10)
RIVALS = [("dirichlet", 0.0), *((name, floor) for name in ("gaussian", "laplace") for floor in FLOORS)]
OURS = ("posterior", 0.0)
ALL_EVIDENCE = ("all evidence", 0.0)
SHARES = ("class shares", 0.0)
PEER_EPSILONS = (0.1, 1.0, 3.0)
PEER_DELTA = 1e-6
HEADER = """# Private models on the UCI data sets

Written by `python -m benches.python.models_table DIRECTORY PIECES`. Renyi budgets as in [DM] section 5: order 5, 70-30
splits, numeric columns in ten quantile bins, means over {seeds} splits with a draw each. "posterior" is the default of
`PrivateCategoricalNB` and `PrivateBayesianNetwork`: `mechanism="auto"`, `smoothing="posterior"`, `calibration="auto"`;
"all evidence" is the former with `calibration=None`. All others are `smoothing="floor"`: "dirichlet" is [DM]'s draw as
it is; "floor" is `count_floor`, to which noisy counts below it are raised. Bold is the best private figure of a row.
"none" is the exact model without smoothing: infinite where a value was not seen in training. Noise is simulated from
seeds; `simplexdp reproduce dm-figure-3` plots the rivals over more budgets.
"""


OVERCONFIDENT = """

"Class shares" are those of the training records, exactly. At the smallest budget noise is what bounds it: the private
model knows neither the shares nor how much to trust its tables. On thyroid at 0.01, measured apart, the shares that the
model itself knows have 0.3113, and the best weight of its evidence in hindsight 0.3111: none beats exact shares."""


def posterior_losses(data, seed):
    """Cross-entropies of the default model at every epsilon, and of the class shares alone."""
    features = [column for column in data.columns if column != "class"]
    train, test = data.split(seed)
    X = np.stack([data.columns[column] for column in features], axis=1)
    y, n_classes = data.columns["class"], data.cardinalities["class"]
    shares = (np.bincount(y[train], minlength=n_classes) + 1e-12) / len(train)
    yield SHARES, None, float(-np.log(shares[y[test]]).mean())
    for i, epsilon in enumerate(EPSILONS):
        for column, calibration in ((ALL_EVIDENCE, None), (OURS, "auto")):
            model = PrivateCategoricalNB.from_rdp(
                order=ORDER,
                epsilon=epsilon,
                categories=[data.cardinalities[column] for column in features],
                classes=list(range(n_classes)),
                calibration=calibration,
                random_state=SeededRng(1000 * seed + i),
            ).fit(X[train], y[train])
            log_probabilities = model.predict_log_proba(X[test])
            yield column, epsilon, float(-log_probabilities[np.arange(len(test)), y[test]].mean())


def posterior_likelihoods(data, structure, seed):
    """Mean test log-likelihood of a record under the default network, at every epsilon."""
    train, test = data.split(seed)
    nodes = structure["nodes"]
    for i, epsilon in enumerate(EPSILONS):
        network = PrivateBayesianNetwork.from_rdp(
            structure["edges"],
            {node: data.cardinalities[node] for node in nodes},
            order=ORDER,
            epsilon=epsilon,
            random_state=SeededRng(1000 * seed + i),
        ).fit({node: data.columns[node][train] for node in nodes})
        yield OURS, epsilon, network.score({node: data.columns[node][test] for node in nodes})


def table(title: str, scores: dict, better: str, extra: list, private: list) -> Iterable[str]:
    """One row for each data set and epsilon, one column for each mechanism."""
    columns = [("none", 0.0), *extra, *private]
    yield f"\n## {title}\n"
    named = [
        n if (n, f) in (("none", 0.0), *extra, OURS, ALL_EVIDENCE, RIVALS[0]) else f"{n}, floor {f:g}"
        for n, f in columns
    ]
    yield "| data | epsilon | " + " | ".join(named) + " |"
    yield "| --- " * (len(columns) + 2) + "|"
    for data, epsilon in rows_of(scores):
        means = {column: mean_of(scores, data, epsilon, column) for column in columns}
        pick = min if better == "lower" else max
        best = pick(means[column] for column in private)
        cells = [f"**{m:.4f}**" if m == best and column in private else f"{m:.4f}" for column, m in means.items()]
        yield f"| {data} | {epsilon:g} | " + " | ".join(cells) + " |"


def rows_of(scores: dict) -> list:
    """The data sets and budgets."""
    return sorted({(data, epsilon) for data, _, _, epsilon in scores if epsilon is not None})


def values_of(scores: dict, data: str, epsilon: float, column: tuple) -> np.ndarray:
    """One number for each split."""
    return np.array(scores[(data, *column, None if column == SHARES else epsilon)])


def mean_of(scores: dict, data: str, epsilon: float, column: tuple) -> float:
    """The mean over the splits."""
    return float(np.mean(values_of(scores, data, epsilon, column)))


def verdict(scores: dict, better: str) -> str:
    """Where the posterior is not the best."""
    rows, sign = rows_of(scores), 1 if better == "lower" else -1
    text = ""
    for rivals, what in ((RIVALS[1:], "noise with a floor"), (RIVALS[:1], "[DM]'s draws as they are")):
        behind = []
        for data, epsilon in rows:
            ours = mean_of(scores, data, epsilon, OURS)
            gap, (name, floor) = max((sign * (ours - mean_of(scores, data, epsilon, rival)), rival) for rival in rivals)
            if gap > 0:
                rival = name if name == "dirichlet" else f"{name}, floor {floor:g}"
                behind.append(f"{data} at {epsilon:g} by {gap:.4f} ({rival})")
        text += f"\nAgainst {what} the posterior is best in {len(rows) - len(behind)} of {len(rows)} rows"
        text += ("; behind: " + "; ".join(behind) if behind else "") + ".\n"
    return text


def above_shares(scores: dict) -> str:
    """Where the posterior does worse than the class shares alone."""
    worse = [
        f"{data} at {epsilon:g} by {mean_of(scores, data, epsilon, OURS) - mean_of(scores, data, epsilon, SHARES):.4f}"
        for data, epsilon in rows_of(scores)
        if mean_of(scores, data, epsilon, OURS) > mean_of(scores, data, epsilon, SHARES)
    ]
    text = "\nWorse than the class shares alone: " + ("; ".join(worse) if worse else "nowhere") + "."
    return text + (OVERCONFIDENT if worse else "") + "\n"


def peers(directory: Path) -> Iterable[str]:
    """Accuracy and area under the curve on Adult, beside diffprivlib's models."""
    peer = Peer("diffprivlib")
    if not peer.installed:
        print("  skipped beside diffprivlib: its environment is made by `make bench`")
        return
    data = load(directory, "adult")
    features = [column for column in data.columns if column != "class"]
    X = np.stack([data.columns[column] for column in features], axis=1)
    y, sizes = data.columns["class"], [data.cardinalities[column] for column in features]
    scores = defaultdict(list)
    with peer:
        for seed in SEEDS:
            train, test = data.split(seed)
            for i, epsilon in enumerate(PEER_EPSILONS):
                model = PrivateCategoricalNB(
                    epsilon, PEER_DELTA, categories=sizes, classes=[0, 1], random_state=SeededRng(1000 * seed + i)
                ).fit(X[train], y[train])
                p = model.predict_proba(X[test])[:, 1]
                scores["PrivateCategoricalNB", epsilon].append(
                    (np.mean((p > 0.5) == y[test]), roc_auc_score(y[test], p))
                )
                for name in ("GaussianNB", "LogisticRegression", "RandomForestClassifier"):
                    question = ["classify", name, epsilon, seed, sizes]
                    answer = peer.ask(*question, X[train].tolist(), y[train].tolist(), X[test].tolist())
                    p = np.array(answer)
                    scores[f"diffprivlib {name}", epsilon].append(
                        (np.mean((p > 0.5) == y[test]), roc_auc_score(y[test], p))
                    )
    yield "\n## Adult, beside diffprivlib\n"
    larger = max(np.mean(y), 1 - np.mean(y))
    yield f"Accuracy and area under the ROC curve, means over {len(SEEDS)} splits; the same codes and public bounds for"
    yield f"all. Ours at delta = {PEER_DELTA:g}, theirs at delta = 0. Predicting the larger class: {larger:.3f}.\n"
    yield "| model | " + " | ".join(f"epsilon {e:g}" for e in PEER_EPSILONS) + " |"
    yield "| --- " * (len(PEER_EPSILONS) + 1) + "|"
    for name in dict.fromkeys(name for name, _ in scores):
        means = [np.mean(scores[name, epsilon], axis=0) for epsilon in PEER_EPSILONS]
        yield f"| {name} | " + " | ".join(f"{accuracy:.3f}, {area:.3f}" for accuracy, area in means) + " |"
    yield ""


def naive_bayes_scores(directory: Path, name: str) -> dict:
    """Losses of all splits of one data set, by mechanism, rule and budget."""
    scores, data = defaultdict(list), load(directory, name)
    for r in naive_bayes(data, EPSILONS, SEEDS, [("none", 0.0), *RIVALS]):
        scores[r.data, r.mechanism, r.count_floor, r.epsilon].append(r.cross_entropy)
    for seed in SEEDS:
        for column, epsilon, loss in posterior_losses(data, seed):
            scores[(name, *column, epsilon)].append(loss)
    return scores


def network_scores(directory: Path, name: str) -> dict:
    """Log-likelihoods of all splits of one data set, by mechanism, rule and budget."""
    scores, data, structure = defaultdict(list), load(directory, name), structures()[name]
    for r in bayesian_network(data, structure, EPSILONS, SEEDS, [("none", 0.0), *RIVALS]):
        scores[r.data, r.mechanism, r.count_floor, r.epsilon].append(r.log_likelihood)
    for seed in SEEDS:
        for column, epsilon, likelihood in posterior_likelihoods(data, structure, seed):
            scores[(name, *column, epsilon)].append(likelihood)
    return scores


def written(losses: dict, likelihoods: dict, beside: Iterable[str]) -> str:
    """The page."""
    parts = [HEADER.format(seeds=len(SEEDS))]
    parts += table(
        "Naive Bayes: test cross-entropy (lower is better)", losses, "lower", [SHARES], [OURS, ALL_EVIDENCE, *RIVALS]
    )
    parts += [verdict(losses, "lower"), above_shares(losses)]
    title = "Bayesian networks: mean test log-likelihood of a record (higher is better)"
    parts += [*table(title, likelihoods, "higher", [], [OURS, *RIVALS]), verdict(likelihoods, "higher"), *beside]
    return "\n".join(parts)


def pieces(directory: Path) -> dict:
    """What is measured apart, by name."""
    found = {f"naive-bayes-{name}": lambda name=name: naive_bayes_scores(directory, name) for name in NUMERIC}
    found |= {f"network-{name}": lambda name=name: network_scores(directory, name) for name in structures()}
    return {**found, "peers": lambda: "\n".join(peers(directory))}


def measured(path: Path, measure) -> object:
    """A piece, from its file if there is one."""
    if not path.exists():
        found = measure()
        plain = [[*key, values] for key, values in found.items()] if isinstance(found, dict) else found
        path.write_text(json.dumps(plain), encoding="utf-8")
    found = json.loads(path.read_text(encoding="utf-8"))
    return {tuple(key): values for *key, values in found} if isinstance(found, list) else found


def main(directory: Path, cache: Path, *wanted: str) -> None:
    warnings.simplefilter("ignore", InsecureRandomnessWarning)
    cache.mkdir(exist_ok=True)
    losses, likelihoods, beside = {}, {}, ""
    for name, measure in pieces(directory).items():
        if wanted and name not in wanted:
            continue
        found = measured(cache / f"{name}.json", measure)
        if name == "peers":
            beside = found
        elif name.startswith("network"):
            likelihoods |= found
        else:
            losses |= found
    if not wanted:
        page = written(losses, likelihoods, [beside])
        Path("docs/models-accuracy.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
