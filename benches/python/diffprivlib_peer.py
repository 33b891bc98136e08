"""What diffprivlib is asked by the benches: run by the interpreter of its own environment, one question a line.

A question is a JSON list [name, argument, ...]; the answer is a line of JSON when the work is done.
"""

import json
import sys
import warnings

import numpy as np
from diffprivlib.models import GaussianNB, LogisticRegression, RandomForestClassifier
from diffprivlib.tools import histogram, histogram2d

DATA = {}


def prepare_naive_bayes(rows, cardinalities):
    rng = np.random.default_rng(1)
    X = np.stack([rng.integers(0, k, rows) for k in cardinalities], axis=1).astype(float)
    DATA["X"], DATA["y"] = X, rng.integers(0, 2, rows)
    DATA["bounds"] = (np.zeros(len(cardinalities)), np.array(cardinalities) - 1.0)


def naive_bayes():
    GaussianNB(epsilon=1.0, bounds=DATA["bounds"], priors=None).fit(DATA["X"], DATA["y"])


def classify(name, epsilon, seed, sizes, train, classes, test):
    """Probabilities of class 1: codes with their public bounds; logistic regression on indicators of the codes."""
    train, test, classes = np.array(train), np.array(test), np.array(classes)
    bounds = (np.zeros(len(sizes)), np.maximum(np.array(sizes) - 1.0, 1.0))
    if name == "GaussianNB":
        model = GaussianNB(epsilon=epsilon, bounds=bounds, random_state=seed)
    elif name == "RandomForestClassifier":
        model = RandomForestClassifier(epsilon=epsilon, bounds=bounds, classes=[0, 1], random_state=seed)
    else:
        train, test = (np.concatenate([np.eye(k)[x[:, j]] for j, k in enumerate(sizes)], axis=1) for x in (train, test))
        # One indicator of each column is one, so this is the norm of every record.
        model = LogisticRegression(epsilon=epsilon, data_norm=len(sizes) ** 0.5, max_iter=1000, random_state=seed)
    return model.fit(train, classes).predict_proba(test)[:, 1].tolist()


def classify_numbers(epsilon, seed, bounds, train, classes, test):
    """Probabilities of class 1, from numbers between public bounds."""
    lower, upper = zip(*bounds, strict=True)
    model = GaussianNB(epsilon=epsilon, bounds=(np.array(lower), np.array(upper)), random_state=seed)
    return model.fit(np.array(train), np.array(classes)).predict_proba(np.array(test))[:, 1].tolist()


def prepare_histogram(rows, levels):
    DATA["column"] = np.random.default_rng(1).integers(0, levels, rows)
    DATA["levels"] = levels


def one_histogram():
    histogram(DATA["column"], epsilon=1.0, bins=DATA["levels"], range=(0, DATA["levels"] - 1))


def grouped_histogram(groups):
    levels, column = DATA["levels"], DATA["column"]
    by = np.arange(len(column)) % groups
    histogram2d(by, column, epsilon=1.0, bins=[groups, levels], range=[(0, groups - 1), (0, levels - 1)])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    questions = {
        call.__name__: call
        for call in (
            prepare_naive_bayes,
            naive_bayes,
            classify,
            classify_numbers,
            prepare_histogram,
            one_histogram,
            grouped_histogram,
        )
    }
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        print(json.dumps(questions[name](*arguments)), flush=True)
