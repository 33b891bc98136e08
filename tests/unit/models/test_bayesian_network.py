"""Bayesian networks: tables, likelihood, samples, files, and what pgmpy makes of them."""

import itertools

import numpy as np
import pytest
from hostile_json import cut_off_and_replaced, spoiled

import simplexdp as sdp
from simplexdp.frames import Domain
from simplexdp.models import PrivateBayesianNetwork

EDGES = [("b", "d"), ("a", "b"), ("c", "d"), ("a", "d")]
DOMAINS = {"d": 2, "c": [False, True], "b": 3, "a": ["x", "y", "z"]}


def records(n_records=3000, seed=4):
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 3, n_records)
    b = (a + rng.integers(0, 2, n_records)) % 3
    c = rng.integers(0, 2, n_records)
    d = (b + c + (rng.random(n_records) < 0.2)) % 2
    return {"a": np.array(["x", "y", "z"])[a], "b": b, "c": c.astype(bool), "d": d}


@pytest.fixture(scope="module")
def network():
    return PrivateBayesianNetwork(EDGES, DOMAINS, epsilon=5.0, random_state=sdp.testing.SeededRng(1)).fit(records())


def test_exact_tables_are_conditional_frequencies():
    data = records()
    network = PrivateBayesianNetwork(EDGES, DOMAINS, mechanism="none").fit(data)
    rows = (data["b"] == 1) & data["c"] & (data["a"] == "x")
    assert network.parents_["d"] == ["b", "c", "a"]
    assert network.cpds_["d"][1, 1, 0, 1] == data["d"][rows].mean()


def test_the_budget_is_kept(network):
    assert 4.9 < network.privacy_.epsilon(1e-6) <= 5.0
    for table in network.cpds_.values():
        np.testing.assert_allclose(table.sum(axis=-1), 1, rtol=1e-12)


def test_likelihood_is_the_sum_over_records(network):
    data = records(50, seed=9)
    total = 0.0
    for row in range(50):
        codes = {node: network.domains_[node].levels.index(data[node][row]) for node in network.parents_}
        for node, above in network.parents_.items():
            total += np.log(network.cpds_[node][(*(codes[p] for p in above), codes[node])])
    assert network.log_likelihood(data) == pytest.approx(total, rel=1e-12)
    assert network.score(data) == pytest.approx(total / 50, rel=1e-12)


def test_samples_follow_the_tables(network):
    size = 200_000
    sample = network.sample(size, random_state=sdp.testing.SeededRng(2))
    assert list(sample) == list(DOMAINS)
    refit = PrivateBayesianNetwork(EDGES, DOMAINS, mechanism="none").fit(sample)
    for node, table in network.cpds_.items():
        # Rows have at least 200 records or a chance of 1e-9 to be off by six deviations of 0.5/sqrt(200).
        np.testing.assert_allclose(refit.cpds_[node], table, atol=6 * 0.5 / np.sqrt(200))


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "dict"])
def test_samples_come_as_the_kind_of_frame_that_was_fitted(kind):
    module = pytest.importorskip({"dict": "numpy"}.get(kind, kind))
    data = {name: column.tolist() for name, column in records(300).items()}
    frame = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}
    fitted = getattr(module, frame[kind])(data) if kind != "dict" else data
    network = PrivateBayesianNetwork(EDGES, DOMAINS, epsilon=5.0).fit(fitted)
    sample = network.sample(10)
    assert type(sample) is type(fitted)
    assert np.isfinite(network.score(sample))


def test_files_bring_back_the_same_network(network, tmp_path):
    path = tmp_path / "network.json"
    network.save(path)
    loaded = PrivateBayesianNetwork.load(path)
    for node, table in network.cpds_.items():
        np.testing.assert_array_equal(loaded.cpds_[node], table)
    assert loaded.log_likelihood(records()) == network.log_likelihood(records())
    assert loaded.privacy_.epsilon(1e-6) == pytest.approx(network.privacy_.epsilon(1e-6))
    assert loaded.to_json() == network.to_json()


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"format": "other"}', '{"format": "simplexdp.bayesian-network/1", "nodes": 3, "privacy": {}}'],
)
def test_broken_files_are_refused(text):
    with pytest.raises(sdp.InvalidParameterError, match="text must"):
        PrivateBayesianNetwork.from_json(text)


def test_files_whose_rows_are_no_probabilities_are_refused(network):
    text = network.to_json().replace("0.", "7.", 1)
    with pytest.raises(sdp.InvalidParameterError, match="sum to one"):
        PrivateBayesianNetwork.from_json(text)


@pytest.mark.filterwarnings("ignore")  # pgmpy's own deprecations
def test_pgmpy_gives_the_same_joint_probabilities(network):
    pytest.importorskip("pgmpy")
    from pgmpy.inference import VariableElimination

    joint = VariableElimination(network.to_pgmpy()).query(list(DOMAINS), show_progress=False)
    worst = 0.0
    for values in itertools.product(*(network.domains_[node].levels for node in DOMAINS)):
        named = dict(zip(DOMAINS, values, strict=True))
        codes = {node: network.domains_[node].levels.index(value) for node, value in named.items()}
        ours = 1.0
        for node, above in network.parents_.items():
            ours *= network.cpds_[node][(*(codes[p] for p in above), codes[node])]
        assert ours > 0
        worst = max(worst, abs(np.log(joint.get_value(**named)) - np.log(ours)))
    assert worst < 1e-12


def test_lazy_frames_are_counted_where_they_are():
    pl = pytest.importorskip("polars")
    lazy = pl.DataFrame(records()).lazy()
    eager = PrivateBayesianNetwork(EDGES, DOMAINS, mechanism="none").fit(records())
    network = PrivateBayesianNetwork(EDGES, DOMAINS, mechanism="none").fit(lazy)
    for node, table in eager.cpds_.items():
        np.testing.assert_array_equal(network.cpds_[node], table)


def test_other_levels_and_missing_values_have_places():
    data = {"a": ["x", None, "q", "y"] * 20}
    network = PrivateBayesianNetwork((), {"a": Domain(["x", None], other=True)}, mechanism="none").fit(data)
    np.testing.assert_array_equal(network.cpds_["a"], [0.25, 0.25, 0.5])


def test_domains_that_are_not_stated_warn():
    with pytest.warns(sdp.PrivacyLeakWarning, match="domains="):
        PrivateBayesianNetwork([("a", "b")], mechanism="none").fit(records())


def test_a_spent_budget_refuses_before_anything_is_drawn():
    accountant = sdp.Accountant(epsilon=0.1, delta=1e-6)
    network = PrivateBayesianNetwork(EDGES, DOMAINS, epsilon=1.0, accountant=accountant)
    with pytest.raises(sdp.BudgetExceededError):
        network.fit(records())
    assert not hasattr(network, "cpds_")


def test_weights_move_budget_between_nodes():
    light = {"a": 1.0, "b": 1.0, "c": 1.0, "d": 100.0}
    rng = sdp.testing.SeededRng(7)
    data = records(20_000)
    exact = PrivateBayesianNetwork(EDGES, DOMAINS, mechanism="none").fit(data).cpds_
    network = PrivateBayesianNetwork(EDGES, DOMAINS, epsilon=1.0, weights=light, mechanism="gaussian", random_state=rng)
    network.fit(data)
    assert network.privacy_.epsilon(1e-6) <= 1.0
    errors = {node: np.abs(network.cpds_[node] - exact[node]).mean() for node in exact}
    assert errors["d"] < 0.2


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"edges": [("a", "b"), ("b", "a")]}, "cycle"),
        ({"edges": [("a", "nowhere")]}, "nowhere"),
        ({"edges": [([], "a")]}, "edges must join"),
        ({"edges": None}, "edges must be a list"),
        ({"edges": iter([("a", "b")])}, "edges must be a list"),
        ({"random_state": 3}, "random_state must be None"),
        ({"delta": 1e-300, "mechanism": "dirichlet"}, "delta must be well above"),
        ({"domains": {}}, "at least one column"),
        ({"domains": ["a"]}, "domains must map"),
        ({"weights": {"a": 1.0}}, "weights must give"),
        ({"mechanism": "x"}, "mechanism must be one of"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(sdp.InvalidParameterError, match=message):
        PrivateBayesianNetwork(**{"edges": EDGES, "domains": DOMAINS, **parameters}).fit(records())


def test_hostile_files_are_refused_or_are_networks(network):
    for content in cut_off_and_replaced(network.to_json()):
        with pytest.raises(sdp.InvalidParameterError):
            PrivateBayesianNetwork.from_json(content)
    refused = 0
    for content in spoiled(network.to_json()):
        try:
            loaded = PrivateBayesianNetwork.from_json(content)
        except sdp.InvalidParameterError:
            refused += 1
        else:
            # Another value of a domain, say: still a network.
            assert len(loaded.sample(3)) == len(loaded.cpds_)
    assert refused > 300


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-0.5", "1e400"])
def test_files_with_numbers_that_are_no_probabilities_are_refused(network, constant):
    first = network.cpds_["a"].ravel()[0]
    text = network.to_json()
    assert repr(float(first)) in text
    with pytest.raises(sdp.InvalidParameterError):
        PrivateBayesianNetwork.from_json(text.replace(repr(float(first)), constant, 1))


def test_files_that_are_no_text_are_refused(tmp_path):
    path = tmp_path / "binary"
    path.write_bytes(bytes(range(256)))
    with pytest.raises(sdp.InvalidParameterError, match="no text"):
        PrivateBayesianNetwork.load(path)


@pytest.mark.parametrize("mechanism", ["dirichlet", "gaussian", "laplace", "none"])
def test_one_value_and_no_record_are_no_special_cases(mechanism):
    data = {"a": [], "b": []}
    network = PrivateBayesianNetwork([("a", "b")], {"a": ["only"], "b": 2}, mechanism=mechanism).fit(data)
    assert set(network.sample(5)["a"]) == {"only"}
    assert network.cpds_["a"].tolist() == [1.0]
    assert network.score(data) == 0.0


def test_columns_of_many_values_are_fitted_and_sampled():
    values = np.random.default_rng(1).integers(0, 10**5, 10**5)
    network = PrivateBayesianNetwork([("b", "a")], {"a": 10**5, "b": 2})
    with pytest.warns(UserWarning, match="its tables have 200002 cells, and more than 16384"):
        network.fit({"a": values, "b": values % 2})
    assert network.cpds_["a"].shape == (2, 10**5)
    assert network.sample(100)["a"].max() < 10**5


def test_what_is_read_back_is_written_letter_by_letter():
    rng = np.random.default_rng(7)
    for trial in range(50):
        data = {"a": rng.integers(0, 7, 60), "b": rng.integers(0, 3, 60)}
        mechanism = ["dirichlet", "discrete_gaussian", "none"][trial % 3]
        model = PrivateBayesianNetwork(
            [("a", "b")], {"a": 7, "b": 3}, epsilon=1.0 + trial / 7, mechanism=mechanism
        ).fit(data)
        text = model.to_json()
        assert PrivateBayesianNetwork.from_json(text).to_json() == text
