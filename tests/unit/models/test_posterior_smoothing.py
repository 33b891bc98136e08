"""Posteriors of model tables against enumeration of all tables, and what models make of them."""

import itertools
import json
import math

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from simplexdp import _core
from simplexdp.exceptions import InvalidParameterError
from simplexdp.models import PrivateBayesianNetwork, PrivateCategoricalNB, smoothing
from simplexdp.models.released import BITS, Law, ReleasedTable
from simplexdp.testing import SeededRng

MECHANISMS = ["auto", "dirichlet", "gaussian", "laplace", "discrete_laplace", "discrete_gaussian"]
PRIOR = {"gaussian": 0.0, "laplace": 0.0, "dirichlet": 0.7}


def log_noise(kind, size, y, x):
    """Logarithm of the probability of a noisy count, by a sum of the weights of all integers."""
    z = np.arange(-400, 401)
    weight = (lambda z: -np.abs(z) / size) if kind == "laplace" else (lambda z: -(z**2) / (2 * size**2))
    return weight(y - x) - logsumexp(weight(z))


def log_draw(size, prior, y, x):
    """Logarithm of the density of a Dirichlet draw."""
    b = size * np.asarray(x) + prior
    return gammaln(b.sum()) - gammaln(b).sum() + ((b - 1) * np.log(y)).sum()


def log_likelihood(law, y, x):
    if law.kind == "dirichlet":
        return log_draw(law.size, law.prior, y, x)
    return sum(log_noise(law.kind, law.size, v, k) for v, k in zip(y, x, strict=True))


def compositions(total, parts):
    return [x for x in itertools.product(range(total + 1), repeat=parts) if sum(x) == total]


def by_enumeration(classes, tables, concentration, splits):
    """Means of the class shares, and of tables with their variances, over all splits of the records and all tables."""
    logs, means, squares, shares = [], [], [], []
    for counts in splits:
        log = log_likelihood(classes.law, classes.values[0], counts)
        of_split, of_squares = [], []
        for table in tables:
            levels = table.values.shape[1]
            a = concentration / levels
            rows, square_rows = [], []
            for n, y in zip(counts, table.values, strict=True):
                weights, theta, second = [], [], []
                for x in map(np.array, compositions(n, levels)):
                    prior = (
                        gammaln(n + 1)
                        + gammaln(levels * a)
                        - gammaln(n + levels * a)
                        + (gammaln(x + a) - gammaln(x + 1) - gammaln(a)).sum()
                    )
                    weights.append(prior + log_likelihood(table.law, y, x))
                    mass = n + levels * a
                    theta.append((x + a) / mass)
                    second.append((x + a) * (x + a + 1) / (mass * (mass + 1)))
                evidence = logsumexp(weights)
                log += evidence
                p = np.exp(np.array(weights) - evidence)
                rows.append(p @ np.array(theta))
                square_rows.append(p @ np.array(second))
            of_split.append(np.array(rows))
            of_squares.append(np.array(square_rows))
        logs.append(log)
        means.append(of_split)
        squares.append(of_squares)
        shares.append((np.array(counts) + 1) / (sum(counts) + len(counts)))
    p = np.exp(np.array(logs) - logsumexp(logs))
    mean = [sum(w * m[j] for w, m in zip(p, means, strict=True)) for j in range(len(tables))]
    square = [sum(w * s[j] for w, s in zip(p, squares, strict=True)) for j in range(len(tables))]
    return p @ np.array(shares), mean, [s - m**2 for s, m in zip(square, mean, strict=True)]


def example(kind, seed):
    rng = np.random.default_rng(seed)
    law = Law(kind, {"gaussian": 1.7, "laplace": 1.3, "dirichlet": 0.8}[kind], prior=PRIOR[kind])

    def released(counts):
        if kind == "dirichlet":
            y = np.stack([rng.dirichlet(law.size * row + law.prior) for row in counts])
            units = np.maximum(np.rint(y * 2.0**BITS), 1)
            units[:, 0] += 2.0**BITS - units.sum(axis=1)
            return ReleasedTable(units / 2.0**BITS, law)
        return ReleasedTable(counts + rng.integers(-2, 3, counts.shape).astype(float), law)

    classes = released(np.array([[2, 4]]))
    return classes, [released(np.array([[1, 1], [3, 1]])), released(np.array([[0, 2, 0], [1, 1, 2]]))]


def smoothed(classes, tables, concentration, known):
    observed = [(table.observation, table.values.shape[1]) for table in tables]
    return _core.SmoothedTables(observed, 2, classes.observation, 1.0, known, concentration, [], 1)


@pytest.mark.parametrize("concentration", [0.4, 3.0, 50.0])
@pytest.mark.parametrize("kind", ["gaussian", "laplace", "dirichlet"])
def test_given_the_prior_the_posterior_is_that_of_all_tables(kind, concentration):
    classes, tables = example(kind, 5)
    found = smoothed(classes, tables, concentration, 6)
    splits = compositions(6, 2)
    shares, means, variances = by_enumeration(classes, tables, concentration, splits)
    # Of a draw the enumeration takes the density where the library takes the mean over a grid step of 2^-32.
    tolerance = 1e-7 if kind == "dirichlet" else 1e-10
    np.testing.assert_allclose(found.total_shares()[::2], shares, atol=tolerance)
    for j, (mean, variance) in enumerate(zip(means, variances, strict=True)):
        moments = found.shares(j).reshape(*mean.shape, 2)
        np.testing.assert_allclose(moments[..., 0], mean, atol=tolerance)
        np.testing.assert_allclose(moments[..., 1], variance, atol=tolerance)


@pytest.mark.parametrize("n", [1e4, 1e7, 1e9, 1e12])
def test_variances_of_many_records_keep_their_digits(n):
    """Where no prior bends the law of a count it is the normal law of the noise, at any size."""
    observed = _core.Observation.normal(np.array([n, 3 * n]), np.array([3.0, 5.0]))
    found = _core.SmoothedTables([(observed, 2)], 1, None, 1.0, None, 2.0, [], 1).counts(0).reshape(2, 2)
    np.testing.assert_allclose(found[:, 0], [n, 3 * n], rtol=1e-3 / n**0.5)
    np.testing.assert_allclose(found[:, 1], [9.0, 25.0], rtol=0.01)


@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
def test_a_private_number_of_records_is_inferred_too(kind):
    classes, tables = example(kind, 8)
    small = [ReleasedTable(table.values, Law(kind, 0.6)) for table in tables]
    classes = ReleasedTable(classes.values, Law(kind, 0.6))
    found = smoothed(classes, small, 2.0, None)
    splits = list(itertools.product(range(15), repeat=2))
    _, means, _ = by_enumeration(classes, small, 2.0, splits)
    for j, mean in enumerate(means):
        np.testing.assert_allclose(found.shares(j).reshape(*mean.shape, 2)[..., 0], mean, atol=1e-9)


def records(n=600, seed=2):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return {
        "answer": y,
        "like": (y + (rng.random(n) < 0.2)) % 2,
        "code": rng.integers(0, 5, n),
        "other": rng.integers(0, 3, n),
    }


FEATURES = {"like": 2, "code": 5, "other": 3}
EDGES = [("answer", "like"), ("answer", "code"), ("like", "other"), ("code", "other")]


def classifier(**parameters):
    return PrivateCategoricalNB(
        parameters.pop("epsilon", 1.0), categories=FEATURES, classes=[0, 1], random_state=SeededRng(3), **parameters
    ).fit(records(), "answer")


def network(**parameters):
    return PrivateBayesianNetwork(
        EDGES,
        {"answer": 2, **FEATURES},
        epsilon=parameters.pop("epsilon", 1.0),
        random_state=SeededRng(3),
        **parameters,
    ).fit(records())


@pytest.mark.parametrize("epsilon", [0.05, 20.0])
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_every_mechanism_gives_shares_with_intervals_around_them(mechanism, adjacency, epsilon):
    options = {"mechanism": mechanism, "adjacency": adjacency, "epsilon": epsilon}
    naive, net = classifier(**options), network(**options)
    if (mechanism, adjacency) == ("dirichlet", "add_remove"):
        # A draw does not tell how many records there are.
        assert naive.smoothing_ == net.smoothing_ == "floor"
        for model in (naive, net):
            with pytest.raises(InvalidParameterError, match=r'interval.*Dirichlet draws do not tell.*mechanism="auto"'):
                model.interval()
        return
    assert naive.smoothing_ == net.smoothing_ == "posterior"
    assert naive.mechanism_ == mechanism or mechanism == "auto"
    classes, features = naive.interval(0.95)
    tables = [(np.exp(naive.class_log_prior_), naive.class_sd_, classes)]
    tables += zip(map(np.exp, naive.feature_log_prob_), naive.feature_sd_, features, strict=True)
    ends = net.interval(0.95)
    tables += [(net.cpds_[node], net.cpd_sds_[node], ends[node]) for node in net.cpds_]
    for mean, sd, interval in tables:
        np.testing.assert_allclose(mean.sum(axis=-1), 1, rtol=1e-12)
        assert np.all((mean > 0) & (sd >= 0) & (sd < 0.5))
        assert np.all((interval[..., 0] >= 0) & (interval[..., 1] <= 1) & (interval[..., 0] < interval[..., 1]))
        # Chebyshev's inequality for both ends of an interval of level 0.95.
        assert np.all(np.abs(interval - mean[..., None]) <= math.sqrt(40) * sd[..., None] + 1e-6)


def test_auto_takes_the_noise_with_the_smaller_variance():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (50, 30)), rng.integers(0, 2, 50)
    of = {"categories": [2] * 30, "classes": [0, 1]}
    assert PrivateCategoricalNB(1.0, **of).fit(X, y).mechanism_ == "discrete_gaussian"
    assert PrivateCategoricalNB.from_rdp(order=5, epsilon=1.0, **of).fit(X, y).mechanism_ == "discrete_gaussian"
    # With two tables and a tiny delta a pure mechanism needs less noise.
    few = PrivateCategoricalNB(1.0, 1e-15, categories=[2], classes=[0, 1]).fit(X[:, :1], y)
    assert few.mechanism_ == "discrete_laplace"


def test_little_noise_leaves_the_counts_and_much_noise_the_common_centre():
    data = records(4000)
    exact = np.array([[np.mean(data["like"][data["answer"] == c] == v) for v in (0, 1)] for c in (0, 1)])
    fit = {"categories": FEATURES, "classes": [0, 1], "random_state": SeededRng(1)}
    clear = PrivateCategoricalNB(50.0, **fit).fit(data, "answer")
    np.testing.assert_allclose(np.exp(clear.feature_log_prob_[0]), exact, atol=0.01)
    blurred = PrivateCategoricalNB(1e-3, **fit).fit(data, "answer")
    rows = np.exp(blurred.feature_log_prob_[0])
    assert np.abs(rows[0] - rows[1]).max() < 0.2


def test_files_keep_the_release_and_what_follows_from_it():
    naive, net = classifier(), network()
    for model in (naive, net):
        again = type(model).from_json(model.to_json())
        assert (again.smoothing_, again.mechanism_) == (model.smoothing_, model.mechanism_)
        np.testing.assert_equal(again.interval(0.9), model.interval(0.9))
        assert again.to_json() == model.to_json()
    np.testing.assert_equal(PrivateCategoricalNB.from_json(naive.to_json()).feature_sd_, naive.feature_sd_)


def test_files_without_a_release_are_read_as_before():
    for model in (classifier(), network()):
        content = json.loads(model.to_json())
        del content["smoothing"], content["total"]
        for part in [content.get("class", {}), *content.get("features", []), *content.get("nodes", [])]:
            part.pop("released", None)
        again = type(model).from_json(json.dumps(content))
        assert again.smoothing_ == "floor"
        with pytest.raises(InvalidParameterError, match="interval"):
            again.interval()


def test_spoiled_releases_are_refused():
    for model in (classifier(), network(mechanism="dirichlet")):
        for spoil in ({"law": "cauchy"}, {"size": -1}, {"values": [[1]]}, {"values": "x"}, {"size": None}):
            content = json.loads(model.to_json())
            part = content["features"][0] if "features" in content else content["nodes"][1]
            part["released"] |= spoil
            with pytest.raises(InvalidParameterError, match="released"):
                type(model).from_json(json.dumps(content))


def test_floors_make_the_tables_of_before():
    naive = classifier(smoothing="floor", mechanism="discrete_gaussian", count_floor=3.0)
    release = naive._released.tables[1].values
    raised = np.maximum(release, 3.0)
    np.testing.assert_allclose(np.exp(naive.feature_log_prob_[1]), raised / raised.sum(axis=1, keepdims=True))
    assert not hasattr(naive, "feature_sd_")
    draw = network(smoothing="floor", mechanism="dirichlet")
    np.testing.assert_array_equal(draw.cpds_["code"], draw._released.tables["code"].values)
    with pytest.raises(InvalidParameterError, match="smoothing"):
        classifier(smoothing="best")


def test_too_many_cells_are_told():
    X, y = np.zeros((50, 2), dtype=int), np.zeros(50, dtype=int)
    model = PrivateCategoricalNB(1.0, categories=[5000, 4000], classes=[0, 1], random_state=SeededRng(1))
    with pytest.warns(UserWarning, match="not inferred: its tables have 18000 cells.*merge rare levels"):
        model.fit(X, y)
    assert model.smoothing_ == "floor"
    with pytest.raises(InvalidParameterError, match=r"interval.*18000 cells"):
        model.interval()


def test_exact_tables_have_no_posterior():
    naive = PrivateCategoricalNB(mechanism="none", categories=FEATURES, classes=[0, 1]).fit(records(), "answer")
    assert naive.smoothing_ == "floor"
    with pytest.raises(InvalidParameterError, match="interval"):
        naive.interval()
    assert "released" not in naive.to_json()


@pytest.mark.parametrize("levels", [1, 1000])
@pytest.mark.parametrize("n", [1, 5000])
def test_extreme_tables_are_smoothed(levels, n):
    rng = np.random.default_rng(4)
    X, y = rng.integers(0, levels, (n, 1)), np.zeros(n, dtype=int)
    model = PrivateCategoricalNB(0.5, categories=[levels], classes=[0, 1, 2], random_state=SeededRng(1)).fit(X, y)
    tables = np.exp(model.feature_log_prob_[0])
    np.testing.assert_allclose(tables.sum(axis=1), 1, rtol=1e-12)
    assert np.all(tables > 0)
    assert np.all(np.isfinite(model.feature_sd_[0]))


def test_rows_with_the_same_level_of_a_parent_are_alike_where_the_release_says_so(monkeypatch):
    """A child that depends on one of its two parents: its rows shrink towards those of that parent's level."""
    rng = np.random.default_rng(5)

    def records(n):
        a, b = rng.integers(0, 3, n), rng.integers(0, 12, n)
        return {"a": a, "b": b, "c": (rng.random(n) < np.array([0.05, 0.5, 0.95])[a]).astype(int)}

    train, test = records(2000), records(4000)

    def score():
        edges, sizes = [("a", "c"), ("b", "c")], {"a": 3, "b": 12, "c": 2}
        return PrivateBayesianNetwork(edges, sizes, epsilon=0.3, random_state=SeededRng(2)).fit(train).score(test)

    found = score()
    monkeypatch.setattr(smoothing, "_partitions", lambda above: [])
    # 36 rows of some 55 records, noise of about 20: on their own they hardly tell their shares.
    assert found > score() + 0.02
