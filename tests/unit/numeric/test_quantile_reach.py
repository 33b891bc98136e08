"""How far the noise of a quantile's rank goes: within its probability by enumeration, and hardly further."""

import numpy as np
import pytest

from simplexdp.models.released import Law
from simplexdp.numeric.tree import Tree, _reach


def masses(law):
    """Return the values of one noise and their probabilities, but for some 1e-12."""
    last = int(np.ceil((28 if law.kind == "laplace" else 8) * law.size)) + 1
    values = np.arange(-last, last + 1)
    weights = np.exp(-abs(values) / law.size if law.kind == "laplace" else -0.5 * (values / law.size) ** 2)
    return values, weights / weights.sum()


def summed(weights, law):
    """Return the values of a weighted sum of noises and their probabilities, one noise after the other."""
    noise, chances = masses(law)
    sums, found = np.zeros(1), np.ones(1)
    for weight in weights:
        if weight == 0:
            continue
        every = np.round(np.add.outer(sums, weight * noise).ravel(), 9)
        sums, places = np.unique(every, return_inverse=True)
        found = np.bincount(places, np.outer(found, chances).ravel())
        kept = found > 1e-16
        sums, found = sums[kept], found[kept]
    return sums, found


@pytest.mark.parametrize("law", [Law("laplace", 0.7), Law("laplace", 2.5), Law("gaussian", 0.6), Law("gaussian", 2.5)])
@pytest.mark.parametrize("known", [True, False])
def test_reaches_are_valid_and_near_exact_by_enumeration(law, known):
    weights = Tree((1, 2))._weights(0.5, known)[0]
    for alpha in (0.1, 0.025, 1e-3):
        found = _reach(weights, law, alpha)
        for row, reach in zip(weights, found, strict=True):
            sums, chances = summed(row, law)
            assert chances[sums > reach + 1e-8].sum() <= alpha
            # The least reach that is valid, and what smoothing and the lattice of the sums add.
            least = sums[np.flatnonzero(chances[::-1].cumsum()[::-1] > alpha)[-1]]
            deviation = np.sqrt(chances @ sums**2)
            step = np.abs(row).max()
            assert reach <= max(least, 0.0) + 0.06 * deviation + step + 1e-9


def test_reaches_of_a_large_tree_are_not_chernoffs():
    """That bound is at 2.9 standard deviations of Laplace noise where 2 are enough for one side of 95 %."""
    tree, law = Tree((3, 6, 9)), Law("laplace", 6.0)
    weights = tree._weights(0.5, True)[0][1:-1]
    deviations = np.sqrt(np.sum(weights**2, axis=1) * law.variance)
    ratios = _reach(weights, law, 0.025) / deviations
    assert np.all((ratios > 1.9) & (ratios < 2.2))
    generator = np.random.default_rng(1)
    q = -np.expm1(-1 / law.size)
    shape = (20_000, weights.shape[1])
    noise = generator.geometric(q, shape) - generator.geometric(q, shape)
    # 20,000 seeded draws: a standard deviation of a rate of 2.5 % is 0.11 %.
    for row in (0, 37, 255, 400):
        rate = np.mean(noise @ weights[row] > ratios[row] * deviations[row])
        assert 0.019 < rate < 0.0295, row
