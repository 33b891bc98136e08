"""Private models against scikit-learn and pgmpy: fitting and sampling at the size of the Adult data."""

import logging
import warnings

import numpy as np
from benches.python.timing import compare, report
from sklearn.naive_bayes import CategoricalNB

from simplexdp.models import PrivateBayesianNetwork, PrivateCategoricalNB

ROWS = 48842
CARDINALITIES = [10, 9, 10, 16, 10, 7, 15, 6, 5, 2, 2, 2, 10, 42]
NODES = ["a", "b", "c", "d", "e", "f", "g", "h", "i"]
EDGES = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("d", "e"), ("d", "f"), ("e", "g"), ("f", "h"), ("g", "i")]


def run() -> int:
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    rng = np.random.default_rng(1)
    X = np.stack([rng.integers(0, k, ROWS) for k in CARDINALITIES], axis=1)
    y = rng.integers(0, 2, ROWS)
    missed = 0

    ours = PrivateCategoricalNB(epsilon=1.0, categories=CARDINALITIES, classes=[0, 1])
    theirs = CategoricalNB(min_categories=CARDINALITIES)
    comparison = compare(lambda: ours.fit(X, y), lambda: theirs.fit(X, y))
    missed += report("naive Bayes fit, 48842 x 14, calibrated before", comparison, peer="scikit-learn", required=1)

    frame = {node: rng.integers(0, 6, ROWS, dtype=np.int8) for node in NODES}
    network = PrivateBayesianNetwork(EDGES, dict.fromkeys(NODES, 6), epsilon=1.0)
    network.fit(frame)
    peer = network.to_pgmpy()

    import pandas as pd
    from pgmpy.models import DiscreteBayesianNetwork

    table = pd.DataFrame(frame)
    comparison = compare(lambda: network.fit(frame), lambda: DiscreteBayesianNetwork(EDGES).fit(table), rounds=3)
    missed += report("network fit, 9 nodes, 48842 rows, same", comparison, peer="pgmpy", required=1)

    size, peer_size = 10**6, 10**4
    comparison = compare(
        lambda: network.sample(size, kind="dict"),
        lambda: peer.simulate(peer_size, show_progress=False),
        our_work=size,
        peer_work=peer_size,
        rounds=3,
    )
    missed += report("a synthetic record, 9 nodes", comparison, peer="pgmpy", required=1)
    return missed
