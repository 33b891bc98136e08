"""The models behind [DM] Figures 3, 4 and 6 against scikit-learn and against record-by-record sums."""

import math

import numpy as np
import pytest
from scipy.special import zeta
from sklearn.metrics import log_loss
from sklearn.naive_bayes import CategoricalNB

from simplexdp.reproduce.classification import naive_bayes
from simplexdp.reproduce.data import bundled, structures
from simplexdp.reproduce.figure import Table
from simplexdp.reproduce.model_scores import FLOORS, MECHANISMS, Verdict, means
from simplexdp.reproduce.networks import bayesian_network
from simplexdp.reproduce.simulated_tables import ORDER, simulated_tables

DATA = bundled()


def test_the_smoothed_model_scores_as_in_scikit_learn():
    (ours,) = naive_bayes(DATA, [1.0], [7], [("smoothed", 1.0)])
    train, test = DATA.split(7)
    features = [name for name in DATA.columns if name != "class"]
    x = np.stack([DATA.columns[name] for name in features], axis=1)
    y = DATA.columns["class"]
    # Scikit-learn does not smooth the classes.
    prior = (np.bincount(y[train]) + 1) / (len(train) + 2)
    model = CategoricalNB(
        alpha=1.0, class_prior=prior, min_categories=[DATA.cardinalities[name] for name in features]
    ).fit(x[train], y[train])
    assert ours.cross_entropy == pytest.approx(log_loss(y[test], model.predict_proba(x[test])), rel=1e-10)
    assert ours.accuracy == model.score(x[test], y[test])


def test_the_likelihood_of_a_network_is_the_sum_over_records():
    structure = structures()["germancredit"]
    (ours,) = bayesian_network(DATA, structure, [1.0], [7], [("smoothed", 1.0)])
    train, test = DATA.split(7)
    total = 0.0
    for node in structure["nodes"]:
        above = [parent for parent, child in structure["edges"] if child == node]
        counts = np.ones([DATA.cardinalities[name] for name in (*above, node)])
        np.add.at(counts, tuple(DATA.columns[name][train] for name in (*above, node)), 1)
        table = counts / counts.sum(axis=-1, keepdims=True)
        total += np.log(table[tuple(DATA.columns[name][test] for name in (*above, node))]).sum()
    assert ours.log_likelihood == pytest.approx(total / len(test), rel=1e-12)


# Each mean below is of 4 * 10^5 draws; bounds of 5.5 standard errors: one false alarm in 10^7 each.
@pytest.mark.parametrize("mechanism, variance", [("gaussian", ORDER), ("laplace", 4 * ORDER)])
def test_noise_has_the_papers_variance(mechanism, variance):
    epsilon, n = 2.0, 400_000
    counts = [np.full((1, n), 10**6, dtype=np.int64)] * 2
    drawn = simulated_tables(counts, mechanism, 0.0, epsilon, np.random.default_rng(1))[0][0]
    noise = (drawn * n - 1) * 10**6  # the sum of the noisy counts is n * 10^6 up to 1e-8 relative
    expected = variance * len(counts) / epsilon
    kurtosis = 3 if mechanism == "gaussian" else 6
    assert np.mean(noise**2) == pytest.approx(expected, abs=5.5 * expected * math.sqrt((kurtosis - 1) / n))


def test_dirichlet_tables_follow_algorithm_1():
    # r = 1 at order 5 belongs to epsilon = 5 psi'(13), psi'(13) = zeta(2, 13); alpha = 17.
    counts = [np.array([[40, 3]], dtype=np.int64)]
    rng = np.random.default_rng(2)
    drawn = np.array([simulated_tables(counts, "dirichlet", 0.0, 5 * zeta(2, 13), rng)[0][0, 0] for _ in range(20_000)])
    a, b = 57.0, 20.0
    mean, variance = a / (a + b), a * b / (a + b) ** 2 / (a + b + 1)
    assert drawn.mean() == pytest.approx(mean, abs=5.5 * math.sqrt(variance / len(drawn)))
    assert drawn.var() == pytest.approx(variance, rel=5.5 * math.sqrt(2.2 / len(drawn)))


def test_verdicts_count_points_and_name_losses():
    rows = []
    for epsilon, ours in ((1.0, 0.5), (10.0, 0.3)):
        rows += [("d", "dirichlet", 0.0, epsilon, ours)]
        rows += [("d", m, f, epsilon, 0.4 if (m, f) == ("gaussian", 5.0) else 0.6) for m, f in MECHANISMS[3:]]
    table = Table.from_rows(("data_set", "mechanism", "floor_or_smoothing", "renyi_epsilon_order_5", "loss"), rows)
    verdict = Verdict(table, "loss", larger_is_better=False)
    assert verdict.total == 2
    assert verdict.against == {floor: (1 if floor == 5.0 else 2) for floor in FLOORS}
    assert verdict.lost == {"d": [1.0]}


def test_means_keep_infinite_losses():
    results = list(naive_bayes(DATA, [1.0], [1, 2, 3], [("smoothed", 1.0)]))
    results[0] = type(results[0])("germancredit", "none", 0.0, 1.0, 1, math.inf, 0.5)
    table = means(results, "cross_entropy", "loss")
    assert table.where(mechanism="none")["loss"] == [math.inf]
    assert table.where(mechanism="none")["standard_error"] == [None]
