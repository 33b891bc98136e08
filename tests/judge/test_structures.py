"""Models, groups and shares: what the library reports, against the pairs that neighbours attain."""

import math
import random

import pytest
from compositions import cells, truth_of
from judging import Truth, assert_true, judge_delta, judge_epsilon
from parts import Dirichlet, DiscreteGaussian, Gaussian, Laplace, Part, Pure
from truth import GammaPair, GaussianPair, LaplacePair, Pair, Product, binomial_law, product_of

import simplexdp as sdp
from simplexdp.accounting import Structure

DIRECTIONS = {"replace": [None], "add_remove": [False, True]}


def tables(scales: list[float], priors: list[float], adjacency: str) -> Truth:
    """Return the truth of tables in each of which the record is counted once: theory B2."""
    parts = [(Dirichlet(scale, prior), 1) for scale, prior in zip(scales, priors, strict=True)]
    merged: dict[Dirichlet, int] = {}
    for part, count in parts:
        merged[part] = merged.get(part, 0) + count
    return Truth([truth_of(list(merged.items()), added) for added in DIRECTIONS[adjacency]])


def assert_close(truth: Truth, curve: sdp.PrivacyCurve, delta: float, excess: float) -> None:
    """The truth at a little less than the reported epsilon is above delta: nearly nothing is given away."""
    assert truth.exceeds(curve.epsilon(delta) * (1 - excess), delta)


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize(
    ("attributes", "scale", "prior"), [(1, 1.0, 1.5), (3, 0.5, 0.3), (20, 0.05, 20.0), (64, 0.02, 1.0)]
)
def test_naive_bayes_costs_a_pair_for_each_table(adjacency, attributes, scale, prior):
    curve = Structure.naive_bayes(attributes).release(scale, prior, adjacency=adjacency).privacy
    truth = tables([scale] * (attributes + 1), [prior] * (attributes + 1), adjacency)
    assert_true(truth, curve, [1e-2, 1e-6, 1e-10], [0.0, 0.1, 1.0])
    assert_close(truth, curve, 1e-6, 5e-3)


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_tables_with_shares_scales_and_priors_of_their_own(adjacency):
    rng = random.Random(f"shares {adjacency}")
    for _ in range(2):
        size = rng.randint(2, 3)
        scales = [10 ** rng.uniform(-1.5, 0.2) for _ in range(size)]
        priors = [10 ** rng.uniform(-0.5, 1.5) for _ in range(size)]
        curve = Structure((1.0,) * size).release(scales, priors, adjacency=adjacency).privacy
        assert_true(tables(scales, priors, adjacency), curve, [1e-2, 1e-7], [0.0, 0.4])


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_a_calibrated_network_keeps_its_budget_in_truth(adjacency):
    structure = Structure.bayesian_network(3, shares=[1.0, 2.0, 2.0])
    release = structure.calibrated(epsilon=0.7, delta=1e-6, prior=lambda scale: 1 + 8 * scale, adjacency=adjacency)
    truth = tables(list(release.scales), list(release.priors), adjacency)
    assert not truth.exceeds(0.7, 1e-6)
    assert truth.exceeds(0.7 * 0.99, 1e-6)


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_a_public_floor_is_a_larger_prior(adjacency):
    curve = Structure.group_by(2).release(0.4, 1.25, adjacency=adjacency, floor=3.0).privacy
    # The floor adds scale * 3 to the smallest parameter; the sum is rounded down in the library, here to the double.
    truth = tables([0.4] * 2, [math.nextafter(1.25 + 0.4 * 3.0, math.inf)] * 2, adjacency)
    assert_true(truth, curve, [1e-2, 1e-7], [0.0, 0.4])


def test_draws_from_one_posterior_are_one_pair_many_times():
    curve = Structure.posterior_draws(12).release(1.0, 50.0).privacy
    truth = Truth([truth_of([(Dirichlet(1.0, 50.0), 12)], None)])
    assert_true(truth, curve, [1e-2, 1e-6, 1e-12], [0.0, 0.5])
    assert_close(truth, curve, 1e-6, 5e-3)


def test_what_the_sampler_is_off_by_is_counted():
    error = 2.0**-40
    curve = Structure.naive_bayes(2).release(0.3, 2.0, sampling_error=error).privacy
    truth = tables([0.3] * 3, [2.0] * 3, "replace")
    assert_true(truth, curve, [1e-3, 1e-6])
    for epsilon in (0.0, 0.5, 1.0, 2.0):
        # The divergence falls faster here than the error's part grows, so no smaller epsilon helps.
        assert truth.delta(epsilon)[0] > 1e4 * error
        assert not truth.exceeds(epsilon, curve.delta(epsilon) - (1 + math.exp(epsilon)) * error * (1 - 1e-9))


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_private_quantiles_beside_tables_are_pure_parts(adjacency):
    """As of a binner: its quantiles are pure, and one budget pays for them and the tables."""
    quantiles = 6 * sdp.PrivacyCurve.pure(0.05, adjacency=adjacency)
    release = Structure.naive_bayes(2).calibrated(
        epsilon=1.0, delta=1e-6, prior=2.0, adjacency=adjacency, beside=quantiles
    )
    law = binomial_law(0.05, 0, 6)
    beside = tables(list(release.scales), list(release.priors), adjacency)
    truth = Truth([Product(law, pair) for pair in beside.pairs])
    assert not truth.exceeds(1.0, 1e-6)
    assert truth.exceeds(0.98, 1e-6)
    assert_true(truth, release.privacy, [1e-3, 1e-6])


def test_a_binner_and_its_model_keep_one_budget():
    models = pytest.importorskip("simplexdp.models")
    binner = models.PrivateBinner("private_quantile", n_bins=4, bounds=(0, 1), epsilon=0.3)
    binner.fit([[0.2, 0.4], [0.9, 0.1], [0.5, 0.3]])
    # Three quantiles of two columns, six draws; what they report is at most the budget and not much less.
    assert 0.29 < binner.epsilon_ <= 0.3
    model = models.PrivateCategoricalNB(
        epsilon=1.0, delta=1e-6, mechanism="discrete_laplace", classes=[0, 1], binner=binner
    )
    rng = random.Random(3)
    X = [[rng.random(), rng.random()] for _ in range(40)]
    y = [rng.randint(0, 1) for _ in X]
    curve = model.fit(X, y).privacy_
    assert curve.epsilon(1e-6) <= 1.0
    # The quantiles alone, as pairs, are below what is reported for everything.
    quantiles = Truth([binomial_law(binner.epsilon_ / 6, 0, 6)])
    for epsilon in (0.0, 0.05, 0.1, 0.2):
        assert judge_delta(quantiles, curve, epsilon).fault is None


GROUPS: list[list[Part]] = [
    [Pure(0.5), Pure(0.7)],
    [Gaussian(2.0), Gaussian(3.0), Gaussian(2.5)],
    [Laplace(1.0), Pure(0.8)],
    [Dirichlet(0.5, 2.0), Dirichlet(0.25, 1.0), Dirichlet(1.0, 9.0)],
    [DiscreteGaussian(1.5), Dirichlet(0.5, 2.0)],
    [Gaussian(0.5), DiscreteGaussian(0.6, 2)],
]


def two(first: Pair, second: Pair) -> Pair:
    """Return the product of two pairs; one of them cut into intervals, if need be."""
    if isinstance(first, GaussianPair) and isinstance(second, GaussianPair):
        return GaussianPair(first.square + second.square)
    for law, last in ((first, second), (second, first)):
        if hasattr(law, "outcomes"):
            return Product(law, last)
    raise AssertionError("one of both must be discrete")


def discrete(part: Part, added: bool) -> Pair:
    """Return the pair of a part, cut into intervals where it is continuous."""
    if isinstance(part, Pure):
        return part.law(1)
    if isinstance(part, DiscreteGaussian):
        return product_of([part.pair(added)] * part.changed).coarser(300)
    return cells(part, 1, added)


@pytest.mark.parametrize("parts", GROUPS, ids=str)
def test_disjoint_groups_cost_the_largest_or_a_removal_and_an_addition(parts):
    curves = [part.curve("add_remove") for part in parts]
    within = Truth([truth_of([(part, 1)], added) for part in parts for added in (False, True)])
    assert_true(within, sdp.compose_disjoint(curves), [1e-2, 1e-8], [0.0, 0.3])
    # Replaced, a record leaves one group and joins another, or stays: worst is the largest of all pairs of groups.
    moves = []
    for left in parts:
        for joined in parts:
            last = joined.pair(True)
            if isinstance(joined, DiscreteGaussian) and joined.changed > 1:
                last = product_of([last] * joined.changed)
            first = (
                left.pair(False)
                if isinstance(left, Gaussian) and isinstance(joined, Gaussian)
                else discrete(left, False)
            )
            moves.append(two(first, last))
    replaced = sdp.compose_disjoint(curves, adjacency="replace")
    assert_true(Truth(moves), replaced, [1e-2, 1e-8], [0.0, 0.3])
    assert_close(Truth(moves), replaced, 1e-3, 0.05)


def test_many_different_groups_are_not_below_any_two():
    rng = random.Random(5)
    parts = [Dirichlet(10 ** rng.uniform(-1, 0), 10 ** rng.uniform(-0.5, 1)) for _ in range(12)]
    replaced = sdp.compose_disjoint([part.curve("add_remove") for part in parts], adjacency="replace")
    for _ in range(6):
        left, joined = rng.choice(parts), rng.choice(parts)
        truth = Truth([Product(cells(left, 1, False), joined.pair(True))])
        assert judge_epsilon(truth, replaced, 1e-5).fault is None
        assert judge_delta(truth, replaced, rng.uniform(0, 3)).fault is None


def test_groups_of_pairs_that_have_no_closed_product():
    curves = [sdp.PrivacyCurve.laplace(scale=scale, adjacency="add_remove") for scale in (0.7, 2.0)]
    truth = Truth([Product(cells(Laplace(0.7), 1, False), LaplacePair.of(0.7))])
    assert_true(truth, sdp.compose_disjoint(curves, adjacency="replace"), [1e-2, 1e-6], [0.0, 1.0])
    removal = Truth([GammaPair.of(2.0, 0.5, added=False), GammaPair.of(2.0, 0.5, added=True)])
    one = Dirichlet(0.5, 2.0).curve("add_remove")
    assert_true(removal, sdp.compose_disjoint([one, one, one]), [1e-2, 1e-9], [0.0, 0.5])
