"""A tree that is learned from the noisy pairs."""

import itertools

import numpy as np
import pytest

import simplexdp as sdp
from simplexdp.exceptions import InvalidParameterError
from simplexdp.models import PrivateBayesianNetwork, PrivateBinner
from simplexdp.models.learned_structure import spanning_tree
from simplexdp.testing import SeededRng

pytestmark = pytest.mark.filterwarnings("ignore::simplexdp.exceptions.InsecureRandomnessWarning")

N = 6000
DOMAINS = {"a": 3, "b": 3, "c": 2, "d": ["no", "yes"]}


def people():
    """A chain b - a - d and a column c on its own but for a little of d."""
    generator = np.random.default_rng(2)

    def noisy(codes, share, size):
        return np.where(generator.random(N) < share, codes % size, generator.integers(size, size=N))

    a = generator.integers(3, size=N)
    b, d = noisy(a, 0.7, 3), noisy(a, 0.8, 2)
    return {"a": a, "b": b, "c": noisy(d, 0.3, 2), "d": np.array(["no", "yes"])[d]}


def fitted(**parameters):
    given = {"edges": "learn", "domains": DOMAINS, "epsilon": 3.0, "random_state": SeededRng(1)}
    return PrivateBayesianNetwork(**{**given, **parameters}).fit(people())


@pytest.fixture(scope="module")
def network():
    return fitted()


def test_the_tree_of_the_data_is_found(network):
    edges = {frozenset((node, *above)) for node, above in network.parents_.items() if above}
    assert edges == {frozenset("ab"), frozenset("ad"), frozenset("cd")}
    frame = people()
    for value, share in ((0, "no"), (1, "yes")):
        rows = [np.mean(frame["d"][frame["a"] == code] == share) for code in range(3)]
        table = network.cpds_["d"] if network.parents_["d"] == ["a"] else None
        assert table is not None
        np.testing.assert_allclose(table[:, value], rows, atol=0.05)


def test_the_tree_has_the_most_information_of_all(network):
    class Model:
        domains_ = DOMAINS

        def __init__(self, seed):
            self.joint = np.random.default_rng(seed).dirichlet(np.full(3 * 3 * 2 * 2, 0.3)).reshape(3, 3, 2, 2)

        def marginal(self, pair):
            axes = ["abcd".index(name) for name in pair]
            table = self.joint.sum(tuple(set(range(4)) - set(axes)))
            return table if axes[0] < axes[1] else table.T

    def information(model, edges):
        total = 0.0
        for edge in edges:
            table = model.marginal(sorted(edge))
            total += np.sum(table * np.log(table / np.outer(table.sum(1), table.sum(0))))
        return total

    def is_tree(edges):
        reached = {"a"}
        for _ in range(4):
            reached |= {name for edge in edges if reached & set(edge) for name in edge}
        return len(reached) == 4

    for seed in range(20):
        model = Model(seed)
        found = [(node, *above) for node, above in spanning_tree(model).items() if above]
        every = itertools.combinations(itertools.combinations("abcd", 2), 3)
        assert information(model, found) == pytest.approx(
            max(information(model, edges) for edges in every if is_tree(edges))
        )


def test_it_is_a_network_like_any_other(network, tmp_path):
    assert set(network.sample(100, random_state=SeededRng(2))["d"]) == {"no", "yes"}
    assert 2.99 < network.privacy_.epsilon(1e-6) <= 3.0
    assert network.privacy_.adjacency == "replace"
    network.save(tmp_path / "network.json")
    loaded = PrivateBayesianNetwork.load(tmp_path / "network.json")
    assert loaded.parents_ == network.parents_
    assert network.score(people()) == pytest.approx(loaded.score(people()))
    pairs = [(parent, node) for node, above in network.parents_.items() for parent in above]
    guessed = PrivateBayesianNetwork(pairs, DOMAINS, epsilon=300.0, random_state=SeededRng(1)).fit(people())
    assert guessed.score(people()) - 0.02 < network.score(people())


def test_bins_and_accountants_are_those_of_a_network():
    accountant = sdp.Accountant(epsilon=1.0, delta=1e-6)
    rng = SeededRng(1)
    with pytest.raises(sdp.BudgetExceededError):
        fitted(epsilon=2.0, accountant=accountant, random_state=rng)
    assert rng.calls == 0
    binner = PrivateBinner("uniform", n_bins=3, bounds={"a": (0, 3)})
    network = fitted(domains={name: DOMAINS[name] for name in "bcd"}, binner=binner)
    assert list(network.bin_edges_) == ["a"]
    assert network.sample(10, random_state=SeededRng(2))["a"].dtype == np.float64


@pytest.mark.parametrize("parameters", [
    {"mechanism": "laplace"}, {"order": 2.0}, {"weights": {"a": 1.0}}, {"edges": "guess"},
])  # fmt: skip
def test_what_learning_has_no_place_for_is_refused(parameters):
    with pytest.raises(InvalidParameterError, match=next(iter(parameters))):
        fitted(**parameters)


@pytest.mark.filterwarnings("ignore:the budget is too small")
def test_columns_without_measured_pairs_get_no_edges():
    network = fitted(epsilon=0.005)
    assert not any(network.parents_.values())
