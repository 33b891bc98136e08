"""A synthesizer as a classifier of one column, beside naive Bayes with the same budget.

    python -m benches.python.synthesis_classifier DATA_FOLDER [NAME ...] [--seeds N]

Four fifths of the records are fitted, the others are asked; both under "replace", delta = 1e-6. Means of N seeds.
"""

import argparse
import os
import time
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from benches.python.synthesis_data import coded
from sklearn.metrics import roc_auc_score

from simplexdp.models import PrivateCategoricalNB, PrivateSynthesizer
from simplexdp.testing import SeededRng


def scored(chances, classes):
    """Return accuracy and area under the curve."""
    return np.array([np.mean((chances > 0.5) == classes), roc_auc_score(classes, chances)])


def main():
    """Print one row for each data set and epsilon."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", default=["adult"])
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| data | epsilon | synthesizer: accuracy | AUC | seconds | naive Bayes: accuracy | AUC | seconds |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in given.names:
        records, sizes, _ = coded(given.folder, name)
        order = np.random.default_rng(0).permutation(len(records))
        test, train = np.split(records[order], [len(records) // 5])
        last = len(sizes) - 1
        for epsilon in (0.1, 1.0, 3.0):
            rows = []
            for seed in range(given.seeds):
                begin = time.process_time()
                model = PrivateSynthesizer(
                    epsilon,
                    1e-6,
                    domains=dict(enumerate(sizes)),
                    adjacency="replace",
                    random_state=SeededRng(seed),
                ).fit(train)
                chances = model.predict_proba(last, test)[:, 1]
                middle = time.process_time()
                bayes = PrivateCategoricalNB(
                    epsilon=epsilon,
                    delta=1e-6,
                    categories=sizes[:last],
                    classes=list(range(sizes[last])),
                    random_state=SeededRng(seed),
                ).fit(train[:, :last], train[:, last])
                by_bayes = bayes.predict_proba(test[:, :last])[:, 1]
                end = time.process_time()
                rows.append(
                    [
                        *scored(chances, test[:, last]),
                        middle - begin,
                        *scored(by_bayes, test[:, last]),
                        end - middle,
                    ]
                )
            a, b, c, d, e, f = np.mean(rows, axis=0)
            print(f"| {name} | {epsilon:g} | {a:.3f} | {b:.3f} | {c:.2f} | {d:.3f} | {e:.3f} | {f:.2f} |", flush=True)


if __name__ == "__main__":
    main()
