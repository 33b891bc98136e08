"""Synthetic codes by mbi (private-pgm): run by the interpreter of its own environment.

    python run_mbi.py GIVEN.npz FOUND.npy EPSILON MECHANISM

The package estimates distributions and leaves the measurement to its caller. So "MST" is the mechanism of its
repository (mechanisms/mst.py [MMS21]) on its estimator; "mixture" measures all one-way tables and all pairs with the
same budget and fits its own mixture of products to them.
"""

import itertools
import sys
import warnings

warnings.simplefilter("ignore")

import jax  # noqa: E402

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_enable_compilation_cache", False)

import networkx as nx  # noqa: E402
import numpy as np  # noqa: E402
from mbi import Dataset, Domain, LinearMeasurement, estimation  # noqa: E402
from scipy.optimize import brentq  # noqa: E402
from scipy.special import logsumexp  # noqa: E402

DELTA = 1e-6


def rho_of(epsilon):
    """Return the largest rho whose zCDP keeps (epsilon, delta), by the conversion of the repository's cdp2adp.py."""

    def delta_of(rho):
        alphas = 1 + np.geomspace(1e-2, 1e5, 20_000)
        logs = (alphas - 1) * (alphas * rho - epsilon) + alphas * np.log1p(-1 / alphas) - np.log(alphas - 1)
        return logs.min()

    return brentq(lambda rho: delta_of(rho) - np.log(DELTA), 1e-9, epsilon + 1)


def measured(data, cliques, sigma, rng):
    """Measure tables with Gaussian noise, the budget split evenly."""
    sigma = sigma * np.sqrt(len(cliques))
    tables = [np.asarray(data.project(clique).datavector()) for clique in cliques]
    return [
        LinearMeasurement(table + rng.normal(0, sigma, table.size), clique, sigma)
        for clique, table in zip(cliques, tables, strict=True)
    ]


def tree(data, rho, model, rng):
    """Choose a spanning tree of pairs that the model does not have, by the exponential mechanism."""
    pairs = list(itertools.combinations(data.domain.attributes, 2))
    missed = {
        pair: np.abs(np.asarray(data.project(pair).datavector()) - np.asarray(model.project(pair).datavector())).sum()
        for pair in pairs
    }
    graph = nx.Graph()
    graph.add_nodes_from(data.domain.attributes)
    steps = len(data.domain.attributes) - 1
    epsilon = np.sqrt(8 * rho / steps)
    for _ in range(steps):
        pairs = [pair for pair in pairs if not nx.has_path(graph, *pair)]
        scores = 0.5 * epsilon * np.array([missed[pair] for pair in pairs])
        graph.add_edge(*pairs[rng.choice(len(pairs), p=np.exp(scores - logsumexp(scores)))])
    return [pair for pair in itertools.combinations(data.domain.attributes, 2) if graph.has_edge(*pair)]


def main(given, found, epsilon, mechanism):
    """Write synthetic codes."""
    with np.load(given) as file:
        records, sizes = file["records"].astype(int), file["sizes"].tolist()
    names = [f"c{at}" for at in range(len(sizes))]
    domain = Domain(names, sizes)
    data = Dataset({name: records[:, at] for at, name in enumerate(names)}, domain)
    rho, rng = rho_of(float(epsilon)), np.random.default_rng()
    one_way = [(name,) for name in names]
    if mechanism == "MST":
        sigma = np.sqrt(3 / (2 * rho))
        first = measured(data, one_way, sigma, rng)
        pairs = tree(data, rho / 3, estimation.MirrorDescent().estimate(domain, first, iters=2500), rng)
        model = estimation.MirrorDescent().estimate(domain, first + measured(data, pairs, sigma, rng), iters=10_000)
    else:
        import optax
        from mbi.extensions.mixture_of_products import MixtureOfProductsEstimator

        cliques = one_way + list(itertools.combinations(names, 2))
        estimator = MixtureOfProductsEstimator(optimizer=optax.adam(0.1), num_components=256)
        model = estimator.estimate(domain, measured(data, cliques, np.sqrt(1 / (2 * rho)), rng))
    synthetic = model.synthetic_data(rows=len(records))
    np.save(found, np.stack([np.asarray(synthetic.data[name]) for name in names], axis=1))


if __name__ == "__main__":
    main(*sys.argv[1:])
