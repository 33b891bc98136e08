"""Write docs/models-accuracy.md: test losses of private models on the UCI data sets, by mechanism and clipping rule.

Run as ``python -m benches.python.models_table DIRECTORY`` with the directory that holds the data sets.
"""

import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from simplexdp.reproduce.classification import naive_bayes
from simplexdp.reproduce.data import NUMERIC, load, structures
from simplexdp.reproduce.networks import bayesian_network
from simplexdp.reproduce.simulated_tables import FLOORS

EPSILONS = (0.01, 0.1, 1.0, 10.0)
SEEDS = range(10)
RIVALS = [(name, floor) for name in ("gaussian", "laplace") for floor in FLOORS]
HEADER = """# Private models on the UCI data sets

Written by `python -m benches.python.models_table DIRECTORY`. Renyi budgets as in [DM] section 5: order 5, 70-30 splits,
numeric columns in ten quantile bins, means over {seeds} splits with a draw each. "floor" is `count_floor`: noisy counts
below it are raised to it. Bold is the best private figure of a row. "none" is the exact model without smoothing:
infinite where a value was not seen in training. Noise is simulated from seeds; `simplexdp reproduce dm-figure-3` plots
the same over more budgets.
"""


def table(title: str, scores: dict, better: str) -> Iterable[str]:
    """One row for each data set and epsilon, one column for each mechanism."""
    columns = [("none", 0.0), ("dirichlet", 0.0), *RIVALS]
    yield f"\n## {title}\n"
    yield (
        "| data | epsilon | "
        + " | ".join(n if n in ("none", "dirichlet") else f"{n}, floor {f:g}" for n, f in columns)
        + " |"
    )
    yield "| --- " * (len(columns) + 2) + "|"
    for data, epsilon in sorted({(d, e) for d, _, _, e in scores}):
        means = [float(np.mean(scores[data, name, floor, epsilon])) for name, floor in columns]
        best = min(means[1:]) if better == "lower" else max(means[1:])
        cells = [f"**{m:.4f}**" if m == best and i else f"{m:.4f}" for i, m in enumerate(means)]
        yield f"| {data} | {epsilon:g} | " + " | ".join(cells) + " |"


def wins(scores: dict, better: str) -> str:
    """Where the Dirichlet model is not the best."""
    lost = []
    for data, epsilon in sorted({(d, e) for d, _, _, e in scores}):
        ours = np.mean(scores[data, "dirichlet", 0.0, epsilon])
        for name, floor in RIVALS:
            rival = np.mean(scores[data, name, floor, epsilon])
            if (rival < ours) if better == "lower" else (rival > ours):
                lost.append(f"{data} at {epsilon:g} ({name}, floor {floor:g}: {rival:.4f} against {ours:.4f})")
    if not lost:
        return "\nThe Dirichlet model is the best in every row.\n"
    return "\nAdditive noise is better here: " + "; ".join(lost) + ".\n"


def main(directory: Path) -> None:
    mechanisms = [("none", 0.0), ("dirichlet", 0.0), *RIVALS]
    losses, likelihoods = defaultdict(list), defaultdict(list)
    for name in NUMERIC:
        for r in naive_bayes(load(directory, name), EPSILONS, SEEDS, mechanisms):
            losses[r.data, r.mechanism, r.count_floor, r.epsilon].append(r.cross_entropy)
        print(name, flush=True)
    for name, structure in structures().items():
        for r in bayesian_network(load(directory, name), structure, EPSILONS, SEEDS, mechanisms):
            likelihoods[r.data, r.mechanism, r.count_floor, r.epsilon].append(r.log_likelihood)
        print(name, flush=True)
    parts = [HEADER.format(seeds=len(SEEDS))]
    parts += table("Naive Bayes: test cross-entropy (lower is better)", losses, "lower")
    parts.append(wins(losses, "lower"))
    parts += table("Bayesian networks: mean test log-likelihood of a record (higher is better)", likelihoods, "higher")
    parts.append(wins(likelihoods, "higher"))
    Path("docs/models-accuracy.md").write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
