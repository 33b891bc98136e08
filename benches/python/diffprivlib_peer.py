"""What diffprivlib is asked by the benches: run by the interpreter of its own environment, one question a line.

A question is a JSON list [name, argument, ...]; the answer is an empty line when the work is done.
"""

import json
import sys
import warnings

import numpy as np
from diffprivlib.models import GaussianNB
from diffprivlib.tools import histogram, histogram2d

DATA = {}


def prepare_naive_bayes(rows, cardinalities):
    rng = np.random.default_rng(1)
    X = np.stack([rng.integers(0, k, rows) for k in cardinalities], axis=1).astype(float)
    DATA["X"], DATA["y"] = X, rng.integers(0, 2, rows)
    DATA["bounds"] = (np.zeros(len(cardinalities)), np.array(cardinalities) - 1.0)


def naive_bayes():
    GaussianNB(epsilon=1.0, bounds=DATA["bounds"], priors=None).fit(DATA["X"], DATA["y"])


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
        for call in (prepare_naive_bayes, naive_bayes, prepare_histogram, one_histogram, grouped_histogram)
    }
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        questions[name](*arguments)
        print(flush=True)
