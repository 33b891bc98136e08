"""Black-box audit of DirichletMechanism.release on its worst neighbours, from the released vectors alone.

Each lower bound holds with probability 1 - 1e-6; in full mode 2 * 10^6 releases of each data set stand behind it. The
claim is the epsilon of `privacy` at the same delta.
"""

import numpy as np
import pytest
from audit import audit

from simplexdp import DirichletMechanism
from simplexdp.testing import SeededRng

SEED = 20261118

REPLACE = [
    # scale, prior, counts and their neighbour, delta
    (1.0, 1.5, [1, 0, 0], [0, 1, 0], 0.02),
    (1.0, 10.0, [0, 1, 0], [0, 0, 1], 0.01),
    (0.25, 1.0, [1, 0], [0, 1], 0.01),
    (3.0, 40.0, [1, 0, 0, 0], [0, 0, 1, 0], 0.01),
]
FLOORED = (0.5, 1.0, [6, 5, 5], [5, 6, 5], 0.01)  # floor 5
UNEVEN = (1.0, [2.0, 1.0, 7.0], [1, 0, 0], [0, 1, 0], 0.02)
# The supremum under add/remove is approached as the total grows.
ADD_REMOVE = [(1.0, 1.5, [1, 4000], [0, 4000], 0.02), (0.5, 3.0, [1, 0, 20000], [0, 0, 20000], 0.01)]


def releases(mechanism, counts, score, rng):
    """Scores of so many releases, drawn in chunks."""

    def draw(n):
        rows = min(n, 100_000)
        parts = []
        for _ in range(n // rows):
            y = mechanism.release(np.tile(counts, (rows, 1)), rng=rng, rows="table")
            parts.append(score(y))
        return np.concatenate(parts)

    return draw


def log_ratio(counts, neighbour):
    """The statistic of the worst pair: the logarithms of the coordinates that change."""
    change = np.sign(np.subtract(counts, neighbour))
    return lambda y: np.log(y) @ change


def check(mechanism, counts, neighbour, delta, size):
    rng = SeededRng(SEED)
    claim = mechanism.privacy.epsilon(delta)
    best = 0.0
    for first, second in ((counts, neighbour), (neighbour, counts)):
        score = log_ratio(first, second)
        sides = (releases(mechanism, side, score, rng) for side in (first, second))
        found = audit(*sides, size=size, delta=delta)
        print(f"{mechanism}: claim {claim:.4f}, found {found}")
        assert found.epsilon <= claim
        best = max(best, found.epsilon)
    return best / claim


@pytest.fixture
def size(full):
    return 1_000_000 if full else 100_000


@pytest.mark.parametrize("scale, prior, counts, neighbour, delta", REPLACE)
def test_the_worst_neighbours_under_replace_reach_the_claim_and_stay_below(
    scale, prior, counts, neighbour, delta, size, full
):
    mechanism = DirichletMechanism(scale=scale, prior=prior, dimension=len(counts))
    assert check(mechanism, counts, neighbour, delta, size) >= (0.7 if full else 0.5)


@pytest.mark.parametrize("scale, prior, counts, neighbour, delta", ADD_REMOVE)
def test_the_worst_neighbours_under_add_remove_reach_the_claim_and_stay_below(
    scale, prior, counts, neighbour, delta, size, full
):
    mechanism = DirichletMechanism(scale=scale, prior=prior, dimension=len(counts), adjacency="add_remove")
    assert check(mechanism, counts, neighbour, delta, size) >= (0.7 if full else 0.5)


def test_floors_and_unequal_priors_keep_their_claim(size, full):
    scale, prior, counts, neighbour, delta = FLOORED
    floored = DirichletMechanism(scale=scale, prior=prior, dimension=3, floor=5)
    assert check(floored, counts, neighbour, delta, size) >= (0.7 if full else 0.5)
    scale, prior, counts, neighbour, delta = UNEVEN
    uneven = DirichletMechanism(scale=scale, prior=prior)
    assert check(uneven, counts, neighbour, delta, size) >= (0.7 if full else 0.5)


def test_a_calibrated_mechanism_keeps_its_budget(size, full):
    mechanism = DirichletMechanism.calibrated(1.0, 0.01, 3, total=100)
    assert check(mechanism, [1, 0, 0], [0, 1, 0], 0.01, size) >= (0.7 if full else 0.5)


BROKEN = {
    "half of the prior": lambda mechanism, x: mechanism.scale * x + mechanism.prior / 2,
    "twice the scale": lambda mechanism, x: 2 * mechanism.scale * x + mechanism.prior,
    "no prior on empty categories": lambda mechanism, x: mechanism.scale * x + np.where(x > 0, mechanism.prior, 0.1),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_sampler_fails_the_audit(fault, size):
    mechanism = DirichletMechanism(scale=1.0, prior=3.0, dimension=3)
    rng = np.random.default_rng(7)

    def broken(counts):
        parameters = BROKEN[fault](mechanism, np.array(counts))

        def draw(n):
            gammas = rng.gamma(parameters, size=(n, 3)).clip(min=1e-300)
            return np.log(gammas[:, 0]) - np.log(gammas[:, 1])

        return draw

    found = audit(broken([1, 0, 0]), broken([0, 1, 0]), size=size, delta=0.01)
    assert found.epsilon > mechanism.privacy.epsilon(0.01)
