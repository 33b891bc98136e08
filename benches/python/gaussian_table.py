"""Print a table of test scores of Gaussian naive Bayes on Adult's numeric columns, ours and diffprivlib's.

Run as ``python -m benches.python.gaussian_table DIRECTORY`` with the directory that holds the data sets; `make bench`
has made the environment of diffprivlib.
"""

import csv
import gzip
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from benches.python.peers import Peer
from sklearn.naive_bayes import GaussianNB

from simplexdp.models import PrivateGaussianNB

EPSILONS = (0.01, 0.1, 1.0, 3.0)
SPLITS = range(10)
BOUNDS = {
    "age": (17, 90),
    "fnlwgt": (10_000, 1_500_000),
    "education-num": (1, 16),
    "capital-gain": (0, 100_000),
    "capital-loss": (0, 4_500),
    "hours-per-week": (1, 99),
}
TRAINING = 32_561


def load(directory: Path) -> tuple[np.ndarray, np.ndarray]:
    with gzip.open(directory / "adult.csv.gz", "rt") as file:
        rows = list(csv.DictReader(file))
    X = np.array([[float(row[name]) for name in BOUNDS] for row in rows])
    return X, np.array([row["class"] == ">50K" for row in rows]).astype(int)


def scores(p: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Accuracy and mean log loss of probabilities of class 1."""
    chosen = np.where(y == 1, p, 1 - p)
    return float(np.mean((p > 0.5) == y)), float(-np.mean(np.log(np.clip(chosen, 1e-12, 1))))


def table(directory: Path) -> Iterable[str]:
    X, y = load(directory)
    found = defaultdict(list)
    bounds = list(BOUNDS.values())
    with Peer("diffprivlib") as peer:
        for seed in SPLITS:
            order = np.random.default_rng(seed).permutation(len(y))
            train, test = order[:TRAINING], order[TRAINING:]
            exact = GaussianNB().fit(X[train], y[train]).predict_proba(X[test])[:, 1]
            for epsilon in EPSILONS:
                ours = PrivateGaussianNB(epsilon, 1e-6, bounds=bounds, classes=[0, 1]).fit(X[train], y[train])
                found["PrivateGaussianNB", epsilon].append(scores(ours.predict_proba(X[test])[:, 1], y[test]))
                pure = PrivateGaussianNB(epsilon, bounds=bounds, classes=[0, 1], mechanism="discrete_laplace")
                pure.fit(X[train], y[train])
                found["pure epsilon", epsilon].append(scores(pure.predict_proba(X[test])[:, 1], y[test]))
                question = ["classify_numbers", epsilon, seed, bounds]
                theirs = peer.ask(*question, X[train].tolist(), y[train].tolist(), X[test].tolist())
                found["diffprivlib", epsilon].append(scores(np.array(theirs), y[test]))
                found["not private", epsilon].append(scores(exact, y[test]))
    yield "| model | " + " | ".join(f"epsilon {epsilon:g}" for epsilon in EPSILONS) + " |"
    yield "| --- " * (len(EPSILONS) + 1) + "|"
    for name in dict.fromkeys(name for name, _ in found):
        means = [np.mean(found[name, epsilon], axis=0) for epsilon in EPSILONS]
        yield f"| {name} | " + " | ".join(f"{accuracy:.4f}, {loss:.3f}" for accuracy, loss in means) + " |"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for line in table(Path(sys.argv[1])):
        print(line)
